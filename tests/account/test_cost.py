"""Costs cover the true Rényi divergences; scales follow from charges; none rounds down."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log, tanh

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import (
    GDP,
    PICO,
    ZCDP,
    Epsilon,
    Gaussian,
    Geometric,
    KNorm,
    Laplace,
    Selection,
    charge,
    cost,
    make_gaussian,
    make_geometric,
    make_laplace,
)
from sfumato.errors import ArgumentError, DeclarationError

EPSILONS = st.integers(1, 2 * 10**13).map(Epsilon.from_units)
RHOS = st.integers(1, 10**13).map(ZCDP.from_units)
STEPS = st.integers(1, 10_000)
ORDERS = [1 + 2.0**k for k in range(-20, 9)]


def renyi(p, q, order):
    """Return D_α(p‖q)/α of two finite laws, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        a = Decimal(order)
        total = sum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True) if x)
        return float(total.ln() / (a - 1) / a)


def geometric_laws(epsilon, steps):
    """Return the laws of clamp(noise, 0, m) and clamp(noise + m, 0, m): all that tells."""
    with localcontext() as context:
        context.prec = 60
        q = (-Decimal(epsilon) / steps).exp()
        inner = [(1 - q) / (1 + q) * q**i for i in range(1, steps)]
        p = [1 / (1 + q), *inner, q**steps / (1 + q)]
    return p, p[::-1]


def check_geometric_costs():
    """The charge is at least every D_α/α and is reached as α falls to 1."""
    for epsilon in ("0.1", "0.5", "1", "3", "10"):
        for steps in (1, 2, 5, 40):
            p, q = geometric_laws(epsilon, steps)
            rho = float(charge(Geometric(steps, epsilon), "zcdp"))
            ratios = [renyi(p, q, order) for order in ORDERS]

            assert max(ratios) <= rho * (1 + 1e-12), (epsilon, steps)
            assert rho <= ratios[0] * (1 + 1e-4), (epsilon, steps)


def test_geometric_costs_cover_every_order():
    """Harrison and Manurangsi's sum, in closed form, against the laws themselves."""
    check_geometric_costs()


def test_planted_geometric_as_laplace_is_caught(monkeypatch):
    """Fault: a geometric count charged as Laplace, a fifth too little."""
    monkeypatch.setattr(cost, "geometric_rho", lambda e, _: cost.laplace_rho(e))

    with pytest.raises(AssertionError):
        check_geometric_costs()


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_laplace_costs_cover_every_order(epsilon):
    """ε + e^(-ε) - 1 against the Rényi divergence in closed form (Mironov 2017)."""
    e = float(epsilon)
    rho = float(charge(Laplace(1, epsilon), "zcdp"))

    with localcontext() as context:
        context.prec = 60
        x = Decimal(epsilon)
        for a in map(Decimal, ORDERS):
            up, down = ((a - 1) * x).exp(), (-a * x).exp()
            inside = (a * up + (a - 1) * down) / (2 * a - 1)
            assert float(inside.ln() / (a - 1) / a) <= rho * (1 + 1e-6)
    assert rho == pytest.approx(e + exp(-e) - 1)


def test_the_folded_sum_is_the_published_one():
    """ε - (1 - e^(-ε))·a/sinh a equals the sum over i of Harrison and Manurangsi."""
    for m in (1, 2, 7, 30):
        for a in (0.01, 0.3, 2.0):
            q = exp(-a)
            inner = sum((m - 2 * i) * q**i for i in range(1, m))
            published = a / (1 + q) * (m * (1 - q**m) + (1 - q) * inner)

            ours = cost.geometric_rho(Epsilon(Fraction(a) * m), m) / PICO

            assert ours == pytest.approx(published, rel=1e-9, abs=3e-12)


