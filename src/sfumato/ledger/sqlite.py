"""A ledger in a SQLite file: WAL, synchronous FULL, one writer at a time.

A file that is no ledger is never changed, and a damaged one is never repaired: all
that is asked of a file before it is known to be a ledger only reads.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NoReturn

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import sync_folder
from sfumato.ledger.place import check_place
from sfumato.ledger.schema import (
    APPLICATION,
    FORMAT,
    SQLITE,
    VERSION,
    schema_changes,
    statements,
)
from sfumato.ledger.store import Database, Founder
from sfumato.words import N_

__all__ = ["SqliteStore"]

_PATIENCE = 60.0  # seconds to wait for another writer
_CHECK = N_(
    "check that it is a sfumato ledger on a local disk with free space and that you may "
    "write it; never edit or delete it"
)
_TOGETHER = 50  # rows in one statement
_FATAL = {"SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"}


class _Transaction:
    """The open transaction of a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def add(self, into: str, rows: Sequence[Sequence[object]]) -> None:
        for at in range(0, len(rows), _TOGETHER):  # a third less than one by one
            some = rows[at : at + _TOGETHER]
            row = f"({', '.join('?' * len(some[0]))})"
            many = f"INSERT INTO {into} VALUES {', '.join([row] * len(some))}"  # noqa: S608  ours
            self._connection.execute(many, [value for each in some for value in each])


class SqliteStore:
    """One SQLite file, or a database in memory when there is no path."""

    def __init__(self, path: Path | None, *, lenient: bool = False) -> None:
        """Name the file; `open` opens it, if lenient even when it is damaged."""
        self._path, self._lenient = path, lenient
        self._names = [f"{path}{suffix}" for suffix in ("", "-wal", "-shm") if path]
        self._connection: sqlite3.Connection | None = None
        self._files: list[tuple[int, int]] = []
        self._unsafe = False
        self._pid = 0

    @property
    def name(self) -> str:
        """The path, for messages."""
        return str(self._path or "in memory")

    @property
    def forkable(self) -> bool:
        """A database in memory is lost when it is closed."""
        return self._path is not None

    def open(self, founder: Founder) -> bool:
        """Open the file and check that it is a whole ledger, or create one.

        Raises:
            LedgerError: The place is unsafe, the file is no ledger or is damaged.
                Nothing was spent.
        """
        if self._connection is not None:
            return False
        with self.guarded():
            if self._path is not None:
                check_place(self._path)
                _touch(self._path, founder)
            db = self._connection = _connect(self._path)
            self._pid = os.getpid()
            try:
                self._begin_or_check(db, founder)
            except BaseException:
                self.close()
                raise
            self._files = self._identify()
            self._unsafe = False
        return True

    def close(self) -> None:
        """Close in the process that opened; elsewhere it would tidy away live files."""
        if self._connection is not None and self._pid == os.getpid():
            connection, self._connection = self._connection, None
            with suppress(sqlite3.Error):
                connection.close()

    def write(self) -> Any:
        """Begin an immediate transaction; commit at the end, or roll back."""
        return self._transaction("IMMEDIATE")

    def read(self) -> Any:
        """Begin a transaction on one consistent state."""
        return self._transaction("DEFERRED")

    @contextmanager
    def trial(self) -> Iterator[Database]:
        """Begin an immediate transaction that is taken back at the end."""
        with self.guarded():
            db = self._open_one()
            try:  # an interrupt may come as soon as it has begun
                db.execute("BEGIN IMMEDIATE")
                yield _Transaction(db)
            finally:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")

    def peek(self, sql: str, *values: object) -> list[Any]:
        """Return the rows of one query, outside of a transaction."""
        with self.guarded():
            if self._connection is None or self._unsafe:
                raise sqlite3.OperationalError("the file is not open")
            return self._connection.execute(sql, values).fetchall()

    @staticmethod
    def overwrite(db: Database) -> None:
        """Make the transaction write, though it may change nothing.

        Its frames come to stand where those of a commit may be whose writer died before
        he could publish it; as their sums go on from frame to frame, none of them is
        ever found again.
        """
        db.rows(f"PRAGMA user_version = {FORMAT}")

    def distrust(self) -> None:
        """Use the file no more: what was written to the disk may be lost."""
        self._unsafe = True

    def check_place(self) -> None:
        """Refuse when another file, or none, lies where the open one was.

        Raises:
            LedgerError: It was removed or replaced. Nothing was spent.
        """
        if self._unsafe:
            raise LedgerError(
                N_("the ledger {path} cannot be used: {reason}"),
                hint=_CHECK,
                path=self.name,
                reason="the file is not open",
            )
        try:
            found = os.stat(self._names[0])  # noqa: PTH116  at each debit: quick
        except OSError:
            self.refuse_replaced()
        if (found.st_dev, found.st_ino) != self._files[0]:
            self.refuse_replaced()

    def examine(self) -> list[str]:
        """Return what SQLite finds wrong, and every change of the schema."""
        with self._transaction("DEFERRED") as db:
            found = [str(r[0]) for r in db.rows("PRAGMA integrity_check(5)")]
            wrong = [] if found == ["ok"] else found
            return wrong + schema_changes(db)

    @contextmanager
    def _transaction(
        self, kind: Literal["IMMEDIATE", "DEFERRED"]
    ) -> Iterator[Database]:
        with self.guarded():
            db = self._open_one()
            try:  # an interrupt may come as soon as it has begun
                db.execute(f"BEGIN {kind}")
                yield _Transaction(db)
                self._check_files()
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                raise

    def _open_one(self) -> sqlite3.Connection:
        db = self._connection
        if db is None or self._unsafe:
            raise sqlite3.OperationalError("the file is not open")
        return db

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn SQLite's errors into ours; after a failed sync trust nothing more."""
        try:
            yield
        except UnicodeDecodeError:  # Python cannot even read SQLite's complaint
            raise self.refusal(sqlite3.DatabaseError("malformed text")) from None
        except (sqlite3.Error, OSError) as error:
            raise self.refusal(error) from None

    def refusal(self, error: sqlite3.Error | OSError) -> LedgerError:
        """Return an error of the system as ours; after a failed sync trust nothing."""
        if getattr(error, "sqlite_errorname", "") in _FATAL:
            self._unsafe = True  # the kernel may have dropped unwritten pages
        return LedgerError(
            N_("the ledger {path} cannot be used: {reason}"),
            hint=_CHECK,
            path=self.name,
            reason=str(error),
        )

    def _begin_or_check(self, db: sqlite3.Connection, founder: Founder) -> None:
        if _is_empty(db):
            _permit(founder, lambda: not _is_empty(db))
            _prepare(db)
            self._create(db, founder)
        self._check_kind(db)
        _prepare(db)
        if self._lenient:
            return
        found_wrong = [str(r[0]) for r in db.execute("PRAGMA quick_check(1)")]
        wrong = [w for w in found_wrong if w != "ok"] or schema_changes(
            _Transaction(db)
        )
        if wrong:
            raise LedgerError(
                N_("the ledger {path} is damaged: {reason}"),
                hint=N_(
                    "stop; keep the file as it is and run `sfumato ledger verify`; "
                    "it is never repaired by itself"
                ),
                path=self.name,
                reason=wrong[0],
            )

    def _check_kind(self, db: sqlite3.Connection) -> None:
        marks = [
            db.execute(f"PRAGMA {p}").fetchone()[0]
            for p in ("application_id", "user_version")
        ]
        if marks == [APPLICATION, VERSION]:
            if not self._lenient:
                _upgrade(db)
            return
        if marks != [APPLICATION, FORMAT]:
            raise LedgerError(
                N_("{path} is not a sfumato ledger of version {version}"),
                hint=N_(
                    "give another path; an existing file is never changed into a ledger"
                ),
                path=self.name,
                version=FORMAT,
            )

    def _create(self, db: sqlite3.Connection, founder: Founder) -> None:
        """Write the tables, unless another process was quicker."""
        db.execute("BEGIN IMMEDIATE")
        try:
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                founder.permit()
                for statement in statements(SQLITE):
                    db.execute(statement)
                db.execute(
                    "INSERT INTO ledger VALUES (?, ?)", (founder.identity(), VERSION)
                )
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk has ended it already
                db.execute("ROLLBACK")
            raise

    def _identify(self) -> list[tuple[int, int]]:
        return [(s.st_dev, s.st_ino) for s in map(os.stat, self._names)]

    def _check_files(self) -> None:
        """Refuse when a file was replaced or removed under the open connection."""
        try:
            same = self._files == self._identify()
        except FileNotFoundError:
            same = False
        if not same:
            self.refuse_replaced()

    def refuse_replaced(self) -> NoReturn:
        """Refuse and let go of the files: others lie where they were."""
        self._abandon()
        raise LedgerError(
            N_("the ledger {path} or its journal was removed or replaced"),
            hint=N_(
                "nothing was spent; never move, replace or delete a ledger or its "
                "-wal file while it is in use"
            ),
            path=self.name,
        )

    def _abandon(self) -> None:
        """Never close this connection: it would delete the journal of the new file."""
        if self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
            self._connection = None


