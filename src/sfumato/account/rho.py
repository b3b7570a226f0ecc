"""Losses for Gaussian-like noise: zCDP ρ with an optional δ, and the Gaussian ρ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, Literal

from sfumato.account.loss import ATTO, PICO, cut, decimal_text, read_delta, read_units
from sfumato.amount import Amount

if TYPE_CHECKING:
    from sfumato.account.meaning import Odds

__all__ = ["GDP", "ZCDP", "read_delta"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ZCDP:
    r"""A zero-concentrated loss ρ in units of 1e-12, with δ in units of 1e-18.

    For neighbouring tables and every order α > 1 the Rényi divergence of the outputs
    is at most αρ, outside an event of probability δ (ρ-zCDP; with δ: δ-approximate
    ρ-zCDP). Losses add up, also when each is chosen after seeing earlier answers
    (Bun, Steinke 2016, Lemmas 1.7 and 8.2; Feldman, Zrnic 2021 and Whitehouse,
    Ramdas, Rogers, Wu 2023 for the adaptive choice of the losses).

    Args:
        rho: A positive decimal, read as `Epsilon` reads it; or the text of a loss.
        delta: Probability of failure, for answers that need one (unknown keys).

    Raises:
        DeclarationError: ρ is not a finite number greater than 0, or δ is not in [0, 1).

    Examples:
        >>> ZCDP("0.1") + ZCDP("0.2", "1e-9")
        ZCDP("0.3", "0.000000001")
        >>> ZCDP(str(ZCDP("0.3", "1e-9"))) == ZCDP("0.3", "1e-9")
        True
    """

    measure: ClassVar[Literal["zcdp"]] = "zcdp"
    units: int
    delta_units: int

    def __init__(self, rho: Amount | ZCDP, delta: Amount | None = None) -> None:
        """Read both numbers exactly as written."""
        if isinstance(rho, ZCDP):
            units, delta_units = rho.units, rho.delta_units
        else:
            if isinstance(rho, str) and delta is None and "+ delta " in rho:
                rho, _, delta = rho.partition("+ delta ")
            units, delta_units = read_units("rho", rho), read_delta(delta)
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "delta_units", delta_units)

    @classmethod
    def from_units(cls, units: int, delta_units: int = 0) -> ZCDP:
        """Return the loss of that many units of 1e-12 (ρ) and of 1e-18 (δ).

        Examples:
            >>> ZCDP.from_units(500_000_000_000)
            ZCDP("0.5")
        """
        loss = object.__new__(cls)
        object.__setattr__(loss, "units", units)
        object.__setattr__(loss, "delta_units", delta_units)
        return loss

    @property
    def value(self) -> Fraction:
        """ρ as an exact fraction."""
        return Fraction(self.units, PICO)

    @property
    def delta(self) -> Fraction:
        """δ as an exact fraction."""
        return Fraction(self.delta_units, ATTO)

    @property
    def cap(self) -> ZCDP:
        """The most that may be spent, when the loss is a budget: itself."""
        return self

    def fits(self, left: ZCDP) -> bool:
        """Tell whether ρ and δ can both be paid from what is left.

        Examples:
            >>> ZCDP("0.1", "1e-9").fits(ZCDP("0.5"))
            False
        """
        return self.units <= left.units and self.delta_units <= left.delta_units

    def explain(self) -> Odds:
        """Return what the loss means to a person; see `sfumato.account.odds`."""
        from sfumato.account.meaning import odds

        return odds(self)

    def split(self, weights: Sequence[Fraction | int]) -> tuple[ZCDP, ...]:
        """Cut ρ, and δ if there is one, in proportion; the sums are exactly the whole.

        Raises:
            DeclarationError: A share would be less than one unit.

        Examples:
            >>> ZCDP("0.1").split([3, 1])
            (ZCDP("0.075"), ZCDP("0.025"))
        """
        shares = cut("rho", self.units, 12, weights)
        if not self.delta_units:
            return tuple(map(ZCDP.from_units, shares))
        deltas = cut("delta", self.delta_units, 18, weights)
        return tuple(map(ZCDP.from_units, shares, deltas))

    def __add__(self, other: ZCDP) -> ZCDP:
        """Compose; a loss of another currency cannot be added."""
        if not isinstance(other, ZCDP):
            return NotImplemented
        return ZCDP.from_units(
            self.units + other.units, self.delta_units + other.delta_units
        )

    def __sub__(self, other: ZCDP) -> ZCDP:
        """Return what is left after `other`."""
        if not isinstance(other, ZCDP):
            return NotImplemented
        return ZCDP.from_units(
            self.units - other.units, self.delta_units - other.delta_units
        )

    def __le__(self, other: ZCDP) -> bool:
        """Compare both parts: losses with crossing ρ and δ are not comparable."""
        if not isinstance(other, ZCDP):
            return NotImplemented
        return self.fits(other)

    def __lt__(self, other: ZCDP) -> bool:
        """Tell whether no part is larger and one is smaller."""
        if not isinstance(other, ZCDP):
            return NotImplemented
        return self.fits(other) and self != other

    def __float__(self) -> float:
        """Return the float nearest to ρ, for display and estimates only."""
        return self.units / PICO

    def __str__(self) -> str:
        """Render the exact decimals.

        Examples:
            >>> str(ZCDP("0.10")), str(ZCDP("0.1", "1e-3"))
            ('0.1', '0.1 + delta 0.001')
        """
        rho = decimal_text(self.units, 12)
        if not self.delta_units:
            return rho
        return f"{rho} + delta {decimal_text(self.delta_units, 18)}"

    def __repr__(self) -> str:
        """Render a constructor call."""
        rho = decimal_text(self.units, 12)
        if not self.delta_units:
            return f'ZCDP("{rho}")'
        return f'ZCDP("{rho}", "{decimal_text(self.delta_units, 18)}")'


@dataclass(frozen=True, slots=True, order=True, init=False, repr=False)
class GDP:
    r"""A Gaussian loss ρ = μ²/2 in units of 1e-12: for Gaussian noise and nothing else.

    μ-GDP: no test tells neighbours apart better than N(0, 1) from N(μ, 1). The squares
    μ² add up (Dong, Roth, Su 2022, Cor. 3.3), also for parameters chosen after seeing
    earlier answers (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023). A loss of ρ
    here is also a zCDP loss of ρ; the reverse does not hold, which is why this is a
    currency of its own: it converts to (ε, δ) exactly.

    Args:
        rho: A positive decimal, read as `Epsilon` reads it.

    Raises:
        DeclarationError: Not a finite number greater than 0.

    Examples:
        >>> GDP("0.1") + GDP("0.2")
        GDP("0.3")
        >>> GDP("0.5").mu
        1.0
    """

    measure: ClassVar[Literal["gdp"]] = "gdp"
    units: int

    def __init__(self, rho: Amount | GDP) -> None:
        """Read `rho` exactly as written."""
        units = rho.units if isinstance(rho, GDP) else read_units("rho", rho)
        object.__setattr__(self, "units", units)

    @classmethod
    def from_units(cls, units: int) -> GDP:
        """Return the loss of that many units of 1e-12."""
        loss = object.__new__(cls)
        object.__setattr__(loss, "units", units)
        return loss

    @property
    def value(self) -> Fraction:
        """ρ = μ²/2 as an exact fraction."""
        return Fraction(self.units, PICO)

    @property
    def mu(self) -> float:
        """μ, for display and estimates only."""
        return sqrt(2 * self.value)

    @property
    def cap(self) -> GDP:
        """The most that may be spent, when the loss is a budget: itself."""
        return self

    def fits(self, left: GDP) -> bool:
        """Tell whether this loss can be paid from what is left."""
        return self <= left

    def explain(self) -> Odds:
        """Return what the loss means to a person; see `sfumato.account.odds`."""
        from sfumato.account.meaning import odds

        return odds(self)

    def split(self, weights: Sequence[Fraction | int]) -> tuple[GDP, ...]:
        """Cut into shares in proportion to `weights`; their sum is exactly the whole.

        Raises:
            DeclarationError: A share would be less than 1e-12.
        """
        return tuple(map(GDP.from_units, cut("rho", self.units, 12, weights)))

    def __add__(self, other: GDP) -> GDP:
        """Compose; a loss of another currency cannot be added."""
        if not isinstance(other, GDP):
            return NotImplemented
        return GDP.from_units(self.units + other.units)

    def __sub__(self, other: GDP) -> GDP:
        """Return what is left after `other`."""
        if not isinstance(other, GDP):
            return NotImplemented
        return GDP.from_units(self.units - other.units)

    def __float__(self) -> float:
        """Return the float nearest to ρ, for display and estimates only."""
        return self.units / PICO

    def __str__(self) -> str:
        """Render the exact decimal."""
        return decimal_text(self.units, 12)

    def __repr__(self) -> str:
        """Render a constructor call."""
        return f'GDP("{self}")'
