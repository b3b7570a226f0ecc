"""How figures of several terms follow from them: the same for one and for many draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.plan import (
    ByCount,
    BySquares,
    CentredKey,
    CentredSquare,
    CentredSum,
    Direct,
    Plan,
    SumValues,
)

__all__ = [
    "Floats",
    "Quotient",
    "Spread",
    "centre",
    "ends_of_sum",
    "floats",
    "limits",
    "row_counts",
    "summed",
]

Floats: TypeAlias = "NDArray[np.float64]"


def centre(plan: Plan, total: int) -> tuple[float, float]:
    """Return the middle of the bounds and half a grid step, in the column's unit."""
    aggregate = plan.parts[total].aggregate
    if isinstance(aggregate, CentredKey):
        return 0.5, 0.5
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    half = _step(plan, aggregate.column) / 2
    return (aggregate.first + aggregate.last) * half, half


def limits(plan: Plan, total: int) -> tuple[float, float]:
    """Return the public bounds of the column under a centred sum; a share's are 0, 1."""
    aggregate = plan.parts[total].aggregate
    if isinstance(aggregate, CentredKey):
        return 0.0, 1.0
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    column = plan.schema[aggregate.column]
    return getattr(column, "lower", 0.0), getattr(column, "upper", 1.0)


def ends_of_sum(plan: Plan, recipe: Direct | ByCount) -> tuple[float, float]:
    """Return the least and the largest sum that public facts leave possible.

    A row that is left out of a sum, by a filter or a missing value, adds 0 to it. Each
    other one adds a value between the bounds, or the number of the grid next to one, which
    may lie outside by half a step. Where the number of rows is private, only the sign of
    the sum may be known.
    """
    if isinstance(recipe, Direct):
        aggregate = plan.parts[recipe.part].aggregate
        assert isinstance(aggregate, SumValues)  # noqa: S101  the caller asked
        low, high = (x * recipe.step_size for x in (aggregate.first, aggregate.last))
    else:
        low, high = limits(plan, recipe.total)
        middle, half = centre(plan, recipe.total)
        centred = plan.parts[recipe.total].aggregate
        half *= centred.last - centred.first if isinstance(centred, CentredSum) else 1
        low, high = min(low, middle - half), max(high, middle + half)
    if isinstance(recipe, Direct) or recipe.count is not None:
        low, high = min(low, 0.0), max(high, 0.0)
    size = plan.schema.unit.rows
    if size is not None:
        return size * low, size * high
    return (0.0 if low >= 0 else -inf), (0.0 if high <= 0 else inf)


@final
@dataclass(frozen=True, slots=True)
class Quotient:
    """Two sums → their ratio; the same for one and for many.

    Attributes:
        sign: 1 where the column below has bounds of at least 0, -1 where of at most 0.
        least: Its grid step: the smallest size of a sum that is not 0.
    """

    sign: float
    least: float

    @classmethod
    def of(cls, plan: Plan, below: Direct | ByCount) -> Quotient:
        """Return the rule for what stands below."""
        column = plan.schema[summed(plan, below)]
        sign = -1.0 if getattr(column, "lower", 0.0) < 0 else 1.0
        return cls(sign, _step(plan, summed(plan, below)))

    def __call__(self, above: Floats, below: Floats) -> Floats:
        """Return the ratios."""
        return above * self.sign / np.maximum(below * self.sign, self.least)


def summed(plan: Plan, recipe: Direct | ByCount) -> str:
    """Return the column that a sum is of."""
    part = recipe.part if isinstance(recipe, Direct) else recipe.total
    return str(getattr(plan.parts[part].aggregate, "column", ""))


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """Sum, squares and count → variance, or its root; the same for one and for many.

    Attributes:
        half: Half a grid step, in the column's unit.
        width: Grid steps between the bounds: the largest distance in half steps.
        square: What was squared; none where every square is one.
        root: Whether a standard deviation is wanted.
    """

    half: float
    width: int
    square: CentredSquare | None
    root: bool

    @classmethod
    def of(cls, plan: Plan, recipe: BySquares) -> Spread:
        """Return the rule for a recipe."""
        aggregate = plan.parts[recipe.total].aggregate
        assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
        square = None
        if recipe.squares is not None:
            found = plan.parts[recipe.squares].aggregate
            square = found if isinstance(found, CentredSquare) else None
        half = _step(plan, aggregate.column) / 2
        return cls(half, aggregate.width, square, recipe.root)

    @property
    def largest(self) -> float:
        """The largest variance, or deviation, of values between the bounds."""
        deviation = self.width * self.half
        return deviation if self.root else deviation**2

    def __call__(self, sums: Floats, squares: Floats | None, rows: Floats) -> Floats:
        """Return the figures; `rows` is at least 1.

        Squares were floored to units of ``2^shift``; half a unit, the mean of what was
        lost, is given back.
        """
        return self.figure(self.second(squares, rows) - self.first(sums, rows) ** 2)

    def first(self, sums: Floats, rows: Floats) -> Floats:
        """Return the mean distance from the middle, as a share of the width."""
        return sums / rows / self.width

    def second(self, squares: Floats | None, rows: Floats) -> Floats:
        """Return the mean squared distance, as a share of the squared width."""
        if squares is None or self.square is None:
            return np.ones_like(rows)
        one = self.square
        lost = (1 - 2.0**-one.shift) / 2
        mean = (squares / rows + one.least + one.most) / 2 + lost
        return mean * (one.scale / self.width**2)

    def figure(self, variance: Floats) -> Floats:
        """Return the figure of a variance that is given as a share of the largest."""
        share = np.clip(variance, 0.0, 1.0)
        return self.largest * (np.sqrt(share) if self.root else share)


def row_counts(
    plan: Plan, count: int | None, values: Sequence[Sequence[float]]
) -> Floats:
    """Return the rows under a figure: measured, or the public size."""
    if count is None:
        return np.array([float(plan.schema.unit.rows or 0)])
    return floats(values[count])


def _step(plan: Plan, column: str) -> float:
    return float(getattr(plan.schema[column], "step", 1.0))


def floats(values: Sequence[float]) -> Floats:
    """Return integers of any size as doubles."""
    return np.array([float(v) for v in values], dtype=np.float64)
