"""Joint noise has exactly the law exp(-κ(z)/scale), on every marginal looked at."""

from fractions import Fraction
from itertools import product
from math import exp, prod

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.account import KNorm
from sfumato.errors import ArgumentError
from sfumato.noise.joint import box_level, box_noise

CASES = [
    ((1, 2), Fraction(3), 2),
    ((1, 3, 2), Fraction(4, 5), 1),
    ((2, 5), Fraction(7, 2), 8),
]


def points(bounds, resolution, level):
    """Return the number of vectors with κ <= level."""
    return prod(2 * (level * b // resolution) + 1 for b in bounds)


def level_law(bounds, scale, resolution):
    """Return P(κ = k) for all k that matter."""
    counts = [points(bounds, resolution, k) for k in range(int(90 * scale))]
    masses = [
        (n - (counts[k - 1] if k else 0)) * exp(-k / scale)
        for k, n in enumerate(counts)
    ]
    return np.array(masses) / sum(masses)


def law(bounds, scale, resolution, reach):
    """Return P(z) for the vectors with κ <= reach."""
    levels = level_law(bounds, scale, resolution)
    boxes = [
        range(-(reach * b // resolution), reach * b // resolution + 1) for b in bounds
    ]
    found = {}
    for z in product(*boxes):
        k = box_level(z, bounds, resolution)
        inside = points(bounds, resolution, k) - (
            points(bounds, resolution, k - 1) if k else 0
        )
        found[z] = levels[k] / inside
    return found


def worst(counts, probabilities, n):
    """Return the smallest two-sided exact binomial p-value, times the number of tests."""
    p = [
        min(1, 2 * min(binom.cdf(k, n, q), binom.sf(k - 1, n, q)))
        for k, q in zip(counts, probabilities)
    ]
    return min(p) * len(p)


@pytest.mark.parametrize(("bounds", "scale", "resolution"), CASES)
def test_every_vector_has_its_probability(bounds, scale, resolution):
    """Exact binomial tests of the likely vectors, of κ and of signs; false alarm 1e-9."""
    n = 20_000
    expected = law(bounds, scale, resolution, 5 * resolution)
    drawn = [box_noise(bounds, scale, resolution) for _ in range(n)]

    likely = [z for z, q in expected.items() if q * n > 30]
    seen = dict.fromkeys(likely, 0)
    for z in drawn:
        if z in seen:
            seen[z] += 1
    levels = [box_level(z, bounds, resolution) for z in drawn]
    cuts = sorted({int(np.quantile(levels, q)) for q in (0.1, 0.5, 0.9, 0.99)})
    tails = [level_law(bounds, scale, resolution)[c:].sum() for c in cuts]

    assert worst([seen[z] for z in likely], [expected[z] for z in likely], n) > 1e-9
    assert worst([sum(v >= c for v in levels) for c in cuts], tails, n) > 1e-9


def test_the_test_can_fail():
    """A scale off by a fifth is caught by the same test."""
    bounds, scale, resolution = CASES[0]
    expected = law(bounds, scale, resolution, 5)
    drawn = [
        box_noise(bounds, scale * Fraction(6, 5), resolution) for _ in range(20_000)
    ]
    zero = sum(z == (0, 0) for z in drawn)

    assert worst([zero], [expected[0, 0]], 20_000) < 1e-9


@pytest.mark.parametrize("rows", [1, 2])
def test_neighbours_differ_by_the_claimed_factor_at_most(rows):
    """Masses of shifted laws: the worst ratio over all allowed changes is e^ε."""
    noise = KNorm((1, 3), "0.7", rows=rows)
    vectors = list(product(range(-40, 41, 7), range(-90, 91, 11)))

    def log_mass(z):
        return -box_level(z, noise.bounds, noise.resolution) / noise.scale

    changes = [
        c for c in product(range(-rows, rows + 1), range(-3 * rows, 3 * rows + 1))
    ]
    loss = max(
        log_mass(z) - log_mass((z[0] + a, z[1] + b))
        for z in vectors
        for a, b in changes
    )

    assert loss <= Fraction(7, 10)
    assert loss == Fraction(7, 10)


def test_the_coordinate_law_agrees_with_draws():
    """Mean absolute error, standard deviation and quantile of a coordinate, within 7 sd."""
    noise, n = KNorm((1, 1000, 50), "0.5"), 4000
    drawn = np.array(
        [box_noise(noise.bounds, noise.scale, noise.resolution) for _ in range(n)]
    )
    for i in (1, 2):
        c, x = noise.coordinate(i), np.abs(drawn[:, i].astype(float))
        assert (
            abs(x.mean() - c.mean_absolute_error)
            < 7 * x.std() / n**0.5 + 0.02 * x.mean()
        )
        assert np.sqrt((x**2).mean()) == pytest.approx(c.variance**0.5, rel=0.1)
        assert (
            abs((x <= c.error(0.95)).mean() - 0.95)
            < 7 * (0.05 * 0.95 / n) ** 0.5 + 0.005
        )


def test_huge_and_tiny_scales():
    """Any ε works: integers have no limit; too little noise is refused, not endless."""
    tiny = KNorm((1, 2**40), "1e-9")
    assert max(map(abs, box_noise(tiny.bounds, tiny.scale, tiny.resolution))) > 2**40
    with pytest.raises(ArgumentError, match="too small"):
        box_noise((1, 1), Fraction(1, 100), 64)
    for bad in ([], [0, 1]):
        with pytest.raises(ArgumentError):
            box_noise(bad, 1, 64)