@given(st.integers(10**6, 10**13), STEPS)
def test_costs_are_ordered(units, steps):
    """Laplace ≤ geometric ≤ worst pure ≤ ε²/2 and ε; equality at sensitivity 1."""
    e = Epsilon.from_units(units)

    laplace, geometric, pure = (
        cost.laplace_rho(e), cost.geometric_rho(e, steps), cost.pure_rho(e)
    )  # fmt: skip

    assert laplace <= geometric <= pure <= min(units, units**2 // (2 * PICO) + 1)
    assert cost.geometric_rho(e, 1) == pure


@given(EPSILONS)
def test_costs_are_never_rounded_down(e):
    """Against 120 digits: the true cost is above charge - 1 and not above the charge."""
    with localcontext() as context:
        context.prec = 120
        x = Decimal(e.units) / PICO
        fall = (-x).exp()
        exact = {
            cost.laplace_rho(e): x + fall - 1,
            cost.pure_rho(e): x * (1 - fall) / (1 + fall),
        }
        for units, true in exact.items():
            assert units - 1 <= true * PICO <= units
    exponential = charge(Selection(1, e, law="exponential"), "zcdp").units
    assert exponential - 1 < Fraction(e.units**2, 8 * PICO) <= exponential


@given(EPSILONS, EPSILONS, STEPS)
def test_costs_are_monotone(a, b, steps):
    """More ε never costs less ρ, and a wider sensitivity at the same ε never more."""
    low, high = sorted((a, b))

    for price in (cost.laplace_rho, cost.pure_rho):
        assert price(low) <= price(high)
    assert cost.geometric_rho(low, steps) <= cost.geometric_rho(high, steps)
    assert cost.geometric_rho(low, steps + 1) <= cost.geometric_rho(low, steps)


@settings(deadline=None)
@given(RHOS, STEPS)
def test_the_scale_follows_from_the_charge(rho, steps):
    """cost(scale(charge)) ≤ charge, exactly; one unit of ε more would exceed it."""
    for noise in (make_laplace(steps, rho), make_geometric(steps, rho)):
        assert charge(noise, "zcdp").fits(rho)
        more = type(noise)(steps, Epsilon.from_units(noise.cost.units + 1))
        assert not charge(more, "zcdp").fits(rho)
        assert noise.scale == steps / noise.cost.value
    for law in ("real", "whole", "discrete"):
        gaussian = make_gaussian(steps, rho, law=law)
        assert gaussian.cost == rho
        assert Fraction(steps**2) / (2 * gaussian.variance) == rho.value
        assert Fraction(steps**2) / (2 * gaussian.scale**2) <= rho.value
        assert gaussian.scale**2 <= gaussian.variance * (1 + Fraction(1, 2**58))


def test_pure_losses_are_their_own_cost():
    """In a pure budget the charge is ε, whatever the law."""
    for noise in (Laplace(2, "0.3"), Geometric(2, "0.3"), Selection(2, "0.3"),
                  KNorm((1, 2), "0.3"), Epsilon("0.3")):  # fmt: skip
        assert charge(noise, "epsilon") == Epsilon("0.3")
    assert make_laplace(2, Epsilon("0.3")) == Laplace(2, "0.3")
    assert charge(KNorm((1, 2), "0.3"), "zcdp") == charge(Epsilon("0.3"), "zcdp")


def test_permute_and_flip_is_not_bounded_range():
    """Two candidates: its loss ranges over more than ε, and its KL exceeds ε²/8."""
    for e in (0.1, 0.5, 1.0, 3.0):
        even, tilted = (0.5, 0.5), (exp(-e) / 2, 1 - exp(-e) / 2)
        losses = [log(p / q) for p, q in zip(even, tilted, strict=True)]
        divergence = sum(p * loss for p, loss in zip(even, losses, strict=True))

        assert max(losses) == pytest.approx(e)
        assert max(losses) - min(losses) > e
        assert divergence > e * e / 8
        assert float(charge(Selection(1, e), "zcdp")) == pytest.approx(e * tanh(e / 2))
        assert float(charge(Selection(1, e), "zcdp")) >= divergence


def test_the_exponential_mechanism_costs_an_eighth():
    """ε²/8 covers the worst two-point law of range ε (Cesar, Rogers 2021)."""
    rho = float(charge(Selection(1, 1, law="exponential"), "zcdp"))
    worst = 0.0
    for t in (i / 20 for i in range(1, 20)):  # losses t and t - 1
        p = (exp(1 - t) - 1) / (exp(1 - t) - exp(-t))
        law = [Decimal(p), 1 - Decimal(p)]
        other = [Decimal(p * exp(-t)), 1 - Decimal(p * exp(-t))]
        worst = max(worst, *(renyi(law, other, order) for order in ORDERS))

    assert rho == 0.125
    assert 0.12 < worst <= rho


def test_the_discrete_gaussian_is_not_gdp():
    """At ε = 0 its advantage is above that of the continuous curve: hence no GDP."""
    from statistics import NormalDist

    for sigma in (1, 2, 5):
        noise = Gaussian(1, Fraction(1, 2 * sigma**2), law="discrete")
        advantage = noise._masses()[0]  # total variation of a shift by one

        assert advantage > 2 * NormalDist().cdf(1 / (2 * sigma)) - 1


@pytest.mark.parametrize("law", ["whole", "discrete"])
@pytest.mark.parametrize("variance", ["0.1", "0.5", "1", "7.3", "400"])
def test_integer_gaussians_agree_with_their_laws(law, variance):
    """Mean absolute error and quantiles equal sums over the masses."""
    noise = Gaussian(1, 1 / (2 * Fraction(variance)), law=law)
    masses = noise._masses()
    whole = masses[0] + 2 * sum(masses[1:])

    assert whole == pytest.approx(1)
    assert noise.mean_absolute_error == pytest.approx(
        2 * sum(k * p for k, p in enumerate(masses))
    )
    for confidence in (0.5, 0.9, 0.95, 0.99):
        t = int(noise.error(confidence))
        assert masses[0] + 2 * sum(masses[1 : t + 1]) >= confidence - 1e-9
        assert t == 0 or masses[0] + 2 * sum(masses[1:t]) < confidence


def test_wide_gaussians_are_not_summed():
    """A variance of 1e20 takes no time; integers and reals then agree."""
    real, whole = (Gaussian(10**9, "0.005", law=law) for law in ("real", "discrete"))

    assert real.error(0.95) == pytest.approx(1.96e10, rel=1e-3)
    assert whole.error(0.95) == pytest.approx(real.error(0.95))
    assert whole.mean_absolute_error == pytest.approx(7.979e9, rel=1e-3)


def test_squared_sensitivities_and_wrong_laws():
    """√50 need not be written; unknown laws and a zero sensitivity are refused."""
    assert Gaussian(50, "0.1", squared=True).variance == 250
    assert Gaussian(GDP("0.1").value, GDP("0.1")).rho == GDP("0.1")
    with pytest.raises(ArgumentError, match="unknown law"):
        Gaussian(1, 1, law="cauchy")
    with pytest.raises(ArgumentError, match="unknown law"):
        Selection(1, 1, law="cauchy")
    with pytest.raises(ArgumentError, match="without noise"):
        Gaussian(0, 1)
    with pytest.raises(ArgumentError, match="does not follow the Gaussian curve"):
        Gaussian.calibrated(1, 1, "1e-6", law="discrete")
    with pytest.raises(DeclarationError, match="no pure epsilon"):
        make_gaussian(1, Epsilon(1))
    with pytest.raises(DeclarationError, match="Gaussian noise only"):
        make_laplace(1, GDP("0.1"))
