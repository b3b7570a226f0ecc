"""A ledger in a PostgreSQL database, for budgets that several machines share.

The tables, the statements and the chain are those of the SQLite file. Writers take
turns by one advisory lock, because each entry needs the hash of the one before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sfumato.errors import LedgerError, MissingExtraError
from sfumato.ledger.schema import APPLICATION, POSTGRES, VERSION
from sfumato.ledger.store import Database, Founder
from sfumato.words import N_

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore", "address_of"]

_PATIENCE = "60s"
# Without these a commit could be lost by a crash of the server.
_DURABLE = (("fsync", "on"), ("full_page_writes", "on"))
_TRIGGERS = """
SELECT t.tgname, t.tgenabled::text, pg_get_triggerdef(t.oid), p.prosrc
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = t.tgfoid
WHERE n.nspname = 'sfumato' AND NOT t.tgisinternal ORDER BY t.tgname
"""


class _Transaction:
    """The open transaction of a connection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[Any]:
        text: Any = sql.replace("?", "%s")  # our statements hold no other "?"
        cursor = self._connection.execute(text, values or None)
        return cursor.fetchall() if cursor.description else []

    def add(self, into: str, rows: Sequence[Sequence[object]]) -> None:
        for row in rows:
            marks = ", ".join("?" * len(row))
            self.rows(f"INSERT INTO {into} VALUES ({marks})", *row)  # noqa: S608  ours


