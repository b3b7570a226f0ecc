"""Bring a dataset's other private tables into DuckDB, beside its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.declare.schema import Schema
from sfumato.engine.relate import Relation
from sfumato.engine.room import too_large
from sfumato.engine.storage import damaged, settle
from sfumato.engine.table import Table, log

if TYPE_CHECKING:
    import duckdb

__all__ = ["beside"]


def beside(
    connection: duckdb.DuckDBPyConnection, table: Table, schema: Schema, name: str
) -> Relation:
    """Copy another private table in, before `settle` brings in the dataset's own.

    Raises:
        SourceError: As for `settle`.
    """
    import duckdb

    settled = settle(connection, table, schema)
    fault = damaged()
    try:
        connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM data")  # noqa: S608  our own name
        for i, _ in enumerate(schema.stored):
            connection.execute(f"DROP TABLE IF EXISTS d{i}")
        kinds = dict(
            connection.execute(
                "SELECT table_name, table_type FROM information_schema.tables "
                "WHERE table_name IN ('data', 'source')"
            ).fetchall()
        )
        for held in ("data", "source"):  # the first may read the second
            kind = "VIEW" if kinds.get(held, "VIEW") == "VIEW" else "TABLE"
            connection.execute(f"DROP {kind} IF EXISTS {held}")
        connection.unregister("source")
    except duckdb.OutOfMemoryException:
        log.debug("the table needs too much memory", exc_info=True)
        fault = too_large(table.files[0] if table.files else name)
    except duckdb.Error:
        log.debug("the table could not be copied", exc_info=True)
    else:
        return Relation(name, settled.layout, schema)
    raise fault
