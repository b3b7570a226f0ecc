"""Threads that wait for one disk: one of them does the work of all who wait.

The thread that finds nobody at work takes every waiting request, its own among them,
and afterwards wakes those it served and the first of those who came meanwhile.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable
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
    done = leads = False

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
        if self._asleep:
            self._asleep.release()

    def result(self) -> T:
        """Return the outcome or raise the refusal."""
        if self.error is not None:
            # Threads share a failed transaction, but not one traceback.
            raise copy.copy(self.error) from None
        value: T = self.value
        return value


class Queue:
    """Tickets in the order in which they came."""

    def __init__(self) -> None:
        """Begin empty; who finds it not busy may do without it."""
        self._guard = threading.Lock()
        self._waiting: deque[Ticket[Any]] = deque()
        self.busy = False

    def submit(
        self, ticket: Ticket[T], serve: Callable[[list[Ticket[Any]]], None]
    ) -> T:
        """Wait to be served, or serve all who wait; return the ticket's outcome.

        Args:
            ticket: A new request.
            serve: Commits requests together; what it raises fails all of them.
        """
        with self._guard:
            if self.busy:
                batch = []
                ticket.lie_down()
                self._waiting.append(ticket)
            else:
                batch = [ticket]
                self.busy = True
        if not batch:
            self._wait(ticket)
        if not ticket.done:
            self._lead(ticket, batch or self._next(), serve)
        return ticket.result()

    def _wait(self, ticket: Ticket[Any]) -> None:
        try:
            ticket.wait()
        except BaseException:
            with self._guard:  # an interrupted thread asks no more
                if ticket in self._waiting:
                    self._waiting.remove(ticket)
                successor = self._appoint() if ticket.leads else None
            if successor:
                successor.wake()
            raise

    def _next(self) -> list[Ticket[Any]]:
        with self._guard:
            some = min(len(self._waiting), _MOST)
            return [self._waiting.popleft() for _ in range(some)]

    def _lead(
        self,
        own: Ticket[Any],
        batch: list[Ticket[Any]],
        serve: Callable[[list[Ticket[Any]]], None],
    ) -> None:
        try:
            serve(batch)
        except Exception as error:  # noqa: BLE001  each waiting thread raises it
            for ticket in batch:
                ticket.fail(error)
        except BaseException:
            for ticket in batch:
                ticket.fail(_interrupted())
            raise
        finally:
            with self._guard:
                successor = self._appoint()
            for ticket in batch:
                ticket.done = True
                if ticket is not own:
                    ticket.wake()
            if successor:
                successor.wake()

    def _appoint(self) -> Ticket[Any] | None:
        """Choose who leads next; the guard is held."""
        if not self._waiting:
            self.busy = False
            return None
        self._waiting[0].leads = True
        return self._waiting[0]


def _interrupted() -> LedgerError:
    return LedgerError(
        N_("another thread was interrupted while it recorded this debit"),
        hint=N_("nothing was released; see in the ledger whether the charge stands"),
    )
