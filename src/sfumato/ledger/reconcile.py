"""After a restored backup: what was lost stays spent.

Restoring a backup forgets debits whose answers people have read. The anchor remembers
what the budgets had spent; reconciling adds that to the ledger. It can only add.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial

from sfumato.errors import LedgerError
from sfumato.ledger.anchor import Anchor, Mark
from sfumato.ledger.balances import Balance, Balances, raised
from sfumato.ledger.budgets import add_budget, all_balances, read_account
from sfumato.ledger.chain import Tail, link
from sfumato.ledger.debits import check_text
from sfumato.ledger.sharing import writer_of
from sfumato.ledger.transaction import Transaction, now
from sfumato.ledger.witness import holds
from sfumato.words import N_

__all__ = ["Reconciled", "reconcile"]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a reconciliation recorded.

    Attributes:
        lost: Entries that the ledger lacked, as far as the anchor knows.
        before: The budgets that changed, as they were.
        after: The same budgets now; a cap that the lost debits exceed is fully spent.
        changed: False when ledger and anchor agreed and nothing was written.
    """

    lost: int
    before: tuple[Balance, ...]
    after: tuple[Balance, ...]
    changed: bool


def reconcile(
    path: str | os.PathLike[str],
    *,
    operator: str,
    anchor: str | os.PathLike[str] | None = None,
) -> Reconciled:
    """Bring a ledger up to its anchor: what the anchor knows as spent, is spent.

    Args:
        path: The ledger; if it is lost, it is begun anew from its anchor.
        operator: Who takes responsibility; it is written into the chain.
        anchor: Its anchor, unless it lies beside the ledger. A lost anchor begins
            anew, and then nothing is known of lost debits.

    Raises:
        LedgerError: The ledger is damaged, or the anchor belongs to another one.
    """
    check_text("the name of an operator", operator)
    return writer_of(path, anchor).repair(partial(_reconcile, operator=operator))


def _reconcile(
    transaction: Transaction, identity: str, anchor: Anchor | None, *, operator: str
) -> Reconciled:
    db, tail = transaction.db, transaction.tail
    known = anchor.identity() if anchor else None
    if known is not None and known != identity:
        raise LedgerError(
            N_("the anchor belongs to another ledger"),
            hint=N_("give the anchor that belongs to the ledger"),
        )
    marks = anchor.marks(identity) if anchor and known else []
    common = _common(transaction, marks)
    if common == len(marks) and (known is not None or not tail.place):
        return Reconciled(0, (), (), changed=False)
    seen, last = marks[:common], marks[-1] if marks else Mark(0, "", 0)
    before = {b.key: b for b in all_balances(db)}
    true = _raise(before, _states(seen), _states(marks[common:]))
    after = {key: _capped(balance) for key, balance in true.items()}
    changed = {k: b for k, b in after.items() if before.get(k) != b}
    for balance in changed.values():
        _write(transaction, balance)
    for balance in after.values():  # a new anchor must know every budget
        account = read_account(db, *balance.key)
        if account:
            transaction.touch(account.id)
    said = {
        "operator": operator,
        "time": now(),
        "anchored": last.place,
        "anchor_head": last.head,
        "after": [astuple(b) for b in changed.values()],
        "beyond": _beyond(true, after),
    }
    # It takes the place after all that was lost: no place is used twice.
    end = Tail(max(tail.place, last.place), tail.head, max(tail.debits, last.debits))
    transaction.store(link(end, "reconcile", "", said))
    start = seen[-1].place if seen else 0
    return Reconciled(
        last.place - start if marks else 0,
        tuple(before[k] for k in changed if k in before),
        tuple(changed.values()),
        changed=True,
    )


def _common(transaction: Transaction, marks: Sequence[Mark]) -> int:
    """Return how many marks, from the first, end at one that the chain holds."""
    for i in range(len(marks), 0, -1):
        mark = marks[i - 1]
        if mark.place <= transaction.tail.place and holds(
            transaction.db, transaction.tail, mark
        ):
            return i
    return 0


def _states(marks: Sequence[Mark]) -> Balances:
    return {(b := Balance(*state)).key: b for mark in marks for state in mark.states}


def _raise(before: Balances, seen: Balances, lost: Balances) -> Balances:
    """Add to each budget what the lost part of the history had spent on it.

    If the ledger went on after the loss, both branches were released: they add up.
    """
    after = dict(before)
    for key, end in lost.items():
        start = seen.get(
            key, replace(end, spent=0, delta_spent=0, whole=0, delta_whole=0)
        )
        now_ = before.get(key, start)
        after[key] = replace(
            now_,
            spent=now_.spent + end.spent - start.spent,
            delta_spent=now_.delta_spent + end.delta_spent - start.delta_spent,
            whole=now_.whole + end.whole - start.whole,
            delta_whole=now_.delta_whole + end.delta_whole - start.delta_whole,
        )
    for key, top in after.items():
        if top.kind == "dataset":
            blocks = [
                b for b in after.values() if (b.dataset, b.kind) == (key[0], "block")
            ]
            after[key] = raised(top, blocks)
    return after


def _beyond(true: Balances, after: Balances) -> list[tuple[str, str, str, int, int]]:
    """Return what was lost beyond the caps, of data sets as a whole and of blocks.

    The budgets cannot hold it; a report of all that was spent must not forget it.
    """
    found = []
    for key, balance in true.items():
        kept = after[key]
        if balance.kind == "dataset":
            units = balance.whole - kept.whole
            delta = balance.delta_whole - kept.delta_whole
        else:
            units = balance.spent - kept.spent
            delta = balance.delta_spent - kept.delta_spent
        if balance.kind in ("dataset", "block") and (units or delta):
            found.append((balance.dataset, balance.name, balance.measure, units, delta))
    return found


def _capped(balance: Balance) -> Balance:
    spent = min(balance.spent, balance.cap)
    delta = min(balance.delta_spent, balance.delta_cap)
    return replace(
        balance,
        spent=spent,
        delta_spent=delta,
        whole=min(balance.whole, spent),
        delta_whole=min(balance.delta_whole, delta),
    )


def _write(transaction: Transaction, balance: Balance) -> None:
    found = read_account(transaction.db, *balance.key)
    amounts = balance.spent, balance.delta_spent, balance.whole, balance.delta_whole
    if found:
        transaction.db.rows(
            "UPDATE budget SET spent = ?, delta_spent = ?, whole = ?, delta_whole = ?"
            " WHERE id = ?",
            *amounts, found.id,
        )  # fmt: skip
        return
    add_budget(transaction, balance)
