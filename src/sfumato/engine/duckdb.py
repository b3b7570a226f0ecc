"""The embedded engine: a private in-memory DuckDB that can reach nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from tempfile import TemporaryDirectory
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Self, final

from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.answer import Answers
from sfumato.engine.beside import beside
from sfumato.engine.contingency import FEW_SETS, SETS
from sfumato.engine.dialect import DUCKDB, Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.relate import Relation
from sfumato.engine.size import people_sql
from sfumato.engine.storage import settle
from sfumato.engine.table import Table, wrong_size
from sfumato.plan import Plan
from sfumato.secret import Secret

if TYPE_CHECKING:
    import duckdb

__all__ = ["DuckDBEngine"]

_REMEMBERED = 64  # statements that were bound before
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # Parquet statistics leave NaN out; trusting them, DuckDB folds isnan(x) to false and
    # x <= bound to true, and a NaN reaches the sum.
    "disabled_optimizers": "statistics_propagation",
    "perfect_ht_threshold": 17,  # bits: an array for groups of 16-bit integers (`packed`)
    "pandas_analyze_sample": 0,  # arrays of texts are texts, whatever the first ones are
    "python_enable_replacements": False,
    "temp_directory": "",  # private rows are never spilled to a disk
}
_ONE_READER = 122_880  # rows that one thread reads: others would only hold memory
_AT_ONCE = 1 << 14  # rows that are Python's at one time, where all are read
_FEW_ROWS = 1 << 13  # so few are soon read again: many tables at once hold more memory
_SPILL = "sfumato-"  # how the name of a folder for temporary files begins


@final
class DuckDBEngine:
    """Runs plans on one loaded table; safe to share between threads.

    After loading, the database is locked: no file but the table's own can be read, no
    file written, no extension loaded, no setting changed.
    """

    __slots__ = (
        "_answers",
        "_connection",
        "_folder",
        "_known",
        "_layout",
        "_lock",
        "_schema",
        "_view",
        "others",
        "sets",
        "stored",
    )

    def __init__(
        self,
        table: Table,
        schema: Schema,
        *,
        memory: str | None = None,
        others: Mapping[str, tuple[Table, Schema]] = MappingProxyType({}),
    ) -> None:
        """Attach and check the table; `open_engine` finds it.

        Args:
            table: What a loader made of the source.
            schema: The declarations.
            others: The dataset's other private tables, likewise; they are copied.
            memory: How much to use, such as ``"500MB"``; the rest is spilled to plain
                files of a folder that none but this user may read.

        Raises:
            SourceError: It cannot be read as declared. Nothing was spent.
        """
        import duckdb

        self._schema, self.stored = schema, table.stored
        self._lock = Lock()
        self._known: dict[str, duckdb.Statement] = {}
        config, self._folder = dict(_CONFIG), None
        if memory is not None:
            self._folder = TemporaryDirectory(prefix=_SPILL, ignore_cleanup_errors=True)
            # DuckDB encrypts such files only with an extension that it would fetch.
            config |= {"memory_limit": memory, "temp_directory": self._folder.name}
        self._connection = duckdb.connect(":memory:", config=config)
        self.others: dict[str, Relation] = {}
        try:
            # At a prompt it would print how far a long statement is, among our words.
            self._connection.execute("SET enable_progress_bar = false")
            for i, (name, (other, own)) in enumerate(others.items()):
                self.others[name] = beside(self._connection, other, own, f"other{i}")
            settled = settle(self._connection, table, schema)
            if settled.rows <= _ONE_READER and not others:
                self._connection.execute("SET threads = 1")
            self.sets = FEW_SETS if settled.rows <= _FEW_ROWS else SETS
            _lock_down(self._connection, settled.files)
        except BaseException:
            self._connection.close()
            raise
        self._layout, self._view = settled.layout, settled.view
        self._answers = Answers(schema, settled.layout, DUCKDB, self.others)
        size, is_person = schema.unit.size, isinstance(schema.unit, Unit)
        if size not in (None, self._people() if size and is_person else settled.rows):
            raise wrong_size(schema)

    @property
    def dialect(self) -> Dialect:
        """The primitives of its statements."""
        return DUCKDB

    @property
    def layout(self) -> Layout:
        """How each declared column is stored; it depends on no cell."""
        return self._layout

    def prepare(self, plan: Plan) -> None:
        """Bind the plan's statement; reads no rows.

        Raises:
            SourceError: It cannot be bound; one fixed text. Nothing was spent.
        """
        self._answers.prepare(plan, self._bind)

    def _bind(self, sql: str) -> list[tuple[object, ...]]:
        with self._lock:
            if sql not in self._known:
                (parsed,) = self._connection.extract_statements(sql)
                self._connection.sql(parsed)  # a relation: bound, and never run
                if len(self._known) >= _REMEMBERED:
                    del self._known[next(iter(self._known))]
                self._known[sql] = parsed
        return []

    def run(self, plan: Plan) -> Secret[Exact]:
        """Return the plan's integers, from one statement.

        Raises:
            EngineError: The engine failed; one fixed text, no cause. The debit stands.
        """
        return self._answers.answer(plan, self.unprotected)

    def unprotected(self, sql: str) -> list[tuple[object, ...]]:
        """Return the rows of a statement over ``data``: exact and unprotected."""
        with self._lock:  # cursors of their own would not see a registered frame
            asked = self._known.get(sql, sql)  # half of the work is to read the text
            return self._connection.execute(asked).fetchall()

    def batches(self, sql: str) -> Iterator[list[tuple[object, ...]]]:
        """Iterate over the rows of a statement, some at a time: unprotected.

        Until all are read, nothing else is.
        """
        with self._lock:
            rows = self._connection.execute(sql)
            while some := rows.fetchmany(_AT_ONCE):
                yield some

    def exchange(
        self, table: Table, others: Mapping[str, Table] = MappingProxyType({})
    ) -> None:
        """Put tables of the same layout in the place of those held, for audits."""
        for name, other in others.items():
            other.attach(self._connection)
            held = self.others[name].sql
            self._connection.execute(f"DELETE FROM {held}")  # noqa: S608  our own name
            self._connection.execute(f"INSERT INTO {held} SELECT * FROM source")  # noqa: S608
        if self._view is not None:  # the rows as they were when they were copied
            self._connection.execute("DROP TABLE data")
            self._connection.execute(f"CREATE TEMP VIEW data AS {self._view}")
            self._view = None
        table.attach(self._connection)

    def _people(self) -> int:
        """Count the people: done only where their number is public."""
        (cell,) = self.unprotected(people_sql(self._schema, self._layout, DUCKDB))[0]
        return int(str(cell))

    def close(self) -> None:
        """Free the table, and remove what was spilled."""
        self._connection.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        """Return the engine, for ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free the table."""
        self.close()


def _lock_down(connection: duckdb.DuckDBPyConnection, files: tuple[str, ...]) -> None:
    if files:
        connection.execute("SET allowed_paths = $files", {"files": list(files)})
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
