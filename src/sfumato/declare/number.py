"""Columns of numbers: public bounds, a grid, and codes that mean "no value"."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isinf, log2
from typing import Self, TypeAlias

from sfumato.amount import exact, nearest_double
from sfumato.declare.bounds import PrivateBounds, stated_bounds
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Integer", "Number", "Real"]

LARGEST = 1e50  # bounds; every IEEE operation of the scan stays finite below it
STEPS = 1 << 30  # a default grid has at most this many steps between the bounds
GRID = float(1 << 62)  # bound / step: grid numbers fit a 64-bit integer


@dataclass(frozen=True, slots=True, init=False)
class _Grid:
    """Bounds and step shared by `Real` and `Integer`; see there."""

    lower: float
    upper: float
    step: float
    missing: tuple[float, ...]
    complete: bool
    unit: str
    private: PrivateBounds | None

    def _fill(self, ends: tuple[object, object, object], step: object, missing: object,
              complete: bool, unit: str) -> None:  # fmt: skip
        lower, upper, private = stated_bounds(*ends)
        low, high = _bound("lower", lower), _bound("upper", upper)
        if not low < high:
            raise DeclarationError(
                N_("lower bound {lower} is not below upper bound {upper}"),
                hint=N_("swap the bounds, or widen them; equal bounds say nothing"),
                lower=lower,
                upper=upper,
            )
        if not isinstance(unit, str):
            raise DeclarationError(
                N_("a unit of measurement is a text, got {value}"),
                hint=N_('write unit="mg/dL", or leave it out'),
                value=quoted(unit),
            )
        width = _step(step, low, high)
        codes = missing if isinstance(missing, tuple | list | set) else (missing,)
        for name, value in (
            ("lower", low), ("upper", high), ("step", width),
            ("missing", tuple(_code(c) for c in codes if c is not None)),
            ("complete", bool(complete)), ("unit", unit), ("private", private),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def narrowed(self, lower: float, upper: float) -> Self:
        """Return the column clipped to bounds that were found within its own.

        Raises:
            ValueError: They are not, or are no grid step apart.
        """
        if not self.lower <= lower < upper <= self.upper:
            msg = "bounds must lie within those declared"
            raise ValueError(msg)
        made = copy(self)
        object.__setattr__(made, "lower", lower)
        object.__setattr__(made, "upper", upper)
        if made.width < 1:
            msg = "bounds must be at least one grid step apart"
            raise ValueError(msg)
        return made

    @property
    def declared(self) -> Self:
        """The column as it was declared, whatever bounds were found since."""
        if self.private is None:
            return self
        made = copy(self)
        object.__setattr__(made, "lower", _bound("lower", self.private.lower))
        object.__setattr__(made, "upper", _bound("upper", self.private.upper))
        return made

    @property
    def plain(self) -> Self:
        """The column of values that were read: no code among them is missing."""
        made = copy(self)
        object.__setattr__(made, "missing", ())
        object.__setattr__(made, "complete", False)
        return made

    @property
    def first(self) -> int:
        """Grid number of the lower bound: ``floor(lower / step + 1/2)``."""
        return floor(self.lower / self.step + 0.5)

    @property
    def last(self) -> int:
        """Grid number of the upper bound."""
        return floor(self.upper / self.step + 0.5)

    @property
    def width(self) -> int:
        """Grid steps between the bounds: the range of one clamped value."""
        return self.last - self.first


@dataclass(frozen=True, slots=True, init=False)
class Real(_Grid):
    """A numeric column with public bounds.

    Args:
        lower: Smallest value kept, in the column's unit; smaller ones are clamped.
        upper: Largest value kept; larger ones and infinity are clamped.
        step: Grid that each value is rounded to before it is summed, so that every sum
            is an exact integer. Default: a power of two that cuts the range into at
            most 2^30 steps (no loss that a figure could show).
        missing: Codes that mean "no value": one number or several, such as ``0``.
        complete: True when every row has a value. A cell without one then counts as
            the middle of the bounds, and means share one count of rows.
        unit: Name of the unit of measurement, for reports: ``"mg/dL"``.
        bounds: Instead of `lower` and `upper`: a pair of them, or `private_bounds`.

    Raises:
        DeclarationError: A bound is missing, NaN, infinite, beyond ±1e50, or out of
            order; the step is not positive or too fine for 64-bit grid numbers.

    Examples:
        >>> Real(0, 250, step=1, missing=0, unit="mg/dL").width
        250
        >>> Real(0, float("nan"))
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] upper bound must be a finite number, got nan
          hint: declare public bounds that every plausible value lies in, such as 0 and 250
    """

    def __init__(self, lower: object = None, upper: object = None, *,  # noqa: PLR0913
                 step: object = None, missing: object = (), complete: bool = False,
                 unit: str = "", bounds: object = None) -> None:  # fmt: skip
        """Check the declaration once; no later floor checks again."""
        self._fill((lower, upper, bounds), step, missing, complete, unit)


@dataclass(frozen=True, slots=True, init=False)
class Integer(_Grid):
    """A column of whole numbers with public bounds; the grid is the integers.

    Args:
        lower: Smallest value kept; smaller ones are clamped.
        upper: Largest value kept; larger ones are clamped.
        missing: Codes that mean "no value".
        complete: True when every row has a value (see `Real`).
        unit: Name of the unit of measurement, for reports.
        bounds: As in `Real`.

    Examples:
        >>> Integer(0, 120, unit="years").width
        120
    """

    def __init__(self, lower: object = None, upper: object = None, *,
                 missing: object = (), complete: bool = False, unit: str = "",
                 bounds: object = None) -> None:  # fmt: skip
        """Check the declaration once."""
        self._fill((lower, upper, bounds), 1, missing, complete, unit)


Number: TypeAlias = Real | Integer


def _bound(side: str, value: object) -> float:
    number = exact(value)
    if number is None:
        raise DeclarationError(
            N_("{side} bound must be a finite number, got {value}"),
            hint=N_(
                "declare public bounds that every plausible value lies in, "
                "such as 0 and 250"
            ),
            side=side,
            value=value,
        )
    if abs(number) > LARGEST:
        raise DeclarationError(
            N_("{side} bound {value} is beyond the largest allowed, 1e50"),
            hint=N_("declare tighter bounds; noise grows with their distance"),
            side=side,
            value=value,
        )
    return float(number)


def _step(step: object, lower: float, upper: float) -> float:
    reach = max(abs(lower), abs(upper))
    if step is None:
        # A power of two divides exactly; the second term keeps grid numbers in 64 bits.
        number = Fraction(2) ** max(
            ceil(log2(upper - lower)) - 30, ceil(log2(reach)) - 52
        )
    else:
        number = exact(step) or Fraction(0)
    size = nearest_double(number)
    if size <= 0 or reach / size >= GRID:
        raise DeclarationError(
            N_("step must be a number greater than 0 and above bound/2^62, got {step}"),
            hint=N_("use the precision of the measurement, such as 1 or 0.1"),
            step=step,
        )
    if floor(upper / size + 0.5) <= floor(lower / size + 0.5):
        raise DeclarationError(
            N_("step {step} is wider than the range of the bounds"),
            hint=N_("use the precision of the measurement, such as 1 or 0.1"),
            step=size if step is None else step,
        )
    return size


def _code(value: object) -> float:
    number = exact(value)
    if number is None or isinf(nearest_double(number)):
        raise DeclarationError(
            N_("missing code {value} is not a number"),
            hint=N_("texts that are no numbers, nulls and NaN are missing anyway"),
            value=quoted(value),
        )
    return float(number)
