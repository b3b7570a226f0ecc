"""The front door: the budget of one dataset, in a file, a database or in memory.

Debit first, durable before noise, refund never. One place may hold the budgets of
several datasets and be shared by threads and processes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, NoReturn, TypeVar, final, overload

from sfumato.errors import LedgerError
from sfumato.ledger.amounts import Amounts, Loss, loss_of, read_cap, read_cost, text_of
from sfumato.ledger.balances import Balance
from sfumato.ledger.budgets import (
    all_balances,
    exceeded,
    open_budget,
)
from sfumato.ledger.chain import Entry
from sfumato.ledger.debits import (
    Answer,
    Order,
    Paid,
    Stored,
    check_descriptor,
    check_text,
    names,
)
from sfumato.ledger.declared import Declared, check_declared, record_tables
from sfumato.ledger.operate import Mechanisms, read_mechanisms
from sfumato.ledger.sharing import writer_of
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import Transaction
from sfumato.release import Receipt
from sfumato.release.once import grant
from sfumato.words import N_

__all__ = ["Answered", "Blocks", "Ledger", "Limit"]

L = TypeVar("L", bound=Loss)


@final
@dataclass(frozen=True, slots=True)
class Limit:
    """A cap of one analyst or project below the dataset's cap.

    The dataset's cap is the guarantee: it holds also against analysts who pool what
    they were told. The limits only share it out, so their sum may exceed it.

    Attributes:
        kind: ``"analyst"`` or ``"project"``.
        name: Whose limit it is.
        cap: The most that debits under this name may spend.
    """

    kind: Literal["analyst", "project"]
    name: str
    cap: Loss


@final
@dataclass(frozen=True, slots=True)
class Blocks:
    """Disjoint parts of a dataset, whose losses stand beside each other.

    Every protected unit must lie in one block: persons, if one person has rows in one
    block only; person-periods, if blocks are periods. A debit that names blocks is
    charged to each of them, and the dataset has spent what its largest block has.
    Under replace-one neighbours a replacement must stay in its block.

    Attributes:
        label: How the dataset is cut, such as ``"quarter of visit"``. One dataset is
            cut in one way only.
        names: The blocks. Further ones may be declared later; they begin with what
            was spent on the dataset as a whole.
    """

    label: str
    names: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """The stored answer to a request that was made before under the same key.

    Attributes:
        receipt: The debit that paid for it. It pays for nothing else.
        content: The stored release, byte for byte.
    """

    receipt: Receipt
    content: bytes


@final
class Ledger(Generic[L]):
    """The record of what one dataset has spent.

    Args:
        path: The SQLite file, created when absent; or ``"postgresql://…"``; none keeps
            the ledger in memory, for as long as this object and this process live.
        dataset: The dataset whose budget this is.
        cap: The whole budget. It is fixed when the budget is first opened, and so is
            its currency.
        limits: Limits that every debit through this object is charged to as well.
        blocks: The disjoint parts that debits may name.
        anchor: File that remembers how far the ledger had come; default beside the
            ledger, of a database among this user's states. Kept on another disk it
            also survives that disk's restore.
        declared: The unit of the losses, and the dataset's other private tables, which
            its budget pays for. It is kept when the budget is first opened.

    Attributes:
        unit: The unit of the losses, as the ledger records it; none where it records
            none.

    Raises:
        LedgerError: The file is no ledger, is damaged, cannot be written, is behind its
            anchor, records another cap or unit for the dataset, or has a budget of one
            of its tables. Nothing was spent.
        DeclarationError: The cap does not fit 64-bit integers.

    Examples:
        >>> from sfumato.account import Epsilon
        >>> ledger = Ledger(None, dataset="pima", cap=Epsilon("0.3"))
        >>> [ledger.debit(Epsilon("0.1"), plan="p").sequence for _ in range(3)]
        [1, 2, 3]
        >>> ledger.debit(Epsilon("0.1"), plan="p")
        Traceback (most recent call last):
        sfumato.errors.BudgetExceededError: [SF201] epsilon 0.1 was asked, 0 of 0.3 is left
          hint: ask for at most what is left, or ask the data owner for another budget
    """

    def __init__(  # noqa: PLR0913  all but the first three are options
        self,
        path: str | os.PathLike[str] | None,
        *,
        dataset: str,
        cap: L,
        limits: Sequence[Limit] = (),
        blocks: Blocks | None = None,
        anchor: str | os.PathLike[str] | None = None,
        declared: Declared | None = None,
    ) -> None:
        """Open or create the ledger and the budgets; spends nothing."""
        self.dataset, self.cap = check_text("the name of a dataset", dataset), cap
        self._cap = str(cap)
        wanted = _wanted(dataset, read_cap(cap), limits, blocks)
        self._limits = tuple(sorted({(x.kind, x.name) for x in limits}))
        self._writer = writer_of(path, anchor)

        def open_all(transaction: Transaction) -> str | None:
            unit = check_declared(transaction.db, dataset, declared)
            for budget in wanted:
                told = declared if budget.kind == "dataset" else None
                open_budget(transaction, budget, told.said() if told else None)
            record_tables(transaction, dataset, declared)
            return unit

        self.unit: Final = self._writer.submit(open_all)

    @property
    def spent(self) -> L:
        """All that was spent so far, by every process; with blocks, on the largest."""
        top = self._top()
        return loss_of(self.cap, top.spent, top.delta_spent)

    @property
    def left(self) -> L:
        """What can still be spent on all rows."""
        top = self._top()
        return loss_of(self.cap, top.cap - top.spent, top.delta_cap - top.delta_spent)

    @property
    def place(self) -> tuple[object, str]:
        """What tells budgets apart: ledgers of one place and dataset have one together."""
        return self._writer, self.dataset

    @property
    def limits(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of the limits that every debit is charged to as well."""
        return self._limits

    def check(self, cost: Loss) -> None:
        """Refuse what is more than is left now, of a limit too; spends nothing.

        Raises:
            BudgetExceededError: Less than `cost` is left. Nothing was spent.
        """
        asked, held = read_cost(cost), {b.key: b for b in self.balances()}
        for kind, name in (*self._limits, ("dataset", "")):
            balance = held[self.dataset, kind, name]
            if not balance.plus(asked).fits:
                raise exceeded(asked, balance)

    def balances(self) -> tuple[Balance, ...]:
        """Return the dataset's budget and its limits and blocks, as whole units."""

        def read(db: Database) -> tuple[Balance, ...]:
            return tuple(b for b in all_balances(db) if b.dataset == self.dataset)

        return self._writer.look(read)

    def mechanisms(self) -> tuple[Mechanisms, ...]:
        """Return what every debit of the dataset paid for, oldest first."""
        return self._writer.look(lambda db: read_mechanisms(db, self.dataset))

    @overload
    def debit(
        self,
        cost: Loss,
        *,
        plan: str,
        request_key: None = None,
        blocks: Sequence[str] = (),
        descriptor: str = "",
    ) -> Receipt: ...

    @overload
    def debit(
        self,
        cost: Loss,
        *,
        plan: str,
        request_key: str,
        blocks: Sequence[str] = (),
        descriptor: str = "",
    ) -> Receipt | Answered: ...

    def debit(
        self,
        cost: Loss,
        *,
        plan: str,
        request_key: str | None = None,
        blocks: Sequence[str] = (),
        descriptor: str = "",
    ) -> Receipt | Answered:
        """Record `cost` durably, or refuse and change nothing.

        Args:
            cost: The loss to record, in the currency of the budget.
            plan: Digest of the plan that it pays for.
            request_key: Names the request, so that asking again after a lost
                connection is not charged again: the stored answer comes back. Keys are
                compared within the dataset.
            blocks: The blocks that the plan touches; none means all, future ones too.
            descriptor: JSON object that describes the plan's mechanisms, kept for
                later reports.

        Returns:
            The receipt of a new debit; or, for a key that was answered, the answer.

        Raises:
            BudgetExceededError: Less than `cost` is left. Nothing was spent.
            LedgerError: The ledger cannot be written; or the key belongs to another
                request; or its answer was lost. Nothing more was spent, except where
                the text says that the charge stands. Nothing may be released.
        """
        if request_key is not None:
            check_text("a request key", request_key)
        order = Order(
            self.dataset,
            read_cost(cost),
            check_text("the digest of a plan", plan),
            self._limits,
            names(blocks, "the name of a block") if blocks else (),
            request_key,
            check_descriptor(descriptor) if descriptor else "",
        )
        return self._writer.submit(order, self._paid)

    def _paid(self, order: Order, done: Paid | Stored) -> Receipt | Answered:
        if isinstance(done, Stored):
            return Answered(self._receipt(done.entry), done.content)
        receipt = Receipt(
            self.dataset,
            done.sequence,
            text_of(order.cost.units, order.cost.delta_units),
            text_of(done.spent, done.delta_spent),
            self._cap,
            order.plan,
            done.time,
            done.head,
        )
        return grant(receipt)

    def answer(self, receipt: Receipt, content: bytes) -> None:
        """Store the release that a debit paid for; do it before anybody sees it.

        Args:
            receipt: The debit, as `debit` returned it.
            content: The release, such as its JSON. The same bytes may be stored again.

        Raises:
            LedgerError: The ledger cannot be written, has no such debit, or holds
                another answer to it. The charge stands; do not release.
        """
        if not isinstance(content, bytes):
            raise LedgerError(
                N_("an answer is stored as bytes, got {kind}"),
                hint=N_("encode its JSON: release.to_json().encode()"),
                kind=type(content).__name__,
            )

        self._writer.submit(
            Answer(self.dataset, receipt.sequence, receipt.head, content)
        )

    def __copy__(self) -> Ledger[L]:
        """Share the one ledger."""
        return self

    def __deepcopy__(self, memo: object) -> Ledger[L]:
        """Share the one ledger."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse pickling: another process opens the file itself."""
        raise LedgerError(
            N_("a ledger cannot be pickled"),
            hint=N_("open a session in the other process with the same ledger file"),
        )

    def _top(self) -> Balance:
        found = self._writer.top(self.dataset)
        if found is None:
            raise LedgerError(
                N_("the ledger has no budget of {dataset} any more"),
                hint=N_("another file was put in its place; put it back"),
                dataset=repr(self.dataset),
            )
        return found

    def _receipt(self, entry: Entry) -> Receipt:
        said = entry.fields
        return Receipt(
            dataset=self.dataset,
            sequence=entry.debits,
            cost=text_of(said["units"], said["delta_units"]),
            spent=text_of(said["spent"], said["delta_spent"]),
            cap=self._cap,
            plan=said["plan"],
            time=said["time"],
            head=entry.hash,
        )


def _wanted(
    dataset: str, cap: Amounts, limits: Sequence[Limit], blocks: Blocks | None
) -> list[Balance]:
    """Return the budgets that a ledger object needs to be open."""

    def budget(kind: str, name: str, label: str, most: Amounts) -> Balance:
        if most.measure != cap.measure:
            raise LedgerError(
                N_("the budget is in {measure}, its limits in {other}"),
                hint=N_("state every limit in the currency of the dataset's budget"),
                measure=cap.word,
                other=most.word,
            )
        return Balance(
            dataset, kind, name, label, most.measure, most.units, most.delta_units
        )

    wanted = [budget("dataset", "", "", cap)]
    for limit in limits:
        if limit.kind not in ("analyst", "project"):
            raise LedgerError(
                N_("a limit is of an analyst or a project, not of {kind}"),
                hint=N_('write Limit("analyst", name, cap)'),
                kind=repr(limit.kind),
            )
        name = check_text("the name of a limit", limit.name)
        wanted.append(budget(limit.kind, name, "", read_cap(limit.cap)))
    if blocks:
        label = check_text("the label of blocks", blocks.label)
        parts = names(blocks.names, "the name of a block")
        wanted += [budget("block", name, label, cap) for name in parts]
    return wanted
