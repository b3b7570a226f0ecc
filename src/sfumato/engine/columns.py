"""Cells of any kind → arrays that a database reads without interpreting cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import nan
from typing import Any, TypeAlias, assert_never

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Integer, Real, Stored, Text, token
from sfumato.declare.unit import Identifier
from sfumato.engine.cell import day, identity, number, plain, text_key
from sfumato.engine.table import Table

__all__ = [
    "DAY",
    "PLACE",
    "Array",
    "cell_reader",
    "encode",
    "look_up",
    "of_arrays",
    "pack",
    "plain_array",
]

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

PLACE = np.dtype([("place", np.int32)])
"""The type of a column of places; it has a name of its own, because a 32-bit integer
column of a frame holds cells and not places."""


DAY = np.dtype([("day", np.float64)])
"""The type of a column of day numbers; other numbers are no days."""


def cell_reader(column: Stored) -> Callable[[object], Any]:
    """Return the total function from a cell to a number (NaN), place (-1) or text (none).

    Missing codes stay numbers here; each scan tells them apart. Identifiers stay texts.

    Examples:
        >>> list(map(cell_reader(Category(["F", "M"])), ["M", "F", "f", None]))
        [1, 0, -1, -1]
    """
    places: dict[str | None, int]
    match column:
        case Date():
            return _read_day
        case Real() | Integer():
            return _read_number
        case Boolean(true, false):
            places = {**dict.fromkeys(true, 1), **dict.fromkeys(false, 0)}
        case Category():
            places = {text: i for i, text in enumerate(column.tokens)}
        case Identifier():
            return lambda cell: identity(cell, column)
        case Text():
            return lambda cell: text_key(cell, column)
        case _:
            assert_never(column)
    return lambda cell: places.get(token(plain(cell)), -1)  # none is no key


def _read_number(cell: object) -> float:
    value = number(cell)
    return nan if value is None else value


def _read_day(cell: object) -> float:
    value = day(cell)
    return nan if value is None else value


def encode(cells: Iterable[object], column: Stored) -> Array:
    """Return doubles with NaN for missing, places with -1, or texts with none."""
    return pack(map(cell_reader(column), cells), column)


def pack(values: Iterable[Any], column: Stored) -> Array:
    """Return the array of what `cell_reader` returned for each cell."""
    if isinstance(column, Text | Identifier):
        texts = list(values)
        array = np.empty(len(texts), dtype=object)
        array[:] = texts
        return array
    if isinstance(column, Category | Boolean):
        return np.fromiter(values, dtype=np.int32).view(PLACE)
    numbers = np.fromiter(values, dtype=np.float64)
    return numbers.view(DAY) if isinstance(column, Date) else numbers


def look_up(codes: Array, values: Iterable[object], column: Stored) -> Array:
    """Return `encode` of a dictionary-encoded column, whose code -1 means missing."""
    table = encode([*values, None], column)  # the last entry is what -1 points at
    return table[codes]


def of_arrays(arrays: Sequence[Array], stored: Sequence[str]) -> Table:
    """Return the table of these columns, which share the arrays' memory."""
    places = frozenset(i for i, a in enumerate(arrays) if a.dtype == PLACE)
    days = frozenset(i for i, a in enumerate(arrays) if a.dtype == DAY)
    named = {f"c{i}": plain_array(a) for i, a in enumerate(arrays)}
    attach = lambda c: c.register("source", named)  # noqa: E731
    return Table(attach, places, tuple(stored), days=days)


def plain_array(array: Array) -> Array:
    """Return an array of places or days as the numbers that it holds."""
    if array.dtype == PLACE:
        return array.view(np.int32)
    return array.view(np.float64) if array.dtype == DAY else array
