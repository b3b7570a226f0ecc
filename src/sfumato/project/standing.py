"""What is left to spend, and whether it pays: the ledger is looked at, never opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from sfumato.account import GDP, Loss
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import Balance, Ledger, Limit, show
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.witness import NewLedger
from sfumato.project.address import refuse_unset
from sfumato.project.load import Asked, Project, total_cost
from sfumato.words import N_

__all__ = ["CURRENCY", "Standing", "afford", "standing", "whole"]

_NONE = "there is no ledger at "
CURRENCY = {"epsilon": "epsilon", "zcdp": "rho", "gdp": "Gaussian rho"}


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """What can still be spent.

    Attributes:
        left: Of the dataset's budget.
        limits: For each limit of the project, what is left of it.
    """

    left: Loss
    limits: tuple[tuple[Limit, Loss], ...] = ()


def whole(project: Project) -> Standing:
    """Return the standing before anything was spent."""
    return Standing(project.budget.cap, tuple((x, x.cap) for x in project.limits))  # type: ignore[misc]


def standing(project: Project) -> Standing:
    """Return what the ledger has left; all of it when there is no ledger yet.

    Nothing is written: a budget is opened, and its cap made final, by a run only.

    Raises:
        LedgerError: The ledger cannot be used, or records another cap.
        ProjectError: Its address needs an environment variable that is not set.
    """
    ledger, name = project.ledger, project.dataset.name
    refuse_unset(ledger, "budget.ledger", project.path.name)
    if isinstance(ledger, Path) and not ledger.exists():
        anchor = project.anchor or ledger.with_name(f"{ledger.name}.anchor")
        NewLedger(Anchor(anchor.resolve())).permit()  # refuses where one was lost
        return whole(project)
    budgets = _budgets(project)
    top = budgets.get(("dataset", ""))
    if top is None:
        return whole(project)
    open_ = [x for x in project.limits if (x.kind, x.name) in budgets]
    # All of these are open already, so that this compares and opens nothing.
    left = Ledger(
        ledger,
        dataset=name,
        cap=project.budget.cap,
        limits=open_,
        anchor=project.anchor,
        declared=project.declared,
    ).left
    limits = tuple(
        (x, _left(x.cap, budgets.get((x.kind, x.name)))) for x in project.limits
    )
    return Standing(left, limits)


def afford(releases: tuple[Asked, ...], standing: Standing) -> None:
    """Refuse releases that cost more together than is left.

    Raises:
        BudgetExceededError: With both amounts. Nothing was spent.
    """
    if not releases:
        return
    cost = total_cost(releases)
    if not cost.fits(standing.left):  # type: ignore[arg-type]
        raise BudgetExceededError(
            N_("the releases cost {currency} {cost} together, {left} is left"),
            hint=N_("lower their {currency}, or make only some of them: --only NAME"),
            currency=CURRENCY[cost.measure],
            cost=cost,
            left=standing.left,
        )
    for limit, left in standing.limits:
        if not cost.fits(left):  # type: ignore[arg-type]
            raise BudgetExceededError(
                N_(
                    "the releases cost {currency} {cost} together, {left} is left to "
                    "{kind} {name}"
                ),
                hint=N_(
                    "lower their {currency}, or make only some of them: --only NAME"
                ),
                currency=CURRENCY[cost.measure],
                cost=cost,
                left=left,
                kind=limit.kind,
                name=repr(limit.name),
            )


def _budgets(project: Project) -> dict[tuple[str, str], Balance]:
    try:
        overview = show(project.ledger, anchor=project.anchor)
    except LedgerError as error:
        # A database without our tables is a new ledger, like a file that is not there.
        if isinstance(project.ledger, str) and error.fact.startswith(_NONE):
            return {}
        raise
    return {
        (b.kind, b.name): b
        for b in overview.budgets
        if b.dataset == project.dataset.name
    }


def _left(cap: Any, balance: Balance | None) -> Loss:
    whole_: Loss = cap
    if balance is None:
        return whole_
    units = balance.cap - balance.spent
    if isinstance(cap, GDP):
        return GDP.from_units(units)
    left: Loss = type(cap).from_units(units, balance.delta_cap - balance.delta_spent)
    return left
