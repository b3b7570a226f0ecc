"""Quantiles of joint noise are the least numbers that have their probability."""

from math import ceil

import numpy as np
import pytest

from sfumato.account import KNorm
from sfumato.post.dots import LEVELS
from sfumato.post.noise import _coordinate_errors, _far, _least, _masses, _sides

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


def test_where_running_sums_cannot_tell_the_whole_sum_does():
    """A probability that is wrong by less than the margin decides nothing."""
    truth = {0: 0.25, 1: 0.5, 2: 0.75, 3: 1.0}
    for off in (-1e-10, 0.0, 1e-10):
        assert _least(lambda t, off=off: truth[t] + off, truth.get, 3, 0.5) == 1
