"""Numbers exactly as they were written: no binary rounding on the way in."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf
from numbers import Real
from typing import TypeAlias

__all__ = ["Amount", "exact", "nearest_double"]

Amount: TypeAlias = "str | int | float | Decimal | Fraction"

_LONGEST = 400  # characters of a number's text; longer ones cost time, not precision
_TOO_LARGE = 10 ** (_LONGEST + 1)


def exact(value: object) -> Fraction | None:
    """Read a number exactly as written; return none when it is not a finite number.

    A string, Decimal, Fraction or integer keeps its value. A float counts as its
    shortest decimal text (`repr`), so ``0.1`` is one tenth, not its binary neighbour.

    Examples:
        >>> exact("0.1") == exact(0.1) == Fraction(1, 10)
        True
        >>> exact(float("nan")), exact(True), exact("ten"), exact("1e999999999")
        (None, None, None, None)
        >>> exact(10**400) == exact("1e400"), exact(10**401), exact("1e401")
        (True, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, str | Real | Decimal):
        return None
    if isinstance(value, int | Fraction):
        whole = Fraction(value)
        large = max(abs(whole.numerator), whole.denominator) >= _TOO_LARGE
        return None if large else whole
    text = value.strip() if isinstance(value, str) else str(value)
    if len(text) > _LONGEST:
        return None
    try:
        number = Fraction(text) if "/" in text else Decimal(text)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(number, Decimal):
        huge = not number.is_finite() or abs(number.adjusted()) > _LONGEST
        return None if huge else Fraction(number)
    return number


def nearest_double(number: Fraction) -> float:
    """Return the nearest double; beyond the largest one, the infinity of that sign.

    Examples:
        >>> nearest_double(Fraction(1, 4)), nearest_double(Fraction(-(10**400)))
        (0.25, -inf)
    """
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf
