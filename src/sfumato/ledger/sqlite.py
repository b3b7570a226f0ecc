"""A budget in a SQLite file: debit first, durable before noise, refund never.

One file may hold the budgets of several datasets and be shared by processes. A debit is
one immediate transaction with one conditional update; it is on disk (WAL, synchronous
FULL) before the caller learns of it. Triggers refuse deletions, changed costs and a
smaller spent amount.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn, final

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, DeclarationError, LedgerError
from sfumato.release import Receipt
from sfumato.words import N_

__all__ = ["Ledger"]

_APPLICATION = 0x5F0A70  # marks the file as ours
_VERSION = 1
_LARGEST = 2**62  # amounts are 64-bit integers
_SCHEMA = f"""
CREATE TABLE budget (
    dataset TEXT PRIMARY KEY,
    measure TEXT NOT NULL CHECK (measure = 'epsilon'),
    cap     INTEGER NOT NULL CHECK (cap > 0),
    spent   INTEGER NOT NULL CHECK (spent BETWEEN 0 AND cap)
) STRICT;
CREATE TABLE entry (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset  TEXT NOT NULL REFERENCES budget,
    cost     INTEGER NOT NULL CHECK (cost >= 0),
    spent    INTEGER NOT NULL,
    plan     TEXT NOT NULL,
    time     TEXT NOT NULL
) STRICT;
CREATE TRIGGER entries_stay BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'entries cannot be deleted'); END;
CREATE TRIGGER entries_are_final BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'entries cannot be changed'); END;
CREATE TRIGGER budgets_stay BEFORE DELETE ON budget
    BEGIN SELECT RAISE(ABORT, 'budgets cannot be deleted'); END;
CREATE TRIGGER nothing_is_refunded BEFORE UPDATE ON budget
    WHEN NEW.spent < OLD.spent OR NEW.cap <> OLD.cap OR NEW.measure <> OLD.measure
    BEGIN SELECT RAISE(ABORT, 'nothing is refunded and caps are final'); END;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""


