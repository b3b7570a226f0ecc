"""Audit a costly mechanism by one run on a table with many canaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.black_box import Finding
from sfumato.errors import ArgumentError
from sfumato.noise import default
from sfumato.release.libraries import need
from sfumato.words import N_

__all__ = ["chance_of_guesses", "most_certified", "one_run"]

_CEILING = 50.0


def chance_of_guesses(
    right: int, guesses: int, canaries: int, *, epsilon: float, delta: float
) -> float:
    """Return the most likely that so many right guesses are under (ε, δ)-DP.

    Theorem 5.2 of Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training
    run" (NeurIPS 2023): each of `canaries` rows is in the table by a fair coin of its
    own, the auditor guesses `guesses` of the coins; with ``q = 1/(1 + exp(-ε))`` the
    number of right guesses exceeds that of `guesses` q-coins only by what δ allows.
    """
    binom: Any = need("scipy.stats").binom
    q = 1 / (1 + np.exp(-epsilon))
    plain = float(binom.sf(right - 1, guesses, q))
    if not delta:
        return plain
    below = np.cumsum(binom.pmf(right - np.arange(1, right + 1), guesses, q))
    loose = float(np.max(below / np.arange(1, right + 1), initial=0.0))
    return min(1.0, plain + 2 * canaries * delta * loose)


def one_run(  # noqa: PLR0913  a claim, a mechanism, and how to guess
    mechanism: Callable[[list[int]], Any],
    score: Callable[[Any, int], float],
    canaries: int,
    *,
    claimed: float,
    delta: float = 0.0,
    guesses: Sequence[int] = (),
    confidence: float = 0.999,
) -> Finding:
    """Return a lower bound on ε from a single run of a mechanism.

    Args:
        mechanism: Gets the numbers of the canaries to include, each chosen by a fair
            coin, adds those rows to its table, and returns whatever it releases.
        score: Tells of a released result and a canary how much it looks included.
        canaries: How many there are; each must be one unit of its own.
        claimed: The ε that is claimed.
        delta: The δ that is claimed.
        guesses: How many of the canaries with the highest and lowest scores are
            guessed, several numbers to try; the risk is shared among them.
        confidence: 1 less the probability that a sound mechanism is accused.

    Raises:
        ArgumentError: Fewer than 10 canaries, or more guesses than canaries.
        MissingExtraError: scipy is not installed.
    """
    tries = tuple(guesses) or tuple(
        dict.fromkeys(max(2, canaries // part) for part in (20, 5, 2, 1))
    )
    if canaries < 10 or not all(0 < g <= canaries for g in tries):  # noqa: PLR2004
        raise ArgumentError(
            N_("one run needs at least 10 canaries, and no more guesses than canaries"),
            hint=N_(
                "take 100 to 1000 canaries; each is a row that few others resemble"
            ),
        )
    inside = _coins(canaries)
    result = mechanism(np.flatnonzero(inside).tolist())
    scores = np.array([score(result, i) for i in range(canaries)])
    risk = (1 - confidence) / len(tries)
    best, name = 0.0, "no guess"
    for count in tries:
        right = _right(scores, inside, count)
        found = _least(right, count, canaries, delta, risk)
        if found >= best:
            best, name = found, f"{right} of {count} guesses right, {canaries} canaries"
    return Finding(best, claimed, delta, name, 1, confidence)


def most_certified(
    guesses: int, canaries: int, *, delta: float = 0.0, risk: float = 1e-3
) -> float:
    """Return the ε that one run certifies when every guess is right: all it can show.

    Examples:
        >>> round(most_certified(500, 1000, risk=1e-9), 2)
        3.16
    """
    return _least(guesses, guesses, canaries, delta, risk)


def _coins(count: int) -> NDArray[np.bool_]:
    return (default().words(count) >> np.uint64(63)).astype(bool)


def _right(scores: NDArray[np.float64], inside: NDArray[np.bool_], count: int) -> int:
    """Guess the highest scores to be in and the lowest to be out; count right ones."""
    order = np.argsort(scores, kind="stable")
    low, high = count // 2, count - count // 2
    guessed_in = order[len(order) - high :]
    guessed_out = order[:low]
    return int(inside[guessed_in].sum() + (~inside[guessed_out]).sum())


def _least(right: int, count: int, canaries: int, delta: float, risk: float) -> float:
    """Return the largest ε at which so many right guesses are less likely than `risk`."""
    low, high = 0.0, _CEILING
    if chance_of_guesses(right, count, canaries, epsilon=0.0, delta=delta) > risk:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        chance = chance_of_guesses(right, count, canaries, epsilon=middle, delta=delta)
        low, high = (middle, high) if chance <= risk else (low, middle)
    return low
