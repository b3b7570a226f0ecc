"""PostgreSQL as an engine: one read-only statement, where the table lies.

Each scan has a connection and a transaction of its own, so that threads and forks share
nothing, and what the catalogue says is what the statement reads. No name is resolved
but in ``pg_catalog``: objects of other schemas cannot stand in for functions.
"""

# ruff: noqa: S608  names are those of the catalogue, quoted; constants are ours

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, final

from sfumato.declare.dataset import Postgres
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.answer import Answers
from sfumato.engine.catalog import CATALOG, Stored, relation, settle
from sfumato.engine.contingency import SETS
from sfumato.engine.dialect import POSTGRES, Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.relate import Relation
from sfumato.engine.size import people_sql
from sfumato.engine.table import wrong_size
from sfumato.errors import MissingExtraError, SfumatoError, SourceError
from sfumato.plan import Plan
from sfumato.secret import Secret
from sfumato.words import N_

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresEngine"]

_PATIENCE = 10  # seconds for a connection
_SETTINGS = (
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL client_min_messages = error",
)


@final
class PostgresEngine:
    """Runs plans on one table of a PostgreSQL database; safe to share between threads.

    Attributes:
        stored: For the owner, how the table stores each declared column.
        layout: How each declared column is stored after the scan; from types alone.
        dialect: The primitives of its statements.
        sets: How many tables of counts one statement makes.
    """

    __slots__ = ("_answers", "_beside", "_columns", "_driver", "_schema", "_source",
                 "dialect", "layout", "others", "sets", "stored")  # fmt: skip

    def __init__(
        self,
        source: Postgres,
        schema: Schema,
        others: Mapping[str, tuple[Postgres, Schema]] = MappingProxyType({}),
    ) -> None:
        """Connect once and compare the table's columns with the declarations.

        Args:
            source: The table.
            schema: Its declarations.
            others: The dataset's other private tables, in the same database.

        Raises:
            SourceError: The table cannot be read as declared. Nothing was spent.
            MissingExtraError: psycopg is not installed. Nothing was spent.
        """
        self._source, self._schema, self._driver = source, schema, _driver()
        self.dialect: Dialect = POSTGRES
        self.sets = SETS
        # Each is opened by itself, so that its own errors are told of it.
        self._beside = {n: PostgresEngine(*one) for n, one in others.items()}
        self.others = {
            name: Relation(f"other{i}", one.layout, others[name][1])
            for i, (name, one) in enumerate(self._beside.items())
        }
        found: tuple[list[Stored], str, int | None] | None = None
        with suppress(Exception):  # a driver's words may quote the address or a cell
            found = self._look()
        if found is None:
            raise self._not_opened()
        columns, encoding, rows = found
        if encoding != "UTF8":
            raise SourceError(
                N_("the encoding of the database is {encoding}, and only UTF8 is read"),
                hint=N_("copy the table into a database with the encoding UTF8"),
                encoding=encoding,
            )
        if not columns:
            raise self._not_opened()
        self._columns = columns
        self.layout: Layout
        self.layout, self.stored = settle(columns, schema)
        self._answers = Answers(schema, self.layout, POSTGRES, self.others)
        if rows is not None and rows != schema.unit.size:
            raise wrong_size(schema)

    def prepare(self, plan: Plan) -> None:
        """Have the server plan the statement; reads no rows.

        Raises:
            SourceError: It cannot, or the table is no longer the one that was opened;
                one fixed text. Nothing was spent.
        """
        self._answers.prepare(plan, self._bind)

    def _bind(self, sql: str) -> list[tuple[object, ...]]:
        with self._transaction() as db:
            if not self._is_same(db):
                msg = "the table is no longer the one that was opened"
                raise ValueError(msg)
            return db.execute(f"EXPLAIN {self._data()}{sql}".encode()).fetchall()

    def run(self, plan: Plan) -> Secret[Exact]:
        """Return the plan's integers, from one statement.

        Raises:
            EngineError: The engine failed; one fixed text, no cause. The debit stands.
        """
        return self._answers.answer(plan, self.unprotected)

    def unprotected(self, sql: str) -> list[tuple[object, ...]]:
        """Return the rows of a statement over ``data``: exact and unprotected."""
        with self._transaction() as db:
            size = self._schema.unit.size
            if not self._is_same(db) or self._rows(db) not in (None, size):
                msg = "the table is no longer the one that was opened"
                raise ValueError(msg)
            return db.execute((self._data() + sql).encode()).fetchall()

    def close(self) -> None:
        """Do nothing: no connection outlives a statement."""

    def __enter__(self) -> Self:
        """Return the engine, for ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def _is_same(self, db: psycopg.Connection[Any]) -> bool:
        """Tell whether the tables have the columns that they were opened with."""
        every = (self, *self._beside.values())
        return all(one._catalog(db) == one._columns for one in every)  # noqa: SLF001

    def _data(self) -> str:
        tables = [self._relation("data")]
        for name, one in self._beside.items():
            tables.append(one._relation(self.others[name].sql))  # noqa: SLF001
        return f"WITH {', '.join(tables)} "

    def _relation(self, name: str) -> str:
        source = self._source
        return relation(self._columns, self._schema, source.schema, source.table, name)

    def _look(self) -> tuple[list[Stored], str, int | None]:
        """Return the columns, the encoding and, where it is public, the size."""
        with self._transaction() as db:
            row = db.execute("SELECT current_setting('server_encoding')").fetchone()
            columns = self._catalog(db)
            size = None
            if columns:
                with suppress(SfumatoError):  # told by the caller, in its own words
                    settle(columns, self._schema)
                    self._columns = columns
                    # Plans the scan, so that a right that is missing shows here.
                    db.execute(f"EXPLAIN {self._data()} SELECT 1 FROM data".encode())
                    size = self._rows(db)
            return columns, str(row[0]) if row else "", size

    def _catalog(self, db: psycopg.Connection[Any]) -> list[Stored]:
        names = (self._source.schema, self._source.table)
        return [(str(n), str(t), int(o)) for n, t, o in db.execute(CATALOG, names)]

    def _rows(self, db: psycopg.Connection[Any]) -> int | None:
        """Count the units where their number is declared public."""
        if self._schema.unit.size is None:
            return None
        counted = "SELECT COUNT(*) FROM data"
        if isinstance(self._schema.unit, Unit):
            layout, _ = settle(self._columns, self._schema)
            counted = people_sql(self._schema, layout, POSTGRES)
        row = db.execute(f"{self._data()} {counted}".encode()).fetchone()
        return int(row[0]) if row else -1

    def _transaction(self) -> _Transaction:
        return _Transaction(self._driver, self._source)

    def _not_opened(self) -> SourceError:
        return SourceError(
            N_("the database table {table} cannot be opened"),
            hint=N_(
                "check the address, that the server runs, the names of schema and "
                "table, and the user's right to SELECT"
            ),
            table=f"{self._source.schema}.{self._source.table}",
        )


@final
class _Transaction:
    """A connection for one read-only transaction."""

    def __init__(self, driver: Any, source: Postgres) -> None:
        address = driver.conninfo.conninfo_to_dict(source.url)
        address.setdefault("connect_timeout", _PATIENCE)
        address["client_encoding"] = "UTF8"
        self._connection = driver.connect(
            **address, autocommit=True, prepare_threshold=None
        )
        self._limit = f"SET LOCAL statement_timeout = '{int(source.seconds)}s'"

    def __enter__(self) -> psycopg.Connection[Any]:
        db: psycopg.Connection[Any] = self._connection
        try:
            db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for setting in (*_SETTINGS, self._limit):
                db.execute(setting.encode())
        except BaseException:
            db.close()
            raise
        return db

    def __exit__(self, *_: object) -> None:
        self._connection.close()  # nothing was written, so nothing is to commit


def _driver() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        raise MissingExtraError(
            N_("a table in PostgreSQL needs the package psycopg"),
            hint=N_("install it: pip install 'sfumato[postgres]'"),
        ) from None
    return psycopg
