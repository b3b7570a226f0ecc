"""What one row adds to an aggregate, and how far one unit can therefore move it.

Theorem. Every aggregate is a sum over units of a bounded function of that unit's rows,
computed in integers; and that function is a sum over the unit's rows of a *term*, an
integer that depends on the row alone. So all that sensitivity needs to know of an
aggregate is the range of its term (`term`), and all that it needs to know of a unit is
how many rows in how many groups count (``docs/sensitivity.md``; checked by brute force
over all neighbours of small tables).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

from sfumato.declare.unit import Rows
from sfumato.plan.aggregate import (
    Aggregate,
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountRows,
    CountValues,
    Crossed,
    Level,
    SumValues,
)

__all__ = ["Term", "bound", "sensitivity", "squared_sensitivity", "term"]


@final
@dataclass(frozen=True, slots=True)
class Term:
    """The integer that one row adds to one cell of an aggregate.

    Attributes:
        low: The smallest term, at most 0: a row that is filtered out adds 0.
        high: The largest term, at least 0.
        needs: The columns whose cells must not be missing for a row to have a term.
            A row without one adds 0 and does not count among those that have.
        apart: Whether the row chooses one of several cells of its group, as in a
            histogram. Otherwise a group has one cell.
    """

    low: int
    high: int
    needs: tuple[str, ...] = ()
    apart: bool = False

    @property
    def largest(self) -> int:
        """The largest size of a term."""
        return max(self.high, -self.low)

    @property
    def span(self) -> int:
        """The largest difference of two terms in one cell."""
        return self.high - self.low


def term(aggregate: Aggregate) -> Term:  # noqa: PLR0911  one for each
    """Return the range of one row's term."""
    match aggregate:
        case CountRows():
            return Term(0, 1)
        case CountValues(column, among):
            return Term(0, 1, (column, *among))
        case Bins(column) | Level(column) | Choice(Bins(column)):
            return Term(0, 1, (column,), apart=True)
        case Crossed(one, two):
            return Term(0, 1, (one.column, two.column), apart=True)
        case CentredKey(column):
            return Term(-1, 1, (column,))
        case CentredSum(column, among=among):
            return Term(-aggregate.width, aggregate.width, (column, *among))
        case CentredProduct(first, second, among):
            needs = (first.column, second.column, *among)
            return Term(-aggregate.reach, aggregate.reach, needs)
        case CentredSquare(column, complete=complete, among=among):
            needs = among if complete else (column, *among)
            return Term(-aggregate.reach, aggregate.reach, needs)
        case SumValues(column, first, last, fill):
            needs = () if fill else (column,)
            return Term(min(first, 0), max(last, 0), needs)
        case _:
            assert_never(aggregate)


def bound(aggregate: Aggregate) -> int:
    """Return the largest size of one row's contribution to one cell."""
    return term(aggregate).largest


def sensitivity(aggregate: Aggregate, unit: Rows, *, groups: int) -> int:
    """Return the largest L1 change of the aggregate between neighbouring tables.

    Theorem. Let a unit contribute the vector g(unit) over all cells. Under add/remove
    the L1 sensitivity is max ‖g(u)‖₁; under replace-one it is max ‖g(u) - g(v)‖₁.
    A row reaches one cell. Two rows that meet in one cell differ there by the span of
    the term; where there is another group to go to, they move two cells by its largest
    size instead, which is never less.

    Args:
        aggregate: What is summed.
        unit: The neighbour relation.
        groups: Number of group cells; a replaced row can leave one and enter another.
    """
    one = term(aggregate)
    if unit.neighbours == "add_remove":
        return one.largest
    return 2 * one.largest if groups > 1 or one.apart else one.span


def squared_sensitivity(aggregate: Aggregate, unit: Rows, *, groups: int) -> int:
    """Return the square of the largest L2 change between neighbouring tables.

    As `sensitivity`; in two cells the squares of both sizes add up, and which of the
    two cases is the larger depends on the term.
    """
    one = term(aggregate)
    if unit.neighbours == "add_remove":
        return one.largest**2
    if one.apart:
        return 2 * one.largest**2
    together = one.span**2
    return together if groups == 1 else max(together, 2 * one.largest**2)
