"""Split a budget over figures: pure functions, in integers; the sum is the cap exactly.

No share is computed in floats, so no sum of shares can exceed the whole by a hair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TypeVar

from sfumato.account.loss import PICO, Epsilon
from sfumato.account.mechanism import read_sensitivity
from sfumato.account.rho import GDP, ZCDP
from sfumato.amount import Amount, exact
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Term", "equal", "geometric", "open_ended", "optimal", "weighted"]

L = TypeVar("L", Epsilon, ZCDP, GDP)
_BITS = 64


@dataclass(frozen=True, slots=True)
class Term:
    """One figure of a split: the square of its sensitivity, and its weight.

    Attributes:
        square: Δ², of the L1 sensitivity for Laplace-like noise and of the L2
            sensitivity for Gaussian noise.
        weight: How much the figure's variance matters.

    Examples:
        >>> Term.of(250, 2)
        Term(square=Fraction(62500, 1), weight=Fraction(2, 1))
    """

    square: Fraction
    weight: Fraction

    @classmethod
    def of(cls, sensitivity: Amount, weight: Amount = 1) -> Term:
        """Read a sensitivity and a weight exactly as written."""
        return cls.of_square(read_sensitivity(sensitivity) ** 2, weight)

    @classmethod
    def of_square(cls, square: Fraction, weight: Amount = 1) -> Term:
        """Read a squared sensitivity and a weight."""
        return cls(Fraction(square), _positive("weight", weight))


def equal(total: L, parts: int) -> tuple[L, ...]:
    """Split into equal shares; the first ones get what does not divide.

    Examples:
        >>> equal(Epsilon("1"), 3)
        (Epsilon("0.333333333334"), Epsilon("0.333333333333"), Epsilon("0.333333333333"))
    """
    return total.split([1] * _count(parts))


def weighted(total: L, weights: Sequence[Amount]) -> tuple[L, ...]:
    """Split in proportion to positive weights.

    Examples:
        >>> weighted(ZCDP("0.1"), ["0.5", "1.5"])
        (ZCDP("0.025"), ZCDP("0.075"))
    """
    _count(len(weights))
    return total.split([_positive("weight", w) for w in weights])


def geometric(total: L, parts: int, *, ratio: Amount = "0.8") -> tuple[L, ...]:
    """Split so that each share is about `ratio` times the one before; never over.

    With shares normalised by (1 - r)/(1 - rⁿ) they sum to the whole, where the bare
    ε·rⁱ of the folklore would sum to 3.36 times it for five figures.

    Examples:
        >>> [str(share) for share in geometric(Epsilon("1"), 3, ratio="0.5")]
        ['0.571428571429', '0.285714285714', '0.142857142857']
    """
    r = _ratio(ratio)
    return total.split([r**i for i in range(_count(parts))])


def open_ended(total: L, *, ratio: Amount = "0.8") -> Iterator[L]:
    """Give (1 - ratio) of what is left, again and again; it never exceeds the whole.

    For an unknown number of questions. As real numbers the shares never run out; as
    whole units of 1e-12 they become too small to use after some hundred questions
    (for a ratio of 0.8 and a total of 1), and there the iterator ends.

    Examples:
        >>> shares = open_ended(Epsilon("1"))
        >>> [str(next(shares)) for _ in range(3)]
        ['0.2', '0.16', '0.128']
    """
    rest = 1 - _ratio(ratio)
    left = total
    while units := left.units * rest.numerator // rest.denominator:
        share = type(total).from_units(units)
        yield share
        left = left - share


def optimal(total: L, terms: Sequence[Term]) -> tuple[L, ...]:
    r"""Split so that the weighted sum of variances is least.

    Laplace-like noise under ε: Σ wᵢ·2(Δᵢ/εᵢ)² is least for εᵢ ∝ (wᵢΔᵢ²)^(1/3);
    Gaussian noise under ρ: Σ wᵢ·Δᵢ²/2ρᵢ is least for ρᵢ ∝ (wᵢΔᵢ²)^(1/2) (Lagrange; for
    ε Cormode et al., ICDE 2012). Roots are taken in integers: equal input gives equal
    shares on every machine.

    Examples:
        >>> optimal(Epsilon("1"), [Term.of(1), Term.of(8)])
        (Epsilon("0.2"), Epsilon("0.8"))
        >>> optimal(ZCDP("0.3"), [Term.of(1), Term.of(2)])
        (ZCDP("0.1"), ZCDP("0.2"))
    """
    _count(len(terms))
    currency: str = total.measure
    root = _cube_root if currency == "epsilon" else _square_root
    roots = [root(t.weight * t.square) for t in terms]
    unit = max(roots)
    return total.split([max(r, Fraction(unit, PICO)) for r in roots])


def _square_root(x: Fraction) -> Fraction:
    """Return √x from below, to 64 bits."""
    shift = 2 * (_BITS + max(0, x.denominator.bit_length()))
    return Fraction(isqrt((x.numerator << shift) // x.denominator), 1 << (shift // 2))


def _cube_root(x: Fraction) -> Fraction:
    """Return x^(1/3) from below, to 64 bits, by Newton's method in integers."""
    shift = 3 * (_BITS + max(0, x.denominator.bit_length()))
    cube = (x.numerator << shift) // x.denominator
    root = 1 << -(-cube.bit_length() // 3)
    while True:
        better = (2 * root + cube // (root * root)) // 3
        if better >= root:
            return Fraction(root, 1 << (shift // 3))
        root = better


def _count(parts: object) -> int:
    if not isinstance(parts, int) or isinstance(parts, bool) or parts < 1:
        raise DeclarationError(
            N_("a budget is split into at least 1 part, got {parts}"),
            hint=N_("ask for at least one figure"),
            parts=str(parts)[:60],
        )
    return parts


def _ratio(ratio: Amount) -> Fraction:
    number = exact(ratio)
    if number is None or not 0 < number < 1:
        raise DeclarationError(
            N_("ratio must lie between 0 and 1, got {value}"),
            hint=N_('write a decimal such as "0.8"'),
            value=quoted(ratio),
        )
    return number


def _positive(name: str, value: Amount) -> Fraction:
    number = exact(value)
    if number is None or number <= 0:
        raise DeclarationError(
            N_("{name} must be a finite number greater than 0, got {value}"),
            hint=N_("leave a figure out instead of giving it the weight 0"),
            name=name,
            value=quoted(value),
        )
    return number
