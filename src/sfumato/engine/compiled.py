"""The statement of a plan as text, for databases that no driver of ours can reach.

BigQuery and Snowflake are compiled and parsed again by the tests, and marked: *compiled,
not run*. Nothing here opens a connection, and nothing here can release anything.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, assert_never

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, Stored
from sfumato.declare.schema import Text as Unlisted
from sfumato.declare.unit import Identifier
from sfumato.engine import statement as statements
from sfumato.engine.dialect import (
    BIGQUERY,
    DUCKDB,
    POSTGRES,
    SNOWFLAKE,
    SPARK,
    Dialect,
)
from sfumato.engine.physical import Floating, Layout, Physical, Text, Truth
from sfumato.engine.relate import Relation
from sfumato.errors import DeclarationError
from sfumato.plan import Plan
from sfumato.plan.relate import others_in
from sfumato.words import N_

__all__ = ["NOT_RUN", "Target", "compiled", "declared_layout", "statement"]

Target: TypeAlias = Literal["bigquery", "duckdb", "postgres", "snowflake", "spark"]

NOT_RUN = "-- compiled, not run"
"""The first line of a text that no test of ours has run on its own database."""

_DIALECTS: dict[Target, Dialect] = {
    "bigquery": BIGQUERY,
    "duckdb": DUCKDB,
    "postgres": POSTGRES,
    "snowflake": SNOWFLAKE,
    "spark": SPARK,
}
_NAME = re.compile(r"[^\W\d][\w $-]*")


def compiled(plan: Plan, target: Literal["bigquery", "snowflake"], table: str) -> str:
    """Return the statement that would compute the plan's exact integers. NOT PRIVATE.

    Its columns must be stored as declared: numbers as numbers, categories and
    identifiers as text, truth values as such.

    Args:
        plan: What to measure.
        target: The database.
        table: Its table, parts separated by dots. Other private tables of the question
            are called there as they are in the dataset.

    Returns:
        One SELECT below the line `NOT_RUN`: its rows are exact and unprotected.

    Raises:
        DeclarationError: A name cannot be quoted safely. Nothing was read.

    Examples:
        >>> from sfumato.declare.query import Query, count
        >>> from sfumato.declare.schema import Integer, Schema
        >>> from sfumato.plan import make_plan
        >>> plan = make_plan(Query().select(count()), Schema({"Age": Integer(0, 9)}), 1)
        >>> print(compiled(plan, "bigquery", "clinic.patients"))
        -- compiled, not run
        WITH data AS (SELECT CAST(`Age` AS FLOAT64) AS c0 FROM `clinic`.`patients`) SELECT CAST(COUNT(*) AS STRING) FROM (SELECT 1 AS one FROM (SELECT 1 AS one FROM data) AS cells) AS steps
    """
    dialect, mark = _DIALECTS[target], "`" if target == "bigquery" else '"'

    def scan(schema: Schema, table: str, name: str) -> str:
        outputs = ", ".join(
            f"{_read(column, _quoted(column_name, mark), dialect)} AS c{i}"
            for i, (column_name, column) in enumerate(schema.stored)
        )
        source = ".".join(_quoted(part, mark) for part in table.split("."))
        return f"{name} AS (SELECT {outputs} FROM {source})"  # noqa: S608  names are checked

    named, others = _others(plan), others_in(plan.query.base)
    scans = [scan(plan.table, table, "data")]
    scans += [scan(one.schema, one.name, named[one.name].sql) for one in others]
    return f"{NOT_RUN}\nWITH {', '.join(scans)} {statement(plan, target)}"


def statement(plan: Plan, target: Target) -> str:
    """Return the plan's SELECT over the relation ``data``, read as `declared_layout`."""
    layout, others = declared_layout(plan.table), _others(plan)
    return statements.statement(plan, layout, _DIALECTS[target], others).sql


def _others(plan: Plan) -> dict[str, Relation]:
    return {
        one.name: Relation(f"other{i}", declared_layout(one.schema), one.schema)
        for i, one in enumerate(others_in(plan.query.base))
    }


def declared_layout(schema: Schema) -> Layout:
    """Return the storage that fits each declaration best: doubles, text, truth values."""
    return tuple(_physical(column) for _, column in schema.stored)


def _physical(column: Stored) -> Physical:
    match column:
        case Real() | Integer():
            return Floating()
        case Category() | Unlisted() | Identifier():
            return Text()
        case Boolean():
            return Truth()
        case _:
            assert_never(column)


def _read(column: Stored, cell: str, dialect: Dialect) -> str:
    if isinstance(column, Date):
        days = f"DATEDIFF('day', CAST('1970-01-01' AS DATE), {cell})"
        if dialect is BIGQUERY:
            days = f"DATE_DIFF({cell}, CAST('1970-01-01' AS DATE), DAY)"
        return dialect.to_double.format(x=days)
    return dialect.to_double.format(x=cell) if isinstance(column, Real | Integer) else cell  # fmt: skip


def _quoted(name: str, mark: str) -> str:
    if not _NAME.fullmatch(name):
        raise DeclarationError(
            N_("the name {name} cannot be written into SQL safely"),
            hint=N_("use letters, digits, _, -, $ and blanks, and begin with a letter"),
            name=repr(name),
        )
    return f"{mark}{name}{mark}"
