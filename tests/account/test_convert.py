"""Conversions: published values, rounding outward, planted faults."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import erfc, exp, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import (
    PICO,
    ZCDP,
    Epsilon,
    Gaussian,
    Laplace,
    charge,
    convert,
    gaussian_batch,
    precise,
)
from sfumato.account.profile import Profile

PUBLISHED = [
    # kind, input, expected, tolerance, source
    ("gaussian_delta", {"sigma": 5, "eps": 1.0}, 1.75463e-08, 1.76e-12,
     "OpenMined/PipelineDP tests/dp_computations_test.py"),
    ("analytic_gaussian_sigma", {"eps": 1, "delta": "1e-5", "l2": 5},
     18.65315817407968, 1.87e-8, "OpenMined/PipelineDP tests/dp_computations_test.py"),
    ("zcdp_to_approx_upper", {"rho": 1, "delta": 0.36787944117144233},
     1.483006657279485, 0.001, "tumult-core test/unit/measurements/test_converters.py"),
    ("zcdp_to_approx_upper", {"rho": 1, "delta": 3.720075976020836e-44},
     20.663452034915814, 0.001, "tumult-core test/unit/measurements/test_converters.py"),
    ("gaussian_exact", {"rho": 1, "delta": 0.36787944117144233},
     0.6363252560793994, 1e-9, "computed for the same case"),
    ("gaussian_exact", {"rho": 1, "delta": 3.720075976020836e-44},
     20.398760628465343, 1e-9, "computed for the same case"),
    ("pure_to_zcdp", {"eps": 1}, 0.5, 0, "tumult-core test_converters.py"),
    ("pure_to_zcdp", {"eps": 3}, 4.5, 0, "tumult-core test_converters.py"),
    ("pld_epsilon_upper", {"laplace_std": [(49.872, 10)], "delta": "1e-3"},
     0.168, 0, "OpenMined/PipelineDP tests/budget_accounting_test.py"),
    ("pld_epsilon_upper",
     {"laplace_std": [(10, 4)], "gauss_std": [(5, 4)], "delta": "1e-5"},
     1.873, 0, "OpenMined/PipelineDP tests/budget_accounting_test.py"),
    ("smallest_laplace_scale", {"sens": "21", "eps": 3, "delta": 0, "queries": 10},
     70, 0.1, "google dp_accounting/pld/accountant_test.py"),
    ("smallest_laplace_scale",
     {"sens": "0.5", "eps": 1, "delta": "1e-4", "queries": 20},
     6.8, 0.1, "google dp_accounting/pld/accountant_test.py"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given_", "expected", "tol", "source"), PUBLISHED)
def test_published_values(kind, given_, expected, tol, source):
    """Values that other projects test against, with their tolerance."""
    assert source
    match kind:
        case "gaussian_delta":
            rho = Fraction(1, 2 * given_["sigma"] ** 2)
            found = float(convert.gaussian_delta(rho, Fraction(given_["eps"])).high)
            assert abs(found - expected) <= tol
        case "analytic_gaussian_sigma":
            found = Gaussian.calibrated(given_["l2"], given_["eps"], given_["delta"])
            assert expected - 1e-12 <= float(found.scale) <= expected + tol
        case "zcdp_to_approx_upper" | "gaussian_exact":
            to = convert.zcdp_epsilon if kind[0] == "z" else convert.gaussian_epsilon
            found = to(Fraction(given_["rho"]), Fraction(given_["delta"])) / PICO
            assert abs(found - expected) <= tol
        case "pure_to_zcdp":
            found = float(charge(Epsilon(given_["eps"]), "zcdp"))
            assert 0.3 * expected < found <= expected
        case "pld_epsilon_upper":
            assert (
                0.98 * expected
                < profile_of(given_).epsilon(given_["delta"])
                <= expected
            )
        case "smallest_laplace_scale":
            assert (
                needs(given_, expected + tol)
                <= given_["eps"]
                < needs(given_, expected - tol)
            )


def profile_of(given_):
    """Return a profile from standard deviations at sensitivity 1."""
    entries = [
        {
            "kind": "laplace",
            "sensitivity": 1,
            "scale": str(Fraction(s / sqrt(2))),
            "count": n,
        }
        for s, n in given_.get("laplace_std", ())
    ]
    entries += [
        {"kind": "gaussian", "squared_sensitivity": 1, "variance": s * s, "count": n}
        for s, n in given_.get("gauss_std", ())
    ]
    return Profile(entries)


def needs(given_, scale):
    """Return ε of several Laplace answers of that scale."""
    entry = {"kind": "laplace", "sensitivity": given_["sens"], "scale": str(scale),
             "count": given_["queries"]}  # fmt: skip
    return Profile([entry]).epsilon(given_["delta"])


@pytest.mark.parametrize(
    ("rho", "zcdp", "gaussian"),
    [("0.01", 0.621693, 0.575055), ("0.05", 1.471595, 1.367571), ("0.1", 2.141939, 1.994527),
     ("0.5", 5.221534, 4.886554), ("1", 7.766217, 7.286081), ("2", 11.688596, 10.997151)],
)  # fmt: skip
def test_rho_at_a_millionth(rho, zcdp, gaussian):
    """ρ → ε at δ = 1e-6 by the best zCDP conversion and by the exact Gaussian curve."""
    number, delta = Fraction(rho), Fraction(1, 10**6)

    assert convert.zcdp_epsilon(number, delta) / PICO == pytest.approx(zcdp, abs=1e-6)
    assert convert.gaussian_epsilon(number, delta) / PICO == pytest.approx(
        gaussian, abs=1e-6
    )


@pytest.mark.parametrize(
    ("epsilon", "rho"),
    [("0.5", 0.006642), ("1", 0.024356), ("2", 0.088153), ("4", 0.311065)],
)
def test_caps_at_a_millionth(epsilon, rho):
    """(ε, 1e-6) → ρ, the inverse."""
    found = convert.zcdp_rho(Fraction(epsilon), Fraction(1, 10**6)) / PICO

    assert found == pytest.approx(rho, abs=1e-6)


CASES = [
    (Fraction(i * i, 977), Fraction(1, 10 ** (1 + i % 12)) * (1 + i % 3) / 4)
    for i in range(1, 25)
]


def check_conversions_round_outward():
    """What is told is enough, what is granted is not too much: against 100 digits.

    At the optimal order, found again by bisecting the derivative in 100 digits.
    """
    for number, delta in CASES:
        told = Fraction(convert.zcdp_epsilon(number, delta), PICO)
        granted = Fraction(convert.zcdp_rho(number, delta), PICO)

        assert told >= best_epsilon(number, delta), (number, delta)
        assert granted <= best_rho(number, delta), (number, delta)
        assert convert.zcdp_delta(number, told) <= delta * (1 + Fraction(1, 10**9))


def least(bound):
    """Minimise a function of ln(α - 1) by golden section in 100 digits."""
    low, high = Decimal(-40), Decimal(45)
    golden = (Decimal(5).sqrt() - 1) / 2
    for _ in range(150):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if bound(left) < bound(right) else (left, high)
    return bound(low)


def best_epsilon(rho, delta):
    """Return the infimum over orders of ε, in 100 digits."""
    with localcontext() as context:
        context.prec = 100
        r, d = (Decimal(x.numerator) / x.denominator for x in (rho, delta))

        def bound(x):
            a = 1 + x.exp()
            return a * r - (a * d).ln() / (a - 1) + (1 - 1 / a).ln()

        return Fraction(max(Decimal(0), least(bound)))


def best_rho(epsilon, delta):
    """Return the supremum over orders of ρ, in 100 digits."""
    with localcontext() as context:
        context.prec = 100
        e, d = (Decimal(x.numerator) / x.denominator for x in (epsilon, delta))

        def bound(x):
            a = 1 + x.exp()
            return -(e + (a * d).ln() / (a - 1) - (1 - 1 / a).ln()) / a

        return Fraction(-least(bound))


def test_conversions_round_outward():
    """ε is rounded up, ρ is rounded down."""
    check_conversions_round_outward()


@pytest.mark.parametrize("name", ["_ceil", "_floor"])
def test_planted_rounding_to_nearest_is_caught(monkeypatch, name):
    """Fault: a conversion rounded to nearest."""
    monkeypatch.setattr(convert, name, round)

    with pytest.raises(AssertionError):
        check_conversions_round_outward()


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4 * 10**12), st.integers(1, 14))
def test_the_gaussian_search_is_tight(units, decimals):
    """The ε told suffices, and one unit less does not; likewise the ρ granted."""
    rho, delta = Fraction(units, PICO), Fraction(3, 10 ** (decimals + 1))
    told = convert.gaussian_epsilon(rho, delta)

    assert convert.gaussian_delta(rho, Fraction(told, PICO)).high <= delta
    if told:
        assert convert.gaussian_delta(rho, Fraction(told - 1, PICO)).low > delta
        assert convert.gaussian_rho(Fraction(told, PICO), delta) >= units


@given(st.fractions(-9, 9, max_denominator=10**6))
def test_normal_tails_are_enclosed(x):
    """50 digits around the tail; a float agrees with them."""
    low, high = precise.normal_tail(x)

    assert 0 < low < high
    assert (high - low) * 10**48 < low + Fraction(1, 10**48)
    assert float(low) == pytest.approx(erfc(float(x) / sqrt(2)) / 2, rel=1e-12)


def test_extreme_arguments_end():
    """No search runs away: tiny and huge ε and δ."""
    assert convert.gaussian_rho(Fraction(1), Fraction(1, 10**300)) == 367900007
    assert convert.gaussian_rho(Fraction(1, 10**12), Fraction(1, 10**18)) == 0
    assert convert.zcdp_rho(Fraction(1, 10**12), Fraction(1, 10**18)) == 0
    assert convert.zcdp_epsilon(Fraction(10**9), Fraction(1, 10**18)) >= 10**21
    assert convert.gaussian_rho(Fraction(10**6), Fraction(1, 10**18)) < 10**18
    assert convert.zcdp_delta(Fraction(100), Fraction(0)) <= 1
    assert precise.normal_tail(Fraction(100)).high < Fraction(1, 10**700)


@settings(deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=12), st.integers(3, 8))
def test_a_batch_is_exactly_the_promise(sensitivities, decimals):
    """Its μ² add up to the largest that (ε, δ) allows, and to no more."""
    delta = Fraction(1, 10**decimals) / 20
    batch = gaussian_batch(sensitivities, "1", delta)

    total = sum(g.rho.units for g in batch)
    assert total == convert.gaussian_rho(Fraction(1), delta)
    real = sum(g.squared_sensitivity / (2 * g.scale**2) for g in batch)
    assert convert.gaussian_delta(real, Fraction(1)).high <= delta


def test_a_batch_needs_less_noise_than_the_loose_conversion():
    """The exact curve against ρ by the conversion: 7 to 36 % less variance."""
    exact = gaussian_batch([1, 1], "0.6", "1e-5")[0].variance
    loose = Gaussian(
        1, ZCDP.from_units(convert.zcdp_rho(Fraction(3, 5), Fraction(1, 10**5)) // 2)
    )

    assert 1.07 < loose.variance / exact < 1.4


def test_zero_epsilon_is_the_advantage():
    """At ε = 0 the Gaussian δ is 2Φ(μ/2) - 1; Laplace's loss of 1 e^(-1/2)."""
    low, high = convert.gaussian_delta(Fraction(1, 2), Fraction(0))

    assert float(low) == pytest.approx(1 - erfc(0.5 / sqrt(2)))
    assert float(high) == pytest.approx(float(low))
    told = Profile([{"kind": "laplace", "sensitivity": 1, "scale": 1}]).delta(0)
    assert told == pytest.approx(1 - exp(-0.5), rel=1e-4)
    assert Laplace(1, 1).cost == Epsilon(1)
