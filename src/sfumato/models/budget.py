"""The budget that estimators pay from: one, however often it is copied."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, final

from sfumato.account import (
    GDP,
    ZCDP,
    ApproxDP,
    Budget,
    Epsilon,
    Loss,
    Measure,
    loss_text,
)
from sfumato.amount import Amount
from sfumato.declare.unit import PrivacyUnit, Rows, Unit, terms_of
from sfumato.errors import DeclarationError, LedgerError, quoted
from sfumato.ledger import Declared, Ledger, Limit
from sfumato.models.price import Price
from sfumato.release import Receipt
from sfumato.session import Session
from sfumato.words import N_

__all__ = ["ModelBudget", "read_budget"]


@final
class ModelBudget:
    """The budget of one dataset, from which every fit of every copy is paid.

    scikit-learn copies estimators when it clones them, cuts folds or sends work to
    threads and processes. A copy of this object is the object itself; in another
    process it opens the same ledger file, so that five folds at ε = 0.5 cost 2.5
    wherever they run.

    Args:
        budget: The whole budget: ``sf.Epsilon("1")``, ``sf.ZCDP("0.1")`` or
            ``sf.ApproxDP("1", "1e-6")``; a number counts as a pure ε.
        dataset: Name of the dataset whose budget it is.
        ledger: Path of the ledger file or ``postgresql://…``. Without it the budget
            lives in this process only, and cannot be sent to another one.
        limits: Caps of an analyst or a project below the dataset's.
        anchor: Where the ledger's anchor lies; default beside the ledger.
        declared: The unit that is protected, such as ``sf.Unit("patient_id",
            max_rows=3, max_groups=1)``, which the ledger records when the budget is
            opened. Default what the ledger records; of a new file, rows that are added
            or removed; in memory, whatever the first fit protects. A fit that protects
            something else is refused.

    Raises:
        DeclarationError: The budget is not usable, or what is declared is no unit.
        LedgerError: The ledger cannot be used, or records another cap or unit.

    Examples:
        >>> import copy
        >>> budget = ModelBudget("1", dataset="demo")
        >>> copy.deepcopy(budget) is budget, budget.left
        (True, Epsilon("1"))
    """

    def __init__(
        self,
        budget: Budget | Amount,
        *,
        dataset: str = "data",
        ledger: str | os.PathLike[str] | None = None,
        limits: Sequence[Limit] = (),
        anchor: str | os.PathLike[str] | None = None,
        declared: Declared | PrivacyUnit | None = None,
    ) -> None:
        """Open or create the ledger; spends nothing."""
        told = _read_unit(declared, kept=ledger is not None)
        known = isinstance(budget, ZCDP | GDP | ApproxDP)
        self._whole: Budget = budget if known else Epsilon(budget)  # type: ignore[assignment, arg-type]
        self._said = (budget, dataset, ledger, tuple(limits), anchor, declared)
        self._ledger: Ledger[Loss] = Ledger(
            ledger, dataset=dataset, cap=self._whole.cap, limits=limits, anchor=anchor,
            declared=told,
        )  # fmt: skip
        self._about, self._turn = self._ledger.unit, threading.Lock()

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self._ledger.dataset

    @property
    def measure(self) -> Measure:
        """The currency of all charges."""
        return self._whole.measure

    @property
    def spent(self) -> Loss:
        """What is spent so far, by every process on this ledger."""
        return self._ledger.spent

    @property
    def left(self) -> Loss:
        """What can still be spent."""
        return self._ledger.left

    def check(self, price: Price) -> None:
        """Refuse a promise about other neighbours than the budget's.

        Where nobody has said what those are, the first promise does.

        Raises:
            DeclarationError: The budget is about another unit. Nothing was spent.
        """
        with self._turn:
            self._about = self._about or ", ".join(price.about)
        _check_unit(self._about, price)

    def pay(self, loss: Loss, *, plan: str, descriptor: str = "") -> Receipt:
        """Record a charge durably, or refuse and change nothing.

        Raises:
            BudgetExceededError: Less than `loss` is left. Nothing was spent.
            LedgerError: The ledger cannot be written. Nothing was spent.
        """
        return self._ledger.debit(loss, plan=plan, descriptor=descriptor)

    def __repr__(self) -> str:
        """Show the budget and its dataset; reads no ledger."""
        return f"<ModelBudget {loss_text(self._ledger.cap)} of {self.dataset}>"

    def __copy__(self) -> ModelBudget:
        """Share the one budget."""
        return self

    def __deepcopy__(self, memo: object) -> ModelBudget:
        """Share the one budget."""
        return self

    def __sklearn_clone__(self) -> ModelBudget:
        """Share the one budget."""
        return self

    def __reduce__(self) -> Any:
        """Reopen the same ledger in another process; refuse where there is none."""
        if self._said[2] is None:
            raise LedgerError(
                N_("a budget in memory cannot be sent to another process"),
                hint=N_('keep it in a file: ModelBudget("1", ledger="budget.ledger")'),
            )
        return _reopen, self._said


def _reopen(
    budget: Budget | Amount,
    dataset: str,
    ledger: str | os.PathLike[str],
    limits: Sequence[Limit],
    anchor: str | os.PathLike[str] | None,
    declared: Declared | PrivacyUnit | None,
) -> ModelBudget:
    return ModelBudget(
        budget, dataset=dataset, ledger=ledger, limits=limits, anchor=anchor,
        declared=declared,
    )  # fmt: skip


@final
class _SessionBudget:
    """The budget of a session, seen as one that models pay from."""

    def __init__(self, session: Session) -> None:
        self._ledger, self.measure = session.ledger, session.budget.measure
        self._unit = terms_of(session.dataset.schema.unit)

    def check(self, price: Price) -> None:
        _check_unit(self._unit, price)

    def pay(self, loss: Loss, *, plan: str, descriptor: str = "") -> Receipt:
        return self._ledger.debit(loss, plan=plan, descriptor=descriptor)


def _read_unit(declared: object, *, kept: bool) -> Declared | None:
    match declared:
        case None:
            return Declared(terms_of(Rows()), assumed=True) if kept else None
        case Declared():
            return declared
        case Rows() | Unit():
            return Declared(terms_of(declared))
        case _:
            raise DeclarationError(
                N_("the unit of a budget is Rows() or Unit(…), got {value}"),
                hint=N_(
                    'write declared=sf.Unit("patient_id", max_rows=3, max_groups=1)'
                ),
                value=quoted(declared),
            )


def _check_unit(terms: str, price: Price) -> None:
    """Refuse to add a loss about some neighbours to losses about others.

    Theorem. Losses add up where they are about the same neighbours (basic composition).
    An ε per row bounds nothing about a person with several, and under add/remove one
    replaced unit is two changes.
    """
    name, neighbours = terms.split(maxsplit=1)[0].rstrip(","), terms.rpartition(", ")[2]
    own, other = price.about
    if (name, neighbours) != (own, other):
        raise DeclarationError(
            N_("the budget protects a {unit} ({relation}), this fit a {own} ({other})"),
            hint=N_(
                "persons are protected by privacy_ids=… and rows_per_person=…, the "
                "relation is neighbours=…; or pay from a budget of that unit"
            ),
            unit=name,
            relation=neighbours,
            own=own,
            other=other,
        )


def read_budget(value: object) -> ModelBudget | _SessionBudget:
    """Return what pays for a fit.

    Raises:
        DeclarationError: Nothing was given that can pay. Nothing was spent.
    """
    if isinstance(value, ModelBudget):
        return value
    if isinstance(value, Session):
        return _SessionBudget(value)
    raise DeclarationError(
        N_("a fit must be paid from a budget, got {value}"),
        hint=N_('pass budget=ModelBudget("1", dataset="patients"), or a Session'),
        value=type(value).__name__,
    )
