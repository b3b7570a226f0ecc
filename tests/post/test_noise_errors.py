"""Quantiles of joint noise are the least numbers that have their probability."""

from math import ceil

import numpy as np
import pytest

from sfumato.account import KNorm
from sfumato.post.dots import LEVELS
from sfumato.post.noise import _WHOLE, _coordinate_errors, _far, _least, _masses, _sides

CONFIDENCES = (*LEVELS, 0.95, 0.999999, 0.5)


@pytest.mark.parametrize("epsilon", ["0.1", "0.7", "3"])
@pytest.mark.parametrize("bounds", [(1, 250), (1, 1, 1), (1, 250, 1, 600, 1)])
def test_a_quantile_is_the_least_number_that_reaches_it(bounds, epsilon):
    """By the definition: the mass of each level times the share of its box within t."""
    mechanism = KNorm(bounds, epsilon, rows=1)
    count = ceil(_far(len(bounds)) * float(mechanism.scale))
    levels = np.arange(count, dtype=np.float64)
    masses = _masses(mechanism, count)

    for index, bound in enumerate(bounds):
        sides = _sides(levels, bound, mechanism.resolution)
        for confidence, found in zip(
            CONFIDENCES, _coordinate_errors(mechanism, index, CONFIDENCES), strict=True
        ):
            at, below = (
                float((masses * np.clip((2 * t + 1) / sides, 0, 1)).sum())
                for t in (found, found - 1)
            )
            assert below < confidence <= at
            assert _coordinate_errors(mechanism, index, (confidence,)) == (found,)


@pytest.mark.parametrize("largest", [3.0, _WHOLE])
@pytest.mark.parametrize("off", [-1e-10, 0.0, 1e-10])
def test_where_running_sums_cannot_tell_the_whole_sum_does(largest, off):
    """A probability that is wrong by less than the margin decides nothing."""

    def truth(numbers):
        return np.minimum((np.asarray(numbers) + 1) / 8, 1.0)

    confidences = np.array([0.1, 0.5, 0.50001, 1.0])

    found = _least(lambda n: truth(n) + off, truth, largest, confidences)

    assert found == (0, 1, 2, 3)


def test_numbers_beyond_those_of_floats():
    """Above 2^53 the search ends too, and is exact to what a sum can tell."""
    top = 2.0**60

    (found,) = _least(np.array, lambda n: n / top, top, np.array([0.5]))

    assert found == pytest.approx(2.0**58, rel=1e-12)
