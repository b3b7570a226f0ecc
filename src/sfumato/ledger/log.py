"""The log: where a debit becomes durable by one write, before SQLite learns of it.

Beside the ledger lies a file of fixed length, written in full once so that a debit
changes neither its size nor its place on the disk: one write and one `fdatasync` then
make it durable. Records stand one behind the other from the first place on. When the
file is full, or somebody needs SQLite itself, the records are copied there in one
transaction and the next one begins at the first place again.

A record belongs to the log if it names the hash of the entry before it, beginning with
the last entry that SQLite holds. What is left over from earlier rounds, or torn by a
power cut, does not, and ends the log. Records that SQLite holds already, because
somebody died between copying and clearing, are passed over.

The header ends in a word that changes, under the log's turn, before and after each
change of SQLite; whoever remembers another word reads anew. Before, it says *busy*. Who
finds it so in his turn knows that a writer died in the middle, and that SQLite's journal
may hold a commit that nobody has seen and that the next recovery would bring to life:
he must commit something over it before the log may grow. The word need not be
durable: after a power cut nobody has read anything, and recovery comes first.

Behind the last record stands the word once more, with the place in the file where that
record begins. A record is written over it, and so is the new word when the word changes.
Hence whoever finds his word where he left it knows by one look that nobody has written,
neither a record nor SQLite; and whoever finds it farther on knows that only records were
added, and reads the last one: it states what all of them together made of the budgets.
Where he does not find it, he reads the header and what follows: a missing word says
nothing.
"""

from __future__ import annotations

import os
import re
import sys
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import sync_folder
from sfumato.ledger.chain import Tail
from sfumato.ledger.place import check_file
from sfumato.words import N_

if sys.platform != "win32":
    import fcntl

__all__ = [
    "CLOSED",
    "END",
    "FIRST",
    "LAST",
    "WORD",
    "Added",
    "Log",
    "Record",
    "flush",
    "start",
]

FIRST = 4096  # where the first record stands: the header has a page of its own
LENGTH = 512 * 1024
_MAGIC = b"sfumato log of ledger "
WORD = 16
_HEADER = len(_MAGIC) + 32 + 1 + WORD
_START = 8  # digits: where the last record begins
END = 1 + WORD + _START
LAST = FIRST + LENGTH - END  # where the last record must end
CLOSED = -1
_LINE = re.compile(
    rb"([0-9a-f]{8}) (\d{1,19}) (\d{1,19}) ([0-9a-f]{64}) (-|\+?[0-9:,]+|\+) (\d{1,19}) (-?\d{1,19})\n"
)
_NEWS = 1 << 13  # bytes that are read at first
_sync = getattr(os, "fdatasync", os.fsync)
_HAVE_ADVICE = hasattr(os, "posix_fadvise")


class Record(NamedTuple):
    """One entry in the log.

    Attributes:
        place: Its place in the chain.
        debits: Number of debits up to it.
        hash: SHA-256 of the body.
        effect: The budgets as they are after it: ``id:spent:delta:whole:delta_whole``,
            joined by commas. All that any record has changed since the log was begun;
            or, behind a ``+``, only those that it changed itself, where all are too many.
        body: Canonical JSON.
        content: The stored answer, of entries that store one.
    """

    place: int
    debits: int
    hash: str
    effect: str
    body: str
    content: bytes | None

    def follows(self, place: int, head: str) -> bool:
        """Return whether this is the entry after another one."""
        return self.place == place + 1 and f'"previous":"{head}"' in self.body

    def bytes(self) -> bytes:
        """Return the record as it stands in the file."""
        content, body = self.content, self.body
        size = -1 if content is None else len(content)
        rest = (
            f" {self.place} {self.debits} {self.hash} {self.effect or '-'}"
            f" {len(body)} {size}\n{body}"
        ).encode("ascii")
        if content:
            rest += content
        return f"{zlib.crc32(rest):08x}".encode("ascii") + rest


class Added(NamedTuple):
    """Records that others have added.

    Attributes:
        last: The last one.
        at: Where it ends.
        end: What stands there.
        bytes: All of them; none if nobody has added any.
    """

    last: Record
    at: int
    end: bytes
    bytes: bytes


