"""Private choices as data: the rate of the sampler and the charge from one object."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Literal

from sfumato.account.loss import Epsilon
from sfumato.account.mechanism import read_sensitivity
from sfumato.amount import Amount
from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

__all__ = ["Selection"]


@dataclass(frozen=True, slots=True, init=False)
class Selection:
    r"""The choice of a candidate with a good score.

    Formal guarantee: let no score change by more than `sensitivity` between
    neighbours. Both laws are ε-DP with rate = ε/2Δ. The exponential mechanism is also
    ε-bounded-range (Durfee, Rogers 2019) and hence ε²/8-zCDP (Cesar, Rogers 2021,
    Lemma 3.4). Permute-and-flip is *not* ε-bounded-range: of two candidates it returns
    the worse one with probability ½e^(-rate·gap), and its loss ranges over
    ε + ln(2 - e^(-ε)); as zCDP it is charged as any ε-DP mechanism is
    (``docs/proofs/zcdp-costs.md``).

    Scores that all move one way between neighbours, as counts do when a row is added or
    removed, are *monotone*: then both laws are ε-DP with rate = ε/Δ, and all of the above
    holds with it. Neither law depends on more than the gaps between scores. So where
    some scores rise by at most p and others fall by at most m, they lose what monotone
    scores of sensitivity p + m lose.

    Args:
        sensitivity: Largest change of any one score.
        epsilon: Loss charged.
        law: ``permute_and_flip`` (better choices) or ``exponential`` (less ρ).
        monotone: Whether all scores move one way.

    Examples:
        >>> Selection(1, "1").rate
        Fraction(1, 2)
    """

    sensitivity: Fraction
    cost: Epsilon
    law: Literal["permute_and_flip", "exponential"]
    monotone: bool

    def __init__(
        self,
        sensitivity: Amount,
        epsilon: Amount | Epsilon,
        *,
        law: Literal["permute_and_flip", "exponential"] = "permute_and_flip",
        monotone: bool = False,
    ) -> None:
        """Read both numbers exactly as written."""
        if law not in ("permute_and_flip", "exponential"):
            raise ArgumentError(
                N_("unknown law of selection: {law}"),
                hint=N_("write 'permute_and_flip' or 'exponential'"),
                law=quoted(law),
            )
        object.__setattr__(self, "sensitivity", read_sensitivity(sensitivity))
        object.__setattr__(self, "cost", Epsilon(epsilon))
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "monotone", bool(monotone))

    @property
    def rate(self) -> Fraction:
        """The exponent per unit of score, ε/2Δ or, monotone, ε/Δ, exactly."""
        return self.cost.value / (self.sensitivity * (1 if self.monotone else 2))

    def shortfall(self, candidates: int, confidence: float) -> int:
        """Return t with ``P(whole score of the chosen < best - t) <= 1 - confidence``.

        A candidate that lies g below the best is chosen with probability at most
        e^(-rate·g); by permute-and-flip half of that, because the best is among the
        heads too. Summed over the others; it holds whatever the scores.
        """
        failing = self._others(candidates) / (1 - confidence)
        return max(0, ceil(log(failing) / float(self.rate) - 1)) if failing > 1 else 0

    def mean_shortfall(self, candidates: int) -> float:
        """Return a bound of the expected score by which the chosen misses the best."""
        others = self._others(candidates)
        return (1 + log(others) if others > 1 else others) / float(self.rate)

    def _others(self, candidates: int) -> float:
        return (candidates - 1) / (2 if self.law == "permute_and_flip" else 1)
