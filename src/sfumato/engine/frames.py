"""pandas tables and lists of mappings, as arrays; nothing is inferred from cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Schema, Stored
from sfumato.declare.unit import Identifier
from sfumato.engine.columns import DAY, Array, encode, look_up, of_arrays
from sfumato.engine.table import Table, declared_positions, refuse_floats, unreadable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_pandas", "load_records"]

# Names of the extension types that hold numbers, truth values or text.
_PLAIN = re.compile(
    r"(u?int\d+|float\d*|double|halffloat|bool|boolean|string|str|large_string|null|category"
    r"|decimal\d+\(.*\)|dictionary<values=(large_)?(string|u?int\d+),.*>)(\[.*\])?",
    re.IGNORECASE,
)

_MOMENT = re.compile(r"datetime64\[\w+, .*\]|(date32|timestamp)\[.*\]", re.IGNORECASE)
_TEXT = re.compile(r"string|str|large_string|null|category|dictionary", re.IGNORECASE)


_FLOATS = re.compile("float|double|halffloat", re.IGNORECASE)


def load_pandas(frame: pd.DataFrame, schema: Schema) -> Table:
    """Take the declared columns; those of machine numbers are not copied.

    Raises:
        SourceError: A declared column is missing, stands twice, or holds dates, complex
            numbers or other cells that are neither numbers nor keys.
    """
    positions = declared_positions(schema, [str(name) for name in frame.columns])
    series = [frame.iloc[:, place] for place in positions]
    arrays = [
        _array(one, name, column)
        for one, (name, column) in zip(series, schema.stored, strict=True)
    ]
    return of_arrays(arrays, [str(one.dtype) for one in series])


def load_records(rows: Sequence[Mapping[str, object]], schema: Schema) -> Table:
    """Take the declared columns of a list of mappings; an absent cell is missing."""
    arrays = [
        encode((row.get(name) for row in rows), column)
        for name, column in schema.stored
    ]
    return of_arrays(arrays, ["object"] * len(arrays))


def _array(series: pd.Series[Any], name: str, column: Stored) -> Array:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind == "O":
            return encode(series.to_numpy(), column)
        if isinstance(column, Date):
            return _days(series.to_numpy(), name)
        return _machine(series.to_numpy(), name, column)
    if type(dtype).__name__ == "SparseDtype":
        return _array(pd.Series(np.asarray(series)), name, column)
    if isinstance(column, Date) and _MOMENT.fullmatch(str(dtype)):
        return encode(series.astype(object), column)
    days_of_numbers = isinstance(column, Date) and not _TEXT.match(str(dtype))
    if days_of_numbers or not _PLAIN.fullmatch(str(dtype)):
        raise unreadable(name, str(dtype))
    if _FLOATS.match(str(dtype)):
        refuse_floats(name, str(dtype), column)
    codes, values = series.factorize()
    return look_up(codes, _cells(values), column)


def _cells(values: Any) -> list[object]:
    """Return the cells of an index; floats of 16 and 32 bits say that they are."""
    kind = getattr(values.dtype, "categories", values).dtype
    kind = getattr(kind, "numpy_dtype", kind)
    narrow = kind in (np.dtype(np.float16), np.dtype(np.float32))
    cells = values.tolist()
    return list(np.array(cells, kind)) if narrow else cells


def _days(array: Array, name: str) -> Array:
    """Return moments as days since 1970-01-01; NaN is missing."""
    if array.dtype.kind != "M":
        raise unreadable(name, str(array.dtype))
    days = array.astype("datetime64[D]").astype(np.int64)
    return np.where(np.isnat(array), np.nan, days.astype(np.float64)).view(DAY)


def _machine(array: Array, name: str, column: Stored) -> Array:
    """Return an array of machine numbers in a width and byte order that is read as is."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "biuf":
        raise unreadable(name, str(array.dtype))
    if kind == "f" and size not in (4, 8):
        if isinstance(column, Identifier):
            return encode(array, column)  # as doubles they might look whole
        with np.errstate(all="ignore"):  # a warning would tell that a cell is huge
            return array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)
