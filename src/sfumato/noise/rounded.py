"""The front door for real values: continuous noise, exactly rounded to a grid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import real
from sfumato.noise.arguments import Number, Numbers, positive, real_array
from sfumato.noise.arrays import Floats
from sfumato.noise.grid import GridPlan, finish_one, grid_plan
from sfumato.noise.stream import Stream, default

__all__ = ["rounded_gaussian", "rounded_laplace"]

_LawOfOne: TypeAlias = Callable[[Number, GridPlan, Stream], int]
_LawOfMany: TypeAlias = Callable[[NDArray[Any], GridPlan, Stream], Floats]


def _plan(scale: Number, grid: Number | None) -> GridPlan:
    step = None if grid is None else positive("grid", grid)
    return grid_plan(positive("scale", scale), step)


def _release(
    values: Number | Numbers,
    plan: GridPlan,
    laws: tuple[_LawOfOne, _LawOfMany],
    stream: Stream | None,
) -> float | Floats:
    source = default() if stream is None else stream
    of_one, of_many = laws
    if isinstance(values, np.generic):
        values = values.item()
    if isinstance(values, (int, float, Fraction)):
        return finish_one(of_one(values, plan, source), plan.power)
    array = _array(values)
    if array.dtype == object:
        flat = [finish_one(of_one(v, plan, source), plan.power) for v in array.ravel()]
        return np.array(flat, np.float64).reshape(array.shape)
    return of_many(array.ravel(), plan, source).reshape(array.shape)


def _array(values: Numbers) -> NDArray[Any]:
    """Return an array that holds each number exactly, of dtype object if need be."""
    if isinstance(values, np.ndarray):
        array = real_array("values", values)
        return array.astype(object) if array.dtype == np.uint64 else array
    objects = np.array(values, dtype=object)
    for place, cell in enumerate(objects.flat):
        if isinstance(cell, np.generic):
            objects.flat[place] = cell.item()
    if all(isinstance(v, float) for v in objects.ravel()):
        return objects.astype(np.float64)
    return objects


@overload
def rounded_laplace(
    values: Number,
    scale: Number,
    *,
    grid: Number | None = None,
    stream: Stream | None = None,
) -> float: ...
@overload
def rounded_laplace(
    values: Numbers,
    scale: Number,
    *,
    grid: Number | None = None,
    stream: Stream | None = None,
) -> Floats: ...
def rounded_laplace(
    values: Number | Numbers,
    scale: Number,
    *,
    grid: Number | None = None,
    stream: Stream | None = None,
) -> float | Floats:
    """Add continuous Laplace noise to real values, rounded to a public grid.

    Formal guarantee: the result is a function of ``values + noise`` with exact real
    Laplace noise. A function of L1 sensitivity D is released with D/scale-differential
    privacy, in any dimension and for any grid. Proof: ``docs/proofs/rounded-reals.md``.

    It is total: no value raises an error. NaN counts as 0, values beyond ``2**1023``
    grid steps and results beyond double precision are clamped there.

    Args:
        values: A number or an array of floats or integers, any shape.
        scale: Positive scale, in the unit of the values.
        grid: Step of the public grid, a power of two; by default the largest one
            below ``scale / 2**20``, which adds ``2**-40 / 12`` of ``scale**2`` to the
            variance.
        stream: Source of random bits, by default the secure one of this thread.

    Returns:
        A float, or a float64 array of the shape of `values`; multiples of the grid
        step, correctly rounded to double precision; never NaN, infinite or -0.0.

    Raises:
        ArgumentError: The scale or the grid cannot be used. Nothing was drawn.

    Examples:
        >>> type(rounded_laplace(120.5, 2))
        <class 'float'>
        >>> rounded_laplace([1.5, -2.0], 1, grid=0.25).shape
        (2,)
    """
    return _release(
        values, _plan(scale, grid), (real.laplace_one, real.laplace), stream
    )


@overload
def rounded_gaussian(
    values: Number,
    scale: Number,
    *,
    grid: Number | None = None,
    stream: Stream | None = None,
) -> float: ...
@overload
def rounded_gaussian(
    values: Numbers,
    scale: Number,
    *,
    grid: Number | None = None,
    stream: Stream | None = None,
) -> Floats: ...
def rounded_gaussian(
    values: Number | Numbers,
    scale: Number,
    *,
    grid: Number | None = None,
    stream: Stream | None = None,
) -> float | Floats:
    """Add continuous Gaussian noise to real values, rounded to a public grid.

    Formal guarantee: the result is a function of ``values + noise`` with exact normal
    noise of standard deviation `scale`: a function of L2 sensitivity D is released
    with ``D**2 / (2 * scale**2)``-zCDP and D/scale-GDP, in any dimension and for any
    grid. Arguments, result, errors and totality: as `rounded_laplace`.

    Examples:
        >>> rounded_gaussian([[1.0, 2.0]], 3).shape
        (1, 2)
    """
    return _release(
        values, _plan(scale, grid), (real.gaussian_one, real.gaussian), stream
    )
