"""Amounts as the ledger stores them: integers of one currency, with δ beside them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from sfumato.account.loss import decimal_text
from sfumato.errors import DeclarationError, LedgerError, quoted
from sfumato.words import N_

__all__ = ["LARGEST", "Amounts", "Loss", "loss_of", "read_cap", "read_cost", "text_of"]

LARGEST = 2**62  # amounts are 64-bit integers in every database we use
_WORDS = {"epsilon": "epsilon", "zcdp": "rho", "gdp": "Gaussian rho"}


class Loss(Protocol):
    """A privacy loss in whole units of 1e-12.

    `sfumato.account.Epsilon` is one. A class may also have ``measure`` (else
    ``"epsilon"``), ``delta_units`` in 1e-18 (else 0) and must rebuild itself by
    ``from_units(units)`` or, with δ, ``from_units(units, delta_units)``.
    """

    @property
    def units(self) -> int:
        """The loss in units of 1e-12."""
        ...


L = TypeVar("L", bound=Loss)


class Amounts(NamedTuple):
    """A loss as stored.

    Attributes:
        measure: The currency: ``"epsilon"``, ``"zcdp"`` (ρ) or ``"gdp"`` (Gaussian ρ).
        units: In 1e-12.
        delta_units: In 1e-18.
    """

    measure: str
    units: int
    delta_units: int = 0

    @property
    def word(self) -> str:
        """The currency as a word in a sentence.

        Examples:
            >>> Amounts("zcdp", 1).word
            'rho'
        """
        return _WORDS[self.measure]

    def __str__(self) -> str:
        """Render the exact decimal.

        Examples:
            >>> str(Amounts("epsilon", 25 * 10**11)), str(Amounts("zcdp", 1, 10**12))
            ('2.5', '0.000000000001 + delta 0.000001')
        """
        return text_of(self.units, self.delta_units)


def read_cost(loss: Loss) -> Amounts:
    """Return what a debit costs; 0 records a release of public facts alone.

    Raises:
        LedgerError: Not a loss: negative or without whole units. Nothing was spent.
    """
    measure = getattr(loss, "measure", "epsilon")
    units, delta = loss.units, getattr(loss, "delta_units", 0)
    plain = type(units) is int and type(delta) is int
    whole = plain or (_is_whole(units) and _is_whole(delta))
    if not whole or units < 0 or delta < 0 or measure not in _WORDS:
        raise LedgerError(
            N_("{cost} is not a loss that a ledger can record"),
            hint=N_('give a loss in whole units, such as Epsilon("0.5")'),
            cost=quoted(loss),
        )
    made: Amounts = tuple.__new__(Amounts, (measure, units, delta))
    return made


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def read_cap(loss: Loss) -> Amounts:
    """Return what may be spent in all.

    Raises:
        DeclarationError: The cap does not fit 64-bit integers. Nothing was spent.
    """
    cap = read_cost(loss)
    if cap.units > LARGEST or cap.delta_units > LARGEST or not cap.units:
        raise DeclarationError(
            N_("a budget of {measure} {cap} is beyond the largest, {most}"),
            hint=N_("such a budget protects nobody; epsilon 1 is a usual total"),
            measure=cap.word,
            cap=cap,
            most=Amounts(cap.measure, LARGEST),
        )
    return cap


def loss_of(like: L, units: int, delta_units: int) -> L:
    """Return a loss of the class of `like`.

    Examples:
        >>> from sfumato.account import Epsilon
        >>> loss_of(Epsilon("1"), 5 * 10**11, 0)
        Epsilon("0.5")
    """
    kind: Any = type(like)
    made: L = (
        kind.from_units(units, delta_units)
        if hasattr(like, "delta_units")
        else kind.from_units(units)
    )
    return made


def text_of(units: int, delta_units: int = 0) -> str:
    """Return an amount of any currency as exact decimal text.

    Examples:
        >>> text_of(10**9), text_of(3 * 10**12, 10**9)
        ('0.001', '3 + delta 0.000000001')
    """
    whole, part = divmod(units, 1_000_000_000_000)
    text = f"{whole}.{part:012d}".rstrip("0") if part else str(whole)
    return f"{text} + delta {decimal_text(delta_units, 18)}" if delta_units else text
