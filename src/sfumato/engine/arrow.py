"""polars and Arrow tables, scanned in place through the Arrow C stream interface.

The interface needs no pyarrow. It also keeps filters inside the database: pushed into
Arrow they would compare NaN by other rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Identifier
from sfumato.engine.columns import DAY, PLACE, encode, plain_array
from sfumato.engine.table import Table, declared_positions, refuse_floats, unreadable

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]

__all__ = ["load_arrow", "load_polars"]

# polars types that a database cannot take from the stream as they are.
_BY_CELL = ("Float16", "Int128", "Null", "Object", "UInt128")


def load_polars(frame: pl.DataFrame | pl.LazyFrame, schema: Schema) -> Table:
    """Take the declared columns without a copy; a lazy frame is computed first.

    Raises:
        SourceError: A declared column is missing, or a lazy frame cannot be computed.
    """
    import polars as pl

    names = frame.collect_schema().names()
    positions = declared_positions(schema, names)
    # By position, because polars reads some names, such as "^a$", as patterns.
    chosen = frame.select(
        pl.nth(place).alias(f"c{i}") for i, place in enumerate(positions)
    )
    table = chosen.collect() if isinstance(chosen, pl.LazyFrame) else chosen
    columns: list[pl.Series] = []
    places: set[int] = set()
    days: set[int] = set()
    for i, (name, column) in enumerate(schema.stored):
        series = table.to_series(i)
        if series.dtype.is_float():
            refuse_floats(name, str(series.dtype), column)
        if series.dtype.base_type().__name__ in _BY_CELL:
            cells = series.to_list()
            if series.dtype.base_type().__name__ == "Float16":
                cells = _half(cells)
            array = encode(cells, column)
            places |= {i} if array.dtype == PLACE else set()
            days |= {i} if array.dtype == DAY else set()
            plain = plain_array(array)
            texts = plain.dtype.kind == "O"
            series = pl.Series(f"c{i}", plain.tolist(), pl.String) if texts else pl.Series(f"c{i}", plain)  # fmt: skip
        columns.append(series)
    stored = tuple(str(table.to_series(i).dtype) for i, _ in enumerate(positions))
    return _stream(pl.DataFrame(columns), stored, frozenset(places), frozenset(days))


def load_arrow(table: pa.Table | pa.RecordBatch, schema: Schema) -> Table:
    """Take the declared columns of a pyarrow table without a copy.

    Raises:
        SourceError: A declared column is missing, or its name stands twice.
    """
    import pyarrow as pa

    names = table.schema.names
    columns, places = [], set()
    for i, ((name, declared), place) in enumerate(
        zip(schema.stored, declared_positions(schema, names), strict=True)
    ):
        column = table.column(place)
        if pa.types.is_float16(column.type):
            half = isinstance(declared, Identifier)
            column = pa.array(encode(_half(column.to_pylist()), declared), pa.string()) if half else column.cast(pa.float32())  # fmt: skip
        elif pa.types.is_decimal256(column.type):
            if isinstance(declared, Date):
                raise unreadable(name, str(column.type))
            array = encode(column.to_pylist(), declared)
            if array.dtype == PLACE:
                places.add(i)
            plain = plain_array(array)
            column = pa.array(plain, pa.string() if plain.dtype.kind == "O" else None)
        columns.append(column)
    stored = tuple(str(table.schema.field(p).type) for p in declared_positions(schema, names))  # fmt: skip
    chosen = pa.table(columns, names=[f"c{i}" for i, _ in enumerate(columns)])
    return _stream(chosen, stored, frozenset(places))


def _half(cells: Iterable[float | None]) -> list[object]:
    """Return cells that say that they are floats of 16 bits."""
    return [None if cell is None else np.float16(cell) for cell in cells]


def _stream(
    table: Any,
    stored: tuple[str, ...],
    places: frozenset[int],
    days: frozenset[int] = frozenset(),
) -> Table:
    attach = lambda c: c.register("source", _Stream(table))  # noqa: E731
    return Table(attach, places, stored, days=days)


@final
class _Stream:
    """Offers a table through the Arrow C stream interface and hides all else of it."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)
