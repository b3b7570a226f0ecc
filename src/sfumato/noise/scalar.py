"""One draw at a time: the filters and decisions of the vector samplers, without numpy.

A plan holds what depends on the scale alone; plans are cached, so that a repeated draw
costs a few microseconds. Scales have no upper limit: Python integers do not overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from sfumato.noise.exact import (
    LazyUniform,
    geometric,
    keeps_proposal,
    proposal_scale,
)
from sfumato.noise.filters import (
    COIN_ERROR,
    SMALLEST_WORD,
    expneg_one,
    neglog_one,
)
from sfumato.noise.lazy import split_bits
from sfumato.noise.stream import Stream

__all__ = [
    "GaussianPlan",
    "LaplacePlan",
    "discrete_gaussian",
    "discrete_laplace",
    "gaussian_plan",
    "laplace_plan",
]

_MARGIN = 2.0**-43
_SMALLEST_FACTOR = 1 / 32
_WORD = 2.0**-64
_ALL_ONES = 0xFFFF


@dataclass(frozen=True, slots=True)
class LaplacePlan:
    """A Laplace scale and the floats of its filter.

    Attributes:
        scale: The exact scale.
        split: Number of low bits drawn apart.
        factor: Float of ``scale / 2**split``, at least 1/32.
        margin: Bound of the error of ``factor * -ln U``.
    """

    scale: Fraction
    split: int
    factor: float
    margin: float


@lru_cache(maxsize=1024)
def laplace_plan(num: int, den: int) -> LaplacePlan:
    """Return the plan of the scale num/den > 0."""
    scale, split = Fraction(num, den), split_bits(num // den)
    factor = max(num / (den << split), _SMALLEST_FACTOR)
    return LaplacePlan(scale, split, factor, max(factor, 1.0) * _MARGIN)


def discrete_laplace(plan: LaplacePlan, stream: Stream) -> int:
    """Return one exact discrete Laplace draw, of any size."""
    split, margin = plan.split, plan.margin
    while True:
        word = stream.word()
        negative = word & 1
        value = plan.factor * neglog_one(word | 1)
        magnitude = int(value)
        if not (word >= SMALLEST_WORD and margin < value - magnitude < 1.0 - margin):
            uniform = LazyUniform(stream, word >> 1, 63)
            magnitude = geometric(uniform, plan.scale / (1 << split))
        if split:
            low = stream.bits(split)
            if not _keeps_low_bits(low, plan.scale, stream):
                continue
            magnitude = magnitude << split | low
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def _keeps_low_bits(low: int, scale: Fraction, stream: Stream) -> bool:
    """Flip the coin ``exp(-low/scale)``: sixteen bits decide unless all are ones."""
    first = stream.bits(16)
    if first != _ALL_ONES:
        return True
    coin = LazyUniform(stream, first, 16)
    return coin.below_exp(low * scale.denominator, scale.numerator)


@dataclass(frozen=True, slots=True)
class GaussianPlan:
    """A variance, its proposal, and the floats of its filter.

    Attributes:
        variance: The exact variance.
        proposal: Plan of the Laplace proposals, of integer scale t near sigma.
        scale: t.
        slope: Float of 1/sigma, or 0.0 where floats cannot hold it.
        shift: Float of sigma/t.
    """

    variance: Fraction
    proposal: LaplacePlan
    scale: int
    slope: float
    shift: float


@lru_cache(maxsize=1024)
def gaussian_plan(num: int, den: int) -> GaussianPlan:
    """Return the plan of the variance num/den > 0."""
    variance = Fraction(num, den)
    scale = proposal_scale(variance)
    safe = 2**-200 < variance < 2**1000
    sigma = sqrt(variance) if safe else 0.0
    slope, shift = (1.0 / sigma, sigma / scale) if safe else (0.0, 0.0)
    return GaussianPlan(variance, laplace_plan(scale, 1), scale, slope, shift)


def discrete_gaussian(plan: GaussianPlan, stream: Stream) -> int:
    """Return one exact discrete Gaussian draw, of any size."""
    while True:
        value = discrete_laplace(plan.proposal, stream)
        word = stream.word()
        if plan.slope:
            gap = min(abs(value) * plan.slope - plan.shift, 64.0)
            above = word * _WORD - expneg_one(0.5 * gap * gap)
            if above > COIN_ERROR:
                continue
            if above < -COIN_ERROR:
                return value
        coin = LazyUniform(stream, word, 64)
        if keeps_proposal(coin, abs(value), plan.variance, plan.scale):
            return value
