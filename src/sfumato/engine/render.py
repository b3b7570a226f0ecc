"""Plan → one SQL statement whose numbers are exact integers, on any dialect.

The statement reads the table once and adds up the relation of `scan`::

    SELECT k0, b0, COUNT(*), COUNT(q0), SUM(q0) …      sums of integers, as text
    FROM (the rows of the question as integers) AS steps
    GROUP BY k0, b0
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import final

from sfumato.engine import Exact
from sfumato.engine.dialect import Dialect
from sfumato.engine.groups import Groups
from sfumato.engine.packed import packed
from sfumato.engine.physical import Layout
from sfumato.engine.scan import Scan, axes_of
from sfumato.engine.totals import Totals
from sfumato.plan import Binned, Level, Plan

__all__ = ["Statement"]

_MARKED = 30  # arguments of one GROUPING; databases take at most 31 to 63


@final
@dataclass(frozen=True, slots=True)
class _Store:
    """What the rows of one aggregate's cells are added to.

    Attributes:
        held: The aggregate.
        counts: Its cells, group by group.
        size: How many cells each group has.
        places: For cells that were met, their place in a group; none for no bin.
    """

    held: Binned
    counts: list[int]
    size: int = field(init=False)
    places: dict[tuple[object, ...], int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the size, which an aggregate computes anew each time."""
        object.__setattr__(self, "size", self.held.count)


@final
class Statement:
    """The SQL of a plan, and the reading of its rows.

    Attributes:
        sql: One SELECT. It contains no name and no text that its columns could carry.
    """

    def __init__(self, plan: Plan, layout: Layout, dialect: Dialect) -> None:
        """Render; pure, no connection is needed."""
        self._plan, self._dialect = plan, dialect
        self._scan = Scan(plan, layout, dialect)
        self._axes, self._sets = self._scan.axes, self._scan.sets
        self._sums, self._products = self._scan.sums, self._scan.products
        self._squares, self._counted = self._scan.squares, self._scan.counted
        self._packed = packed(plan, self._scan, dialect)
        if self._packed is not None:
            self._scan.code(self._packed.codes)
        self.sql = self._render()

    def exact(self, rows: list[tuple[object, ...]]) -> Exact:
        """Return the plan's integers."""
        return self.read(rows).exact(self._plan)

    def read(self, rows: list[tuple[object, ...]]) -> Totals:
        """Add the statement's rows up per group cell, in exact integers."""
        if self._packed is not None:
            rows = list(self._packed.rows(rows))
        groups = Groups(self._plan, self._scan.groups, rows)
        totals = self._zero(len(groups.found) + (self._plan.query.other is not None))
        totals.found = groups.found
        keys = len(self._plan.query.keys)
        end = keys + len(self._axes)
        start = end + len(self._marks)
        first = next(iter(self._sets), ())
        # Looked up once: an aggregate with hundreds of edges is slow to hash.
        stores = {
            chosen: [_Store(held, totals.bins[held]) for held in several]
            for chosen, several in self._sets.items()
        }
        sums = list(self._targets(totals))
        for row in rows:
            group = groups.place(row)
            if group is None:
                continue
            chosen = first if start == end else self._chosen(row[end:start])
            numbers = list(map(int, map(str, row[start:])))
            cells = row[keys:end]
            for store in stores.get(chosen, ()):
                place = store.places.get(cells, -1)
                if place == -1:
                    place = store.places[cells] = self._place(store.held, cells)
                if place is not None:
                    store.counts[group * store.size + place] += numbers[0]
            if chosen == first:
                for target, number in zip(sums, numbers, strict=False):
                    target[group] += number
        return totals

    def _zero(self, groups: int) -> Totals:
        totals = Totals(groups)
        for slot in [s.slot for s in self._sums] + self._counted:
            totals.values[slot] = [0] * groups
        for one in self._sums:
            totals.sums[one.slot] = [0] * groups
            if one.slot in self._squares:
                totals.squares[one.slot] = [0] * groups
        for pair in self._products:
            totals.products[pair] = ([0] * groups, [0] * groups)
        for held in chain.from_iterable(self._sets.values()):
            totals.bins[held] = [0] * (groups * held.count)
        return totals

    @property
    def _marks(self) -> list[range]:
        """The axes that each output of GROUPING tells apart."""
        axes = len(self._axes)
        if len(self._sets) <= 1:
            return []
        return [range(i, min(i + _MARKED, axes)) for i in range(0, axes, _MARKED)]

    def _chosen(self, marks: Sequence[object]) -> tuple[int, ...]:
        """Return the axes that a row is counted by: those whose bits are not set."""
        if not marks:
            return next(iter(self._sets), ())
        axes: list[int] = []
        for places, cell in zip(self._marks, marks, strict=True):
            mark, last = int(str(cell)), len(places) - 1
            axes += [
                place for i, place in enumerate(places) if not mark >> last - i & 1
            ]
        return tuple(axes)

    def _place(self, held: Binned, cells: Sequence[object]) -> int | None:
        """Return the place among the cells of a group; none for a row in no bin."""
        place = 0
        for axis in axes_of(held):
            cell = cells[self._axes.index(axis)]
            plain = isinstance(axis, Level) or axis.edges
            inner = cell if plain else self._scan.terms.place(axis.column, cell)
            if not (isinstance(inner, int) and 0 <= inner < axis.count):
                return None
            place = place * axis.count + inner
        return place

    def _targets(self, totals: Totals) -> Iterator[list[int]]:
        """Iterate over what the numbers of a row are added to, in their order."""
        yield totals.rows
        for one in self._sums:
            yield totals.values[one.slot]
            yield totals.sums[one.slot]
            if one.slot in self._squares:
                yield totals.squares[one.slot]
        for pair in self._products:
            yield from totals.products[pair]
        for slot in self._counted:
            yield totals.values[slot]

    def _render(self) -> str:
        keys = self._scan.keys
        bins = [f"b{i}" for i, _ in enumerate(self._axes)]
        count, total = self._dialect.count_text, self._dialect.total
        outputs = ["cell"] if self._packed is not None else keys + bins
        outputs += [self._dialect.marks([bins[i] for i in p]) for p in self._marks]
        outputs.append(count.format(x="*"))
        for i, one in enumerate(self._sums):
            outputs += [count.format(x=f"q{i}"), total(f"q{i}", one.last - one.first)]
            if one.slot in self._squares:
                spread = self._squares[one.slot]
                outputs.append(total(self._scan.square(spread, f"q{i}"), spread.most))
        for pair in self._products:
            product = self._scan.product(pair)
            outputs += [count.format(x=product), total(product, pair.reach)]
        outputs += [count.format(x=f"v{i}") for i, _ in enumerate(self._counted)]
        relation, sets = (
            self._scan.relation(),
            [[bins[i] for i in axes] for axes in self._sets],
        )
        if self._packed is not None:
            relation = (
                f"SELECT *, {self._packed.sql} AS cell FROM ({relation}) AS places"
            )
            keys, sets = ["cell"], []
        return (
            f"SELECT {', '.join(outputs)} FROM ({relation}) AS steps"
            f"{_group_by(keys, sets)}"
        )


def _group_by(keys: list[str], sets: list[list[str]]) -> str:
    """Return the grouping: one set per histogram or table, or one when there is none.

    The sums per group follow from the first set, so no set without bins is needed.
    """
    if len(sets) > 1:
        texts = ", ".join(f"({', '.join(keys + bins)})" for bins in sets)
        return f" GROUP BY GROUPING SETS ({texts})"
    columns = keys + (sets[0] if sets else [])
    return f" GROUP BY {', '.join(columns)}" if columns else ""
