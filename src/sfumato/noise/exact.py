"""The reference: exact decisions and samplers with integers only.

Every sampler here is a few lines that read like its definition. The fast samplers of
this package must give the same integers from the same random words, and are tested for
it bit by bit; the samplers here are tested by running every path of their bits.

Proofs: ``docs/proofs/discrete-laplace.md``, ``docs/proofs/discrete-gaussian.md``,
``docs/proofs/rounded-reals.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

from sfumato.noise.bounds import exp_bounds, ln_bounds
from sfumato.noise.stream import Source

__all__ = [
    "LazyUniform",
    "bernoulli_exp",
    "coin_exponent",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "half_normal_accepts",
    "keeps_proposal",
    "largest",
    "proposal_scale",
    "rounded_gaussian",
    "rounded_laplace",
    "rounded_step",
    "uniform_below",
]


_GUARD = 8


class LazyUniform:
    """A uniform real U in [0, 1), read bit by bit as decisions need it.

    Attributes:
        prefix: The bits read so far: ``prefix <= U * 2**length < prefix + 1``.
        length: How many bits have been read.
    """

    __slots__ = ("_source", "length", "prefix")

    def __init__(self, source: Source, prefix: int = 0, length: int = 0) -> None:
        """Start from the first `length` bits, if they are known already."""
        self._source, self.prefix, self.length = source, prefix, length

    def extend(self) -> None:
        """Read `source.grain` more bits."""
        count = self._source.grain
        self.prefix = self.prefix << count | self._source.bits(count)
        self.length += count

    def below_exp(self, num: int, den: int) -> bool:
        """Decide ``U < exp(-num/den)`` exactly, reading more bits while it is open.

        The decision ends with probability 1: after n bits it is open with probability
        at most ``2**(1 - n)``.

        Args:
            num: Numerator; at or below zero the answer is yes.
            den: Denominator, > 0.
        """
        if num <= 0:
            return True
        while True:
            low, high = exp_bounds(num, den, self.length + _GUARD)
            if (self.prefix + 1) << _GUARD <= low:
                return True
            if self.prefix << _GUARD >= high:
                return False
            self.extend()


def bernoulli_exp(source: Source, rate: Fraction) -> bool:
    """Return True with probability exactly ``exp(-rate)``, `rate` >= 0."""
    return LazyUniform(source).below_exp(rate.numerator, rate.denominator)


def uniform_below(source: Source, bound: int) -> int:
    """Return a uniform integer in ``[0, bound)``, exactly, by rejection."""
    count = (bound - 1).bit_length()
    while True:
        value = source.bits(count) if count else 0
        if value < bound:
            return value


def largest(holds: Callable[[int], bool], guess: int) -> int:
    """Return the largest integer for which a falling predicate holds.

    Args:
        holds: True up to some integer and False above it.
        guess: Where to start; a good guess costs two calls of `holds`.

    Examples:
        >>> largest(lambda n: n * n <= 200, 3)
        14
    """
    low = guess
    step = 1
    while not holds(low):
        low -= step
        step *= 2
    step = 1
    while holds(low + step):
        low += step
        step *= 2
    while step > 1:
        step //= 2
        if holds(low + step):
            low += step
    return low


def _scaled_exponential(uniform: LazyUniform, scale: Fraction) -> int:
    """Guess ``-scale * ln U`` to within a few units from the bits read so far."""
    precision = 8 + scale.numerator.bit_length()
    ln2, _ = ln_bounds(2, precision)
    known, _ = ln_bounds(uniform.prefix + 1, precision)
    value = uniform.length * ln2 - known
    return max(value * scale.numerator // (scale.denominator << precision), 0)


def geometric(uniform: LazyUniform, scale: Fraction) -> int:
    """Return ``floor(-scale * ln U)``: P(G >= k) = exp(-k/scale), exactly."""
    num, den = scale.denominator, scale.numerator

    def reached(k: int) -> bool:
        return uniform.below_exp(k * num, den)

    return largest(reached, _scaled_exponential(uniform, scale))


def discrete_laplace(source: Source, scale: Fraction, split: int = 0) -> int:
    """Return X with P(X = x) proportional to ``exp(-|x|/scale)``, exactly.

    Args:
        source: Where the bits come from.
        scale: Positive rational.
        split: How many low bits are drawn uniformly and kept by a coin. The law does
            not depend on it.
    """
    while True:
        value = _laplace_attempt(source, scale, split)
        if value is not None:
            return value


def _laplace_attempt(source: Source, scale: Fraction, split: int) -> int | None:
    negative = source.bits(1)
    high = geometric(LazyUniform(source), scale / (1 << split))
    low = source.bits(split) if split else 0
    keep = LazyUniform(source).below_exp(low * scale.denominator, scale.numerator)
    magnitude = high << split | low
    if not keep or (negative and magnitude == 0):
        return None
    return -magnitude if negative else magnitude


def proposal_scale(variance: Fraction) -> int:
    """Return the scale of the Laplace proposals for a Gaussian: floor(sigma) + 1."""
    return isqrt(variance.numerator // variance.denominator) + 1


def coin_exponent(magnitude: int, variance: Fraction, scale: int) -> Fraction:
    """Return ``(magnitude - variance/scale)**2 / (2 * variance)``.

    A Laplace proposal y is kept with probability ``exp(-coin_exponent(|y|, ...))``.
    """
    return (magnitude - variance / scale) ** 2 / (2 * variance)


def keeps_proposal(
    coin: LazyUniform, magnitude: int, variance: Fraction, scale: int
) -> bool:
    """Decide the coin of Canonne, Kamath and Steinke (2020), Algorithm 3, exactly."""
    gap = coin_exponent(magnitude, variance, scale)
    return coin.below_exp(gap.numerator, gap.denominator)


def discrete_gaussian(source: Source, variance: Fraction) -> int:
    """Return X with P(X = x) proportional to ``exp(-x**2 / (2 * variance))``, exactly.

    Source: Canonne, Kamath and Steinke, "The discrete Gaussian for differential
    privacy" (2020), Algorithm 3.
    """
    while True:
        value = _gaussian_attempt(source, variance)
        if value is not None:
            return value


def _gaussian_attempt(source: Source, variance: Fraction) -> int | None:
    scale = proposal_scale(variance)
    value = _laplace_attempt(source, Fraction(scale), 0)
    if value is None:
        return None
    kept = keeps_proposal(LazyUniform(source), abs(value), variance, scale)
    return value if kept else None


def rounded_step(
    uniform: LazyUniform, negative: int, offset: Fraction, scale: Fraction
) -> int:
    """Return ``floor(offset + 1/2 - scale * ln U)``, or with a plus if `negative`.

    Args:
        uniform: U; ``-ln U`` is an exact standard exponential.
        negative: 1 to subtract the exponential, 0 to add it.
        offset: Any rational, in grid steps.
        scale: Positive rational, in grid steps.
    """
    centre = offset + Fraction(1, 2)

    def reached(n: int) -> bool:
        gap = (centre - n if negative else n - centre) / scale
        if negative:
            return gap > 0 and not uniform.below_exp(gap.numerator, gap.denominator)
        return uniform.below_exp(gap.numerator, gap.denominator)

    size = _scaled_exponential(uniform, scale)
    return largest(reached, int(centre) + (-size if negative else size))


def rounded_laplace(source: Source, offset: Fraction, scale: Fraction) -> int:
    """Return ``floor(offset + 1/2 + L)``, L exact continuous Laplace of `scale`."""
    negative = source.bits(1)
    return rounded_step(LazyUniform(source), negative, offset, scale)


def half_normal_accepts(first: LazyUniform, second: LazyUniform) -> bool:
    """Decide ``U2 < exp(-(E - 1)**2 / 2)`` with ``E = -ln U1``, exactly.

    Given acceptance, E is a standard half-normal (von Neumann's rejection from the
    exponential); `first` may be read further afterwards.
    """
    while True:
        low, high = _squared_gap(first)
        denominator = 1 << (2 * (first.length + _GUARD) + 1)
        places = second.length + _GUARD
        if high is not None:
            sure, _ = exp_bounds(high, denominator, places)
            if (second.prefix + 1) << _GUARD <= sure:
                return True
        _, sure_not = exp_bounds(low, denominator, places)
        if second.prefix << _GUARD >= sure_not:
            return False
        first.extend()
        second.extend()


def _squared_gap(uniform: LazyUniform) -> tuple[int, int | None]:
    """Bound ``(-ln U - 1)**2 * 4**(length + 8)``, from above only if U is not zero."""
    length, places = uniform.length, uniform.length + _GUARD
    one = 1 << places
    two_low, two_high = ln_bounds(2, places)
    _, ln_high = ln_bounds(uniform.prefix + 1, places)
    low = length * two_low - ln_high - one
    if not uniform.prefix:
        return max(low, 0) ** 2, None
    ln_low, _ = ln_bounds(uniform.prefix, places)
    high = length * two_high - ln_low - one
    nearest = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return nearest**2, max(abs(low), abs(high)) ** 2


def rounded_gaussian(source: Source, offset: Fraction, scale: Fraction) -> int:
    """Return ``floor(offset + 1/2 + scale * Z)``, Z exact standard normal."""
    while True:
        step = _rounded_gaussian_attempt(source, offset, scale)
        if step is not None:
            return step


def _rounded_gaussian_attempt(
    source: Source, offset: Fraction, scale: Fraction
) -> int | None:
    negative = source.bits(1)
    first = LazyUniform(source)
    if not half_normal_accepts(first, LazyUniform(source)):
        return None
    return rounded_step(first, negative, offset, scale)