def _connect(path: Path | None) -> sqlite3.Connection:
    db = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    for pragma in (
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "temp_store = MEMORY",
        "fullfsync = ON",  # macOS: fsync alone does not reach the disk
        "checkpoint_fullfsync = ON",
    ):
        db.execute(f"PRAGMA {pragma}")
    return db


def _prepare(db: sqlite3.Connection) -> None:
    """Set what makes commits durable. It changes the file: only for ledgers."""
    db.execute("PRAGMA page_size = 8192")  # of a new file: a third less at each commit
    mode = _set_journal(db)
    if mode not in ("wal", "memory"):
        raise sqlite3.OperationalError(f"journal mode {mode} instead of WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("BEGIN")  # maps the journal, so that all three files exist
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    db.execute("COMMIT")


def _set_journal(db: sqlite3.Connection) -> str:
    """Ask for WAL until nobody is in the way: SQLite does not wait by itself here."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return str(db.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname == "SQLITE_FULL" or time.monotonic() > until:
                raise
            time.sleep(0.005)


def _upgrade(db: sqlite3.Connection) -> None:
    """Mark the file as one with a log, when no other program has it open.

    Programs that know no log refuse it from then on; those that have it open keep
    SQLite from leaving WAL, which it does only when it is alone.
    """
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute(f"PRAGMA user_version = {FORMAT}")


def _touch(path: Path, founder: Founder) -> None:
    """Create the file, readable by its owner only, before SQLite would."""
    if path.exists():
        return
    _permit(founder, path.exists)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        sync_folder(path.parent)


def _permit(founder: Founder, is_there: Callable[[], bool]) -> None:
    """Ask, and do not mind a refusal if somebody else has created it meanwhile."""
    try:
        founder.permit()
    except LedgerError:
        if not is_there():
            raise


def _is_empty(db: sqlite3.Connection) -> bool:
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    marks = [
        db.execute(f"PRAGMA {p}").fetchone()[0]
        for p in ("application_id", "user_version")
    ]
    return not tables and pages <= 1 and marks == [0, 0]