class PostgresStore:
    """The schema ``sfumato`` of one PostgreSQL database."""

    def __init__(self, url: str, *, lenient: bool = False) -> None:
        """Keep the URL; `open` connects, if lenient even to a damaged ledger."""
        self._url, self._lenient = url, lenient
        self._connection: psycopg.Connection[Any] | None = None
        self._pid = 0

    @property
    def name(self) -> str:
        """The URL without user and password."""
        scheme, _, rest = self._url.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"

    @property
    def forkable(self) -> bool:
        """It can be closed and opened again."""
        return True

    def open(self, founder: Founder) -> bool:
        """Connect and check that the schema is a whole ledger, or create one.

        Raises:
            LedgerError: The server is not reachable, does not keep commits durably, or
                the schema is not ours. Nothing was spent.
            MissingExtraError: psycopg is not installed. Nothing was spent.
        """
        if self._connection is not None and not self._connection.closed:
            return False
        driver = _driver()
        with self._errors():
            db = self._connection = driver.connect(self._url, autocommit=True)
            self._pid = os.getpid()
            try:
                self._begin_or_check(db, founder)
            except BaseException:
                self.close()
                raise
        return True

    def close(self) -> None:
        """Close in the process that opened: the socket is shared with a fork."""
        if self._connection is not None and self._pid == os.getpid():
            with suppress(Exception):
                self._connection.close()
            self._connection = None

    @contextmanager
    def write(self) -> Iterator[Database]:
        """Begin alone; commit at the end, or roll back."""
        with self._transaction("READ COMMITTED") as db:
            db.rows("SELECT pg_advisory_xact_lock(?)", APPLICATION)
            yield db

    @contextmanager
    def read(self) -> Iterator[Database]:
        """Begin a transaction on one consistent state."""
        with self._transaction("REPEATABLE READ, READ ONLY") as db:
            yield db

    def examine(self) -> list[str]:
        """Return every change of the triggers, which hold the rules."""
        with self.read() as db:
            found = {tuple(row) for row in db.rows(_TRIGGERS)}
            ours = {row[0] for row in found if row[1] in "OA" and _is_ours(row)}
            wanted = {
                line.split()[2]
                for line in POSTGRES.splitlines()
                if line.startswith("CREATE TRIGGER")
            }
            return [
                *(f"missing: CREATE TRIGGER {t}" for t in sorted(wanted - ours)),
                *(f"not ours: {r[0]}" for r in sorted(found) if r[0] not in wanted),
            ]

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[Database]:
        with self._errors():
            db = self._connection
            if db is None:
                raise LedgerError(
                    N_("the ledger {path} is not open"),
                    hint=N_("ask again; nothing was spent"),
                    path=self.name,
                )
            begin: Any = f"BEGIN ISOLATION LEVEL {kind}"
            db.execute(begin)
            try:
                yield _Transaction(db)
                db.execute("COMMIT")
            except BaseException:
                with suppress(Exception):
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except _driver().Error as error:
            self.close()  # whether the commit was heard is not known: look again
            raise LedgerError(
                N_("the ledger {path} cannot be used: {reason}"),
                hint=N_(
                    "check the address and that the server runs; if the connection "
                    "broke in a debit, its charge may stand, and nothing was released"
                ),
                path=self.name,
                reason=str(error).splitlines()[0] if str(error) else "no answer",
            ) from None

    def _begin_or_check(self, db: psycopg.Connection[Any], founder: Founder) -> None:
        for name, wanted in _DURABLE:
            self._check_durable(db, name, wanted)
        db.execute("SET synchronous_commit = on")
        settings: Any = f"SET lock_timeout = '{_PATIENCE}'"
        db.execute(settings)
        db.execute("SET search_path = sfumato")
        with self.write() as transaction:
            if not transaction.rows(
                "SELECT 1 FROM pg_namespace WHERE nspname = 'sfumato'"
            ):
                founder.permit()
                self._create(db, founder)
            version = self._version(transaction)
        if version != VERSION:
            raise LedgerError(
                N_("{path} is not a sfumato ledger of version {version}"),
                hint=N_("give another database; this one is left as it is"),
                path=self.name,
                version=VERSION,
            )
        wrong = [] if self._lenient else self.examine()
        if wrong:
            raise LedgerError(
                N_("the ledger {path} is damaged: {reason}"),
                hint=N_(
                    "stop; keep the database as it is and run `sfumato ledger "
                    "verify`; it is never repaired by itself"
                ),
                path=self.name,
                reason=wrong[0],
            )

    def _check_durable(
        self, db: psycopg.Connection[Any], name: str, wanted: str
    ) -> None:
        query: Any = f"SHOW {name}"
        row = db.execute(query).fetchone()
        if not row or row[0] != wanted:
            raise LedgerError(
                N_("the server of {path} does not keep commits: {name} is off"),
                hint=N_("a ledger needs a server with {name} = on; nothing was spent"),
                path=self.name,
                name=name,
            )

    def _create(self, db: psycopg.Connection[Any], founder: Founder) -> None:
        script: Any = f"CREATE SCHEMA sfumato; {POSTGRES}"
        db.execute(script)
        db.execute("INSERT INTO ledger VALUES (%s, %s)", (founder.identity(), VERSION))

    def _version(self, transaction: Database) -> int | None:
        found = transaction.rows(
            "SELECT 1 FROM pg_tables WHERE schemaname = 'sfumato'"
            " AND tablename = 'ledger'"
        )
        if not found:
            return None
        rows = transaction.rows("SELECT version FROM ledger")
        return int(rows[0][0]) if rows else None


def address_of(url: str) -> dict[str, Any]:
    """Return the parts of a URL; none of one that cannot be read.

    Raises:
        MissingExtraError: psycopg is not installed.
    """
    driver = _driver()
    try:
        return dict(driver.conninfo.conninfo_to_dict(url))
    except driver.Error:
        return {}  # connecting says what is wrong with it


def _is_ours(row: tuple[Any, ...]) -> bool:
    """Compare a trigger's rule with ours by what it cannot do without."""
    name, _, definition, source = row
    body = POSTGRES.partition("AS\n    $$")[2].partition("$$;")[0]
    if source.strip() != body.strip():
        return False
    events = "BEFORE UPDATE" if "is_final" in name else "BEFORE DELETE OR TRUNCATE"
    if name != "nothing_is_refunded":
        return events in definition and "WHEN" not in definition
    return all(
        f"new.{column} {sign} old.{column}" in definition
        for sign, columns in (
            ("<", ("spent", "delta_spent", "whole", "delta_whole")),
            ("<>", ("cap", "delta_cap", "measure", "id", "dataset", "kind", "name")),
        )
        for column in columns
    )


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError(
            N_("a PostgreSQL ledger needs the package psycopg"),
            hint=N_("install it: pip install 'sfumato[postgres]'"),
        ) from None
    return psycopg
