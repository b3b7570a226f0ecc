"""From the wished error of each figure to the loss that buys it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import sqrt
from operator import add
from typing import Literal, TypeAlias, assert_never

from sfumato.account.budget import Loss, Measure
from sfumato.account.convert import largest
from sfumato.account.cost import charge
from sfumato.account.gaussian import Gaussian
from sfumato.account.loss import Epsilon
from sfumato.account.mechanism import Geometric, Laplace
from sfumato.account.rho import GDP
from sfumato.amount import Amount, exact
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Kind", "Wish", "needed", "targets"]

Kind: TypeAlias = Literal["laplace", "geometric", "gaussian", "whole", "discrete"]


@dataclass(frozen=True, slots=True)
class Wish:
    """The error wished for one figure.

    Attributes:
        kind: The noise: ``laplace`` and ``geometric``, or a Gaussian: ``gaussian`` for
            real values, ``whole`` or ``discrete`` for integers.
        sensitivity: L1 for the first two, L2 for the Gaussians.
        error: The largest error wished, in the unit of the figure.
        confidence: ``P(|noise| <= error)`` wished; none means that `error` is a
            standard deviation.
    """

    kind: Kind
    sensitivity: Fraction
    error: Fraction
    confidence: float | None = 0.95


def targets(total: Loss, wishes: Sequence[Wish]) -> tuple[Loss, ...]:
    """Return the smallest loss per figure that meets its wish.

    Raises:
        DeclarationError: Together they exceed the total; the message names the
            smallest sufficient one.

    Examples:
        >>> wishes = [Wish("laplace", Fraction(1), Fraction(6))] * 2
        >>> targets(Epsilon("1"), wishes)
        (Epsilon("0.499288712259"), Epsilon("0.499288712259"))
        >>> targets(Epsilon("0.5"), wishes)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] these errors need epsilon 0.998577424518, more than 0.5
          hint: give at least that much, or accept larger errors
    """
    losses = [needed(wish, total.measure) for wish in wishes]
    if not losses:
        return ()
    whole: Loss = reduce(add, losses)
    if whole.units > total.units:
        raise DeclarationError(
            N_("these errors need {measure} {needed}, more than {total}"),
            hint=N_("give at least that much, or accept larger errors"),
            measure="epsilon" if isinstance(total, Epsilon) else "rho",
            needed=whole,
            total=total,
        )
    return tuple(losses)


def needed(wish: Wish, measure: Measure) -> Loss:
    """Return the smallest loss, in a currency, that meets one wish.

    The noise of each number of units is looked at, as the plan would build it: what is
    returned meets the wish, and one unit less does not.

    Examples:
        >>> needed(Wish("gaussian", Fraction(1), Fraction(10), None), "zcdp")
        ZCDP("0.005")
    """
    mechanism = _least(wish)
    return charge(mechanism, measure)


def _least(wish: Wish) -> Laplace | Geometric | Gaussian:
    error, change = _read(wish.error), wish.sensitivity
    limit = float(error) * (1 + 1e-15)

    def build(units: int) -> Laplace | Geometric | Gaussian:
        match wish.kind:
            case "laplace":
                return Laplace(change, Epsilon.from_units(units))
            case "geometric":
                return Geometric(change, Epsilon.from_units(units))
            case "gaussian":
                return Gaussian(change, GDP.from_units(units), law="real")
            case "whole" | "discrete":
                return Gaussian(change, GDP.from_units(units), law=wish.kind)
            case _:
                assert_never(wish.kind)

    def too_wide(units: int) -> bool:
        noise = build(units)
        if wish.confidence is not None:
            return noise.error(wish.confidence) > limit
        rounding = 1 / 12 if wish.kind == "whole" else 0
        return sqrt(noise.variance + rounding) > limit

    guess = Epsilon(Fraction(change / error) / 10**3 + Fraction(1, 10**12)).units
    return build(1 + largest(too_wide, guess=guess))


def _read(error: Amount) -> Fraction:
    number = exact(error)
    if number is None or number <= 0:
        raise DeclarationError(
            N_("a wished error must be a finite number greater than 0, got {value}"),
            hint=N_("write the error you can accept, such as 10"),
            value=quoted(error),
        )
    return number
