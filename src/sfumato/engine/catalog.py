"""A PostgreSQL table's columns: from the catalogue to the relation ``data``.

Each declared column becomes one expression ``ci`` that no cell can make raise: text is
cast only where a pattern proves that the cast succeeds, wide numbers only where their
size does. After this scan numbers are doubles, integers or truth values, and keys are
text compared byte by byte.
"""

# ruff: noqa: S608  names are those of the catalogue, quoted; constants are ours

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import final

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Schema
from sfumato.declare.schema import Stored as Declared
from sfumato.declare.unit import Identifier
from sfumato.engine.physical import Floating, Layout, Physical, Text, Truth, Whole
from sfumato.engine.table import (
    declared_positions,
    has_keys,
    refuse_floats,
    unreadable,
)

__all__ = ["CATALOG", "Stored", "quoted", "relation", "settle"]

CATALOG = (
    "SELECT a.attname, pg_catalog.format_type(a.atttypid, NULL), a.atttypid::int "
    "FROM pg_catalog.pg_attribute AS a "
    "JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
    "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
)
"""The columns of a table or view: name, type in words, type by number."""

Stored = tuple[str, str, int]

_WHOLE = {21: 16, 23: 32, 20: 64}  # int2, int4, int8: bits
_FLOAT = {700: 24, 701: 53}  # float4, float8: digits of the significand
_TEXT = (25, 1043, 1042)  # text, varchar, char(n); the padding of the last is no text
_NUMERIC, _TRUTH, _UUID = 1700, 16, 2950
_DAYS = (1082, 1114, 1184)  # date, timestamp, timestamptz
_ZONED = 1184
_MARCH_0000 = 719_469  # days from 0000-03-01, counted as 1, to 1970-01-01

_LONGEST = 1 << 24  # bytes of a numeral; the matching of patterns needs memory
_DIGITS = 800
_FAR = 400  # powers of ten beyond which each number is an infinity or zero
_SAFE = 300  # characters of a plain numeral whose value neither over- nor underflows
_MANTISSA = "[+-]?([0-9]+([.][0-9]+)?|[.][0-9]+)"
# At and beyond these, decimals round to an infinity or to zero, where casts raise.
_HUGE = str(2**1024 - 2**970)
_TINY = format(Context(prec=800).divide(Decimal(1), Decimal(2**1075)), "E")


@final
@dataclass(frozen=True, slots=True)
class _Column:
    """A column as read: its storage afterwards, and its expression over ``source``."""

    physical: Physical
    sql: str


def settle(columns: Sequence[Stored], schema: Schema) -> tuple[Layout, tuple[str, ...]]:
    """Return how each declared column is stored after the scan, and before it.

    Raises:
        SourceError: A declared column is missing, or of a type that is neither numbers
            nor keys. Nothing was spent.
    """
    read = _columns(columns, schema)
    places = declared_positions(schema, [name for name, _, _ in columns])
    return tuple(c.physical for c in read), tuple(columns[p][1] for p in places)


def relation(
    columns: Sequence[Stored],
    schema: Schema,
    namespace: str,
    table: str,
    name: str = "data",
) -> str:
    """Return ``data AS (…)``: the declared columns as ``c0``, ``c1``, ….

    ``OFFSET 0`` keeps the planner from copying an expression to each of its uses, and
    from moving a filter in front of the guards.
    """
    outputs = ", ".join(f"{c.sql} AS c{i}" for i, c in enumerate(_columns(columns, schema)))  # fmt: skip
    source = f"{quoted(namespace)}.{quoted(table)}"
    return f"{name} AS NOT MATERIALIZED (SELECT {outputs} FROM {source} AS source OFFSET 0)"  # fmt: skip


def quoted(name: str) -> str:
    """Return an identifier that stands for exactly this name."""
    return '"' + name.replace('"', '""') + '"'


def _columns(columns: Sequence[Stored], schema: Schema) -> list[_Column]:
    places = declared_positions(schema, [name for name, _, _ in columns])
    return [
        _day(*columns[place])
        if isinstance(column, Date)
        else _column(*columns[place], column)
        for (_, column), place in zip(schema.stored, places, strict=True)
    ]


