"""Exact selection: permute-and-flip, the exponential mechanism, sparse vector.

`rate` is the exponent per unit of score, a rational. Every choice reduces to coins of
probability ``exp(-rate * gap)`` with exact gaps: no float decides anything.
Theorems, rate conventions and proofs: ``docs/proofs/selection.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.noise import lazy, scalar
from sfumato.noise.arguments import Number, below_limit, positive, real_array
from sfumato.noise.arrays import Floats, Ints
from sfumato.noise.attempts import Exact, moved
from sfumato.noise.coins import flip, uniform_indices
from sfumato.noise.stream import Stream, default
from sfumato.words import N_

__all__ = ["above_threshold", "exponential", "permute_and_flip"]

Scores = NDArray[Any] | Sequence[float]

_LIMIT = 1 << 61
_MAX_SCALE = 1 << 54
_MAX_RATE = 1 << 900
_LARGEST_SHIFT = 5000
_LARGEST_EXPONENT = Fraction(1 << 20)
_FIRST_BLOCK, _LAST_BLOCK = 64, 1 << 16


class _Gaps:
    """How far each score lies below the best, times the rate.

    Attributes:
        rates: Floats near the exponents, shape ``(n,)``; see `coins.below_exp`.
    """

    def __init__(self, scores: Scores, rate: Fraction) -> None:
        self._rate = rate
        self.rates: Floats
        self._gap: Exact
        if np.ndim(scores) != 1 or not len(scores):
            raise ArgumentError(
                N_("scores must have one dimension and at least one candidate"),
                hint=N_("pass one score per candidate"),
            )
        if isinstance(scores, np.ndarray):
            array = real_array("scores", scores)
            is_real = array.dtype.kind == "f"
            (self._of_floats if is_real else self._of_integers)(array)
        else:
            self._of_python([_finite(s) for s in scores])

    def _of_floats(self, scores: NDArray[Any]) -> None:
        """Halve before subtracting, lest the gap of two huge scores be infinite."""
        top = sys.float_info.max
        clean = scores.astype(np.float64)
        np.nan_to_num(clean, copy=False, nan=-top, posinf=top, neginf=-top)
        best = float(clean.max())
        mantissa, exponent = _split_rate(self._rate)
        with np.errstate(over="ignore", under="ignore"):
            half = np.subtract(best * 0.5, clean * 0.5)
            self.rates = np.ldexp(half * mantissa, exponent + 1)
        self._gap = lambda i: Fraction(best) - Fraction(float(clean[i]))

    def _of_integers(self, scores: NDArray[Any]) -> None:
        """Subtract modulo 2**64: the true gap of 64-bit integers fits."""
        best = int(scores.max())
        wide = scores.astype(np.uint64)
        gap = np.uint64(best % (1 << 64)) - wide
        mantissa, exponent = _split_rate(self._rate)
        with np.errstate(over="ignore", under="ignore"):
            self.rates = np.ldexp(gap.astype(np.float64) * mantissa, exponent)
        self._gap = lambda i: Fraction(best - int(scores[i]))

    def _of_python(self, scores: list[Fraction]) -> None:
        best = max(scores)
        exponents = [min((best - s) * self._rate, _LARGEST_EXPONENT) for s in scores]
        self.rates = np.array([float(r) for r in exponents])
        self._gap = lambda i: best - scores[i]

    def exact(self, i: int) -> Fraction:
        return self._gap(i) * self._rate


def _finite(score: float) -> Fraction:
    """Return a score exactly; NaN is the worst, infinities are the extreme floats."""
    if isinstance(score, float):
        top = sys.float_info.max
        return Fraction(-top if score != score else min(max(score, -top), top))  # noqa: PLR0124
    return Fraction(score)


def _split_rate(rate: Fraction) -> tuple[float, int]:
    """Return a mantissa in [1/2, 1] and an exponent of any size."""
    shift = rate.numerator.bit_length() - rate.denominator.bit_length()
    mantissa, exponent = frexp(float(rate / Fraction(2) ** shift))
    return mantissa, min(max(exponent + shift, -_LARGEST_SHIFT), _LARGEST_SHIFT)


def permute_and_flip(
    scores: Scores, rate: Number, *, stream: Stream | None = None
) -> int:
    """Choose an index by permute-and-flip (McKenna and Sheldon, 2020).

    Visit the candidates in random order and stop at the first whose coin of
    probability ``exp(-rate * gap)`` is heads, the gap being how far its score lies
    below the best. The coins do not depend on the order, so all are flipped at once and
    one of the heads is taken uniformly; the best candidate is always heads.

    Formal guarantee: with scores of sensitivity D, ``2 * rate * D``-differential
    privacy (``rate * D`` if all scores move in one direction). Its expected error is
    never worse than that of `exponential` at the same rate.

    Args:
        scores: One per candidate, shape ``(n,)``, n >= 1; taken exactly. NaN counts as
            the worst float, infinities as the extreme floats; no value raises an error.
        rate: Positive exponent per unit of score, below 2**900.
        stream: Source of random bits, by default the secure one of this thread.

    Raises:
        ArgumentError: There is no candidate, or the rate is out of range. Nothing was
            drawn.

    Examples:
        >>> permute_and_flip([0, 5000, 10], rate=1)
        1
    """
    source = default() if stream is None else stream
    gaps = _Gaps(scores, _rate(rate))
    heads = np.flatnonzero(flip(gaps.rates, gaps.exact, source))
    return int(heads[source.below(len(heads))])


def exponential(scores: Scores, rate: Number, *, stream: Stream | None = None) -> int:
    """Choose index i with probability proportional to ``exp(rate * score[i])``.

    The exponential mechanism (McSherry and Talwar, 2007) by exact rejection: uniform
    candidates, each kept with probability ``exp(-rate * gap)``; the first kept one is
    returned. Guarantee, arguments and errors: as `permute_and_flip`.

    Examples:
        >>> exponential([0, 5000, 10], rate=1)
        1
    """
    source = default() if stream is None else stream
    gaps = _Gaps(scores, _rate(rate))
    count = len(gaps.rates)
    block = min(max(count, _FIRST_BLOCK), _LAST_BLOCK)
    while True:
        tried = uniform_indices(count, block, source)
        exact = moved(gaps.exact, tried)
        kept = np.flatnonzero(flip(gaps.rates[tried], exact, source))
        if kept.size:
            return int(tried[kept[0]])


def _rate(rate: Number) -> Fraction:
    value = positive("rate", rate)
    if value >= _MAX_RATE:
        raise ArgumentError(
            N_("rate must be below 2**900"),
            hint=N_("such a rate always chooses the best score: change its unit"),
        )
    return value


def above_threshold(
    values: Ints | Sequence[int],
    threshold: int,
    *,
    threshold_scale: Number,
    value_scale: Number,
    stream: Stream | None = None,
) -> int | None:
    """Return the first index whose noisy value reaches the noisy threshold, or None.

    The sparse vector technique (Lyu, Su and Li, 2017, Algorithm 1 with one answer) with
    discrete Laplace noise on integers.

    Formal guarantee: with values of sensitivity D,
    ``D / threshold_scale + 2 * D / value_scale``-differential privacy, however many
    values are passed.

    Args:
        values: 64-bit integers in the order in which they are tested, shape ``(n,)``.
            They are clamped to within ``2**61`` of the threshold, which moves no two
            values apart.
        threshold: Public 64-bit integer.
        threshold_scale: Scale of the noise on the threshold, below 2**54.
        value_scale: Scale of the noise on each value, below 2**54.
        stream: Source of random bits, by default the secure one of this thread.

    Raises:
        ArgumentError: A scale, the threshold or the type of the values cannot be used.
            Nothing was drawn.

    Examples:
        >>> above_threshold([3, 10**6], 10**5, threshold_scale=2, value_scale=4)
        1
    """
    source = default() if stream is None else stream
    scales = [positive("threshold_scale", threshold_scale)]
    scales.append(positive("value_scale", value_scale))
    for scale in scales:
        below_limit("scale", scale, _MAX_SCALE)
    array = _integers(values)
    lowest, highest = _window(threshold)
    plan = scalar.laplace_plan(scales[0].numerator, scales[0].denominator)
    shift = scalar.discrete_laplace(plan, source)
    shift = min(max(shift, -2 * _LIMIT), 2 * _LIMIT)
    noise_scale = lazy.Scales.common(scales[1])
    start, size = 0, _FIRST_BLOCK
    while start < len(array):
        part = np.clip(array[start : start + size], lowest, highest)
        needed = shift - (part - threshold)
        noise = lazy.discrete_laplace(len(part), noise_scale, source)
        hits = np.flatnonzero(noise >= needed)
        if hits.size:
            return start + int(hits[0])
        start, size = start + size, min(2 * size, _LAST_BLOCK)
    return None


def _integers(values: Ints | Sequence[int]) -> Ints:
    array = np.asarray(values) if len(values) else np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iub" or array.dtype == np.uint64:
        raise ArgumentError(
            N_("values must be signed 64-bit integers in one dimension, not {dtype}"),
            hint=N_("round real values to a public grid first"),
            dtype=array.dtype,
        )
    return array.astype(np.int64)


def _window(threshold: int) -> tuple[int, int]:
    """Return the range of values around a threshold whose gaps fit 64 bits."""
    bounds = np.iinfo(np.int64)
    smallest, biggest = int(bounds.min), int(bounds.max)
    if not smallest <= threshold <= biggest:
        raise ArgumentError(
            N_("threshold must be a 64-bit integer, not {threshold}"),
            hint=N_("change the unit of the values"),
            threshold=threshold,
        )
    return max(threshold - _LIMIT, smallest), min(threshold + _LIMIT, biggest)