_NOTHING = Added(Record(0, 0, "", "", "", None), 0, b"", b"")


class Log:
    """The file, by its path; it is opened when first needed."""

    def __init__(self, path: Path) -> None:
        """Name the file."""
        self.path = path
        self.file = CLOSED  # the open file; whoever reads a closed one gets an error
        self._same = (0, 0)

    def open(self, identity: str, *, create: bool = True) -> bool:
        """Open the file or create it; return whether it is open.

        Raises:
            LedgerError: It is no log, or another ledger's. Nothing was spent.
        """
        if self.file != CLOSED:
            return True
        if not create and not self.path.exists():
            return False
        if self.path.exists():
            check_file(self.path)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        file = os.open(self.path, flags, 0o600)
        try:
            self._begin_or_check(file, identity)
        except BaseException:
            os.close(file)
            raise
        found = os.fstat(file)
        self.file, self._same = file, (found.st_dev, found.st_ino)
        return True

    def close(self) -> None:
        """Close the file."""
        if self.file != CLOSED:
            file, self.file = self.file, CLOSED
            os.close(file)

    def is_in_place(self) -> bool:
        """Return whether the path still leads to the open file."""
        try:
            found = os.stat(self.path)  # noqa: PTH116  at each debit: quick
        except FileNotFoundError:
            return False
        return (found.st_dev, found.st_ino) == self._same

    def header(self) -> bytes:
        """Return the header, whose end changes before each change of SQLite."""
        return os.pread(self.file, _HEADER, 0)

    def renew(self, at: int, *, busy: bool) -> bytes:
        """Change the word: every process must read the ledger anew.

        Args:
            at: Where the last record ends.
            busy: SQLite is about to be changed; else it has been, or is as it was.
        """
        header = self.header()[:-WORD] + _new_word(busy=busy)
        self.write(self.end(header, 0), at)
        self.write(header, 0)
        return header

    @staticmethod
    def is_busy(header: bytes) -> bool:
        """Return whether a header says that SQLite is about to be changed."""
        return header.endswith(b"b")

    @staticmethod
    def end(header: bytes, last: int) -> bytes:
        """Return what stands behind the last record, which begins at `last`."""
        return b"\0%b%08d" % (header[-WORD:], last)

    def take_back(self, at: int, stop: int) -> None:
        """Remove what was written between two places and not made durable.

        Whoever has read it meanwhile reads anew: first his end goes, then the word, and
        the records last. So who is cut off between leaves them whole or unknown to all.
        """
        self.write(bytes(END), stop)
        header = self.header()[:-WORD] + _new_word(busy=False)
        self.write(header, 0)
        self.write(self.end(header, 0).ljust(stop - at, b"\0"), at)

    def clear(self) -> bytes:
        """Empty the log, as SQLite holds every record; return the new header."""
        return self.renew(FIRST, busy=False)

    def is_as_left(self, at: int, end: bytes) -> bool:
        """Return whether the end stands where somebody remembers it."""
        return os.pread(self.file, END, at) == end

    def has_end_behind(self, at: int, header: bytes) -> bool:
        """Return whether another end with this word stands behind the last record.

        A power cut leaves one where the disk had a later page but not those before.
        Whoever looks while the next record is written there could believe it.
        """
        word = b"\0" + header[-WORD:]
        return word in os.pread(self.file, FIRST + LENGTH, at + 1)

    def newest(self, at: int, header: bytes) -> Added | None:
        """Return what was added behind a place, if nothing but records was.

        Args:
            at: Where the last record ended.
            header: As it was then.

        Returns:
            None where it cannot be told by one look.
        """
        data = os.pread(self.file, _NEWS, at)
        stop = data.find(b"\0" + header[-WORD:])
        if stop == 0:
            return _NOTHING
        if stop < 0:
            return None
        last = data[stop + 1 + WORD : stop + END]
        found = _read(data, int(last) - at) if last.isdigit() else None
        if found is None or found[1] != stop:
            return None
        return Added(found[0], at + stop, data[stop : stop + END], data[:stop])

    def records(
        self, at: int, tail: Tail, *, passing: bool = False
    ) -> Iterator[tuple[Record | None, int]]:
        """Yield every record that follows an entry, and where the next one stands.

        Args:
            at: Where in the file to begin.
            tail: The entry before.
            passing: Pass over older records at the beginning; each is yielded as none.
        """
        data, start, size = os.pread(self.file, _NEWS, at), 0, _NEWS
        place, head = tail.place, tail.head
        passed: Record | None = None
        while data[start : start + 1] != b"\0":  # what was read may end with a record
            found = _read(data, start)
            if found is None and len(data) == size and size < FIRST + LENGTH:
                size = FIRST + LENGTH  # it may reach beyond what was read
                data, start, at = os.pread(self.file, size, at + start), 0, at + start
                continue
            if found is None:
                return
            record, start = found
            if record.follows(place, head):
                place, head, passing = record.place, record.hash, False
                yield record, at + start
            elif (
                passing
                and record.place <= place
                and (passed is None or record.follows(passed.place, passed.hash))
            ):
                passed = record
                yield None, at + start
            else:
                return

    def write(self, data: bytes, at: int) -> None:
        """Write records and the end behind them; not yet durable."""
        if os.pwrite(self.file, data, at) != len(data):
            raise OSError(28, "short write")

    def _begin_or_check(self, file: int, identity: str) -> None:
        wanted = _MAGIC + identity.encode() + b" "
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)  # one of those who open first fills it
        try:
            found = os.pread(file, _HEADER, 0)
            size = os.fstat(file).st_size
            if not found.strip(b"\0"):  # new, or its creator was cut off
                begun = wanted + _new_word(busy=False)
                os.pwrite(file, begun.ljust(FIRST + LENGTH, b"\0"), 0)
                size = 0
            elif found.startswith(wanted) and size < FIRST + LENGTH:
                # Cut: the anchor knows what is missing.
                os.pwrite(file, bytes(FIRST + LENGTH - size), size)
            if size < FIRST + LENGTH:
                os.fsync(file)
                sync_folder(self.path.parent)
            found = os.pread(file, _HEADER, 0)
        finally:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_UN)
        if not found.startswith(wanted) or len(found) != _HEADER:
            raise LedgerError(
                N_("{path} is not the log of this ledger"),
                hint=N_(
                    "put back the one that belongs to it; if its ledger is gone for "
                    "good, move the file away"
                ),
                path=str(self.path),
            )


