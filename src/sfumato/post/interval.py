"""The range that noise alone can explain: what an interval covers, and what not.

An interval holds the figure of the *clamped data at hand* with the stated confidence.
It says nothing about sampling: how far these rows are from other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from sfumato.account import Selection
from sfumato.plan import (
    Bins,
    ByChoice,
    ByCount,
    ByMatrix,
    ByProduct,
    ByQuotient,
    ByRank,
    ByRatio,
    BySquares,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Direct,
    Plan,
    PublicSize,
    Recipe,
    SumValues,
    linear,
)
from sfumato.post.corners import (
    half_of_failures,
    product_bounds,
    ratio_bounds,
    spread_bounds,
)
from sfumato.post.figures import matrix, points
from sfumato.post.matrix import Together, entry_points
from sfumato.post.noise import DRAWS, noise_draws, noise_error, noise_errors
from sfumato.post.order import of_ranks
from sfumato.post.ranks import rank_intervals
from sfumato.post.rule import (
    Floats,
    Quotient,
    Spread,
    centre,
    ends_of_sum,
    limits,
    row_counts,
)

__all__ = ["intervals", "ranges", "reaching"]

_HEAVY = 0.3  # of half the range of a mean: from there on draws hold less than they say

Levels: TypeAlias = "float | Floats"
"""A confidence, or several, whose ends are then stacked along a new first axis."""

_CHUNK = 256  # groups at a time: 16 MB of draws
_FEWEST = 4  # draws beyond an end; fewer do not tell where it lies


def intervals(  # noqa: C901, PLR0911, PLR0912  one for each recipe
    plan: Plan,
    recipe: Recipe,
    values: Sequence[Sequence[float]],
    confidence: float,
) -> tuple[Floats, Floats]:
    """Return the lower and upper ends for each cell of a figure.

    Formal guarantee: post-processing; adds no privacy loss.

    Counts, histograms and sums of one noise term: exact quantiles of its law (never
    too narrow; cut to what public facts leave possible, such as a count of at least
    0; see `reaching`). Figures of two or three terms: a parametric bootstrap. The noise of all terms is drawn afresh from its exact law and subtracted from what was
    released; the interval holds the middle `confidence` of the outcomes, and one standard
    error of their rank more. Beyond 99.9 %
    the draws do not reach far enough: there each term has its share of what may fail, by
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
        case ByRank():
            return rank_intervals(plan, recipe, values, confidence)
        case BySquares():
            return _spread(plan, recipe, values, confidence)
        case ByChoice(part):
            return _choice(plan, part, confidence)
        case ByMatrix():
            return _matrix(plan, recipe, values, confidence)
        case ByQuotient():
            return _quotient(plan, recipe, values, confidence)
        case ByCount(total, count):
            middle, half = centre(plan, total)
            if count is None:
                reach = half * noise_error(plan, total, confidence)
            elif _is_rare(confidence):
                each = half_of_failures(confidence)
                reach = half * noise_error(plan, total, each)
                reach += abs(middle) * noise_error(plan, count, each)
            else:
                sums, counts = noise_draws(plan, (total, count))
                spread = np.abs(half * sums + middle * counts)
                rank = DRAWS - 1 - _outside(confidence, sides=1)
                reach = float(of_ranks(spread[None, :], rank)[0])
            estimate, ends = points(plan, recipe, values), ends_of_sum(plan, recipe)
            return np.clip(estimate - reach, *ends), np.clip(estimate + reach, *ends)
        case _:
            assert_never(recipe)


def ranges(
    plan: Plan,
    recipe: Recipe,
    values: Sequence[Sequence[float]],
    confidences: Sequence[float],
) -> tuple[Floats, Floats]:
    """Return `intervals` of several confidences, stacked along a new first axis.

    Where there is a bootstrap, all are from one.
    """
    levels = np.array(confidences)
    if isinstance(recipe, Direct):
        return _direct(plan, recipe, values, levels)
    if not any(map(_is_rare, confidences)):
        if isinstance(recipe, ByRatio):
            return _ratio(plan, recipe, values, levels)
        if isinstance(recipe, BySquares):
            return _spread(plan, recipe, values, levels)
    ends = [intervals(plan, recipe, values, one) for one in confidences]
    lows, highs = zip(*ends, strict=True)
    return np.stack(lows), np.stack(highs)


