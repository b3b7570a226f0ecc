"""The chain's links, checked: all of them by `verify`, the recent ones at each opening."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sfumato.errors import LedgerError
from sfumato.ledger.balances import Balance, Balances, replayed
from sfumato.ledger.chain import Entry, Tail, digest, genesis
from sfumato.ledger.schema import BUDGETS, ENTRIES
from sfumato.ledger.store import Database
from sfumato.words import N_

__all__ = ["check_recent", "fault_of", "faults_of_chain", "tampered"]

_RECENT = 2000  # entries checked at each opening: some 20 ms


def check_recent(db: Database, identity: str) -> None:
    """Refuse a ledger whose recent entries, or small whole, were changed.

    Raises:
        LedgerError: An entry or a balance is not what the chain says. Nothing was spent.
    """
    rows = db.rows(ENTRIES + " ORDER BY place DESC LIMIT ?", _RECENT + 1)
    entries = [Entry(*row) for row in reversed(rows)]
    whole = len(entries) <= _RECENT
    if whole:
        start = Tail(0, genesis(identity), 0)
    else:
        first = entries.pop(0)
        start = Tail(first.place, first.hash, first.debits)
    balances: Balances = {}
    faults = list(faults_of_chain(entries, start, balances if whole else None))
    if whole:
        faults += faults_of_balances(db, balances)
    for place, fault in faults[:1]:
        raise tampered(place, fault)


def tampered(place: str, fault: str) -> LedgerError:
    """Return the refusal of a ledger whose history was changed."""
    return LedgerError(
        N_("the ledger was tampered with: {place} {fault}"),
        hint=N_(
            "stop; keep the file as it is and run `sfumato ledger verify`; a "
            "ledger is never repaired"
        ),
        place=place,
        fault=fault,
    )


def faults_of_chain(
    entries: Iterable[Entry], start: Tail, balances: Balances | None
) -> Iterator[tuple[str, str]]:
    """Yield the place and the fault of every entry that does not follow.

    Args:
        entries: In the order of places.
        start: The end of the chain before them.
        balances: Those before them, changed in place; none to check the links only.
    """
    tail = start
    for entry in entries:
        fault = fault_of(entry, tail)
        if fault is None and balances is not None:
            fault = replayed(balances, entry.fields)
        if fault is not None:
            yield f"entry {entry.place}", fault
        tail = Tail(entry.place, entry.hash, entry.debits)


def faults_of_balances(db: Database, balances: Balances) -> Iterator[tuple[str, str]]:
    """Yield the budgets whose stored balance is not what the entries give."""
    stored = {(b := Balance(*row[1:])).key: b for row in db.rows(BUDGETS)}
    for key in sorted(stored.keys() | balances.keys()):
        if stored.get(key) != balances.get(key):
            yield (
                f"budget {'/'.join(filter(None, key))}",
                "is not what the entries give",
            )


def fault_of(entry: Entry, tail: Tail) -> str | None:
    """Return what is wrong with an entry that should follow, or none."""
    if digest(entry.body) != entry.hash:
        return N_("was changed: its hash does not fit")
    said = entry.fields
    columns = (entry.place, entry.kind, entry.dataset, entry.debits, entry.request)
    if columns != tuple(
        said.get(k) for k in ("place", "kind", "dataset", "debits", "request")
    ):
        return N_("was changed: its columns do not fit")
    if said.get("previous") != tail.head:
        return N_("does not follow the one before it")
    jump = entry.kind == "reconcile"  # it takes the place after all that was lost
    place, debits = entry.place - tail.place, entry.debits - tail.debits
    if place != 1 and not (jump and place > 1):
        return N_("does not have the next place")
    if debits != (entry.kind == "debit") and not (jump and debits >= 0):
        return N_("does not count the debits on")
    return None
