"""Small tables as an adversary would choose them, made from declarations alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, nan
from typing import TypeAlias

import numpy as np

from sfumato.declare.query import Histogram, Query
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    Text,
)
from sfumato.noise import default

__all__ = [
    "TABLE",
    "Row",
    "Table",
    "cells",
    "hostile_rows",
    "hostile_tables",
    "shared_out",
]

Row: TypeAlias = Mapping[str, object]
Table: TypeAlias = Sequence[Row]

TABLE = "\0table"
"""The key under which a row says of which table it is, where it is not the main one."""

_NUMBERS = (inf, -inf, nan, 1e308, -1e308, 5e-324, -0.0, 0.0, 2.0**53)
_OBJECTS = (2**62, -(2**63), 10**400, "n/a", "1e400", "", True)


def cells(
    column: Column, edges: Sequence[float] = (), *, typed: bool = False
) -> tuple[object, ...]:
    """Return the cells of one column that are most likely to break a claim.

    The ends of the range, the halves where rounding turns, every declared code and
    key, missing cells of every kind, infinities, the largest and smallest doubles,
    integers beyond 64 bits, and cells of another type.

    Args:
        column: The declaration.
        edges: Further numbers whose neighbourhood matters, such as edges of bins.
        typed: Only cells that a typed column of a database can hold.

    Examples:
        >>> cells(Boolean(), typed=True)
        (True, False, None)
    """
    match column:
        case Real() | Integer():
            step = column.step
            turns = [column.lower, column.upper, (column.lower + column.upper) / 2]
            turns += [x + s * step / 2 for x in turns[:2] for s in (-3, -1, 1, 3)]
            turns += [*edges, *(float(np.nextafter(e, -inf)) for e in edges)]
            found: list[object] = [*turns, *column.missing, *_NUMBERS, None]
            return tuple(found if typed else [*found, *_OBJECTS])
        case Category():
            keys: list[object] = [*column.values]
            near = [f" {keys[0]}", str(keys[-1]).swapcase() + "\u0301", ""]
            odd: list[object] = [] if typed else [1e308, nan, 10**400, b"0"]
            return (*(map(str, keys) if typed else keys), *near, None, *odd)
        case Text(longest):
            texts = ("a", "A", "", " a", "a\u0301", "\u00e1", "2", "2.0", "x" * longest)
            return (*texts, "x" * (longest + 1), None, *(() if typed else (2.5, b"0")))
        case Boolean():
            if typed:
                return (True, False, None)
            return (*column.true, *column.false, True, False, None, "x", nan, 2)


def hostile_rows(
    schema: Schema, query: Query, count: int, *, typed: bool = False
) -> list[Row]:
    """Return rows: each kind of end together, then cells picked at random."""
    choices = {
        name: cells(column, _edges(query, name), typed=typed)
        for name, column in schema.columns
    }
    ends: list[Row] = [
        {
            name: several[min(place, len(several) - 1)]
            for name, several in choices.items()
        }
        for place in (0, 1)
    ]
    ends += [dict.fromkeys(choices), dict(_infinite(choices))]
    words = iter(default().words(max(1, count * len(choices))).tolist())
    mixed: list[Row] = [
        {name: several[next(words) % len(several)] for name, several in choices.items()}
        for _ in range(count)
    ]
    return [*ends, *mixed]


def hostile_tables(
    rows: Sequence[Row], count: int, *, size: int | None, most: int = 4
) -> Iterator[Table]:
    """Yield small tables of these rows: none, one, equal ones, and mixtures.

    Args:
        rows: To choose from; the first ones are the ends of every range.
        count: How many tables.
        size: The public number of rows, if the number is public.
        most: Rows of a table whose number is not.
    """
    words = iter(default().words(count * (max(size or 0, most) + 2)).tolist())
    for place in range(count):
        wanted = next(words) % (most + 1) if size is None else size
        if place < len(rows):  # a row beside itself and beside the ends
            table = [rows[place], rows[place // 2], rows[0]][: wanted or 3]
        else:
            table = []
        table += [rows[next(words) % len(rows)] for _ in range(wanted - len(table))]
        yield table
    if size is None:
        yield [rows[0], rows[0]]
        yield []


def shared_out(table: Table, columns: Mapping[object, str]) -> Table:
    """Return a table whose rows belong to two people, and some to nobody.

    Most rows are those of one person, so that bounds of her rows and groups matter.

    Args:
        table: The rows.
        columns: The column of identifiers, by the name of the table; none is the main one.
    """
    words = default().words(len(table)).tolist()
    whose = (1, 1, 1, 1, 2, 2, None, 1)
    return [
        {**row, columns[row.get(TABLE)]: whose[w % 8]}
        for row, w in zip(table, words, strict=True)
    ]


def _infinite(
    choices: Mapping[str, tuple[object, ...]],
) -> Iterator[tuple[str, object]]:
    for name, several in choices.items():
        yield name, inf if inf in several else several[-1]


def _edges(query: Query, name: str) -> tuple[float, ...]:
    found = [
        edge
        for one in query.statistics
        if isinstance(one, Histogram) and one.column == name
        for edge in one.edges
    ]
    return tuple(dict.fromkeys(map(float, found)))[:40]