def _column(name: str, stored: str, oid: int, column: Declared) -> _Column:
    keys = has_keys(column)
    cell = f"source.{quoted(name)}"
    if oid in _WHOLE:
        half = 1 << _WHOLE[oid] - 1
        return _Column(Whole(-half, half - 1), cell)
    if oid in _FLOAT:
        refuse_floats(name, stored, column)
        return _Column(Floating(_FLOAT[oid]), f"CAST({cell} AS double precision)")
    if oid == _TRUTH:
        return _Column(Truth(), cell)
    if oid in _TEXT:
        text = f'CAST({cell} AS text) COLLATE "C"'  # other collations merge texts
        return _Column(Text(), text) if keys else _Column(Floating(), _of_text(text))
    if oid == _NUMERIC:
        return _Column(Text(), _key_of_numeric(cell)) if keys else _Column(Floating(), _of_numeric(cell))  # fmt: skip
    if oid == _UUID and isinstance(column, Identifier):
        return _Column(Text(), f'CAST({cell} AS text) COLLATE "C"')
    raise unreadable(name, stored)


def _day(name: str, stored: str, oid: int) -> _Column:
    """Return a column of days as days since 1970-01-01, in doubles.

    The difference of dates raises where one is infinite, and a cast of text where it is
    no day; so the first is asked, and texts are computed with, digit by digit.
    """
    cell = f"source.{quoted(name)}"
    if oid in _TEXT:
        return _Column(Floating(), _day_of_text(f'CAST({cell} AS text) COLLATE "C"'))
    if oid not in _DAYS:
        raise unreadable(name, stored)
    local = f"({cell} AT TIME ZONE 'UTC')" if oid == _ZONED else cell
    epoch = "CAST('1970-01-01' AS date)"
    end = f"CASE WHEN {cell} > {epoch} THEN {_double('Infinity')} ELSE {_double('-Infinity')} END"  # fmt: skip
    days = f"CAST(CAST({local} AS date) - {epoch} AS double precision)"
    return _Column(
        Floating(),
        f"CASE WHEN isfinite({cell}) THEN {days} WHEN {cell} IS NOT NULL THEN {end} END",
    )


def _day_of_text(x: str) -> str:
    """Return the day number of a text by the rule of `calendar.day_of_text`, or null.

    Theorem (Hinnant, ``days_from_civil``): with years that begin in March, the day
    number follows from divisions of whole numbers of at least 0.
    """
    trimmed = f"btrim({x}, E' \\t\\n\\r\\x0b\\f')"
    time = "([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?"
    parts = (
        "SELECT CAST(substr(u.t, 1, 4) AS integer) AS y, CAST(substr(u.t, 6, 2) AS integer)"
        " AS m, CAST(substr(u.t, 9, 2) AS integer) AS d OFFSET 0"
    )
    leap = "(a.y % 4 = 0 AND (a.y % 100 <> 0 OR a.y % 400 = 0))"
    longest = (
        f"CASE WHEN a.m IN (4, 6, 9, 11) THEN 30 WHEN a.m <> 2 THEN 31 WHEN {leap} "
        "THEN 29 ELSE 28 END"
    )
    year = "CASE WHEN a.m <= 2 THEN a.y - 1 ELSE a.y END"
    month = "CASE WHEN a.m <= 2 THEN a.m + 9 ELSE a.m - 3 END"
    days = f"365 * b.y + b.y / 4 - b.y / 100 + b.y / 400 + (153 * b.m + 2) / 5 + b.d - {_MARCH_0000}"  # fmt: skip
    return (
        f"(SELECT CASE WHEN octet_length(u.t) <= {_LONGEST} AND "
        f"u.t ~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{time}$' THEN "
        f"(SELECT CASE WHEN b.fits THEN CAST({days} AS double precision) END FROM "
        f"(SELECT {year} AS y, {month} AS m, a.d AS d, a.y >= 1 AND a.m BETWEEN 1 AND 12 "
        f"AND a.d >= 1 AND a.d <= {longest} AS fits FROM ({parts}) AS a OFFSET 0) AS b) END "
        f"FROM (SELECT {trimmed} AS t OFFSET 0) AS u)"
    )


