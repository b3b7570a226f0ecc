"""Mironov (2012): which doubles a naive Laplace sampler can reach betrays its input."""

import numpy as np
from certify import epsilon_at_least

from sfumato.noise import discrete_laplace, rounded_laplace

DRAWS = 20_000
SCALE = 1.0


def naive(x):
    """Every textbook: x + scale * log(u), in doubles."""
    return x + np.random.default_rng().laplace(0.0, SCALE, DRAWS)


def ours(x):
    return rounded_laplace(np.full(DRAWS, x), SCALE)


def on_a_grid(x):
    """Integers of 2**-20 plus discrete noise."""
    steps = round(x * 2**20) + discrete_laplace(2**20, DRAWS)
    return np.ldexp(steps.astype(float), -20)


def reachable(y, centre):
    """Could a double y be ``centre +- scale * log(v)`` for v a multiple of 2**-52?"""
    found = np.zeros(len(y), bool)
    for sign in (1, -1):
        guess = np.exp(sign * (y - centre) / SCALE)
        inside = guess <= 1.0000001
        steps = np.rint(guess * 2.0**52)
        for offset in range(-6, 7):
            v = (steps + offset) * 2.0**-52
            with np.errstate(all="ignore"):
                z = centre + sign * SCALE * np.log(v)
            found |= inside & (v > 0) & (z == y)
    return found


def epsilon(mechanism):
    """Best certified epsilon between the neighbours 0 and 1, of four fixed events."""
    zero, one = (reachable(mechanism(x), 0.0) for x in (0.0, 1.0))
    pairs = [(zero, one), (one, zero), (~zero, ~one), (~one, ~zero)]
    return max(epsilon_at_least(a, b) for a, b in pairs)


def test_the_attack_breaks_textbook_noise():
    """Certified: the textbook mechanism of epsilon 1 is not 1-private."""
    assert epsilon(naive) > 1


def test_our_mechanisms_withstand():
    """The same attack certifies nothing against either of ours."""
    assert epsilon(ours) <= 1
    assert epsilon(on_a_grid) <= 1
