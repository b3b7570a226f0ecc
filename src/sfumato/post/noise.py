"""The noise laws of a plan's parts, as numbers: quantiles and fresh draws.

Draws here are of public laws and touch no private value: floats are good enough. The
noise that protects is drawn in the gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from sfumato import noise
from sfumato.account import Gaussian, Geometric, KNorm, Selection, Threshold
from sfumato.plan import Plan
from sfumato.post.rule import Floats

__all__ = ["DRAWS", "law_draws", "noise_draws", "noise_error", "noise_errors"]

DRAWS = 8192  # standard error of a 2.5 % quantile's level: 0.17 %
_MOST_LEVELS = 1 << 18
_LATTICE = 1 << 40
_NEAR = 1e-9  # the error of running sums is far below it
_WHOLE = 2.0**50  # below it whole numbers, their sums and 2t + 1 are exact in floats


def noise_error(plan: Plan, part: int, confidence: float) -> float:
    """Return t with ``P(|noise| <= t) >= confidence``, in terms of the part."""
    return noise_errors(plan, part, (confidence,))[0]


def noise_errors(
    plan: Plan, part: int, confidences: tuple[float, ...]
) -> tuple[float, ...]:
    """Return `noise_error` of several confidences."""
    step, size = plan.step_of(part), plan.parts[part].size
    assert not isinstance(step.mechanism, Selection)  # noqa: S101  a choice has no noise
    if not isinstance(step.mechanism, KNorm):
        return tuple(size * _law_error(step.mechanism, one) for one in confidences)
    index = step.parts.index(part)
    found = _coordinate_errors(step.mechanism, index, confidences)
    return tuple(size * one for one in found)


def noise_draws(plan: Plan, parts: tuple[int, ...]) -> list[Floats]:
    """Return `DRAWS` draws of the noise on each part, in terms, joint where it is joint."""
    drawn, orders = [], dict[tuple[int, ...], Any]()
    for part in parts:
        step, size = plan.step_of(part), plan.parts[part].size
        assert not isinstance(step.mechanism, Selection)  # noqa: S101  it has no noise
        if not isinstance(step.mechanism, KNorm):
            drawn.append(size * law_draws(step.mechanism, DRAWS))
            continue
        if step.parts not in orders:
            # Steps are independent: only the first may keep the sorted order.
            orders[step.parts] = np.argsort(_uniforms(DRAWS)) if orders else None
        index = step.parts.index(part)
        one = _box_draws(step.mechanism, index, orders[step.parts])
        drawn.append(one if size == 1 else size * one)
    return drawn


@lru_cache(maxsize=256)
def _law_error(mechanism: Geometric | Gaussian | Threshold, confidence: float) -> float:
    return float(mechanism.error(confidence))


def law_draws(mechanism: Geometric | Gaussian | Threshold, count: int) -> Floats:
    """Return fresh draws of a law."""
    if isinstance(mechanism, Threshold):
        ideal = law_draws(mechanism.noise, count)
        reach = mechanism.reach
        return np.clip(ideal, -reach, reach) if reach else ideal
    if mechanism.scale < _LATTICE:
        if isinstance(mechanism, Geometric):
            return noise.discrete_laplace(mechanism.scale, count).astype(np.float64)
        if mechanism.law == "discrete":
            whole = noise.discrete_gaussian(mechanism.variance, count)
            return whole.astype(np.float64)
    sigma = float(mechanism.scale)  # whole numbers are far finer than the noise
    drawn: Floats
    if isinstance(mechanism, Geometric):
        drawn = np.floor(np.log(_uniforms(count) / _uniforms(count)) * sigma + 0.5)
        return drawn
    radius = np.sqrt(-2 * np.log(_uniforms(count)))
    normal = radius * np.cos(2 * np.pi * _uniforms(count))
    drawn = np.floor(normal * sigma + 0.5)
    return drawn


@lru_cache(maxsize=256)
def _coordinate_errors(
    mechanism: KNorm, index: int, confidences: tuple[float, ...]
) -> tuple[float, ...]:
    """Exact quantiles of a coordinate, by summing over the levels of its box.

    In a box of s numbers ``P(|z| <= t) = min(1, (2t + 1)/s)``. Boxes grow with their
    level, so of all levels together it is the mass of those whose box lies within t, and
    2t + 1 times the sum of mass over size of the others.
    """
    b, d, t = mechanism.bounds[index], len(mechanism.bounds), float(mechanism.scale)
    count = ceil(_far(d) * t)
    if count > _MOST_LEVELS:  # the lattice is far finer than the noise
        law = mechanism.coordinate(index)
        return tuple(ceil(law.error(one) * (1 + 1e-3)) + 1 for one in confidences)
    masses = _masses(mechanism, count)
    sides = _sides(np.arange(count, dtype=np.float64), b, mechanism.resolution)
    within = np.concatenate([[0.0], np.cumsum(masses)])
    beyond = np.concatenate([np.cumsum((masses / sides)[::-1])[::-1], [0.0]])

    def inside(numbers: Floats) -> Floats:
        place = sides.searchsorted(numbers, side="right")
        found: Floats = within[place] + numbers * beyond[place]
        return found

    def summed(numbers: float) -> float:
        return float((masses * np.minimum(1, numbers / sides)).sum())

    return _least(inside, summed, float(sides[-1]), np.array(confidences))


def _least(
    inside: Callable[[Floats], Floats],
    summed: Callable[[float], float],
    largest: float,
    confidences: Floats,
) -> tuple[float, ...]:
    """Return the least whole t with a probability of at least each confidence.

    Args:
        inside: The probability that the noise is one of so many numbers, 2t + 1, from
            running sums.
        summed: The same, summed anew: asked where the first is too near to tell.
        largest: A t that is large enough.
        confidences: What is to be reached.
    """
    if largest >= _WHOLE:  # there the middle of two floats may be one of them
        return tuple(_least_of(summed, int(largest), one) for one in confidences)
    low, high = np.full(len(confidences), -1.0), np.full(len(confidences), largest)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        found = inside(2 * middle + 1)
        for i in np.flatnonzero(np.abs(found - confidences) < _NEAR):
            found[i] = summed(2 * middle[i] + 1)
        enough = found >= confidences
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return tuple(high.tolist())


def _least_of(summed: Callable[[float], float], high: int, confidence: float) -> float:
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        enough = summed(2 * middle + 1) >= confidence
        low, high = (low, middle) if enough else (middle, high)
    return float(high)


@lru_cache(maxsize=4)
def _masses(mechanism: KNorm, count: int) -> Floats:
    """Return the probability of each of the first `count` levels."""
    levels, resolution = np.arange(count, dtype=np.float64), mechanism.resolution
    logs = -levels / float(mechanism.scale)
    for bound, times in Counter(mechanism.bounds).items():
        logs += times * np.log(_sides(levels, bound, resolution))
    masses: Floats = np.exp(logs - logs.max())
    masses /= masses.sum()
    masses.flags.writeable = False
    return masses


def _box_draws(mechanism: KNorm, index: int, order: Any) -> Floats:
    """Draw one coordinate, in boxes of an order that it shares with all others."""
    sides, half = _box_sides(mechanism, index)
    if order is not None:
        sides, half = sides[order], half[order]
    drawn = _uniforms(DRAWS)
    drawn *= sides
    np.floor(drawn, out=drawn)
    drawn -= half
    return drawn


@lru_cache(maxsize=32)
def _box_sides(mechanism: KNorm, index: int) -> tuple[Floats, Floats]:
    """Return how many numbers a coordinate can be in each box, and the largest of them."""
    sides = _sides(_levels(mechanism), mechanism.bounds[index], mechanism.resolution)
    half: Floats = (sides - 1) / 2
    sides.flags.writeable = half.flags.writeable = False
    return sides, half


@lru_cache(maxsize=16)
def _levels(mechanism: KNorm) -> Floats:
    """Return `DRAWS` equally likely sizes of the box, from the quantiles of its law.

    They depend on the mechanism alone, so a release of hundreds of means shares them.
    """
    d, t = len(mechanism.bounds), float(mechanism.scale)
    far = ceil(_far(d) * t)
    if far <= _MOST_LEVELS:
        masses = np.cumsum(_masses(mechanism, far))
        levels = np.searchsorted(masses, _places()).astype(np.float64)
    else:  # the lattice is far finer than the noise: Gamma(d + 1)
        levels = np.floor(_sizes(d) * t)
    levels.flags.writeable = False
    return levels


@lru_cache(maxsize=16)
def _sizes(d: int) -> Floats:
    """Return `DRAWS` equally likely values of Gamma(d + 1)."""
    sizes = np.linspace(0, _far(d), _MOST_LEVELS)[1:]
    logs = d * np.log(sizes) - sizes
    share = np.cumsum(np.exp(logs - logs.max()))
    found: Floats = np.interp(_places(), share / share[-1], sizes)
    found.flags.writeable = False
    return found


def _far(d: int) -> float:
    """Return a size of the box that is hardly ever reached, in units of the scale."""
    far: float = d + 1 + 10 * (d + 1) ** 0.5 + 60
    return far


def _places() -> Floats:
    places: Floats = (np.arange(DRAWS) + 0.5) / DRAWS
    return places


def _sides(levels: Floats, bound: int, resolution: int) -> Floats:
    sides: Floats = levels * (bound / resolution)
    np.floor(sides, out=sides)
    sides *= 2
    sides += 1
    return sides


def _uniforms(count: int = DRAWS) -> Floats:
    """Return floats in (0, 1) from the stream."""
    words = noise.default().words(count)
    words >>= np.uint64(11)
    uniforms = words.astype(np.float64)
    uniforms += 0.5
    uniforms *= 2.0**-53
    return uniforms
