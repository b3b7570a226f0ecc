"""Arguments of models: refused with a fact and a hint, before anything is spent."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from sfumato.amount import exact
from sfumato.errors import DeclarationError, quoted
from sfumato.models.declared import Span
from sfumato.words import N_

__all__ = ["two_bounds", "whole_option", "wrong_option"]


def wrong_option(name: str, value: object, hint: str) -> NoReturn:
    """Refuse an argument of a model; nothing was read and nothing spent."""
    raise DeclarationError(
        N_("{name} cannot be {value}"), hint=hint, name=name, value=quoted(value)
    )


def whole_option(name: str, value: Any, most: float, hint: str) -> int:
    """Return a whole number from 1 to `most`, or refuse it; True is no number.

    Raises:
        DeclarationError: It is another value. Nothing was spent.

    Examples:
        >>> whole_option("n_clusters", 3, 10, "write a number")
        3
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 1 <= value <= most:
        wrong_option(name, value, hint)
    return int(value)


def two_bounds(given: Any) -> Span:
    """Return the bounds of a target, read exactly as written.

    Raises:
        DeclarationError: These are not two numbers in order. Nothing was spent.
    """
    try:
        low, high = (float(b) for b in map(exact, given) if b is not None)
    except (TypeError, ValueError, OverflowError):
        low = high = 0.0
    if not low < high < low + 2**1000:  # whose distance is a number too
        wrong_option(
            "y_bounds", given, N_("give two public numbers, such as y_bounds=(0, 500)")
        )
    return Span(low, high)
