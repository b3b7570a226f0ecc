"""Rows that are made of other rows, in plain Python: the specification of `relate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from sfumato.declare.calendar import Date
from sfumato.declare.feature import Feature
from sfumato.declare.relation import (
    Base,
    Joined,
    Looked,
    Other,
    Part,
    PerPerson,
    United,
)
from sfumato.declare.schema import Boolean, Category, Column, Integer, Real, Schema
from sfumato.declare.unit import Unit
from sfumato.engine.cell import Day, clamped, grid_number, identity
from sfumato.engine.evaluate import Row, cell, truth, widened_row
from sfumato.engine.feature import grid_of
from sfumato.plan import relate as planned
from sfumato.plan.matched import matched
from sfumato.plan.relate import part_schema

__all__ = ["Tables", "related_rows"]

Tables: TypeAlias = "Mapping[str, Sequence[Row]]"
"""The rows of the other private tables, by name."""


def related_rows(
    base: Base, schema: Schema, rows: Sequence[Row], others: Tables
) -> list[Row]:
    """Return the rows that a node yields; `schema` and `rows` are of the main table."""

    def of(part: Part) -> tuple[list[Row], Schema]:
        found = rows
        if part.base is not None:
            found = related_rows(part.base, schema, rows, others)
        own = part_schema(part, schema)
        wide = [widened_row(part, row, own) for row in found]
        kept = part.condition
        return [r for r in wide if kept is None or truth(kept, r, own) is True], own

    match base:
        case Other(name):
            return list(others[name])
        case Looked():
            return _looked(base, *of(base.rows))
        case Joined():
            return _joined(base, *of(base.rows), *of(base.other))
        case United(parts):
            return _united([of(part) for part in parts])
        case PerPerson():
            return _per_person(base, *of(base.rows))
        case _:
            assert_never(base)


def _looked(base: Looked, rows: list[Row], schema: Schema) -> list[Row]:
    public = {one.key: one.cells for one in matched(base, schema)}
    columns = base.table.columns
    none = (None,) * len(columns)
    found: list[Row] = []
    for row in rows:
        key = tuple(cell(row, schema, name) for name in base.on)
        if base.found_only and key not in public:
            continue
        cells = public.get(key, none)  # type: ignore[arg-type]  # none is no key
        added = {
            f"{base.prefix}{name}": _raw(value, column)
            for (name, column), value in zip(columns, cells, strict=True)
        }
        found.append({**row, **added})
    return found


def _raw(value: float | None, column: Column) -> object:
    """Return a cell that is read as this number, or place of a key."""
    if value is None:
        return None
    match column:
        case Date():
            return Day(value)
        case Category(values):
            return values[int(value)]
        case Boolean():
            return (column.false, column.true)[int(value)][0]
        case _:
            return float(value)


def _joined(
    base: Joined, rows: list[Row], schema: Schema, others: list[Row], other: Schema
) -> list[Row]:
    met = Counter(_whose(row, schema) for row in rows)
    there: dict[str | None, list[Row]] = {}
    for theirs in others:
        there.setdefault(_whose(theirs, other), []).append(theirs)
    return [
        {**row, **{f"{base.prefix}{name}": theirs.get(name) for name in other}}
        for row in rows
        if (person := _whose(row, schema)) is not None
        and met[person] * len(there.get(person, ())) <= planned.MOST_PAIRS
        for theirs in there.get(person, ())
    ]


def _united(several: list[tuple[list[Row], Schema]]) -> list[Row]:
    unit = several[0][1].unit
    found: list[Row] = []
    for rows, schema in several:
        for row in rows:
            one = {name: row.get(name) for name in schema}
            if isinstance(unit, Unit):
                one[unit.column] = _whose(row, schema)
            found.append(one)
    return found


def _whose(row: Row, schema: Schema) -> str | None:
    unit = schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  the plan checked it
    return identity(row.get(unit.column), unit.identifier)


def _per_person(base: PerPerson, rows: list[Row], schema: Schema) -> list[Row]:
    theirs: dict[str, list[Row]] = {}
    for row in rows:
        person = _whose(row, schema)
        if person is not None:
            theirs.setdefault(person, []).append(row)
    unit = schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  the plan checked it
    return [
        {
            unit.column: person,
            **{name: _figure(one, own, schema) for name, one in base.features},
        }
        for person, own in theirs.items()
    ]


def _figure(one: Feature, rows: list[Row], schema: Schema) -> object:
    """Return a figure about the person whose rows these are."""
    if one.column is None:
        return float(len(rows))
    column = schema[one.column]
    if one.of == "count":
        return float(sum(cell(r, schema, one.column) is not None for r in rows))
    values = [
        (_value(row, schema, one.column), cell(row, schema, one.by) if one.by else 0)
        for row in rows
    ]
    there = [(x, o) for x, o in values if x is not None and o is not None]
    if not there:
        return None
    if one.of == "sum":
        return _total(one.column, rows, schema)
    ends: dict[str, Callable[[Iterable[float]], float]] = {"first": min, "last": max}
    if one.of in ends:
        end = ends[one.of](o for _, o in there)  # type: ignore[misc]  # numbers or days
        found = min(x for x, o in there if o == end)
    else:
        found = (max if one.of == "max" else min)(x for x, _ in there)
    if isinstance(column, Boolean):
        return bool(found)
    return _raw(found, column)


def _value(row: Row, schema: Schema, name: str) -> float | None:
    """Return a row's value: a clamped number, or the place of a key."""
    found, column = cell(row, schema, name), schema[name]
    if found is None:
        return None
    return clamped(float(found), column) if isinstance(column, Real | Integer) else float(found)  # fmt: skip


def _total(name: str, rows: list[Row], schema: Schema) -> float:
    column = schema[name]
    assert isinstance(column, Real | Integer | Boolean)  # noqa: S101  the plan checked it
    grid, terms = grid_of(column), []
    for row in rows:
        x = cell(row, schema, name)
        if x is not None:
            q = int(x) if isinstance(column, Boolean) else grid_number(float(x), column)
            terms.append((q - grid.first) >> grid.trim)
    return grid.total(sum(terms), len(terms))
