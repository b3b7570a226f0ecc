"""Exact goodness of fit: right samplers pass, small faults are found."""

from __future__ import annotations

from math import exp, floor

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit import distribution
from sfumato.noise import discrete_laplace, rounded_laplace


def laplace_below(x):
    return 0.5 * exp(x) if x < 0 else 1 - 0.5 * exp(-x)


def discrete_below(scale):
    ratio = exp(-1 / scale)

    def below(x):
        k = floor(x) if x == floor(x) else floor(x) + 1
        return (
            1 - ratio**k / (1 + ratio) if k > 0 else exp((k - 1) / scale) / (1 + ratio)
        )

    return below


def test_right_samplers_pass() -> None:
    """Ours, at a risk of 1e-9 each."""
    real = distribution(lambda n: rounded_laplace(np.zeros(n), 1), laplace_below)
    whole = distribution(lambda n: discrete_laplace(10, n), discrete_below(10))

    assert not real.alarm and not whole.alarm
    assert real.tests > 100


@pytest.mark.parametrize(
    "sampler",
    [
        lambda n: 1.04 * np.random.default_rng(1).laplace(0, 1, n),
        lambda n: np.random.default_rng(1).laplace(0.02, 1, n),
        lambda n: np.random.default_rng(1).normal(0, 1.4, n),
        lambda n: np.round(np.random.default_rng(1).laplace(0, 1, n), 1),
        lambda n: np.sort(np.random.default_rng(1).laplace(0, 1, n)),
    ],
)
def test_faults_are_found(sampler) -> None:
    """A scale off by 4 %, a shift, another law, a coarse grid, dependent draws."""
    assert distribution(sampler, laplace_below).alarm


def test_the_rate_of_false_alarms_is_kept() -> None:
    """At a risk of 5 %, 400 right samples give few alarms: above 50 has 1e-9."""
    alarms = sum(
        distribution(
            lambda n, r=np.random.default_rng(i): r.laplace(0, 1, n),
            laplace_below,
            draws=2000,
            risk=0.05,
        ).alarm
        for i in range(400)
    )

    assert alarms <= 50


def test_odd_samplers_are_refused() -> None:
    """Another shape, or a number that is not finite."""
    with pytest.raises(sf.ArgumentError, match="sampler"):
        distribution(lambda n: np.zeros(n + 1), laplace_below)
    with pytest.raises(sf.ArgumentError, match="sampler"):
        distribution(lambda n: np.full(n, np.nan), laplace_below)
