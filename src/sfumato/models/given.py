"""Cells as they were given: no cell decides how those of other rows are read.

An array has one type for all of its cells. Where a library chooses it by looking at the
cells, one row more can turn whole numbers into floats, truth values into texts, or cut off
how an identifier ends, for every other row too. So where such a choice is left, cells are
kept as objects and read one by one; a type of machine numbers is taken only where each
cell is read alike in both.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from sfumato.engine.cell import plain

__all__ = ["as_listed", "column_of", "one_column"]

_SEVERAL = (list, tuple, dict, set, np.ndarray)
_EXACT = 1 << 53  # below it a whole number is the same in every type


def as_listed(table: Any) -> Any:
    """Return a list of rows as objects, unless all cells are alike numbers.

    A text among them would make texts of all numbers, and a fraction would round the
    large whole ones.
    """
    with suppress(ValueError):  # rows of different lengths, which are refused below
        cells = np.asarray(table, object)
        flat = cells.ravel().tolist()
        kinds = set(map(type, flat))
        if not kinds <= {int, float} or (int in kinds and not _is_small(flat)):
            return cells
    return table


def column_of(series: Any) -> NDArray[Any]:
    """Return a column of a pandas or polars frame; a gap changes no other cell.

    Examples:
        >>> import pandas as pd
        >>> column_of(pd.Series([2**53 + 1, None], dtype="Int64")).tolist()
        [9007199254740993, None]
    """
    if type(series).__module__.partition(".")[0] == "polars":
        exact = series.dtype.is_integer() or str(series.dtype) == "Boolean"
        if exact and (series.null_count() or str(series.dtype).endswith("Int128")):
            return _objects(series.to_list())
    elif hasattr(series, "cat"):  # a gap would make fractions of whole numbers
        kind = series.cat.categories.dtype
        exact = getattr(kind, "numpy_dtype", kind).kind in "biu"
        if exact and (gone := series.isna()).any():
            return _with_gaps(series, gone)
    elif (machine := getattr(series.dtype, "numpy_dtype", None)) is not None:
        if machine.kind in "biu" and (gone := series.isna()).any():
            return _with_gaps(series, gone)
        if machine.kind in "biu":
            return np.asarray(series.to_numpy(machine))
    return np.asarray(series.to_numpy())


def one_column(values: Any, *, warn: bool = False) -> NDArray[Any]:
    """Return labels, targets or identifiers as one array.

    Raises:
        ValueError: They are no single column, as scikit-learn says it.

    Examples:
        >>> one_column([True, 1, "a"]).tolist(), one_column([1, 2]).dtype.kind
        ([True, 1, 'a'], 'i')
    """
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))
        if not any(issubclass(kind, _SEVERAL) for kind in kinds):
            whole = kinds <= {int} and _is_small(values)
            if not whole and not kinds <= {float} and not kinds <= {bool}:
                values = _objects(values)
    elif type(values).__module__.partition(".")[0] in ("pandas", "polars"):
        values = column_of(values) if hasattr(values, "dtype") else values
    return np.asarray(column_or_1d(values, warn=warn))


def _is_small(numbers: Iterable[float]) -> bool:
    """Tell whether all whole numbers are the same in every type."""
    return all(-_EXACT < v < _EXACT for v in numbers if isinstance(v, int))


def _with_gaps(series: Any, gone: Any) -> NDArray[Any]:
    cells = zip(gone, series, strict=True)
    return _objects([None if is_gone else plain(cell) for is_gone, cell in cells])


def _objects(cells: Any) -> NDArray[Any]:
    return np.array([*cells, None], object)[:-1]
