"""Spherical noise has exactly the law of its definition, rounded."""

from math import exp

import numpy as np
import pytest
from scipy import stats

from sfumato.errors import ArgumentError
from sfumato.noise import FixedStream, spherical_noise

RATE = 1e-9


def draws(scale, dimension, n, seed, **options):
    """Return repeatable draws, shape (n, dimension)."""
    stream = FixedStream(seed)
    found = [
        spherical_noise(scale, dimension, source=stream, **options) for _ in range(n)
    ]
    return np.array(found, float)


def test_one_coordinate_is_rounded_laplace_noise():
    """In one dimension the law is Laplace's: exact masses, chi square, p > 1e-9."""
    n, scale = 6000, 1.7
    edges = np.arange(-6, 7)
    cdf = stats.laplace(scale=scale).cdf
    masses = cdf(edges + 0.5) - cdf(edges - 0.5)

    seen = draws(scale, 1, n, seed=1)[:, 0]

    counts = np.array([(seen == e).sum() for e in edges])
    rest = n - counts.sum(), 1 - masses.sum()
    p = stats.chisquare([*counts, rest[0]], n * np.array([*masses, rest[1]])).pvalue
    assert p > RATE


@pytest.mark.parametrize(("dimension", "n"), [(2, 3000), (9, 1000), (40, 200)])
def test_the_radius_is_gamma_and_the_direction_uniform(dimension, n):
    """At a large scale rounding is invisible; Kolmogorov-Smirnov, p > 1e-9."""
    seen = draws(2**30, dimension, n, seed=2) / 2**30

    radius = np.sqrt((seen**2).sum(1))
    first = seen[:, 0] / radius  # (1 + x)/2 is Beta on a uniform direction
    half = (dimension - 1) / 2
    assert stats.kstest(radius, "gamma", args=(dimension,)).pvalue > RATE
    assert stats.kstest((1 + first) / 2, "beta", args=(half, half)).pvalue > RATE
    assert stats.spearmanr(radius, first).pvalue > RATE


def test_small_noise_has_the_mass_of_its_cell():
    """P(0, 0) at a small scale is the integral of the density over the unit square."""
    n, scale = 4000, 0.8
    x = np.linspace(-0.5, 0.5, 401)[:-1] + 1 / 800
    r = np.hypot(*np.meshgrid(x, x))
    mass = np.exp(-r / scale).mean() / (2 * np.pi * scale**2)

    hits = (draws(scale, 2, n, seed=3) == 0).all(1).sum()

    assert stats.binomtest(int(hits), n, mass).pvalue > RATE


def test_a_coordinate_that_counts_twice_has_half_the_variance():
    """`thin` divides by the exact root; F-like ratio within 6 standard errors."""
    seen = draws(2**20, 2, 3000, seed=4, thin=(1, 2))

    ratio = (seen[:, 0] ** 2).mean() / (seen[:, 1] ** 2).mean()
    assert abs(ratio - 2) < 0.5
    assert seen[:, 0].std() == pytest.approx(2**20 * 3**0.5, rel=0.15)


def test_planted_fault_half_the_scale_is_seen():
    """The test of the radius fails for noise of half the scale."""
    seen = draws(2**29, 9, 1000, seed=2) / 2**30

    radius = np.sqrt((seen**2).sum(1))
    assert stats.kstest(radius, "gamma", args=(9,)).pvalue < RATE


class Stingy:
    """A source that gives zeros first, so that nothing can be decided at once."""

    grain = 64

    def __init__(self, zeros):
        self.left, self.stream = zeros, FixedStream(9)

    def bits(self, count):
        self.left -= 1
        return 0 if self.left >= 0 else self.stream.bits(count)


@pytest.mark.parametrize("zeros", range(1, 12))
def test_undecided_draws_read_more_bits(zeros):
    """Words of zeros delay the decision; they never break or bias it."""
    found = spherical_noise(1000, 3, source=Stingy(zeros))

    assert all(isinstance(z, int) and abs(z) < 1000 * exp(10) for z in found)


@pytest.mark.parametrize(("scale", "dimension"), [(0, 3), (float("nan"), 3), (1, 0)])
def test_bad_arguments_are_refused(scale, dimension):
    """Nothing is drawn for a scale or a dimension that says nothing."""
    with pytest.raises(ArgumentError):
        spherical_noise(scale, dimension)
