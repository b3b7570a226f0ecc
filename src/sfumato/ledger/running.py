"""The ledger as it runs: what the next debit must know, in memory.

It is read once from SQLite and the log, and follows the log from then on. It only says
yes: a debit that it cannot plainly accept, for whatever reason, is left to the
transaction, which decides again and finds the words.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

from sfumato.ledger.anchor import Mark, line_of
from sfumato.ledger.balances import Balance, Balances, replayed
from sfumato.ledger.chain import Entry, Tail, digest
from sfumato.ledger.log import FIRST, WORD, Added, Log, Record
from sfumato.ledger.recent import fault_of, tampered
from sfumato.ledger.schema import BUDGETS
from sfumato.ledger.standing import Change, Standings
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import read_tail
from sfumato.words import N_

__all__ = ["Running", "read_running"]

_LATELY = 200  # own records after another process was last seen to write
_KEPT = 32  # groups of records, passed over, that are kept as bytes
_quickly = tuple.__new__  # of a named tuple: in a third of the time

Heading: TypeAlias = "tuple[str, str, str | None, int]"
"""Kind, data set and request of an entry, and the debit that an answer answers."""


class Running:
    """The end of the chain and every balance, with all records that SQLite lacks.

    Records of other processes are passed over by `jump`, as the last one says what all
    of them have made of the budgets. They are read, and their links checked, when
    somebody asks for what only they can say: all of it in the log's turn.
    """

    def __init__(
        self,
        tail: Tail,
        rows: Iterable[Sequence[Any]],
        header: bytes,
        log: Log | None = None,
    ) -> None:
        """Begin where SQLite ends."""
        self.tail = self.base = tail
        self._log = log
        self._set(header)
        self.company = 0  # above 0: another process has written lately
        self.records: list[Record] = []
        self.headings: list[Heading | None] = []
        self._gap: tuple[int, Tail] | None = None  # where they end, before others'
        self._passed: deque[bytes] = deque(maxlen=_KEPT)
        self._jumped = tail  # the last record of others; behind it stand one's own
        self._own: list[tuple[Record, Heading | None]] = []
        self.budgets = Standings(rows)
        self._marked = tail.place  # how far the anchor knows
        self._indexed = 0
        self._requests: set[tuple[str, str]] = set()
        self._debits: dict[int, tuple[str, str]] = {}
        self._answered: set[int] = set()

    def _set(self, header: bytes) -> None:
        self.header, self.at = header, FIRST
        self.end, self.busy = Log.end(header, 0), Log.is_busy(header)
        self._word = header[-WORD:].decode("latin-1")

    def renewed(self, header: bytes) -> None:
        """Go on under another word, which stands behind the last record now."""
        at = self.at
        self._set(header)
        self.at = at

    def top(self, dataset: str) -> Balance | None:
        """Return the budget of a data set as it is now."""
        return self.budgets.top(dataset)

    # -- what a debit and an answer ask -------------------------------------------

    def has_request(self, dataset: str, request: str) -> bool:
        """Return whether a record of the log has this key."""
        self._index()
        return (dataset, request) in self._requests

    def awaits_answer(self, dataset: str, debit: int, head: str) -> bool:
        """Return whether the log has this debit, and no answer to it."""
        self._index()
        return (
            self._debits.get(debit) == (dataset, head) and debit not in self._answered
        )

    # -- how it goes on ------------------------------------------------------------

    def append(
        self,
        heading: Heading,
        body: str,
        *,
        changes: Sequence[Change] = (),
        content: bytes | None = None,
    ) -> Record:
        """Add an entry; the caller writes its record, or forgets all of this."""
        place, _, debits = self.tail
        place += 1
        if heading[0] == "debit":
            debits += 1
        head = sha256(body.encode("ascii")).hexdigest()
        effect = self.budgets.change(changes, place)
        record = _quickly(Record, (place, debits, head, effect, body, content))
        self.tail = _quickly(Tail, (place, head, debits))
        if self._gap is None:
            self.records.append(record)
            self.headings.append(heading)
        else:
            self._own.append((record, heading))
        if self.company:
            self.company -= 1
        return record

    def wrote(self, at: int, last: int) -> None:
        """Note where the records end and where the last of them begins."""
        self.at, self.end = at, f"\0{self._word}{last:08d}".encode("latin-1")

    def follow(self, found: Iterable[tuple[Record | None, int]]) -> None:
        """Take over records of other processes, one by one."""
        for record, at in found:
            self.wrote(at, self.at)
            if record is None:
                continue
            self.company = _LATELY
            self.budgets.take(record.effect, record.place)
            self.tail = Tail(record.place, record.hash, record.debits)
            if self._gap is None:
                self._keep(record, None)
            else:
                self._own.append((record, None))

    def jump(self, added: Added) -> bool:
        """Take over records of other processes by the last one; false if it cannot say."""
        last = added.last
        if not added.bytes:
            return True
        if last.effect[:1] == "+" or last.place <= self.tail.place:
            return False
        if f'"previous":"{self.tail.head}"'.encode() not in added.bytes:
            return False  # they do not follow what is known here
        if self._gap is None:
            self._gap = self.at, self.tail
        self.company = _LATELY
        self.budgets.take(last.effect, last.place)
        self._passed.extend(_said(record) for record, _ in self._own)
        self._passed.append(added.bytes)
        self._own.clear()
        self.tail = self._jumped = Tail(last.place, last.hash, last.debits)
        self.at, self.end = added.at, added.end
        return True

    def fill(self) -> None:
        """Read the records that were passed over. The log's turn is held.

        Raises:
            LedgerError: They do not lead to the last one.
        """
        if self._gap is None or self._log is None:
            return
        at, tail = self._gap
        for record, _ in self._log.records(at, tail):
            if record is not None:
                tail = self._keep(record, None)
            if tail == self._jumped:
                break
        else:
            raise tampered(f"entry {tail.place + 1}", N_("cannot be read"))
        for record, heading in self._own:
            self._keep(record, heading)
        self._forget_gap()

    def mark(self, identity: str) -> Mark:
        """Return what the anchor must remember beyond what it knows, as its line.

        It is taken as remembered from now on; who cannot write it reads all anew.
        """
        budgets, (place, head, debits) = self.budgets, self.tail
        sole = budgets.sole if len(budgets.lacking) == 1 else None
        states = sole.text() if sole else budgets.text()
        text = f'[{place},"{head}",{debits},[{states}]]'
        self._marked = place
        budgets.lacking.clear()
        return _quickly(Mark, (place, head, debits, (), line_of(text, identity)))

    def marked(self, place: int) -> None:
        """Note how far the anchor knows."""
        self._marked = max(self._marked, place)
        self.budgets.marked(place, self.tail.place)

    def knows(self, place: int, debits: int, head: str) -> bool:
        """Return whether the log, or the entry before it, is known to be this one.

        Of records that were passed over only the latest are known.
        """
        at = place - self.base.place - 1
        if at == -1:
            return self.base.head == head
        if 0 <= at < len(self.records):
            return self.records[at].hash == head
        if self._gap is None:
            return False
        at = place - self._jumped.place - 1
        if at >= 0:
            return at < len(self._own) and self._own[at][0].hash == head
        said = f" {place} {debits} {head} ".encode()
        return any(said in passed for passed in reversed(self._passed))

    def _keep(self, record: Record, heading: Heading | None) -> Tail:
        self.records.append(record)
        self.headings.append(heading)
        return Tail(record.place, record.hash, record.debits)

    def _heading(self, at: int) -> Heading:
        found = self.headings[at]
        if found is None:
            said = json.loads(self.records[at].body)
            found = self.headings[at] = (
                said["kind"], said["dataset"], said["request"], said.get("debit", 0)
            )  # fmt: skip
        return found

    def _index(self) -> None:
        self.fill()
        for at in range(self._indexed, len(self.records)):
            record = self.records[at]
            kind, dataset, request, debit = self._heading(at)
            if kind == "debit":
                self._debits[record.debits] = dataset, record.hash
                if request is not None:
                    self._requests.add((dataset, request))
            else:
                self._answered.add(debit)
        self._indexed = len(self.records)

    # -- how it reaches SQLite -----------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether SQLite lacks nothing."""
        return self.tail == self.base

    @property
    def is_marked(self) -> bool:
        """Whether the anchor knows every record."""
        return self._marked >= self.tail.place

    def copy_to(self, db: Database) -> None:
        """Write the records and their balances into a transaction of SQLite.

        Raises:
            LedgerError: Some of them cannot be read.
        """
        self.fill()
        entries: list[tuple[object, ...]] = []
        answers: list[tuple[object, ...]] = []
        for at, record in enumerate(self.records):
            kind, dataset, request, debit = self._heading(at)
            entries.append(
                (record.place, kind, dataset, record.debits, request, record.body,
                 record.hash)
            )  # fmt: skip
            if record.content is not None:
                answers.append((debit, record.content))
        db.add("entry (place, kind, dataset, debits, request, body, hash)", entries)
        db.add("answer (debit, content)", answers)
        self.budgets.copy_to(db)

    def settled(self, header: bytes) -> None:
        """Go on after the records were committed to SQLite: the log is empty again."""
        self._set(header)
        self.base = self.tail
        self.records.clear()
        self.headings.clear()
        self._forget_gap()
        self.budgets.settled()
        self._debits.clear()
        self._requests.clear()
        self._answered.clear()
        self._marked = self.tail.place
        self._indexed = 0

    def _forget_gap(self) -> None:
        self._gap = None
        self._passed.clear()
        self._own.clear()


