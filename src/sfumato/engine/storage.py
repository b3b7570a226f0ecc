"""Bring a table into DuckDB and settle how each column is stored.

Numbers that a scan could not read in one way on every database (text, wide integers,
long decimals) are read here once, cell by cell, by the one rule of `cell`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, final

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Integer, Real, Schema, Stored
from sfumato.declare.schema import Text as Unlisted
from sfumato.declare.unit import Identifier
from sfumato.engine.columns import cell_reader, pack
from sfumato.engine.physical import (
    Floating,
    Layout,
    Nothing,
    Physical,
    Places,
    Scaled,
    Text,
    Truth,
    Whole,
)
from sfumato.engine.room import bytes_of, too_large
from sfumato.engine.table import Table, has_keys, log, refuse_floats, unreadable
from sfumato.errors import SourceError
from sfumato.words import N_

if TYPE_CHECKING:
    import duckdb

__all__ = ["Settled", "damaged", "settle"]

DAYS = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
        "TIMESTAMP WITH TIME ZONE")  # fmt: skip
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}
_DIRECT: dict[str, Physical] = {
    **{name: Whole(-(1 << n - 1), (1 << n - 1) - 1) for name, n in _BITS.items()},
    **{f"U{name}": Whole(0, (1 << n) - 1) for name, n in _BITS.items()},
    "DOUBLE": Floating(double=True),
    "FLOAT": Floating(24),
    "BOOLEAN": Truth(),
    '"NULL"': Nothing(),
}
_SMALL = 1 << 22  # cells that a file is read once for, instead of at each question
_FEW = 1 << 17  # cells of a frame: to bind it takes longer than to scan so few
_READY = (Floating(double=True), Nothing())  # what no statement casts
_CELLS = 1 << 11  # read as Python's at one time
_LITTLE = 1 << 29  # bytes that a copy may take
_EXACT_DIGITS = 15  # below 2^53: any database divides two exact doubles, rounding once


@final
@dataclass(frozen=True, slots=True)
class Settled:
    """The relation ``data``.

    Attributes:
        layout: How each declared column is stored.
        rows: Its number of rows.
        files: Files that every later scan must be able to read.
        view: Where ``data`` is a copy of the rows of ``source`` as they were, the SELECT
            that reads those of now; else none.
    """

    layout: Layout
    rows: int
    files: tuple[str, ...]
    view: str | None = None


def settle(
    connection: duckdb.DuckDBPyConnection, table: Table, schema: Schema
) -> Settled:
    """Make the relation ``data``.

    Every declared cell is read once, so that damage is found before anything is spent.
    Columns of a file, or of a frame, that are few enough are copied into the database.

    Raises:
        SourceError: A column is stored as something that is neither numbers nor keys,
            or the source cannot be read. Nothing was spent.
    """
    import duckdb

    needs_more = False
    try:
        table.attach(connection)
        types = [
            str(row[1])
            for row in connection.execute("DESCRIBE SELECT * FROM source").fetchall()
        ]
        layout = [
            _stored(table, i, types[i], name, column)
            for i, (name, column) in enumerate(schema.stored)
        ]
        unread = [i for i, physical in enumerate(layout) if physical is None]
        is_copied = bool(unread or _is_small(connection, table, types))
        view = None
        if unread:
            _read(connection, schema, unread, types)
        else:
            outputs = [_as_days(i, t) for i, t in enumerate(types)]
            if is_copied:
                layout = _as_doubles(schema, layout, outputs, types)
            view = f"SELECT {', '.join(outputs)} FROM source"  # noqa: S608  our words
            is_copied = is_copied and _copy(connection, view)
            if not is_copied:
                connection.execute(f"CREATE TEMP VIEW data AS {view}")
        settled = tuple(
            p or _after_reading(column)
            for p, (_, column) in zip(layout, schema.stored, strict=True)
        )
        rows = _touch(connection, len(settled))
        files = () if is_copied else table.files
        return Settled(settled, rows, files, view if is_copied else None)
    except duckdb.OutOfMemoryException:
        log.debug("the table needs too much memory", exc_info=True)
        needs_more = True
    except duckdb.Error:
        log.debug("the table could not be attached", exc_info=True)
    if needs_more:
        raise too_large(table.files[0] if table.files else "the table")
    raise damaged()  # without a context: the driver's words may quote a cell


def damaged() -> SourceError:
    """Return the error for a table that DuckDB cannot read."""
    return SourceError(
        N_(
            "the table cannot be read: it is damaged, or holds text that is not Unicode"
        ),
        hint=N_("write it again with the program it came from, as CSV or Parquet"),
    )


def _as_doubles(
    schema: Schema,
    layout: list[Physical | None],
    outputs: list[str],
    types: list[str],
) -> list[Physical | None]:
    """Have numbers copied as the doubles that a statement casts them to."""
    stored = list(layout)
    for i, (_, column) in enumerate(schema.stored):
        if isinstance(column, Real | Integer) and layout[i] not in _READY:
            if types[i] not in DAYS:  # days are doubles already (`_as_days`)
                outputs[i] = f"CAST(c{i} AS DOUBLE) AS c{i}"
            stored[i] = Floating(double=True)
    return stored


def _copy(connection: duckdb.DuckDBPyConnection, view: str) -> bool:
    """Copy the columns of a source into the database; false where they are not little.

    Few cells can be long: equal texts take little of a file, and each its room here.
    """
    import duckdb

    limit, spill = (
        connection.execute(f"SELECT current_setting('{name}')").fetchall()[0][0]
        for name in ("memory_limit", "temp_directory")
    )
    if bytes_of(limit) > _LITTLE:
        connection.execute(f"SET memory_limit = '{_LITTLE}B'")
    connection.execute("SET temp_directory = ''")
    try:
        connection.execute(f"CREATE TEMP TABLE data AS {view}")
    except duckdb.OutOfMemoryException:
        return False
    finally:
        connection.execute(f"SET memory_limit = '{limit}'")
        connection.execute("SET temp_directory = $folder", {"folder": spill})
    return True


def _stored(
    table: Table, place: int, sql_type: str, name: str, column: Stored
) -> Physical | None:
    if place in table.places:
        return Places()
    return Floating() if place in table.days else _physical(sql_type, name, column)


def _physical(sql_type: str, name: str, column: Stored) -> Physical | None:
    """Return the storage class of a DuckDB type; none when cells must be read first."""
    keys = has_keys(column)
    if isinstance(column, Date):
        if sql_type not in (*DAYS, "VARCHAR", '"NULL"'):
            raise unreadable(name, sql_type)
        return None if sql_type == "VARCHAR" else _DIRECT.get(sql_type, Floating())
    if sql_type in _DIRECT:
        physical = _DIRECT[sql_type]
        if isinstance(physical, Floating):
            refuse_floats(name, sql_type, column)
        return physical
    decimal = re.fullmatch(r"DECIMAL\((\d+),\d+\)", sql_type)
    if decimal and not keys and int(decimal[1]) <= _EXACT_DIGITS:
        return Scaled()
    if sql_type == "VARCHAR" and keys:
        return Text()
    if sql_type == "UUID" and isinstance(column, Identifier):
        return None
    if sql_type not in ("VARCHAR", "HUGEINT", "UHUGEINT") and not decimal:
        raise unreadable(name, sql_type)
    return None


def _after_reading(column: Stored) -> Physical:
    """Return how a column is stored whose cells were read one by one."""
    if isinstance(column, Unlisted | Identifier):
        return Text()
    return Places() if has_keys(column) else Floating()


def _read(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    unread: list[int],
    types: list[str],
) -> None:
    """Copy the table with the unread columns read: each distinct cell once."""
    columns = [column for _, column in schema.stored]
    outputs, joins = [_as_days(i, kind, "s.") for i, kind in enumerate(types)], ""
    for i in unread:
        column = columns[i]
        connection.execute(
            f"CREATE TEMP TABLE d{i} AS SELECT c{i} AS cell, "  # noqa: S608
            f"row_number() OVER () - 1 AS place FROM (SELECT DISTINCT c{i} FROM source)"
        )
        found = connection.execute(f"SELECT cell FROM d{i} ORDER BY place")  # noqa: S608
        cells = chain.from_iterable(iter(partial(found.fetchmany, _CELLS), []))
        values = pack(map(cell_reader(column), (c for (c,) in cells)), column)
        if values.dtype.names:  # days or places: a field each
            values = values.view(values.dtype[0])
        connection.register(f"v{i}", {"place": np.arange(len(values)), "v": values})
        outputs[i] = f"v{i}.v AS c{i}"
        joins += (
            f" LEFT JOIN d{i} ON d{i}.cell IS NOT DISTINCT FROM s.c{i}"
            f" LEFT JOIN v{i} ON v{i}.place = d{i}.place"
        )
    connection.execute(
        f"CREATE TEMP TABLE data AS SELECT {', '.join(outputs)} FROM source AS s{joins}"  # noqa: S608
    )


def _is_small(
    connection: duckdb.DuckDBPyConnection, table: Table, types: list[str]
) -> bool:
    """Tell whether a source is to be copied; of frames, those of machine numbers alone."""
    if not table.files and not all(kind in _DIRECT for kind in types):
        return False  # a copy would refuse a text that is not Unicode
    row = connection.execute("SELECT COUNT(*) FROM source").fetchone()
    assert row is not None  # noqa: S101  an aggregate has one row
    cells = int(row[0]) * len(types)
    return cells <= _SMALL if table.files else 0 < cells <= _FEW


def _as_days(place: int, sql_type: str, table: str = "") -> str:
    """Return a column; days and moments as days since 1970-01-01, in doubles.

    No cell raises: a moment with a zone counts as the day in UTC, and infinities stay.
    """
    cell = f"{table}c{place}"
    if sql_type not in DAYS:
        return f"{cell} AS c{place}"
    utc = f"make_timestamp(epoch_us({cell}))" if "ZONE" in sql_type else cell
    epoch = "DATE '1970-01-01'"
    days = f"CAST(date_diff('day', {epoch}, CAST({utc} AS DATE)) AS DOUBLE)"
    start = f"CAST('1970-01-01 00:00:00+00' AS {sql_type})"
    ends = f"CASE WHEN {cell} > {start} THEN CAST('inf' AS DOUBLE) ELSE CAST('-inf' AS DOUBLE) END"
    return f"CASE WHEN isfinite({cell}) THEN {days} WHEN {cell} IS NOT NULL THEN {ends} END AS c{place}"


def _touch(connection: duckdb.DuckDBPyConnection, columns: int) -> int:
    """Read every declared cell; return the number of rows."""
    counts = ", ".join(f"COUNT(c{i})" for i in range(columns))
    row = connection.execute(f"SELECT COUNT(*), {counts} FROM data").fetchone()  # noqa: S608
    assert row is not None  # noqa: S101  an aggregate has one row
    return int(row[0])
