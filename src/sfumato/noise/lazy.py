"""Vector samplers for any scale: lazily read uniforms behind a floating-point filter.

``G = floor(-t ln U)`` is exactly geometric. The float value of ``t ln U`` errs by less
than a proved margin, so its floor is certain unless it lies within that margin of an
integer; there, the same U is finished by `sfumato.noise.exact`. The output is therefore
a function of the random words alone, whatever the floats do.

Scales above 2**20 draw ``G = V * 2**k + low`` with V geometric of scale t / 2**k and
`low` uniform, kept by an exact coin of probability ``exp(-low/t)``.

Proofs: ``docs/proofs/discrete-laplace.md`` and ``docs/proofs/discrete-gaussian.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from sfumato.noise.arrays import Floats, Ints, Words
from sfumato.noise.attempts import (
    Exact,
    Where,
    fill_accepted,
    fill_in_order,
    in_chunks,
    moved,
)
from sfumato.noise.coins import below_exp
from sfumato.noise.exact import (
    LazyUniform,
    coin_exponent,
    geometric,
    proposal_scale,
)
from sfumato.noise.filters import (
    CHUNK,
    SMALLEST_WORD,
    Scratch,
    neglog,
    scratch,
)
from sfumato.noise.stream import Stream

__all__ = [
    "PerElement",
    "Scales",
    "Variances",
    "discrete_gaussian",
    "discrete_laplace",
    "split_bits",
]

SPLIT_ABOVE = 20
_SMALLEST_FACTOR = 1 / 32
_SMALLEST_SIGMA = 2.0**-100
_GAUSSIAN_CHANCE = 0.65
_MARGIN = 2.0**-43
_COIN_BITS = 16
_ALL_ONES = (1 << _COIN_BITS) - 1
_LARGEST = (1 << 63) - 1


def split_bits(whole: int) -> int:
    """Return how many low bits are drawn apart for a scale of integer part `whole`."""
    return max(0, whole.bit_length() - SPLIT_ABOVE)


@dataclass(frozen=True, slots=True)
class Scales:
    """Scales of some draws: floats for the filter, fractions for decisions.

    Attributes:
        factor: Float of ``scale / 2**split``, at least 1/32: below that, every word
            from `SMALLEST_WORD` up gives zero at either factor.
        split: Number of low bits drawn apart.
        exact: The exact scale of an element.
    """

    factor: float | Floats
    split: int | Ints
    exact: Exact

    @classmethod
    def common(cls, scale: Fraction) -> Scales:
        """Use one scale for all elements."""
        split = split_bits(scale.numerator // scale.denominator)
        factor = max(float(scale / (1 << split)), _SMALLEST_FACTOR)
        return cls(factor, split, lambda _: scale)

    def split_at(self, i: int) -> int:
        """Return the number of low bits of one element."""
        return self.split if isinstance(self.split, int) else int(self.split[i])


@dataclass(frozen=True, slots=True)
class PerElement:
    """One positive parameter for each element of a run.

    Attributes:
        floats: The parameters, rounded to floats, shape ``(n,)``.
        fractions: The exact parameters where they are not the floats themselves.
    """

    floats: Floats
    fractions: Sequence[Fraction] | None = None

    def exact(self, i: int) -> Fraction:
        """Return the exact parameter of an element."""
        if self.fractions is None:
            return Fraction(float(self.floats[i]))
        return self.fractions[i]

    def scales(self, where: Where) -> Scales:
        """Prepare some elements, which are scales below 2**54."""
        values, exact = self.floats[where], moved(self.exact, where)
        if values.max(initial=0.0) < 1 << SPLIT_ABOVE:
            return Scales(np.maximum(values, _SMALLEST_FACTOR), 0, exact)
        _, exponent = np.frexp(values)
        split = np.maximum(exponent.astype(np.int64) - SPLIT_ABOVE, 0)
        factor = np.maximum(np.ldexp(values, -split), _SMALLEST_FACTOR)
        return Scales(factor, split, exact)

    def variances(self, where: Where) -> Variances:
        """Prepare some elements, which are variances below 2**108."""
        sigma = np.maximum(np.sqrt(self.floats[where]), _SMALLEST_SIGMA)
        scale = np.floor(sigma) + 1.0
        exact = moved(self.exact, where)
        return Variances(PerElement(scale), 1 / sigma, sigma / scale, exact)


def discrete_laplace(count: int, scales: Scales | PerElement, stream: Stream) -> Ints:
    """Return exact discrete Laplace draws, shape ``(count,)``.

    P(X = x) is proportional to ``exp(-|x|/t)``. A magnitude above ``2**63 - 1``, which
    has probability below ``exp(-500)`` for t < 2**54, is returned as ``2**63 - 1``.
    """
    if isinstance(scales, PerElement):

        def chunk(out: Ints, where: Where) -> Ints:
            return _laplace_chunk(out, scales.scales(where), stream)

        return fill_accepted(count, lambda o, w: in_chunks(o, w, CHUNK, chunk))
    chance = (1 + float(np.exp(-1 / scales.factor))) / 2
    return fill_in_order(
        count, chance, CHUNK, lambda out, _: _laplace_chunk(out, scales, stream)
    )


def _laplace_chunk(out: Ints, scales: Scales, stream: Stream) -> Ints:
    """Fill `out` with one attempt each; return the rejected positions."""
    m = len(out)
    work = scratch()
    words = stream.fill(work.words[:m])
    magnitude, huge = _geometric_chunk(words, scales, stream, work)
    sign, bad = work.ints[2][:m], work.bools[0][:m]
    if isinstance(scales.split, np.ndarray) or scales.split:
        dropped = _append_low_bits(magnitude, scales, stream, work)
    else:
        dropped = []
    magnitude[huge] = _LARGEST
    np.bitwise_and(words.view(np.int64), np.int64(1), out=sign)
    np.equal(magnitude, 0, out=bad)
    np.logical_and(bad, sign, out=bad)
    bad[dropped] = True
    np.negative(sign, out=sign)
    np.bitwise_xor(magnitude, sign, out=magnitude)
    np.subtract(magnitude, sign, out=out)
    return np.flatnonzero(bad)


def _geometric_chunk(
    words: Words, scales: Scales, stream: Stream, work: Scratch
) -> tuple[Ints, list[int]]:
    """Return geometrics from bits 1 to 63 of each word, in ``work.ints[1]``.

    The second result lists elements whose magnitude exceeds 64-bit integers.
    """
    m = len(words)
    middle, whole, unsure = work.more_words[:m], work.floats[1][:m], work.bools[0][:m]
    np.bitwise_or(words, np.uint64(1), out=middle)
    value = neglog(middle, work)
    np.multiply(value, scales.factor, out=value)
    np.floor(value, out=whole)
    np.subtract(value, whole, out=value)
    np.subtract(value, 0.5, out=value)
    np.abs(value, out=value)
    np.greater(value, 0.5 - np.maximum(scales.factor, 1.0) * _MARGIN, out=unsure)
    small = np.less(words, np.uint64(SMALLEST_WORD), out=work.bools[1][:m])
    np.logical_or(unsure, small, out=unsure)
    magnitude = work.ints[1][:m]
    np.copyto(magnitude, whole, casting="unsafe")
    huge = []
    for i in np.flatnonzero(unsure).tolist():
        split = scales.split_at(i)
        uniform = LazyUniform(stream, int(words[i]) >> 1, 63)
        value_i = geometric(uniform, scales.exact(i) / (1 << split))
        if value_i > _LARGEST >> split:
            huge.append(i)
        magnitude[i] = min(value_i, _LARGEST >> split)
    return magnitude, huge


def _append_low_bits(
    magnitude: Ints, scales: Scales, stream: Stream, work: Scratch
) -> list[int]:
    """Turn V into ``V * 2**k + low`` in place; return the positions not kept.

    One word per element: `low` is its last k bits, the coin starts with its first 16.
    ``low < 2**k <= 2**-19 * t``, so a coin that does not start with sixteen ones is
    below ``1 - 2**-16 < exp(-low/t)`` and is kept.
    """
    m = len(magnitude)
    word, low = stream.fill(work.more_words[:m]), work.ints[0][:m]
    split = np.asarray(scales.split, np.int64)
    np.bitwise_and(word.view(np.int64), (np.int64(1) << split) - np.int64(1), out=low)
    np.left_shift(magnitude, split, out=magnitude)
    np.bitwise_or(magnitude, low, out=magnitude)
    first = np.uint64(_ALL_ONES << (64 - _COIN_BITS))
    dropped = []
    for i in np.flatnonzero(word >= first).tolist():
        coin, scale = LazyUniform(stream, _ALL_ONES, _COIN_BITS), scales.exact(i)
        if not coin.below_exp(int(low[i]) * scale.denominator, scale.numerator):
            dropped.append(i)
    return dropped


@dataclass(frozen=True, slots=True)
class Variances:
    """Variances of some Gaussian draws, with the scales of their proposals.

    Attributes:
        proposals: Laplace scales t, integers near sigma; any would be correct.
        slope: Float of 1/sigma.
        shift: Float of sigma/t.
        exact: The exact variance of an element.
    """

    proposals: Scales | PerElement
    slope: float | Floats
    shift: float | Floats
    exact: Exact

    @classmethod
    def common(cls, variance: Fraction) -> Variances:
        """Use one variance for all elements."""
        scale = proposal_scale(variance)
        sigma = max(sqrt(variance), _SMALLEST_SIGMA)
        proposals = Scales.common(Fraction(scale))
        return cls(proposals, 1 / sigma, sigma / scale, lambda _: variance)


def discrete_gaussian(
    count: int, variances: Variances | PerElement, stream: Stream
) -> Ints:
    """Return exact discrete Gaussian draws, shape ``(count,)``.

    P(X = x) is proportional to ``exp(-x**2 / (2 * variance))``: Laplace proposals kept
    by the coin of Canonne, Kamath and Steinke (2020), Algorithm 3.
    """
    if isinstance(variances, PerElement):

        def chunk(out: Ints, where: Where) -> Ints:
            return _gaussian_chunk(out, variances.variances(where), stream)

        return fill_accepted(count, lambda o, w: in_chunks(o, w, CHUNK, chunk))
    return fill_in_order(
        count,
        _GAUSSIAN_CHANCE,
        CHUNK,
        lambda out, _: _gaussian_chunk(out, variances, stream),
    )


def _gaussian_chunk(out: Ints, variances: Variances, stream: Stream) -> Ints:
    """Fill `out` with proposals; return the positions of those not kept."""
    proposals = variances.proposals
    value = out[:] = discrete_laplace(len(out), proposals, stream)
    gap = np.abs(value).astype(np.float64)
    gap *= variances.slope
    gap -= variances.shift
    np.minimum(gap, 64.0, out=gap)
    np.multiply(gap, gap, out=gap)
    gap *= 0.5

    def exact(i: int) -> Fraction:
        scale = int(proposals.exact(i))
        return coin_exponent(abs(int(value[i])), variances.exact(i), scale)

    kept = below_exp(stream.words(len(out)), gap, exact, stream)
    return np.flatnonzero(~kept)
