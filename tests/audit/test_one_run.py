"""One run with many canaries: the exact law of guesses, and what it certifies."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.audit import one_run
from sfumato.audit.one_run import chance_of_guesses

CANARIES = 400


def counts(epsilon):
    """A histogram with one bin per canary: each is worth ε."""

    def mechanism(inside):
        table = np.zeros(CANARIES, np.int64)
        table[inside] = 1
        return sf.geometric(table, 1, epsilon)

    return mechanism


def score(released, canary):
    return float(released[canary])


def test_pure_guesses_are_binomial() -> None:
    """Without δ the bound is a tail of the binomial law."""
    q = exp(1) / (1 + exp(1))

    found = chance_of_guesses(80, 100, 400, epsilon=1.0, delta=0.0)

    assert found == pytest.approx(binom.sf(79, 100, q))


def test_delta_makes_many_right_guesses_likelier() -> None:
    """The chance grows with δ and stays a probability."""
    chances = [
        chance_of_guesses(95, 100, 400, epsilon=1.0, delta=d) for d in (0, 1e-6, 1e-3, 1)
    ]  # fmt: skip

    assert chances == sorted(chances) and chances[-1] == 1
    assert chances[1] > chances[0]


def test_a_broken_mechanism_is_certified_in_one_run() -> None:
    """Noise for ε = 6 under a claim of 1."""
    found = one_run(counts(6), score, CANARIES, claimed=1)

    assert found.violated, found


def test_a_sound_mechanism_is_not_accused() -> None:
    """At a risk of 1e-9, and the bound is not trivial for a large ε."""
    found = one_run(counts(3), score, CANARIES, claimed=3, confidence=1 - 1e-9)

    assert not found.violated
    assert found.lower > 0.5


def test_too_few_canaries_are_refused() -> None:
    """A handful proves nothing."""
    with pytest.raises(sf.ArgumentError, match="10 canaries"):
        one_run(counts(1), score, 5, claimed=1)
