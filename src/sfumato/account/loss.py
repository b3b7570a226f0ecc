"""Privacy loss as whole numbers of 1e-12, so that sums are exact.

One budget has one currency: ε (with δ, where keys are unknown) here, zCDP ρ (with δ) and
Gaussian ρ in `sfumato.account.rho`. Losses of one currency add up, compare and split; losses of
different currencies do neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from sfumato.amount import Amount, exact, nearest_double
from sfumato.errors import DeclarationError, plainly, quoted
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.account.meaning import Odds

__all__ = [
    "ATTO",
    "PICO",
    "Epsilon",
    "apportion",
    "cut",
    "decimal_text",
    "read_delta",
    "read_units",
]

PICO = 10**12
ATTO = 10**18


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Epsilon:
    """A differential-privacy loss ε, an exact multiple of 1e-12, pure unless δ is named.

    For neighbouring tables D, D' and any set S of outputs,
    ``P[M(D) in S] <= exp(ε) · P[M(D') in S] + δ``; losses of several answers add up, ε
    and δ each, also when each is chosen after seeing earlier answers (Dwork, McSherry,
    Nissim, Smith 2006; Dwork, Rothblum, Vadhan 2010, basic composition; Rogers, Roth,
    Ullman, Vadhan 2016 for the adaptive choice). No noise costs a δ: only answers that
    can fail by themselves do, those whose keys are unknown.

    Args:
        value: A positive decimal: ``"0.5"``, ``Decimal``, ``Fraction``, an integer, or
            a float, which counts as its shortest text. Digits beyond 1e-12 are cut
            off: never more is spent than was written. Or the text of a loss.
        delta: Probability of failure, for answers that need one (unknown keys).

    Raises:
        DeclarationError: Not a finite number greater than 0, or less than 1e-12; δ is
            not in [0, 1).

    Examples:
        >>> Epsilon("0.1") + Epsilon(0.2) == Epsilon("0.3")
        True
        >>> Epsilon("0.1") + Epsilon("0.2", delta="1e-9")
        Epsilon("0.3", "0.000000001")
        >>> Epsilon(str(Epsilon("0.3", "1e-9"))) == Epsilon("0.3", "1e-9")
        True
        >>> Epsilon(0)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] epsilon must be greater than 0, got 0
          hint: write a decimal such as "0.5"; no value switches privacy off
    """

    measure: ClassVar[Literal["epsilon"]] = "epsilon"
    units: int
    delta_units: int

    def __init__(self, value: Amount | Epsilon, delta: Amount | None = None) -> None:
        """Read both numbers exactly as written."""
        if isinstance(value, Epsilon):
            units, delta_units = value.units, value.delta_units
        else:
            if isinstance(value, str) and delta is None and "+ delta " in value:
                value, _, delta = value.partition("+ delta ")
            units, delta_units = read_units("epsilon", value), read_delta(delta)
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "delta_units", delta_units)

    @classmethod
    def from_units(cls, units: int, delta_units: int = 0) -> Epsilon:
        """Return the loss of so many units of 1e-12 (ε; 0 is nothing) and 1e-18 (δ).

        Examples:
            >>> Epsilon.from_units(500_000_000_000)
            Epsilon("0.5")
        """
        loss = object.__new__(cls)
        object.__setattr__(loss, "units", units)
        object.__setattr__(loss, "delta_units", delta_units)
        return loss

    @property
    def value(self) -> Fraction:
        """ε as an exact fraction."""
        return Fraction(self.units, PICO)

    @property
    def delta(self) -> Fraction:
        """δ as an exact fraction."""
        return Fraction(self.delta_units, ATTO)

    @property
    def cap(self) -> Epsilon:
        """The most that may be spent, when the loss is a budget: itself."""
        return self

    def fits(self, left: Epsilon) -> bool:
        """Tell whether ε and δ can both be paid from what is left.

        Examples:
            >>> Epsilon("0.3").fits(Epsilon("0.3"))
            True
            >>> Epsilon("0.3", "1e-9").fits(Epsilon("1"))
            False
        """
        return self.units <= left.units and self.delta_units <= left.delta_units

    def explain(self) -> Odds:
        """Return what the loss means to a person; see `sfumato.account.odds`."""
        from sfumato.account.meaning import odds

        return odds(self)

    def split(self, weights: Sequence[Fraction | int]) -> tuple[Epsilon, ...]:
        """Cut ε, and δ if there is one, in proportion; the sums are exactly the whole.

        Raises:
            DeclarationError: A share would be less than one unit.

        Examples:
            >>> Epsilon("1").split([1, 1, 1])
            (Epsilon("0.333333333334"), Epsilon("0.333333333333"), Epsilon("0.333333333333"))
        """
        parts = cut("epsilon", self.units, 12, weights)
        if not self.delta_units:
            return tuple(map(Epsilon.from_units, parts))
        deltas = cut("delta", self.delta_units, 18, weights)
        return tuple(map(Epsilon.from_units, parts, deltas))

    def __add__(self, other: Epsilon) -> Epsilon:
        """Compose sequentially; a loss of another currency cannot be added."""
        if not isinstance(other, Epsilon):
            return NotImplemented
        return Epsilon.from_units(
            self.units + other.units, self.delta_units + other.delta_units
        )

    def __sub__(self, other: Epsilon) -> Epsilon:
        """Return what is left after `other`."""
        if not isinstance(other, Epsilon):
            return NotImplemented
        return Epsilon.from_units(
            self.units - other.units, self.delta_units - other.delta_units
        )

    def __le__(self, other: Epsilon) -> bool:
        """Compare both parts: losses with crossing ε and δ are not comparable."""
        if not isinstance(other, Epsilon):
            return NotImplemented
        return self.fits(other)

    def __lt__(self, other: Epsilon) -> bool:
        """Tell whether no part is larger and one is smaller."""
        if not isinstance(other, Epsilon):
            return NotImplemented
        return self.fits(other) and self != other

    def __float__(self) -> float:
        """Return the float nearest to ε, for display and estimates only."""
        return nearest_double(self.value)

    def __str__(self) -> str:
        """Render the exact decimal.

        Examples:
            >>> str(Epsilon("2.50")), str(Epsilon(1e-12))
            ('2.5', '0.000000000001')
        """
        epsilon = decimal_text(self.units, 12)
        if not self.delta_units:
            return epsilon
        return f"{epsilon} + delta {decimal_text(self.delta_units, 18)}"

    def __repr__(self) -> str:
        """Render a constructor call."""
        epsilon = decimal_text(self.units, 12)
        if not self.delta_units:
            return f'Epsilon("{epsilon}")'
        return f'Epsilon("{epsilon}", "{decimal_text(self.delta_units, 18)}")'


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
            value=quoted(value),
        )
    if number <= 0:
        raise DeclarationError(
            N_("{name} must be greater than 0, got {value}"),
            hint=N_('write a decimal such as "0.5"; no value switches privacy off'),
            name=name,
            value=plainly(value),
        )
    units = number.numerator * PICO // number.denominator
    if not units:
        raise DeclarationError(
            N_("{name} {value} is below the smallest amount, 1e-12"),
            hint=N_("such an answer would be noise only; write a larger {name}"),
            name=name,
            value=plainly(value),
        )
    return units


def read_delta(value: object) -> int:
    """Read δ as units of 1e-18, exactly as written; none and 0 both mean no δ.

    Raises:
        DeclarationError: Outside [0, 1), not a number, or positive and below 1e-18.

    Examples:
        >>> read_delta("1e-6"), read_delta(None), read_delta(0)
        (1000000000000, 0, 0)
        >>> read_delta(1.5)
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] delta must lie in [0, 1), got 1.5
          hint: write a small decimal such as "1e-6": the chance that the promise fails
    """
    number = Fraction(0) if value is None else exact(value)
    if number is None or not 0 <= number < 1:
        raise DeclarationError(
            N_("delta must lie in [0, 1), got {value}"),
            hint=N_(
                'write a small decimal such as "1e-6": the chance that the promise '
                "fails"
            ),
            value=plainly(value),
        )
    units = number.numerator * ATTO // number.denominator
    if number and not units:
        raise DeclarationError(
            N_("delta {value} is below the smallest amount, 1e-18"),
            hint=N_('write "1e-18" or more, or 0 for none'),
            value=plainly(value),
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


def cut(
    name: str, units: int, places: int, weights: Sequence[Fraction | int]
) -> tuple[int, ...]:
    """Cut whole units in proportion to weights.

    Raises:
        DeclarationError: A share would be less than one unit.
    """
    shares = apportion(units, weights)
    if min(shares, default=1) < 1:
        raise DeclarationError(
            N_("{name} {value} is too small to be split into {parts} parts"),
            hint=N_("ask for fewer figures or give a larger {name}"),
            name=name,
            value=decimal_text(units, places),
            parts=len(shares),
        )
    return shares
