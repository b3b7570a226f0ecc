"""The oracle on databases: made-up rows are written to a test table, and counted there.

For `sfumato.audit.sensitivity`, with ``typed=True``::

    with on_postgres("postgresql://localhost/test") as exact:
        print(sensitivity(query, schema, exact=exact, typed=True))
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any

from sfumato.audit.hostile import Table
from sfumato.audit.sensitivity import Exactly
from sfumato.declare.calendar import Date
from sfumato.declare.dataset import Postgres
from sfumato.declare.schema import Boolean, Integer, Real, Schema
from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.postgres import PostgresEngine
from sfumato.engine.spark import SparkEngine
from sfumato.errors import ArgumentError
from sfumato.plan import Plan
from sfumato.release.libraries import need
from sfumato.secret import Secret
from sfumato.words import N_

__all__ = ["on_postgres", "on_spark"]

_FIRST = dt.date(1970, 1, 1).toordinal()


@contextmanager
def on_postgres(url: str, *, table: str = "sfumato_audit") -> Iterator[Exactly]:
    """Give the oracle a PostgreSQL server, and remove its table in the end.

    Args:
        url: Of a **test** database in which a table may be made.
        table: Its name; one that is there already is not touched.

    Raises:
        MissingExtraError: psycopg is not installed.
    """
    driver: Any = need("psycopg")
    sql: Any = need("psycopg.sql")
    name = sql.Identifier(table)
    with driver.connect(url, autocommit=True) as db:
        made: list[Mapping[str, str]] = []

        def exact(plan: Plan, rows: Table) -> Secret[Exact]:
            kinds = _kinds(_alone(plan), _POSTGRES)
            if made != [kinds]:
                columns = [
                    sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(k))
                    for n, k in kinds.items()
                ]
                if made:
                    db.execute(sql.SQL("DROP TABLE {}").format(name))
                made[:] = []
                db.execute(
                    sql.SQL("CREATE TABLE {} ({})").format(
                        name, sql.SQL(", ").join(columns)
                    )
                )
                made.append(kinds)
            db.execute(sql.SQL("TRUNCATE {}").format(name))
            marks = sql.SQL(", ").join(sql.SQL(f"%s::{k}") for k in kinds.values())
            insert = sql.SQL("INSERT INTO {} VALUES ({})").format(name, marks)
            for row in rows:
                cells = (_cell(row.get(n), k) for n, k in kinds.items())
                db.execute(insert, list(cells))
            with PostgresEngine(Postgres(url, table), plan.table) as engine:
                return engine.run(plan)

        try:
            yield exact
        finally:
            if made:
                db.execute(sql.SQL("DROP TABLE {}").format(name))


def on_spark(session: Any) -> Exactly:
    """Give the oracle a Spark session, or one of Sail; its tables are literals.

    Args:
        session: Of Spark or Spark Connect.
    """

    def exact(plan: Plan, rows: Table) -> Secret[Exact]:
        kinds = _kinds(_alone(plan), _SPARK)
        lines = [
            ", ".join(
                f"CAST({_literal(_cell(row.get(n), k))} AS {k})"
                for n, k in kinds.items()
            )
            for row in rows or [{}]
        ]
        listed = ", ".join(f"({line})" for line in lines)
        text = f"SELECT * FROM VALUES {listed}"  # noqa: S608  quoted literals, made up
        frame = session.sql(text).toDF(*kinds)
        return SparkEngine(frame if rows else frame.limit(0), plan.table).run(plan)

    return exact


_POSTGRES = ("double precision", "boolean", "text", "bigint", "date")
_SPARK = ("DOUBLE", "BOOLEAN", "STRING", "BIGINT", "DATE")


def _alone(plan: Plan) -> Schema:
    """Return the declarations of the only table.

    Raises:
        ArgumentError: The question is about rows of several tables.
    """
    if plan.query.base is not None:
        raise ArgumentError(
            N_("on a database the oracle looks at one table"),
            hint=N_("leave exact out: joins are tried on the embedded engine"),
        )
    return plan.table


def _kinds(schema: Schema, types: Sequence[str]) -> Mapping[str, str]:
    number, truth, text, whole, day = types
    kinds = {}
    for name, column in schema.columns:
        match column:
            case Date():
                kinds[name] = day
            case Real() | Integer():
                kinds[name] = number
            case Boolean():
                kinds[name] = truth
            case _:
                kinds[name] = text
    if isinstance(schema.unit, Unit):
        kinds[schema.unit.column] = whole
    return kinds


def _cell(cell: object, kind: str) -> object:
    """Return a made-up cell as a column of that type holds it; else none."""
    match kind.lower():
        case "boolean" | "bigint":
            return cell if isinstance(cell, bool | int) else None
        case "date":
            return _day(cell) if isinstance(cell, int | float) else None
        case "text" | "string":
            return None if cell is None else str(cell)
        case _:
            return float(cell) if isinstance(cell, int | float) else None


def _day(days: float) -> str | None:
    """Return the date of a day number, if there is one."""
    place = _FIRST + days if isfinite(days) else 0
    if not 1 <= place <= dt.date.max.toordinal():
        return None
    return dt.date.fromordinal(int(place)).isoformat()


def _literal(cell: object) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return str(cell).upper()
    text = str(cell).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"
