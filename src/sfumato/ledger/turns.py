"""Turns among processes: a lock on an open file.

The lock is `flock`: the kernel gives it back when its holder dies, and it belongs to
the open file, so that closing another one of the same path does not drop it.

A debit sleeps until the kernel wakes it: where eight processes debit, half as many again
were done in a second as when each looked again and again. It has no time limit, so a
process that is stopped (not killed) in the microseconds in which it holds the turn lets the
others wait until it goes on. Whoever reads, repairs or copies the log looks again and
again, and says after a minute that somebody hangs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.errors import LedgerError
from sfumato.words import N_

if sys.platform != "win32":
    import fcntl

    _TRY = fcntl.LOCK_EX | fcntl.LOCK_NB
    # What gives the lock back; an interrupt may come before a function in Python.
    flock, FREE = fcntl.flock, fcntl.LOCK_UN
else:
    FREE = 0

    def flock(_file: int, _how: int) -> None:
        """Do nothing: there SQLite's own lock keeps the turns."""


__all__ = ["FREE", "HAVE_TURNS", "flock", "lock", "sleep_until_mine", "take", "turn"]

HAVE_TURNS = sys.platform != "win32"  # there SQLite's own lock keeps the turns
_PATIENCE = 60.0  # seconds to wait for another process
_YIELDS = 10  # tries that leave the processor to others and come back at once
_SHORTEST, _LONGEST = 0.00002, 0.0003  # seconds between two tries


def take(file: int) -> bool:
    """Take the lock if it is free."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, _TRY)
        except BlockingIOError:
            return False
    return True


def sleep_until_mine(file: int) -> None:
    """Wait for the lock, however long; an interrupt ends it."""
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX)


def lock(file: int, patience: float = _PATIENCE) -> None:
    """Wait for the lock.

    Raises:
        LedgerError: Another process holds it for too long. Nothing was spent.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(file, _TRY)
        except BlockingIOError:
            _wait(file, patience)


def _wait(file: int, patience: float) -> None:
    for _ in range(_YIELDS):  # it is held for some microseconds, as a rule
        _step_aside()
        if take(file):
            return
    until, pause = time.monotonic() + patience, _SHORTEST
    while not take(file):
        if time.monotonic() > until:
            raise LedgerError(
                N_("the ledger is held by another process for a minute"),
                hint=N_("nothing was spent; find the process that hangs"),
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST)


def _step_aside() -> None:
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)


@contextmanager
def turn(file: int, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the lock."""
    try:
        lock(file, patience)
        yield
    finally:
        flock(file, FREE)
