"""The quick way of a debit: decided in memory, durable in the log, marked in the anchor.

One right goes round among the processes, the log's turn: to add records, after reading
all that others added, and to change SQLite. A debit takes it for some microseconds and
gives it back before it waits for the disk. Then processes that come at the same moment
wait for the disk together: the system writes what all of them have added and tells each
that its own is there, or that it is not (`fdatasync`, which every process calls itself,
so that each hears of a failed write).

A process that is alone writes first and looks afterwards, while the disk works, whether
the files still lie where they lay; if not, it takes its record back. Processes in company
read what the others add also before they have the turn, so that it is short. Both are safe
because a record is taken over only whole and after the one it names, and because the word
of the log changes when one is taken back.

Nobody learns of a debit before the disk has answered and the anchor has a mark at or
beyond it. The mark is written after the disk has answered, so the anchor is never ahead:
all records before one's own stood in the file when one's own was added.

Somebody may bring the records to SQLite and empty the log while another waits for the
disk. They are durable in SQLite before the log is touched, so what that other waits for
is kept either way.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import Anchor, Mark
from sfumato.ledger.balances import Balance
from sfumato.ledger.log import CLOSED, END, FIRST, LAST, Log, flush, start
from sfumato.ledger.place import Folders
from sfumato.ledger.plain import is_plain, write_plainly
from sfumato.ledger.running import Running, read_running
from sfumato.ledger.sqlite import SqliteStore
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import Transaction, read_tail
from sfumato.ledger.turns import FREE, flock, sleep_until_mine, turn
from sfumato.ledger.waiting import Ticket
from sfumato.ledger.witness import Witness
from sfumato.words import N_

__all__ = ["Logbook"]

_ROOM = 1024  # bytes of a usual record: with less room the log is emptied first
_PATIENCE = 60.0  # seconds to wait for another process
_BRIEF = 0.01  # seconds of waiting, after which one looks again
_AT_CLOSING = 2.0  # seconds; what stays in the log is as durable there


class Logbook:
    """A ledger file, its log and its anchor, as one process writes them."""

    def __init__(
        self, store: SqliteStore, log: Log, anchor: Anchor, witness: Witness
    ) -> None:
        """Bind; the log is opened when first needed."""
        self._store, self._log = store, log
        self._anchor, self._witness = anchor, witness
        self._folders = Folders(x.parent for x in (log.path, anchor.path))
        self._identity = ""
        self._running: Running | None = None
        self._pid = 0
        self._swept = False  # whether ends that a power cut left were looked for

    def begin(self, identity: str) -> None:
        """Forget all: the store was opened anew."""
        self._identity, self._pid = identity, os.getpid()
        self._running, self._swept = None, False
        self._log.close()

    def commit(self, batch: list[Ticket[Any]]) -> None:
        """Serve requests together, durably.

        Raises:
            LedgerError: The ledger cannot be used. Nothing was spent, except where the
                text says that the charge stands.
        """
        if self._log.file == CLOSED:
            self._open()
        rest, running = batch, self._running
        try:
            alone = running and not running.company and running.budgets.sole
            if running and alone and is_plain(batch[0].job):
                rest = batch[self._add_alone(running, batch) :]
            if rest:
                rest = self._add(rest)
            if rest:
                self._transact(rest)
        except BaseException as error:
            self._running = None  # it may know what the log does not
            if isinstance(error, (sqlite3.Error, OSError)):
                error = self._store.refusal(error)
            if len(rest) == len(batch) or not isinstance(error, LedgerError):
                raise error from None
            for ticket in rest:  # those before are durable, and told so
                ticket.fail(error)

    def top(self, dataset: str) -> Balance | None:
        """Return the budget of a data set as it is now."""
        self._open()
        with self._store.guarded(), turn(self._log.file):
            return self._current().top(dataset)

    @contextmanager
    def reading(self, *, strict: bool = True) -> Iterator[Database]:
        """Begin reading one consistent state, that of SQLite and the log together.

        Nothing is written: the log's records are put into a transaction that is taken
        back at the end.

        Args:
            strict: Refuse a ledger that is behind its anchor.
        """
        if not self._open(create=strict):
            with self._store.read() as db:
                yield db
            return
        with ExitStack() as stack:
            with turn(self._log.file):
                running = self._current(strict=strict)
                if not running.is_empty:
                    db = stack.enter_context(self._store.trial())
                    running.copy_to(db)
                else:
                    db = stack.enter_context(self._store.read())
                    read_tail(db)  # from here on the state is fixed
            yield db

    @contextmanager
    def repairing(self) -> Iterator[None]:
        """Bring every record to SQLite and keep the log's turn; the anchor may differ."""
        self._open()
        self._running = None
        with turn(self._log.file):
            self._copy(self._current(strict=False), [])
            self._running = None
            self._log.renew(FIRST, busy=True)
            yield
            self._log.renew(FIRST, busy=False)

    def close(self) -> None:
        """Bring every record to SQLite, so that its file is the whole ledger; close."""
        running, self._running = self._running, None
        own = self._pid == os.getpid()  # else its lock and files are another's
        if own and running is not None and not running.is_empty:
            with suppress(LedgerError, OSError):
                self._transact([], _AT_CLOSING)
        self._running = None
        self._log.close()

    def _open(self, *, create: bool = True) -> bool:
        try:
            return self._log.open(self._identity, create=create)
        except OSError as error:
            raise self._store.refusal(error) from None

    # -- the quick way -------------------------------------------------------------

    def _add_alone(self, running: Running, batch: list[Ticket[Any]]) -> int:
        """Do what `_add` does where nobody else writes; return how many were served."""
        file, at = self._log.file, running.at
        try:  # an interrupt may come as soon as the turn is had
            sleep_until_mine(file)
            as_left = os.pread(file, END, at) == running.end
            if not as_left or not self._anchor.is_as_left():
                return 0
            made = 0 if running.busy else write_plainly(running, batch, self._log)
            if made:
                try:  # a look while the disk works: do the files lie where they lay?
                    if not self._folders.are_same():
                        self._check_files(strict=True)
                        self._check_anchor(running)
                except BaseException:
                    self._log.take_back(at, running.at)
                    raise
        finally:
            flock(file, FREE)
        if made:
            self._make_durable(running, file, batch[:made])
        return made

    def _add(self, batch: list[Ticket[Any]]) -> list[Ticket[Any]]:
        """Write what can plainly be accepted; return the requests from the first other."""
        file = self._log.file
        try:  # an interrupt may come as soon as the turn is had
            running = self._newest(looked=self._take_turn(file, self._running))
            at = running.at
            room = at + _ROOM * len(batch) < LAST or at == FIRST
            made = self._write(running, batch) if room and not running.busy else 0
        finally:
            flock(file, FREE)
        if made:
            self._make_durable(running, file, batch[:made])
            return batch[made:]
        if not room and not running.busy:
            self._transact([])
            return self._add(batch)
        return batch

    def _take_turn(self, file: int, running: Running | None) -> bool:
        """Take the log's turn; in company, do before what need not be done in it.

        What others add may be read without the turn: nothing but whole records, each of
        which follows the one before it, is taken over. Little is left for the turn then.

        Returns:
            Whether the last mark of the anchor was looked at.
        """
        if running is None or not running.company:
            sleep_until_mine(file)
            return False
        if not self._folders.are_same():
            self._check_files(strict=True)
        looked = self._catch_up(running) and self._anchor.agrees(running.knows)
        began = time.monotonic()
        sleep_until_mine(file)
        if time.monotonic() - began < _BRIEF:
            return looked
        if not self._folders.are_same():
            self._check_files(strict=True)
        return False

    def _write(self, running: Running, batch: list[Ticket[Any]]) -> int:
        """Write one record per request, as far as they can plainly be accepted."""
        log, peek, at = self._log, self._store.peek, running.at
        made: list[bytes] = []
        for ticket in batch:
            quick = getattr(ticket.job, "quick", None)
            done = quick(running, peek) if quick else None
            if done is None:
                break
            ticket.value, record = done
            made.append(record)
        if not made:
            return 0
        data = made[0] if len(made) == 1 else b"".join(made)
        stop = at + len(data)
        if stop > LAST:
            self._running = None
            return 0
        running.wrote(stop, stop - len(made[-1]))
        log.write(data + running.end, at)
        if not running.company:
            start(log.file, at, stop)
        return len(made)

    def _catch_up(self, running: Running) -> bool:
        """Take over what others have added; false if one look does not tell."""
        added = self._log.newest(running.at, running.header)
        return added is not None and running.jump(added)

    def _newest(self, *, looked: bool) -> Running:
        """Return the ledger as a debit must know it. The log's turn is held.

        Args:
            looked: The last mark of the anchor was looked at just now.

        Raises:
            LedgerError: As `_current`.
        """
        running = self._running
        if running is None or not running.company:
            return self._current()
        if not self._catch_up(running):
            return self._current()
        if not looked and not self._anchor.agrees(running.knows):
            self._check_anchor(running)
        return running

    def _current(self, *, strict: bool = True) -> Running:
        """Return the ledger as it is now. The log's turn is held.

        It is kept only when it is whole and was compared with the anchor.

        Raises:
            LedgerError: The files are not those that were opened, or lack what the
                anchor knows. Nothing was spent.
        """
        if not self._folders.are_same() or not strict:
            self._check_files(strict=strict)
        log, running, self._running = self._log, self._running, None
        as_left = running and log.is_as_left(running.at, running.end)
        if running is None or not as_left:
            if running is None or running.header != log.header():
                company, again = running.company if running else 0, running is not None
                running = self._read(strict=strict, again=again)
                running.company = max(running.company, company)
            else:
                running.follow(log.records(running.at, running.tail))
        if strict:
            self._check_anchor(running)
            if not self._swept:
                self._sweep(running)
        self._running = running if strict or as_left else None
        return running

    def _sweep(self, running: Running) -> None:
        """Void what a power cut has left: nobody who reads may take it for news."""
        self._swept = True
        if self._log.has_end_behind(running.at, running.header):
            running.renewed(self._log.renew(running.at, busy=running.busy))

    def _check_files(self, *, strict: bool) -> None:
        self._store.check_place()
        if not self._log.is_in_place():
            self._store.refuse_replaced()  # all files are opened anew then
        if strict:
            self._anchor.open()
            self._folders.rely()

    def _read(self, *, strict: bool, again: bool) -> Running:
        with self._store.read() as db:
            marks = self._witness.recall(self._identity) if strict else []
            running = read_running(db, self._log, again=again)
            self._witness.check(db, running.tail, marks, running.knows)
        if self._anchor.highest:
            running.marked(self._anchor.highest.place)
        return running

    def _check_anchor(self, running: Running) -> None:
        """Refuse a ledger that lacks what somebody has marked."""
        marks = self._anchor.news(self._identity, running.knows)
        if not marks:
            return
        if not all(running.knows(*mark.entry) for mark in marks):
            running.fill()
            with self._store.read() as db:
                self._witness.check(db, running.tail, marks, running.knows)
        if self._anchor.highest:
            running.marked(self._anchor.highest.place)

    def _make_durable(
        self, running: Running, file: int, batch: Sequence[Ticket[Any]]
    ) -> None:
        """Return when the disk has every record up to now, and the anchor their mark."""
        # All that can be done while the disk works.
        mark = running.mark(self._identity)  # where this fails, all is read anew
        for ticket in batch:
            ticket.finish()
        try:
            flush(file)
        except OSError:
            self._store.distrust()  # the kernel may have dropped unwritten pages
            raise
        self._witness.record(mark, self._identity)

    # -- the thorough way ----------------------------------------------------------

    def _transact(
        self, batch: Sequence[Ticket[Any]], patience: float = _PATIENCE
    ) -> None:
        """Bring every record to SQLite and serve requests there, in one transaction."""
        with (
            self._store.guarded(),
            turn(self._log.file, patience),
        ):
            running = self._current()
            mark = self._copy(running, batch)
            if mark is not None:
                self._witness.record(mark, self._identity)

    def _copy(self, running: Running, batch: Sequence[Ticket[Any]]) -> Mark | None:
        """Return what the anchor must remember of it."""
        self._running, log, mark = None, self._log, None
        header = running.header
        with self._store.write() as db:
            if read_tail(db) != running.base:
                raise LedgerError(
                    N_(
                        "the ledger was changed by a program that does not know its log"
                    ),
                    hint=N_("stop that program; run `sfumato ledger verify`"),
                )
            running.copy_to(db)
            transaction = Transaction(db, running.tail)
            for ticket in batch:
                ticket.attempt(transaction)
            changed = transaction.tail != running.tail
            for budget in running.budgets.unmarked():
                transaction.touch(budget)
            if changed or not running.is_marked:
                mark = transaction.mark()
            empty = running.at == FIRST and not running.busy
            if running.busy:
                self._store.overwrite(db)
            if changed or not empty:
                log.renew(running.at, busy=True)
        if changed or not empty:
            header = log.clear()
        if not changed:
            running.settled(header)
            self._running = running
        return mark
