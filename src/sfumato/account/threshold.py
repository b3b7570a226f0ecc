r"""Unknown keys: a key is shown only if its noisy count reaches a threshold.

A key that only one unit has is present in one of two neighbouring tables and absent
from the other, where nothing can show it. So its count of 1 may pass with probability δ
at most, and the mechanism fails with that probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, erfc, exp, expm1, inf, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

from sfumato.account.convert import largest
from sfumato.account.gaussian import Gaussian
from sfumato.account.loss import Epsilon
from sfumato.account.mechanism import Geometric
from sfumato.account.precise import DIGITS, decimal, digits, enclose, normal_tail
from sfumato.account.rho import ZCDP
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Threshold", "ThresholdLaw"]

ThresholdLaw: TypeAlias = Literal["truncated_geometric", "geometric", "gaussian"]
_TINY = Fraction(1, 10**30)  # of one step; computed values are good to far less


@dataclass(frozen=True, slots=True, init=False)
class Threshold:
    r"""Noisy counts of unknown keys, of which only those above a threshold are shown.

    Let n be the exact count of a key among the rows (or persons). A key with n = 0 is
    never shown. To each other one noise Z is added, independently, and the pair of key
    and n + Z is shown if ``n + Z >= least``. Three laws of Z:

    ``truncated_geometric``
        mass ∝ e^(-|z|/scale) on [-reach, reach] and 0 outside; ``least = reach + 1``.
        A count of 1 passes only with Z = reach. The two laws of n + Z and n + 1 + Z
        differ by a factor of at most e^(1/scale) but for one end of either, whose mass
        is P(Z = reach). No other mechanism that is (ε, δ)-DP shows a key more often, up
        to the rounding of reach (Desfontaines, Voss, Gipson, Mandayam, PETS 2022, Thms
        1 and 2). From 2·reach + 1 on a key is shown for certain.
    ``geometric``
        two-sided geometric Z without an end, the discrete form of the Laplace threshold
        (Korolova, Kenthapadi, Mishra, Ntoulas, WWW 2009; Wilson et al., PETS 2020): ε-DP
        between tables with the same keys, and ``P(1 + Z >= least) <= δ``.
    ``gaussian``
        normal Z of variance ``keys/2ρ``, rounded to whole numbers: ρ-zCDP between tables
        with the same keys, and ``P(1 + Z >= least) <= δ``.

    Formal guarantee: let a unit change the counts of at most `keys` keys, by 1 each, of
    which at most `new` have it alone. The geometric laws are (ε, δ)-DP, and δ-approximate
    ε·tanh(ε/2)-zCDP; the Gaussian one is δ-approximate ρ-zCDP (Bun, Steinke 2016,
    Def. 8.1). Proof: ``docs/proofs/thresholds.md``. The noisy counts that are shown are
    part of the mechanism: they cost nothing more.

    Rounding: reach and threshold are whole numbers found by bounds to fifty digits and
    rounded up; scales are exact fractions of the charge.

    Args:
        cost: ε or ρ, with the δ that a failure may have: both are charged.
        keys: How many keys one unit can touch: 1 for a row, 2 for a replaced one.
        new: How many of them can be shown because of that unit alone; default `keys`.
        law: One of the three; default the best for the currency: truncated geometric
            for ε, Gaussian for ρ.

    Raises:
        DeclarationError: The loss has no δ, or the law is not one of its currency.

    Examples:
        >>> t = Threshold(Epsilon("1", "1e-6"))
        >>> t.least, t.reach, t.visible(0.95)
        (15, 14, 17)
        >>> g = Threshold(ZCDP("0.1", "1e-6"))
        >>> g.law, g.least, g.visible(0.95)
        ('gaussian', 13, 17)
        >>> Threshold(Epsilon("1"))
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] unknown keys cost a delta, and epsilon 1 has none
          hint: write a delta beside it, such as "1e-6": the chance that the promise fails
    """

    law: ThresholdLaw
    cost: Epsilon | ZCDP
    keys: int
    new: int
    reach: int
    least: int

    def __init__(
        self,
        cost: Epsilon | ZCDP,
        *,
        keys: int = 1,
        new: int | None = None,
        law: ThresholdLaw | None = None,
    ) -> None:
        """Find the threshold; it depends on no data."""
        if not cost.delta_units:
            raise DeclarationError(
                N_("unknown keys cost a delta, and {currency} {cost} has none"),
                hint=N_(
                    'write a delta beside it, such as "1e-6": the chance that the promise '
                    "fails"
                ),
                currency="rho" if isinstance(cost, ZCDP) else "epsilon",
                cost=cost,
            )
        usual = "gaussian" if isinstance(cost, ZCDP) else "truncated_geometric"
        chosen: ThresholdLaw = law or usual  # type: ignore[assignment]
        if (chosen == "gaussian") != isinstance(cost, ZCDP):
            raise DeclarationError(
                N_("a threshold of law {law} has no cost in {currency}"),
                hint=N_("geometric laws are charged in epsilon, the Gaussian in rho"),
                law=quoted(law),
                currency="rho" if isinstance(cost, ZCDP) else "epsilon",
            )
        first = keys if new is None else new
        for name, value in (
            ("law", chosen), ("cost", cost), ("keys", keys), ("new", first),
        ):  # fmt: skip
            object.__setattr__(self, name, value)
        reach = self._reach() if chosen == "truncated_geometric" else 0
        object.__setattr__(self, "reach", reach)
        least = reach + 1 if reach else 1 + self._beyond()
        object.__setattr__(self, "least", least)

    @property
    def noise(self) -> Geometric | Gaussian:
        """The noise on each count, before it is cut at `reach`."""
        if isinstance(self.cost, ZCDP):
            rho = ZCDP.from_units(self.cost.units)
            return Gaussian(self.keys, rho, law="whole", squared=True)
        return Geometric(self.keys, Epsilon.from_units(self.cost.units))

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: keys/ε, or σ."""
        return self.noise.scale

    @property
    def variance(self) -> Fraction | float:
        """The variance of the noise; that of the geometric law for the one cut off."""
        return self.noise.variance

    @property
    def mean_absolute_error(self) -> float:
        """E|Z|; that of the geometric law for the one that is cut off."""
        return self.noise.mean_absolute_error

    def error(self, confidence: float) -> float:
        """Return t with ``P(|Z| <= t) >= confidence``."""
        t = self.noise.error(confidence)
        return min(t, self.reach) if self.reach else t

    def shown(self, count: int) -> float:
        """Return how likely a key of that count is shown, as a float.

        Examples:
            >>> t = Threshold(Epsilon("1", "1e-6"))
            >>> t.shown(0), t.shown(1) <= 1e-6, round(t.shown(15), 3), t.shown(29)
            (0.0, True, 0.731, 1.0)
        """
        if count < 1:
            return 0.0
        need = self.least - count  # P(Z >= need)
        if isinstance(self.cost, ZCDP):
            return erfc((need - 0.5) / float(self.scale) / sqrt(2)) / 2
        rate = float(1 / self.scale)
        if need <= 0:
            return 1 - self._tail(1 - need, rate)
        return self._tail(need, rate)

    def visible(self, confidence: float) -> int:
        """Return the smallest count that is shown with that probability, as a float can tell.

        Args:
            confidence: Between 0 and 1, such as 0.95.
        """
        return 1 + largest(
            lambda n: self.shown(n) < confidence,
            guess=ceil(self.least + self.noise.error(confidence) / 2),
        )

    def _tail(self, t: int, rate: float) -> float:
        """Return P(Z >= t) of a geometric law, t > 0."""
        left = self.reach + 1 - t if self.reach else inf
        if left <= 0:
            return 0.0
        beyond = exp(-rate * (t + left))
        inside = exp(-rate * t) * -expm1(-rate * left)
        return inside / (1 + exp(-rate) - 2 * beyond)

    def _reach(self) -> int:
        """Return the least k with P(Z = k) <= δ/keys, for Z cut at ±k.

        ``(1 - a)·a^k <= p·(1 + a - 2·a^(k+1))`` with a = e^(-1/scale) solved for k.
        """
        p = self.cost.delta / self.keys
        with digits(DIGITS + self._places()):
            a = (-1 / decimal(self.scale)).exp()
            worst = (1 - a + 2 * a * decimal(p)) / (decimal(p) * (1 + a))
            return max(1, _ceil(decimal(self.scale) * worst.ln()))

    def _beyond(self) -> int:
        """Return the least t >= 0 with P(Z >= t) <= δ/new."""
        p = self.cost.delta / self.new
        if isinstance(self.cost, ZCDP):
            half, sigma = Fraction(1, 2), self.scale
            guess = -NormalDist().inv_cdf(float(p)) * float(sigma)
            return 1 + largest(
                lambda t: normal_tail((t - half) / sigma).high > p,
                guess=max(1, ceil(guess)),
            )
        with digits(DIGITS + self._places()):
            a = (-1 / decimal(self.scale)).exp()
            return max(0, _ceil(-decimal(self.scale) * (decimal(p) * (1 + a)).ln()))

    def _places(self) -> int:
        """Return digits enough for what cancels at a large scale."""
        return 30 + len(str(int(self.scale)))


def _ceil(value: Decimal) -> int:
    high = enclose(value, scale=max(abs(value), Decimal(1))).high + _TINY
    return -(-high.numerator // high.denominator)
