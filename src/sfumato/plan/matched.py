"""Which public row each private row finds: keys of both sides by one rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.declare.calendar import Date
from sfumato.declare.lookup import Cell, check_keys
from sfumato.declare.numeral import numeral
from sfumato.declare.relation import Looked
from sfumato.declare.schema import Boolean, Category, Column, Integer, Schema, Text
from sfumato.errors import DeclarationError, closest
from sfumato.words import N_

__all__ = ["Match", "Place", "matched"]

Place: TypeAlias = "int | float | str"
"""A key as the private column holds it: the place of a category, 0 or 1 of a Boolean, a
whole number as a float, or a text."""

_MOST = 10_000
_WHOLE = 2.0**53  # below it each whole number is a float of its own


@final
@dataclass(frozen=True, slots=True)
class Match:
    """A public row that some private row could find."""

    key: tuple[Place, ...]
    cells: tuple[Cell, ...]


def matched(base: Looked, schema: Schema) -> tuple[Match, ...]:
    """Return the public rows that can be found, by keys of the private columns.

    Keys that no private cell can equal are left out. Those that remain are different
    *after* they are read as the private columns' cells are (``"7"`` and ``"07"`` are one
    whole number), so that no private row finds two public ones: it would count twice.

    Args:
        base: The node.
        schema: Of the private rows.

    Raises:
        DeclarationError: A column cannot be a key, the number of columns differs, there
            are too many rows, no key fits, or two keys are one.
    """
    table = base.table
    if len(base.on) != len(table.key):
        raise DeclarationError(
            N_(
                "the public table {name} has the key {keys}, and {count} columns are given"
            ),
            hint=N_("name as many columns, in the same order: on=[…]"),
            name=repr(table.name),
            keys=", ".join(map(repr, table.key)),
            count=len(base.on),
        )
    columns = [_compared(schema, name, base) for name in base.on]
    for name, column in zip(base.on, columns, strict=True):
        whole = isinstance(column, Integer) and not isinstance(column, Date)
        if not (whole or isinstance(column, Category | Boolean | Text)):
            raise DeclarationError(
                N_("column {name} cannot be joined on: fractions and days are no keys"),
                hint=N_("declare it as Integer, Category, Boolean or Text"),
                name=repr(name),
            )
    readers = [_reader(column) for column in columns]
    found = []
    for texts, cells in table.rows:
        read = [r(text) for r, text in zip(readers, texts, strict=True)]
        key = tuple(place for place in read if place is not None)
        if len(key) == len(read):
            found.append(Match(key, cells))
    if not found:
        raise DeclarationError(
            N_("no key of the public table {name} is a key of {columns}"),
            hint=N_("compare both: they must be written alike and declared alike"),
            name=repr(table.name),
            columns=", ".join(map(repr, base.on)),
        )
    if len(found) > _MOST:
        raise DeclarationError(
            N_("the public table {name} has {rows} keys; at most {most} are joined"),
            hint=N_("leave out keys that do not occur, or join the table beforehand"),
            name=repr(table.name),
            rows=len(found),
            most=_MOST,
        )
    check_keys(table.name, [one.key for one in found])
    return tuple(found)


def _compared(schema: Schema, name: str, base: Looked) -> Column:
    """Return the column that is compared with the key of the public table."""
    if name in schema or name == getattr(schema.unit, "column", None):
        return schema[name]  # which refuses the column that says whose a row is
    raise DeclarationError(
        N_("the rows have no column {name} to be compared with the key of {table}"),
        hint=N_("say which of them hold its key {keys}: on={near}"),
        name=repr(name),
        table=repr(base.table.name),
        keys=", ".join(map(repr, base.table.key)),
        near=closest(name, schema).replace("'", '"') or '"…"',
    )


def _reader(column: Column) -> Callable[[str], Place | None]:
    match column:
        case Category():
            places = {text: i for i, text in enumerate(column.tokens)}
            return places.get
        case Boolean(true, false):
            truths = {**dict.fromkeys(true, 1), **dict.fromkeys(false, 0)}
            return truths.get
        case Text(longest):
            return lambda text: text if len(text) <= longest else None
        case _:
            return _whole


def _whole(text: str) -> float | None:
    number = numeral(text)
    if number is None or abs(number) >= _WHOLE or not number.is_integer():
        return None
    return number + 0.0  # no negative zero
