"""The rows of a question as integers: the part of a statement that reads the table.

Two layers, the same whatever is then added up::

    SELECT k0, CAST(floor(x0 / step + 1/2) AS BIGINT) - first AS q0, bin AS b0
    FROM (SELECT key AS k0, clamped number AS x0, clamped number AS h0
          FROM data WHERE filter AND declared keys) AS cells

The one cast cannot overflow: its argument comes from a number between the bounds.
Division by a positive constant, adding a constant and `floor` never decrease in IEEE
arithmetic, and at the bounds they give `first` and `last`; so each grid number lies
between those without a second clamp.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard, final

from sfumato.declare.schema import Boolean, Integer, Real
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.source import Source
from sfumato.plan import (
    Aggregate,
    Bins,
    CentredKey,
    CentredSquare,
    CentredSum,
    CountValues,
    Level,
    Plan,
    SumValues,
)

__all__ = ["Grid", "Scan"]


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """A column to be counted and summed on its grid."""

    column: str
    first: int
    last: int


@final
class Scan:
    """The relation that every statement of a plan adds up.

    Attributes:
        keys: Names of the columns that hold raw keys, in the order of the question.
        bins: What the columns ``b0``, ``b1``, … count rows by.
        sums: What the columns ``q0``, ``q1``, … hold: ``q - first``, null if missing.
        squares: For each column whose spread is asked, what is squared.
        counted: The columns of which ``v0``, ``v1``, … tell whether there is a value.
        terms: Cells as expressions.
    """

    def __init__(self, plan: Plan, layout: Layout, dialect: Dialect) -> None:
        """Collect what the parts need; pure, no connection is needed."""
        self._plan, self._dialect = plan, dialect
        self._source = Source(plan.query, plan.schema, layout, dialect)
        self.terms = self._source.terms
        aggregates = [part.aggregate for part in plan.parts]
        self.keys = [f"k{i}" for i, _ in enumerate(plan.query.keys)]
        self.bins = list(dict.fromkeys(_binned(aggregates)))
        self.sums = list(
            dict.fromkeys(
                Grid(a.column, a.first, a.last)
                for a in aggregates
                if isinstance(a, SumValues | CentredSum | CentredSquare)
            )
        )
        self.squares = {a.column: a for a in aggregates if isinstance(a, CentredSquare)}
        summed = {s.column for s in self.sums}
        self.counted = [
            a.column
            for a in aggregates
            if isinstance(a, CountValues) and a.column not in summed
        ]

    def relation(self) -> str:
        """Return the SELECT: doubles turned into grid numbers and places of bins."""
        outputs = list(self.keys)
        outputs += [self._bin(i) + f" AS b{i}" for i, _ in enumerate(self.bins)]
        outputs += [self._grid(i) + f" AS q{i}" for i, _ in enumerate(self.sums)]
        outputs += [f"v{i}" for i, _ in enumerate(self.counted)]
        return f"SELECT {', '.join(outputs) or '1 AS one'} FROM ({self._cells()}) AS cells"  # fmt: skip

    def square(self, one: CentredSquare, q: str) -> str:
        """Return the squared distance of ``q - first`` from the middle.

        A width is below 2^63 and ``0 <= q <= width``, so no difference leaves 64 bits;
        the trimmed distance is below 2^31, so neither does its square.
        """
        dialect = self._dialect
        width = dialect.integer(one.width)
        distance = f"({q} - ({width} - {q}))"
        if one.trim:
            distance = dialect.shifted.format(x=f"abs{distance}", bits=one.trim)
        square = f"({distance} * {distance})"
        return dialect.shifted.format(x=square, bits=one.shift) if one.shift else square

    def _cells(self) -> str:
        """Return the layer that reads the table: filters, raw keys, numbers."""
        terms, plan = self.terms, self._plan
        outputs = [f"{self._key(n)} AS k{i}" for i, n in enumerate(plan.query.keys)]
        outputs += [self._bin_cell(b) + f" AS h{i}" for i, b in enumerate(self.bins)]
        outputs += [
            self._clamped(s.column) + f" AS x{i}" for i, s in enumerate(self.sums)
        ]
        outputs += [
            self._value(name) + f" AS v{i}" for i, name in enumerate(self.counted)
        ]
        tests = [f"({terms.has_key(name)})" for name in plan.query.keys]
        tests = tests if plan.query.other is None else []
        if self._source.condition is not None:
            tests.insert(0, f"({self._source.condition})")
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        return (
            f"SELECT {', '.join(outputs) or '1 AS one'} FROM {self._source.sql}{where}"
        )

    def _key(self, name: str) -> str:
        """Return the raw key; null instead of what is none, where other rows count."""
        key = self.terms.key(name)
        if self._plan.query.other is None:
            return key
        # Without this, each undeclared cell would open a group of its own.
        return f"CASE WHEN {self.terms.has_key(name)} THEN {key} END"

    def _clamped(self, column: str) -> str:
        """Return the clamped cell as a double; a Boolean is 0 or 1."""
        if isinstance(self._plan.schema[column], Boolean):
            return self._dialect.truth_to_double.format(x=self.terms.truth(column))
        return self.terms.clamped(column)

    def _grid(self, place: int) -> str:
        """Return ``q - first``, an integer in [0, width]."""
        one = self.sums[place]
        return self._number(one.column, one.first, f"x{place}")

    def _number(self, name: str, first: int, f: str) -> str:
        """Return the grid number of a clamped double, counted from `first`."""
        q = self.terms.steps(name, f)
        return f"{q} - {self._dialect.integer(first)}" if first else q

    def _value(self, name: str) -> str:
        """Return something that is null exactly when the cell is missing."""
        if isinstance(self._plan.schema[name], Real | Integer):
            return self.terms.number(name)
        return f"CASE WHEN {self.terms.has_key(name)} THEN 1 END"

    def _bin_cell(self, bins: Bins | Level) -> str:
        terms, name = self.terms, bins.column
        if isinstance(bins, Level) or bins.edges:
            return terms.clamped(name)
        if isinstance(self._plan.schema[name], Boolean):
            return terms.truth(name)
        # Without this, each undeclared cell would open a group of its own.
        return f"CASE WHEN {terms.has_key(name)} THEN {terms.key(name)} END"

    def _bin(self, place: int) -> str:
        """Return the place of a clamped number among the bins; -1 outside the edges."""
        bins, cell = self.bins[place], f"h{place}"
        if isinstance(bins, Level):
            q = f"({self._number(bins.column, bins.first, cell)})"
            shifted = self._dialect.shifted.format(x=q, bits=bins.bits)
            return shifted if bins.bits else q
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


def _binned(aggregates: list[Aggregate]) -> Iterator[Bins | Level]:
    """Iterate over what the rows are counted by."""
    for one in aggregates:
        if isinstance(one, CentredKey):
            yield Bins(one.column, (), one.count)
        elif isinstance(one, Bins) or _is_finest(one, aggregates):
            yield one


def _is_finest(one: Aggregate, among: list[Aggregate]) -> TypeGuard[Level]:
    """Tell whether it is the level of a tree from which all others follow."""
    return isinstance(one, Level) and not any(
        isinstance(other, Level)
        and other.column == one.column
        and other.bits < one.bits
        for other in among
    )