def _said(record: Record) -> bytes:
    """Return a record as its first line has it."""
    return f" {record.place} {record.debits} {record.hash} ".encode()


def read_running(db: Database, log: Log, *, again: bool = False) -> Running:
    """Read the ledger: SQLite, then every record that follows, each one checked.

    Args:
        db: A transaction.
        log: What it does not have yet.
        again: The records were checked when the ledger was opened, or are of processes
            that did so: pass them over where that is possible.

    Raises:
        LedgerError: A record was changed. Nothing was spent.
    """
    tail = read_tail(db)
    running = Running(tail, db.rows(BUDGETS), log.header(), log)
    if again and not running.busy:
        added = log.newest(FIRST, running.header)
        if added and running.jump(added):
            return running
    balances = running.budgets.balances()
    for record, at in log.records(FIRST, tail, passing=True):
        if record is None:
            running.follow([(record, at)])
            continue
        fault = _fault(record, running.tail, balances)
        if fault is None:
            try:
                running.follow([(record, at)])
            except (KeyError, ValueError):
                fault = N_("cannot be read")
        if fault is not None:
            raise tampered(f"entry {record.place}", fault)
    if running.budgets.balances() != balances:
        raise tampered("log", N_("states another balance than its history gives"))
    return running


def _fault(record: Record, tail: Tail, balances: Balances) -> str | None:
    """Return what is wrong with a record that should follow, or none."""
    if digest(record.body) != record.hash:
        return N_("was changed: its hash does not fit")
    said = json.loads(record.body)
    entry = Entry(
        record.place, said.get("kind", ""), said.get("dataset", ""),
        record.debits, said.get("request"), record.body, record.hash,
    )  # fmt: skip
    fault = fault_of(entry, tail) or replayed(balances, said)
    if record.content is not None and fault is None:
        same = sha256(record.content).hexdigest() == said.get("sha256")
        fault = None if same else N_("was changed: its hash does not fit")
    return fault
