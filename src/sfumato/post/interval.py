"""The range that noise alone can explain: what an interval covers, and what not.

An interval holds the figure of the *clamped data at hand* with the stated confidence.
It says nothing about sampling: how far these rows are from other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import assert_never

import numpy as np

from sfumato import noise
from sfumato.account import Mechanism
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

__all__ = ["intervals"]

DRAWS = 8192  # standard error of a 2.5 % quantile's level: 0.17 %
_CHUNK = 256  # groups at a time: 16 MB of draws


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
    released; the interval holds the middle `confidence` of the outcomes.
    """
    match recipe:
        case PublicSize():
            exact = points(plan, recipe, values)
            return exact, exact
        case Direct(step, step_size):
            return _direct(plan, step, step_size, values, confidence)
        case ByRatio(total, count):
            return _ratio(plan, total, count, values, confidence)
        case ByCount(total, count):
            middle, half = centre(plan, total)
            spread = half * draws(plan.steps[total].mechanism)
            if count is not None:
                spread = spread + middle * draws(plan.steps[count].mechanism)
            reach = _order(np.abs(spread)[None, :], ceil(confidence * DRAWS) - 1)[0]
            estimate = points(plan, recipe, values)
            return estimate - reach, estimate + reach
        case _:
            assert_never(recipe)


def _direct(
    plan: Plan, step: int, step_size: float, values: Sequence[Sequence[int]],
    confidence: float,
) -> tuple[Floats, Floats]:  # fmt: skip
    measured = plan.steps[step]
    reach = measured.mechanism.error(confidence) * step_size
    estimate = points(plan, Direct(step, step_size), values)
    low, high = estimate - reach, estimate + reach
    if isinstance(measured.aggregate, CountRows | CountValues | Bins):
        most = float(plan.schema.unit.size or np.inf)
        return np.clip(low, 0.0, most), np.clip(high, 0.0, most)
    return low, high


def _ratio(
    plan: Plan, total: int, count: int | None, values: Sequence[Sequence[int]],
    confidence: float,
) -> tuple[Floats, Floats]:  # fmt: skip
    middle, half = centre(plan, total)
    lower, upper = limits(plan, total)
    sums = np.array([float(v) for v in values[total]])
    sum_noise = draws(plan.steps[total].mechanism)
    if count is None:
        rows = np.full(len(sums), float(plan.schema.unit.size or 1))
        count_noise = np.zeros(DRAWS)
    else:
        rows = np.array([float(v) for v in values[count]])
        count_noise = draws(plan.steps[count].mechanism)
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


def _order(outcomes: Floats, rank: int) -> Floats:
    """Return the outcome of that rank in each row (np.quantile loads numpy.ma)."""
    ranked: Floats = np.partition(outcomes, rank, axis=1)[:, rank]
    return ranked


def draws(mechanism: Mechanism) -> Floats:
    """Return fresh draws of a mechanism's noise; public, of no private value."""
    return np.asarray(noise.discrete_laplace(mechanism.scale, DRAWS), dtype=np.float64)
