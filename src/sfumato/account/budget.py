"""Budgets: each has one currency and one cap in it, fixed when it is made."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from sfumato.account.convert import (
    gaussian_epsilon,
    gaussian_rho,
    zcdp_epsilon,
    zcdp_rho,
)
from sfumato.account.loss import ATTO, Epsilon, decimal_text
from sfumato.account.rho import GDP, ZCDP, read_delta
from sfumato.amount import Amount
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.account.meaning import Odds

__all__ = [
    "ApproxDP",
    "Budget",
    "LargeDeltaWarning",
    "Loss",
    "Measure",
    "epsilon_at",
    "has_large_delta",
    "loss_text",
    "read_loss",
    "warn_of_delta",
]

Measure: TypeAlias = Literal["epsilon", "zcdp", "gdp"]
Loss: TypeAlias = Epsilon | ZCDP | GDP
_LARGE = ATTO // 10_000


class Budget(Protocol):
    """What a ledger needs to know of a budget: its currency and its cap."""

    @property
    def measure(self) -> Measure:
        """The currency: every charge is a loss of this measure."""

    @property
    def cap(self) -> Loss:
        """The most that may be spent."""

    def explain(self) -> Odds:
        """Return what spending all of it means to a person."""


class LargeDeltaWarning(UserWarning):
    """A δ above 1e-4: the promise may fail for more than one person in 10,000."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproxDP:
    r"""A budget (ε, δ), converted once to a cap on ρ, rounded down.

    Formal guarantee: all answers whose charges add up to at most `cap` are together
    (ε, δ)-DP, however each question was chosen after earlier answers. The conversion
    is the best that follows from ρ-zCDP at each order (Canonne, Kamath, Steinke 2020);
    with `gaussian_only` it is the exact curve of Gaussian noise (Balle, Wang 2018),
    which affords about 10 to 30 % more but accepts nothing else.

    Args:
        epsilon: The ε of the guarantee.
        delta: The δ of the guarantee; none or 0 make it a budget of pure ε.
        threshold_delta: The part of δ kept for answers that can fail by themselves
            (unknown keys); the conversion has the rest.
        gaussian_only: Accept Gaussian noise only, and account for it exactly.

    Attributes:
        cap: The most that may be spent, in the budget's currency.

    Raises:
        DeclarationError: ε or δ is out of range, or they leave no ρ to spend.

    Warns:
        LargeDeltaWarning: δ is above 1e-4.

    Examples:
        >>> ApproxDP("1", "1e-6").cap
        ZCDP("0.024355970359")
        >>> ApproxDP("1", "1e-6", gaussian_only=True).cap
        GDP("0.028014481912")
        >>> ApproxDP("1", 0).cap, ApproxDP("1").measure
        (Epsilon("1"), 'epsilon')
    """

    epsilon: Epsilon
    delta_units: int
    cap: Loss

    def __init__(
        self,
        epsilon: Amount | Epsilon,
        delta: Amount | None = None,
        *,
        threshold_delta: Amount | None = None,
        gaussian_only: bool = False,
    ) -> None:
        """Read the numbers exactly as written and convert them."""
        loss, units = Epsilon(epsilon), read_delta(delta)
        if units > _LARGE:
            warn_of_delta(delta)
        spare = read_delta(threshold_delta)
        if spare and spare >= units:
            raise DeclarationError(
                N_("threshold_delta {part} uses up delta {value}"),
                hint=N_("keep a part of delta for the conversion, such as half of it"),
                part=threshold_delta,
                value=str(delta),
            )
        object.__setattr__(self, "epsilon", loss)
        object.__setattr__(self, "delta_units", units)
        cap = _cap(loss, units - spare, spare, gaussian_only=gaussian_only)
        object.__setattr__(self, "cap", cap)

    @property
    def measure(self) -> Measure:
        """The currency of the charges."""
        return self.cap.measure

    @property
    def delta(self) -> Fraction:
        """δ as an exact fraction."""
        return Fraction(self.delta_units, ATTO)

    def explain(self) -> Odds:
        """Return what the budget means to a person; see `sfumato.account.odds`."""
        from sfumato.account.meaning import odds

        return odds(self)

    def __str__(self) -> str:
        """Render the exact decimals.

        Examples:
            >>> str(ApproxDP("1", "1e-6")), str(ApproxDP("1"))
            ('1 + delta 0.000001', '1')
        """
        if not self.delta_units:
            return str(self.epsilon)
        return f"{self.epsilon} + delta {decimal_text(self.delta_units, 18)}"

    def __repr__(self) -> str:
        """Render what was promised."""
        return f"<ApproxDP {self}, cap {self.cap!r}>"


