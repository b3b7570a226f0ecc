"""Goodness of fit of every sampler and path: a backstop behind the exact tests.

Each verdict raises a false alarm with probability at most 1e-9; nothing is retried.
The faults at the end show that the verdicts can fail.
"""

from fractions import Fraction

import fit
import numpy as np
import pytest

from sfumato.noise import (
    discrete_gaussian,
    discrete_laplace,
    lazy,
    rounded_gaussian,
    rounded_laplace,
    table,
)
from sfumato.noise.stream import default

F = Fraction
N = fit.DRAWS
SCALES = [F(1, 2), F(10), F(100), F(10**4), F(2**40)]


def lazy_laplace(scale, n):
    return lazy.discrete_laplace(n, lazy.Scales.common(scale), default())


def lazy_gaussian(variance, n):
    return lazy.discrete_gaussian(n, lazy.Variances.common(variance), default())


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("path", [discrete_laplace, lazy_laplace])
def test_discrete_laplace(path, scale):
    """Table and lazy path, 5e5 draws."""
    assert not fit.laplace(path(scale, N), float(scale)).alarm


@pytest.mark.parametrize("scale", [F(1, 2), F(10), F(2**21 + 5)], ids=str)
def test_discrete_laplace_one_by_one(scale):
    """Scalar path, 3e4 draws."""
    drawn = np.array([discrete_laplace(scale) for _ in range(30_000)])

    assert not fit.laplace(drawn, float(scale)).alarm


def test_discrete_laplace_per_element():
    """Four interleaved scales, each with its own law."""
    scales = [0.5, 3.0, 77.7, 2.0**30]
    drawn = discrete_laplace(np.tile(scales, N // 4)).reshape(-1, 4)

    for i, scale in enumerate(scales):
        assert not fit.laplace(drawn[:, i].copy(), scale).alarm


@pytest.mark.parametrize("sigma", [F(1, 2), F(10), F(300), F(10**4)], ids=str)
@pytest.mark.parametrize("path", [discrete_gaussian, lazy_gaussian])
def test_discrete_gaussian(path, sigma):
    """Table and lazy path, 5e5 draws."""
    assert not fit.gaussian(path(sigma**2, N), float(sigma)).alarm


@pytest.mark.parametrize("sigma", [F(1, 2), F(10)], ids=str)
def test_discrete_gaussian_one_by_one(sigma):
    """Scalar path, 2e4 draws."""
    drawn = np.array([discrete_gaussian(sigma**2) for _ in range(20_000)])

    assert not fit.gaussian(drawn, float(sigma)).alarm


def test_discrete_gaussian_per_element():
    """Three interleaved variances, each with its own law."""
    sigmas = [0.5, 8.0, 1000.0]
    drawn = discrete_gaussian(np.tile(np.square(sigmas), N // 6)).reshape(-1, 3)

    for i, sigma in enumerate(sigmas):
        assert not fit.gaussian(drawn[:, i].copy(), sigma).alarm


REALS = [(1, 1 / 64, 0.0), (1, 1 / 64, 0.3), (F(5, 3), 1, 0.25), (10, 1, -7.7)]


@pytest.mark.parametrize(("scale", "grid", "value"), REALS)
@pytest.mark.parametrize(
    ("law", "cdf"),
    [(rounded_laplace, fit.laplace_cdf), (rounded_gaussian, fit.normal_cdf)],
)
def test_rounded_reals(law, cdf, scale, grid, value):
    """Vectors of 5e5 and 2e4 single draws of one value."""
    many = law(np.full(N, value), scale, grid=grid)
    ones = np.array([law(value, scale, grid=grid) for _ in range(20_000)])

    for out in (many, ones):
        verdict = fit.rounded(out / grid, value / grid, float(scale) / grid, cdf)
        assert not verdict.alarm


def test_faults_in_the_scale_are_seen():
    """A scale off by one per cent, at 2e6 draws; by two per cent, at 5e5."""
    for draws, factor in ((4 * N, F(101, 100)), (4 * N, F(99, 100)), (N, F(51, 50))):
        wrong = discrete_laplace(10 * factor, draws)
        assert fit.laplace(wrong, 10).alarm
        wrong = discrete_gaussian((10 * factor) ** 2, draws)
        assert fit.gaussian(wrong, 10).alarm


def test_moved_zeros_are_seen():
    """Two per cent of the zeros moved to one."""
    drawn = discrete_laplace(2, 4 * N)
    zeros = np.flatnonzero(drawn == 0)
    drawn[zeros[::50]] = 1

    assert fit.laplace(drawn, 2).alarm


def test_rounded_instead_of_discrete_is_seen():
    """Rounded continuous Laplace noise is not discrete Laplace noise."""
    drawn = rounded_laplace(np.zeros(4 * N), 3, grid=1).astype(np.int64)

    assert fit.laplace(drawn, 3).alarm


def test_a_wrong_sign_and_dependent_signs_are_seen():
    """Missing -0 rejection doubles zero; a sign that alternates is not independent."""
    rng = np.random.default_rng(0)
    size = rng.geometric(-np.expm1(-1 / 10), N) - 1
    double_zero = np.where(rng.random(N) < 0.5, -size, size)
    alternating = np.abs(discrete_laplace(10, N)) * np.where(np.arange(N) % 2, 1, -1)

    assert fit.laplace(double_zero, 10).alarm
    assert fit.laplace(alternating, 10).alarm


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("path", [discrete_laplace, lazy_laplace])
def test_discrete_laplace_long(path, scale):
    """Table and lazy path, 2e7 draws."""
    assert not fit.laplace(path(scale, 40 * N), float(scale)).alarm


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [F(1, 2), F(10), F(300)], ids=str)
@pytest.mark.parametrize("path", [discrete_gaussian, lazy_gaussian])
def test_discrete_gaussian_long(path, sigma):
    """Table and lazy path, 2e7 draws."""
    assert not fit.gaussian(path(sigma**2, 40 * N), float(sigma)).alarm


def test_false_alarms_are_rare():
    """The corrected p-values of true samples are not small: 40 verdicts at 1e-3."""
    ps = [fit.laplace(table.draw(20_000, table.Law.laplace(F(7)), default()), 7).p
          for _ in range(40)]  # fmt: skip

    assert sum(p < 1e-3 for p in ps) <= 5
