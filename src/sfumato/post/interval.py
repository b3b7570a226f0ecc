"""The range that noise alone can explain: what an interval covers, and what not.

An interval holds the figure of the *clamped data at hand* with the stated confidence.
It says nothing about sampling: how far these rows are from other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any, TypeAlias, assert_never

import numpy as np

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
    linear,
)
from sfumato.post.figures import matrix, points
from sfumato.post.matrix import Together
from sfumato.post.noise import DRAWS, noise_draws, noise_error
from sfumato.post.ranks import rank_intervals
from sfumato.post.rule import Floats, Quotient, Spread, centre, limits

__all__ = ["intervals", "ranges"]

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
    too narrow; counts are cut at 0). Figures of two or three terms: a parametric
    bootstrap. The noise of all terms is drawn afresh from its exact law and subtracted from what was
    released; the interval holds the middle `confidence` of the outcomes. Beyond 99.9 %
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


def ranges(
    plan: Plan,
    recipe: Recipe,
    values: Sequence[Sequence[float]],
    confidences: Sequence[float],
) -> list[tuple[Floats, Floats]]:
    """Return `intervals` of several confidences, from one bootstrap where there is one."""
    levels = np.array(confidences)
    if any(map(_is_rare, confidences)) or not isinstance(recipe, ByRatio | BySquares):
        return [intervals(plan, recipe, values, one) for one in confidences]
    if isinstance(recipe, ByRatio):
        ends = _ratio(plan, recipe, values, levels)
    else:
        ends = _spread(plan, recipe, values, levels)
    return list(zip(*ends, strict=True))


def _direct(
    plan: Plan, recipe: Direct, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    reach = noise_error(plan, recipe.part, confidence) * recipe.step_size
    estimate = points(plan, recipe, values)
    low, high = estimate - reach, estimate + reach
    aggregate = plan.parts[recipe.part].aggregate
    if isinstance(aggregate, CountRows | CountValues | CountPeople | Bins | Crossed):
        unit = plan.schema.unit
        of_people = isinstance(aggregate, CountPeople)
        most = float((unit.size if of_people else unit.rows) or np.inf)
        return np.clip(low, 0.0, most), np.clip(high, 0.0, most)
    return low, high


def _ratio(
    plan: Plan, recipe: ByRatio, values: Sequence[Sequence[float]], confidence: Levels
) -> tuple[Floats, Floats]:
    middle, half = centre(plan, recipe.total)
    lower, upper = limits(plan, recipe.total)
    if isinstance(confidence, float) and _is_rare(confidence):
        return _ratio_bounds(plan, recipe, values, confidence)

    def mean(sums: Floats, rows: Floats) -> Floats:
        return np.clip(middle + half * sums / rows, lower, upper)

    parts = (recipe.total, recipe.count)
    return _bootstrap(plan, parts, values, mean, (lower, upper), confidence)


def _spread(
    plan: Plan, recipe: BySquares, values: Sequence[Sequence[float]], confidence: Levels
) -> tuple[Floats, Floats]:
    spread = Spread.of(plan, recipe)
    if isinstance(confidence, float) and _is_rare(confidence):
        return _spread_bounds(plan, recipe, values, confidence)
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
        each = _half_of_failures(confidence)
        ends = [intervals(plan, r, values, each) for r in pair]
        corners = [rule(a, b) for a in ends[0] for b in ends[1]]
        return np.min(corners, axis=0), np.max(corners, axis=0)
    parts = tuple({p: None for r in pair for p in linear(plan, r)})
    noise = dict(zip(parts, noise_draws(plan, parts), strict=True))
    above, below = (points(plan, r, values) for r in pair)
    up, down = (
        np.sum([f * noise[p] for p, f in linear(plan, r).items()], axis=0) for r in pair
    )
    outside = floor((1 - confidence) / 2 * DRAWS)
    low, high = np.empty(len(above)), np.empty(len(above))
    for start in range(0, len(low), _CHUNK):
        part = slice(start, start + _CHUNK)
        sums, sizes = above[part, None] - up, below[part, None] - down
        none = sizes * rule.sign < rule.least
        outcomes = rule(sums, sizes)
        far = np.abs(outcomes)
        low[part] = _order(np.where(none, -far, outcomes), outside)
        high[part] = _order(np.where(none, far, outcomes), DRAWS - 1 - outside)
    return low, high


def _choice(plan: Plan, part: int, confidence: float) -> tuple[Floats, Floats]:
    """Return how many rows the chosen bin may lack, whatever the data."""
    mechanism = plan.step_of(part).mechanism
    assert isinstance(mechanism, Selection)  # noqa: S101  allocate.py pairs them so
    count = getattr(plan.parts[part].aggregate, "count", 1)
    none = np.zeros(len(plan.groups))
    return none - mechanism.shortfall(count, confidence), none


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
    rule = Together.of(plan, recipe)
    if _is_rare(confidence):
        return _product_bounds(plan, rule, values, confidence)

    def figure(*terms: Floats) -> Floats:
        return rule(dict(zip(rule.parts, terms[:-1], strict=True)), terms[-1])

    parts = (*rule.parts, recipe.count)
    return _bootstrap(plan, parts, values, figure, (-rule.unit, rule.unit), confidence)


def _bootstrap(
    plan: Plan,
    parts: tuple[int | None, ...],
    values: Sequence[Sequence[float]],
    figure: Callable[..., Floats],
    ends: tuple[float, float],
    confidence: Levels,
) -> tuple[Floats, Floats]:
    """Return the middle outcomes of a figure of several parts, the last one a count.

    The count may be none, the public size. Where no row may be left, or the figure is
    NaN, any value between `ends` may be true.
    """
    known = tuple(p for p in parts if p is not None)
    noise = noise_draws(plan, known)
    held = [np.array([float(v) for v in values[p]]) for p in known]
    if parts[-1] is None:
        noise.append(np.zeros(DRAWS))
        held.append(np.full(len(held[0]), float(plan.schema.unit.rows or 1)))
    outside = np.floor((1 - np.asarray(confidence)) / 2 * DRAWS).astype(int)
    low, high = [], []
    for start in range(0, len(held[0]), _CHUNK):
        part = slice(start, start + _CHUNK)
        *sums, rows = (
            h[part, None] - drawn for h, drawn in zip(held, noise, strict=True)
        )
        outcomes = figure(*sums, np.maximum(rows, 1))
        none = (rows < 1) | np.isnan(outcomes)
        if not none.any():
            both = np.stack([outside, DRAWS - 1 - outside])
            least, most = _order(outcomes, both)
        else:
            least = _order(np.where(none, ends[0], outcomes), outside)
            most = _order(np.where(none, ends[1], outcomes), DRAWS - 1 - outside)
        low.append(least)
        high.append(most)
    if not low:
        return (np.empty((*outside.shape, 0)),) * 2
    return np.concatenate(low, axis=-1), np.concatenate(high, axis=-1)


def _ratio_bounds(
    plan: Plan, recipe: ByRatio, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return the least and largest mean of all sums and counts within their errors."""
    middle, half = centre(plan, recipe.total)
    lower, upper = limits(plan, recipe.total)
    sums = np.array([float(v) for v in values[recipe.total]])
    if recipe.count is None:
        reach = noise_error(plan, recipe.total, confidence)
        fewest = most = np.full(len(sums), float(plan.schema.unit.rows or 1))
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


