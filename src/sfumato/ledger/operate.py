"""What an operator does with a ledger: look, verify, export, reconcile.

The command line speaks these functions' results; they print nothing themselves. None
of them creates a ledger, and none repairs one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.balances import Balance, Balances
from sfumato.ledger.budgets import all_balances
from sfumato.ledger.chain import Entry, Tail, canonical, genesis
from sfumato.ledger.recent import faults_of_balances, faults_of_chain
from sfumato.ledger.schema import ENTRIES
from sfumato.ledger.sharing import writer_of
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import read_tail
from sfumato.ledger.witness import holds
from sfumato.release import Receipt
from sfumato.words import N_, translate

__all__ = ["Finding", "Mechanisms", "Overview", "Verdict", "descriptors", "export",
           "read_mechanisms", "show", "verify"]  # fmt: skip

Where: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True, slots=True)
class Overview:
    """A ledger at a glance.

    Attributes:
        identity: The name it was given when it was created.
        entries: Place of the last entry.
        head: Its hash; publish it, and nobody can rewrite what came before.
        debits: How many debits there are.
        answers: How many of them have a stored answer.
        budgets: All budgets in the order of opening.
        anchored: Place that the anchor remembers; none without an anchor.
    """

    identity: str
    entries: int
    head: str
    debits: int
    answers: int
    budgets: tuple[Balance, ...]
    anchored: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a ledger.

    Attributes:
        where: The part, such as ``"entry 12"``.
        fact: What is wrong, in English; `say` translates it.
    """

    where: str
    fact: str

    def say(self, lang: str = "en") -> str:
        """Return the finding in a language."""
        return f"{self.where}: {translate(self.fact, lang)}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a verification.

    Attributes:
        entries: Place of the last entry.
        head: Its hash.
        findings: All that is wrong; empty for a sound ledger.
    """

    entries: int
    head: str
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What a debit paid for, as its plan described it.

    Attributes:
        dataset: Whose budget paid.
        debit: Number of the debit; 0 for what was lost with a restored backup beyond
            the caps, which the budgets cannot hold.
        measure: The currency.
        units: The charge, in 1e-12.
        delta_units: The δ of it, in 1e-18.
        blocks: The blocks it touched; empty for all.
        descriptor: The JSON object given at the debit; empty text for none.
    """

    dataset: str
    debit: int
    measure: str
    units: int
    delta_units: int
    blocks: tuple[str, ...]
    descriptor: str


def show(path: Where, *, anchor: Where | None = None) -> Overview:
    """Return the budgets and the state of a ledger; also of one behind its anchor.

    Raises:
        LedgerError: There is no ledger, or it is damaged.
    """

    def read(db: Database, identity: str, witness: Anchor | None) -> Overview:
        mark = witness.last(identity) if witness and witness.path.exists() else None
        tail = read_tail(db)
        ((answers,),) = db.rows("SELECT count(*) FROM answer")
        return Overview(
            identity,
            tail.place,
            tail.head,
            tail.debits,
            answers,
            tuple(all_balances(db)),
            mark.place if mark else None,
        )

    return writer_of(path, anchor).inspect(read)


def verify(
    path: Where, *, anchor: Where | None = None, receipt: Receipt | None = None
) -> Verdict:
    """Recompute every hash and every balance, and compare with file and anchor.

    Args:
        path: The ledger.
        anchor: Its anchor, unless it lies beside the ledger.
        receipt: A receipt that must be in the ledger, from a release somebody holds.
    """
    writer = writer_of(path, anchor, lenient=True)
    findings: list[Finding] = []
    tail = Tail(0, "", 0)

    def read(db: Database, identity: str, witness: Anchor | None) -> Tail:
        balances: Balances = {}
        faults = [
            *faults_of_chain(_entries(db), Tail(0, genesis(identity), 0), balances),
            *faults_of_balances(db, balances),
            *_faults_of_answers(db),
            *_faults_of_receipt(db, receipt),
        ]
        findings.extend(Finding(*fault) for fault in faults)
        end = read_tail(db)
        findings.extend(Finding(*f) for f in _faults_of_anchor(db, identity, witness))
        return end

    try:
        findings += [Finding("database", w) for w in writer.examine()]
        tail = writer.inspect(read)
    except LedgerError as error:
        findings.append(Finding("ledger", error.fact))
    return Verdict(tail.place, tail.head, tuple(findings))