@final
class Ledger:
    """The record of what one dataset has spent.

    Args:
        path: The SQLite file, created when absent; none keeps the ledger in memory,
            for as long as this object and this process live.
        dataset: The dataset whose budget this is.
        cap: The whole budget. It is fixed when the budget is first opened.

    Raises:
        LedgerError: The file is no ledger, is damaged, cannot be written, or records
            another cap for the dataset.

    Examples:
        >>> ledger = Ledger(None, dataset="pima", cap=Epsilon("0.3"))
        >>> [ledger.debit(Epsilon("0.1"), plan="p").sequence for _ in range(3)]
        [1, 2, 3]
        >>> ledger.debit(Epsilon("0.1"), plan="p")
        Traceback (most recent call last):
        sfumato.errors.BudgetExceededError: [SF201] epsilon 0.1 was asked, 0 of 0.3 is left
          hint: ask for at most what is left, or ask the data owner for another budget
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, *, dataset: str, cap: Epsilon
    ) -> None:
        """Open or create the ledger and the dataset's budget."""
        if cap.units > _LARGEST:
            raise DeclarationError(
                N_("a budget of epsilon {cap} is beyond the largest, {most}"),
                hint=N_("such a budget protects nobody; epsilon 1 is a usual total"),
                cap=cap,
                most=Epsilon.from_units(_LARGEST),
            )
        self._path = None if path is None else Path(path)
        self.dataset, self.cap = dataset, cap
        self._lock = threading.Lock()
        self._born = os.getpid()
        self._pid = 0
        self._connection: sqlite3.Connection | None = None
        with self._transaction() as db:
            self._open_budget(db)

    @property
    def spent(self) -> Epsilon:
        """All that was spent so far, by every process."""
        with self._transaction() as db:
            return self._spent(db)

    @property
    def left(self) -> Epsilon:
        """What can still be spent."""
        return self.cap - self.spent

    def debit(self, cost: Epsilon, *, plan: str) -> Receipt:
        """Record `cost` durably, or refuse and change nothing.

        Args:
            cost: The loss to record.
            plan: Digest of the plan that it pays for.

        Raises:
            BudgetExceededError: Less than `cost` is left. Nothing was spent.
            LedgerError: The file cannot be written. Nothing was spent.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._transaction() as db:
            changed = db.execute(
                "UPDATE budget SET spent = spent + ?1"
                " WHERE dataset = ?2 AND spent <= cap - ?1 AND cap >= ?1",
                (min(cost.units, _LARGEST + 1), self.dataset),
            ).rowcount
            spent = self._spent(db)
            if changed != 1:
                raise BudgetExceededError(
                    N_("epsilon {cost} was asked, {left} of {cap} is left"),
                    hint=N_(
                        "ask for at most what is left, "
                        "or ask the data owner for another budget"
                    ),
                    cost=cost,
                    left=self.cap - spent,
                    cap=self.cap,
                )
            sequence = db.execute(
                "INSERT INTO entry (dataset, cost, spent, plan, time)"
                " VALUES (?, ?, ?, ?, ?)",
                (self.dataset, cost.units, spent.units, plan, now),
            ).lastrowid
        return Receipt(
            dataset=self.dataset,
            sequence=int(sequence or 0),
            cost=str(cost),
            spent=str(spent),
            cap=str(self.cap),
            plan=plan,
            time=now,
        )

    def __copy__(self) -> Ledger:
        """Share the one ledger."""
        return self

    def __deepcopy__(self, memo: object) -> Ledger:
        """Share the one ledger."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse pickling: another process opens the file itself."""
        raise LedgerError(
            N_("a ledger cannot be pickled"),
            hint=N_("open a session in the other process with the same ledger file"),
        )

    def _spent(self, db: sqlite3.Connection) -> Epsilon:
        row = db.execute(
            "SELECT spent FROM budget WHERE dataset = ?", (self.dataset,)
        ).fetchone()
        return Epsilon.from_units(int(row[0]))

    def _open_budget(self, db: sqlite3.Connection) -> None:
        db.execute(
            "INSERT OR IGNORE INTO budget VALUES (?, 'epsilon', ?, 0)",
            (self.dataset, self.cap.units),
        )
        (cap,) = db.execute(
            "SELECT cap FROM budget WHERE dataset = ?", (self.dataset,)
        ).fetchone()
        if cap != self.cap.units:
            raise LedgerError(
                N_(
                    "the ledger records a budget of {recorded} for {dataset}, not {cap}"
                ),
                hint=N_("a cap is final: give the recorded one"),
                recorded=Epsilon.from_units(cap),
                dataset=repr(self.dataset),
                cap=self.cap,
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run one immediate transaction; commit at the end, roll back on any error."""
        with self._lock:
            try:
                db = self._connect()
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            except sqlite3.Error as error:
                raise LedgerError(
                    N_("the ledger {path} cannot be used: {reason}"),
                    hint=N_(
                        "check that it is a sfumato ledger on a local disk with free "
                        "space and that you may write it; never edit or delete it"
                    ),
                    path=str(self._path or "in memory"),
                    reason=str(error),
                ) from None

    def _connect(self) -> sqlite3.Connection:
        """Return this process's connection; a fork opens its own."""
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        if self._path is None and self._born != os.getpid():
            raise LedgerError(
                N_("a ledger in memory cannot be shared with a forked process"),
                hint=N_('keep the budget in a file: ledger="name.ledger"'),
            )
        if self._path is not None and not self._path.parent.is_dir():
            raise LedgerError(
                N_("the folder of the ledger {path} does not exist"),
                hint=N_("create the folder first, or correct the path"),
                path=str(self._path),
            )
        self._connection = _open(self._path)
        self._pid = os.getpid()
        weakref.finalize(self, _close, self._connection, self._pid)
        return self._connection


def _close(connection: sqlite3.Connection, pid: int) -> None:
    """Close in the process that opened: in a fork it would tidy the parent's files."""
    if os.getpid() == pid:
        connection.close()


def _open(path: Path | None) -> sqlite3.Connection:
    db = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=60,
        isolation_level=None,
        check_same_thread=False,
    )
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN IMMEDIATE")
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        db.execute("COMMIT")
        _create(db)
        return db
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute("COMMIT")
    if (application, version) != (_APPLICATION, _VERSION):
        db.close()
        raise LedgerError(
            N_("{path} is not a sfumato ledger of version {version}"),
            hint=N_(
                "give another path; an existing file is never changed into a ledger"
            ),
            path=str(path),
            version=_VERSION,
        )
    return db


def _create(db: sqlite3.Connection) -> None:
    """Write the schema, unless another process was quicker."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in _statements(_SCHEMA):
                db.execute(statement)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """Split a script; `executescript` would commit in between."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
