"""Scale, cost, variance and quantiles come from one object and agree with the law."""

from fractions import Fraction
from math import exp, fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.account import Epsilon, Geometric, Laplace, odds
from sfumato.errors import ArgumentError

SENSITIVITIES = st.integers(1, 40)
COSTS = st.sampled_from(["0.1", "0.5", "1", "3"])


def masses(noise):
    """Return the law of a geometric mechanism, cut where it is below 1e-17."""
    a = exp(-float(1 / noise.scale))
    reach = int(45 * float(noise.scale)) + 60
    return {k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-reach, reach + 1)}


@given(SENSITIVITIES, COSTS)
def test_the_scale_follows_from_the_charge(sensitivity, cost):
    """Noise and ledger cannot disagree: scale times charge is the sensitivity."""
    noise = Geometric(sensitivity, cost)

    assert noise.scale * noise.cost.value == sensitivity
    assert Laplace(sensitivity, cost).scale == noise.scale


@given(SENSITIVITIES, COSTS)
def test_the_ratio_of_masses_is_exactly_the_claim(sensitivity, cost):
    """A shift by the sensitivity changes each mass by the factor e^ε, not more."""
    noise, law = Geometric(sensitivity, cost), None
    law = masses(noise)

    worst = max(
        law[k] / law[k + sensitivity] for k in range(-5, 6) if k + sensitivity in law
    )

    assert worst <= exp(float(noise.cost)) * (1 + 1e-12)
    assert law[0] / law[sensitivity] == pytest.approx(exp(float(noise.cost)))


@given(SENSITIVITIES, COSTS)
def test_moments_agree_with_the_law(sensitivity, cost):
    """Variance and mean absolute error equal sums over the law."""
    noise = Geometric(sensitivity, cost)
    law = masses(noise)

    assert noise.variance == pytest.approx(fsum(p * k * k for k, p in law.items()))
    assert noise.mean_absolute_error == pytest.approx(
        fsum(p * abs(k) for k, p in law.items())
    )


@given(SENSITIVITIES, COSTS, st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]))
def test_the_error_bound_is_the_smallest_that_holds(sensitivity, cost, confidence):
    """P(|noise| <= t) >= confidence, and not for t - 1."""
    noise = Geometric(sensitivity, cost)
    law = masses(noise)
    t = noise.error(confidence)

    inside = fsum(p for k, p in law.items() if abs(k) <= t)
    assert inside >= confidence - 1e-12
    if t:
        assert fsum(p for k, p in law.items() if abs(k) < t) < confidence


def test_laplace_quantile():
    """P(|noise| > t) = exp(-t/b)."""
    noise = Laplace("2.5", "0.5")

    assert exp(-noise.error(0.95) / 5) == pytest.approx(0.05)
    assert noise.variance == Fraction(50)


@pytest.mark.parametrize(
    ("epsilon", "expected"), [("0.1", 9.98), ("1", 0.85), ("30", 0.0)]
)
def test_bc049_the_plan_can_show_the_error_per_bin(epsilon, expected):
    """Mean absolute error of a count at ε 0.1, 1 and 30."""
    error = Geometric(1, epsilon).mean_absolute_error

    assert error == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("kind", [Laplace, Geometric])
@pytest.mark.parametrize(
    "sensitivity", [-1, float("nan"), float("inf"), "x", None, True, 1j, [1], "-0.5"]
)
def test_unusable_sensitivities_are_refused(kind, sensitivity):
    """The message says what to give instead."""
    with pytest.raises(ArgumentError) as caught:
        kind(sensitivity, "1")

    assert "sensitivity" in caught.value.fact
    assert "upper - lower" in caught.value.hint


def test_a_sensitivity_of_zero_must_be_meant():
    """Zero would switch the noise off; the hint names the explicit way."""
    with pytest.raises(ArgumentError, match="without noise") as caught:
        Laplace(0, 1)

    assert "public_constant=True" in caught.value.hint


def test_integers_need_an_integer_sensitivity():
    """A fractional sensitivity of an integer query is a mistake."""
    with pytest.raises(ArgumentError, match="must be an integer"):
        Geometric("1.5", 1)


def test_odds_reproduce_published_worst_cases():
    """Beliefs and attack power at ε = 0.6 and 1, against hand-computed values."""
    six, one = odds("0.6"), odds(1)

    assert [round(after, 3) for _, after in six.certainty] == [0.018, 0.168, 0.646]
    assert [round(after, 3) for _, after in one.certainty] == [0.027, 0.232, 0.731]
    assert (round(six.power, 3), round(one.power, 3)) == (0.091, 0.136)
    assert round(one.advantage, 3) == 0.462


def test_bc065_smaller_epsilon_means_more_noise():
    """The direction that tutorials reverse."""
    assert Geometric(1, "0.1").scale > Geometric(1, "1").scale
    assert odds("0.1").factor < odds("1").factor


def test_odds_survive_absurd_budgets():
    """A huge ε explains itself as no protection instead of overflowing."""
    huge = odds("1e6")

    assert huge.factor == odds("1e399").factor == float("inf")
    assert huge.of_100_with == 100
    assert huge.certainty[0][1] == pytest.approx(1)


@given(COSTS)
def test_mechanisms_are_values(cost):
    """Equal arguments give equal, hashable mechanisms."""
    assert Geometric(3, cost) == Geometric("3", Epsilon(cost))
    assert len({Laplace(3, cost), Laplace(3, cost)}) == 1
