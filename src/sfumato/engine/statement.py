"""The statement of a plan: of rows, or of people."""

from __future__ import annotations

from typing import Protocol

from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.dialect import Dialect
from sfumato.engine.people import PeopleStatement
from sfumato.engine.physical import Layout
from sfumato.engine.render import Statement
from sfumato.plan import Plan

__all__ = ["Statements", "statement"]


class Statements(Protocol):
    """One SELECT, and the reading of its rows."""

    sql: str

    def exact(self, rows: list[tuple[object, ...]]) -> Exact:
        """Return the plan's integers from the rows of the statement."""
        ...


def statement(plan: Plan, layout: Layout, dialect: Dialect) -> Statements:
    """Render the plan's statement; pure, no connection is needed."""
    if isinstance(plan.schema.unit, Unit):
        return PeopleStatement(plan, layout, dialect)
    return Statement(plan, layout, dialect)