def _spread_bounds(
    plan: Plan, recipe: BySquares, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return ends that no variance passes whose terms are all within their errors."""
    spread = Spread.of(plan, recipe)
    terms = (recipe.total, recipe.squares, recipe.count)
    held = _Around(plan, terms, values, confidence)
    low, high = map(spread.figure, held.variance(spread, recipe.total, recipe.squares))
    return np.where(held.none, 0.0, low), np.where(held.none, spread.largest, high)


def _product_bounds(
    plan: Plan, rule: Together, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return ends that no covariance passes whose terms are all within their errors."""
    recipe = rule.recipe
    held = _Around(plan, (*rule.parts, recipe.count), values, confidence)
    firsts = [
        held.corners(t, s.first)
        for s, t in zip(rule.spreads, recipe.totals, strict=True)
    ]
    means = [a * b for a in firsts[0] for b in firsts[1]]
    least, most = held.corners(recipe.product, rule.share)
    low, high = least - np.max(means, axis=0), most - np.min(means, axis=0)
    none = held.none
    if recipe.squares is not None:
        both = zip(rule.spreads, recipe.totals, recipe.squares, strict=True)
        spreads = [held.variance(*one) for one in both]
        below, above = (
            np.sqrt(np.maximum(one, 0.0) * np.maximum(two, 0.0))
            for one, two in zip(*spreads, strict=True)
        )
        none = none | (below <= 0)
        below, above = (np.where(none, 1.0, x) for x in (below, above))
        low = low / np.where(low < 0, below, above)
        high = high / np.where(high > 0, below, above)
    low, high = (rule.unit * np.clip(x, -1.0, 1.0) for x in (low, high))
    return np.where(none, -rule.unit, low), np.where(none, rule.unit, high)


class _Around:
    """Terms of a figure, the last one its count, all within their errors together.

    Attributes:
        none: Where no row may be left.
    """

    def __init__(
        self,
        plan: Plan,
        terms: Sequence[int | None],
        values: Sequence[Sequence[float]],
        confidence: float,
    ) -> None:
        known, groups = [p for p in terms if p is not None], len(plan.groups)
        each = min(1 - (1 - confidence) / len(known), 1 - 2**-53)
        self._ends: dict[int, tuple[Floats, Floats]] = {}
        for part in known:
            held = np.array([float(v) for v in values[part]])
            reach = noise_error(plan, part, each)
            self._ends[part] = held - reach, held + reach
        count = terms[-1]
        rows = (np.full(groups, float(plan.schema.unit.rows or 1)),) * 2
        if count is not None:
            rows = self._ends[count]
        self.none = rows[0] < 1
        self._rows = [np.maximum(n, 1.0) for n in rows]

    def corners(
        self, part: int | None, figure: Callable[[Any, Floats], Floats]
    ) -> tuple[Floats, Floats]:
        """Return the ends of a figure that is monotone in the part and in the rows."""
        ends = (None, None) if part is None else self._ends[part]
        found = [figure(x, n) for x in ends for n in self._rows]
        return np.min(found, axis=0), np.max(found, axis=0)

    def variance(
        self, spread: Spread, total: int, squares: int | None
    ) -> tuple[Floats, Floats]:
        """Return the ends of a variance, as a share of the largest."""
        least, most = self.corners(total, spread.first)
        far = np.maximum(least**2, most**2)
        near = np.where((least <= 0) & (most >= 0), 0.0, np.minimum(least**2, most**2))
        low, high = self.corners(squares, spread.second)
        return low - far, high - near


def _is_rare(confidence: float) -> bool:
    """Tell whether too few of the draws would lie beyond an end to place it."""
    return (1 - confidence) / 2 * DRAWS < _FEWEST


def _half_of_failures(confidence: float) -> float:
    return min((1 + confidence) / 2, 1 - 2**-53)


def _order(outcomes: Floats, ranks: Any) -> Floats:
    """Return the outcome of a rank in each row, or of several (np.quantile loads numpy.ma).

    Several ranks stand along new first axes.
    """
    ranked = np.partition(outcomes, np.ravel(ranks), axis=1)
    found: Floats = np.moveaxis(ranked[:, ranks], 0, -1)
    return found
