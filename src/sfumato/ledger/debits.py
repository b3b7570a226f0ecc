"""Debits and their answers: what a request becomes in one transaction.

States of a request: *debited* once the charge is durable, *answered* once the release
is stored. A debit whose answer was lost stays spent and is never answered again:
to draw noise twice under one charge would be to release twice for one price.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as _quote
from typing import Any, NamedTuple

from sfumato.errors import LedgerError, quoted
from sfumato.ledger.amounts import Amounts
from sfumato.ledger.budgets import Account, charge_all, read_account
from sfumato.ledger.chain import Entry, Tail, canonical, link
from sfumato.ledger.recent import tampered
from sfumato.ledger.running import Running
from sfumato.ledger.schema import ENTRIES
from sfumato.ledger.transaction import Transaction, now
from sfumato.words import N_

__all__ = ["Answer", "Order", "Paid", "Stored", "check_text", "read_order"]

_LONGEST = 200
_quickly = tuple.__new__  # of a named tuple: in a third of the time
_EARLIER = "SELECT 1 FROM entry WHERE dataset = ? AND request = ?"


class Paid(NamedTuple):
    """A debit that was just recorded, as its receipt will state it."""

    sequence: int
    head: str
    spent: int
    delta_spent: int
    time: str


@dataclass(frozen=True, slots=True)
class Stored:
    """An earlier debit of the same request, and its answer."""

    entry: Entry
    content: bytes


class Order(NamedTuple):
    """What a debit asks for."""

    dataset: str
    cost: Amounts
    plan: str
    limits: tuple[tuple[str, str], ...] = ()
    blocks: tuple[str, ...] = ()
    request: str | None = None
    descriptor: str = ""

    def is_same(self, other: Order) -> bool:
        """Return whether it is the same request, however its mechanisms are told."""
        return self[:-1] == other[:-1]

    def __call__(self, transaction: Transaction) -> Paid | Stored:
        """Charge, or find the answer of the same request.

        Raises:
            BudgetExceededError: A budget has too little left. Nothing was spent.
            LedgerError: The key belongs to another request, or its answer is not
                stored. Nothing more was spent.
        """
        if self.request is not None:
            earlier = self._earlier(transaction)
            if earlier is not None:
                return earlier
        return self._charge(transaction)

    def quick(
        self, running: Running, peek: Callable[..., list[Any]]
    ) -> tuple[Paid, bytes] | None:
        """Charge the running ledger; none if a transaction must decide."""
        dataset, cost, _, limits, blocks, request, _ = self
        if request is not None and (
            running.has_request(dataset, request) or peek(_EARLIER, dataset, request)
        ):
            return None
        changes = running.budgets.changes(dataset, cost, limits, blocks)
        if changes is None:
            return None
        _, spent, delta_spent, _, _ = changes[-1]
        time = now()
        body = self.body(running.tail, spent, delta_spent, time)
        heading = "debit", dataset, request, 0
        record = running.append(heading, body, changes=changes)
        told = record.debits, record.hash, spent, delta_spent, time
        return _quickly(Paid, told), record.bytes()

    def body(self, tail: Tail, spent: int, delta_spent: int, time: str) -> str:
        """Return the body of the entry that follows `tail`.

        It is the canonical JSON that `chain.link` makes, in a third of the time.

        Examples:
            >>> from sfumato.ledger.chain import genesis, link
            >>> tail = Tail(7, genesis("x"), 3)
            >>> order = Order("pima", Amounts("epsilon", 5), 'a "plan"')
            >>> said = order._said(9, 0, "2026-01-01T00:00:00+00:00")
            >>> order.body(tail, 9, 0, said["time"]) == link(
            ...     tail, "debit", "pima", said).body
            True
        """
        cost, request = self.cost, self.request
        blocks = canonical(self.blocks) if self.blocks else "[]"
        limits = canonical(self.limits) if self.limits else "[]"
        return (
            f'{{"blocks":{blocks},"dataset":{_quote(self.dataset)},'
            f'"debits":{tail.debits + 1},"delta_spent":{delta_spent},'
            f'"delta_units":{cost.delta_units},"descriptor":{_quote(self.descriptor)},'
            f'"kind":"debit","limits":{limits},"measure":"{cost.measure}",'
            f'"place":{tail.place + 1},"plan":{_quote(self.plan)},'
            f'"previous":"{tail.head}",'
            f'"request":{"null" if request is None else _quote(request)},'
            f'"spent":{spent},"time":"{time}","units":{cost.units}}}'
        )

    def _said(self, spent: int, delta_spent: int, time: str) -> dict[str, Any]:
        return {
            "measure": self.cost.measure,
            "units": self.cost.units,
            "delta_units": self.cost.delta_units,
            "plan": self.plan,
            "limits": self.limits,
            "blocks": self.blocks,
            "descriptor": self.descriptor,
            "spent": spent,
            "delta_spent": delta_spent,
            "time": time,
        }

    def _charge(self, transaction: Transaction) -> Paid:
        top = self._account(transaction, "dataset", "")
        limits = [self._account(transaction, *limit) for limit in self.limits]
        blocks = [self._account(transaction, "block", name) for name in self.blocks]
        spent, delta_spent = charge_all(transaction, self.cost, limits, blocks, top)
        time = now()
        said = self._said(spent, delta_spent, time)
        entry = transaction.append("debit", self.dataset, said, request=self.request)
        return Paid(entry.debits, entry.hash, spent, delta_spent, time)

    def _account(self, transaction: Transaction, kind: str, name: str) -> Account:
        account = read_account(transaction.db, self.dataset, kind, name)
        if account is None:
            raise LedgerError(
                N_("{dataset} has no {kind} {name}"),
                hint=N_("declare it when the ledger is opened; nothing was spent"),
                dataset=repr(self.dataset),
                kind=kind,
                name=repr(name),
            )
        if account.balance.measure != self.cost.measure:
            raise LedgerError(
                N_("the budget of {dataset} is kept in {recorded}, not in {measure}"),
                hint=N_("one budget has one currency; state the cost in it"),
                dataset=repr(self.dataset),
                recorded=account.balance.amounts(0, 0).word,
                measure=self.cost.word,
            )
        return account

    def _earlier(self, transaction: Transaction) -> Stored | None:
        rows = transaction.db.rows(
            ENTRIES + " WHERE dataset = ? AND request = ?", self.dataset, self.request
        )
        if not rows:
            return None
        entry = Entry(*rows[0])
        if not self.is_same(read_order(entry)):
            raise LedgerError(
                N_("the request key {key} was used for another request"),
                hint=N_("give every request a key of its own; nothing was spent"),
                key=repr(self.request),
            )
        content = transaction.db.rows(
            "SELECT content FROM answer WHERE debit = ?", entry.debits
        )
        if not content:
            raise LedgerError(
                N_("request {key} was charged, but its answer is not stored"),
                hint=N_(
                    "wait if it is still being answered; if its process ended, the "
                    "charge stands and is never answered: ask under a new key"
                ),
                key=repr(self.request),
            )
        return Stored(entry, _as_promised(transaction, entry, bytes(content[0][0])))


def _as_promised(transaction: Transaction, debit: Entry, content: bytes) -> bytes:
    """Return a stored answer whose hash stands in the chain.

    Raises:
        LedgerError: It was changed. Nothing more was spent.
    """
    found = transaction.db.rows(
        "SELECT body FROM entry WHERE kind = 'answer' AND place > ? AND body LIKE ?"
        " ORDER BY place LIMIT 1",
        debit.place, f'%"debit":{debit.debits},%',
    )  # fmt: skip
    promised = json.loads(found[0][0])["sha256"] if found else ""
    if hashlib.sha256(content).hexdigest() != promised:
        place = f"answer {debit.debits}"
        raise tampered(place, N_("was changed: its hash does not fit"))
    return content


def read_order(entry: Entry) -> Order:
    """Return what a debit's entry had asked for."""
    said = entry.fields
    return Order(
        dataset=entry.dataset,
        cost=Amounts(said["measure"], said["units"], said["delta_units"]),
        plan=said["plan"],
        limits=tuple((kind, name) for kind, name in said["limits"]),
        blocks=tuple(said["blocks"]),
        request=entry.request,
        descriptor=said["descriptor"],
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """What stores the release that a debit paid for."""

    dataset: str
    debit: int
    head: str
    content: bytes

    def __call__(self, transaction: Transaction) -> None:
        """Store it, once."""
        store_answer(transaction, self.dataset, self.debit, self.head, self.content)

    def quick(
        self, running: Running, _peek: Callable[..., list[Any]]
    ) -> tuple[None, bytes] | None:
        """Store it in the log; none if a transaction must decide."""
        if not running.awaits_answer(self.dataset, self.debit, self.head):
            return None
        said = _said_of(self.debit, self.content)
        entry = link(running.tail, "answer", self.dataset, said)
        heading = "answer", self.dataset, None, self.debit
        record = running.append(heading, entry.body, content=self.content)
        return None, record.bytes()


def store_answer(
    transaction: Transaction, dataset: str, debit: int, head: str, content: bytes
) -> None:
    """Store the release that a debit paid for, once.

    Raises:
        LedgerError: There is no such debit, or it has another answer.
    """
    rows = transaction.db.rows(
        "SELECT hash FROM entry WHERE kind = 'debit' AND debits = ? AND dataset = ?",
        debit, dataset,
    )  # fmt: skip
    if not rows or rows[0][0] != head:
        raise LedgerError(
            N_("the ledger has no debit {debit} as this receipt states it"),
            hint=N_("store an answer in the ledger that was debited"),
            debit=debit,
        )
    stored = transaction.db.rows("SELECT content FROM answer WHERE debit = ?", debit)
    if stored:
        if bytes(stored[0][0]) == content:
            return
        raise LedgerError(
            N_("debit {debit} was answered already, with another answer"),
            hint=N_("release only what is stored; one charge pays for one answer"),
            debit=debit,
        )
    transaction.db.rows("INSERT INTO answer VALUES (?, ?)", debit, content)
    transaction.append("answer", dataset, _said_of(debit, content))


def _said_of(debit: int, content: bytes) -> dict[str, Any]:
    return {
        "debit": debit,
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "time": now(),
    }


def check_text(what: str, text: object) -> str:
    """Return a name if every database can keep it as it is.

    Raises:
        LedgerError: It is empty, too long or holds control characters. Nothing was spent.
    """
    if not isinstance(text, str) or not text or len(text) > _LONGEST:
        raise _bad_text(what, text)
    if not text.isprintable():
        raise _bad_text(what, text)
    return text


def check_descriptor(text: str) -> str:
    """Return a descriptor if it is a JSON object or empty.

    Raises:
        LedgerError: It is neither. Nothing was spent.
    """
    try:
        whole = not text or isinstance(json.loads(text), dict)
    except ValueError:
        whole = False
    if not whole or not text.isascii():
        raise LedgerError(
            N_("a descriptor must be a JSON object in ASCII, got {text}"),
            hint=N_("write for example {example}"),
            text=quoted(text),
            example='{"version": 1, "mechanisms": []}',
        )
    return text


def names(texts: Sequence[str], what: str) -> tuple[str, ...]:
    """Return checked names, each once, in order."""
    return tuple(sorted({check_text(what, t) for t in texts}))


def _bad_text(what: str, text: object) -> LedgerError:
    return LedgerError(
        N_("{what} must be 1 to {longest} printable characters, got {text}"),
        hint=N_("choose a short name; nothing was spent"),
        what=what,
        longest=_LONGEST,
        text=quoted(text),
    )
