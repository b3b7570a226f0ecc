"""Mechanisms for numbers and vectors that the caller already holds.

These are the low-level doors: the caller vouches for the sensitivity, keeps the budget,
and must give each private value only once. For tables use `sfumato.Session`, which
derives sensitivities and keeps a ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from sfumato import noise
from sfumato.account import Epsilon, Geometric, Laplace, read_sensitivity
from sfumato.amount import Amount, exact
from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["above_threshold", "choose", "geometric", "laplace"]

Value = TypeVar("Value")
Candidate = TypeVar("Candidate")
Numbers: TypeAlias = "NDArray[Any]"


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
        value: An int, a float, a numpy array, a list, or a pandas or polars Series.
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
    if type(value) is float and value - value == 0:
        return noise.rounded_laplace(value, mechanism.scale)  # type: ignore[return-value]
    numbers = _numbers(value)
    if numbers.dtype.kind == "f":
        wide = np.asarray(numbers, np.float64)
        return _like(value, np.asarray(noise.rounded_laplace(wide, mechanism.scale)))
    # An integer stays outside the float: floor(x + 1/2 + bL) = x + floor(1/2 + bL).
    drawn = noise.rounded_laplace(np.zeros(numbers.shape), mechanism.scale, grid=1)
    return _add(value, numbers, np.asarray(drawn))


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
    if type(value) is int:
        return value + noise.discrete_laplace(mechanism.scale)  # type: ignore[return-value]
    numbers = _numbers(value)
    if numbers.dtype.kind == "f":
        raise ArgumentError(
            N_("geometric noise is for integers, got {kind}"),
            hint=N_("use sf.laplace for real values, or round them to integers first"),
            kind=numbers.dtype,
        )
    return _add(value, numbers, noise.discrete_laplace(mechanism.scale, numbers.shape))


@overload
def choose(
    scores: Mapping[Candidate, Amount], sensitivity: Amount,
    epsilon: Amount | Epsilon, *, monotone: bool = ..., method: str = ...,
) -> Candidate: ...  # fmt: skip
@overload
def choose(
    scores: Sequence[Amount] | Numbers, sensitivity: Amount,
    epsilon: Amount | Epsilon, *, monotone: bool = ..., method: str = ...,
) -> int: ...  # fmt: skip
def choose(
    scores: Any,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
    *,
    monotone: bool = False,
    method: str = "permute_and_flip",
) -> Any:
    """Choose a candidate whose score is nearly the highest, without telling the scores.

    Formal guarantee: ε-DP when each single score changes by at most `sensitivity`
    between neighbours. Permute-and-flip (McKenna, Sheldon 2020) is never worse in
    expectation than the exponential mechanism (McSherry, Talwar 2007). Every coin is
    exact (``docs/proofs/selection.md``).

    Args:
        scores: One score per candidate: a mapping from candidates, or a vector.
        sensitivity: Largest change of any one score between neighbours.
        epsilon: The loss; the caller accounts for it.
        monotone: True when adding a person moves all scores the same way, as counts
            do under add/remove: then the same ε buys twice the sharpness.
        method: ``"permute_and_flip"`` or ``"exponential"``.

    Returns:
        The chosen key of a mapping, or the chosen index of a vector.

    Raises:
        ArgumentError: No candidate, scores that are no finite numbers, or an unusable
            sensitivity or method.

    Examples:
        >>> choose({"A": 900, "B": 20, "O": 30}, sensitivity=1, epsilon=1)
        'A'
    """
    keys = list(scores) if isinstance(scores, Mapping) else None
    numbers = _numbers(list(scores.values()) if keys is not None else scores)
    if numbers.ndim != 1 or not numbers.size:
        raise ArgumentError(
            N_("scores must be a vector of at least one number"),
            hint=N_("give one score per candidate"),
        )
    rate = Epsilon(epsilon).value / read_sensitivity(sensitivity)
    rate = rate if monotone else rate / 2
    if method == "permute_and_flip":
        index = noise.permute_and_flip(numbers, rate)
    elif method == "exponential":
        index = noise.exponential(numbers, rate)
    else:
        raise ArgumentError(
            N_("unknown method {method}"),
            hint=N_('use "permute_and_flip" or "exponential"'),
            method=repr(method),
        )
    return index if keys is None else keys[index]


def above_threshold(
    values: Sequence[int] | Numbers,
    threshold: int,
    sensitivity: Amount,
    epsilon: Amount | Epsilon,
) -> int | None:
    """Return the first index whose noisy value reaches a noisy threshold, or none.

    Formal guarantee: ε-DP for any number of integer values, each of sensitivity at
    most `sensitivity` (sparse vector, one report; Dwork, Roth 2014, Alg. 1; noise of
    scale 2Δ/ε on the threshold and 4Δ/ε on each value).

    Args:
        values: Integers, in the order in which they are tried.
        threshold: A public integer.
        sensitivity: Largest change of any one value between neighbours, an integer.
        epsilon: The loss, however many values are tried; the caller accounts for it.

    Raises:
        ArgumentError: Values or threshold are no integers, or the sensitivity is not
            an integer above 0.

    Examples:
        >>> above_threshold([0, 0, 1000, 0], threshold=500, sensitivity=1, epsilon=1)
        2
    """
    numbers = _numbers(values) if len(values) else np.empty(0, np.int64)
    limit = exact(threshold)
    if numbers.dtype.kind == "f" or numbers.ndim != 1 or (
        limit is None or limit.denominator != 1
    ):  # fmt: skip
        raise ArgumentError(
            N_("above_threshold takes a vector of integers and an integer threshold"),
            hint=N_("round real values to a public grid first and count in its steps"),
        )
    scale = Geometric(sensitivity, epsilon).scale
    return noise.above_threshold(
        numbers, int(limit), threshold_scale=2 * scale, value_scale=4 * scale
    )


Law = TypeVar("Law", Laplace, Geometric)


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
        _numbers(value)
        if exact(sensitivity) != 0:
            raise ArgumentError(
                N_("a public constant has sensitivity 0, got {value}"),
                hint=N_("leave public_constant out for a value computed from data"),
                value=repr(sensitivity)[:60],
            )
        return None
    try:
        return _cached(kind, sensitivity, epsilon)
    except TypeError:  # an argument that cannot be hashed is refused by the class
        return kind(sensitivity, epsilon)


@lru_cache(maxsize=256, typed=True)
def _cached(kind: type[Law], sensitivity: Any, epsilon: Any) -> Law:
    return kind(sensitivity, epsilon)


def _numbers(value: object) -> Numbers:
    """Return the value as an array of finite floats or 64-bit integers."""
    library = type(value).__module__.partition(".")[0]
    if library in ("pandas", "polars") and type(value).__name__ != "Series":
        raise _not_numbers(type(value).__name__)
    if isinstance(value, bool | str | bytes | Fraction) or value is None:
        raise _not_numbers(type(value).__name__)
    if library in ("pandas", "polars"):
        if _series_holds_nulls(value):
            raise _not_finite()
        value = value.to_numpy()  # type: ignore[attr-defined]
    if type(value) is int:
        array: Numbers = np.array(value, dtype=object)
        return array
    try:
        array = np.asarray(value)
    except ValueError:  # ragged lists
        raise _not_numbers(N_("a ragged list")) from None
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:  # noqa: PLR2004
        raise _not_numbers(str(array.dtype))
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise _not_finite()
    return array


def _series_holds_nulls(series: Any) -> bool:
    count = (
        series.null_count() if hasattr(series, "null_count") else series.isna().sum()
    )
    return bool(count)


def _not_numbers(kind: str) -> ArgumentError:
    return ArgumentError(
        N_("cannot add noise to {kind}"),
        hint=N_(
            "give an int, a float, a numeric numpy array of at most 64 bits, or a "
            "pandas or polars Series of numbers"
        ),
        kind=kind,
    )


def _not_finite() -> ArgumentError:
    return ArgumentError(
        N_("the value holds NaN, infinity or a missing entry"),
        hint=N_(
            "decide by a public rule what such entries count as, then fill them in"
        ),
    )


def _add(value: Value, numbers: Numbers, drawn: Numbers) -> Value:
    """Add integer noise to integers without overflow."""
    if numbers.dtype == object or numbers.dtype.kind == "u" or numbers.size == 1:
        wide = numbers.astype(object) + drawn.astype(object).reshape(numbers.shape)
        if type(value) is int:
            return int(wide.item())  # type: ignore[return-value]
        return _like(value, _narrow(wide))
    noise_steps = np.asarray(_narrow(drawn) if drawn.dtype.kind == "f" else drawn)
    whole = numbers.astype(np.int64)
    total = whole + noise_steps
    # Two terms of one sign with a sum of the other: 64 bits were left.
    wrapped = ((whole >= 0) == (noise_steps >= 0)) & ((total >= 0) != (whole >= 0))
    ends = np.where(whole >= 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min)
    return _like(value, np.where(wrapped, ends, total))


def _narrow(wide: Numbers) -> Numbers:
    """Clamp integers of any size, or whole floats, into 64 bits."""
    low, high = -(2**63), 2**63 - 1
    flat = [min(max(int(v), low), high) for v in wide.ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(wide.shape)


def _like(value: Value, result: Numbers) -> Value:
    """Return the result in the kind of container that the value came in."""
    library = type(value).__module__.partition(".")[0]
    made: Any = result
    if library == "pandas":
        made = type(value)(result, index=value.index, name=value.name)  # type: ignore[attr-defined, call-arg]
    elif library == "polars":
        made = type(value)(value.name, result)  # type: ignore[attr-defined, call-arg]
    elif isinstance(value, np.generic):
        kind = value.dtype if value.dtype.kind == "f" else np.dtype(np.int64)
        made = result.astype(kind)[()]
    elif type(value) is float:
        made = float(result)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        made = result.astype(value.dtype)
    return made  # type: ignore[no-any-return]
