"""The float filters obey their proved bounds (docs/proofs/float-filter.md)."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise import filters
from sfumato.noise.bounds import exp_bounds, ln_bounds

P = 110
PROVED_NEGLOG = Fraction(7, 10) * Fraction(1, 1 << 45)
PROVED_EXP = Fraction(1, 1 << 47)


def hard_words() -> np.ndarray:
    """Odd words at the ends of every binade, near sqrt(2) splits, and at random."""
    rng = np.random.default_rng(0)
    words = rng.integers(1 << 46, 1 << 64, 600, dtype=np.uint64).tolist()
    for k in range(46, 64):
        words += [(1 << k) + d for d in (0, 1, 2, 3, 1 << (k - 40))]
        words += [(1 << (k + 1)) - d for d in (1, 2, 3, 1 << (k - 40))]
        cut = math.isqrt(1 << (2 * k + 1))
        words += [cut + d for d in (-(1 << (k - 30)), -1, 0, 1, 1 << (k - 30))]
    return np.array([w | 1 for w in words if w >= 1 << 46], np.uint64)


def neglog_true(word: int) -> Fraction:
    """Return -ln(word / 2**64), right to 2**-100."""
    two, _ = ln_bounds(2, P)
    low, _ = ln_bounds(word, P)
    return Fraction(64 * two - low, 1 << P)


def test_neglog_is_within_its_bound_for_the_whole_interval():
    """The bound holds at both ends of the interval of U that a word stands for."""
    words = hard_words()
    vector = filters.neglog(words, filters.scratch()).tolist()
    scalar = [filters.neglog_one(w) for w in words.tolist()]

    for word, value, one in zip(words.tolist(), vector, scalar, strict=True):
        for end in (word - 1, word + 1):
            true = neglog_true(end) if end < 1 << 64 else Fraction(0)
            assert abs(Fraction(value) - true) < PROVED_NEGLOG
            assert abs(Fraction(one) - true) < PROVED_NEGLOG
    assert filters.NEGLOG_ERROR > PROVED_NEGLOG


def test_expneg_is_within_its_bound():
    """The bound holds from 0 to 700 and far beyond."""
    rng = np.random.default_rng(1)
    halves = np.arange(1, 60) * (math.log(2) / 2)
    x = np.concatenate([rng.random(800) * 45, rng.random(100) * 700, halves])
    x = np.concatenate([x, [0.0, 5e-324, 1e-17, 699.9, 700.0, 701.0, 1e308, np.inf]])
    vector = filters.expneg(x).tolist()

    for arg, value in zip(x.tolist(), vector, strict=True):
        q = Fraction(arg) if arg < 2000 else Fraction(2000)
        low, _ = exp_bounds(q.numerator, q.denominator, P)
        for found in (value, filters.expneg_one(arg)):
            assert abs(Fraction(found) - Fraction(low, 1 << P)) < PROVED_EXP
    assert filters.EXP_ERROR > PROVED_EXP


def test_the_constants_are_those_of_the_proof():
    """Nearest doubles of 2/(2j+1), 1/j! and ln 2; the cut lies below sqrt(1/2)."""
    assert [Fraction(c) for c in filters._LOG_TERMS] == [
        Fraction(float(Fraction(2, 2 * j + 1))) for j in range(9)
    ]
    assert [Fraction(c) for c in filters._EXP_TERMS] == [
        Fraction(float(Fraction(1, math.factorial(j)))) for j in range(13)
    ]
    low, _ = ln_bounds(2, 120)
    assert abs(Fraction(filters._LN2) - Fraction(low, 1 << 120)) < Fraction(1, 1 << 54)
    cut = filters._SQRT_HALF_BITS.view(np.float64)
    assert math.sqrt(0.5) - 1e-6 < cut < math.sqrt(0.5)


@pytest.mark.parametrize("dtype", [np.float64])
def test_no_fused_operation_changes_a_bit(dtype):
    """The vector filter equals the same operations done one by one in Python."""
    words = hard_words()
    vector = filters.neglog(words, filters.scratch())

    cut = float(filters._SQRT_HALF_BITS.view(dtype))
    for word, value in zip(words.tolist(), vector.tolist(), strict=True):
        m, e = math.frexp(float(word))
        if m < cut:
            m, e = 2 * m, e - 1
        s = (m - 1.0) / (m + 1.0)
        q = s * s
        p = filters._LOG_TERMS[-1] * q
        for term in filters._LOG_TERMS[-2:0:-1]:
            p = (p + term) * q
        p = (p + 2.0) * s
        assert value == (64 - e) * filters._LN2 - p
