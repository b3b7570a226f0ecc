"""Privacy loss as whole numbers of 1e-12, so that sums are exact.

One budget has one currency: pure ε here, zCDP ρ (with δ) and Gaussian ρ in
`sfumato.account.rho`. Losses of one currency add up, compare and split; losses of
different currencies do neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from sfumato.amount import Amount, exact, nearest_double
from sfumato.errors import DeclarationError
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.account.meaning import Odds

__all__ = ["ATTO", "PICO", "Epsilon", "apportion", "decimal_text", "read_units"]

PICO = 10**12
ATTO = 10**18


@dataclass(frozen=True, slots=True, order=True, init=False, repr=False)
class Epsilon:
    """A pure differential-privacy loss ε, an exact multiple of 1e-12.

    For neighbouring tables D, D' and any set S of outputs,
    ``P[M(D) in S] <= exp(ε) · P[M(D') in S]``; losses of several answers add up
    (Dwork, McSherry, Nissim, Smith 2006; basic composition).

    Args:
        value: A positive decimal: ``"0.5"``, ``Decimal``, ``Fraction``, an integer, or
            a float, which counts as its shortest text. Digits beyond 1e-12 are cut
            off: never more is spent than was written.

    Raises:
        DeclarationError: Not a finite number greater than 0, or less than 1e-12.

    Examples:
        >>> Epsilon("0.1") + Epsilon(0.2) == Epsilon("0.3")
        True
        >>> Epsilon(0)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] epsilon must be greater than 0, got 0
          hint: write a decimal such as "0.5"; no value switches privacy off
    """

    measure: ClassVar[Literal["epsilon"]] = "epsilon"
    units: int

    def __init__(self, value: Amount | Epsilon) -> None:
        """Read `value` exactly as written."""
        if isinstance(value, Epsilon):
            object.__setattr__(self, "units", value.units)
            return
        units = read_units("epsilon", value)
        object.__setattr__(self, "units", units)

    @classmethod
    def from_units(cls, units: int) -> Epsilon:
        """Return the loss of that many units of 1e-12 (0 is the loss of nothing).

        Examples:
            >>> Epsilon.from_units(500_000_000_000)
            Epsilon("0.5")
        """
        loss = object.__new__(cls)
        object.__setattr__(loss, "units", units)
        return loss

    @property
    def value(self) -> Fraction:
        """The loss as an exact fraction."""
        return Fraction(self.units, PICO)

    @property
    def cap(self) -> Epsilon:
        """The most that may be spent, when the loss is a budget: itself."""
        return self

    def fits(self, left: Epsilon) -> bool:
        """Tell whether this loss can be paid from what is left.

        Examples:
            >>> Epsilon("0.3").fits(Epsilon("0.3"))
            True
        """
        return self <= left

    def explain(self) -> Odds:
        """Return what the loss means to a person; see `sfumato.account.odds`."""
        from sfumato.account.meaning import odds

        return odds(self)

    def split(self, weights: Sequence[Fraction | int]) -> tuple[Epsilon, ...]:
        """Cut into shares in proportion to `weights`; their sum is exactly the whole.

        Raises:
            DeclarationError: A share would be less than 1e-12.

        Examples:
            >>> Epsilon("1").split([1, 1, 1])
            (Epsilon("0.333333333334"), Epsilon("0.333333333333"), Epsilon("0.333333333333"))
        """
        shares = apportion(self.units, weights)
        if min(shares, default=1) < 1:
            raise DeclarationError(
                N_("epsilon {value} is too small to be split into {parts} parts"),
                hint=N_("ask for fewer figures or give a larger epsilon"),
                value=self,
                parts=len(shares),
            )
        return tuple(map(Epsilon.from_units, shares))

    def __add__(self, other: Epsilon) -> Epsilon:
        """Compose sequentially; a loss of another currency cannot be added."""
        if not isinstance(other, Epsilon):
            return NotImplemented
        return Epsilon.from_units(self.units + other.units)

    def __sub__(self, other: Epsilon) -> Epsilon:
        """Return what is left after `other`."""
        if not isinstance(other, Epsilon):
            return NotImplemented
        return Epsilon.from_units(self.units - other.units)

    def __float__(self) -> float:
        """Return the nearest float, for display and estimates only."""
        return nearest_double(self.value)

    def __str__(self) -> str:
        """Render the exact decimal.

        Examples:
            >>> str(Epsilon("2.50")), str(Epsilon(1e-12))
            ('2.5', '0.000000000001')
        """
        return decimal_text(self.units, 12)

    def __repr__(self) -> str:
        """Render a constructor call."""
        return f'Epsilon("{self}")'


def read_units(name: str, value: object) -> int:
    """Read a loss as units of 1e-12, exactly as written; cut further digits off.

    Raises:
        DeclarationError: Not a finite number greater than 0, or less than 1e-12.
    """
    number = exact(value)
    if number is None:
        raise DeclarationError(
            N_("{name} must be a finite number greater than 0, got {value}"),
            hint=N_('write a decimal such as "0.5"'),
            name=name,
            value=repr(value)[:60],
        )
    if number <= 0:
        raise DeclarationError(
            N_("{name} must be greater than 0, got {value}"),
            hint=N_('write a decimal such as "0.5"; no value switches privacy off'),
            name=name,
            value=str(value)[:60],
        )
    units = number.numerator * PICO // number.denominator
    if not units:
        raise DeclarationError(
            N_("{name} {value} is below the smallest amount, 1e-12"),
            hint=N_("such an answer would be noise only; write a larger {name}"),
            name=name,
            value=str(value)[:60],
        )
    return units


def decimal_text(units: int, places: int) -> str:
    """Render a whole number of ``10**-places`` as an exact decimal.

    Examples:
        >>> decimal_text(1_500, 3), decimal_text(-1, 2)
        ('1.5', '-0.01')
    """
    whole, part = divmod(abs(units), 10**places)
    digits = f"{part:0{places}d}".rstrip("0")
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}.{digits}" if digits else f"{sign}{whole}"


def apportion(total: int, weights: Sequence[Fraction | int]) -> tuple[int, ...]:
    """Split an integer in proportion to weights; the shares sum to it exactly.

    Largest remainders get the units that rounding down leaves over (Hamilton); ties go
    to the earlier share, so equal input gives equal output.

    Examples:
        >>> apportion(10, [1, 1, 1])
        (4, 3, 3)
    """
    whole = sum(map(Fraction, weights), Fraction(0))
    ideal = [Fraction(w) * total / whole for w in weights]
    floors = [q.numerator // q.denominator for q in ideal]
    left = total - sum(floors)
    order = sorted(range(len(ideal)), key=lambda i: (floors[i] - ideal[i], i))
    for i in order[:left]:
        floors[i] += 1
    return tuple(floors)
