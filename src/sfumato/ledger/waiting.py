"""Threads that wait for one disk: one of them does the work of all who wait.

The thread that finds nobody at work takes every waiting request, its own among them,
and afterwards wakes those it served and the first of those who came meanwhile.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from sfumato.errors import LedgerError, SfumatoError
from sfumato.ledger.transaction import Transaction
from sfumato.words import N_

__all__ = ["Job", "Queue", "Ticket"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_MOST = 256  # requests in one transaction


class Job(Protocol[T_co]):
    """What is done in a transaction. A method ``quick`` may do it without one."""

    def __call__(self, transaction: Transaction, /) -> T_co:
        """Do it."""
        ...


class Ticket(Generic[T]):
    """A request in the queue and, later, its outcome."""

    value: Any = None
    error: BaseException | None = None
    _asleep: threading.Lock | None = None
    done = False

    def __init__(
        self, job: Job[Any], finish: Callable[[Any, Any], T] | None = None
    ) -> None:
        """Bind the job.

        Args:
            job: What is done in a transaction, or by its `quick` on the running ledger.
            finish: Makes the outcome of the job and what it returns; it writes nothing.
        """
        self.job, self._finish = job, finish

    def finish(self) -> None:
        """Make the outcome ready, which nobody gets before the disk has answered."""
        if self._finish:
            try:
                self.value = self._finish(self.job, self.value)
            except Exception as error:  # noqa: BLE001  it concerns this ticket alone
                self.fail(error)

    def attempt(self, transaction: Transaction) -> None:
        """Do the job; a refusal undoes this job alone."""
        transaction.save()
        try:
            self.value = self.job(transaction)
        except SfumatoError as error:
            transaction.undo()
            self.fail(error)
        else:
            transaction.keep()
            self.finish()

    def fail(self, error: BaseException) -> None:
        """End with a refusal, or with the failure of the whole transaction."""
        # A traceback holds this very ticket: files would stay open until collected.
        known = isinstance(error, SfumatoError)
        self.error = error.with_traceback(None) if known else error

    def lie_down(self) -> None:
        """Be ready to be woken."""
        self._asleep = threading.Lock()
        self._asleep.acquire()

    def wait(self) -> None:
        """Sleep until somebody has served this ticket, or wants it to lead."""
        if self._asleep:
            self._asleep.acquire()

    def wake(self) -> None:
        """End its sleep."""
        if self._asleep and self._asleep.locked():
            self._asleep.release()

    def result(self) -> T:
        """Return the outcome or raise the refusal."""
        if self.error is not None:
            # Threads share a failed transaction, but not one traceback.
            raise copy.copy(self.error) from None
        value: T = self.value
        return value


class Queue:
    """Tickets in the order in which they came.

    An interrupt may come at any call. So who leads is one word, written and read under the
    guard, and what wakes the others is done once more where it was interrupted.
    """

    def __init__(self) -> None:
        """Begin with nobody who leads; who finds it so may do without it."""
        self._guard = threading.Lock()
        self._waiting: deque[Ticket[Any]] = deque()
        self.leader: Ticket[Any] | None = None

    def submit(
        self, ticket: Ticket[T], serve: Callable[[list[Ticket[Any]]], None]
    ) -> T:
        """Wait to be served, or serve all who wait; return the ticket's outcome.

        Args:
            ticket: A new request.
            serve: Commits requests together; what it raises fails all of them.
        """
        batch: list[Ticket[Any]] = []
        whole = False
        try:
            with self._guard:
                if self.leader is None:
                    self.leader = ticket
                else:
                    ticket.lie_down()
                    self._waiting.append(ticket)
            if self.leader is not ticket:
                ticket.wait()
            if not ticket.done:
                batch = self._next(ticket)
                _serve(batch, serve)
                whole = True
        finally:
            try:
                self._leave(ticket, batch, whole=whole)
            except BaseException:
                self._leave(ticket, batch, whole=whole)
                raise
        return ticket.result()

    def _next(self, leader: Ticket[Any]) -> list[Ticket[Any]]:
        """Return who is served together; they wait until they are told."""
        with self._guard:
            waiting = list(islice(self._waiting, _MOST))
        return waiting if leader in waiting else [leader]

    def _leave(
        self, ticket: Ticket[Any], batch: list[Ticket[Any]], *, whole: bool
    ) -> None:
        """Tell who was served, and who leads next; to do it twice does no harm."""
        with self._guard:
            for other in (ticket, *batch):  # one that was interrupted asks no more
                if other in self._waiting:
                    self._waiting.remove(other)
            if self.leader is ticket:
                self.leader = self._waiting[0] if self._waiting else None
            for other in batch:
                if not whole and other.error is None:
                    other.fail(_interrupted())
                other.done = True
                other.wake()
            if self.leader:
                self.leader.wake()


def _serve(
    batch: list[Ticket[Any]], serve: Callable[[list[Ticket[Any]]], None]
) -> None:
    try:
        serve(batch)
    except Exception as error:  # noqa: BLE001  each waiting thread raises it
        for ticket in batch:
            ticket.fail(error)


def _interrupted() -> LedgerError:
    return LedgerError(
        N_("another thread was interrupted while it recorded this debit"),
        hint=N_("nothing was released; see in the ledger whether the charge stands"),
    )
