"""What one row adds to an aggregate, and how far one unit can therefore move it.

Theorem. Every aggregate is a sum over units of a bounded function of that unit's rows,
computed in integers; and that function is a weighted sum, over the unit's rows, of a
*term*, an integer that depends on the row alone. So all that sensitivity needs to know of
an aggregate is the range of its term (`term`), and all that it needs to know of a unit
is how many rows in how many groups count (``docs/sensitivity.md``; checked by brute
force over all neighbours of small tables).

Where a unit has many rows, let m of them have a term in a group, and let the unit have
rows in k groups. With R and G the unit's bounds, what it adds to the group's integer is
the sum of these terms, times ``min(m, R)/m``, times ``min(k, G)/k``, each quotient cut
towards zero, in units of ``2^-bits`` of a term (`fraction_bits`). Hence it is at most R
terms' worth in a group, and G groups' worth over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

from sfumato.declare.unit import PrivacyUnit, Rows
from sfumato.plan.aggregate import (
    Aggregate,
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Level,
    SumValues,
)

__all__ = [
    "Term",
    "bound",
    "fraction_bits",
    "reach",
    "sensitivity",
    "squared_sensitivity",
    "term",
]

_FINE, _WIDE = 20, 30  # bits of the smallest and the largest bound of a person's term


@final
@dataclass(frozen=True, slots=True)
class Term:
    """The integer that one row adds to one cell of an aggregate.

    It lies within 64 bits.

    Attributes:
        low: The smallest term, at most 0: a row that is filtered out adds 0.
        high: The largest term, at least 0.
        needs: The columns whose cells must not be missing for a row to have a term.
            A row without one adds 0 and does not count among those that have.
        apart: Whether the row chooses one of several cells of its group, as in a
            histogram. Otherwise a group has one cell.
        once: Whether a unit adds one term to a group, however many rows it has there.
    """

    low: int
    high: int
    needs: tuple[str, ...] = ()
    apart: bool = False
    once: bool = False

    @property
    def largest(self) -> int:
        """The largest size of a term."""
        return max(self.high, -self.low)


def term(aggregate: Aggregate) -> Term:  # noqa: C901, PLR0911  one for each
    """Return the range of one row's term."""
    match aggregate:
        case CountRows():
            return Term(0, 1)
        case CountPeople():
            return Term(0, 1, once=True)
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


def fraction_bits(aggregate: Aggregate, unit: PrivacyUnit) -> int:
    """Return b such that the integers count ``2^-b`` of a term.

    For rows 0: the integers are sums of terms. For people, whose rows have weights, a
    term is at most 2^20 to 2^30 such units, so that what is cut off is less than a
    millionth of a term, and sums of 2^33 rows stay within 64 bits. Below 0, terms
    themselves are cut to ``2^-b``.
    """
    if isinstance(unit, Rows):
        return 0
    size = (bound(aggregate) - 1).bit_length()
    return _FINE - size if size < _FINE else min(0, _WIDE - size)


def reach(aggregate: Aggregate, unit: PrivacyUnit) -> int:
    """Return the largest size of one unit's contribution to one group."""
    return _range(aggregate, unit)[0]


def _range(aggregate: Aggregate, unit: PrivacyUnit) -> tuple[int, int]:
    """Return the largest size and the largest difference of contributions to a cell."""
    one, bits = term(aggregate), fraction_bits(aggregate, unit)
    rows = 1 if one.once else unit.max_rows
    low, high = (_cut(end, bits) * rows for end in (-one.low, one.high))
    return max(low, high), low + high


def _cut(size: int, bits: int) -> int:
    return size << bits if bits >= 0 else size >> -bits


def sensitivity(aggregate: Aggregate, unit: PrivacyUnit, *, groups: int) -> int:
    """Return the largest L1 change of the aggregate between neighbouring tables.

    Theorem. Let a unit contribute the vector g(u) over all cells. Under add/remove the
    L1 sensitivity is max ‖g(u)‖₁; under replace-one it is max ‖g(u) - g(v)‖₁. A unit
    reaches G cells fully (or more of them partly, and none of this is larger). Two units
    that meet in j groups differ in each by the span of what they can add; in the others
    each moves a cell of its own by its largest size. A span is at most twice that size,
    so the fewest meetings, ``max(0, 2G - groups)``, are the worst.

    Args:
        aggregate: What is summed.
        unit: The protected unit, its bounds and the neighbour relation.
        groups: Number of group cells; a unit cannot reach more.
    """
    size, span = _range(aggregate, unit)
    reached = min(unit.max_groups, groups)
    if unit.neighbours == "add_remove":
        return reached * size
    if term(aggregate).apart:
        return 2 * reached * size
    shared = max(0, 2 * reached - groups)
    return shared * span + 2 * (reached - shared) * size


def squared_sensitivity(aggregate: Aggregate, unit: PrivacyUnit, *, groups: int) -> int:
    """Return the square of the largest L2 change between neighbouring tables.

    As `sensitivity`, with squares: of k > G groups each has weight G/k, and the squares
    add up to less than those of G full ones. Under replace-one the squares are linear
    in the number of shared groups, so the fewest or the most of them are the worst.
    """
    size, span = _range(aggregate, unit)
    reached = min(unit.max_groups, groups)
    if unit.neighbours == "add_remove":
        return reached * size**2
    if term(aggregate).apart:
        return 2 * reached * size**2
    fewest = max(0, 2 * reached - groups)
    return max(
        shared * span**2 + 2 * (reached - shared) * size**2
        for shared in (fewest, reached)
    )
