"""The statement of a plan: of rows, or of people."""

from __future__ import annotations

from typing import Protocol, final

from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.dialect import Dialect
from sfumato.engine.people import PeopleStatement
from sfumato.engine.physical import Layout
from sfumato.engine.relate import NO_OTHERS, Others, related
from sfumato.engine.render import Statement
from sfumato.plan import Plan

__all__ = ["Statements", "statement"]


class Statements(Protocol):
    """One SELECT, and the reading of its rows."""

    sql: str

    def exact(self, rows: list[tuple[object, ...]]) -> Exact:
        """Return the plan's integers from the rows of the statement."""
        ...


@final
class _Related:
    """A statement over rows that are made of others."""

    def __init__(self, inner: Statements, rows: str) -> None:
        self._inner = inner
        rows = rows if rows.startswith("(") else f"(SELECT * FROM {rows})"  # noqa: S608
        self.sql = f"SELECT * FROM (WITH base AS {rows} {inner.sql}) AS answer"  # noqa: S608  our own text

    def exact(self, rows: list[tuple[object, ...]]) -> Exact:
        return self._inner.exact(rows)


def statement(
    plan: Plan, layout: Layout, dialect: Dialect, others: Others = NO_OTHERS
) -> Statements:
    """Render the plan's statement; pure, no connection is needed.

    Args:
        plan: What to compute.
        layout: How the dataset's own table, ``data``, is stored.
        dialect: The primitives of the database.
        others: The dataset's other private tables.
    """
    base = plan.query.base
    if base is None:
        return _plain(plan, layout, dialect)
    rows = related(base, plan.table, layout, dialect, others)
    stored = rows.layout[: len(plan.schema.stored) - len(plan.query.derived)]
    return _Related(_plain(plan, stored, dialect), rows.sql)


def _plain(plan: Plan, layout: Layout, dialect: Dialect) -> Statements:
    if isinstance(plan.schema.unit, Unit):
        return PeopleStatement(plan, layout, dialect)
    return Statement(plan, layout, dialect)