def _new_word(*, busy: bool) -> bytes:
    return uuid.uuid4().hex[1:WORD].encode() + (b"b" if busy else b"0")


def start(file: int, at: int, end: int) -> None:
    """Let the disk begin with what was written between two places; `flush` waits for it.

    The advice that what was written is not needed again makes the system write it; it
    keeps pages of which only a part is named. It is advice: not to follow it is no error.
    """
    if _HAVE_ADVICE:
        try:
            os.posix_fadvise(file, at, end - at, os.POSIX_FADV_DONTNEED)
        except OSError:
            return


def flush(file: int) -> None:
    """Wait until what was written to an open file is on the disk."""
    if sys.platform == "darwin":
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)  # fsync alone does not reach the disk
    else:
        _sync(file)


def _read(data: bytes, start: int) -> tuple[Record, int] | None:
    """Return the record at `start` and where it ends; none if no whole one is there."""
    line = _LINE.match(data, start)
    if line is None:
        return None
    check, place, debits, head, effect, length, content = line.groups()
    body, size = line.end(), int(content)
    last = body + int(length)
    stop = last + max(size, 0)
    if len(data) < stop or int(check, 16) != zlib.crc32(data[start + 8 : stop]):
        return None
    try:
        text = data[body:last].decode("ascii")
    except UnicodeDecodeError:
        return None
    record = Record(
        int(place),
        int(debits),
        head.decode(),
        "" if effect == b"-" else effect.decode(),
        text,
        data[last:stop] if size >= 0 else None,
    )
    return record, stop