def _of_numeric(x: str) -> str:
    """Return the nearest double of a decimal; NaN is missing, as null."""
    zero, infinity = _double("0"), _double("Infinity")
    huge, tiny = f"CAST('{_HUGE}' AS numeric)", f"CAST('{_TINY}' AS numeric)"
    return (
        f"CASE WHEN {x} = CAST('NaN' AS numeric) THEN NULL "
        f"WHEN {x} >= {huge} THEN {infinity} WHEN {x} <= -{huge} THEN -{infinity} "
        f"WHEN {x} >= -{tiny} AND {x} <= {tiny} THEN {zero} "
        f"ELSE CAST({x} AS double precision) END"
    )


def _key_of_numeric(x: str) -> str:
    """Return the digits of a whole decimal; others, NaN and infinity are no keys."""
    # The difference is NaN for NaN and for infinities; equality of NaN alone says nothing.
    return f"CASE WHEN {x} - {x} = 0 AND {x} = trunc({x}) THEN CAST(trunc({x}) AS text) END"  # fmt: skip


def _of_text(x: str) -> str:
    """Return the double that a text is, by the rule of `cell.number`, or null."""
    trimmed = f"btrim({x}, E' \\t\\n\\r\\x0b\\f')"
    return (
        f"(SELECT CASE WHEN octet_length(u.t) <= {_LONGEST} "
        f"AND u.t ~ '^{_MANTISSA}([eE][+-]?[0-9]+)?$' THEN CASE "
        f"WHEN char_length(u.t) <= {_SAFE} AND u.t !~ '[eE]' "
        f"THEN CAST(u.t AS double precision) ELSE {_of_numeral('u.t')} END END "
        f"FROM (SELECT {trimmed} AS t OFFSET 0) AS u)"
    )


def _of_numeral(t: str) -> str:
    """Return the nearest double of a numeral of any length and any exponent.

    It is brought into the form 0.d × 10^e, where d begins with a digit above zero. No
    point half way between doubles has more than 770 digits, so that `_DIGITS` digits
    and one more, if any later digit is above zero, round as all digits do.
    """
    zero, infinity = _double("0"), _double("Infinity")
    mantissa = f"ltrim(split_part(lower({t}), 'e', 1), '+-')"
    power = f"split_part(lower({t}), 'e', 2)"
    parts = (
        f"SELECT split_part({mantissa}, '.', 1) AS i, split_part({mantissa}, '.', 2) AS f, "
        f"ltrim({power}, '+-0') AS p, {power} LIKE '-%' AS below, "
        f"{t} LIKE '-%' AS negative OFFSET 0"
    )
    digits = (
        "SELECT ltrim(a.i || a.f, '0') AS d, a.negative, "
        "char_length(ltrim(a.i || a.f, '0')) - char_length(a.f) + "
        "CASE WHEN a.below THEN -1 ELSE 1 END * CASE WHEN char_length(a.p) > 10 "
        f"THEN CAST('99999999999' AS bigint) ELSE CAST('0' || a.p AS bigint) END AS e "
        f"FROM ({parts}) AS a OFFSET 0"
    )
    number = (
        "CAST(CASE WHEN b.negative THEN '-0.' ELSE '0.' END || "
        f"substr(b.d, 1, {_DIGITS}) || CASE WHEN ltrim(substr(b.d, {_DIGITS + 1}), '0') "
        "<> '' THEN '1' ELSE '' END || 'e' || CAST(b.e AS text) AS numeric)"
    )
    return (
        f"(SELECT CASE WHEN b.d = '' OR b.e < -{_FAR} THEN {zero} WHEN b.e > {_FAR} "
        f"THEN CASE WHEN b.negative THEN -{infinity} ELSE {infinity} END "
        f"ELSE (SELECT {_of_numeric('c.n')} FROM (SELECT {number} AS n OFFSET 0) AS c) END "
        f"FROM ({digits}) AS b)"
    )


def _double(text: str) -> str:
    return f"CAST('{text}' AS double precision)"
