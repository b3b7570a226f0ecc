"""The exact integers that an engine computes.

Each is a sum of integers over rows; `term` says what one row adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.declare.schema import Boolean, Number

__all__ = [
    "Aggregate",
    "Binned",
    "Bins",
    "CentredKey",
    "CentredProduct",
    "CentredSquare",
    "CentredSum",
    "Choice",
    "CountPeople",
    "CountRows",
    "CountValues",
    "Crossed",
    "Level",
    "Scale",
    "SumValues",
    "grid",
    "tree",
]

FAN = 4  # bits: a node of a tree has 16 children
_LEAVES = 8  # bits: a tree has at most 256 leaves


@final
@dataclass(frozen=True, slots=True)
class CountRows:
    """Rows that pass the filter, per group.

    Attributes:
        beyond: Of each person only rows beyond the unit's ``max_rows``, and of these at
            most as many: what she adds lies in the range of what all her rows add.
    """

    beyond: bool = False


@final
@dataclass(frozen=True, slots=True)
class CountValues:
    """Rows, per group, whose cell in `column` is not missing, nor those in `among`."""

    column: str
    among: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class CountPeople:
    """People with at least one row that passes the filter, per group.

    Where each row is a unit of its own, `CountRows` says the same.

    Attributes:
        beyond: Only people with more than ``max_rows`` rows in the group, or with rows
            in more than ``max_groups`` groups: each adds as much as she does to the
            count of people, or nothing.
    """

    beyond: bool = False


@final
@dataclass(frozen=True, slots=True)
class SumValues:
    """Sum of grid numbers ``q``, clamped to [first, last]; missing adds `fill`.

    A grid number is ``floor(x / step + 1/2)`` of the clamped cell x. `fill` is 0, or
    the middle of the bounds for a column declared complete.
    """

    column: str
    first: int
    last: int
    fill: int = 0


@final
@dataclass(frozen=True, slots=True)
class CentredSum:
    """Sum of ``2q - (first + last)``: distance from the middle, in half steps.

    Missing adds 0, as does a row with a missing cell in `among`. Each term lies within
    ±width, so adding or removing a row moves the sum by at most half of what it moves a
    plain sum over [0, width].
    """

    column: str
    first: int
    last: int
    among: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Grid steps between the bounds."""
        return self.last - self.first


@final
@dataclass(frozen=True, slots=True)
class CentredKey:
    """Rows whose cell is the key at `place`, less rows with another of `count` keys.

    Missing adds 0. It is the `CentredSum` of "the cell is that key", so half of its
    terms' range is what a row added or removed moves it by.
    """

    column: str
    place: int
    count: int


