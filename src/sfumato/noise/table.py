"""Vector samplers by table: one common scale, integers only, 3 to 8 ns a draw.

The integers are cut into buckets of ``2**k`` values (k = 0 for small scales). A 16-bit
index looks up the bucket; a cell of the table in which the distribution function takes
a step is left open, and 64 bits, or as many as it takes, of the same uniform decide.
Inside a bucket the place is k uniform bits, kept by an exact coin of probability
``weight(x) / largest weight of the bucket``.

Proof: ``docs/proofs/discrete-laplace.md``, section "Table".
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.noise.arrays import Bools, Ints, Words
from sfumato.noise.attempts import NONE, Where, fill_accepted
from sfumato.noise.bounds import exp_bounds
from sfumato.noise.coins import below_exp
from sfumato.noise.exact import LazyUniform
from sfumato.noise.stream import Stream

__all__ = ["Law", "Table", "draw", "locate", "table"]

CHUNK = 8192
OPEN = -(1 << 15)
"""The mark of a cell of the table that does not decide."""

_CELLS = 1 << 16
_LARGEST_WORD = (1 << 64) - 1
_ROUNDING = 48
_FLAT_LAPLACE, _FLAT_GAUSSIAN = 7, 8
_BUCKETS_LAPLACE, _BUCKETS_GAUSSIAN = 6, 8
_STEEPEST = 3


@dataclass(frozen=True, slots=True)
class Law:
    """The law on the integers with weights ``exp(-(quadratic x**2 + linear |x|))``.

    Both coefficients are rational, >= 0, and one of them is positive.
    """

    quadratic: Fraction
    linear: Fraction

    @classmethod
    def laplace(cls, scale: Fraction) -> Law:
        """Return the discrete Laplace law."""
        return cls(Fraction(0), 1 / scale)

    @classmethod
    def gaussian(cls, variance: Fraction) -> Law:
        """Return the discrete Gaussian law."""
        return cls(1 / (2 * variance), Fraction(0))

    def bucket_bits(self) -> int:
        """Return k: how many values, as a power of two, share a bucket."""
        if self.quadratic:
            width = isqrt(int(1 / (2 * self.quadratic))).bit_length()
            flat, kept = _FLAT_GAUSSIAN, _BUCKETS_GAUSSIAN
        else:
            width = int(1 / self.linear).bit_length()
            flat, kept = _FLAT_LAPLACE, _BUCKETS_LAPLACE
        return 0 if width <= flat else width - kept

    def exponent(self, start: int, step: int) -> Fraction:
        """Return ``-ln(weight(start + step) / weight(start))``, start >= 0."""
        return self.quadratic * (2 * start * step + step * step) + self.linear * step


def _side(law: Law, start: int, bits: int, width: int, tail: int) -> list[int]:
    """Return bucket weights outwards from `start`, in units of 2**-width.

    They stop when what follows is below ``2**-tail`` of the weight of zero.
    """
    size = 1 << bits

    def scaled(exponent: Fraction) -> int:
        return exp_bounds(exponent.numerator, exponent.denominator, width)[0]

    one = 1 << width
    weight = scaled(law.exponent(0, start))
    ratio = scaled(law.exponent(start, size))
    bend = scaled(2 * law.quadratic * size * size)
    least = one >> tail
    weights = [weight]
    while weight * ratio > least * (one - ratio):
        weight = weight * ratio >> width
        weights.append(weight)
        if law.quadratic:
            ratio = ratio * bend >> width
    return weights


def distribution(
    law: Law, bits: int, precision: int, extra: int
) -> tuple[int, list[int], int, int]:
    """Return the distribution function over buckets, with a bound of its error.

    Args:
        law: The law.
        bits: k; buckets hold ``2**k`` values.
        precision: How many bits of the values are wanted.
        extra: How many bits beyond those should be right, too.

    Returns:
        ``(first, values, error, unit)``: ``2**(precision + unit)`` times
        ``P(bucket <= first + i)`` lies within `error` of ``values[i]``.
    """
    tail, unit = precision + extra, extra + _ROUNDING
    width = precision + unit
    right = _side(law, 0, bits, width, tail)
    left = _side(law, 1, bits, width, tail)
    inverse = (1 << 2 * width) // (sum(right) + sum(left))
    values, sum_so_far = [], 0
    for weight in left[::-1] + right:
        sum_so_far += weight
        values.append(sum_so_far * inverse >> width)
    error = 32 * (len(values) + 2) ** 3 + (8 << (width - tail))
    return -len(left), values, error, unit


def _thresholds(law: Law, bits: int) -> tuple[int, Words]:
    """Return ``floor(2**64 * P(bucket <= first + i))``, each one certain."""
    extra = 24
    while True:
        first, values, error, unit = distribution(law, bits, 64, extra)
        low = [max(v - error, 0) >> unit for v in values]
        high = [min((v + error) >> unit, _LARGEST_WORD) for v in values]
        if low == high:
            return first, np.array(low, np.uint64)
        extra *= 2


def locate(law: Law, bits: int, uniform: LazyUniform) -> int:
    """Return the bucket at U of the exact distribution function, reading more bits."""
    while True:
        first, values, error, unit = distribution(law, bits, uniform.length, 24)
        start = uniform.prefix << unit
        end = start + (1 << unit)
        below = sum(v + error <= start for v in values)
        if below < len(values) and end <= values[below] - error:
            return first + below
        uniform.extend()


@dataclass(frozen=True, slots=True)
class Table:
    """Everything about one law that does not depend on random words.

    Attributes:
        law: The law.
        bits: k; buckets hold ``2**k`` values.
        first: Bucket of ``thresholds[0]``.
        thresholds: ``floor(2**64 * P(bucket <= first + i))``, ascending.
        cells: Bucket of each 16-bit prefix of U, or `OPEN`.
        below: How many thresholds lie below each cell.
        unsure: A word whose first 16 bits, as a coin, may reject outside open cells
            is at or above this one.
    """

    law: Law
    bits: int
    first: int
    thresholds: Words
    cells: NDArray[np.int16]
    below: NDArray[np.int32]
    unsure: np.uint64


@lru_cache(maxsize=64)
def table(law: Law) -> Table:
    """Build the table of a law: 1 to 10 ms, then cached."""
    bits = law.bucket_bits()
    first, thresholds = _thresholds(law, bits)
    steps = np.bincount((thresholds >> np.uint64(48)).view(np.int64), minlength=_CELLS)
    up_to = np.cumsum(steps)
    cells = first + up_to
    cells[steps > 0] = OPEN
    sure = 0
    if bits:
        size = 1 << bits
        furthest = cells[cells != OPEN].max()
        if law.quadratic:
            furthest = min(furthest, _STEEPEST << _BUCKETS_GAUSSIAN)
            cells[np.abs(cells) > furthest] = OPEN
        rate = law.exponent((int(furthest) + 1) * size, size)
        sure = exp_bounds(rate.numerator, rate.denominator, 16)[0]
    below = (up_to - steps).astype(np.int32)
    marks = cells.astype(np.int16)
    return Table(law, bits, first, thresholds, marks, below, np.uint64(sure << 48))


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.prefixes = np.empty(CHUNK, np.uint16)
        self.buckets = np.empty(CHUNK, np.int16)
        self.words = np.empty(CHUNK, np.uint64)
        self.flags = np.empty(CHUNK, np.bool_)
        self.more_flags = np.empty(CHUNK, np.bool_)


_own = _PerThread()


def draw(count: int, law: Law, stream: Stream) -> Ints:
    """Return `count` exact draws from `law`, shape ``(count,)``."""
    made = table(law)

    def attempt(out: Ints, where: Where) -> Ints:  # noqa: ARG001  one common law
        return _attempt(made, out, stream)

    return fill_accepted(count, attempt)


def _attempt(made: Table, out: Ints, stream: Stream) -> Ints:
    """Fill `out` with one attempt each; return the rejected positions."""
    look_up = _place_in_buckets if made.bits else _look_up
    left_open = [
        look_up(made, out[start : start + CHUNK], start, stream)
        for start in range(0, len(out), CHUNK)
    ]
    index = np.concatenate([part.positions for part in left_open])
    prefixes = np.concatenate([part.prefixes for part in left_open])
    if not made.bits:
        out[index] = _resolve(made, prefixes, stream)
        return NONE
    words = np.concatenate([part.words for part in left_open])
    out[index], kept = _finish(made, prefixes, words, stream)
    rejected: Ints = index[~kept]
    return rejected


class _Open(NamedTuple):
    """Draws that the table alone does not decide, and their random bits."""

    positions: Ints
    prefixes: NDArray[np.uint16]
    words: Words


_NO_WORDS: Words = np.empty(0, np.uint64)


def _look_up(made: Table, out: Ints, start: int, stream: Stream) -> _Open:
    """Put into `out` the values of the cells of fresh 16-bit prefixes."""
    m = len(out)
    prefixes = stream.fill(_own.prefixes[:m])
    buckets, is_open = _own.buckets[:m], _own.flags[:m]
    np.take(made.cells, prefixes, out=buckets, mode="clip")
    np.equal(buckets, OPEN, out=is_open)
    np.copyto(out, buckets)
    index = np.flatnonzero(is_open)
    return _Open(index + start, prefixes[index], _NO_WORDS)


def _place_in_buckets(made: Table, out: Ints, start: int, stream: Stream) -> _Open:
    """Put into `out` a bucket from the table and a uniform place in it."""
    m = len(out)
    prefixes = stream.fill(_own.prefixes[:m])
    words = stream.fill(_own.words[:m])
    buckets, is_open, flag = _own.buckets[:m], _own.flags[:m], _own.more_flags[:m]
    np.take(made.cells, prefixes, out=buckets, mode="clip")
    np.equal(buckets, OPEN, out=is_open)
    np.greater_equal(words, made.unsure, out=flag)
    np.logical_or(is_open, flag, out=is_open)
    index = np.flatnonzero(is_open)
    left_open = _Open(index + start, prefixes[index], words[index])
    place = words.view(np.int64)
    np.copyto(out, buckets)
    np.left_shift(out, made.bits, out=out)
    np.bitwise_and(place, (1 << made.bits) - 1, out=place)
    np.bitwise_or(out, place, out=out)
    return left_open


def _resolve(made: Table, prefixes: NDArray[np.uint16], stream: Stream) -> Ints:
    """Return the buckets of uniforms of which 16 bits are known."""
    words = prefixes.astype(np.uint64) << np.uint64(48)
    words |= stream.words(len(words)) >> np.uint64(16)
    rank = _rank(made, prefixes, words)
    tied = made.thresholds[np.maximum(rank, 1) - 1] == words
    tied |= rank == len(made.thresholds)
    buckets = rank + made.first
    for i in np.flatnonzero(tied).tolist():
        uniform = LazyUniform(stream, int(words[i]), 64)
        buckets[i] = _fitting(locate(made.law, made.bits, uniform), made.bits)
    return buckets


def _rank(made: Table, prefixes: NDArray[np.uint16], words: Words) -> Ints:
    """Return how many thresholds lie at or below each word.

    Most open cells hold one threshold: one comparison settles it; the rest is searched.
    """
    last = len(made.thresholds) - 1
    rank = made.below[prefixes].astype(np.int64)
    rank += made.thresholds[np.minimum(rank, last)] <= words
    more = np.flatnonzero(made.thresholds[np.minimum(rank, last)] <= words)
    rank[more] = np.searchsorted(made.thresholds, words[more], side="right")
    return rank


def _fitting(bucket: int, bits: int) -> int:
    """Clamp a bucket so that its values fit int64: an event below exp(-500)."""
    limit = (1 << (63 - bits)) - 1
    return min(max(bucket, -limit), limit)


def _finish(
    made: Table, prefixes: NDArray[np.uint16], words: Words, stream: Stream
) -> tuple[Ints, Bools]:
    """Finish attempts exactly: the value, and whether its coin keeps it.

    The last k bits of `words` are the place in the bucket, the first 16 start the coin.
    """
    law, bits, mask = made.law, made.bits, (1 << made.bits) - 1
    buckets = made.cells[prefixes].astype(np.int64)
    unknown = np.flatnonzero(buckets == OPEN)
    buckets[unknown] = _resolve(made, prefixes[unknown], stream)
    place = words.view(np.int64) & mask
    value = (buckets << bits) | place
    negative = buckets < 0
    start = np.where(negative, (~buckets << bits) + 1, value - place)
    step = np.where(negative, mask - place, place)
    near, far = step.astype(np.float64), start.astype(np.float64)
    rate = float(law.quadratic) * near * (2.0 * far + near) + float(law.linear) * near
    coins = words & np.uint64(0xFFFF << 48)
    coins |= stream.words(len(words)) >> np.uint64(16)

    def exact(i: int) -> Fraction:
        return law.exponent(int(start[i]), int(step[i]))

    return value, below_exp(coins, rate, exact, stream)
