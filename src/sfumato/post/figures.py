"""Integers of the parts → the figures that were asked for, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import numpy as np

from sfumato.plan import (
    ByChoice,
    ByCount,
    ByMatrix,
    ByProduct,
    ByQuotient,
    ByRank,
    ByRatio,
    BySquares,
    Direct,
    Plan,
    PublicSize,
    Recipe,
)
from sfumato.post.matrix import entry_points, matrix_points
from sfumato.post.rule import (
    Floats,
    Quotient,
    Spread,
    centre,
    floats,
    limits,
    row_counts,
)
from sfumato.post.tree import quantiles

__all__ = ["in_terms", "matrix", "points"]


def in_terms(plan: Plan, values: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the integers of every part as numbers of rows' terms.

    Where rows are units they are that; of people they are fractions (`fraction_bits`).
    All other functions here take what this one returns.
    """
    return [
        [float(v) * part.size for v in cells]
        for part, cells in zip(plan.parts, values, strict=True)
    ]


def points(  # noqa: PLR0911  one for each recipe
    plan: Plan, recipe: Recipe, values: Sequence[Sequence[float]]
) -> Floats:
    """Return one number per group (and bin) for a recipe.

    Formal guarantee: post-processing of the values; adds no privacy loss.

    Counts and sums are unbiased. A mean is clamped to its bounds; a count below one
    counts as one under it. A variance is clamped into [0, (range/2)²], where the
    variance of values between the bounds lies, and a deviation into [0, range/2]. The
    sum under a ratio counts as one grid step at least, with the sign of its bounds. A
    choice has the figure 0: the rows that it is thought to lack.

    Args:
        plan: The plan that was measured.
        recipe: How the figure follows from the parts.
        values: The integers of every part, in terms and in the order of ``plan.parts``.

    Returns:
        Shape ``(cells of the figure,)``, in the column's unit.
    """
    match recipe:
        case PublicSize():
            return np.array([float(plan.schema.unit.size or 0)])
        case Direct(part, step_size):
            return floats(values[part]) * step_size
        case ByRatio(total, count):
            middle, half = centre(plan, total)
            low, high = limits(plan, total)
            rows = row_counts(plan, count, values)
            mean = middle + half * floats(values[total]) / np.maximum(rows, 1.0)
            return np.clip(mean, low, high)
        case ByMatrix():
            return matrix(plan, recipe, values)[1]
        case ByChoice():
            return np.zeros(len(plan.groups))
        case ByRank():
            return quantiles(plan, recipe, values)
        case BySquares(total, squares, count):
            held = None if squares is None else floats(values[squares])
            rows = np.maximum(row_counts(plan, count, values), 1.0)
            return Spread.of(plan, recipe)(floats(values[total]), held, rows)
        case ByQuotient(numerator, denominator):
            above, below = (points(plan, r, values) for r in (numerator, denominator))
            return Quotient.of(plan, denominator)(above, below)
        case ByCount(total, count):
            middle, half = centre(plan, total)
            return middle * row_counts(plan, count, values) + half * floats(
                values[total]
            )
        case _:
            assert_never(recipe)


def matrix(
    plan: Plan, recipe: ByMatrix, values: Sequence[Sequence[float]]
) -> tuple[Floats, Floats]:
    """Return the entries of a matrix before and after it was made one."""

    def entry(one: ByProduct | BySquares) -> Floats:
        if isinstance(one, ByProduct):
            return entry_points(plan, one, values)
        return points(plan, one, values)

    return matrix_points(plan, recipe, entry)
