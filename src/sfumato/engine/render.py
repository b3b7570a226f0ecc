"""Plan → one SQL statement whose numbers are exact integers, on any dialect.

The statement reads the table once. It is three layers deep::

    SELECT k0, b0, COUNT(*), COUNT(q0), SUM(q0) …      sums of integers, as text
    FROM (SELECT …, CAST(floor(x0 / step + 1/2) AS BIGINT) - first AS q0, bin AS b0
          FROM (SELECT key AS k0, clamped number AS x0, clamped number AS h0
                FROM data WHERE filter AND declared keys) AS cells) AS steps
    GROUP BY k0, b0

The one cast cannot overflow: its argument comes from a number between the bounds.
Division by a positive constant, adding a constant and `floor` never decrease in IEEE
arithmetic, and at the bounds they give `first` and `last`; so each grid number lies
between those without a second clamp.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

from sfumato.declare.schema import Boolean, Category, Integer, Key, Real
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.predicate import predicate
from sfumato.engine.terms import Terms
from sfumato.engine.totals import Totals
from sfumato.plan import Bins, CentredSum, CountValues, Plan, SumValues

__all__ = ["Statement"]

_MARKED = 30  # arguments of one GROUPING; databases take at most 31 to 63


@final
@dataclass(frozen=True, slots=True)
class _Sum:
    """A column to be counted and summed on its grid."""

    column: str
    first: int
    last: int


@final
class Statement:
    """The SQL of a plan, and the reading of its rows.

    Attributes:
        sql: One SELECT. It contains no name and no text that its columns could carry.
    """

    def __init__(self, plan: Plan, layout: Layout, dialect: Dialect) -> None:
        """Render; pure, no connection is needed."""
        self._plan, self._dialect = plan, dialect
        self._terms = Terms(plan.schema, layout, dialect)
        aggregates = [part.aggregate for part in plan.parts]
        self._bins = [a for a in aggregates if isinstance(a, Bins)]
        self._sums = list(
            dict.fromkeys(
                _Sum(a.column, a.first, a.last)
                for a in aggregates
                if isinstance(a, SumValues | CentredSum)
            )
        )
        summed = {s.column for s in self._sums}
        self._counted = [
            a.column
            for a in aggregates
            if isinstance(a, CountValues) and a.column not in summed
        ]
        self.sql = self._render()

    def read(self, rows: list[tuple[object, ...]]) -> Totals:
        """Add the statement's rows up per group cell, in exact integers."""
        totals = self._zero()
        keys, bins = len(self._plan.query.keys), len(self._bins)
        places: dict[tuple[int | None, ...], int] = {
            place: i for i, place in enumerate(self._group_places())
        }
        for row in rows:
            group = places.get(self._group(row[:keys]))
            if group is None:  # a null key when there is no other row
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
        for bins in self._bins:
            totals.bins[bins] = [0] * (groups * bins.count)
        return totals

    def _group_places(self) -> list[tuple[int, ...]]:
        """Return each group cell as places among the declared keys."""
        sizes = [len(_keys(self._plan, name)) for name in self._plan.query.keys]
        return list(product(*map(range, sizes)))

    def _group(self, cells: tuple[object, ...]) -> tuple[int | None, ...]:
        return tuple(
            self._terms.place(name, cell)
            for name, cell in zip(self._plan.query.keys, cells, strict=True)
        )

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
        place = cell if bins.edges else self._terms.place(bins.column, cell)
        if isinstance(place, int) and 0 <= place < bins.count:
            totals.bins[bins][group * bins.count + place] += rows

    def _add_sums(self, totals: Totals, group: int, numbers: list[int]) -> None:
        rest = iter(numbers)
        totals.rows[group] += next(rest)
        for one in self._sums:
            totals.values[one.column][group] += next(rest)
            totals.sums[one.column][group] += next(rest)
        for column in self._counted:
            totals.values[column][group] += next(rest)

    def _render(self) -> str:
        keys = [f"k{i}" for i, _ in enumerate(self._plan.query.keys)]
        bins = [f"b{i}" for i, _ in enumerate(self._bins)]
        count, total = self._dialect.count_text, self._dialect.sum_text
        outputs = keys + bins
        outputs += [
            self._dialect.grouping.format(x=", ".join(bins[i] for i in places))
            for places in self._marks
        ]
        outputs.append(count.format(x="*"))
        for i, _ in enumerate(self._sums):
            outputs += [count.format(x=f"q{i}"), total.format(x=f"q{i}")]
        outputs += [count.format(x=f"v{i}") for i, _ in enumerate(self._counted)]
        return (
            f"SELECT {', '.join(outputs)} FROM ({self._steps(keys, bins)}) AS steps"
            f"{_group_by(keys, bins)}"
        )

    def _steps(self, keys: list[str], bins: list[str]) -> str:
        """Return the layer that turns doubles into grid numbers and places of bins."""
        outputs = list(keys)
        outputs += [self._bin(i) + f" AS b{i}" for i, _ in enumerate(bins)]
        outputs += [self._grid(i) + f" AS q{i}" for i, _ in enumerate(self._sums)]
        outputs += [f"v{i}" for i, _ in enumerate(self._counted)]
        return f"SELECT {', '.join(outputs) or '1 AS one'} FROM ({self._cells()}) AS cells"  # fmt: skip

    def _cells(self) -> str:
        """Return the layer that reads the table: filters, raw keys, numbers."""
        terms, plan = self._terms, self._plan
        outputs = [f"{terms.key(n)} AS k{i}" for i, n in enumerate(plan.query.keys)]
        outputs += [self._bin_cell(b) + f" AS h{i}" for i, b in enumerate(self._bins)]
        outputs += [
            self._clamped(s.column) + f" AS x{i}" for i, s in enumerate(self._sums)
        ]
        outputs += [
            self._value(name) + f" AS v{i}" for i, name in enumerate(self._counted)
        ]
        tests = [f"({terms.has_key(name)})" for name in plan.query.keys]
        if plan.query.condition is not None:
            tests.insert(0, f"({predicate(plan.query.condition, terms)})")
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        return f"SELECT {', '.join(outputs) or '1 AS one'} FROM data{where}"

    def _clamped(self, column: str) -> str:
        """Return the clamped cell as a double; a Boolean is 0 or 1."""
        terms = self._terms
        if isinstance(self._plan.schema[column], Boolean):
            return self._dialect.truth_to_double.format(x=terms.truth(column))
        return terms.clamped(column)

    def _grid(self, place: int) -> str:
        """Return ``q - first``, an integer in [0, width]."""
        one, dialect = self._sums[place], self._dialect
        column, f = self._plan.schema[one.column], f"x{place}"
        if isinstance(column, Real | Integer):
            step, half = dialect.constant(column.step), dialect.constant(0.5)
            # Below it |x / step| < 2^-60, and adding 1/2 gives 1/2. Should it be zero,
            # the step is so small that no double underflows when divided by it.
            tiny = dialect.constant(column.step * 2.0**-60)
            y = dialect.quotient.format(x=f, step=step, tiny=tiny)
            f = dialect.floor.format(x=f"{y} + {half}")
        # A declaration keeps grid numbers within ±2^62, so 64 bits hold the difference.
        q = dialect.to_int64.format(x=f)
        return f"{q} - {dialect.integer(one.first)}" if one.first else q

    def _value(self, name: str) -> str:
        """Return something that is null exactly when the cell is missing."""
        if isinstance(self._plan.schema[name], Real | Integer):
            return self._terms.number(name)
        return f"CASE WHEN {self._terms.has_key(name)} THEN 1 END"

    def _bin_cell(self, bins: Bins) -> str:
        terms, name = self._terms, bins.column
        if bins.edges:
            return terms.clamped(name)
        if isinstance(self._plan.schema[name], Boolean):
            return terms.truth(name)
        # Without this, each undeclared cell would open a group of its own.
        return f"CASE WHEN {terms.has_key(name)} THEN {terms.key(name)} END"

    def _bin(self, place: int) -> str:
        """Return the place of a clamped number among the bins; -1 outside the edges."""
        bins, cell = self._bins[place], f"h{place}"
        if not bins.edges:
            return cell
        first, *_, start, last = map(
            self._dialect.constant, (bins.edges[0], *bins.edges)
        )
        inner = self._bisect(cell, bins.edges, 0, bins.count - 1)
        # The last bin is closed, so its right edge belongs to it.
        return (
            f"CASE WHEN {cell} < {first} THEN -1 WHEN {cell} > {last} THEN -1 "
            f"WHEN {cell} >= {start} THEN {bins.count - 1} "
            f"WHEN {cell} IS NOT NULL THEN {inner} END"
        )

    def _bisect(self, cell: str, edges: tuple[float, ...], low: int, high: int) -> str:
        """Return the bin of a cell known to lie in bins `low` to `high`."""
        if low >= high:
            return str(low)
        middle = (low + high + 1) // 2
        left = self._bisect(cell, edges, low, middle - 1)
        right = self._bisect(cell, edges, middle, high)
        edge = self._dialect.constant(edges[middle])
        return f"CASE WHEN {cell} < {edge} THEN {left} ELSE {right} END"


def _group_by(keys: list[str], bins: list[str]) -> str:
    """Return the grouping: one set per histogram, or all in one when there is none.

    The sums per group follow from the first set, so no set without bins is needed.
    """
    if len(bins) > 1:
        sets = ", ".join(f"({', '.join([*keys, b])})" for b in bins)
        return f" GROUP BY GROUPING SETS ({sets})"
    return f" GROUP BY {', '.join(keys + bins)}" if keys or bins else ""


def _keys(plan: Plan, name: str) -> tuple[Key, ...]:
    column = plan.schema[name]
    assert isinstance(column, Category | Boolean)  # noqa: S101  the plan checked it
    return column.values
