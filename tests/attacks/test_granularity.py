"""The lowest bits of a float sum x + noise betray x (precision-based attacks).

Haney, Desfontaines, Hartman, Shrestha and Hay (2022), "Precision-based attacks and
interval refining": near 0 the noise has finer bits than near 1.
"""

import math

import numpy as np
from certify import attack

from sfumato.noise import rounded_gaussian, rounded_laplace

DRAWS = 40_000
SIGMA = 5.0
DELTA = 1e-5


def lowest_bit(y):
    """Exponent of the lowest set bit of each double; 2000 for zero."""
    mantissa, exponent = np.frexp(np.abs(y))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    low = np.frexp((whole & -whole).astype(float))[1] - 1
    return np.where(y == 0, 2000, exponent - 53 + low)


def with_lowest_bits(y):
    """Pair each output with the place of its lowest bit, shape (n, 2)."""
    return np.column_stack([np.abs(y), lowest_bit(y)])


def events():
    """Thresholds of granularity, within bands of magnitude."""
    for band in (math.inf, *(2.0**k for k in range(-12, 6, 2))):
        for bit in range(-62, 4):
            yield lambda z, b=band, j=bit: (z[:, 0] <= b) & (z[:, 1] <= j)
            yield lambda z, b=band, j=bit: (z[:, 0] <= b) & (z[:, 1] > j)


def epsilon(mechanism, delta=0.0):
    """Best certified epsilon between the neighbours 0 and 1."""
    zero, one = (with_lowest_bits(mechanism(x)) for x in (0.0, 1.0))
    return attack(zero, one, events(), delta)


def rng():
    return np.random.default_rng()


def test_the_attack_breaks_textbook_noise():
    """Certified: float Laplace at epsilon 1 and float Gaussian at (1, 1e-5) leak."""
    assert epsilon(lambda x: x + rng().laplace(0, 1, DRAWS)) > 1
    assert epsilon(lambda x: x + rng().normal(0, SIGMA, DRAWS), DELTA) > 1


def test_our_mechanisms_withstand():
    """Nothing is certified against exactly rounded noise."""
    assert epsilon(lambda x: rounded_laplace(np.full(DRAWS, x), 1)) <= 1
    assert epsilon(lambda x: rounded_gaussian(np.full(DRAWS, x), SIGMA), DELTA) <= 1