def export(path: Where, *, anchor: Where | None = None) -> Iterator[str]:
    """Yield one JSON line per entry: ``{"body": …, "hash": …}``.

    ``hash`` is SHA-256 of the body's canonical JSON (keys sorted, no blanks, ASCII),
    and ``body.previous`` is the hash of the line before: a stranger needs nothing else.
    """

    def read(db: Database, _identity: str, _anchor: Anchor | None) -> list[str]:
        return [
            canonical({"body": entry.fields, "hash": entry.hash})
            for entry in _entries(db)
        ]

    yield from writer_of(path, anchor).inspect(read)


def descriptors(
    path: Where, *, dataset: str | None = None, anchor: Where | None = None
) -> tuple[Mechanisms, ...]:
    """Return what every debit paid for, oldest first."""

    def read(
        db: Database, _identity: str, _anchor: Anchor | None
    ) -> tuple[Mechanisms, ...]:
        return read_mechanisms(db, dataset)

    return writer_of(path, anchor).inspect(read)


def read_mechanisms(db: Database, dataset: str | None) -> tuple[Mechanisms, ...]:
    """Return what every debit, or every one of a data set, paid for, oldest first."""
    found = (m for e in _entries(db) for m in _paid_by(e))
    return tuple(m for m in found if dataset is None or m.dataset == dataset)


def _paid_by(entry: Entry) -> Iterator[Mechanisms]:
    if entry.kind == "debit":
        yield _mechanisms(entry)
    elif entry.kind == "reconcile":
        for name, block, measure, units, delta in entry.fields.get("beyond", ()):
            blocks = (block,) if block else ()
            yield Mechanisms(name, 0, measure, units, delta, blocks, "")


def _mechanisms(entry: Entry) -> Mechanisms:
    said = entry.fields
    return Mechanisms(
        entry.dataset,
        entry.debits,
        said["measure"],
        said["units"],
        said["delta_units"],
        tuple(said["blocks"]),
        said["descriptor"],
    )


def _entries(db: Database) -> Iterator[Entry]:
    last = 0
    while rows := db.rows(ENTRIES + " WHERE place > ? ORDER BY place LIMIT 1000", last):
        yield from (Entry(*row) for row in rows)
        last = rows[-1][0]


def _faults_of_answers(db: Database) -> Iterator[tuple[str, str]]:
    promised = {}
    for (body,) in db.rows("SELECT body FROM entry WHERE kind = 'answer'"):
        said = json.loads(body)
        promised[said["debit"]] = said["sha256"]
    stored = {debit for (debit,) in db.rows("SELECT debit FROM answer")}
    for debit in sorted(stored | promised.keys()):
        where = f"answer {debit}"
        if debit not in stored:
            yield where, N_("is missing")
        elif debit not in promised:
            yield where, N_("has no entry in the chain")
        else:
            ((text,),) = db.rows("SELECT content FROM answer WHERE debit = ?", debit)
            if hashlib.sha256(bytes(text)).hexdigest() != promised[debit]:
                yield where, N_("was changed: its hash does not fit")


def _faults_of_receipt(
    db: Database, receipt: Receipt | None
) -> Iterator[tuple[str, str]]:
    if receipt is None:
        return
    rows = db.rows(
        "SELECT dataset, hash FROM entry WHERE kind = 'debit' AND debits = ?",
        receipt.sequence,
    )
    if not rows or tuple(rows[0]) != (receipt.dataset, receipt.head):
        yield f"receipt {receipt.sequence}", N_("is not in this ledger")


def _faults_of_anchor(
    db: Database, identity: str, anchor: Anchor | None
) -> Iterator[tuple[str, str]]:
    """Compare every mark; those of a lost branch are excused by its reconciliation."""
    if anchor is None or (anchor.begins_late and not anchor.path.exists()):
        return
    if anchor.identity() != identity:
        yield "anchor", N_("is missing or belongs to another ledger")
        return
    tail = read_tail(db)
    marks = anchor.marks(identity)
    excused = 0
    for (body,) in db.rows("SELECT body FROM entry WHERE kind = 'reconcile'"):
        excused = max(excused, json.loads(body)["anchored"])
    for mark in marks:
        if mark.place > tail.place:
            yield f"anchor at entry {mark.place}", N_("is ahead: the end is missing")
            return
        if mark.place > excused and not holds(db, tail, mark):
            yield f"anchor at entry {mark.place}", N_("names another entry")
            return
