"""Plan → one SQL statement whose numbers are exact integers, on any dialect.

The statement reads the table once and adds up the relation of `scan`::

    SELECT k0, b0, COUNT(*), COUNT(q0), SUM(q0) …      sums of integers, as text
    FROM (the rows of the question as integers) AS steps
    GROUP BY k0, b0
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from sfumato.engine.dialect import Dialect
from sfumato.engine.groups import Groups
from sfumato.engine.physical import Layout
from sfumato.engine.scan import Scan
from sfumato.engine.totals import Totals
from sfumato.plan import Level, Plan

__all__ = ["Statement"]

_MARKED = 30  # arguments of one GROUPING; databases take at most 31 to 63


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
        self._bins, self._sums = self._scan.bins, self._scan.sums
        self._squares, self._counted = self._scan.squares, self._scan.counted
        self.sql = self._render()

    def read(self, rows: list[tuple[object, ...]]) -> Totals:
        """Add the statement's rows up per group cell, in exact integers."""
        totals = self._zero()
        keys, bins = len(self._plan.query.keys), len(self._bins)
        groups = Groups(self._plan, self._scan.terms)
        for row in rows:
            group = groups.place(row[:keys])
            if group is None:
                continue
            marks = len(self._marks)
            chosen = self._chosen(row[keys + bins : keys + bins + marks])
            numbers = [int(str(cell)) for cell in row[keys + bins + marks :]]
            if bins:
                self._add_bin(totals, group, chosen, row[keys + chosen], numbers[0])
            if chosen == 0:
                self._add_sums(totals, group, numbers)
        return totals

    def _zero(self) -> Totals:
        groups = len(self._plan.groups)
        totals = Totals(groups)
        for column in [s.column for s in self._sums] + self._counted:
            totals.values[column] = [0] * groups
        for one in self._sums:
            totals.sums[one.column] = [0] * groups
            if one.column in self._squares:
                totals.squares[one.column] = [0] * groups
        for bins in self._bins:
            totals.bins[bins] = [0] * (groups * bins.count)
        return totals

    @property
    def _marks(self) -> list[range]:
        """The histograms that each output of GROUPING tells apart."""
        bins = len(self._bins)
        if bins <= 1:
            return []
        return [range(i, min(i + _MARKED, bins)) for i in range(0, bins, _MARKED)]

    def _chosen(self, marks: Sequence[object]) -> int:
        """Return which histogram a row belongs to: the one whose bit is not set."""
        for places, cell in zip(self._marks, marks, strict=True):
            mark = int(str(cell))
            for bit, place in enumerate(reversed(places)):
                if not mark >> bit & 1:
                    return place
        return 0

    def _add_bin(
        self, totals: Totals, group: int, chosen: int, cell: object, rows: int
    ) -> None:
        bins = self._bins[chosen]
        plain = isinstance(bins, Level) or bins.edges
        place = cell if plain else self._scan.terms.place(bins.column, cell)
        if isinstance(place, int) and 0 <= place < bins.count:
            totals.bins[bins][group * bins.count + place] += rows

    def _add_sums(self, totals: Totals, group: int, numbers: list[int]) -> None:
        rest = iter(numbers)
        totals.rows[group] += next(rest)
        for one in self._sums:
            totals.values[one.column][group] += next(rest)
            totals.sums[one.column][group] += next(rest)
            if one.column in self._squares:
                totals.squares[one.column][group] += next(rest)
        for column in self._counted:
            totals.values[column][group] += next(rest)

    def _render(self) -> str:
        keys = self._scan.keys
        bins = [f"b{i}" for i, _ in enumerate(self._bins)]
        count, total = self._dialect.count_text, self._dialect.total
        outputs = keys + bins
        outputs += [self._dialect.marks([bins[i] for i in p]) for p in self._marks]
        outputs.append(count.format(x="*"))
        for i, one in enumerate(self._sums):
            outputs += [count.format(x=f"q{i}"), total(f"q{i}", one.last - one.first)]
            if one.column in self._squares:
                spread = self._squares[one.column]
                outputs.append(total(self._scan.square(spread, f"q{i}"), spread.most))
        outputs += [count.format(x=f"v{i}") for i, _ in enumerate(self._counted)]
        return (
            f"SELECT {', '.join(outputs)} FROM ({self._scan.relation()}) AS steps"
            f"{_group_by(keys, bins)}"
        )


def _group_by(keys: list[str], bins: list[str]) -> str:
    """Return the grouping: one set per histogram, or all in one when there is none.

    The sums per group follow from the first set, so no set without bins is needed.
    """
    if len(bins) > 1:
        sets = ", ".join(f"({', '.join([*keys, b])})" for b in bins)
        return f" GROUP BY GROUPING SETS ({sets})"
    return f" GROUP BY {', '.join(keys + bins)}" if keys or bins else ""
