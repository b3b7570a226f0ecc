"""Reading the arguments of the front door: public numbers, exactly, or an error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.noise.arrays import Floats
from sfumato.words import N_

__all__ = [
    "Number",
    "Numbers",
    "Size",
    "below_limit",
    "each",
    "positive",
    "real_array",
    "shape_of",
]

Number: TypeAlias = Fraction | int | float
Numbers: TypeAlias = NDArray[Any] | Sequence[Number]
Size: TypeAlias = int | tuple[int, ...]

_MAX_FLOAT_BYTES = 8


def positive(name: str, value: object) -> Fraction:
    """Read a positive rational exactly; a float is its binary value."""
    if isinstance(value, Fraction):
        fraction = value
    elif isinstance(value, (int, np.integer)):
        fraction = Fraction(int(value))
    elif isinstance(value, (float, np.floating)) and math.isfinite(value):
        fraction = Fraction(float(value))
    else:
        fraction = Fraction(0)
    if fraction <= 0:
        raise ArgumentError(
            N_("{name} must be a positive finite number, not {value}"),
            hint=N_("pass an int, a Fraction or a float above zero"),
            name=name,
            value=repr(value),
        )
    return fraction


def shape_of(size: Size) -> tuple[int, ...]:
    """Read a shape: a number of draws, or a tuple."""
    shape = (int(size),) if isinstance(size, (int, np.integer)) else tuple(size)
    if any(n < 0 for n in shape):
        raise ArgumentError(
            N_("size must not be negative, not {size}"),
            hint=N_("pass an int or a tuple of ints from 0 up"),
            size=size,
        )
    return shape


def below_limit(name: str, value: Fraction | float, limit: int) -> None:
    """Refuse a parameter whose draws might not fit 64-bit integers."""
    if value >= limit:
        raise ArgumentError(
            N_("{name} must be below {limit} for an array of 64-bit draws"),
            hint=N_("draw one at a time (leave size out): single draws have no limit"),
            name=name,
            limit=f"2**{limit.bit_length() - 1}",
        )


def each(
    name: str, values: Numbers, size: Size | None, limit: int
) -> tuple[Floats, list[Fraction] | None, tuple[int, ...]]:
    """Return per-element parameters: floats, exact fractions if they differ, shape."""
    fractions = None
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        floats = np.ascontiguousarray(values, np.float64)
    else:
        array = np.asarray(values, dtype=object)
        fractions = [positive(name, v) for v in array.ravel().tolist()]
        for fraction in fractions:
            below_limit(name, fraction, limit)
        floats = np.array([float(f) for f in fractions]).reshape(array.shape)
    if size is not None and floats.shape != shape_of(size):
        raise ArgumentError(
            N_("{name} has shape {shape}, but size is {size}"),
            hint=N_("leave size out: there is one draw per element"),
            name=name,
            shape=floats.shape,
            size=size,
        )
    if fractions is None and floats.size:
        below_limit(name, float(np.max(floats)), limit)
        positive(name, float(np.min(floats)))
    return floats.ravel(), fractions, floats.shape


def real_array(name: str, values: object) -> NDArray[Any]:
    """Return an array of floats or integers of at most 64 bits, refusing other types.

    Wider floats are refused because rounding them would move two values apart.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > _MAX_FLOAT_BYTES:
        raise ArgumentError(
            N_("{name} must be real numbers of at most 64 bits, not {dtype}"),
            hint=N_("convert them to float64 first"),
            name=name,
            dtype=array.dtype,
        )
    return array
