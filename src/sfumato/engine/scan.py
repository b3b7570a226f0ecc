"""The rows of a question as integers: the part of a statement that reads the table.

Two layers, the same whatever is then added up::

    SELECT k0, CAST(floor(x0 / step + 1/2) AS BIGINT) - first AS q0, bin AS b0
    FROM (SELECT key AS k0, clamped number AS x0, clamped number AS h0
          FROM data WHERE filter AND declared keys) AS cells

Where people have several rows, ``u`` says whose a row is; rows of nobody are left out.
Filter and declared keys come first, so that a person's groups are those that count.

The one cast cannot overflow: its argument comes from a number between the bounds.
Division by a positive constant, adding a constant and `floor` never decrease in IEEE
arithmetic, and at the bounds they give `first` and `last`; so each grid number lies
between those without a second clamp.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard, final

from sfumato.declare.schema import Boolean, Integer, Real
from sfumato.declare.unit import Unit
from sfumato.engine.dialect import Dialect
from sfumato.engine.evenly import even_width
from sfumato.engine.listed import ListedKeys
from sfumato.engine.physical import Layout
from sfumato.engine.source import Source
from sfumato.plan import (
    Aggregate,
    Binned,
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountValues,
    Crossed,
    Level,
    Plan,
    Scale,
    SumValues,
)

__all__ = ["Grid", "Scan", "Slot", "axes_of"]


Slot: TypeAlias = "tuple[str, tuple[str, ...]]"
"""A column, and the other columns that must have a value in a row that counts."""


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """A column to be counted and summed on its grid, in rows that have a slot's cells."""

    slot: Slot
    first: int
    last: int

    @property
    def column(self) -> str:
        """The column."""
        return self.slot[0]


