"""Counts on the levels of a tree → one consistent histogram → quantiles.

Under pure noise of known variance the best linear unbiased estimate of all counts that
agrees with itself is found in two passes (Hay, Rastogi, Miklau, Suciu, VLDB 2010; here
with any variances and any number of children): up the tree each node's own count and
the sum of its children are averaged by their variances; down the tree the difference
that is left is shared among the children in proportion to theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.plan import ByRank, Level, Plan

__all__ = ["consistent", "level_of", "quantiles", "tree_counts"]

Floats: TypeAlias = "NDArray[np.float64]"

_SLACK = 1e-9  # of all rows: a rank that is a whole number stays one in floats


def consistent(
    levels: Sequence[Floats], variances: Sequence[float], fan: int
) -> Floats:
    """Return the least-squares counts of the leaves.

    Args:
        levels: Noisy counts, the leaves first; any leading shape, nodes innermost.
        variances: Of the noise on each count of a level.
        fan: Children per node; the last node of a level may have fewer.

    Examples:
        >>> consistent([np.array([2.0, 2.0, 2.0]), np.array([12.0])], [1, 3], 3)
        array([3., 3., 3.])
    """
    best, spread = [levels[0]], [np.full(levels[0].shape[-1], float(variances[0]))]
    sums: list[tuple[Floats, Floats]] = []
    for own, variance in zip(levels[1:], variances[1:], strict=True):
        starts = np.arange(0, best[-1].shape[-1], fan)
        below = np.add.reduceat(best[-1], starts, axis=-1)
        loose = np.add.reduceat(spread[-1], starts)
        sums.append((below, loose))
        best.append((own * loose + below * variance) / (loose + variance))
        spread.append(loose * variance / (loose + variance))
    found = best[-1]
    for lower, loose, (below, total) in zip(
        best[-2::-1], spread[-2::-1], sums[::-1], strict=True
    ):
        parents = np.arange(lower.shape[-1]) // fan
        left = (found - below)[..., parents]
        found = lower + left * (loose / total[parents])
    return found


def level_of(plan: Plan, part: int) -> Level:
    """Return the level of a tree that a part measures."""
    level = plan.parts[part].aggregate
    assert isinstance(level, Level)  # noqa: S101  lower.py pairs them so
    return level


def tree_counts(
    plan: Plan, recipe: ByRank, values: Sequence[Sequence[float]]
) -> Floats:
    """Return the consistent counts of the leaves, shape (groups, leaves)."""
    levels = [
        np.array(values[p], dtype=np.float64).reshape(-1, level_of(plan, p).count)
        for p in recipe.levels
    ]
    variances = [float(plan.noise_of(p).variance) for p in recipe.levels]
    return consistent(levels, variances, fan_of(plan, recipe))


def fan_of(plan: Plan, recipe: ByRank) -> int:
    """Return how many children a node has."""
    bits = [level_of(plan, p).bits for p in recipe.levels]
    return 1 << (bits[-1] - bits[0])


def quantiles(plan: Plan, recipe: ByRank, values: Sequence[Sequence[float]]) -> Floats:
    """Return one quantile per group: non-decreasing in the level, within the bounds.

    The smallest value at which the cumulative count reaches `level` of all rows, after
    the cumulative counts were made monotone (the mean of the running maximum from below
    and the running minimum from above). Inside a leaf of several grid numbers it is
    interpolated. Where no row seems left, one is supposed.
    """
    counts = np.cumsum(tree_counts(plan, recipe, values), axis=-1)
    rising = np.maximum.accumulate(counts, axis=-1)
    falling = np.minimum.accumulate(counts[:, ::-1], axis=-1)[:, ::-1]
    counts = (rising + falling) / 2
    rows = np.maximum(counts[:, -1:], 1.0)
    wanted = (float(recipe.level) - _SLACK) * rows
    leaves = np.minimum((counts < wanted).sum(axis=-1), counts.shape[-1] - 1)
    pick = np.arange(len(counts)), leaves
    before = np.where(leaves > 0, counts[pick[0], leaves - 1], 0.0)
    inside = counts[pick] - before
    share = (wanted[:, 0] - before) / np.where(inside > 0, inside, 1.0)
    first, last = ends(plan, recipe, leaves)
    return first + np.clip(share, 0.0, 1.0) * (last - first)


def ends(
    plan: Plan, recipe: ByRank, leaves: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each leaf, in the column's unit."""
    level = level_of(plan, recipe.levels[0])
    column = plan.schema[level.column]
    step = float(getattr(column, "step", 1.0))
    low, high = getattr(column, "lower", 0.0), getattr(column, "upper", 1.0)
    size = 1 << level.bits
    first = (level.first + leaves.astype(np.float64) * size) * step
    return np.clip(first, low, high), np.clip(first + (size - 1) * step, low, high)
