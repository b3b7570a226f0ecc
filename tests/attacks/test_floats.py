"""The float attacks break what is known to be broken, and nothing of ours."""

from __future__ import annotations

import numpy as np

from sfumato.audit.attacks import float_sums, granularity, reachability
from sfumato.noise import discrete_laplace, rounded_gaussian, rounded_laplace

SIGMA, DELTA = 5.0, 1e-5


def rng():
    return np.random.default_rng()


def textbook(x, n):
    """Every textbook: x + scale * log(u), in doubles."""
    return x + rng().laplace(0, 1, n)


def ours(x, n):
    return rounded_laplace(np.full(n, x), 1)


def on_a_grid(x, n):
    """Integers of 2**-20 plus discrete noise."""
    return np.ldexp((round(x * 2**20) + discrete_laplace(2**20, n)).astype(float), -20)


def test_granularity_breaks_textbook_noise():
    """Certified: float Laplace at epsilon 1 and float Gaussian at (1, 1e-5) leak."""
    assert granularity(textbook, claimed=1).violated
    found = granularity(
        lambda x, n: x + rng().normal(0, SIGMA, n), claimed=1, delta=DELTA
    )
    assert found.violated and "bit at or below" in found.event


def test_granularity_proves_nothing_against_ours():
    """Nothing is certified against exactly rounded noise."""
    assert not granularity(ours, claimed=1).violated
    found = granularity(
        lambda x, n: rounded_gaussian(np.full(n, x), SIGMA), claimed=1, delta=DELTA
    )
    assert not found.violated


def test_reachability_breaks_textbook_noise_only():
    """Mironov's attack certifies a violation of numpy's Laplace, none of ours."""
    assert reachability(textbook, scale=1, claimed=1).violated
    assert not reachability(ours, scale=1, claimed=1).violated
    assert not reachability(on_a_grid, scale=1, claimed=1).violated


def test_float_sums_break_and_integer_sums_do_not():
    """Sums of doubles move by 8 where the true sum moves by 1."""

    def in_doubles(table, n):
        return np.sum(table) + discrete_laplace(1, n).astype(float)

    def in_integers(table, n):
        steps = np.floor(table - 2.0**45 + 0.5).astype(np.int64)
        return steps.sum() + discrete_laplace(1, n) + len(table) * 2.0**45

    assert float_sums(in_doubles, claimed=1).violated
    assert not float_sums(in_integers, claimed=1).violated