def warn_of_delta(delta: object) -> None:
    """Warn of a δ above 1e-4, at the line that called the caller."""
    warnings.warn(
        f"delta {delta} is above 1e-4; aim below one over the number of persons",
        LargeDeltaWarning,
        stacklevel=3,
    )


def has_large_delta(budget: Budget) -> bool:
    """Tell whether δ is above 1e-4, so that the promise may fail for real persons.

    Examples:
        >>> has_large_delta(Epsilon("1", "1e-3")), has_large_delta(ZCDP("1", "1e-4"))
        (True, False)
    """
    if isinstance(budget, ApproxDP):
        return budget.delta_units > _LARGE
    cap = budget.cap
    return not isinstance(cap, GDP) and cap.delta_units > _LARGE


def _cap(epsilon: Epsilon, units: int, spare: int, *, gaussian_only: bool) -> Loss:
    if not units:
        if gaussian_only:
            raise DeclarationError(
                N_("Gaussian noise needs delta > 0, got none"),
                hint=N_('write a small decimal such as delta="1e-6"'),
            )
        return epsilon
    delta = Fraction(units, ATTO)
    convert = gaussian_rho if gaussian_only else zcdp_rho
    rho = convert(epsilon.value, delta)
    if not rho:
        raise DeclarationError(
            N_("epsilon {epsilon} with delta {value} leaves less than 1e-12 of rho"),
            hint=N_("write a larger epsilon or delta, or leave delta out"),
            epsilon=epsilon,
            value=decimal_text(units, 18),
        )
    return GDP.from_units(rho) if gaussian_only else ZCDP.from_units(rho, spare)


def epsilon_at(loss: Loss, delta: Amount | None = None) -> Epsilon | None:
    """Return an ε that holds at `delta` for this loss, rounded up; none if none does.

    Examples:
        >>> epsilon_at(ZCDP("0.5"), "1e-6"), epsilon_at(GDP("0.5"), "1e-6")
        (Epsilon("5.221534444531"), Epsilon("4.886554117463"))
        >>> epsilon_at(Epsilon("0.5")), epsilon_at(ZCDP("0.5"))
        (Epsilon("0.5"), None)
        >>> epsilon_at(Epsilon("0.5", "1e-6"), "1e-6"), epsilon_at(Epsilon("1", "1e-6"))
        (Epsilon("0.5"), None)
    """
    spent = 0 if isinstance(loss, GDP) else loss.delta_units
    if isinstance(loss, Epsilon):
        enough = not spent or read_delta(delta) >= spent
        return Epsilon.from_units(loss.units) if enough else None
    left = Fraction(read_delta(delta) - spent, ATTO)
    if left <= 0:
        return None
    if not loss.units:
        return Epsilon.from_units(0)
    convert = gaussian_epsilon if isinstance(loss, GDP) else zcdp_epsilon
    return Epsilon.from_units(convert(loss.value, left))


def loss_text(loss: Loss) -> str:
    """Write a loss with its currency, for storage; `read_loss` reads it back.

    Examples:
        >>> loss_text(ZCDP("0.1", "1e-9")), read_loss("epsilon 0.5")
        ('zcdp 0.1 + delta 0.000000001', Epsilon("0.5"))
    """
    return f"{loss.measure} {loss}"


def read_loss(text: str) -> Loss:
    """Read what `loss_text` wrote.

    Raises:
        DeclarationError: The text does not name a currency and an amount.
    """
    measure, _, amount = text.partition(" ")
    kinds: dict[str, type[Epsilon | ZCDP | GDP]] = {
        kind.measure: kind for kind in (Epsilon, ZCDP, GDP)
    }
    if measure not in kinds:
        raise DeclarationError(
            N_("{text} is not a loss"),
            hint=N_("write a currency and an amount, such as: epsilon 0.5"),
            text=quoted(text),
        )
    kind = kinds[measure]
    return kind.from_units(0) if amount == "0" else kind(amount)
