"""What a project file says of money: budget and limits, in one currency."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.account import (
    GDP,
    ZCDP,
    ApproxDP,
    Budget,
    Epsilon,
    LargeDeltaWarning,
    Loss,
    loss_of,
)
from sfumato.account.rho import read_delta
from sfumato.errors import ProjectError
from sfumato.ledger import Limit
from sfumato.project.model import BudgetTable, LimitTable, ReleaseTable
from sfumato.project.place import place_of, placed, shown
from sfumato.words import N_

__all__ = ["declared_budget", "declared_limits", "given", "told_elsewhere"]


def declared_budget(table: BudgetTable, file: str) -> Budget:
    """Return the budget.

    Raises:
        ProjectError: The numbers leave nothing to spend, or do not go together.
    """
    if table.rho is not None:
        rho: ZCDP = table.rho
        if table.gaussian_only:
            return GDP.from_units(rho.units)
        return ZCDP.from_units(rho.units, read_delta(table.threshold_delta))
    if table.delta is None and not table.gaussian_only:
        loss: Epsilon = table.epsilon
        return Epsilon.from_units(loss.units, read_delta(table.threshold_delta))
    # A large δ is told by the command line, in one line of the user's language.
    with placed(f"{file}: budget"), told_elsewhere():
        whole = ApproxDP(
            table.epsilon,
            table.delta,
            threshold_delta=table.threshold_delta,
            gaussian_only=table.gaussian_only,
        )
    return whole if whole.delta_units else whole.epsilon


@contextmanager
def told_elsewhere() -> Iterator[None]:
    """Leave the warning of a large δ to the command line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeDeltaWarning)
        yield


def declared_limits(
    tables: list[LimitTable], budget: Budget, file: str
) -> tuple[Limit, ...]:
    """Return the caps of analysts and projects, in the currency of the budget.

    Raises:
        ProjectError: A limit is stated in another currency, or twice.
    """
    limits = []
    seen = set()
    for number, table in enumerate(tables):
        place = f"{file}: {place_of('budget', 'limits', number)}"
        if (table.kind, table.name) in seen:
            raise ProjectError(
                N_("{place}: {kind} {name} has two limits"),
                hint=N_("keep one of them"),
                place=place,
                kind=table.kind,
                name=shown(table.name),
            )
        seen.add((table.kind, table.name))
        with placed(place):
            cap = loss_of(budget, table.epsilon, _amount(table.rho))
        if not isinstance(cap, GDP) and not isinstance(budget.cap, GDP):
            cap = type(cap).from_units(cap.units, budget.cap.delta_units)
        limits.append(Limit(table.kind, table.name, cap))
    return tuple(limits)


def given(table: ReleaseTable, budget: Budget, file: str) -> Loss | None:
    """Return what the file itself gives a release; none when it gets a share.

    Raises:
        ProjectError: It is stated in another currency than the budget.
    """
    if table.epsilon is None and table.rho is None:
        return None
    key = "epsilon" if table.rho is None else "rho"
    with placed(f"{file}: {place_of('releases', table.name, key)}"):
        return loss_of(budget, table.epsilon, _amount(table.rho), table.delta)


def _amount(rho: ZCDP | None) -> str | None:
    return None if rho is None else str(rho)
