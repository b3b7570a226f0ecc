"""What a loss means to a person: odds, and an attacker's best success."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, inf, log10, tanh
from statistics import NormalDist

from sfumato.account.budget import ApproxDP, Loss, epsilon_at
from sfumato.account.convert import zcdp_delta
from sfumato.account.loss import ATTO, Epsilon
from sfumato.account.rho import GDP, ZCDP, read_delta
from sfumato.amount import Amount
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Odds", "odds", "upper_percent"]

_ALARMS = 0.05
_MOST = 700.0  # e^700 is near the largest float


@dataclass(frozen=True, slots=True)
class Odds:
    """Worst case over every mechanism of that loss and every attacker.

    Attributes:
        epsilon: The ε that the factor and the beliefs follow from.
        factor: e^ε, the most by which any odds about a person can grow.
        certainty: For each belief held beforehand, the highest belief afterwards.
        of_100_with: Of 100 people whose data were used, how many the best attacker
            of a fair coin-toss challenge names rightly.
        power: Chance to detect a participant at a false-alarm rate of 5 %.
        advantage: True-positive rate minus false-positive rate of the best attacker.
        delta: Probability with which factor and certainty may not hold; power,
            advantage and of_100_with have it counted in.
    """

    epsilon: Epsilon
    factor: float
    certainty: tuple[tuple[float, float], ...]
    of_100_with: int
    power: float
    advantage: float
    delta: float = 0.0


def odds(
    loss: Amount | Loss | ApproxDP, *, delta: Amount = "1e-6", gaussian: bool = False
) -> Odds:
    """Explain a loss in odds.

    For a person, being in the table or not changes the probability of any output by
    at most the factor e^ε; hence posterior odds are at most e^ε times prior odds
    (Wasserman, Zhou 2010, Thm 2.4; Kairouz, Oh, Viswanath 2015 for the trade-off of
    errors, ``power <= min(e^ε·α + δ, 1 - e^(-ε)(1 - δ - α))``). With (ε, δ) the
    mechanism behaves like an ε-DP one outside an event of probability δ. A ρ implies
    one such pair for every ε: the factor is told for `delta`, power and advantage are
    the least over all pairs; for Gaussian noise they are exact.

    Args:
        loss: A pure ε (a number counts as one), a ρ, or a budget (ε, δ).
        delta: The δ at which a ρ is told.
        gaussian: Say that a ρ stands for continuous Gaussian noise only.

    Examples:
        >>> o = odds("0.5")
        >>> round(o.factor, 2), o.of_100_with, round(o.power, 3)
        (1.65, 62, 0.082)
        >>> [round(after, 3) for _, after in o.certainty]
        [0.016, 0.155, 0.622]
        >>> round(odds(ZCDP("0.01")).power, 3), round(odds(GDP("0.01")).power, 3)
        (0.07, 0.066)
    """
    if isinstance(loss, ApproxDP):
        return _of_pair(loss.epsilon, loss.delta_units / ATTO)
    if isinstance(loss, ZCDP) and gaussian and not loss.delta_units:
        loss = GDP.from_units(loss.units)
    if isinstance(loss, ZCDP | GDP):
        return _of_rho(loss, delta)
    pair = Epsilon(loss)
    return _of_pair(Epsilon.from_units(pair.units), pair.delta_units / ATTO)


def _of_pair(epsilon: Epsilon, delta: float) -> Odds:
    e = min(float(epsilon), _MOST)
    # without δ the textbook form: it is exact also where 1 - e^(-ε) is not
    advantage = tanh(e / 2) * (1 - delta) + delta
    return _odds(epsilon, delta, advantage, _power(e, delta))


def _of_rho(loss: ZCDP | GDP, delta: Amount) -> Odds:
    failing = loss.delta if isinstance(loss, ZCDP) else 0
    told = Fraction(read_delta(delta), ATTO) + failing
    epsilon = epsilon_at(loss, told)
    if epsilon is None:
        raise DeclarationError(
            N_("a loss of rho has no epsilon without delta"),
            hint=N_('name the delta to tell it at, such as delta="1e-6"'),
        )
    if isinstance(loss, GDP):
        law, mu = NormalDist(), loss.mu
        power = law.cdf(law.inv_cdf(_ALARMS) + mu)
        advantage = 2 * law.cdf(mu / 2) - 1
        return _odds(epsilon, float(told), advantage, power)

    def at(e: Fraction) -> float:
        return float(zcdp_delta(loss.value, e) + failing)

    pairs = [(float(e), at(e)) for e in _grid(epsilon.value)]
    power = _least(_power, pairs)
    advantage = _least(lambda e, d: tanh(e / 2) * (1 - d) + d, pairs)
    return _odds(epsilon, float(told), advantage, power)


def _grid(top: Fraction) -> Iterable[Fraction]:
    return [top * i / 40 for i in range(41)]


def _least(
    bound: Callable[[float, float], float], pairs: Iterable[tuple[float, float]]
) -> float:
    return min(1.0, *(bound(min(e, _MOST), d) for e, d in pairs))


def _power(e: float, delta: float) -> float:
    return min(1.0, exp(e) * _ALARMS + delta, 1 - exp(-e) * (1 - delta - _ALARMS))


def _odds(epsilon: Epsilon, delta: float, advantage: float, power: float) -> Odds:
    e = min(float(epsilon), _MOST)
    after = tuple(
        (prior, prior / (prior + (1 - prior) * exp(-e))) for prior in (0.01, 0.1, 0.5)
    )
    right = round(50 * (1 + advantage))
    factor = exp(e) if e < _MOST else inf
    return Odds(epsilon, factor, after, right, power, advantage, delta)


def upper_percent(share: float) -> str:
    """Render an upper bound in per cent with three digits, rounded up.

    Examples:
        >>> upper_percent(0.62246), upper_percent(0.5), upper_percent(0.01638)
        ('62.3', '50', '1.64')
    """
    percent = 100 * share
    step = 10.0 ** max(0, 2 - floor(log10(percent)))
    return f"{ceil(round(percent * step, 6)) / step:g}"
