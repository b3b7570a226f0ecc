"""Tables in files: which kind a path is, and Parquet scanned where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.declare.dataset import CSV
from sfumato.declare.schema import Schema, Stored
from sfumato.declare.unit import Identifier
from sfumato.engine.cell import DIGITS
from sfumato.engine.delimited import load_csv
from sfumato.engine.room import most_bytes, too_large
from sfumato.engine.table import Table, declared_positions
from sfumato.errors import SourceError
from sfumato.words import N_

if TYPE_CHECKING:
    import duckdb

__all__ = ["load_path"]

_PARQUET = (".parquet", ".pq")
_HALF = "FLOAT16"  # read as FLOAT
_MOST_ROWS = 1 << 20  # per byte: pages of equal values have far fewer
_TEXT = (".csv", ".tsv", ".tab", ".txt")
_TABBED = (".tsv", ".tab")


def load_path(path: Path, schema: Schema, *, memory: str | None = None) -> Table:
    """Open a CSV file, a Parquet file, or all Parquet files of a folder or pattern.

    Args:
        path: A file, a folder or a pattern.
        schema: The declarations.
        memory: How much the engine may use; default: most of this machine's.

    Raises:
        SourceError: There is no such file, it is of another kind, or it needs more
            memory, by what it declares of itself.
    """
    suffix = path.suffix.lower()
    if path.is_dir():
        return _load_parquet(
            sorted(map(str, path.glob("*.parquet"))), path, schema, memory
        )
    if not path.exists() and any(mark in str(path) for mark in "*?["):
        found = sorted(glob(str(path)))  # noqa: PTH207  the user's own pattern
        return _load_parquet(found, path, schema, memory)
    if not path.exists():
        raise SourceError(
            N_("there is no file {path}"),
            hint=N_("check the path; it is relative to {folder}"),
            path=repr(str(path)),
            folder=repr(str(Path.cwd())),
        )
    if suffix in _PARQUET:
        return _load_parquet([str(path)], path, schema, memory)
    if suffix in _TEXT:
        written = CSV(path, separator="\t" if suffix in _TABBED else ",")
        return load_csv(written, schema, memory=memory)
    raise SourceError(
        N_("{path} is neither CSV nor Parquet by its name"),
        hint=N_('save it as .csv or .parquet; for delimited text write CSV("{name}")'),
        path=repr(str(path)),
        name=path.name,
    )


def _load_parquet(
    files: list[str], path: Path, schema: Schema, memory: str | None
) -> Table:
    if not files:
        raise SourceError(
            N_("there are no Parquet files in {path}"),
            hint=N_('give a folder or pattern of files that end in ".parquet"'),
            path=repr(str(path)),
        )
    if any(mark in name for name in files for mark in "*?["):
        raise SourceError(
            N_("the file name {path} contains *, ? or ["),
            hint=N_("rename it: these characters would match other files"),
            path=repr(str(path)),
        )
    files = [str(Path(name).resolve()) for name in files]
    heads = _heads(files)
    claims = _claims(files) if heads is not None else None
    if heads is None or claims is None:
        raise SourceError(
            N_("{path} is not readable Parquet"),
            hint=N_("it is damaged, encrypted, or of another kind; write it again"),
            path=repr(str(path)),
        )
    if any(head != heads[0] for head in heads):
        raise SourceError(
            N_("the Parquet files in {path} have different columns"),
            hint=N_("names, order and types must agree; open one kind at a time"),
            path=repr(str(path)),
        )
    if claims > most_bytes(memory):
        raise too_large(str(path))
    names = [name for name, _ in heads[0]]
    chosen = declared_positions(schema, names)
    kinds = [column for _, column in schema.stored]
    renamed = ", ".join(
        f"{_cell(f'p{place}', heads[0][place][1], kinds[i])} AS c{i}"
        for i, place in enumerate(chosen)
    )
    aliases = ", ".join(f"p{i}" for i, _ in enumerate(names))
    sql = (
        f"CREATE TEMP VIEW source AS SELECT {renamed} "  # noqa: S608
        f"FROM {_scan(files)} AS file({aliases})"
    )
    stored = tuple(heads[0][place][1] for place in chosen)
    return Table(lambda c: c.execute(sql), frozenset(), stored, tuple(files))


def _cell(cell: str, stored: str, column: Stored) -> str:
    """Return a cell; one of 16 bits that is no identifier, as it reads as one of 32, is null."""
    if stored != _HALF or not isinstance(column, Identifier):
        return cell
    return f"CASE WHEN abs({cell}) < {1 << DIGITS['float16']} THEN {cell} END"


def _scan(files: list[str]) -> str:
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in files)
    return f"read_parquet([{listed}], hive_partitioning = false, union_by_name = false)"


def _heads(files: list[str]) -> list[list[tuple[str, str]]] | None:
    """Return each file's column names, as spelled, and types; none if one fails."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        try:
            return [list(_head(connection, name)) for name in files]
        except duckdb.Error:
            return None


def _claims(files: list[str]) -> int | None:
    """Return the largest column chunk, in bytes, by what files declare of themselves.

    None where one declares more rows than its bytes can hold: an engine would count
    them one by one.
    """
    import duckdb

    with duckdb.connect(":memory:") as connection:
        try:
            found = connection.execute(
                "SELECT coalesce(max(total_uncompressed_size), 0), coalesce(bool_and("
                "least(num_values, row_group_num_rows) >= 0 AND greatest(num_values, "
                "row_group_num_rows) <= total_compressed_size * $most), TRUE) "
                "FROM parquet_metadata($files)",
                {"files": files, "most": _MOST_ROWS},
            ).fetchone()
        except duckdb.Error:
            return None
    return int(found[0]) if found is not None and found[1] else None


def _head(
    connection: duckdb.DuckDBPyConnection, file: str
) -> Iterator[tuple[str, str]]:
    """Yield the top-level columns: a nested column is followed by its descendants."""
    nodes = connection.execute(
        "SELECT name, coalesce(num_children, 0), coalesce(logical_type, '') "
        "FROM parquet_schema($file)",
        {"file": file},
    ).fetchall()
    types = connection.execute(f"DESCRIBE SELECT * FROM {_scan([file])}").fetchall()  # noqa: S608
    place = 1  # the first node is the root
    for described in types:
        half = str(nodes[place][2]).startswith("Float16")
        yield str(nodes[place][0]), _HALF if half else str(described[1])
        left = 1
        while left:
            left += int(nodes[place][1]) - 1
            place += 1
