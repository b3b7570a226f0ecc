"""Private choices as data: the rate of the sampler and the charge from one object."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sfumato.account.loss import Epsilon
from sfumato.account.mechanism import read_sensitivity
from sfumato.amount import Amount
from sfumato.errors import ArgumentError
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

    Args:
        sensitivity: Largest change of any one score.
        epsilon: Loss charged.
        law: ``permute_and_flip`` (better choices) or ``exponential`` (less ρ).

    Examples:
        >>> Selection(1, "1").rate
        Fraction(1, 2)
    """

    sensitivity: Fraction
    cost: Epsilon
    law: Literal["permute_and_flip", "exponential"]

    def __init__(
        self,
        sensitivity: Amount,
        epsilon: Amount | Epsilon,
        *,
        law: Literal["permute_and_flip", "exponential"] = "permute_and_flip",
    ) -> None:
        """Read both numbers exactly as written."""
        if law not in ("permute_and_flip", "exponential"):
            raise ArgumentError(
                N_("unknown law of selection: {law}"),
                hint=N_("write 'permute_and_flip' or 'exponential'"),
                law=repr(law)[:60],
            )
        object.__setattr__(self, "sensitivity", read_sensitivity(sensitivity))
        object.__setattr__(self, "cost", Epsilon(epsilon))
        object.__setattr__(self, "law", law)

    @property
    def rate(self) -> Fraction:
        """The exponent per unit of score, ε/2Δ, exactly."""
        return self.cost.value / (2 * self.sensitivity)
