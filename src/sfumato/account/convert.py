r"""From one measure to another, always outward: never less loss than was spent.

A conversion that *reports* (ρ → ε) rounds up; one that *grants* (a cap (ε, δ) → ρ)
rounds down. Each evaluates a bound that holds at every order α at one rational order,
which a float search chose: a poor choice costs tightness, never the guarantee.
Proofs: ``docs/proofs/conversions.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import erfc, exp, expm1, inf, log, log1p, sqrt

from sfumato.account.loss import PICO
from sfumato.account.precise import (
    DIGITS,
    Bounds,
    decimal,
    digits,
    enclose,
    normal_tail,
    root_up,
)

__all__ = [
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_rho",
    "largest",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]

_GOLDEN = (sqrt(5) - 1) / 2
_HUGE = 5_000  # e^ε has thousands of digits; the crude bound is taken
_SLACK = Fraction(1, 10**30)  # of one unit; computed values are good to 1e-38 of one


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> int:
    r"""Return units of 1e-12 of an ε such that every ρ-zCDP mechanism is (ε, δ)-DP.

    .. math:: \varepsilon = \inf_{\alpha > 1} \alpha\rho
       + \frac{\ln(1/(\alpha\delta))}{\alpha - 1} + \ln(1 - 1/\alpha)

    (Canonne, Kamath, Steinke 2020, Cor. 13: the best that follows from zCDP at each
    order), rounded up.

    Examples:
        >>> zcdp_epsilon(Fraction(1, 2), Fraction(1, 10**6)) / PICO
        5.221534444531
    """

    def bound(log_excess: float) -> float:
        a = 1 + exp(log_excess)
        lost = (log(a) + _log(delta)) / (a - 1)
        return a * float(rho) - lost + log1p(-1 / a)

    order = _order(bound)
    with digits(DIGITS):
        a = decimal(order)
        terms = (
            a * decimal(rho),
            -(a * decimal(delta)).ln() / (a - 1),
            (1 - 1 / a).ln(),
        )
        size = sum(map(abs, terms), Decimal(0))
        high = enclose(sum(terms, Decimal(0)), scale=size).high
    return max(0, _ceil(high * PICO))


def zcdp_rho(epsilon: Fraction, delta: Fraction) -> int:
    r"""Return units of 1e-12 of a ρ such that every ρ-zCDP mechanism is (ε, δ)-DP.

    The inverse of `zcdp_epsilon`: at each order α the bound is linear in ρ, so that
    :math:`\rho = \sup_\alpha (\varepsilon + \ln(\alpha\delta)/(\alpha-1)
    - \ln(1 - 1/\alpha))/\alpha`; rounded down. 0 when no ρ of 1e-12 or more will do.

    Examples:
        >>> zcdp_rho(Fraction(1), Fraction(1, 10**6)) / PICO
        0.024355970359
    """

    def bound(log_excess: float) -> float:
        a = 1 + exp(log_excess)
        gain = (log(a) + _log(delta)) / (a - 1)
        return -(float(epsilon) + gain - log1p(-1 / a)) / a

    order = _order(bound)
    with digits(DIGITS):
        a = decimal(order)
        terms = (
            decimal(epsilon) / a,
            (a * decimal(delta)).ln() / (a - 1) / a,
            -(1 - 1 / a).ln() / a,
        )
        size = sum(map(abs, terms), Decimal(0))
        low = enclose(sum(terms, Decimal(0)), scale=size).low
    return max(0, _floor(low * PICO))


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    r"""Return a δ such that every ρ-zCDP mechanism is (ε, δ)-DP.

    :math:`\delta = \inf_\alpha e^{(\alpha-1)(\alpha\rho-\varepsilon)}
    (1-1/\alpha)^\alpha/(\alpha-1)` (Canonne, Kamath, Steinke 2020, Prop. 12),
    rounded up, at most 1.
    """

    def bound(log_excess: float) -> float:
        a = 1 + exp(log_excess)
        rise = (a - 1) * (a * float(rho) - float(epsilon))
        return rise + a * log1p(-1 / a) - log_excess

    order = _order(bound)
    with digits(DIGITS + 20):
        a = decimal(order)
        power = (a - 1) * (a * decimal(rho) - decimal(epsilon)) + a * (1 - 1 / a).ln()
        if power > 0:
            return Fraction(1)
        high = enclose(power.exp() / (a - 1)).high
    return min(Fraction(1), high)


def gaussian_delta(rho: Fraction, epsilon: Fraction) -> Bounds:
    r"""Enclose the smallest δ of Gaussian noise with μ²/2 = ρ at `epsilon`.

    :math:`\delta = \Phi(\mu/2 - \varepsilon/\mu) - e^\varepsilon
    \Phi(-\mu/2 - \varepsilon/\mu)`, exact for any number of Gaussian answers whose μ²
    add up to 2ρ (Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2.13 and 3.3).

    Examples:
        >>> low, high = gaussian_delta(Fraction(1, 2), Fraction(1))
        >>> round(float(low), 12), float(high - low) < 1e-40
        (0.126936737507, True)
    """
    high_mu = root_up(2 * rho, bits=220)
    low_mu = high_mu * (1 - Fraction(1, 2**210))
    return Bounds(
        max(Fraction(0), _two_tails(low_mu, epsilon).low),
        min(Fraction(1), _two_tails(high_mu, epsilon).high),
    )


def _two_tails(mu: Fraction, epsilon: Fraction) -> Bounds:
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first, second = normal_tail(near), normal_tail(far)
    if epsilon > _HUGE:
        return Bounds(Fraction(0), first.high)
    with digits(DIGITS):
        growth = enclose(decimal(epsilon).exp())
    return Bounds(
        first.low - growth.high * second.high, first.high - growth.low * second.low
    )


@lru_cache(maxsize=256)
def gaussian_epsilon(rho: Fraction, delta: Fraction) -> int:
    """Return units of 1e-12 of the smallest ε of Gaussian noise at δ, rounded up.

    Examples:
        >>> gaussian_epsilon(Fraction(1, 2), Fraction(1, 10**6)) / PICO
        4.886554117463
    """

    def enough(units: int) -> bool:
        return gaussian_delta(rho, Fraction(units, PICO)).high <= delta

    if enough(0):
        return 0
    guess = _guess(lambda e: _float_delta(float(rho), e) > float(delta))
    return 1 + largest(lambda units: not enough(units), guess=round(guess * PICO))


@lru_cache(maxsize=256)
def gaussian_rho(epsilon: Fraction, delta: Fraction) -> int:
    """Return units of 1e-12 of the largest ρ = μ²/2 that is (ε, δ)-DP, rounded down.

    The analytic Gaussian mechanism (Balle, Wang 2018, Alg. 1): noise of variance
    Δ²/(2ρ) is the least that suffices. 0 when no ρ of 1e-12 or more will do.

    Examples:
        >>> rho = gaussian_rho(Fraction(1), Fraction(1, 10**5))
        >>> round(5 / sqrt(2 * rho / PICO), 8)  # sigma for sensitivity 5
        18.65315817
    """
    guess = _guess(lambda rho: _float_delta(rho, float(epsilon)) <= float(delta))
    return largest(
        lambda units: gaussian_delta(Fraction(units, PICO), epsilon).high <= delta,
        guess=round(guess * PICO),
    )


def largest(holds: Callable[[int], bool], *, guess: int = 1) -> int:
    """Return the largest n >= 0 with `holds` from 1 to n; it must hold up to a point.

    The search starts at `guess` and doubles its steps: a good guess makes it short,
    and no guess can make it wrong.

    Examples:
        >>> largest(lambda n: n * n <= 50), largest(lambda n: n <= 9, guess=12)
        (7, 9)
    """
    low = high = max(guess, 1)
    step = 1
    if holds(low):
        while holds(high := low + step):
            low, step = high, 2 * step
    else:
        while (low := high - step) > 0 and not holds(low):
            high, step = low, 2 * step
        low = max(low, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _float_delta(rho: float, epsilon: float) -> float:
    """Estimate `gaussian_delta` in floats, to start a search."""
    if not rho:
        return 0.0
    mu = sqrt(2 * rho)
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = erfc(near / sqrt(2)) / 2
    return first - exp(min(epsilon, 700)) * erfc(far / sqrt(2)) / 2


def _guess(holds: Callable[[float], bool]) -> float:
    """Return about the point up to which `holds`; between 1e-12 and 1e9."""
    low, high = log(1e-12), log(1e9)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(exp(middle)) else (low, middle)
    return exp(low)


def _order(bound: Callable[[float], float]) -> Fraction:
    """Return an order α > 1 at which `bound`, a function of ln(α - 1), is smallest."""

    def safe(x: float) -> float:
        try:
            return bound(x)
        except (OverflowError, ValueError):
            return inf

    grid = [x / 2 for x in range(-60, 121)]
    best = min(grid, key=safe)
    low, high = best - 0.5, best + 0.5
    for _ in range(50):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if safe(left) < safe(right) else (left, high)
    return 1 + Fraction(expm1(low) + 1)


def _log(number: Fraction) -> float:
    """Return ln of a fraction of any size."""
    return log(number.numerator) - log(number.denominator)


def _ceil(units: Fraction) -> int:
    return -_floor(-units)


def _floor(units: Fraction) -> int:
    less = units - _SLACK
    return less.numerator // less.denominator
