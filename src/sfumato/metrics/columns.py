"""Columns of any table library as arrays; missing cells are one value of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError, nearest, quoted
from sfumato.words import N_

__all__ = ["Codes", "Columns", "codes", "columns", "is_table", "numbers"]

Columns: TypeAlias = "dict[str, NDArray[Any]]"
Codes: TypeAlias = "NDArray[np.int64]"


def is_table(value: object) -> bool:
    """Tell whether a value has named columns."""
    library = type(value).__module__.partition(".")[0]
    framed = library in ("pandas", "polars") and type(value).__name__ == "DataFrame"
    return framed or isinstance(value, Mapping) or hasattr(value, "column_names")


def columns(table: Any) -> Columns:
    """Return the columns of a pandas, polars or Arrow table, or a mapping of lists.

    Raises:
        ArgumentError: It is no table, it is empty, or columns differ in length.
    """
    if not is_table(table):
        raise ArgumentError(
            N_("{kind} is no table"),
            hint=N_("give a pandas or polars data frame, an Arrow table, or a dict"),
            kind=type(table).__name__,
        )
    if hasattr(table, "to_pydict"):  # Arrow
        table = table.to_pydict()
    elif hasattr(table, "to_dict") and type(table).__module__.startswith("polars"):
        table = table.to_dict(as_series=False)
    held = {
        name if isinstance(name, str) else quoted(name): table[name] for name in table
    }
    for name, cells in held.items():
        if not isinstance(cells, Iterable):
            raise ArgumentError(
                N_("column {name} is no list of cells"),
                hint=N_("give one cell for each row"),
                name=repr(name),
            )
    found = {name: np.asarray(list(cells), object) for name, cells in held.items()}
    if not found or not all(len(c) for c in found.values()):
        raise ArgumentError(
            N_("the table has no rows"), hint=N_("give a table with at least one row")
        )
    if len({len(c) for c in found.values()}) > 1:
        raise ArgumentError(
            N_("the columns differ in length"), hint=N_("give one cell for each row")
        )
    return found


def pick(table: Columns, name: str) -> NDArray[Any]:
    """Return a column.

    Raises:
        ArgumentError: There is none of that name.
    """
    if name not in table:
        raise ArgumentError(
            N_("the table has no column {name}"),
            hint=N_("its columns: {names}"),
            name=repr(name),
            names=nearest(name, table),
        )
    return table[name]


def codes(column: NDArray[Any]) -> Codes:
    """Return a number for each cell, equal for equal cells; missing cells are equal.

    Numbers follow the order of the values where they have one, else that of appearance.
    """
    cells = [None if _is_missing(cell) else cell for cell in column.tolist()]
    known = [k for k in dict.fromkeys(cells) if k is not None]
    with suppress(TypeError):  # values of several types have no order
        known.sort()
    places = {value: i for i, value in enumerate([*known, None])}
    return np.array([places[cell] for cell in cells], dtype=np.int64)


def numbers(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column of numbers with NaN for missing cells; none if it holds others."""
    cells = column.tolist()
    kinds = {type(c) for c in cells if not _is_missing(c)}
    if not kinds or not all(issubclass(k, int | float | np.number) for k in kinds):
        return None
    if bool in kinds:
        return None
    return np.array([np.nan if _is_missing(c) else float(c) for c in cells])


def _is_missing(cell: object) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and bool(np.isnan(cell))
