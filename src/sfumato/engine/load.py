"""Open a dataset: from what its owner holds to an engine that answers plans."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.declare.dataset import CSV, Dataset, Postgres, Spark
from sfumato.declare.schema import Schema
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.postgres import PostgresEngine
from sfumato.engine.spark import SparkEngine
from sfumato.engine.table import Table, log
from sfumato.errors import SfumatoError, SourceError
from sfumato.secret import Quiet
from sfumato.words import N_

__all__ = ["open_engine"]


def open_engine(dataset: Dataset) -> DuckDBEngine | PostgresEngine | SparkEngine:
    """Load a dataset and check that it fits its declarations; no figure is computed.

    Examples:
        >>> from sfumato.declare.schema import Integer, Schema
        >>> rows = [{"Age": 30}, {"Age": None}]
        >>> open_engine(Dataset(rows, schema=Schema({"Age": Integer(0, 120)}))).layout
        (Floating(digits=53, double=True),)

    Raises:
        SourceError: The source cannot be opened or lacks a declared column, or, where
            the number of rows is public, it has another number. Nothing was spent.
    """
    failed = SourceError(
        N_("the table cannot be opened by the engine; nothing was spent"),
        hint=N_("ask the data owner to read the engine's log"),
    )
    with Quiet(SfumatoError, failed=failed) as work:  # a loader's frames may hold rows
        try:
            return _open(dataset)
        except Exception:
            log.debug("the table could not be opened", exc_info=True)
            raise
    raise work.stop


def _open(dataset: Dataset) -> DuckDBEngine | PostgresEngine | SparkEngine:
    others = dataset.private
    if len({_place(one.source) for one in (dataset, *others.values())}) > 1:
        raise SourceError(
            N_("the private tables of the dataset lie in different places"),
            hint=N_("put them into one database, or give files and frames for all"),
        )
    sources = {name: (one.source, one.schema) for name, one in others.items()}
    if isinstance(dataset.source, Postgres):
        return PostgresEngine(dataset.source, dataset.schema, sources)
    if isinstance(dataset.source, Spark) or _is(dataset.source, "pyspark", "DataFrame"):
        return SparkEngine(dataset.source, dataset.schema, sources)
    beside = {name: (_loaded(one), one.schema) for name, one in others.items()}
    table = _loaded(dataset)
    return DuckDBEngine(table, dataset.schema, memory=dataset.memory, others=beside)


def _place(source: object) -> str:
    """Return where a source is read, as far as tables must lie together."""
    if isinstance(source, Postgres):
        return source.url
    if isinstance(source, Spark):
        return f"spark {source.url}"
    return "spark None" if _is(source, "pyspark", "DataFrame") else ""


def _loaded(dataset: Dataset) -> Table:
    """Return a source as a table for the embedded engine."""
    table = None
    try:
        table = _load(dataset, dataset.schema)
    except SfumatoError:
        raise
    except Exception:  # noqa: BLE001  a library's words may quote a cell
        log.debug("the table could not be loaded", exc_info=True)
    if table is None:
        raise SourceError(
            N_("the table cannot be read by the library that holds it, {library}"),
            hint=N_("compute or convert it first, then open the result"),
            library=type(dataset.source).__module__.split(".")[0],
        )
    return table


def _load(dataset: Dataset, schema: Schema) -> Table:
    source = dataset.source
    if isinstance(source, CSV):
        from sfumato.engine.delimited import load_csv

        return load_csv(source, schema, memory=dataset.memory)
    if isinstance(source, str | os.PathLike):
        from sfumato.engine.files import load_path

        return load_path(Path(source), schema, memory=dataset.memory)
    if _is(source, "pandas", "DataFrame"):
        from sfumato.engine.frames import load_pandas

        return load_pandas(source, schema)
    if _is(source, "polars", "DataFrame", "LazyFrame"):
        from sfumato.engine.arrow import load_polars

        return load_polars(source, schema)
    if _is(source, "pyarrow", "Table", "RecordBatch"):
        from sfumato.engine.arrow import load_arrow

        return load_arrow(source, schema)
    if isinstance(source, list) and all(isinstance(row, dict) for row in source):
        from sfumato.engine.frames import load_records

        return load_records(source, schema)
    raise SourceError(
        N_("a table cannot be read from an object of type {kind}"),
        hint=N_(
            "give a path to CSV or Parquet, or a pandas, polars, Arrow or Spark table"
        ),
        kind=type(source).__name__,
    )


def _is(source: object, library: str, *kinds: str) -> bool:
    """Tell a frame by its type's module, so that no library is imported for it."""
    kind = type(source)
    return kind.__module__.split(".")[0] == library and kind.__name__ in kinds
