"""From a scan's base sums to the integers of each step; the same for every database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never, final

from sfumato.engine import Exact, Keyed
from sfumato.engine.scan import Slot
from sfumato.plan import (
    Aggregate,
    Binned,
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
    Group,
    Level,
    Plan,
    SumValues,
)

__all__ = ["Totals"]


@final
@dataclass(slots=True)
class Totals:
    """What one scan counts and adds up, per group cell, before any noise.

    Attributes:
        groups: Number of group cells.
        found: Where keys are unknown, those of the cells; without that of all other rows.
        rows: Rows per group.
        values: For each slot, rows per group whose cells are not missing.
        sums: For each slot of a number column, the sum per group of ``q - first``.
        squares: For each slot whose spread is asked, the sum per group of
            ``CentredSquare.square`` of the distance from the middle.
        products: For each pair, the rows per group that have both cells, and the sum of
            ``CentredProduct.product`` over them.
        bins: For each histogram, each table, each column with a share, and the finest
            level of each tree, rows per group and bin, bins innermost.
    """

    groups: int
    found: tuple[Group, ...] = ()
    rows: list[int] = field(init=False)
    values: dict[Slot, list[int]] = field(default_factory=dict)
    sums: dict[Slot, list[int]] = field(default_factory=dict)
    squares: dict[Slot, list[int]] = field(default_factory=dict)
    products: dict[CentredProduct, tuple[list[int], list[int]]] = field(
        default_factory=dict
    )
    bins: dict[Binned, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start from zero: a group without rows has a place like any other."""
        self.rows = [0] * self.groups

    def exact(self, plan: Plan) -> Exact:
        """Return the plan's integers."""
        integers = tuple(tuple(self._integers(p.aggregate)) for p in plan.parts)
        return Keyed(self.found, integers) if plan.grouping.unknown else integers

    def _integers(self, aggregate: Aggregate) -> list[int]:  # noqa: PLR0911  one for each
        match aggregate:
            case CountRows() | CountPeople():  # here each row is a person of its own
                return self.rows
            case CountValues(name, among):
                return self.values[name, among]
            case SumValues(name, first, _, fill):
                return [
                    total + first * values + fill * (rows - values)
                    for rows, values, total in zip(
                        self.rows,
                        self.values[name, ()],
                        self.sums[name, ()],
                        strict=True,
                    )
                ]
            case CentredSum(name, among=among):
                return [
                    2 * total - aggregate.width * values
                    for values, total in zip(
                        self.values[name, among], self.sums[name, among], strict=True
                    )
                ]
            case CentredKey(name, place, keys):
                counts = self.bins[Bins(name, (), keys)]
                each = (counts[i : i + keys] for i in range(0, len(counts), keys))
                return [2 * rows[place] - sum(rows) for rows in each]
            case CentredSquare():
                return self._squared(aggregate)
            case CentredProduct():
                return [
                    2 * total - aggregate.reach * pairs
                    for pairs, total in zip(*self.products[aggregate], strict=True)
                ]
            case Bins() | Crossed() | Choice():
                return self.bins[aggregate]
            case Level():
                return self._runs(aggregate)
            case _:
                assert_never(aggregate)

    def _squared(self, one: CentredSquare) -> list[int]:
        """Return the centred squares; what is missing counts if complete."""
        middle, slot = one.least + one.most, (one.column, one.among)
        pairs = zip(self.values[slot], self.squares[slot], strict=True)
        found = [2 * total - middle * values for values, total in pairs]
        if not one.complete:
            return found
        every = self.values[one.among[0], one.among[1:]] if one.among else self.rows
        counts = zip(found, every, self.values[slot], strict=True)
        return [sums - one.reach * (rows - values) for sums, rows, values in counts]

    def _runs(self, level: Level) -> list[int]:
        """Add up the leaves below each node of a level."""
        leaves, counts = next(
            (held, counts)
            for held, counts in self.bins.items()
            if isinstance(held, Level) and held.column == level.column
        )
        found = [0] * (self.groups * level.count)
        for i, rows in enumerate(counts):
            group, leaf = divmod(i, leaves.count)
            found[group * level.count + (leaf >> level.bits - leaves.bits)] += rows
        return found
