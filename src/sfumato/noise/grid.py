"""Public power-of-two grids, and the exact place of a value on one.

A value x is written ``x = g * (whole + rest)`` with `whole` an integer and
``|rest| <= 1/2``, without any rounding: scaling by a power of two, `rint` and the
subtraction are exact in double precision (see ``docs/proofs/rounded-reals.md``).
Values beyond ``2**1023`` grid steps are clamped there, which moves no two values apart.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.noise.arrays import Floats, Ints
from sfumato.noise.attempts import Exact
from sfumato.words import N_

__all__ = ["GridPlan", "Places", "finish_one", "grid_plan", "place_one"]

CLAMP_BITS = 1023
DEFAULT_BITS = 20
FINEST, COARSEST = 30, -10
_MARGIN = 2.0**-42
_MIN_POWER, _MAX_POWER = -1074, 1000
_MAX_PRODUCT = 1023
_FINEST_FOR_INTEGERS = -40
_LOW_BITS = 0x7FF


@dataclass(frozen=True, slots=True)
class GridPlan:
    """A noise scale on a grid of step ``2**power``.

    Attributes:
        power: The grid step, as a power of two.
        steps: The noise scale in grid steps, exactly.
        factor: The same as a float.
        margin: Bound of the error of ``rest + 1/2 - factor * ln U``.
    """

    power: int
    steps: Fraction
    factor: float
    margin: float


def _floor_log2(value: Fraction) -> int:
    """Return the largest k with ``2**k <= value``."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if Fraction(2) ** k <= value else k - 1


@lru_cache(maxsize=1024)
def grid_plan(scale: Fraction, grid: Fraction | None) -> GridPlan:
    """Return the plan of a positive scale on a grid, by default 2**-20 of the scale.

    Raises:
        ArgumentError: The grid is no power of two, or out of proportion to the scale,
            or the scale is beyond double precision. Nothing was drawn.
    """
    magnitude = _floor_log2(scale)
    if not _MIN_POWER <= magnitude < _MAX_POWER:
        raise ArgumentError(
            N_("a noise scale near 2**{power} does not fit double precision"),
            hint=N_("change the unit: scales from 2**-1074 to 2**1000 can be used"),
            power=magnitude,
        )
    if grid is None:
        power = max(magnitude - DEFAULT_BITS, _MIN_POWER)
    else:
        power = _power_of(grid)
        if not COARSEST <= magnitude - power < FINEST or power < _MIN_POWER:
            raise ArgumentError(
                N_("the grid 2**{power} does not suit a noise scale near 2**{scale}"),
                hint=N_("leave grid out, or take one near scale / 2**20"),
                power=power,
                scale=magnitude,
            )
    steps = scale / Fraction(2) ** power
    factor = float(steps)
    return GridPlan(power, steps, factor, max(factor, 1.0) * _MARGIN)


def _power_of(grid: Fraction) -> int:
    power = _floor_log2(grid) if grid > 0 else 0
    if grid != Fraction(2) ** power:
        raise ArgumentError(
            N_("grid must be a power of two, not {grid}"),
            hint=N_("take 2.0**k for an integer k, or leave grid out"),
            grid=grid,
        )
    return power


@dataclass(frozen=True, slots=True)
class Places:
    """Values on a grid: ``value / g = whole + carry + rest``, shape ``(n,)``.

    Attributes:
        whole: Integers, as floats.
        carry: Integers below 2**52, as floats; zero unless the values are integers.
        rest: Floats within 2**-53 of the exact rest, at most 1 in magnitude.
        exact: The exact rest of an element.
    """

    whole: Floats
    carry: Floats | float
    rest: Floats
    exact: Exact

    @classmethod
    def of(cls, values: NDArray[Any], power: int) -> Places:
        """Place a flat array of floats or integers."""
        if values.dtype.kind != "f":
            return cls._of_integers(values.astype(np.int64), power)
        limit = _limit(power)
        clean: Floats = np.clip(values.astype(np.float64), -limit, limit)
        missing = np.isnan(clean)
        if missing.any():
            clean[missing] = 0.0
        scaled = _shifted(clean, -power)
        whole = np.rint(scaled)

        def exact(i: int) -> Fraction:
            return _in_steps(float(clean[i]), power) - int(whole[i])

        return cls(whole, 0.0, scaled - whole, exact)

    @classmethod
    def _of_integers(cls, values: Ints, power: int) -> Places:
        """Place integers: each is the sum of two floats that are placed exactly."""
        if power < _FINEST_FOR_INTEGERS:
            raise ArgumentError(
                N_("a grid of 2**{power} is too fine for an array of integers"),
                hint=N_("use a discrete law, or convert the integers to floats"),
                power=power,
            )
        low = values & _LOW_BITS
        high, carry = (
            _shifted(part.astype(np.float64), -power) for part in (values - low, low)
        )
        wholes = np.rint(high), np.rint(carry)
        rest = (high - wholes[0]) + (carry - wholes[1])

        def exact(i: int) -> Fraction:
            place = int(wholes[0][i]) + int(wholes[1][i])
            return _in_steps(int(values[i]), power) - place

        return cls(*wholes, rest, exact)

    def finish(self, steps: Floats, power: int) -> Floats:
        """Return the place plus `steps`, in the unit of the values.

        ``steps + carry`` is exact and the sum with `whole` is rounded once, so the
        result is the correctly rounded ``g * (whole + carry + steps)``. It is never
        infinite and never -0.0.
        """
        total: Floats = self.whole + (steps + self.carry)
        if power <= 0:
            return _shifted(total, power)
        with np.errstate(over="ignore"):
            total = _shifted(total, power)
        return np.clip(total, -sys.float_info.max, sys.float_info.max, out=total)


def _in_steps(value: float | Fraction, power: int) -> Fraction:
    """Return ``value / 2**power`` exactly."""
    return Fraction(value) / Fraction(2) ** power


def _shifted(values: Floats, power: int) -> Floats:
    """Return ``values * 2**power``: a product where possible, for it is faster."""
    if power <= _MAX_PRODUCT:
        return np.multiply(values, ldexp(1.0, power))
    return np.ldexp(values, power)


def _limit(power: int) -> float:
    """Return the largest float that is placed: 2**1023 steps, or the largest of all."""
    return sys.float_info.max if power > 0 else ldexp(1.0, CLAMP_BITS + power)


def place_one(
    value: float | Fraction, power: int
) -> tuple[int, float, float | Fraction]:
    """Return ``(whole, rest, clean)`` for one value, clean being what was placed."""
    if isinstance(value, float):
        limit = _limit(power)
        clean = min(max(value, -limit), limit) if value == value else 0.0  # noqa: PLR0124
        scaled = ldexp(clean, -power)
        whole = round(scaled)
        return whole, scaled - whole, clean
    bound = Fraction(2) ** (CLAMP_BITS + min(power, 0))
    exact = min(max(Fraction(value), -bound), bound)
    steps = _in_steps(exact, power)
    whole = round(steps)
    return whole, float(steps - whole), exact


def finish_one(steps: int, power: int) -> float:
    """Return ``steps * 2**power``, correctly rounded, never infinite."""
    try:
        return ldexp(float(steps), power)
    except OverflowError:
        return sys.float_info.max if steps > 0 else -sys.float_info.max
