"""Certified violations of differential privacy from samples of a black box.

An event is chosen on one half of the draws and its probabilities are bounded on the
other half by Clopper-Pearson, so that a claim "epsilon is at least e" about a mechanism
that is private is wrong with probability at most 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy.stats import beta

ERROR = 1e-9

Event = Callable[[np.ndarray], np.ndarray]


def lower(hits: int, trials: int, error: float) -> float:
    """Lower confidence bound of a probability."""
    return 0.0 if hits == 0 else float(beta.ppf(error, hits, trials - hits + 1))


def upper(hits: int, trials: int, error: float) -> float:
    """Upper confidence bound of a probability."""
    return (
        1.0 if hits == trials else float(beta.ppf(1 - error, hits + 1, trials - hits))
    )


def epsilon_at_least(one: np.ndarray, other: np.ndarray, delta: float = 0.0) -> float:
    """Lower bound of epsilon from an event fixed beforehand; booleans of both sides."""
    a = lower(int(one.sum()), len(one), ERROR / 2)
    b = upper(int(other.sum()), len(other), ERROR / 2)
    return math.log(max(a - delta, 1e-300) / b)


def attack(
    one: np.ndarray, other: np.ndarray, events: Iterable[Event], delta: float = 0.0
) -> float:
    """Choose the best event, in either direction, on one half; certify on the other."""
    half = len(one) // 2
    best, chosen = -math.inf, None
    for event in events:
        for a, b in ((one, other), (other, one)):
            hits = int(event(a[:half]).sum())
            if hits < 30:
                continue
            misses = int(event(b[:half]).sum())
            score = math.log(hits - 3 * math.sqrt(hits)) - math.log(
                misses + 3 * math.sqrt(misses) + 5
            )
            if score > best:
                best, chosen = score, (event, a, b)
    if chosen is None:
        return -math.inf
    event, a, b = chosen
    return epsilon_at_least(event(a[half:]), event(b[half:]), delta)
