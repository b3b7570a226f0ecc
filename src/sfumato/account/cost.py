r"""What a mechanism costs in the currency of a budget, rounded up.

zCDP costs (proofs and sources: ``docs/proofs/zcdp-costs.md``):

=====================================  ==========================================
Gaussian, L2 sensitivity Δ             Δ²/2σ²
Laplace, ε = Δ/b                       ε + e^(-ε) - 1
geometric, a = 1/scale, ε = a·Δ        ε - (1 - e^(-ε))·a/sinh(a)
exponential mechanism                  ε²/8
any other ε-DP mechanism (K-norm, …)   ε·tanh(ε/2)
threshold of unknown keys              that of its noise (ε·tanh(ε/2), or ρ), and its δ
=====================================  ==========================================

For Δ = 1 the geometric cost *is* the worst case of pure ε: charging it as Laplace
would forget up to a fifth of it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TypeAlias, assert_never

from sfumato.account.budget import Loss, Measure
from sfumato.account.convert import largest
from sfumato.account.gaussian import Gaussian, Law
from sfumato.account.joint import KNorm
from sfumato.account.loss import PICO, Epsilon
from sfumato.account.mechanism import Geometric, Laplace
from sfumato.account.precise import DIGITS, decimal, digits
from sfumato.account.rho import GDP, ZCDP
from sfumato.account.selection import Selection
from sfumato.account.threshold import Threshold
from sfumato.amount import Amount
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = [
    "Charged",
    "charge",
    "geometric_rho",
    "laplace_rho",
    "make_gaussian",
    "make_geometric",
    "make_laplace",
    "make_selection",
    "pure_rho",
]

Charged: TypeAlias = (
    Laplace | Geometric | KNorm | Gaussian | Selection | Threshold | Epsilon
)
_SLACK = Fraction(1, 10**20)  # of one unit: computed values err by 1e-38 units at most


def charge(mechanism: Charged, measure: Measure) -> Loss:
    """Return the cost of a mechanism in a currency; a bare `Epsilon` is any ε-DP one.

    Raises:
        DeclarationError: The mechanism has no cost in this currency.

    Examples:
        >>> charge(Laplace(1, "1"), "zcdp"), charge(Geometric(1, "1"), "zcdp")
        (ZCDP("0.367879441172"), ZCDP("0.462117157261"))
        >>> charge(Gaussian(1, "0.1"), "epsilon")
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] Gaussian noise has no pure epsilon
          hint: give the budget a delta, or use Laplace or geometric noise
    """
    match measure:
        case "epsilon":
            if isinstance(mechanism, Gaussian):
                raise DeclarationError(
                    N_("Gaussian noise has no pure epsilon"),
                    hint=N_(
                        "give the budget a delta, or use Laplace or geometric noise"
                    ),
                )
            cost = mechanism if isinstance(mechanism, Epsilon) else mechanism.cost
            if isinstance(cost, Epsilon):
                return cost
            raise DeclarationError(
                N_("a Gaussian threshold has no epsilon"),
                hint=N_("leave its law out: the budget decides it"),
            )
        case "zcdp":
            cost = mechanism if isinstance(mechanism, Epsilon) else mechanism.cost
            return ZCDP.from_units(_rho(mechanism), cost.delta_units)
        case "gdp":
            if isinstance(mechanism, Gaussian) and mechanism.law != "discrete":
                return mechanism.rho
            raise DeclarationError(
                N_("a Gaussian budget takes continuous Gaussian noise only"),
                hint=N_("leave gaussian_only out of the budget for other noise"),
            )
        case _:
            assert_never(measure)


def _rho(mechanism: Charged) -> int:
    match mechanism:
        case Gaussian():
            return mechanism.rho.units
        case Laplace():
            return laplace_rho(mechanism.cost)
        case Geometric():
            return geometric_rho(mechanism.cost, mechanism.sensitivity)
        case Selection():
            if mechanism.law == "exponential":
                return -(-(mechanism.cost.units**2) // (8 * PICO))
            return pure_rho(mechanism.cost)
        case KNorm() | Epsilon() | Threshold():
            loss = mechanism if isinstance(mechanism, Epsilon) else mechanism.cost
            return loss.units if isinstance(loss, ZCDP) else pure_rho(loss)
        case _:
            assert_never(mechanism)


@lru_cache(maxsize=1024)
def laplace_rho(epsilon: Epsilon) -> int:
    """Return ε + e^(-ε) - 1 in units of 1e-12 (Harrison, Manurangsi 2026), rounded up.

    For a vector too: the cost is convex in ε and 0 at 0, so that a change that is
    spread over coordinates costs at most what it costs in one.
    """
    with digits(DIGITS + _places(epsilon)):
        e = decimal(epsilon.value)
        return _up(e + (-e).exp() - 1)


@lru_cache(maxsize=1024)
def pure_rho(epsilon: Epsilon) -> int:
    """Return ε·tanh(ε/2) in units of 1e-12, rounded up: the worst ε-DP mechanism."""
    with digits(DIGITS + _places(epsilon)):
        e = decimal(epsilon.value)
        fall = (-e).exp()
        return _up(e * (1 - fall) / (1 + fall))


@lru_cache(maxsize=1024)
def geometric_rho(epsilon: Epsilon, sensitivity: int) -> int:
    """Return ε - (1 - e^(-ε))·a/sinh(a), a = ε/sensitivity, in 1e-12, rounded up.

    The closed form of the sum of Harrison and Manurangsi (2026); the limits are
    ε·tanh(ε/2) at sensitivity 1 and the Laplace cost at infinity.
    """
    with digits(DIGITS + _places(epsilon) + 2 * len(str(sensitivity))):
        e = decimal(epsilon.value)
        a = e / sensitivity
        fall = (-a).exp()
        ratio = 2 * a * fall / (1 - fall * fall)
        return _up(e - (1 - (-e).exp()) * ratio)


def make_laplace(sensitivity: Amount, loss: Loss) -> Laplace:
    """Return the least Laplace noise whose cost is at most `loss`.

    Examples:
        >>> noise = make_laplace(1, ZCDP("0.367879441172"))
        >>> noise.cost, charge(noise, "zcdp").fits(ZCDP("0.367879441172"))
        (Epsilon("1"), True)
    """
    return Laplace(sensitivity, _epsilon(loss, laplace_rho))


def make_geometric(sensitivity: Amount, loss: Loss) -> Geometric:
    """Return the least geometric noise whose cost is at most `loss`."""
    steps = Geometric(sensitivity, "1").sensitivity
    return Geometric(steps, _epsilon(loss, lambda e: geometric_rho(e, steps)))


def make_selection(
    sensitivity: Amount, loss: Loss, *, monotone: bool = False
) -> Selection:
    """Return the sharpest choice whose cost is at most `loss`.

    Permute-and-flip for a pure ε. For a ρ the exponential mechanism, whose ρ is ε²/8:
    permute-and-flip has no bounded range and would cost near ε²/2.

    Raises:
        DeclarationError: The budget takes Gaussian noise only.

    Examples:
        >>> make_selection(1, ZCDP("0.02")).cost, make_selection(1, Epsilon("0.4")).law
        (Epsilon("0.4"), 'permute_and_flip')
    """
    if isinstance(loss, Epsilon):
        return Selection(sensitivity, loss, monotone=monotone)
    if isinstance(loss, GDP):
        charge(Epsilon.from_units(1), "gdp")
    epsilon = Epsilon.from_units(isqrt(8 * PICO * loss.units))
    return Selection(sensitivity, epsilon, law="exponential", monotone=monotone)


def make_gaussian(
    sensitivity: Amount, loss: Loss, *, law: Law = "real", squared: bool = False
) -> Gaussian:
    """Return the least Gaussian noise whose cost is at most `loss`.

    Raises:
        DeclarationError: The loss is a pure ε, which no Gaussian noise has.
    """
    if isinstance(loss, Epsilon):
        charge(Gaussian(1, 1), "epsilon")
    noise = Gaussian(sensitivity, GDP.from_units(loss.units), law=law, squared=squared)
    charge(noise, loss.measure)
    return noise


def _epsilon(loss: Loss, cost: Callable[[Epsilon], int]) -> Epsilon:
    """Return the largest ε whose cost is at most `loss`."""
    match loss:
        case Epsilon():
            return loss
        case ZCDP():
            guess = round((float(2 * loss.value) ** 0.5 + float(loss.value)) * PICO)
            units = largest(
                lambda n: cost(Epsilon.from_units(n)) <= loss.units, guess=guess
            )
            return Epsilon.from_units(units)
        case GDP():
            charge(Epsilon.from_units(1), "gdp")
            raise AssertionError
        case _:
            assert_never(loss)


def _places(epsilon: Epsilon) -> int:
    """Return digits enough for a sum that cancels, whatever the size of ε."""
    return 30 + len(str(epsilon.units))


def _up(rho: Decimal) -> int:
    units = Fraction(rho) * PICO + _SLACK
    return -(-units.numerator // units.denominator)
