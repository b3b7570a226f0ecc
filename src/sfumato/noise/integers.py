"""The front door for integers: discrete Laplace and Gaussian, coins, uniform indices.

==============  ==============================  =====================================
path            when                            price of one draw
==============  ==============================  =====================================
`scalar`        no `size`, or 16 draws at most  1 to 5 us
`table`         one scale, 65536 draws or more  3 to 9 ns, after 1 to 15 ms once
`lazy`          everything else                 20 ns (Laplace), 60 ns (Gaussian)
==============  ==============================  =====================================

The path depends on the arguments alone, never on earlier calls, so that a replay under
a `FixedStream` gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import overload

import numpy as np

from sfumato.errors import ArgumentError
from sfumato.noise import exact, lazy, scalar, table
from sfumato.noise.arguments import (
    Number,
    Numbers,
    Size,
    below_limit,
    each,
    positive,
    shape_of,
)
from sfumato.noise.arrays import Bools, Ints
from sfumato.noise.coins import flip, uniform_indices
from sfumato.noise.stream import Stream, default
from sfumato.words import N_

__all__ = [
    "MAX_VECTOR_SCALE",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "uniform_below",
]

MAX_VECTOR_SCALE = 1 << 54
"""Arrays of draws need scales below this; single draws have no limit."""

_MAX_INDEX = 1 << 63
_SCALAR_DRAWS = 16
_TABLE_DRAWS = 1 << 16
_CERTAIN_TAILS = 1 << 20


@overload
def discrete_laplace(
    scale: Number, size: None = None, *, stream: Stream | None = None
) -> int: ...
@overload
def discrete_laplace(
    scale: Number, size: Size, *, stream: Stream | None = None
) -> Ints: ...
@overload
def discrete_laplace(
    scale: Numbers, size: Size | None = None, *, stream: Stream | None = None
) -> Ints: ...
def discrete_laplace(
    scale: Number | Numbers,
    size: Size | None = None,
    *,
    stream: Stream | None = None,
) -> int | Ints:
    """Draw integers X with P(X = x) proportional to ``exp(-|x| / scale)``.

    Exactness: the law is exact, given uniform bits; no float decides an output. Arrays
    hold 64-bit integers: a magnitude that does not fit, of probability below
    ``exp(-500)``, is clamped into them. Single draws are Python integers of any size.

    Source: Canonne, Kamath and Steinke (2020) for the law; proof in
    ``docs/proofs/discrete-laplace.md``.

    Args:
        scale: Positive scale, in units of the draws; a float is its exact binary
            value. An array or a sequence gives one draw per element.
        size: Shape of the array of draws; None for one Python integer.
        stream: Source of random bits, by default the secure one of this thread.

    Returns:
        An int, or an int64 array of shape `size` (of the shape of `scale`).

    Raises:
        ArgumentError: The scale is not positive and finite, or, for arrays, 2**54 or
            more. Nothing was drawn.

    Examples:
        >>> type(discrete_laplace(Fraction(20, 3)))
        <class 'int'>
        >>> discrete_laplace([0.5, 10, 2.0**40]).shape
        (3,)
        >>> discrete_laplace(-1)
        Traceback (most recent call last):
        sfumato.errors.ArgumentError: [SF102] scale must be a positive finite number...
    """
    source = default() if stream is None else stream
    if isinstance(scale, (np.ndarray, Sequence)):
        floats, fractions, shape = each("scale", scale, size, MAX_VECTOR_SCALE)
        scales = lazy.PerElement(floats, fractions)
        return lazy.discrete_laplace(len(floats), scales, source).reshape(shape)
    exact_scale = positive("scale", scale)
    if size is None:
        plan = scalar.laplace_plan(exact_scale.numerator, exact_scale.denominator)
        return scalar.discrete_laplace(plan, source)
    shape = shape_of(size)
    return _laplace_array(exact_scale, prod(shape), source).reshape(shape)


def _laplace_array(scale: Fraction, count: int, stream: Stream) -> Ints:
    below_limit("scale", scale, MAX_VECTOR_SCALE)
    if count <= _SCALAR_DRAWS:
        plan = scalar.laplace_plan(scale.numerator, scale.denominator)
        return _clamped([scalar.discrete_laplace(plan, stream) for _ in range(count)])
    if count >= _TABLE_DRAWS:
        return table.draw(count, table.Law.laplace(scale), stream)
    return lazy.discrete_laplace(count, lazy.Scales.common(scale), stream)


def _clamped(draws: list[int]) -> Ints:
    top = _MAX_INDEX - 1
    return np.array([min(max(d, -top), top) for d in draws], np.int64)


@overload
def discrete_gaussian(
    variance: Number, size: None = None, *, stream: Stream | None = None
) -> int: ...
@overload
def discrete_gaussian(
    variance: Number, size: Size, *, stream: Stream | None = None
) -> Ints: ...
@overload
def discrete_gaussian(
    variance: Numbers, size: Size | None = None, *, stream: Stream | None = None
) -> Ints: ...
def discrete_gaussian(
    variance: Number | Numbers,
    size: Size | None = None,
    *,
    stream: Stream | None = None,
) -> int | Ints:
    """Draw integers X with P(X = x) proportional to ``exp(-x**2 / (2 * variance))``.

    Exactness: as `discrete_laplace`. Source: Canonne, Kamath and Steinke (2020),
    Algorithm 3; proof in ``docs/proofs/discrete-gaussian.md``.

    Args:
        variance: Positive variance parameter, in squared units of the draws; a float
            is its exact binary value. An array or a sequence gives one draw per
            element.
        size: Shape of the array of draws; None for one Python integer.
        stream: Source of random bits, by default the secure one of this thread.

    Returns:
        An int, or an int64 array of shape `size` (of the shape of `variance`).

    Raises:
        ArgumentError: The variance is not positive and finite, or, for arrays, 2**108
            or more. Nothing was drawn.

    Examples:
        >>> type(discrete_gaussian(Fraction(1, 4)))
        <class 'int'>
        >>> discrete_gaussian(100, (2, 5)).shape
        (2, 5)
    """
    source = default() if stream is None else stream
    if isinstance(variance, (np.ndarray, Sequence)):
        limit = MAX_VECTOR_SCALE**2
        floats, fractions, shape = each("variance", variance, size, limit)
        variances = lazy.PerElement(floats, fractions)
        return lazy.discrete_gaussian(len(floats), variances, source).reshape(shape)
    exact_variance = positive("variance", variance)
    if size is None:
        plan = scalar.gaussian_plan(
            exact_variance.numerator, exact_variance.denominator
        )
        return scalar.discrete_gaussian(plan, source)
    shape = shape_of(size)
    return _gaussian_array(exact_variance, prod(shape), source).reshape(shape)


def _gaussian_array(variance: Fraction, count: int, stream: Stream) -> Ints:
    below_limit("variance", variance, MAX_VECTOR_SCALE**2)
    if count <= _SCALAR_DRAWS:
        plan = scalar.gaussian_plan(variance.numerator, variance.denominator)
        return _clamped([scalar.discrete_gaussian(plan, stream) for _ in range(count)])
    if count >= _TABLE_DRAWS:
        return table.draw(count, table.Law.gaussian(variance), stream)
    return lazy.discrete_gaussian(count, lazy.Variances.common(variance), stream)


@overload
def bernoulli_exp(
    rate: Number, size: None = None, *, stream: Stream | None = None
) -> bool: ...
@overload
def bernoulli_exp(
    rate: Number, size: Size, *, stream: Stream | None = None
) -> Bools: ...
def bernoulli_exp(
    rate: Number, size: Size | None = None, *, stream: Stream | None = None
) -> bool | Bools:
    """Flip coins that are heads with probability exactly ``exp(-rate)``.

    Args:
        rate: Positive exponent.
        size: Shape of the array of coins; None for one bool.
        stream: Source of random bits, by default the secure one of this thread.

    Raises:
        ArgumentError: The rate is not positive and finite. Nothing was drawn.

    Examples:
        >>> bool(bernoulli_exp(1000)), bernoulli_exp(0.5, 3).dtype
        (False, dtype('bool'))
    """
    source = default() if stream is None else stream
    exponent = positive("rate", rate)
    if size is None:
        return exact.bernoulli_exp(source, exponent)
    shape = shape_of(size)
    rates = np.full(prod(shape), float(min(exponent, Fraction(_CERTAIN_TAILS))))
    return flip(rates, lambda _: exponent, source).reshape(shape)


@overload
def uniform_below(
    bound: int, size: None = None, *, stream: Stream | None = None
) -> int: ...
@overload
def uniform_below(bound: int, size: Size, *, stream: Stream | None = None) -> Ints: ...
def uniform_below(
    bound: int, size: Size | None = None, *, stream: Stream | None = None
) -> int | Ints:
    """Draw exactly uniform integers in ``[0, bound)``.

    Args:
        bound: Positive integer, of any size for one draw, at most 2**63 for an array.
        size: Shape of the array of draws; None for one Python integer.
        stream: Source of random bits, by default the secure one of this thread.

    Raises:
        ArgumentError: The bound is out of range. Nothing was drawn.

    Examples:
        >>> uniform_below(1), uniform_below(6, (2, 2)).shape
        (0, (2, 2))
    """
    source = default() if stream is None else stream
    if bound < 1 or (size is not None and bound > _MAX_INDEX):
        raise ArgumentError(
            N_("bound must be a positive integer, for arrays up to 2**63, not {bound}"),
            hint=N_("draw one at a time (leave size out) for larger bounds"),
            bound=bound,
        )
    if size is None:
        return source.below(int(bound))
    shape = shape_of(size)
    return uniform_indices(int(bound), prod(shape), source).reshape(shape)
