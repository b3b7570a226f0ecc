"""A Spark table's fields: from their types to the relation ``data``.

Each declared column becomes one expression ``ci`` that no cell can make raise, whether
or not the session is in ANSI mode: text becomes a number by ``try_cast``, and only where
a pattern shows that it is a numeral by the rule of `cell.number`. After this scan
numbers are doubles, integers or truth values, and keys are text compared byte by byte.

The renderer of every Spark-like database, `relation`, works on positions only: a frame's
columns are ``p0``, ``p1``, …, so that neither case nor dots nor quotes of a name matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Schema, Stored
from sfumato.engine.physical import (
    Floating,
    Layout,
    Nothing,
    Physical,
    Scaled,
    Text,
    Truth,
    Whole,
)
from sfumato.engine.table import (
    declared_positions,
    has_keys,
    refuse_floats,
    unreadable,
)

__all__ = ["Field", "relation", "settle"]

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_EXACT_DIGITS = 15  # below 2^53: a cast divides two exact doubles, rounding once
# Whether a pattern's end-of-text is the end differs between regular expressions, so the
# part that matches is taken out and compared with the whole.
_NUMERAL = "^[+-]?([0-9]+([.][0-9]+)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
_BLANKS = "CAST(X'20090A0D0B0C' AS STRING)"


_DAY = "CAST('86400000000' AS BIGINT)"  # microseconds


@final
@dataclass(frozen=True, slots=True)
class Field:
    """A column as Spark describes it: its name, its type, and whether char(n) pads it."""

    name: str
    type: str
    padded: bool = False


@final
@dataclass(frozen=True, slots=True)
class _Column:
    """A column as read: its storage afterwards, and its expression over ``source``."""

    physical: Physical
    sql: str


def settle(fields: Sequence[Field], schema: Schema) -> tuple[Layout, tuple[str, ...]]:
    """Return how each declared column is stored after the scan, and before it.

    Raises:
        SourceError: A declared column is missing, or of a type that is neither numbers
            nor keys. Nothing was spent.
    """
    read = _columns(fields, schema)
    places = declared_positions(schema, [field.name for field in fields])
    return tuple(c.physical for c in read), tuple(fields[p].type for p in places)


def relation(
    fields: Sequence[Field], schema: Schema, view: str, name: str = "data"
) -> str:
    """Return ``data AS (…)``: the declared columns as ``c0``, ``c1``, …."""
    read = _columns(fields, schema)
    outputs = ", ".join(f"{c.sql} AS c{i}" for i, c in enumerate(read))
    return f"{name} AS (SELECT {outputs or '1 AS one'} FROM {view} AS source)"  # noqa: S608  our own names


def _columns(fields: Sequence[Field], schema: Schema) -> list[_Column]:
    places = declared_positions(schema, [field.name for field in fields])
    return [
        _day(fields[place], f"source.p{place}")
        if isinstance(column, Date)
        else _column(fields[place], f"source.p{place}", column)
        for (_, column), place in zip(schema.stored, places, strict=True)
    ]


def _day(field: Field, cell: str) -> _Column:
    """Return a column of days as days since 1970-01-01; texts are refused.

    A moment with a time zone is the day in UTC, whatever the session's zone is: its
    microseconds are divided, towards zero, and what is below a whole day goes down.
    """
    match field.type:
        case "date" | "timestamp_ntz":
            day = f"datediff(CAST({cell} AS DATE), DATE'1970-01-01')"
        case "timestamp":
            micros = f"unix_micros({cell})"
            below = f"CASE WHEN {micros} % {_DAY} < 0 THEN 1 ELSE 0 END"
            day = f"({micros} DIV {_DAY} - {below})"
        case _:
            raise unreadable(field.name, field.type)
    return _Column(Floating(), f"CAST({day} AS DOUBLE)")


def _column(field: Field, cell: str, column: Stored) -> _Column:
    keys = has_keys(column)
    if field.type in _BITS:
        half = 1 << _BITS[field.type] - 1
        return _Column(Whole(-half, half - 1), cell)
    match field.type:
        case "float" | "double":
            refuse_floats(field.name, field.type, column)
            digits = 24 if field.type == "float" else 53
            return _Column(Floating(digits), f"CAST({cell} AS DOUBLE)")
        case "boolean":
            return _Column(Truth(), cell)
        case "void":
            return _Column(Nothing(), "CAST(NULL AS STRING)")
        case "string":
            text = f"rtrim({cell})" if field.padded else cell
            read = text if keys else _of_text(text)
            return _Column(Text() if keys else Floating(), read)
        case _:
            decimal = _DECIMAL.fullmatch(field.type)
            if decimal is None:
                raise unreadable(field.name, field.type)
            return _decimal(cell, digits=int(decimal[1]), keys=keys)


def _decimal(cell: str, *, digits: int, keys: bool) -> _Column:
    """Return the nearest double of a decimal, or the digits of a whole one."""
    if keys:
        whole = f"CASE WHEN floor({cell}) = {cell} THEN CAST(floor({cell}) AS STRING) END"  # fmt: skip
        return _Column(Text(), whole)
    if digits <= _EXACT_DIGITS:
        return _Column(Scaled(), cell)
    return _Column(Floating(), f"CAST(CAST({cell} AS STRING) AS DOUBLE)")


def _of_text(text: str) -> str:
    """Return the double that a text is, by the rule of `cell.number`, or null."""
    trimmed = f"btrim({text}, {_BLANKS})"
    return (
        f"CASE WHEN {trimmed} <> '' AND regexp_extract({trimmed}, '{_NUMERAL}', 0) = "
        f"{trimmed} THEN try_cast({trimmed} AS DOUBLE) END"
    )
