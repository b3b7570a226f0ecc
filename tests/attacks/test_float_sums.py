"""Casacuberta, Shoemate, Vadhan and Wagaman (2022): a float sum has no sensitivity 1.

Replacing one record in [2**45, 2**45 + 1] changes the true sum by at most 1 and the
computed float sum by up to 8, so that noise for sensitivity 1 hides too little.
"""

import numpy as np
from certify import attack

from sfumato.noise import discrete_laplace

LOW, HIGH, ROWS, DRAWS = 2.0**45, 2.0**45 + 1, 1024, 20_000


def neighbours():
    """Return the two data sets, one record apart, whose float sums differ most."""
    rng, best, found = np.random.default_rng(0), 0.0, None
    for _ in range(400):
        data = LOW + rng.integers(0, 2, ROWS).astype(float)
        other = data.copy()
        i = int(rng.integers(ROWS))
        other[i] = LOW + HIGH - data[i]
        gap = abs(float(np.sum(data)) - float(np.sum(other)))
        if gap > best:
            best, found = gap, (data, other)
    return best, *found


def thresholds(a, b):
    for cut in np.unique(np.concatenate([a[:2000], b[:2000]])):
        yield lambda y, c=cut: y <= c
        yield lambda y, c=cut: y > c


def float_sum(data):
    """Sum in doubles, noise for sensitivity 1 and epsilon 1."""
    return np.sum(data) + discrete_laplace(1, DRAWS).astype(float) - ROWS * LOW


def integer_sum(data):
    """Round each record to the public grid of step 1, sum integers, add noise."""
    steps = np.floor(np.clip(data, LOW, HIGH) - LOW + 0.5).astype(np.int64)
    return (steps.sum() + discrete_laplace(1, DRAWS)).astype(float)


def test_the_attack_breaks_float_sums_and_not_integer_sums():
    """Certified epsilon above 2 for a claimed 1; nothing against integers."""
    gap, data, other = neighbours()
    assert gap > 1

    broken = float_sum(data), float_sum(other)
    sound = integer_sum(data), integer_sum(other)

    assert attack(*broken, thresholds(*broken)) > 2
    assert attack(*sound, thresholds(*sound)) <= 1
