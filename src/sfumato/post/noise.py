"""The noise laws of a plan's parts, as numbers: quantiles and fresh draws.

Draws here are of public laws and touch no private value: floats are good enough. The
noise that protects is drawn in the gate.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil

import numpy as np

from sfumato import noise
from sfumato.account import Gaussian, Geometric, KNorm
from sfumato.plan import Plan
from sfumato.post.figures import Floats

__all__ = ["DRAWS", "law_draws", "noise_draws", "noise_error"]

DRAWS = 8192  # standard error of a 2.5 % quantile's level: 0.17 %
_MOST_LEVELS = 1 << 18
_LATTICE = 1 << 40


def noise_error(plan: Plan, part: int, confidence: float) -> float:
    """Return t with ``P(|noise| <= t) >= confidence``, in integers of the part."""
    step = plan.step_of(part)
    if not isinstance(step.mechanism, KNorm):
        return _law_error(step.mechanism, confidence)
    return _coordinate_error(step.mechanism, step.parts.index(part), confidence)


def noise_draws(plan: Plan, parts: tuple[int, ...]) -> list[Floats]:
    """Return `DRAWS` fresh draws of the noise on each part, joint where it is joint."""
    drawn: dict[int, Floats] = {}
    for step in plan.steps:
        if not set(step.parts) & set(parts):
            continue
        if isinstance(step.mechanism, KNorm):
            rows = _box_draws(step.mechanism)
            drawn.update(zip(step.parts, rows, strict=True))
        else:
            drawn[step.parts[0]] = law_draws(step.mechanism, DRAWS)
    return [drawn[p] for p in parts]


@lru_cache(maxsize=256)
def _law_error(mechanism: Geometric | Gaussian, confidence: float) -> float:
    return float(mechanism.error(confidence))


def law_draws(mechanism: Geometric | Gaussian, count: int) -> Floats:
    """Return fresh draws of a law."""
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
def _coordinate_error(mechanism: KNorm, index: int, confidence: float) -> float:
    """Exact quantile of a coordinate, by summing over the levels of its box."""
    b, d, t = mechanism.bounds[index], len(mechanism.bounds), float(mechanism.scale)
    count = ceil((d + 1 + 10 * (d + 1) ** 0.5 + 60) * t)
    if count > _MOST_LEVELS:  # the lattice is far finer than the noise
        return ceil(mechanism.coordinate(index).error(confidence) * (1 + 1e-3)) + 1
    levels = np.arange(count, dtype=np.float64)
    logs = -levels / t
    for other in mechanism.bounds:
        logs += np.log(_sides(levels, other, mechanism.resolution))
    masses = np.exp(logs - logs.max())
    masses /= masses.sum()
    sides = _sides(levels, b, mechanism.resolution)
    low, high = -1.0, float(sides[-1])
    while high - low > 1:
        middle = (low + high) // 2
        inside = float((masses * np.minimum(1, (2 * middle + 1) / sides)).sum())
        low, high = (low, middle) if inside >= confidence else (middle, high)
    return high


def _box_draws(mechanism: KNorm) -> list[Floats]:
    """Draw from the joint law as ``docs/proofs/joint-noise.md`` does, in floats."""
    bounds, t = mechanism.bounds, float(mechanism.scale)
    shift = max(-(-mechanism.resolution // (2 * b)) for b in bounds)
    kept = np.empty(0)
    while len(kept) < DRAWS:
        total = np.zeros(DRAWS)
        for _ in range(len(bounds) + 1):
            total += np.floor(-t * np.log(_uniforms()))
        level = np.maximum(total - shift, 0)
        keep = (total >= shift).astype(np.float64)
        for i, b in enumerate(bounds, 1):
            sides = _sides(level, b, mechanism.resolution)
            keep *= sides * mechanism.resolution / (2 * b * (total + i))
        kept = np.concatenate([kept, level[_uniforms() < keep]])
    level = kept[:DRAWS]
    drawn = []
    for b in bounds:
        sides = _sides(level, b, mechanism.resolution)
        drawn.append(np.floor(_uniforms() * sides) - (sides - 1) / 2)
    return drawn


def _sides(levels: Floats, bound: int, resolution: int) -> Floats:
    return 2 * np.floor(levels * (bound / resolution)) + 1


def _uniforms(count: int = DRAWS) -> Floats:
    """Return floats in (0, 1) from the stream."""
    words = noise.default().words(count) >> np.uint64(11)
    return (words.astype(np.float64) + 0.5) * 2.0**-53
