"""The range that noise alone can explain: what an interval covers, and what not.

An interval holds the figure of the *clamped data at hand* with the stated confidence.
It says nothing about sampling: how far these rows are from other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import assert_never

import numpy as np

from sfumato.plan import (
    Bins,
    ByCount,
    ByRatio,
    CountRows,
    CountValues,
    Direct,
    Plan,
    PublicSize,
    Recipe,
)
from sfumato.post.figures import Floats, centre, limits, points
from sfumato.post.noise import DRAWS, noise_draws, noise_error

__all__ = ["intervals"]

_CHUNK = 256  # groups at a time: 16 MB of draws
_FEWEST = 4  # draws beyond an end; fewer do not tell where it lies


def intervals(
    plan: Plan,
    recipe: Recipe,
    values: Sequence[Sequence[int]],
    confidence: float,
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends for each cell of a figure.

    Formal guarantee: post-processing; adds no privacy loss.

    Counts, histograms and sums of one noise term: exact quantiles of its law (never
    too narrow; counts are cut at 0). Figures of two terms: a parametric bootstrap. The
    noise of both terms is drawn afresh from its exact law and subtracted from what was
    released; the interval holds the middle `confidence` of the outcomes. Beyond 99.9 %
    the draws do not reach far enough: there each term has half of what may fail, by
    its exact quantile, and the interval holds every outcome of such terms.
    """
    match recipe:
        case PublicSize():
            exact = points(plan, recipe, values)
            return exact, exact
        case Direct():
            return _direct(plan, recipe, values, confidence)
        case ByRatio():
            return _ratio(plan, recipe, values, confidence)
        case ByCount(total, count):
            middle, half = centre(plan, total)
            if count is None:
                reach = half * noise_error(plan, total, confidence)
            elif _is_rare(confidence):
                each = _half_of_failures(confidence)
                reach = half * noise_error(plan, total, each)
                reach += abs(middle) * noise_error(plan, count, each)
            else:
                sums, counts = noise_draws(plan, (total, count))
                spread = np.abs(half * sums + middle * counts)
                reach = float(_order(spread[None, :], ceil(confidence * DRAWS) - 1)[0])
            estimate = points(plan, recipe, values)
            return estimate - reach, estimate + reach
        case _:
            assert_never(recipe)


def _direct(
    plan: Plan, recipe: Direct, values: Sequence[Sequence[int]], confidence: float
) -> tuple[Floats, Floats]:
    reach = noise_error(plan, recipe.part, confidence) * recipe.step_size
    estimate = points(plan, recipe, values)
    low, high = estimate - reach, estimate + reach
    aggregate = plan.parts[recipe.part].aggregate
    if isinstance(aggregate, CountRows | CountValues | Bins):
        most = float(plan.schema.unit.size or np.inf)
        return np.clip(low, 0.0, most), np.clip(high, 0.0, most)
    return low, high


def _ratio(
    plan: Plan, recipe: ByRatio, values: Sequence[Sequence[int]], confidence: float
) -> tuple[Floats, Floats]:
    middle, half = centre(plan, recipe.total)
    lower, upper = limits(plan, recipe.total)
    if _is_rare(confidence):
        return _ratio_bounds(plan, recipe, values, confidence)
    sums = np.array([float(v) for v in values[recipe.total]])
    if recipe.count is None:
        (sum_noise,), count_noise = noise_draws(plan, (recipe.total,)), np.zeros(DRAWS)
        rows = np.full(len(sums), float(plan.schema.unit.size or 1))
    else:
        sum_noise, count_noise = noise_draws(plan, (recipe.total, recipe.count))
        rows = np.array([float(v) for v in values[recipe.count]])
    outside = floor((1 - confidence) / 2 * DRAWS)
    low, high = np.empty(len(sums)), np.empty(len(sums))
    for start in range(0, len(sums), _CHUNK):
        part = slice(start, start + _CHUNK)
        true_rows = rows[part, None] - count_noise
        none = true_rows < 1  # no row may be left: then any mean within the bounds
        mean = middle + half * (sums[part, None] - sum_noise) / np.maximum(true_rows, 1)
        mean = np.clip(mean, lower, upper)
        low[part] = _order(np.where(none, lower, mean), outside)
        high[part] = _order(np.where(none, upper, mean), DRAWS - 1 - outside)
    return low, high


def _ratio_bounds(
    plan: Plan, recipe: ByRatio, values: Sequence[Sequence[int]], confidence: float
) -> tuple[Floats, Floats]:
    """Return the least and largest mean of all sums and counts within their errors."""
    middle, half = centre(plan, recipe.total)
    lower, upper = limits(plan, recipe.total)
    sums = np.array([float(v) for v in values[recipe.total]])
    if recipe.count is None:
        reach = noise_error(plan, recipe.total, confidence)
        fewest = most = np.full(len(sums), float(plan.schema.unit.size or 1))
    else:
        each = _half_of_failures(confidence)
        reach = noise_error(plan, recipe.total, each)
        rows = np.array([float(v) for v in values[recipe.count]])
        away = noise_error(plan, recipe.count, each)
        fewest, most = rows - away, rows + away
    corners = [
        middle + half * (sums + s) / np.maximum(n, 1)
        for s in (-reach, reach)
        for n in (fewest, most)
    ]
    none = fewest < 1
    low = np.clip(np.min(corners, axis=0), lower, upper)
    high = np.clip(np.max(corners, axis=0), lower, upper)
    return np.where(none, lower, low), np.where(none, upper, high)


def _is_rare(confidence: float) -> bool:
    """Tell whether too few of the draws would lie beyond an end to place it."""
    return (1 - confidence) / 2 * DRAWS < _FEWEST


def _half_of_failures(confidence: float) -> float:
    return min((1 + confidence) / 2, 1 - 2**-53)


def _order(outcomes: Floats, rank: int) -> Floats:
    """Return the outcome of that rank in each row (np.quantile loads numpy.ma)."""
    ranked: Floats = np.partition(outcomes, rank, axis=1)[:, rank]
    return ranked
