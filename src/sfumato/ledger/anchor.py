"""The anchor: a second file that remembers how far the ledger had come.

A chain of hashes shows that nothing inside it was changed; it cannot show that its end
is missing. The anchor can: after each commit one line is appended with the place and
the hash of the last entry and what the budgets it touched have spent. A ledger that is
behind its anchor, as after restoring a backup, is refused.

A line ends in a checksum; a line torn by a power cut is skipped, so the anchor may lag
behind the ledger but never runs ahead of it.

Processes add their lines without waiting for each other, each after the disk has its
entry. A line tells all that changed since the last line its writer had seen. So a line
that comes late, behind one of a higher place, says nothing that the higher one does not,
and is passed over.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sfumato.errors import LedgerError
from sfumato.ledger.chain import canonical
from sfumato.ledger.place import check_is_file
from sfumato.ledger.turns import turn
from sfumato.words import N_

__all__ = ["Anchor", "Known", "Mark", "State", "line_of", "sync_folder", "write_first"]

State: TypeAlias = tuple[str, str, str, str, str, int, int, int, int, int, int]
"""A budget: dataset, kind, name, label, measure, cap, delta_cap, spent, delta_spent,
whole, delta_whole; as the columns of the table."""

Known: TypeAlias = Callable[[int, int, str], bool]
"""Whether a ledger has an entry of this place, number of debits and hash."""

_EMPTY = hashlib.sha256()  # to copy it takes less time than to make one
_NEAR = (1 << 12, 1 << 16)  # bytes at the end, where the last line is sought first
_BEGINNING = re.compile(rb'\[(\d+),"([0-9a-f]{64})",(\d+),')
_SYNC_EVERY = 5.0  # seconds by which the anchor may lag after a power cut


class Mark(NamedTuple):
    """One line of an anchor: how far the ledger had come at one commit.

    Attributes:
        place: Place of the last entry.
        head: Its hash.
        debits: Number of debits.
        states: The budgets that changed since the mark before.
        line: All this as `line_of` makes it, where a mark is only to be written.
    """

    place: int
    head: str
    debits: int
    states: tuple[State, ...] = ()
    line: bytes = b""

    @property
    def entry(self) -> tuple[int, int, str]:
        """What tells the last entry from any other."""
        return self.place, self.debits, self.head


class Anchor:
    """An append-only file of marks, and the right to add one."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is opened when first needed."""
        self.path = path
        self._file: int | None = None
        self._same = (0, 0)
        self._synced = 0.0
        self._end: int | None = None  # how far it was read, once it was read at all
        self._own = b""  # the line that was added since, if only one was
        self._highest: Mark | None = None

    begins_late = False  # whether a ledger may be older than its anchor

    def meet(self, identity: str) -> None:
        """Begin the file where a ledger may be older than its anchor: not here."""

    def identity(self) -> str | None:
        """Return the identity of the anchor's ledger; none when there is no file.

        Raises:
            LedgerError: It is no file, or no anchor. Nothing was spent.
        """
        try:
            check_is_file(self.path, self.path.stat())
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

        Raises:
            LedgerError: It cannot be written, as where its folder is missing. Nothing
                was spent.
        """
        try:
            write_first(self.path, identity)
        except OSError as error:
            raise self._not_writable(error) from None
        sync_folder(self.path.parent)

    @property
    def highest(self) -> Mark | None:
        """The mark of the highest place that was read or written."""
        return self._highest

    def last(self, identity: str) -> Mark | None:
        """Return the whole mark of the highest place; none when there is none.

        Raises:
            LedgerError: The file is missing or is another ledger's. Nothing was spent.
        """
        self.open()
        self.news(identity)
        return self._highest

    def news(self, identity: str, known: Known = lambda *_: False) -> list[Mark]:
        """Return the marks that others made since the last look, in the file's order.

        At the first look it is the last mark, and the highest.

        Args:
            identity: Of the ledger.
            known: Whether an entry is at hand. Its mark has nothing to tell and is left
                out, unless it is the last.
        """
        file = self.open() if self._file is None else self._file
        if self._end is None:
            return self._first_look(file, identity)
        own = self._own
        data = _pread(file, _NEAR[0], self._end)
        if data == own:
            self._end, self._own = self._end + len(own), b""
            return []
        if not data and os.fstat(file).st_size < self._end:
            return self._first_look(file, identity)  # cut: that is all it says now
        return self._read_on(file, data, identity, known)

    def is_as_left(self) -> bool:
        """Return whether nothing stands behind the line that was added last."""
        file, end, own = self._file, self._end, self._own
        if file is None or end is None or _pread(file, len(own) + 1, end) != own:
            return False
        self._end, self._own = end + len(own), b""
        return bool(own)

    def agrees(self, known: Known) -> bool:
        """Return whether one look shows the last mark to be of an entry that is known.

        What it cannot show, `news` tells.
        """
        if self._file is None or self._end is None:
            return False
        data = _pread(self._file, _NEAR[0], self._end)
        last = data.rfind(b"\n")
        told = _BEGINNING.match(data, last + 1)
        if (
            told is None
            or last < 0
            or len(data) == _NEAR[0]
            or not known(*_entry(told))
        ):
            return False
        self._end, self._own = self._end + last, b""
        return True

    def _read_on(
        self, file: int, data: bytes, identity: str, known: Known
    ) -> list[Mark]:
        found: list[Mark] = []
        own, self._own = self._own.removeprefix(b"\n"), b""
        at = self._end or 0
        while data:
            *lines, last = data.split(b"\n")
            for line in lines:
                told = _BEGINNING.match(line)
                if line == own or (told and known(*_entry(told))):
                    continue
                if mark := _read(line, identity):
                    self._saw(mark)
                    found.append(mark)
            if mark := _read(last, identity):
                self._saw(mark)
                found += [] if last == own else [mark]
            # What ends in the middle of a line is being written, or torn.
            torn = 0 if mark else len(last) + 1
            if torn >= len(data):
                break
            at += len(data) - torn
            data = _pread(file, _NEAR[1], at) if len(data) >= _NEAR[0] else b""
        self._end = at
        return found

    def _saw(self, mark: Mark) -> None:
        if self._highest is None or mark.place >= self._highest.place:
            self._highest = mark

    def _first_look(self, file: int, identity: str) -> list[Mark]:
        size = os.fstat(file).st_size
        found: list[Mark] = []
        lines = [b""]
        for near in _NEAR:
            at = max(0, size - near)
            lines = _pread(file, size - at, at).split(b"\n")
            read = (_read(line, identity, whole=True) for line in lines)
            found = [mark for mark in read if mark]
            if found:
                break
        else:
            if self.identity() != identity:
                raise LedgerError(
                    N_("{path} is not the anchor of this ledger"),
                    hint=N_("give the anchor that belongs to the ledger"),
                    path=str(self.path),
                )
            found = self.marks(identity)
        torn = 0 if _read(lines[-1], identity) else len(lines[-1]) + 1
        self._end, self._own, self._highest = None, b"", None
        for mark in found:
            self._saw(mark)
        self._end = max(0, size - torn)  # last: who is interrupted looks anew
        return [m for m in (self._highest, *found[-1:]) if m]

    def marks(self, identity: str) -> list[Mark]:
        """Return every whole mark that is not late, oldest first."""
        found: list[Mark] = []
        for line in self.path.read_bytes().split(b"\n"):
            mark = _read(line, identity, whole=True)
            if mark and (not found or mark.place >= found[-1].place):
                found.append(mark)
        return found

    def append(self, mark: Mark, identity: str) -> None:
        """Add a mark. Called after the commit that it remembers."""
        file = self.open() if self._file is None else self._file
        line = mark.line or line_of(canonical(list(mark[:4])), identity)
        if os.write(file, line) != len(line):
            raise OSError(28, "short write")
        self._own = line  # it stands at the end, unless others were there before
        self._saw(mark)
        now = time.monotonic()
        if now - self._synced > _SYNC_EVERY:
            os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
            self._synced = now

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the right to make entries durable and to mark them: where no log does."""
        with turn(self.open()):
            yield

    def close(self) -> None:
        """Put the file on disk and close it; it is opened again when needed."""
        if self._file is not None:
            file, self._file, self._end, self._highest = self._file, None, None, None
            with suppress(OSError):
                os.fsync(file)
            os.close(file)

    def open(self) -> int:
        """Return the open file; open it anew when the path leads elsewhere now."""
        try:
            there = os.stat(self.path)  # noqa: PTH116  at each debit: quick
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
        same = there.st_dev, there.st_ino
        if self._file is not None and same != self._same:
            self.close()
        if self._file is None:
            check_is_file(self.path, there)
            flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            try:
                self._file = os.open(self.path, flags)
            except OSError as error:
                raise self._not_writable(error) from None
            found = os.fstat(self._file)
            self._same = found.st_dev, found.st_ino
        return self._file

    def _not_writable(self, error: OSError) -> LedgerError:
        return LedgerError(
            N_("the anchor {path} cannot be written: {reason}"),
            hint=N_("nothing was spent; whoever debits must write it as well"),
            path=str(self.path),
            reason=error.strerror,
        )


