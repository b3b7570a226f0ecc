"""Attacks that ask often: averages, differences, and races for the budget."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from typing import Any

from sfumato.audit.black_box import Finding, epsilon_lower_bound

__all__ = ["averaging", "budget_race", "differencing"]


def averaging(
    mechanism: Callable[[Any], float],
    data: object,
    neighbour: object,
    *,
    claimed: float,
    times: int = 50,
    draws: int = 2000,
) -> Finding:
    """Ask the same question many times and average the answers.

    A system that charges nothing for repetition, or lets a budget be overrun, loses
    more than its cap. One that refuses, or that replays its first answer, does not.

    Args:
        mechanism: One session: each call gets the data and answers once, or raises.
            It is made anew for every draw by the caller's own state, if it has any.
        data: The data.
        neighbour: Neighbouring data.
        claimed: The *whole* budget that the session may spend.
        times: How often the question is asked in one session.
        draws: Sessions on each side.
    """

    def mean(held: object) -> tuple[float, int]:
        answers = []
        for _ in range(times):
            try:
                answers.append(float(mechanism(held)))
            except Exception:  # noqa: BLE001  a refusal is an answer of its own
                break
        return (sum(answers) / len(answers) if answers else 0.0), len(answers)

    return epsilon_lower_bound(mean, data, neighbour, claimed=claimed, draws=draws)


def differencing(
    whole: Callable[[Any], float],
    part: Callable[[Any], float],
    data: object,
    neighbour: object,
    *,
    claimed: float,
    draws: int = 4000,
) -> Finding:
    """Ask for everyone and for everyone but one, and subtract.

    Args:
        whole: Answers about all.
        part: Answers about all but the target.
        data: The data with the target.
        neighbour: The data without.
        claimed: The ε that both answers together may cost.
        draws: Pairs of answers on each side.
    """
    return epsilon_lower_bound(
        lambda held: whole(held) - part(held),
        data,
        neighbour,
        claimed=claimed,
        draws=draws,
    )


def budget_race(ask: Callable[[], object], *, threads: int = 16, each: int = 8) -> int:
    """Return how many answers were given to many threads that ask at the same moment.

    Args:
        ask: Answers once, or raises when the budget is spent.
        threads: How many ask together.
        each: How often each of them asks.
    """
    start = Barrier(threads)

    def run(_: int) -> int:
        start.wait()
        given = 0
        for _ in range(each):
            with suppress(Exception):  # the budget is spent
                ask()
                given += 1
        return given

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(run, range(threads)))
