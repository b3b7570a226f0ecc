"""Ends that no figure passes whose terms are all within their errors together.

They reach as far as any confidence asks, where draws do not: each term has its share of
what may fail, by the exact quantile of its noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfumato.plan import ByRatio, BySquares, Plan
from sfumato.post.matrix import Together
from sfumato.post.noise import noise_error
from sfumato.post.rule import Floats, Spread, centre, limits

__all__ = ["half_of_failures", "product_bounds", "ratio_bounds", "spread_bounds"]


def half_of_failures(confidence: float) -> float:
    """Return the confidence of each of two terms that may fail together."""
    return min((1 + confidence) / 2, 1 - 2**-53)


def ratio_bounds(
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
        each = half_of_failures(confidence)
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


def spread_bounds(
    plan: Plan, recipe: BySquares, values: Sequence[Sequence[float]], confidence: float
) -> tuple[Floats, Floats]:
    """Return ends that no variance passes whose terms are all within their errors."""
    spread = Spread.of(plan, recipe)
    terms = (recipe.total, recipe.squares, recipe.count)
    held = _Around(plan, terms, values, confidence)
    low, high = map(spread.figure, held.variance(spread, recipe.total, recipe.squares))
    return np.where(held.none, 0.0, low), np.where(held.none, spread.largest, high)


def product_bounds(
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