def _seek_and_read(file: int, size: int, at: int) -> bytes:
    os.lseek(file, at, os.SEEK_SET)
    return os.read(file, size)


_pread = getattr(os, "pread", _seek_and_read)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on disk, where the system can."""
    if os.name != "posix":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def write_first(path: Path, identity: str) -> None:
    """Write the first line of an anchor, durably."""
    first = canonical({"sfumato anchor of ledger": identity}) + "\n"
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        os.write(file, first.encode())
        os.fsync(file)
    finally:
        os.close(file)


def line_of(text: str, identity: str) -> bytes:
    """Return the line of a mark: canonical JSON and a checksum.

    A line break comes first: it ends a line that a power cut may have torn.
    """
    made = _EMPTY.copy()
    made.update(f"{identity} {text}".encode())
    return f"\n{text} {made.hexdigest()[:16]}".encode()


def _check(text: str, identity: str) -> str:
    return hashlib.sha256(f"{identity} {text}".encode()).hexdigest()[:16]


def _read(line: bytes, identity: str, *, whole: bool = False) -> Mark | None:
    """Return a mark, with the states if it is wanted whole; none of a torn line."""
    text, _, check = line.decode("ascii", "replace").rpartition(" ")
    if not text or check != _check(text, identity):
        return None
    if not whole and (told := _BEGINNING.match(line)):
        place, debits, head = _entry(told)
        return Mark(place, head, debits)
    place, head, debits, states = _parts(text)
    return Mark(place, head, debits, tuple(tuple(s) for s in states))


def _entry(told: re.Match[bytes]) -> tuple[int, int, str]:
    return int(told[1]), int(told[3]), told[2].decode()


def _parts(text: str) -> Any:
    return json.loads(text)
