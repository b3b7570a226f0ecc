"""What the owner may see of a loaded table: exact counts, NOT PRIVATE.

Nothing here passes the gate. Call it for the person who holds the table anyway, to
check a declaration; its output must not leave the building.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.declare.schema import Integer, Real, Schema, Stored
from sfumato.declare.unit import Identifier
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.postgres import PostgresEngine
from sfumato.engine.spark import SparkEngine
from sfumato.engine.terms import Terms
from sfumato.secret import Quiet

__all__ = ["OwnerColumn", "owner_inspection"]


@final
@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """Exact facts about one declared column: for its owner only.

    Attributes:
        name: The column.
        declared: Its declaration, such as ``Real``.
        stored: How the source stores it, such as ``float64`` or ``VARCHAR``.
        rows: Rows of the table.
        missing: Cells that count as missing: empty, codes, undeclared keys, no number.
        below: Values below the lower bound, which are clamped to it.
        above: Values above the upper bound, which are clamped to it.
    """

    name: str
    declared: str
    stored: str
    rows: int
    missing: int
    below: int
    above: int


def owner_inspection(
    engine: DuckDBEngine | PostgresEngine | SparkEngine, schema: Schema
) -> tuple[OwnerColumn, ...]:
    """Count, per declared column, missing and clamped cells. NOT PRIVATE.

    Examples:
        >>> from sfumato.declare.dataset import Dataset
        >>> from sfumato.engine.load import open_engine
        >>> schema = Schema({"Age": Integer(0, 120)})
        >>> rows = [{"Age": 30}, {"Age": "?"}, {"Age": 999}]
        >>> engine = open_engine(Dataset(rows, schema=schema))
        >>> column = owner_inspection(engine, schema)[0]
        >>> column.stored, column.rows, column.missing, column.above
        ('object', 3, 1, 1)

    Raises:
        EngineError: The engine failed; its words may quote a cell, so they are not shown.
    """
    terms = Terms(schema, engine.layout, engine.dialect)
    tests = ", ".join(
        f"COUNT(CASE WHEN {test} THEN 1 END)"
        for name, column in schema.stored
        for test in _tests(name, column, terms)
    )
    row = None
    with Quiet() as work:
        row = engine.unprotected(f"SELECT COUNT(*), {tests} FROM data")[0]  # noqa: S608  constants only
    if row is None:
        raise work.stop
    rows, *counts = (int(str(cell)) for cell in row)
    return tuple(
        OwnerColumn(
            name, type(column).__name__, stored, rows, rows - values, below, above
        )
        for (name, column), stored, values, below, above in zip(
            schema.stored,
            engine.stored,
            counts[::3],
            counts[1::3],
            counts[2::3],
            strict=True,
        )
    )


def _tests(name: str, column: Stored, terms: Terms) -> tuple[str, str, str]:
    """Return the tests that a cell has a value, one too small, and one too large."""
    if isinstance(column, Identifier):
        return f"({terms.identity()}) IS NOT NULL", "FALSE", "FALSE"
    if not isinstance(column, Real | Integer):
        return terms.has_key(name), "FALSE", "FALSE"
    x, bound = terms.number(name), terms.dialect.constant
    return f"{x} IS NOT NULL", f"{x} < {bound(column.lower)}", f"{x} > {bound(column.upper)}"  # fmt: skip
