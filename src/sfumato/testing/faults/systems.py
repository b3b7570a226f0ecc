"""Faults of systems around mechanisms: budgets, repetition, released tables, time."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import sleep
from typing import Any

import numpy as np

from sfumato.audit.attacks.asking import averaging, budget_race, differencing
from sfumato.audit.attacks.membership import membership
from sfumato.audit.attacks.reconstruction import reconstruct
from sfumato.audit.attacks.timing import timing
from sfumato.noise import default, discrete_laplace
from sfumato.testing.faults.fault import Caught, Fault

__all__ = ["faults"]

_AUC, _RIGHT, _FOLLOWS = 0.9, 0.95, 0.5
_BUYS = 5


def faults() -> list[Fault]:
    """Return the faults, each with its hunt."""
    return [
        Fault("a debit that is checked, then written", "Two threads pass one check.",
              "attacks.budget_race", lambda: _raced(_CheckThenWrite())),
        Fault("a refund after an answer", "An odd answer gives its budget back.",
              "attacks.budget_race", lambda: _raced(_Refund())),
        Fault("two answers for one debit", "A retry draws fresh noise and pays nothing.",
              "attacks.budget_race", lambda: _raced(_FreeRetry())),
        Fault("repetition is free", "The same question is answered fifty times.",
              "attacks.averaging", _repeated),
        Fault("a shared seed", "Two releases with the same noise are subtracted.",
              "attacks.differencing", _shared_seed),
        Fault("a table released as it is", "The synthetic rows are the private ones.",
              "attacks.membership", _copied),
        Fault("exact sums over subsets", "Statistics without noise: rows are found again.",
              "attacks.reconstruct", _exact_sums),
        Fault("rounded sums over subsets", "Rounding to threes is no noise.",
              "attacks.reconstruct", lambda: _exact_sums(3)),
        Fault("time that follows the noise", "A sampler loops as long as its noise is large.",
              "attacks.timing", _slow),
    ]  # fmt: skip


class _CheckThenWrite:
    """Looks at the budget, dawdles, and then takes from it."""

    def __init__(self) -> None:
        self.left = _BUYS

    def __call__(self) -> None:
        if self.left <= 0:
            raise ValueError
        sleep(0.002)
        self.left -= 1


class _Refund:
    """Takes its turn properly, and gives back after every negative draw."""

    def __init__(self) -> None:
        self.left, self.lock = _BUYS, Lock()

    def __call__(self) -> int:
        with self.lock:
            if self.left <= 0:
                raise ValueError
            self.left -= 1
            drawn = discrete_laplace(10)
            self.left += drawn < 0
            return drawn


class _FreeRetry:
    """Every second call counts as a retry of the one before."""

    def __init__(self) -> None:
        self.left, self.calls, self.lock = _BUYS, 0, Lock()

    def __call__(self) -> None:
        with self.lock:
            self.calls += 1
            if self.calls % 2 and self.left <= 0:
                raise ValueError
            self.left -= self.calls % 2


def _raced(ask: Callable[[], object]) -> Caught:
    given = budget_race(ask, threads=8, each=4)
    return Caught(given > _BUYS, "32 questions of 8 threads")


def _repeated() -> Caught:
    found = averaging(
        lambda x: float(x + discrete_laplace(2)), 10, 11, claimed=1, times=50, draws=1000
    )  # fmt: skip
    return Caught(found.violated, f"{found.draws} sessions a side, 50 questions each")


def _shared_seed() -> Caught:
    state = {"noise": 0}

    def whole(rows: Any) -> float:
        state["noise"] = discrete_laplace(2)
        return float(len(rows) + state["noise"])

    def part(rows: Any) -> float:
        return float(sum(row != 7 for row in rows) + state["noise"])

    found = differencing(whole, part, [1, 7], [1], claimed=1)
    return Caught(found.violated, f"{found.draws} pairs of answers a side")


def _numbers(rows: int) -> Any:
    words = default().words(rows * 4) >> np.uint64(11)
    return (words * 2.0**-53).reshape(rows, 4)


def _copied() -> Caught:
    members, others = _numbers(200), _numbers(200)
    found = membership(members, members, others)
    return Caught(found.auc > _AUC, f"{found.members} members, AUC {found.auc:.2f}")


def _exact_sums(grain: int = 1) -> Caught:
    people = 48
    bits = (default().words(people * (4 * people + 1)) >> np.uint64(63)).astype(
        np.int64
    )
    secret, subsets = bits[:people], bits[people:].reshape(4 * people, people)
    sums = np.round(subsets @ secret / grain) * grain
    right = reconstruct(subsets, sums, truth=secret).right or 0.0
    return Caught(right > _RIGHT, f"{4 * people} sums, {right:.0%} of rows right")


def _slow() -> Caught:
    def loop() -> float:
        drawn = abs(discrete_laplace(2000))
        for _ in range(drawn):
            pass
        return float(drawn)

    found = timing(loop, draws=2000)
    return Caught(
        found.correlation > _FOLLOWS,
        f"2000 answers, correlation {found.correlation:.2f}",
    )
