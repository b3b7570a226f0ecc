"""Contingency tables in plain Python: the specification that every engine must agree with."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sfumato.declare.schema import Boolean, Category, Integer, Real, Text
from sfumato.declare.unit import Unit
from sfumato.engine.cell import grid_number, identity, key_index
from sfumato.engine.contingency import Tables
from sfumato.engine.evaluate import cell as read_cell
from sfumato.plan.contingency import FINE, Coding, TableQuery
from sfumato.secret import Secret

__all__ = ["bin_of", "bin_of_number", "count_rows"]


def count_rows(rows: Sequence[dict[str, object]], query: TableQuery) -> Secret[Tables]:
    """Count rows in plain Python: the specification that every engine must agree with.

    Examples:
        >>> from sfumato.declare.schema import Schema
        >>> schema = Schema({"Age": Integer(0, 120)})
        >>> coding = Coding("Age", count=3, missing=2, edges=(0, 65))
        >>> count_rows([{"Age": 70}], TableQuery(schema, (coding,), ((0,),)))
        <Secret>
    """
    unit = query.schema.unit
    if not isinstance(unit, Unit):
        return Secret(_plain(rows, query))
    theirs: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        person = identity(row.get(unit.column), unit.identifier)
        if person is not None:
            theirs.setdefault(person, []).append(row)
    found = tuple(table * 0 for table in _plain((), query))
    for own in theirs.values():
        kept = min(len(own), unit.max_rows)
        for total, table in zip(found, _plain(own, query), strict=True):
            np.add(total, table * FINE * kept // len(own), out=total)
    return Secret(found)


def _plain(rows: Sequence[dict[str, object]], query: TableQuery) -> Tables:
    found = tuple(
        np.zeros(prod(query.shape(t)), np.int64) for t in range(len(query.sets))
    )
    for row in rows:
        bins = [bin_of(row, c, query) for c in query.codings]
        for table, columns in enumerate(query.sets):
            flat = 0
            for c in columns:
                flat = flat * query.codings[c].count + bins[c]
            found[table][flat] += 1
    return found


def bin_of(row: dict[str, object], coding: Coding, query: TableQuery) -> int:
    """Return the bin of one row's cell, by the rule of `cell`."""
    name = coding.column
    match query.schema[name]:
        case Real() | Integer():
            value = read_cell(row, query.schema, name)
            if value is None:
                return coding.missing
            return bin_of_number(float(value), coding, query)
        case Category() | Boolean() as column:
            place = key_index(row.get(name), column)
            return coding.missing if place is None else coding.places[place]
        case Text():
            return coding.missing


def bin_of_number(value: float, coding: Coding, query: TableQuery) -> int:
    """Return the bin of a number that is not missing."""
    column = query.schema[coding.column]
    assert isinstance(column, Real | Integer)  # noqa: S101  only they have edges
    q = grid_number(value, column)
    return max(i for i, edge in enumerate(coding.edges) if i == 0 or edge <= q)
