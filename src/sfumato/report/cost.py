"""What a release costs, in odds that a person can weigh, and what is left to spend."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, sqrt

from sfumato.account import PICO, Epsilon, odds
from sfumato.account.meaning import upper_percent
from sfumato.amount import exact
from sfumato.release.record import Noise, Receipt

__all__ = ["Budget", "Risk", "budget", "deviation", "risk", "scale_words"]

_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Risk:
    """An attacker's best chances after releases that cost `epsilon` together.

    Attributes:
        epsilon: The loss, exact decimal text.
        of_100: Of 100 guesses whether a row was used, how many the best attacker gets
            right; without the release 50.
        beliefs: A belief beforehand and the highest belief afterwards.
    """

    epsilon: str
    of_100: int
    beliefs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget in exact decimal text, and its parts as percentages of the whole."""

    cap: str
    before: str
    cost: str
    left: str
    before_share: float
    cost_share: float


def risk(epsilon: str) -> Risk:
    """Explain a loss, given as exact decimal text, in odds.

    Examples:
        >>> risk("0.5").of_100, risk("0.5").beliefs[0], risk("0").of_100
        (62, ('1%', '1.64%'), 50)
    """
    meaning = odds(Epsilon.from_units(_units(epsilon)))
    beliefs = (
        (f"{upper_percent(a)}%", f"{upper_percent(b)}%") for a, b in meaning.certainty
    )
    return Risk(epsilon, meaning.of_100_with, tuple(beliefs))


def _units(amount: str) -> int:
    return ceil((exact(amount) or 0) * PICO)


def budget(receipt: Receipt) -> Budget:
    """Return what was spent before this release, for it, and what is left."""
    cap, spent, cost = map(_units, (receipt.cap, receipt.spent, receipt.cost))
    whole = max(cap, spent, 1)
    before, left = (
        str(Epsilon.from_units(n)) for n in (spent - cost, max(cap - spent, 0))
    )
    return Budget(
        receipt.cap,
        before,
        receipt.cost,
        left,
        round(100 * (spent - cost) / whole, 2),
        round(100 * cost / whole, 2),
    )


def deviation(noise: Noise) -> str:
    """Return the standard deviation of a noise term in the figure's unit, briefly.

    Two-sided geometric noise of scale s has variance ``2a / (1 - a)²``, a = exp(-1/s);
    joint noise of d measurements ``(d + 1)(d + 2)/3 · s²``.
    """
    scale = float(exact(noise.scale) or 0)
    if scale <= 0:
        return "0"
    if noise.law == "k_norm":
        size = noise.step * scale * sqrt((noise.joint + 1) * (noise.joint + 2) / 3)
    else:
        a, rest = exp(-1 / scale), -expm1(-1 / scale)
        size = noise.step * sqrt(2 * a) / rest
    return f"{size:.3g}" if size < _THOUSAND else f"{size:,.0f}"


def scale_words(noise: Noise) -> str:
    """Return the scale as it is, with a decimal beside a fraction.

    Examples:
        >>> scale_words(Noise("geometric", "4", 1.0, "0.25"))
        '4'
        >>> scale_words(Noise("geometric", "1000/3", 1.0, "0.3"))
        '1000/3 ≈ 333.3'
    """
    value = exact(noise.scale)
    if "/" not in noise.scale or value is None:
        return noise.scale
    return f"{noise.scale} ≈ {float(Fraction(value)):.4g}"
