"""The black box accuses what is broken and, at a risk of 1e-9, nothing that is sound."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit import epsilon_lower_bound
from sfumato.audit.certify import epsilon_bound, lower, upper

DRAWS = 6000


def rows(value):
    """Two neighbouring tables: with and without the row."""
    return [value, *range(5)], list(range(5))


def half_noise(data):
    return sf.geometric(len(data), 1, 2)


def sound_count(data):
    return sf.geometric(len(data), 1, 1)


def rare_key_kept(data):
    """A key is shown as soon as one row has it."""
    return {key: sf.geometric(1, 1, 1) for key in data}


def nan_breaks(data):
    """Refuses a table with a certain value: the error is an answer."""
    if 77 in data:
        msg = "cannot compute"
        raise ValueError(msg)
    return sf.geometric(len(data), 1, 1)


def length_tells(data):
    return [sf.geometric(0, 1, 1) for _ in data]


def shared_noise(data):
    """Three answers with the same noise: their differences are exact."""
    drawn = sf.geometric(0, 1, 1)
    return [len(data) + drawn, 2 * len(data) + drawn, drawn]


def many_numbers_with_small_noise(data):
    """Each of 8 numbers has noise for ε = 1 of its own, and all move together."""
    return [sf.laplace(float(len(data)), 1, 1) for _ in range(8)]


@pytest.mark.parametrize(
    "broken",
    [
        half_noise,
        rare_key_kept,
        nan_breaks,
        length_tells,
        shared_noise,
        many_numbers_with_small_noise,
    ],
)
def test_planted_faults_are_certified(broken) -> None:
    """Each classical fault is proved, not suspected."""
    found = epsilon_lower_bound(broken, *rows(77), claimed=1, draws=DRAWS)

    assert found.violated, found


@pytest.mark.parametrize(
    "sound",
    [
        sound_count,
        lambda data: sf.laplace(float(len(data)), 1, 1),
        lambda data: [sf.geometric(len(data), 1, "0.5"), sf.geometric(0, 1, "0.5")],
        lambda data: {"n": sf.geometric(len(data), 1, 1)},
        lambda _: None,
    ],
)
def test_sound_mechanisms_are_not_accused(sound) -> None:
    """A claim that holds is refuted with probability at most 1e-9."""
    found = epsilon_lower_bound(sound, *rows(77), claimed=1, draws=DRAWS)

    assert not found.violated
    assert 0 <= found.lower <= 1


def test_the_bound_comes_near_the_truth() -> None:
    """Randomised response has one event, and it shows most of its ε."""
    keep = exp(2) / (1 + exp(2))

    def response(bit):
        return bit if np.random.default_rng().random() < keep else 1 - bit

    found = epsilon_lower_bound(response, 0, 1, claimed=2, draws=20_000)

    assert 1.6 < found.lower <= 2


def test_delta_is_granted() -> None:
    """What happens with probability δ alone refutes only a smaller δ."""

    def leaks(bit):
        return bit if np.random.default_rng().random() < 0.05 else 0

    loose = epsilon_lower_bound(leaks, 0, 1, claimed=0.1, delta=0.05, draws=DRAWS)
    tight = epsilon_lower_bound(leaks, 0, 1, claimed=0.1, delta=0.0, draws=DRAWS)

    assert not loose.violated
    assert tight.violated


def test_clopper_pearson_is_exact() -> None:
    """The bounds invert the binomial law: checked by its sums."""
    from scipy.stats import binom

    for hits, trials in ((0, 50), (3, 50), (50, 50), (400, 1000)):
        low, high = lower(hits, trials, 1e-3), upper(hits, trials, 1e-3)
        if hits:
            assert binom.sf(hits - 1, trials, low) == pytest.approx(1e-3, rel=1e-6)
        if hits < trials:
            assert binom.cdf(hits, trials, high) == pytest.approx(1e-3, rel=1e-6)
    assert epsilon_bound(0, 0, 100, delta=0, risk=0.01) == -np.inf
    assert epsilon_bound(900, 100, 1000, delta=0, risk=0.01) < log(9)


@pytest.mark.parametrize(
    "wrong",
    [{"claimed": -1}, {"claimed": float("nan")}, {"delta": 1}, {"draws": 10}, {"confidence": 1}],
)  # fmt: skip
def test_bad_claims_are_refused(wrong) -> None:
    """Nothing is drawn for a claim that says nothing."""

    def never(_):
        raise AssertionError

    with pytest.raises(sf.ArgumentError):
        epsilon_lower_bound(never, 0, 1, **{"claimed": 1, **wrong})
