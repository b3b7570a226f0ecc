"""A release's amounts: read from their texts, shortened only to the safe side."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, assert_never

from sfumato.account import GDP, PICO, ZCDP, Epsilon, Loss
from sfumato.account.loss import ATTO
from sfumato.amount import exact

if TYPE_CHECKING:
    from sfumato.account import Measure

__all__ = [
    "FAILING",
    "amount_words",
    "brief",
    "failing",
    "read",
    "stored_words",
    "symbol",
]

FAILING = " + delta "  # between ρ and the δ with which an answer can fail by itself
_DIGITS = 4  # of a converted amount; formats and receipts keep all


def read(measure: Measure, text: str) -> Loss:
    """Read an amount of a claim or receipt; digits too fine for a unit round up.

    Examples:
        >>> read("epsilon", "0"), read("zcdp", "0.1 + delta 0.000001")
        (Epsilon("0"), ZCDP("0.1", "0.000001"))
    """
    amount, _, delta = text.partition(FAILING)
    units = ceil((exact(amount) or 0) * PICO)
    match measure:
        case "epsilon":
            return Epsilon.from_units(units, ceil((exact(delta) or 0) * ATTO))
        case "zcdp":
            return ZCDP.from_units(units, ceil((exact(delta) or 0) * ATTO))
        case "gdp":
            return GDP.from_units(units)
        case _:
            assert_never(measure)


def symbol(measure: Measure) -> str:
    """Return the letter of a currency.

    Examples:
        >>> symbol("epsilon"), symbol("gdp")
        ('ε', 'ρ')
    """
    return "ε" if measure == "epsilon" else "ρ"


def failing(loss: Loss) -> Fraction:
    """Return the δ inside a loss: 0 but for answers that can fail by themselves."""
    return Fraction(0) if isinstance(loss, GDP) else loss.delta


def amount_words(text: str) -> str:
    """Return an exact amount as it is shown.

    Examples:
        >>> amount_words("0.25"), amount_words("0.1 + delta 0.000001")
        ('0.25', '0.1 + δ 0.000001')
    """
    return text.replace(FAILING, " + δ ")


def stored_words(text: str) -> str:
    """Return a loss as it is stored, with its currency, as it is shown.

    Examples:
        >>> stored_words("epsilon 0.25"), stored_words("zcdp 0.1 + delta 0.000001")
        ('ε 0.25', 'ρ 0.1 + δ 0.000001')
    """
    measure, _, amount = text.partition(" ")
    return f"{'ε' if measure == 'epsilon' else 'ρ'} {amount_words(amount)}"


def brief(loss: Loss, *, down: bool = False) -> str:
    """Return at most four digits, rounded up: a bound that still holds.

    Args:
        loss: What to show.
        down: Round down instead: for what is left to spend.

    Examples:
        >>> brief(ZCDP("0.006641524356")), brief(Epsilon("0.499999999974"))
        ('0.006642', '0.5')
        >>> brief(ZCDP("0.006641524356"), down=True), brief(GDP("12"))
        ('0.006641', '12')
    """
    way = ROUND_FLOOR if down else ROUND_CEILING
    digits = Context(prec=_DIGITS, rounding=way)
    amount, _, delta = amount_words(str(loss)).partition(" + ")
    text = f"{digits.create_decimal(Decimal(amount)).normalize():f}"
    return f"{text} + {delta}" if delta else text
