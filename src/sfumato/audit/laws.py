"""The law that the noise of each step should follow, and the noise as the gate draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, erfc, exp, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.account import Gaussian, Geometric, KNorm, Threshold
from sfumato.audit.distribution import Fit, distribution
from sfumato.engine import Integers
from sfumato.noise.joint import box_level
from sfumato.plan import Plan, Step

__all__ = [
    "LawFit",
    "below_cut",
    "below_geometric",
    "below_levels",
    "below_whole",
    "fits",
]

_MOST_LEVELS = 1 << 22
_INT = 1 << 62


@final
@dataclass(frozen=True, slots=True)
class LawFit:
    """The verdict on the noise of one step.

    Attributes:
        name: The law and its scale.
        fit: The verdict; none where the law is too wide to be summed.
    """

    name: str
    fit: Fit | None


def fits(plan: Plan, drawn: Sequence[Integers], *, risk: float) -> Iterator[LawFit]:
    """Test the noise of each step of a plan.

    Joint noise is tested by the size of its box, κ, whose law is a sum in closed form;
    a choice adds no noise and is left to the test of the whole release.

    Args:
        plan: Whose noise.
        drawn: Noisy integers of a table whose exact integers are all 0.
        risk: Rate of false alarms of each step.
    """
    for step in plan.steps:
        found = _law(step)
        if found is None:
            continue
        name, below = found
        if below is None:
            yield LawFit(name, None)
            continue
        sample = _sample(step, drawn)
        yield LawFit(
            name, distribution(lambda _, s=sample: s, below, draws=len(sample), risk=risk)  # type: ignore[misc]
        )  # fmt: skip


def _law(step: Step) -> tuple[str, Callable[[float], float] | None] | None:
    mechanism = step.mechanism
    if isinstance(mechanism, Threshold):
        if mechanism.reach:
            scale = float(mechanism.scale)
            name = f"geometric, scale {scale:.6g}, cut at {mechanism.reach}"
            return name, below_cut(scale, mechanism.reach)
        mechanism = mechanism.noise
    match mechanism:
        case Geometric() as one:
            name = f"geometric, scale {float(one.scale):.6g}"
            return name, below_geometric(float(one.scale))
        case Gaussian() as one:
            name = f"Gaussian ({one.law}), σ {float(one.scale):.6g}"
            return name, below_whole(float(one.scale)) if one.law == "whole" else None
        case KNorm() as one:
            name = f"joint noise of {len(one.bounds)} numbers, scale {float(one.scale):.6g}"
            return name, below_levels(one.bounds, float(one.scale), one.resolution)
        case _:
            return None


def _sample(step: Step, drawn: Sequence[Integers]) -> NDArray[np.float64]:
    """Return the noise of a step, all cells and runs in one row."""
    if not isinstance(step.mechanism, KNorm):
        return np.array([x for one in drawn for x in one[step.parts[0]]], np.float64)
    bounds, resolution = step.mechanism.bounds, step.mechanism.resolution
    return np.array(
        [
            box_level(vector, bounds, resolution)
            for one in drawn
            for vector in zip(*(one[part] for part in step.parts), strict=True)
        ],
        np.float64,
    )


def below_geometric(scale: float) -> Callable[[float], float]:
    """Return ``P(X < x)`` of two-sided geometric noise, x whole.

    Examples:
        >>> round(below_geometric(1.0)(0), 4), round(below_geometric(1.0)(1), 4)
        (0.2689, 0.7311)
    """
    ratio = exp(-1 / scale)

    def below(x: float) -> float:
        if x > 0:
            return 1 - exp(-x / scale) / (1 + ratio)
        return exp((x - 1) / scale) / (1 + ratio)

    return below


def below_cut(scale: float, reach: int) -> Callable[[float], float] | None:
    """Return ``P(X < x)`` of two-sided geometric noise cut off beyond ±reach, x whole.

    Examples:
        >>> below = below_cut(1.0, 2)
        >>> below(-2), round(below(0), 4), round(below(1) + below(0), 12), below(3)
        (0.0, 0.2508, 1.0, 1.0)
    """
    if reach > _MOST_LEVELS:
        return None
    masses = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    shares = np.cumsum(masses) / masses.sum()

    def below(x: float) -> float:
        place = int(x) + reach
        return (
            0.0 if place < 1 else float(min(1.0, shares[min(place, 2 * reach + 1) - 1]))
        )

    return below


def below_whole(sigma: float) -> Callable[[float], float]:
    """Return ``P(X < x)`` of normal noise rounded to whole numbers, x whole."""
    return lambda x: erfc(-(x - 0.5) / sigma / sqrt(2)) / 2


def below_levels(
    bounds: Sequence[int], scale: float, resolution: int
) -> Callable[[float], float] | None:
    """Return ``P(κ < x)`` of joint noise with ``P(z) ~ exp(-κ(z)/scale)``, x whole.

    With V(j) the number of z in the box of size j, Abel's summation gives ``P(κ <= k)``
    as a sum of positive terms: ``(1 - a)·Σ V(j)·a^j`` up to k, plus ``V(k)·a^(k+1)``,
    over the sum for all j, where ``a = exp(-1/scale)``. None where there are more than
    four million sizes.
    """
    d = len(bounds)
    count = ceil((d + 1 + 10 * sqrt(d + 1) + 60) * scale)
    if count > _MOST_LEVELS:
        return None
    levels = np.arange(count, dtype=np.int64)
    logs = -levels / scale
    for bound in bounds:
        if bound * count < _INT:
            half = (levels * bound // resolution).astype(np.float64)
        else:
            half = np.floor(levels * (bound / resolution))
        logs = logs + np.log(2 * half + 1)
    terms = np.exp(logs - logs.max())
    sums = np.cumsum(terms) * -np.expm1(-1 / scale)
    shares = (sums + terms * exp(-1 / scale)) / sums[-1]

    def below(x: float) -> float:
        return 0.0 if x < 1 else float(min(1.0, shares[min(int(x) - 1, count - 1)]))

    return below
