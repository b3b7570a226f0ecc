r"""Upper and lower bounds of the normal law and of logarithms, to fifty digits.

Floats are used only to choose *where* to evaluate; what is returned is a pair of exact
fractions that enclose the true value. `decimal` rounds exp, ln and sqrt correctly, so
each step errs by at most half a unit of the last of its digits; `GUARD` digits more
than `DIGITS` are carried, which leaves room for far more steps than are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt
from typing import NamedTuple

__all__ = ["DIGITS", "Bounds", "decimal", "digits", "enclose", "normal_tail", "root_up"]

DIGITS = 50
GUARD = 15
_FAR = 60  # P(Z > 60) < 10**-780; beyond, the series would take too many digits


class Bounds(NamedTuple):
    """Two fractions with the true value between them."""

    low: Fraction
    high: Fraction


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Compute with so many digits beside the guard digits.

    The limits of exponents are wide: nothing overflows, and what underflows is zero.
    """
    context = Context(prec=count + GUARD, Emin=-(10**9), Emax=10**9)
    with localcontext(context):
        yield


def decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal of the present precision."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def enclose(value: Decimal, *, scale: Decimal | None = None) -> Bounds:
    """Widen a computed value by 1e-50 of itself, or of the largest term in it."""
    exact = Fraction(value)
    slack = abs(exact if scale is None else Fraction(scale)) / 10**DIGITS
    return Bounds(exact - slack, exact + slack)


def root_up(square: Fraction, *, bits: int = 64) -> Fraction:
    """Return a fraction at or above the square root, near ``2**-bits`` above at most.

    Examples:
        >>> root_up(Fraction(9, 4))
        Fraction(3, 2)
        >>> root_up(Fraction(2)) ** 2 >= 2
        True
    """
    small = square.denominator.bit_length() - square.numerator.bit_length()
    shift = 2 * (bits + max(0, small))
    wide = -(-(square.numerator << shift) // square.denominator)
    root = isqrt(wide)
    root += root * root < wide
    return Fraction(root, 1 << (shift // 2))


def normal_tail(x: Fraction) -> Bounds:
    r"""Enclose P(Z > x) for a standard normal Z.

    For x >= 0, :math:`P(Z > x) = 1/2 - \phi(x) \sum_n x^{2n+1}/(2n+1)!!`: all terms are
    positive, and what cancels in the end is paid for with ``x**2/4.6`` more digits.
    The remainder after a term t of ratio r < 1/2 is less than t. Beyond 60 the bounds
    are crude: 0 and 10**-780.

    Examples:
        >>> low, high = normal_tail(Fraction(3))
        >>> round(float(low), 16), high - low < Fraction(1, 10**50)
        (0.0013498980316301, True)
    """
    if x < 0:
        low, high = normal_tail(-x)
        return Bounds(1 - high, 1 - low)
    if x > _FAR:
        return Bounds(Fraction(0), Fraction(1, 10**780))
    lost = ceil(float(x) ** 2 / 4.6) + 5
    with digits(DIGITS + lost):
        z = decimal(x)
        square = z * z
        term = total = z
        n, least = 1, Decimal(10) ** -(DIGITS + lost + 5)
        while term > total * least or square * 2 > n:
            n += 2
            term = term * square / n
            total += term
        density = (-square / 2).exp() / _root_two_pi()
        middle = Fraction(Decimal("0.5") - density * total)
        slack = Fraction(1, 10 ** (DIGITS + lost))
    return Bounds(max(Fraction(0), middle - slack), middle + slack)


def _root_two_pi() -> Decimal:
    return (2 * _pi(getcontext().prec + 10)).sqrt()


@lru_cache(maxsize=64)
def _pi(places: int) -> Decimal:
    """Return π to so many places, by Machin's formula in integers."""
    one: int = 10**places

    def arctan_of_inverse(n: int) -> int:
        term = total = one // n
        k, sign = 1, -1
        while term:
            term //= n * n
            k += 2
            total += sign * (term // k)
            sign = -sign
        return total

    scaled = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    return Decimal((0, tuple(map(int, str(scaled))), -places))
