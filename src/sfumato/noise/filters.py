"""Floating-point filters: ``-ln U`` and ``exp(-x)`` with proved error bounds.

Only IEEE-754 addition, subtraction, multiplication and division in double precision
are used, each one numpy call, so that no fused operation and no mathematics library can
change a bit: the bounds hold on every IEEE platform. Where a filter cannot decide,
`sfumato.noise.exact` does. Proof of the bounds: ``docs/proofs/float-filter.md``.
"""

from __future__ import annotations

import threading
from math import factorial, floor, frexp, ldexp

import numpy as np

from sfumato.noise.arrays import Bools, Floats, Ints, Words

__all__ = [
    "CHUNK",
    "COIN_ERROR",
    "EXP_ERROR",
    "NEGLOG_ERROR",
    "SMALLEST_WORD",
    "Scratch",
    "expneg",
    "expneg_one",
    "neglog",
    "neglog_one",
    "scratch",
]

NEGLOG_ERROR = 2.0**-44
"""Bound of ``|neglog(w) + ln U|`` for every U that starts with the word w."""

SMALLEST_WORD = 1 << 46
"""Words below this one are left to the integers: their intervals are too wide."""

EXP_ERROR = 2.0**-44
"""Bound of ``|expneg(x) - exp(-x)|`` for every float x >= 0."""

COIN_ERROR = 2.0**-40
"""Bound of the error of ``U - exp(-r)`` computed from a word of U and a float r that
is right to 2**-43, absolutely, or to 2**-44, relatively."""

CHUNK = 8192
"""Elements per pass: the work arrays then stay in the second-level cache."""

_LN2 = 0.6931471805599453
_INV_LN2 = 1.4426950408889634
_EXP_LIMIT = 700.0
_SQRT_HALF = 0.7071067811865476
_LOG_TERMS = tuple(2.0 / (2 * j + 1) for j in range(9))
_EXP_TERMS = tuple(1.0 / factorial(j) for j in range(13))

# The bits of a double just below sqrt(1/2) with 32 zero bits at the end.
_SQRT_HALF_BITS = np.int64(0x3FE6A09E00000000)
_EXPONENT_BITS = np.int64(-1) << np.int64(52)


class Scratch:
    """Work arrays for one chunk, kept by a thread so that they stay in cache."""

    def __init__(self) -> None:
        """Allocate once."""
        self.words: Words = np.empty(CHUNK, np.uint64)
        self.more_words: Words = np.empty(CHUNK, np.uint64)
        self.floats: tuple[Floats, ...] = tuple(np.empty(CHUNK) for _ in range(4))
        self.ints: tuple[Ints, ...] = tuple(np.empty(CHUNK, np.int64) for _ in range(3))
        self.bools: tuple[Bools, ...] = tuple(np.empty(CHUNK, np.bool_) for _ in "ab")


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.scratch = Scratch()


_own = _PerThread()


def scratch() -> Scratch:
    """Return the work arrays of this thread."""
    return _own.scratch


def neglog(words: Words, work: Scratch) -> Floats:
    """Return ``-ln(w / 2**64)``, to within `NEGLOG_ERROR` for w >= `SMALLEST_WORD`.

    Args:
        words: Positive 64-bit words, shape ``(m,)``, m <= `CHUNK`.
        work: Work arrays; the result is a view of ``work.floats[0]``.
    """
    m = len(words)
    out, z, s, square = (a[:m] for a in work.floats)
    mantissa, bits = work.ints[0][:m], z.view(np.int64)
    np.copyto(z, words, casting="unsafe")
    np.subtract(bits, _SQRT_HALF_BITS, out=mantissa)
    exponent = mantissa >> np.int64(52)
    np.bitwise_and(mantissa, _EXPONENT_BITS, out=mantissa)
    np.subtract(bits, mantissa, out=bits)
    np.subtract(z, 1.0, out=s)
    np.add(z, 1.0, out=square)
    np.divide(s, square, out=s)
    np.multiply(s, s, out=square)
    np.multiply(square, _LOG_TERMS[-1], out=z)
    for term in _LOG_TERMS[-2:0:-1]:
        np.add(z, term, out=z)
        np.multiply(z, square, out=z)
    np.add(z, _LOG_TERMS[0], out=z)
    np.multiply(z, s, out=z)
    np.copyto(out, exponent, casting="unsafe")
    np.subtract(64.0, out, out=out)
    np.multiply(out, _LN2, out=out)
    np.subtract(out, z, out=out)
    return out


def neglog_one(word: int) -> float:
    """Return what `neglog` promises, for one Python integer."""
    m, e = frexp(word)
    if m < _SQRT_HALF:
        m += m
        e -= 1
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = _LOG_TERMS
    p = (((c8 * q + c7) * q + c6) * q + c5) * q + c4
    p = (((p * q + c3) * q + c2) * q + c1) * q + c0
    return (64 - e) * _LN2 - p * s


def expneg(x: Floats) -> Floats:
    """Return ``exp(-x)`` for x >= 0 (infinity included), to within `EXP_ERROR`."""
    x = np.minimum(x, _EXP_LIMIT)
    k = np.floor(x * _INV_LN2 + 0.5)
    r = k * _LN2
    r -= x
    p = r * _EXP_TERMS[-1]
    for term in _EXP_TERMS[-2:0:-1]:
        p += term
        p *= r
    p += 1.0
    p *= ((np.int64(1023) - k.astype(np.int64)) << np.int64(52)).view(np.float64)
    return p


def expneg_one(x: float) -> float:
    """Return what `expneg` promises, for one float."""
    if x > _EXP_LIMIT:
        return 0.0
    k = floor(x * _INV_LN2 + 0.5)
    r = k * _LN2 - x
    p = _EXP_TERMS[-1]
    for term in _EXP_TERMS[-2::-1]:
        p = p * r + term
    return ldexp(p, -k)