@final
class Scan:
    """The relation that every statement of a plan adds up.

    Attributes:
        keys: Names of the columns that hold raw keys, in the order of the question.
        axes: What the columns ``b0``, ``b1``, … count rows by.
        sets: Which of them count together, and the aggregates that they count.
        sums: What the columns ``q0``, ``q1``, … hold: ``q - first``, null if missing.
        squares: For each slot whose spread is asked, what is squared.
        products: What is multiplied.
        counted: The slots of which ``v0``, ``v1``, … tell whether there are values.
        terms: Cells as expressions.
        groups: Keys as expressions, where text columns may have listed ones.
    """

    def __init__(self, plan: Plan, layout: Layout, dialect: Dialect) -> None:
        """Collect what the parts need; pure, no connection is needed."""
        self._plan, self._dialect = plan, dialect
        self._source = Source(plan.query, plan.schema, layout, dialect)
        self.terms = self._source.terms
        self.groups = self.terms.listing(plan.grouping.listed)
        aggregates = [part.aggregate for part in plan.parts]
        self.keys = [f"k{i}" for i, _ in enumerate(plan.query.keys)]
        binned = list(dict.fromkeys(_binned(aggregates)))
        self.axes = list(dict.fromkeys(a for held in binned for a in axes_of(held)))
        self.sets: dict[tuple[int, ...], list[Binned]] = {}
        for held in binned:
            axes = tuple(sorted(self.axes.index(a) for a in axes_of(held)))
            self.sets.setdefault(axes, []).append(held)
        self.products = [a for a in aggregates if isinstance(a, CentredProduct)]
        self.sums = list(
            dict.fromkeys(one for a in aggregates for one in self._grids(a))
        )
        self.squares = {
            (a.column, a.among): a for a in aggregates if isinstance(a, CentredSquare)
        }
        summed = {s.slot for s in self.sums}
        wanted = dict.fromkeys(slot for a in aggregates for slot in _slots(a))
        self.counted = [slot for slot in wanted if slot not in summed]
        columns = [name for s in self.sums for name in (s.column, *s.slot[1])]
        self._numbers = list(dict.fromkeys(columns))
        self._codes: tuple[str, ...] = ()

    def code(self, codes: tuple[str, ...]) -> None:
        """Have ``k0``, … hold places among the keys; null, not left out, for no key."""
        self._codes = codes

    def _grids(self, one: Aggregate) -> Iterator[Grid]:
        """Iterate over the grid numbers that an aggregate is made of."""
        if isinstance(one, SumValues):
            yield Grid((one.column, ()), one.first, one.last)
        elif isinstance(one, CentredSum | CentredSquare):
            yield Grid((one.column, one.among), one.first, one.last)
        elif isinstance(one, CentredProduct):
            yield self._factor(one.one, one.two, one.among)
            yield self._factor(one.two, one.one, one.among)

    def _factor(self, scale: Scale, other: Scale, among: tuple[str, ...]) -> Grid:
        """Return where a factor of a product is summed: in rows with the other's cell.

        A column that is declared complete asks for no cell.
        """
        declared = self._plan.schema[other.column]
        free = isinstance(declared, Real | Integer) and declared.complete
        others = among if free else tuple(sorted({*among, other.column}))
        return Grid((scale.column, others), scale.first, scale.last)

    def column_of(self, slot: Slot) -> str:
        """Return the column that is null exactly where a cell of the slot is missing."""
        if slot in self.counted:
            return f"v{self.counted.index(slot)}"
        return next(f"q{i}" for i, one in enumerate(self.sums) if one.slot == slot)

    def relation(self) -> str:
        """Return the SELECT: doubles turned into grid numbers and places of bins."""
        outputs, where = self._owner() + self.keys, ""
        if self._owner():  # all their keys are listed
            listed = ListedKeys(self._plan, self.groups)
            if self._plan.query.other is not None:
                kept = f"CASE WHEN {listed.test()} THEN {{k}} END AS {{k}}"
                outputs = [*self._owner(), *(kept.format(k=k) for k in self.keys)]
            elif listed.is_partial:
                where = f" WHERE {listed.test()}"
        outputs += [self._bin(i) + f" AS b{i}" for i, _ in enumerate(self.axes)]
        outputs += [self._grid(s) + f" AS q{i}" for i, s in enumerate(self.sums)]
        outputs += [f"v{i}" for i, _ in enumerate(self.counted)]
        return f"SELECT {', '.join(outputs) or '1 AS one'} FROM ({self._cells()}) AS cells{where}"  # fmt: skip

    def product(self, one: CentredProduct) -> str:
        """Return the moved and cut product of two distances from the middle.

        Each is below 2^30 in size, so the moved product lies in [0, 2^61).
        """
        dialect, factors = self._dialect, []
        for scale, other in ((one.one, one.two), (one.two, one.one)):
            q = f"q{self.sums.index(self._factor(scale, other, one.among))}"
            kept = dialect.shifted.format(x=q, bits=scale.trim) if scale.trim else q
            factors.append(f"({kept} + {kept} - {dialect.integer(scale.span)})")
        moved = f"({' * '.join(factors)} + {dialect.integer(one.most)})"
        return dialect.shifted.format(x=moved, bits=one.shift) if one.shift else moved

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
        plan = self._plan
        outputs = [f"{self.terms.identity()} AS u" for _ in self._owner()]
        keys = self._codes or [self._key(n) for n in plan.query.keys]
        outputs += [f"{key} AS k{i}" for i, key in enumerate(keys)]
        outputs += [
            self._bin_cell(axis) + f" AS h{i}"
            for i, axis in enumerate(self.axes)
            if self._cell_of(i) == f"h{i}"
        ]
        outputs += [self._clamped(n) + f" AS x{i}" for i, n in enumerate(self._numbers)]
        outputs += [self._value(s) + f" AS v{i}" for i, s in enumerate(self.counted)]
        tests = [f"({self.groups.has_key(name)})" for name in plan.query.keys]
        tests = tests if plan.query.other is None and not self._codes else []
        if self._source.condition is not None:
            tests.insert(0, f"({self._source.condition})")
        tests += [f"({self.terms.identity()}) IS NOT NULL" for _ in self._owner()]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        return (
            f"SELECT {', '.join(outputs) or '1 AS one'} FROM {self._source.sql}{where}"
        )

    def _key(self, name: str) -> str:
        """Return the raw key; null instead of what is none, where other rows count."""
        key = self.groups.key(name)
        if self._plan.query.other is None:
            return key
        # Without this, each undeclared cell would open a group of its own.
        return f"CASE WHEN {self.groups.has_key(name)} THEN {key} END"

    def _owner(self) -> list[str]:
        """Return the column that says whose a row is; none where it is its own."""
        return ["u"] if isinstance(self._plan.schema.unit, Unit) else []

    def _clamped(self, column: str) -> str:
        """Return the clamped cell as a double; a Boolean is 0 or 1."""
        if isinstance(self._plan.schema[column], Boolean):
            return self._dialect.truth_to_double.format(x=self.terms.truth(column))
        return self.terms.clamped(column)

    def _grid(self, one: Grid) -> str:
        """Return ``q - first``, an integer in [0, width]; null without the slot's cells."""
        cells = [f"x{self._numbers.index(name)}" for name in (one.column, *one.slot[1])]
        grid = self._number(one.column, one.first, cells[0])
        tests = " AND ".join(f"{cell} IS NOT NULL" for cell in cells[1:])
        return f"CASE WHEN {tests} THEN {grid} END" if tests else grid

    def _number(self, name: str, first: int, f: str) -> str:
        """Return the grid number of a clamped double, counted from `first`."""
        q = self.terms.steps(name, f)
        return f"{q} - {self._dialect.integer(first)}" if first else q

    def _value(self, slot: Slot) -> str:
        """Return something that is null exactly when a cell of the slot is missing."""
        name, among = slot
        if not among and isinstance(self._plan.schema[name], Real | Integer):
            return self.terms.number(name)
        tests = [self._has_value(n) for n in (name, *among)]
        return f"CASE WHEN {' AND '.join(tests)} THEN 1 END"

    def _has_value(self, name: str) -> str:
        if isinstance(self._plan.schema[name], Real | Integer):
            return f"{self.terms.number(name)} IS NOT NULL"
        return self.terms.has_key(name)

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
        bins, cell = self.axes[place], self._cell_of(place)
        if isinstance(bins, Level):
            q = f"({self._number(bins.column, bins.first, cell)})"
            shifted = self._dialect.shifted.format(x=q, bits=bins.bits)
            return shifted if bins.bits else q
        if not bins.edges:
            return cell
        first, *_, start, last = map(
            self._dialect.constant, (bins.edges[0], *bins.edges)
        )
        width = even_width(bins.edges)
        if width is None:
            inner = self._bisect(cell, bins.edges, 0, bins.count - 1)
        else:
            inner = self._counted_off(cell, bins, width)
        outside = f"WHEN {cell} < {first} THEN -1 WHEN {cell} > {last} THEN -1 "
        # The last bin is closed, so its right edge belongs to it.
        return (
            f"CASE {'' if self._is_inside(bins) else outside}"
            f"WHEN {cell} >= {start} THEN {bins.count - 1} "
            f"WHEN {cell} IS NOT NULL THEN {inner} END"
        )

    def _cell_of(self, place: int) -> str:
        """Return the clamped cell that an axis counts by; one that is summed, if any."""
        bins = self.axes[place]
        if (isinstance(bins, Level) or bins.edges) and bins.column in self._numbers:
            return f"x{self._numbers.index(bins.column)}"
        return f"h{place}"

    def _is_inside(self, bins: Bins) -> bool:
        """Tell whether the declared bounds leave no clamped number outside the edges."""
        column = self._plan.schema[bins.column]
        return isinstance(column, Real | Integer) and (
            bins.edges[0] <= column.lower and column.upper <= bins.edges[-1]
        )

    def _counted_off(self, cell: str, bins: Bins, width: float) -> str:
        """Return the bin of a cell by one division; see `evenly`.

        What may lie outside the edges is put to the first of them, so that the one cast
        cannot overflow, in whatever order a database evaluates the arms.
        """
        dialect = self._dialect
        first, last = map(dialect.constant, (bins.edges[0], bins.edges[-1]))
        inside = f"({cell} - {first})"
        if not self._is_inside(bins):
            inside = (
                f"(CASE WHEN {cell} < {first} THEN {first} WHEN {cell} > {last} "
                f"THEN {first} ELSE {cell} END - {first})"
            )
        quotient = dialect.quotient.format(
            x=inside,
            step=dialect.constant(width),
            tiny=dialect.constant(width * 2.0**-60),
        )
        return dialect.to_int64.format(x=dialect.floor.format(x=quotient))

    def _bisect(self, cell: str, edges: tuple[float, ...], low: int, high: int) -> str:
        """Return the bin of a cell known to lie in bins `low` to `high`."""
        if low >= high:
            return str(low)
        middle = (low + high + 1) // 2
        left = self._bisect(cell, edges, low, middle - 1)
        right = self._bisect(cell, edges, middle, high)
        edge = self._dialect.constant(edges[middle])
        return f"CASE WHEN {cell} < {edge} THEN {left} ELSE {right} END"


def axes_of(held: Binned) -> tuple[Bins | Level, ...]:
    """Return what the rows are counted by together."""
    if isinstance(held, Choice):
        return (held.bins,)
    return (held.first, held.second) if isinstance(held, Crossed) else (held,)


def _slots(one: Aggregate) -> Iterator[Slot]:
    """Iterate over the cells whose values an aggregate counts."""
    if isinstance(one, CountValues):
        yield one.column, one.among
    if isinstance(one, CentredSquare) and one.complete and one.among:
        yield one.among[0], one.among[1:]


def _binned(aggregates: list[Aggregate]) -> Iterator[Binned]:
    """Iterate over the counts by place."""
    for one in aggregates:
        if isinstance(one, CentredKey):
            yield Bins(one.column, (), one.count)
        elif isinstance(one, Bins | Crossed | Choice) or _is_finest(one, aggregates):
            yield one


def _is_finest(one: Aggregate, among: list[Aggregate]) -> TypeGuard[Level]:
    """Tell whether it is the level of a tree from which all others follow."""
    return isinstance(one, Level) and not any(
        isinstance(other, Level)
        and other.column == one.column
        and other.bits < one.bits
        for other in among
    )
