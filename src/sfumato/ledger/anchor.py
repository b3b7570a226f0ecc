"""The anchor: a second file that remembers how far the ledger had come.

A chain of hashes shows that nothing inside it was changed; it cannot show that its end
is missing. The anchor can: after each commit one line is appended with the place and
the hash of the last entry and what the budgets it touched have spent. A ledger that is
behind its anchor, as after restoring a backup, is refused.

A line ends in a checksum; a line torn by a power cut is skipped, so the anchor may lag
behind the ledger but never runs ahead of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sfumato.errors import LedgerError
from sfumato.ledger.chain import canonical
from sfumato.words import N_

if sys.platform != "win32":  # there SQLite's own lock is the only turn-keeper
    import fcntl

    _TRY = fcntl.LOCK_EX | fcntl.LOCK_NB

__all__ = ["Anchor", "Mark", "State"]

State: TypeAlias = tuple[str, str, str, str, str, int, int, int, int, int, int]
"""A budget: dataset, kind, name, label, measure, cap, delta_cap, spent, delta_spent,
whole, delta_whole; as the columns of the table."""

_NEAR = (1 << 12, 1 << 16)  # bytes at the end, where the last line is sought first
_PATIENCE = 60.0  # seconds to wait for another process
_SYNC_EVERY = 5.0  # seconds by which the anchor may lag after a power cut


@dataclass(frozen=True, slots=True)
class Mark:
    """One line of an anchor: how far the ledger had come at one commit."""

    place: int
    head: str
    debits: int
    states: tuple[State, ...] = ()


class Anchor:
    """An append-only file of marks, and the lock by which processes take turns."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is opened when first needed."""
        self.path = path
        self._file: int | None = None
        self._synced = 0.0
        self._known: tuple[int, str, Mark | None] = (0, "", None)

    def identity(self) -> str | None:
        """Return the identity of the anchor's ledger; none when there is no file.

        Raises:
            LedgerError: The file is no anchor. Nothing was spent.
        """
        try:
            with self.path.open("rb") as file:
                first = file.readline(256)
        except FileNotFoundError:
            return None
        with suppress(ValueError, KeyError, TypeError):
            return str(json.loads(first)["sfumato anchor of ledger"])
        if not first:
            return None
        raise LedgerError(
            N_("{path} is not the anchor of a ledger"),
            hint=N_("give the anchor that belongs to the ledger; never edit it"),
            path=str(self.path),
        )

    def begin(self, identity: str) -> None:
        """Create the file for a new ledger and put it on disk.

        Called where nobody else can: inside the transaction that creates the ledger.
        """
        first = canonical({"sfumato anchor of ledger": identity}) + "\n"
        file = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            os.write(file, first.encode())
            os.fsync(file)
        finally:
            os.close(file)
        sync_folder(self.path.parent)

    def last(self, identity: str) -> Mark | None:
        """Return the last whole mark; none when there is none.

        Raises:
            LedgerError: The file is missing or is another ledger's. Nothing was spent.
        """
        file = self._open()
        size = os.fstat(file).st_size
        if self._known[:2] == (size, identity):
            return self._known[2]
        for near in _NEAR:
            os.lseek(file, max(0, size - near), os.SEEK_SET)
            for line in reversed(os.read(file, near).split(b"\n")):
                if mark := _read(line, identity):
                    self._known = size, identity, mark
                    return mark
        if self.identity() != identity:
            raise LedgerError(
                N_("{path} is not the anchor of this ledger"),
                hint=N_("give the anchor that belongs to the ledger"),
                path=str(self.path),
            )
        marks = self.marks(identity)
        return marks[-1] if marks else None

    def marks(self, identity: str) -> list[Mark]:
        """Return every whole mark, oldest first."""
        lines = self.path.read_bytes().split(b"\n")
        return [mark for line in lines if (mark := _read(line, identity))]

    def append(self, mark: Mark, identity: str) -> None:
        """Add a mark. Called after the commit that it remembers, within a turn."""
        file = self._open()
        text = canonical([mark.place, mark.head, mark.debits, mark.states])
        # A line break first: it ends a line that a power cut may have torn.
        line = f"\n{text} {_check(text, identity)}".encode()
        if os.write(file, line) != len(line):
            raise OSError(28, "short write")
        # Under the turn nobody else has written since.
        self._known = os.fstat(file).st_size, identity, mark
        now = time.monotonic()
        if now - self._synced > _SYNC_EVERY:
            os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
            self._synced = now

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the place at the head of the queue of processes.

        They wait here rather than in SQLite, which sleeps up to 100 ms at a time.
        Two locks make it fair: who has just had a turn waits behind the one who holds
        the second place. Correctness does not rest on these locks.
        """
        file = self._open()
        if sys.platform == "win32":
            yield
            return
        until = time.monotonic() + _PATIENCE
        _await(lambda: fcntl.lockf(file, _TRY, 1), until, 0.002)
        try:
            _await(lambda: fcntl.flock(file, _TRY), until, 0.0003)
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN, 1)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Put the file on disk and close it; it is opened again when needed."""
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = None
            self._known = 0, "", None

    def _open(self) -> int:
        """Return the open file; open it anew when the path leads elsewhere now."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            self.close()
            raise LedgerError(
                N_("the anchor {path} of the ledger is missing"),
                hint=N_(
                    "put it back, or say where it is with anchor=…; if it is lost, the "
                    "owner can run `sfumato ledger reconcile`"
                ),
                path=str(self.path),
            ) from None
        if self._file is not None and not os.path.samestat(os.fstat(self._file), there):
            self.close()
        if self._file is None:
            flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            try:
                self._file = os.open(self.path, flags)
            except OSError as error:
                raise LedgerError(
                    N_("the anchor {path} cannot be written: {reason}"),
                    hint=N_("nothing was spent; whoever debits must write it as well"),
                    path=str(self.path),
                    reason=error.strerror,
                ) from None
        return self._file


def _await(lock: Callable[[], None], until: float, longest: float) -> None:
    """Try a lock until it is held; give up when the time is over."""
    wait = 0.0001
    while True:
        try:
            lock()
        except BlockingIOError:
            if time.monotonic() > until:
                raise LedgerError(
                    N_("the ledger is held by another process for a minute"),
                    hint=N_("nothing was spent; find the process that hangs"),
                ) from None
            time.sleep(wait)
            wait = min(wait * 1.5, longest)
        else:
            return


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on disk, where the system can."""
    if os.name != "posix":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _check(text: str, identity: str) -> str:
    return hashlib.sha256(f"{identity} {text}".encode()).hexdigest()[:16]


def _read(line: bytes, identity: str) -> Mark | None:
    text, _, check = line.decode("ascii", "replace").rpartition(" ")
    if not text or check != _check(text, identity):
        return None
    place, head, debits, states = _parts(text)
    return Mark(place, head, debits, tuple(tuple(s) for s in states))


def _parts(text: str) -> Any:
    return json.loads(text)
