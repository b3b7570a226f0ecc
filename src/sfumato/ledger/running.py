"""The ledger as it runs: what the next debit must know, in memory.

It is read once from SQLite and the log, and follows the log from then on. It only says
yes: a debit that it cannot plainly accept, for whatever reason, is left to the
transaction, which decides again and finds the words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from sfumato.ledger.amounts import Amounts
from sfumato.ledger.anchor import Mark, State, line_of
from sfumato.ledger.balances import Balance, Balances, Key, replayed
from sfumato.ledger.chain import Entry, Tail, canonical, digest
from sfumato.ledger.log import FIRST, Log, Record
from sfumato.ledger.recent import fault_of, tampered
from sfumato.ledger.schema import BUDGETS
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import read_tail
from sfumato.words import N_

__all__ = ["Running", "Standing", "read_running"]

_LATELY = 200  # own records after another process was last seen to write

Change: TypeAlias = "tuple[Standing, int, int, int, int]"
Heading: TypeAlias = "tuple[str, str, str | None, int]"
"""Kind, data set and request of an entry, and the debit that an answer answers."""


class Standing:
    """A budget of the running ledger; the amounts change in place."""

    __slots__ = ("budget", "cap", "delta", "delta_cap", "delta_whole", "id", "is_block",
                 "measure", "opening", "spent", "whole")  # fmt: skip

    def __init__(self, row: Sequence[Any]) -> None:
        """Begin as the row of the table says."""
        self.id: int = row[0]
        self.budget = Balance(*row[1:])
        self.spent, self.delta = self.budget.spent, self.budget.delta_spent
        self.whole, self.delta_whole = self.budget.whole, self.budget.delta_whole
        self.measure, self.is_block = self.budget.measure, self.budget.kind == "block"
        self.cap, self.delta_cap = self.budget.cap, self.budget.delta_cap
        self.opening = canonical(list(row[1:8]))[:-1]

    def text(self) -> str:
        """Return `state` as canonical JSON."""
        return (
            f"{self.opening},{self.spent},{self.delta},{self.whole},{self.delta_whole}]"
        )

    def state(self) -> State:
        """Return the budget as it is now."""
        b = self.budget
        return (
            b.dataset, b.kind, b.name, b.label, b.measure, b.cap, b.delta_cap,
            self.spent, self.delta, self.whole, self.delta_whole,
        )  # fmt: skip


class Running:
    """The end of the chain and every balance, with all records that SQLite lacks."""

    def __init__(
        self, tail: Tail, rows: Iterable[Sequence[Any]], header: bytes
    ) -> None:
        """Begin where SQLite ends."""
        self.tail = self.base = tail
        self._set(header)
        self.company = 0  # above 0: another process has written lately
        self.records: list[Record] = []
        self._headings: list[Heading | None] = []
        self._standings: dict[Key, Standing] = {}
        self._by_id: dict[int, Standing] = {}
        for row in rows:
            standing = Standing(row)
            self._by_id[standing.id] = standing
            self._standings[standing.budget.key] = standing
        self._unmarked: dict[int, int] = {}  # where budgets changed that it lacks
        self._marked = tail.place  # how far the anchor knows
        self._indexed = 0
        self._requests: set[tuple[str, str]] = set()
        self._debits: dict[int, tuple[str, str]] = {}
        self._answered: set[int] = set()

    def _set(self, header: bytes) -> None:
        self.header, self.at = header, FIRST
        self.end, self.busy = Log.end(header), Log.is_busy(header)

    def top(self, dataset: str) -> Balance | None:
        """Return the budget of a data set as it is now."""
        found = self._standings.get((dataset, "dataset", ""))
        return Balance(*found.state()) if found else None

    def balances(self) -> Balances:
        """Return every budget as it is now."""
        return {k: Balance(*s.state()) for k, s in self._standings.items()}

    # -- what a debit and an answer ask -------------------------------------------

    def changes(
        self,
        dataset: str,
        cost: Amounts,
        limits: Sequence[tuple[str, str]],
        blocks: Sequence[str],
    ) -> list[Change] | None:
        """Return what a debit makes of each budget, the data set's last.

        The rule is that of `balances.charge`; none where it must be refused.
        """
        units, delta, measure = cost.units, cost.delta_units, cost.measure
        top = self._standings.get((dataset, "dataset", ""))
        if top is None or top.measure != measure:
            return None
        found: list[Change] = []
        if blocks or limits:
            found = self._parts(dataset, cost, limits, blocks)
            if not found:
                return None
        whole, delta_whole = top.whole, top.delta_whole
        if blocks:
            own = max(spent for part, spent, _, _, _ in found if part.is_block)
            own_delta = max(delta for part, _, delta, _, _ in found if part.is_block)
            spent = max(top.spent, whole + own)
            delta_spent = max(top.delta, delta_whole + own_delta)
        else:
            spent, delta_spent = top.spent + units, top.delta + delta
            whole, delta_whole = whole + units, delta_whole + delta
        if spent > top.cap or delta_spent > top.delta_cap:
            return None
        found.append((top, spent, delta_spent, whole, delta_whole))
        return found

    def _parts(
        self,
        dataset: str,
        cost: Amounts,
        limits: Sequence[tuple[str, str]],
        blocks: Sequence[str],
    ) -> list[Change]:
        """Return what a debit makes of limits and blocks; nothing if one is refused."""
        found: list[Change] = []
        keys = [(dataset, *limit) for limit in limits]
        keys += [(dataset, "block", name) for name in blocks]
        for key in keys:
            part = self._standings.get(key)
            if part is None or part.measure != cost.measure:
                return []
            spent, delta = part.spent + cost.units, part.delta + cost.delta_units
            if spent > part.cap or delta > part.delta_cap:
                return []
            found.append((part, spent, delta, part.whole, part.delta_whole))
        return found

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
        if heading[0] == "debit":
            debits += 1
        effects = []
        for standing, spent, delta, whole, delta_whole in changes:
            standing.spent, standing.delta = spent, delta
            standing.whole, standing.delta_whole = whole, delta_whole
            self._unmarked[standing.id] = place + 1
            effects.append(f"{standing.id}:{spent}:{delta}:{whole}:{delta_whole}")
        effect = ",".join(effects)
        record = Record(place + 1, debits, digest(body), effect, body, content)
        self._add(record, heading)
        if self.company:
            self.company -= 1
        return record

    def follow(self, found: Iterable[tuple[Record | None, int]]) -> None:
        """Take over records of other processes."""
        for record, at in found:
            if record is None:
                continue
            self.company = _LATELY
            for part in record.effect.split(",") if record.effect else ():
                id_, spent, delta, whole, delta_whole = map(int, part.split(":"))
                standing = self._by_id[id_]
                standing.spent, standing.delta = spent, delta
                standing.whole, standing.delta_whole = whole, delta_whole
                self._unmarked[id_] = record.place
            self._add(record, None)
            self.at = at

    def mark(self, identity: str) -> Mark:
        """Return what the anchor must remember beyond what it knows, as its line."""
        tail, by_id = self.tail, self._by_id
        states = ",".join([by_id[i].text() for i in sorted(self._unmarked)])
        text = f'[{tail.place},"{tail.head}",{tail.debits},[{states}]]'
        line = line_of(text, identity)
        return Mark(tail.place, tail.head, tail.debits, line=line)

    def marked(self, place: int) -> None:
        """Note how far the anchor knows."""
        self._marked = max(self._marked, place)
        if place >= self.tail.place:
            self._unmarked.clear()
        elif self._unmarked:
            self._unmarked = {i: p for i, p in self._unmarked.items() if p > place}

    def hash_at(self, place: int) -> str | None:
        """Return the hash of an entry in the log or just before it, else none."""
        at = place - self.base.place - 1
        if at == -1:
            return self.base.head
        return self.records[at].hash if 0 <= at < len(self.records) else None

    def _add(self, record: Record, heading: Heading | None) -> None:
        self.records.append(record)
        self._headings.append(heading)
        self.tail = Tail(record.place, record.hash, record.debits)

    def _heading(self, at: int) -> Heading:
        found = self._headings[at]
        if found is None:
            said = json.loads(self.records[at].body)
            found = self._headings[at] = (
                said["kind"], said["dataset"], said["request"], said.get("debit", 0)
            )  # fmt: skip
        return found

    def _index(self) -> None:
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
    def unmarked(self) -> frozenset[int]:
        """Ids of the budgets whose change the anchor may not know."""
        return frozenset(self._unmarked)

    @property
    def is_marked(self) -> bool:
        """Whether the anchor knows every record."""
        return self._marked >= self.tail.place

    def copy_to(self, db: Database) -> None:
        """Write the records and their balances into a transaction of SQLite."""
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
        db.add(
            "INSERT INTO entry (place, kind, dataset, debits, request, body, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            entries,
        )
        db.add("INSERT INTO answer VALUES (?, ?)", answers)
        parts = {p for r in self.records if r.effect for p in r.effect.split(",")}
        for id_ in sorted({int(part.partition(":")[0]) for part in parts}):
            s = self._by_id[id_]
            db.rows(
                "UPDATE budget SET spent = ?, delta_spent = ?, whole = ?,"
                " delta_whole = ? WHERE id = ?",
                s.spent, s.delta, s.whole, s.delta_whole, id_,
            )  # fmt: skip

    def settled(self, header: bytes) -> None:
        """Go on after the records were committed to SQLite: the log is empty again."""
        self._set(header)
        self.base = self.tail
        self.records.clear()
        self._headings.clear()
        self._debits.clear()
        self._requests.clear()
        self._answered.clear()
        self._unmarked.clear()
        self._marked = self.tail.place
        self._indexed = 0


def read_running(db: Database, log: Log) -> Running:
    """Read the ledger: SQLite, then every record that follows, each one checked.

    Raises:
        LedgerError: A record was changed. Nothing was spent.
    """
    tail = read_tail(db)
    running = Running(tail, db.rows(BUDGETS), log.header())
    balances = running.balances()
    for record, at in log.records(FIRST, tail, passing=True):
        if record is None:
            running.at = at
            continue
        if digest(record.body) != record.hash:
            raise tampered(
                f"entry {record.place}", N_("was changed: its hash does not fit")
            )
        said = json.loads(record.body)
        entry = Entry(
            record.place, said.get("kind", ""), said.get("dataset", ""),
            record.debits, said.get("request"), record.body, record.hash,
        )  # fmt: skip
        fault = fault_of(entry, running.tail) or replayed(balances, said)
        if record.content is not None and fault is None:
            same = hashlib.sha256(record.content).hexdigest() == said.get("sha256")
            fault = None if same else N_("was changed: its hash does not fit")
        if fault is None:
            try:
                running.follow([(record, at)])
            except (KeyError, ValueError):
                fault = N_("cannot be read")
        if fault is not None:
            raise tampered(f"entry {record.place}", fault)
    if running.balances() != balances:
        raise tampered("log", N_("states another balance than its history gives"))
    return running
