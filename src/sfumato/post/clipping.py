"""Noisy counts in ranges → clipping bounds, by public rules alone.

A range counts only if its noisy count passes a threshold that noise alone would pass in
one of twenty columns, as in the bounds search of Google's library (Wilson, Zhang, Lam,
Desfontaines, Simmons-Marengo, Gipson, PoPETs 2020). Inside the ranges that are left,
the quantiles are interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np

from sfumato.declare.query import Histogram
from sfumato.declare.schema import Integer, Real
from sfumato.plan import Direct, Plan
from sfumato.post.noise import noise_error
from sfumato.release import Release

__all__ = ["bounds_told", "clipping_bounds"]

_FALSE = 0.05  # chance that an empty range passes, over all ranges of a column


def clipping_bounds(
    plan: Plan, values: Sequence[Sequence[int]]
) -> dict[str, tuple[float, float]]:
    """Return bounds for every column of the plan, on its grid and within its ends.

    Where no range passes, the ends themselves.

    Args:
        plan: Counts of each column's ranges.
        values: The noisy integers of every part.
    """
    found = {}
    for statistic, recipe in plan.answers:
        assert isinstance(statistic, Histogram)  # noqa: S101  make_bounded asks for them
        assert isinstance(recipe, Direct)  # noqa: S101
        column = plan.schema[statistic.column]
        assert isinstance(column, Real | Integer)  # noqa: S101
        size = plan.parts[recipe.part].size
        counts = size * np.array(values[recipe.part], dtype=np.float64)
        alone = noise_error(plan, recipe.part, 1 - 2 * _FALSE / len(counts))
        kept = np.where(counts > alone, counts, 0.0)
        levels = Fraction(1, 100), Fraction(99, 100)
        if column.private:
            levels = column.private.low, column.private.q
        found[statistic.column] = _ends(column, statistic.edges, kept, levels)
    return found


def bounds_told(plan: Plan, released: Release) -> dict[str, tuple[float, float]]:
    """Return the bounds that a release was made with, read off its first noisy counts."""
    first = released.measurements[: len(plan.parts)]
    return clipping_bounds(plan, [measured.values for measured in first])


def _ends(
    column: Real | Integer,
    edges: tuple[float, ...],
    counts: np.ndarray[tuple[int], np.dtype[np.float64]],
    levels: tuple[Fraction, Fraction],
) -> tuple[float, float]:
    if not counts.any():
        return column.lower, column.upper
    below = np.concatenate([[0.0], np.cumsum(counts)])
    ranks = [float(level) * below[-1] for level in levels]
    low, high = np.interp(ranks, below, edges)
    low = column.lower if levels[0] == 0 else low
    high = column.upper if levels[1] == 1 else high
    step = column.step
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    found = max(column.lower, first * step), min(column.upper, last * step)
    # Ends off the grid can leave less than one step of it, on which nothing is told apart.
    narrow = floor(found[1] / step + 0.5) <= floor(found[0] / step + 0.5)
    return (column.lower, column.upper) if narrow else found
