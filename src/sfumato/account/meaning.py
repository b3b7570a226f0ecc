"""What ε means to a person: odds, and an attacker's best success."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, floor, log10, tanh

from sfumato.account.loss import Epsilon
from sfumato.amount import Amount

__all__ = ["Odds", "odds", "upper_percent"]


@dataclass(frozen=True, slots=True)
class Odds:
    """Worst case over every ε-DP mechanism and every attacker.

    Attributes:
        factor: e^ε, the most by which any odds about a person can grow.
        certainty: For each belief held beforehand, the highest belief afterwards.
        of_100_with: Of 100 people whose data were used, how many the best attacker
            of a fair coin-toss challenge names rightly.
        power: Chance to detect a participant at a false-alarm rate of 5 %.
        advantage: True-positive rate minus false-positive rate of the best attacker.
    """

    epsilon: Epsilon
    factor: float
    certainty: tuple[tuple[float, float], ...]
    of_100_with: int
    power: float
    advantage: float


def odds(epsilon: Amount | Epsilon) -> Odds:
    """Explain a pure loss in odds.

    For a person, being in the table or not changes the probability of any output by
    at most the factor e^ε; hence posterior odds are at most e^ε times prior odds
    (Wasserman, Zhou 2010, Thm 2.4; Kairouz, Oh, Viswanath 2015 for the trade-off of
    errors).

    Examples:
        >>> o = odds("0.5")
        >>> round(o.factor, 2), o.of_100_with, round(o.power, 3)
        (1.65, 62, 0.082)
        >>> [round(after, 3) for _, after in o.certainty]
        [0.016, 0.155, 0.622]
    """
    loss = Epsilon(epsilon)
    e = min(float(loss), 700.0)
    factor = exp(e)
    after = tuple(
        (prior, prior / (prior + (1 - prior) * exp(-e))) for prior in (0.01, 0.1, 0.5)
    )
    alarms = 0.05
    return Odds(
        loss,
        factor,
        after,
        round(100 / (1 + exp(-e))),
        min(factor * alarms, 1 - exp(-e) * (1 - alarms)),
        tanh(e / 2),
    )


def upper_percent(share: float) -> str:
    """Render an upper bound in per cent with three digits, rounded up.

    Examples:
        >>> upper_percent(0.62246), upper_percent(0.5), upper_percent(0.01638)
        ('62.3', '50', '1.64')
    """
    percent = 100 * share
    step = 10.0 ** max(0, 2 - floor(log10(percent)))
    return f"{ceil(round(percent * step, 6)) / step:g}"
