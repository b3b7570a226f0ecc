"""The one writer of a ledger in this process.

Requests that wait together are committed in one transaction, so that many waiting
debits cost one write to disk. Nobody learns of a debit before it is durable.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar, overload

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.balances import Balance
from sfumato.ledger.budgets import read_account
from sfumato.ledger.log import Log
from sfumato.ledger.logbook import Logbook
from sfumato.ledger.recent import check_recent
from sfumato.ledger.sqlite import SqliteStore
from sfumato.ledger.store import Database, Founder, Store
from sfumato.ledger.transaction import Transaction, read_identity, read_tail
from sfumato.ledger.waiting import Job, Queue, Ticket
from sfumato.ledger.witness import NewLedger, NoLedger, RestoredLedger, Witness
from sfumato.words import N_

__all__ = ["Writer"]

_AT_CLOSING = 2.0  # seconds to wait for a thread of this process
T = TypeVar("T")
U = TypeVar("U")


class Writer:
    """Serves every `Ledger` of one place in one process."""

    def __init__(
        self,
        store: Store,
        anchor: Anchor | None,
        log: Log | None = None,
        *,
        lenient: bool = False,
    ) -> None:
        """Bind; the store is opened when first needed.

        Args:
            store: The database.
            anchor: What remembers how far it had come.
            log: Of a SQLite file with an anchor: where debits become durable.
            lenient: Open a damaged ledger too, to examine it.
        """
        self._store, self._anchor, self._lenient = store, anchor, lenient
        self._witness, self._founder = Witness(anchor), NewLedger(anchor)
        self._logbook: Logbook | None = None
        if log is not None and anchor is not None and isinstance(store, SqliteStore):
            self._logbook = Logbook(store, log, anchor, self._witness)
        self._identity = ""
        self._born = os.getpid()
        self._turn = threading.Lock()
        self._turns = [self._turn]  # as who closes in the end finds it
        self._queue = Queue()

    @overload
    def submit(self, job: Job[T]) -> T: ...

    @overload
    def submit(self, job: Job[U], finish: Callable[[Any, U], T]) -> T: ...

    def submit(
        self, job: Job[Any], finish: Callable[[Any, Any], Any] | None = None
    ) -> Any:
        """Do a job in a durable transaction, perhaps together with others' jobs.

        Args:
            job: What is done.
            finish: Makes the outcome of the job and what it returns; it writes nothing.

        Raises:
            LedgerError: The ledger cannot be used. Nothing was spent, except where the
                text says that the charge stands.
        """
        if self._born != os.getpid():
            self._check_process()
        ticket = Ticket(job, finish)
        if self._queue.leader or self._turn.locked():
            return self._queue.submit(ticket, self._commit)
        try:  # nobody else asks; whoever comes now waits for the turn or queues
            self._commit([ticket])
        except Exception as error:  # noqa: BLE001  raised without what it holds
            ticket.fail(error)
        return ticket.result()

    def look(self, job: Callable[[Database], T]) -> T:
        """Read one consistent state.

        Raises:
            LedgerError: The ledger cannot be read or is behind its anchor.
        """
        self._check_process()
        with self._turn:
            self._open(self._founder)
            if self._logbook:
                with self._logbook.reading() as db:
                    return job(db)
            with self._store.read() as db:
                marks = self._witness.recall(self._identity)
                self._witness.check(db, read_tail(db), marks)
                return job(db)

    def top(self, dataset: str) -> Balance | None:
        """Return the budget of a data set as it is now; none if there is none.

        Raises:
            LedgerError: The ledger cannot be read or is behind its anchor.
        """
        self._check_process()
        if self._logbook:
            with self._turn:
                self._open(self._founder)
                return self._logbook.top(dataset)
        account = self.look(lambda db: read_account(db, dataset, "dataset", ""))
        return account.balance if account else None

    def inspect(self, job: Callable[[Database, str, Anchor | None], T]) -> T:
        """Read a ledger that must exist, also one behind its anchor.

        Args:
            job: Gets the database, the ledger's identity and its anchor.
        """
        self._check_process()
        with self._turn:
            self._open(NoLedger(self._store.name))
            state = self._logbook.reading(strict=False) if self._logbook else None
            with state or self._store.read() as db:
                return job(db, self._identity, self._anchor)

    def examine(self) -> list[str]:
        """Return what the database finds wrong with itself."""
        self._check_process()
        with self._turn:
            self._open(NoLedger(self._store.name))
            return self._store.examine()

    def repair(self, job: Callable[[Transaction, str, Anchor | None], T]) -> T:
        """Do an operator's job, which is not refused because of the anchor.

        Args:
            job: Gets the transaction, the ledger's identity and its anchor.
        """
        self._check_process()
        with self._turn:
            self._open(RestoredLedger(self._anchor))
            with self._logbook.repairing() if self._logbook else nullcontext():
                return self._repair(job)

    def _repair(self, job: Callable[[Transaction, str, Anchor | None], T]) -> T:
        with self._store.write() as db:
            tail = read_tail(db)
            transaction = Transaction(db, tail)
            value = job(transaction, self._identity, self._anchor)
            mark = transaction.mark()
        if transaction.tail != tail:
            if self._anchor and self._anchor.identity() is None:
                self._anchor.begin(self._identity)
            self._witness.record(mark, self._identity)
        return value

    @property
    def closing(self) -> tuple[Any, ...]:
        """What closes the files when nobody has this writer any more.

        At the end of the process threads may be at work that nobody waits for.
        """
        return _close_in_turn, self._turns, self._store, self._logbook, self._anchor

    def close(self) -> None:
        """Close the files; they are opened again when needed."""
        if self._store.forkable:
            _close(self._store, self._logbook, self._anchor)

    def before_fork(self) -> None:
        """Wait for the turn and close: SQLite's locks do not survive a fork."""
        self._turn.acquire()
        if self._born == os.getpid():
            self.close()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._turn.release()

    def after_fork_in_child(self) -> None:
        """Begin with an empty queue: the threads that waited are not in the child."""
        self._turn = self._turns[0] = threading.Lock()
        self._queue = Queue()
        if self._store.forkable:
            self._born = os.getpid()

    def _open(self, founder: Founder) -> None:
        if self._store.open(founder):
            self._opened(founder)

    def _opened(self, founder: Founder) -> None:
        try:
            with self._store.read() as db:
                self._identity = read_identity(db)
                if not self._lenient:
                    check_recent(db, self._identity)
            if self._anchor and founder is self._founder:
                self._anchor.meet(self._identity)
        except BaseException:
            self._store.close()  # else the next attempt would go unchecked
            raise
        if self._logbook:
            self._logbook.begin(self._identity)

    def _commit(self, batch: list[Ticket[Any]]) -> None:
        with self._turn:
            self._serve(batch)

    def _serve(self, batch: list[Ticket[Any]]) -> None:
        if self._store.open(self._founder):
            self._opened(self._founder)
        if self._logbook:
            self._logbook.commit(batch)
            return
        with self._anchor.turn() if self._anchor else nullcontext():
            self._transact(batch)

    def _transact(self, batch: list[Ticket[Any]]) -> None:
        with self._store.write() as db:
            marks = self._witness.recall(self._identity)
            tail = read_tail(db)
            self._witness.check(db, tail, marks)
            transaction = Transaction(db, tail)
            for ticket in batch:
                ticket.attempt(transaction)
            mark = transaction.mark() if transaction.tail != tail else None
        if mark is not None:
            self._witness.record(mark, self._identity)

    def _check_process(self) -> None:
        if self._born == os.getpid():
            return
        if not self._store.forkable:
            raise LedgerError(
                N_("a ledger in memory cannot be shared with a forked process"),
                hint=N_('keep the budget in a file: ledger="name.ledger"'),
            )
        raise LedgerError(
            N_("the process was forked behind Python's back while the ledger was open"),
            hint=N_("open the session after the fork, in each process"),
        )


def _close_in_turn(
    turns: list[threading.Lock],
    store: Store,
    logbook: Logbook | None,
    anchor: Anchor | None,
) -> None:
    """Close unless somebody is at work for long: then the files stay as they are.

    The lock of the log keeps out other processes, not a thread of this one.
    """
    turn = turns[0]
    if turn.acquire(timeout=_AT_CLOSING):
        try:
            _close(store, logbook, anchor)
        finally:
            turn.release()


def _close(store: Store, logbook: Logbook | None, anchor: Anchor | None) -> None:
    if logbook:
        logbook.close()
    store.close()
    if anchor:
        anchor.close()