def reaching(estimate: Floats, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return ends that reach to the figure itself, where they do not yet.

    Counts and sums are unbiased, so noise may leave a count below 0, where no true one is:
    its interval is cut at 0, and then reaches down to the figure, to be shown with it.
    What is only made longer holds no less often.
    """
    low, high = ends
    return np.minimum(low, estimate), np.maximum(high, estimate)


def _direct(
    plan: Plan, recipe: Direct, values: Sequence[Sequence[float]], confidence: Levels
) -> tuple[Floats, Floats]:
    levels = np.asarray(confidence)
    errors = noise_errors(plan, recipe.part, tuple(levels.ravel().tolist()))
    reach = np.array(errors).reshape(*levels.shape, 1) * recipe.step_size
    estimate = points(plan, recipe, values)
    low, high = estimate - reach, estimate + reach
    aggregate = plan.parts[recipe.part].aggregate
    if isinstance(aggregate, CountRows | CountValues | CountPeople | Bins | Crossed):
        unit = plan.schema.unit
        of_people = isinstance(aggregate, CountPeople)
        most = float((unit.size if of_people else unit.rows) or np.inf)
        return np.clip(low, 0.0, most), np.clip(high, 0.0, most)
    if isinstance(aggregate, SumValues):
        ends = ends_of_sum(plan, recipe)
        return np.clip(low, *ends), np.clip(high, *ends)
    return low, high


def _ratio(
    plan: Plan, recipe: ByRatio, values: Sequence[Sequence[float]], confidence: Levels
) -> tuple[Floats, Floats]:
    middle, half = centre(plan, recipe.total)
    lower, upper = limits(plan, recipe.total)
    if isinstance(confidence, float) and _is_rare(confidence):
        return ratio_bounds(plan, recipe, values, confidence)

    def mean(sums: Floats, rows: Floats) -> Floats:
        return np.clip(middle + half * sums / rows, lower, upper)

    parts = (recipe.total, recipe.count)
    return _bootstrap(plan, parts, values, mean, (lower, upper), confidence)


def _spread(
    plan: Plan, recipe: BySquares, values: Sequence[Sequence[float]], confidence: Levels
) -> tuple[Floats, Floats]:
    if isinstance(confidence, float) and _is_rare(confidence):
        return spread_bounds(plan, recipe, values, confidence)
    heavy = _is_heavy(plan, recipe, values)
    low, high = _drawn_spread(plan, recipe, values, confidence)
    if not heavy.any():
        return low, high
    each = np.atleast_1d(confidence)
    exact = [spread_bounds(plan, recipe, values, float(one)) for one in each]
    least, most = (np.reshape(x, low.shape) for x in zip(*exact, strict=True))
    return np.where(heavy, least, low), np.where(heavy, most, high)


def _is_heavy(
    plan: Plan, recipe: BySquares, values: Sequence[Sequence[float]]
) -> NDArray[np.bool_]:
    """Tell where noise moves the mean by much of its range.

    Noise in the mean moves its square up, on average, and so the variance down; in the
    draws, which are taken around what was released, by as much once more.
    """
    rows = np.maximum(row_counts(plan, recipe.count, values), 1.0)
    width = Spread.of(plan, recipe).width
    return noise_error(plan, recipe.total, 0.95) > _HEAVY * rows * width


def _drawn_spread(
    plan: Plan, recipe: BySquares, values: Sequence[Sequence[float]], confidence: Levels
) -> tuple[Floats, Floats]:
    spread = Spread.of(plan, recipe)
    if recipe.squares is None:
        pair = (recipe.total, recipe.count)

        def of_pair(sums: Floats, rows: Floats) -> Floats:
            return spread(sums, None, rows)

        return _bootstrap(plan, pair, values, of_pair, (0, spread.largest), confidence)
    parts = (recipe.total, recipe.squares, recipe.count)
    return _bootstrap(plan, parts, values, spread, (0, spread.largest), confidence)


def _quotient(
    plan: Plan, recipe: ByQuotient, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return the middle outcomes of a ratio of two sums.

    Where the sum below may be less than one grid step, the ratio may have any size up
    to the sum above over that step.
    """
    rule = Quotient.of(plan, recipe.denominator)
    pair = recipe.numerator, recipe.denominator
    if _is_rare(confidence):
        each = half_of_failures(confidence)
        ends = [intervals(plan, r, values, each) for r in pair]
        corners = [rule(a, b) for a in ends[0] for b in ends[1]]
        return np.min(corners, axis=0), np.max(corners, axis=0)
    parts = tuple({p: None for r in pair for p in linear(plan, r)})
    noise = dict(zip(parts, noise_draws(plan, parts), strict=True))
    above, below = (points(plan, r, values) for r in pair)
    up, down = (
        np.sum([f * noise[p] for p, f in linear(plan, r).items()], axis=0) for r in pair
    )
    outside = _outside(confidence)
    low, high = np.empty(len(above)), np.empty(len(above))
    for start in range(0, len(low), _CHUNK):
        part = slice(start, start + _CHUNK)
        sums, sizes = above[part, None] - up, below[part, None] - down
        none = sizes * rule.sign < rule.least
        outcomes = rule(sums, sizes)
        far = np.abs(outcomes)
        low[part] = of_ranks(np.where(none, -far, outcomes), outside)
        high[part] = of_ranks(np.where(none, far, outcomes), DRAWS - 1 - outside)
    return low, high


def _choice(plan: Plan, part: int, confidence: float) -> tuple[Floats, Floats]:
    """Return how many rows the chosen bin may lack, whatever the data."""
    mechanism = plan.step_of(part).mechanism
    assert isinstance(mechanism, Selection)  # noqa: S101  allocate.py pairs them so
    count = getattr(plan.parts[part].aggregate, "count", 1)
    none = np.zeros(len(plan.groups))
    far = plan.parts[part].size * mechanism.shortfall(count, confidence)
    return none - far, none


def _matrix(
    plan: Plan, recipe: ByMatrix, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return the ends of each entry, as noise left it.

    Where the matrix had to be adjusted they are stretched to hold the entry that is told.
    """
    ends = [
        _spread(plan, entry, values, confidence)
        if isinstance(entry, BySquares)
        else _product(plan, entry, values, confidence)
        for entry in recipe.entries
    ]
    low, high = (np.stack(side, axis=-1).ravel() for side in zip(*ends, strict=True))
    raw, made = matrix(plan, recipe, values)
    low = np.where(raw == made, low, np.minimum(low, made))
    return low, np.where(raw == made, high, np.maximum(high, made))


def _product(
    plan: Plan, recipe: ByProduct, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return the ends of a covariance or a correlation.

    Theorem (Fieller, J. Roy. Statist. Soc. B 16:175, 1954). If r is the correlation, the
    covariance less r times the product of both deviations is 0, so r is rejected where
    fewer than half of what may fail of its draws lie on one side of 0. A draw without
    deviation stands on the side of its covariance for every r. The share above 0 falls as
    r rises: the values not rejected are an interval, between order statistics of the
    quotient if such a draw counts as 1 or -1. In heavy noise it may be [-1, 1], as any
    that holds as often must be (Gleser and Hwang, Ann. Statist. 15:1351, 1987).
    """
    rule = Together.of(plan, recipe)
    if _is_rare(confidence):
        return product_bounds(plan, rule, values, confidence)

    def figure(*terms: Floats) -> Floats:
        return rule(dict(zip(rule.parts, terms[:-1], strict=True)), terms[-1])

    parts = (*rule.parts, recipe.count)
    ends = (-rule.unit, rule.unit)
    low, high = _bootstrap(plan, parts, values, figure, ends, confidence)
    told = entry_points(plan, recipe, values)  # 0 where it may have any value
    return np.minimum(low, told), np.maximum(high, told)


def _bootstrap(
    plan: Plan,
    parts: tuple[int | None, ...],
    values: Sequence[Sequence[float]],
    figure: Callable[..., Floats],
    ends: tuple[float, float],
    confidence: Levels,
) -> tuple[Floats, Floats]:
    """Return the middle outcomes of a figure of several parts, the last one a count.

    The count may be none, the public size. Where no row may be left, any value between
    `ends` may be true.
    """
    known = tuple(p for p in parts if p is not None)
    noise = noise_draws(plan, known)
    held = [np.array([float(v) for v in values[p]]) for p in known]
    if parts[-1] is None:
        noise.append(np.zeros(DRAWS))
        held.append(np.full(len(held[0]), float(plan.schema.unit.rows or 1)))
    outside = _outside(confidence)
    low, high = [], []
    for start in range(0, len(held[0]), _CHUNK):
        part = slice(start, start + _CHUNK)
        *sums, rows = (
            h[part, None] - drawn for h, drawn in zip(held, noise, strict=True)
        )
        outcomes = figure(*sums, np.maximum(rows, 1))
        none = rows < 1
        if not none.any():
            both = np.stack([outside, DRAWS - 1 - outside])
            least, most = of_ranks(outcomes, both)
        else:
            least = of_ranks(np.where(none, ends[0], outcomes), outside)
            most = of_ranks(np.where(none, ends[1], outcomes), DRAWS - 1 - outside)
        low.append(least)
        high.append(most)
    if not low:
        return (np.empty((*outside.shape, 0)),) * 2
    return np.concatenate(low, axis=-1), np.concatenate(high, axis=-1)


def _is_rare(confidence: float) -> bool:
    """Tell whether too few of the draws would lie beyond an end to place it."""
    return (1 - confidence) / 2 * DRAWS < _FEWEST


def _outside(confidence: Levels, *, sides: int = 2) -> Any:
    """Return how many of the draws lie beyond each end.

    One standard error fewer than expected: the rank of a draw is itself uncertain, and
    an interval shall not hold less often than it says.
    """
    share = (1 - np.asarray(confidence)) / sides
    fewer = DRAWS * share - np.sqrt(DRAWS * share * (1 - share))
    return np.maximum(0, np.floor(fewer)).astype(int)
