"""Exact binomial bounds: what draws prove about probabilities, and at which risk."""

from __future__ import annotations

from math import inf, log
from typing import Any

from sfumato.release.libraries import need

__all__ = ["epsilon_bound", "lower", "upper"]


def lower(hits: int, trials: int, risk: float) -> float:
    """Return p with ``P(truth < p) <= risk`` (Clopper and Pearson, 1934).

    Examples:
        >>> round(lower(50, 100, 0.025), 3)
        0.398
    """
    beta: Any = need("scipy.stats").beta
    return 0.0 if hits == 0 else float(beta.ppf(risk, hits, trials - hits + 1))


def upper(hits: int, trials: int, risk: float) -> float:
    """Return p with ``P(truth > p) <= risk`` (Clopper and Pearson, 1934)."""
    beta: Any = need("scipy.stats").beta
    if hits == trials:
        return 1.0
    return float(beta.ppf(1 - risk, hits + 1, trials - hits))


def epsilon_bound(
    hits: int, misses: int, trials: int, *, delta: float, risk: float
) -> float:
    """Return an ε that the truth is at least, up to `risk`, from one fixed event.

    Under (ε, δ)-DP ``P(event | data) <= exp(ε)·P(event | neighbour) + δ``. The event
    must not have been chosen by looking at these draws.

    Args:
        hits: Draws of the mechanism on the data that lie in the event.
        misses: Draws on the neighbour that lie in it.
        trials: Draws on each side.
        delta: The δ that is claimed.
        risk: Probability that the bound is above the truth, at most.
    """
    least, most = lower(hits, trials, risk / 2) - delta, upper(misses, trials, risk / 2)
    if least <= 0:
        return -inf
    return log(least / most)
