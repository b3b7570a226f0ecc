"""Numbers out of, and back into, the containers they came in."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["Numbers", "add_integers", "holds_floats", "like", "read_numbers"]

Value = TypeVar("Value")
Numbers: TypeAlias = "NDArray[Any]"


def read_numbers(value: object) -> Numbers:
    """Return the value as an array of finite floats or 64-bit integers.

    Python integers, and lists that numpy would have to round, become arrays of objects
    that hold each `int` and `float` exactly.
    """
    library = type(value).__module__.partition(".")[0]
    if library in ("pandas", "polars") and type(value).__name__ != "Series":
        raise _not_numbers(type(value).__name__)
    if isinstance(value, bool | str | bytes | Fraction) or value is None:
        raise _not_numbers(type(value).__name__)
    if library in ("pandas", "polars"):
        if _series_holds_nulls(value):
            raise _not_finite()
        value = value.to_numpy()  # type: ignore[attr-defined]
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise _not_finite()  # what a mask hides is still there below it
    array = _as_array(value)
    if array.dtype == object:
        return array
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:  # noqa: PLR2004
        raise _not_numbers(str(array.dtype))
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise _not_finite()
    return array


def _as_array(value: object) -> Numbers:
    """Return the value as numpy reads it, but integers that it would round as objects."""
    array: Numbers
    if type(value) is int:
        return np.array(value, dtype=object)
    try:
        array = np.asarray(value)
    except ValueError:  # ragged lists
        raise _not_numbers(N_("a ragged list")) from None
    except OverflowError:  # an integer beyond the doubles beside a float
        array = np.array(value, dtype=object)
    if isinstance(value, list | tuple) and array.dtype.kind in "fO":
        cells = _exactly(value)
        if cells is not None:
            return cells
    if array.dtype == object:
        raise _not_numbers(str(array.dtype))
    return array


def _exactly(value: list[Any] | tuple[Any, ...]) -> Numbers | None:
    """Return a list that holds integers as they are; none for any other list.

    numpy turns integers beside floats, and integers of mixed sign beyond 63 bits, into
    doubles. Rounded before the noise, two values can move apart: 2**53 + 1 and
    2**53 + 2 become neighbours at distance 2.
    """
    objects = np.array(value, dtype=object)
    cells = [c.item() if isinstance(c, np.generic) else c for c in objects.ravel()]
    cells = [int(c) if type(c) is bool else c for c in cells]
    kinds = set(map(type, cells))
    if int not in kinds or not kinds <= {int, float}:
        return None
    if any(type(c) is float and not isfinite(c) for c in cells):
        raise _not_finite()
    exact = np.empty(len(cells), dtype=object)
    exact[:] = cells
    return exact.reshape(objects.shape)


def holds_floats(numbers: Numbers) -> bool:
    """Tell whether any number is a float; in an array of objects types decide."""
    if numbers.dtype == object:
        return any(type(v) is float for v in numbers.ravel())
    return numbers.dtype.kind == "f"


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
        made = (_narrowed(result, value.dtype) if value.dtype.kind == "f" else result)[
            ()
        ]
    elif type(value) is float:
        made = float(result)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        made = _narrowed(result, value.dtype)
    return cast("Value", made)


def _narrowed(result: Numbers, kind: np.dtype[Any]) -> Numbers:
    """Return floats of another width; beyond its range they are clamped, not infinite."""
    top = float(np.finfo(kind).max)
    return np.clip(result, -top, top).astype(kind)
