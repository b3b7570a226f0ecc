"""Public power-of-two grids, and the exact place of a value on one.

A value x is written ``x = g * (whole + rest)`` with `whole` an integer and
``|rest| <= 1/2``, without any rounding: scaling by a power of two, `rint` and the
subtraction are exact in double precision (see ``docs/proofs/rounded-reals.md``).
Values beyond ``2**61`` grid steps are clamped there, which moves no two values apart.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.noise.arrays import Floats, Ints
from sfumato.words import N_

__all__ = ["GridPlan", "Places", "finish", "finish_one", "grid_plan", "place_one"]

CLAMP_BITS = 61
DEFAULT_BITS = 20
FINEST, COARSEST = 30, -10
_MARGIN = 2.0**-42
_MIN_POWER, _MAX_POWER = -1074, 1000
_INT64_BITS = 63
_FLOAT_POWER = 1024
_MAX_PRODUCT = 1023


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
    """Values on a grid: ``value / g = whole + rest``, shape ``(n,)``.

    Attributes:
        whole: Integers, at most ``2**61`` in magnitude.
        rest: Floats within 2**-53 of the exact rest.
        exact: The exact rest of an element.
    """

    whole: Ints
    rest: Floats
    exact: Callable[[int], Fraction]

    @classmethod
    def of(cls, values: NDArray[Any], power: int) -> Places:
        """Place a flat array of floats, integers or Python numbers."""
        if values.dtype.kind == "O":
            return cls._of_python(values.tolist(), power)
        if values.dtype.kind in "iub":
            return cls._of_integers(values, power)
        clean = _clean(values.astype(np.float64), power)
        scaled = _shifted(clean, -power)
        whole = np.rint(scaled)

        def exact(i: int) -> Fraction:
            value = Fraction(float(clean[i])) / Fraction(2) ** power
            return value - int(whole[i])

        return cls(whole.astype(np.int64), scaled - whole, exact)

    @classmethod
    def _of_python(cls, values: list[float | Fraction], power: int) -> Places:
        """Place Python numbers, however large."""
        placed = [place_one(v, power) for v in values]
        whole = np.array([p[0] for p in placed], np.int64)
        rest = np.array([p[1] for p in placed], np.float64)

        def exact(i: int) -> Fraction:
            return Fraction(placed[i][2]) / Fraction(2) ** power - placed[i][0]

        return cls(whole, rest, exact)

    @classmethod
    def _of_integers(cls, values: NDArray[Any], power: int) -> Places:
        """Place integers: each is the sum of two floats that are placed exactly."""
        if power < -CLAMP_BITS:
            raise ArgumentError(
                N_("a grid of 2**{power} is too fine for integers"),
                hint=N_("use a discrete law for integers, or convert them to floats"),
                power=power,
            )
        top = (1 << min(power + CLAMP_BITS, _INT64_BITS)) - 1
        high_limit = min(top, int(np.iinfo(values.dtype).max)) if values.size else 0
        low_limit = max(-top, int(np.iinfo(values.dtype).min)) if values.size else 0
        clean = np.clip(values, low_limit, high_limit).astype(np.int64)
        low = clean & 0x7FF
        parts = [_shifted(p.astype(np.float64), -power) for p in (clean - low, low)]
        wholes = [np.rint(p) for p in parts]
        rest = (parts[0] - wholes[0]) + (parts[1] - wholes[1])
        whole = wholes[0].astype(np.int64) + wholes[1].astype(np.int64)

        def exact(i: int) -> Fraction:
            return Fraction(int(clean[i])) / Fraction(2) ** power - int(whole[i])

        return cls(whole, rest, exact)


def _shifted(values: Floats, power: int) -> Floats:
    """Return ``values * 2**power``: a product where possible, for it is faster."""
    if power <= _MAX_PRODUCT:
        return np.multiply(values, ldexp(1.0, power))
    return np.ldexp(values, power)


def _limit(power: int) -> float:
    """Return the largest float that may be placed."""
    if power + CLAMP_BITS >= _FLOAT_POWER:
        return sys.float_info.max
    return ldexp(1.0, power + CLAMP_BITS)


def _clean(values: Floats, power: int) -> Floats:
    """Clamp to the limit; NaN, which has no place, becomes zero."""
    limit = _limit(power)
    clean: Floats = np.clip(values, -limit, limit)
    missing = np.isnan(clean)
    if missing.any():
        clean[missing] = 0.0
    return clean


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
    step = Fraction(2) ** power
    bound = step * (1 << CLAMP_BITS)
    exact = min(max(Fraction(value), -bound), bound)
    whole = round(exact / step)
    return whole, float(exact / step - whole), exact


def finish(steps: Ints, power: int) -> Floats:
    """Return ``steps * 2**power``, correctly rounded, never infinite."""
    values = steps.astype(np.float64)
    if power + _INT64_BITS < _FLOAT_POWER:
        return _shifted(values, power)
    with np.errstate(over="ignore"):
        values = np.ldexp(values, power)
    return np.clip(values, -sys.float_info.max, sys.float_info.max, out=values)


def finish_one(steps: int, power: int) -> float:
    """Return ``steps * 2**power``, correctly rounded, never infinite."""
    if power + _INT64_BITS < _FLOAT_POWER:
        return ldexp(steps, power)
    return float(finish(np.array([steps], np.int64), power)[0])
