"""Noise added to values in hand: Laplace, Gaussian, and geometric for integers."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, TypeVar, cast

import numpy as np

from sfumato import noise
from sfumato.account import ZCDP, Epsilon, Gaussian, Geometric, Laplace
from sfumato.amount import Amount, exact
from sfumato.arrays.container import (
    Numbers,
    add_integers,
    holds_floats,
    like,
    read_numbers,
)
from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

__all__ = ["gaussian", "geometric", "laplace"]

Value = TypeVar("Value")
Law = TypeVar("Law", Laplace, Geometric)
_SMALL = Fraction(2**40)  # far below it no draw comes near 64 bits
_WIDE = 1 << 62


def laplace(
    value: Value,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
    *,
    public_constant: bool = False,
) -> Value:
    """Add Laplace noise of scale ``sensitivity / epsilon``, exactly.

    Formal guarantee: ε-DP for a value whose joint L1 sensitivity, summed over all of
    its elements, is at most `sensitivity`. The result is the ideal real-valued
    mechanism (Dwork, McSherry, Nissim, Smith 2006) rounded to a public grid, the
    integers for integer input and a power of two near scale/2^20 for floats, so that
    no floating-point artefact is left (``docs/proofs/rounded-reals.md``).

    Args:
        value: An int, a float, a numpy array, a list, or a pandas or polars Series. Only
            its numbers may be private: type, shape, index and name come back as they are.
        sensitivity: Largest L1 change of the whole value between neighbours.
        epsilon: The loss; the caller accounts for it.
        public_constant: Say that sensitivity 0 is meant: the value depends on no
            private data and is returned without noise.

    Returns:
        A value of the same kind, shape, index and name: ints stay ints (arrays become
        int64), floats stay floats. Results beyond the type's range are clamped to it.

    Raises:
        ArgumentError: The sensitivity is negative, NaN or infinite, or 0 without
            `public_constant`; the value is not numeric, complex, or holds NaN or
            infinity.
        DeclarationError: Epsilon is not a finite number greater than 0.

    Examples:
        >>> type(laplace(121.7, sensitivity=0.5, epsilon="0.5"))
        <class 'float'>
        >>> laplace(np.arange(6).reshape(2, 3), 1, 1).shape
        (2, 3)
        >>> laplace(768, 0, 1, public_constant=True)
        768
    """
    mechanism = _mechanism(Laplace, value, sensitivity, epsilon, public_constant)
    if mechanism is None:
        return value
    raw: Any = value
    if type(raw) is float and isfinite(raw):
        return cast("Value", noise.rounded_laplace(raw, mechanism.scale))
    numbers = read_numbers(value)
    if holds_floats(numbers):
        reals = _reals(numbers)
        return like(value, np.asarray(noise.rounded_laplace(reals, mechanism.scale)))
    # An integer stays outside the float: floor(x + 1/2 + bL) = x + floor(1/2 + bL).
    drawn = noise.whole_laplace(mechanism.scale, numbers.size)
    return add_integers(value, numbers, _whole(drawn, numbers.shape))


def geometric(
    value: Value,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
    *,
    public_constant: bool = False,
) -> Value:
    """Add two-sided geometric noise to integers, exactly.

    Formal guarantee: ε-DP for integers whose joint L1 sensitivity is at most
    `sensitivity` (Ghosh, Roughgarden, Sundararajan 2012). Noise of mass
    ``∝ exp(-|k|·epsilon/sensitivity)``: for counts slightly less than Laplace's.

    Args:
        value: An int, an integer array, a list, or a Series of integers.
        sensitivity: Largest L1 change of the whole value, an integer.
        epsilon: The loss; the caller accounts for it.
        public_constant: As for `laplace`.

    Returns:
        A value of the same kind, shape, index and name; see `laplace`.

    Raises:
        ArgumentError: As for `laplace`; also when the value is not made of integers.
        DeclarationError: Epsilon is not a finite number greater than 0.

    Examples:
        >>> type(geometric(768, sensitivity=1, epsilon="0.5"))
        <class 'int'>
    """
    mechanism = _mechanism(Geometric, value, sensitivity, epsilon, public_constant)
    if mechanism is None:
        return value
    raw: Any = value
    if type(raw) is int:
        return cast("Value", raw + noise.discrete_laplace(mechanism.scale))
    numbers = read_numbers(value)
    if holds_floats(numbers):
        raise ArgumentError(
            N_("geometric noise is for integers, got {kind}"),
            hint=N_("use sf.laplace for real values, or round them to integers first"),
            kind=np.result_type(np.float64)
            if numbers.dtype == object
            else numbers.dtype,
        )
    scale, shape = mechanism.scale, numbers.shape
    if scale <= _SMALL:
        return add_integers(value, numbers, noise.discrete_laplace(scale, shape))
    drawn = [noise.discrete_laplace(scale) for _ in range(numbers.size)]
    return add_integers(value, numbers, _whole(drawn, shape))


def gaussian(
    value: Value,
    sensitivity: Amount,
    rho: Amount | ZCDP | None = None,
    *,
    epsilon: Amount | Epsilon | None = None,
    delta: Amount | None = None,
    public_constant: bool = False,
) -> Value:
    """Add Gaussian noise, exactly.

    Formal guarantee: for a value of joint L2 sensitivity at most `sensitivity` (the
    root of the summed squares of all changes), ρ-zCDP with variance
    ``sensitivity² / 2ρ`` (Bun, Steinke 2016), or (ε, δ)-DP with the least such noise
    (Balle, Wang 2018). The result is the ideal real-valued mechanism rounded to a
    public grid: the integers for integer input, a power of two near scale/2^20 for
    floats (``docs/proofs/rounded-reals.md``).

    Args:
        value: As for `laplace`.
        sensitivity: Largest L2 change of the whole value between neighbours.
        rho: The loss ρ; or else both `epsilon` and `delta`.
        epsilon: The ε of an (ε, δ) guarantee.
        delta: The δ of an (ε, δ) guarantee, greater than 0.
        public_constant: As for `laplace`.

    Returns:
        A value of the same kind, shape, index and name; see `laplace`.

    Raises:
        ArgumentError: As for `laplace`; also when neither ρ nor (ε, δ) is given, or
            both.
        DeclarationError: ρ, ε or δ is out of range.

    Examples:
        >>> type(gaussian(121.7, sensitivity=0.5, rho="0.1"))
        <class 'float'>
        >>> type(gaussian(768, sensitivity=1, epsilon=1, delta="1e-6"))
        <class 'int'>
    """
    pair = epsilon is not None and delta is not None
    if (rho is None) != pair or (epsilon is None) != (delta is None):
        raise ArgumentError(
            N_("give either rho, or both epsilon and delta"),
            hint=N_('write rho="0.1", or epsilon="1", delta="1e-6"'),
        )
    if public_constant:
        _check_constant(value, sensitivity)
        return value
    if rho is not None:
        mechanism = Gaussian(sensitivity, rho)
    else:
        mechanism = Gaussian.calibrated(sensitivity, epsilon, delta)  # type: ignore[arg-type]
    numbers = read_numbers(value)
    if holds_floats(numbers):
        reals = _reals(numbers)
        return like(value, np.asarray(noise.rounded_gaussian(reals, mechanism.scale)))
    drawn = noise.whole_gaussian(mechanism.scale, numbers.size)
    return add_integers(value, numbers, _whole(drawn, numbers.shape))


def _reals(numbers: Numbers) -> Any:
    """Return floats to add noise to; a mixed list is read number by number, exactly."""
    mixed = numbers.dtype == object
    return numbers.tolist() if mixed else np.asarray(numbers, np.float64)


def _whole(drawn: list[int], shape: tuple[int, ...]) -> Numbers:
    """Return integers as an array: 64-bit where they surely fit, else as objects."""
    small = all(-_WIDE < d < _WIDE for d in drawn)
    return np.array(drawn, np.int64 if small else object).reshape(shape)


def _mechanism(
    kind: type[Law],
    value: object,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
    public_constant: bool,
) -> Law | None:
    """Return the mechanism; none for a public constant of sensitivity 0."""
    if public_constant:
        Epsilon(epsilon)
        _check_constant(value, sensitivity)
        return None
    try:
        found: Law = _cached(cast("Any", kind), sensitivity, epsilon)
    except TypeError:  # an argument that cannot be hashed is refused by the class
        return kind(sensitivity, epsilon)
    return found


def _check_constant(value: object, sensitivity: Amount) -> None:
    read_numbers(value)
    if exact(sensitivity) != 0:
        raise ArgumentError(
            N_("a public constant has sensitivity 0, got {value}"),
            hint=N_("leave public_constant out for a value computed from data"),
            value=quoted(sensitivity),
        )


@lru_cache(maxsize=256, typed=True)
def _cached(kind: Any, sensitivity: Any, epsilon: Any) -> Any:
    return kind(sensitivity, epsilon)
