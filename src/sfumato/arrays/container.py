"""Numbers out of, and back into, the containers they came in."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["Numbers", "add_integers", "like", "read_numbers"]

Value = TypeVar("Value")
Numbers: TypeAlias = "NDArray[Any]"


def read_numbers(value: object) -> Numbers:
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


def add_integers(value: Value, numbers: Numbers, drawn: Numbers) -> Value:
    """Add integer noise to integers; sums beyond 64 bits are clamped, never wrapped.

    The exact sum is formed first: clamping the noise alone would not be
    post-processing.
    """
    widest = numbers.dtype.kind == "u" and numbers.dtype.itemsize == 8  # noqa: PLR2004
    if widest or object in (numbers.dtype, drawn.dtype):
        wide = numbers.astype(object) + drawn.astype(object)
        if type(value) is int:
            return cast("Value", int(wide))
        low, high = -(2**63), 2**63 - 1
        kept = [min(max(v, low), high) for v in np.ravel(wide).tolist()]
        return like(value, np.array(kept, np.int64).reshape(numbers.shape))
    whole = numbers.astype(np.int64)
    total = whole + drawn
    # Two terms of one sign with a sum of the other: 64 bits were left.
    wrapped = ((whole >= 0) == (drawn >= 0)) & ((total >= 0) != (whole >= 0))
    ends = np.where(whole >= 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min)
    return like(value, np.where(wrapped, ends, total))


def like(value: Value, result: Numbers) -> Value:
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
    return cast("Value", made)
