"""Budgets in the database: opened once, charged under conditions, never lowered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger.amounts import Amounts
from sfumato.ledger.balances import Balance
from sfumato.ledger.schema import BUDGETS
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import Transaction, now
from sfumato.words import N_

__all__ = ["Account", "add_budget", "all_balances", "charge_all", "exceeded",
           "open_budget", "read_account"]  # fmt: skip

_OPEN = (
    "INSERT INTO budget (id, dataset, kind, name, label, measure, cap, delta_cap,"
    " spent, delta_spent, whole, delta_whole) VALUES"
    " ((SELECT coalesce(max(id), 0) + 1 FROM budget), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " RETURNING id"
)
_WHOLE = (
    "UPDATE budget SET spent = spent + ?, delta_spent = delta_spent + ?,"
    " whole = whole + ?, delta_whole = delta_whole + ?"
    " WHERE id = ? AND spent <= cap - ? AND delta_spent <= delta_cap - ?"
    " RETURNING spent, delta_spent"
)
_NAMED = (
    "UPDATE budget SET spent = spent + ?, delta_spent = delta_spent + ?"
    " WHERE id = ? AND spent <= cap - ? AND delta_spent <= delta_cap - ?"
    " RETURNING spent, delta_spent"
)
_RAISE = (
    "UPDATE budget SET"
    " spent = CASE WHEN whole + ? > spent THEN whole + ? ELSE spent END,"
    " delta_spent = CASE WHEN delta_whole + ? > delta_spent"
    " THEN delta_whole + ? ELSE delta_spent END"
    " WHERE id = ? AND whole <= cap - ? AND delta_whole <= delta_cap - ?"
    " RETURNING spent, delta_spent"
)


@dataclass(frozen=True, slots=True)
class Account:
    """A budget of the database, by its id."""

    id: int
    balance: Balance


def read_account(db: Database, dataset: str, kind: str, name: str) -> Account | None:
    """Return a budget as it is now; none when it was never opened."""
    rows = db.rows(
        BUDGETS + " WHERE dataset = ? AND kind = ? AND name = ?", dataset, kind, name
    )
    return Account(rows[0][0], Balance(*rows[0][1:])) if rows else None


def all_balances(db: Database) -> list[Balance]:
    """Return every budget in the order of opening."""
    return [Balance(*row[1:]) for row in db.rows(BUDGETS + " ORDER BY id")]


def open_budget(
    transaction: Transaction, wanted: Balance, said: Mapping[str, Any] | None = None
) -> int:
    """Open a budget, or find it as it is wanted; return its id.

    Args:
        transaction: Where.
        wanted: The budget.
        said: What the entry that opens it tells besides.

    Raises:
        LedgerError: It was opened with another cap or currency, or the data set is cut
            in another way. Nothing was spent.
    """
    db = transaction.db
    found = read_account(db, *wanted.key)
    if found is not None:
        _check_same(found.balance, wanted)
        return found.id
    if wanted.kind == "block":
        _check_label(db, wanted)
    made = add_budget(transaction, wanted)
    budget = {
        k: getattr(wanted, k)
        for k in ("kind", "name", "label", "measure", "cap", "delta_cap")
    }
    transaction.append(
        "open", wanted.dataset, {"budget": budget, "time": now(), **(said or {})}
    )
    return made


def add_budget(transaction: Transaction, balance: Balance) -> int:
    """Write the row of a new budget and return its id; the caller tells the chain."""
    ((made,),) = transaction.db.rows(_OPEN, *astuple(balance))
    transaction.touch(made)
    return int(made)


def charge_all(
    transaction: Transaction,
    cost: Amounts,
    limits: Sequence[Account],
    blocks: Sequence[Account],
    top: Account,
) -> tuple[int, int]:
    """Charge every budget of a debit, or raise; the caller undoes what was charged.

    Returns:
        What the data set has spent now, and its δ.

    Raises:
        BudgetExceededError: One of them has too little left.
    """
    units, delta = cost.units, cost.delta_units
    own = delta_own = 0
    for account in (*limits, *blocks):
        _check_fits(cost, account.balance, top.balance)
        spent, delta_spent = _one(
            transaction, account, cost, _NAMED, units, delta, account.id, units, delta
        )
        if account.balance.kind == "block":
            own, delta_own = max(own, spent), max(delta_own, delta_spent)
    _check_fits(cost, top.balance, top.balance)
    if blocks:
        return _one(
            transaction, top, cost, _RAISE,
            own, own, delta_own, delta_own, top.id, own, delta_own,
        )  # fmt: skip
    return _one(
        transaction, top, cost, _WHOLE,
        units, delta, units, delta, top.id, units, delta,
    )  # fmt: skip


def _one(
    transaction: Transaction, account: Account, cost: Amounts, sql: str, *values: int
) -> tuple[int, int]:
    rows = transaction.db.rows(sql, *values)
    if not rows:
        raise exceeded(cost, account.balance)
    transaction.touch(account.id)
    return rows[0][0], rows[0][1]


def _check_fits(cost: Amounts, balance: Balance, top: Balance) -> None:
    """Refuse what no statement could compare: amounts beyond the cap, 64 bit or not.

    It also makes the words fit: what is left to a block is less what all have spent.
    """
    if balance.kind == "block":
        shared = balance.amounts(top.whole, top.delta_whole)
        balance = balance.plus(shared)
    huge = cost.units > balance.cap or cost.delta_units > balance.delta_cap
    if huge or (balance.kind == "block" and not balance.plus(cost).fits):
        raise exceeded(cost, balance)


def exceeded(cost: Amounts, balance: Balance) -> BudgetExceededError:
    """Say what was asked of a budget, and what is left of it."""
    left = balance.amounts(
        balance.cap - balance.spent, balance.delta_cap - balance.delta_spent
    )
    cap = balance.amounts(balance.cap, balance.delta_cap)
    hint = N_("ask for at most what is left, or ask the data owner for another budget")
    if balance.kind == "dataset":
        return BudgetExceededError(
            N_("{measure} {cost} was asked, {left} of {cap} is left"),
            hint=hint,
            measure=cost.word,
            cost=cost,
            left=left,
            cap=cap,
        )
    return BudgetExceededError(
        N_("{measure} {cost} was asked, {left} of {cap} is left to {kind} {name}"),
        hint=hint,
        measure=cost.word,
        cost=cost,
        left=left,
        cap=cap,
        kind=balance.kind,
        name=repr(balance.name),
    )


def _check_same(found: Balance, wanted: Balance) -> None:
    if (found.measure, found.cap, found.delta_cap, found.label) != (
        wanted.measure, wanted.cap, wanted.delta_cap, wanted.label,
    ):  # fmt: skip
        raise LedgerError(
            N_("the ledger records a budget of {recorded} for {dataset}, not {cap}"),
            hint=N_("a cap is final: give the recorded one"),
            recorded=_words(found, wanted),
            dataset=repr(wanted.name or wanted.dataset),
            cap=_words(wanted, found),
        )


def _words(balance: Balance, other: Balance) -> str:
    text = str(balance.amounts(balance.cap, balance.delta_cap))
    if balance.measure != other.measure:
        text = f"{balance.amounts(0, 0).word} {text}"
    if balance.label != other.label:
        text = f"{text} ({balance.label})"
    return text


def _check_label(db: Database, wanted: Balance) -> None:
    """Keep one way of cutting per data set: blocks of two ways overlap."""
    rows = db.rows(
        "SELECT label FROM budget WHERE dataset = ? AND kind = 'block' AND label <> ?",
        wanted.dataset, wanted.label,
    )  # fmt: skip
    if rows:
        raise LedgerError(
            N_("{dataset} is cut into blocks by {label}, not by {other}"),
            hint=N_("blocks of two kinds overlap: keep to one, or name no blocks"),
            dataset=repr(wanted.dataset),
            label=repr(rows[0][0]),
            other=repr(wanted.label),
        )