@final
@dataclass(frozen=True, slots=True)
class CentredSquare:
    """Sum of ``2e - (least + most)``, where e is a squared distance from the middle.

    ``e = (|2q - (first + last)| >> trim)² >> shift``: whole numbers below 2^30, from
    products below 2^62, so that every engine computes them in 64 bits. `>>` floors.
    Each term lies within ±reach. Missing adds 0; in a column declared complete it
    counts as the middle of the bounds, as it does in `CentredSum`: it adds -reach. A row
    with a missing cell in `among` adds 0.
    """

    column: str
    first: int
    last: int
    complete: bool = False
    among: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Grid steps between the bounds."""
        return self.last - self.first

    @property
    def trim(self) -> int:
        """Bits dropped from a distance before it is squared: 0 below 2^31 steps."""
        return max(0, self.width.bit_length() - 31)

    @property
    def shift(self) -> int:
        """Bits dropped from a squared distance: 0 below 2^15 steps."""
        return max(0, ((self.width >> self.trim) ** 2).bit_length() - 30)

    @property
    def scale(self) -> int:
        """How many squared half steps one unit of e stands for."""
        return 1 << (self.shift + 2 * self.trim)

    @property
    def most(self) -> int:
        """The e of a value at a bound."""
        return self.square(self.width)

    @property
    def least(self) -> int:
        """The e of a value nearest the middle, which an odd width keeps off it."""
        return self.square(self.width & 1)

    @property
    def reach(self) -> int:
        """The largest size of one term."""
        return self.most - self.least

    def square(self, distance: int) -> int:
        """Return e for a distance from the middle, in half steps."""
        return (abs(distance) >> self.trim) ** 2 >> self.shift


@final
@dataclass(frozen=True, slots=True)
class Scale:
    """How far values of a column lie from the middle, in few bits.

    A value with grid number q has the distance ``2(q' - first') - span`` with
    ``q' - first' = (q - first) >> trim``: between -span and span, below 2^30.
    """

    column: str
    first: int
    last: int

    @property
    def trim(self) -> int:
        """Bits dropped from a grid number: 0 below 2^30 steps."""
        return max(0, (self.last - self.first).bit_length() - 30)

    @property
    def span(self) -> int:
        """The largest distance."""
        return self.last - self.first >> self.trim

    def distance(self, q: int) -> int:
        """Return the distance of a grid number."""
        return 2 * (q - self.first >> self.trim) - self.span


@final
@dataclass(frozen=True, slots=True)
class CentredProduct:
    """Sum of ``2e - reach``, where e is the product of two distances, moved and cut.

    ``e = (d·d' + most) >> shift`` with ``most = span·span'``: whole numbers from 0 to
    `reach` below 2^30, from products below 2^61, so that every engine computes them in
    64 bits and shifts nothing below 0. Each term lies within ±reach. A row with a
    missing cell in either column, or in `among`, adds 0.
    """

    one: Scale
    two: Scale
    among: tuple[str, ...] = ()

    @property
    def column(self) -> str:
        """Both columns, for people."""
        return f"{self.one.column} × {self.two.column}"

    @property
    def most(self) -> int:
        """The largest size of a product of distances."""
        return self.one.span * self.two.span

    @property
    def shift(self) -> int:
        """Bits dropped from a product that was moved above 0."""
        return max(0, (2 * self.most).bit_length() - 30)

    @property
    def reach(self) -> int:
        """The largest e, which is also the largest size of a term."""
        return 2 * self.most >> self.shift

    def product(self, q: int, other: int) -> int:
        """Return e for the grid numbers of a row."""
        product = self.one.distance(q) * self.two.distance(other)
        return product + self.most >> self.shift


@final
@dataclass(frozen=True, slots=True)
class Bins:
    """Rows per bin ``[e0, e1), …, [e(k-1), ek]`` of clamped cells, or per category.

    Without edges the bins are the declared keys of the column, in order.
    """

    column: str
    edges: tuple[float, ...]
    count: int


@final
@dataclass(frozen=True, slots=True)
class Crossed:
    """Rows per pair of bins of two columns, those of the second innermost.

    A row counts in a pair when it has a bin in both columns.
    """

    first: Bins
    second: Bins

    @property
    def column(self) -> str:
        """Both columns, for people."""
        return f"{self.first.column} × {self.second.column}"

    @property
    def count(self) -> int:
        """Number of pairs."""
        return self.first.count * self.second.count


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """Rows per bin of `bins`, of which nothing is told but the place of a large one."""

    bins: Bins

    @property
    def column(self) -> str:
        """The column."""
        return self.bins.column

    @property
    def count(self) -> int:
        """Number of candidates."""
        return self.bins.count


@final
@dataclass(frozen=True, slots=True)
class Level:
    """Rows per run of ``2^bits`` grid numbers, from the lower bound up.

    A value with grid number q counts in run ``(q - first) >> bits``: in exactly one, as
    in `Bins`. The levels of a tree differ in `bits` only; the finest are its leaves.
    """

    column: str
    first: int
    last: int
    bits: int

    @property
    def count(self) -> int:
        """Number of runs."""
        return (self.last - self.first >> self.bits) + 1


def tree(column: str, first: int, last: int) -> tuple[Level, ...]:
    """Return the levels that quantiles are read from, the finest first.

    At most 256 leaves, in at most 16 nodes of 16 leaves: under pure ε a wide, flat tree
    has less noise than a binary one (Qardaji, Yang, Li, VLDB 2013).
    """
    finest = max(0, (last - first).bit_length() - _LEAVES)
    levels = [Level(column, first, last, finest)]
    if levels[0].count > 1 << FAN:
        levels.append(Level(column, first, last, finest + FAN))
    return tuple(levels)


Aggregate: TypeAlias = (
    CountRows
    | CountValues
    | CountPeople
    | SumValues
    | CentredSum
    | CentredKey
    | CentredSquare
    | CentredProduct
    | Bins
    | Crossed
    | Choice
    | Level
)
Binned: TypeAlias = Bins | Crossed | Choice | Level
"""Counts of rows by place: a row lies in one of several places of a group, or none."""


def grid(column: Number | Boolean) -> tuple[int, int]:
    """Return the first and last grid number of a column (a Boolean is 0 or 1)."""
    return (0, 1) if isinstance(column, Boolean) else (column.first, column.last)
