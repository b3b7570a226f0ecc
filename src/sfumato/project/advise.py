"""From wished errors to the smallest loss that meets them; from the plan alone.

Nothing is read but the project file: the errors are those that `sfumato.plan` expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import final

from sfumato.account import (
    GDP,
    ApproxDP,
    Budget,
    Epsilon,
    Loss,
    loss_of,
)
from sfumato.account.deployment import SCENARIOS, Scenario
from sfumato.account.loss import decimal_text
from sfumato.errors import BudgetExceededError, DeclarationError, ProjectError
from sfumato.plan import expected_errors, make_plan
from sfumato.plan.bounded import make_bounded
from sfumato.project.load import Asked, Project
from sfumato.project.standing import CURRENCY, Standing
from sfumato.words import N_

__all__ = ["Amount", "Need", "amounts", "errors_at", "knob", "need", "scenario_errors",
           "total_need"]  # fmt: skip

_DIGITS = 900  # numbers of three digits, 100 to 999
_TOP = 13 * _DIGITS  # up to 1000
_TOLD = "1e-6"  # the δ of a scenario where the budget names none
_EPSILONS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1")
_RHOS = ("0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1")


@final
@dataclass(frozen=True, slots=True)
class Amount:
    """A loss as the project file would state it.

    Attributes:
        text: The decimal to write, as ``epsilon`` or ``rho``.
        loss: What it costs, in the currency of the budget.
    """

    text: str
    loss: Loss


@final
@dataclass(frozen=True, slots=True)
class Need:
    """What one release needs for its wished errors.

    Attributes:
        asked: The release.
        amount: The smallest amount of three digits that meets them all.
        binding: Place of the statistic that asks for most.
        errors: The error of each statistic at that amount.
    """

    asked: Asked
    amount: Amount
    binding: int
    errors: tuple[float, ...]


def knob(budget: Budget) -> str:
    """Return what a release of this budget states: ``"epsilon"`` or ``"rho"``."""
    return "epsilon" if isinstance(budget, Epsilon | ApproxDP) else "rho"


def amount(budget: Budget, text: str) -> Amount:
    """Return an amount of a budget."""
    if knob(budget) == "epsilon":
        return Amount(text, loss_of(budget, text))
    return Amount(text, loss_of(budget, rho=text))


def amounts(budget: Budget) -> tuple[Amount, ...]:
    """Return the usual amounts that a table of errors shows."""
    usual = _EPSILONS if knob(budget) == "epsilon" else _RHOS
    return tuple(amount(budget, text) for text in usual)


def errors_at(
    project: Project, asked: Asked, loss: Loss, rows: int
) -> tuple[float, ...]:
    """Return the error of each statistic of a release, at its confidence.

    Raises:
        DeclarationError: The loss is too small to be split.
    """
    if not isinstance(loss, GDP) and not isinstance(asked.loss, GDP):
        loss = type(loss).from_units(loss.units, asked.loss.delta_units)
    schema, name = project.dataset.schema, project.dataset.name
    bounded = make_bounded(asked.query, schema, loss, dataset=name)
    if bounded is None:
        plan = make_plan(asked.query, schema, loss, dataset=name)
    else:  # a part of the loss finds clipping bounds first
        plan = bounded.widest()
    found = expected_errors(plan, rows=rows, confidence=asked.confidence)
    return tuple(e.error for e in found)


def need(
    project: Project, asked: Asked, targets: Sequence[float | None], rows: int
) -> Need:
    """Return the smallest amount, of three digits, that meets all wishes of a release.

    One step less does not meet them.

    Raises:
        ProjectError: No amount meets them.
    """

    def met(step: int) -> bool:
        found = _tried(project, asked, _text(step), rows)
        return found is not None and not _missed(found, targets)

    low, high = -1, _TOP
    if not met(high):
        raise ProjectError(
            N_("no amount meets the errors wished of release {name}"),
            hint=N_("wish a larger error"),
            name=repr(asked.name),
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    found = amount(project.budget, _text(high))
    below = _tried(project, asked, _text(max(low, 0)), rows) or ()
    missed = _missed(below, targets)
    return Need(
        asked,
        found,
        missed[0] if missed else 0,
        errors_at(project, asked, found.loss, rows),
    )


def total_need(needs: Sequence[Need], project: Project, standing: Standing) -> Loss:
    """Return what the releases need together, or refuse when it does not fit.

    A release without a wish keeps the amount that the file gives it; one that shares
    gets what the others leave.

    Raises:
        BudgetExceededError: It is more than is left; the message names the smallest
            sufficient total. Nothing was spent.
    """
    named = {n.asked.name for n in needs}
    others = [a for a in project.releases if a.name not in named]
    fixed = [a.plan.cost for a in others if not a.shared]
    left = min([standing.left, *(x for _, x in standing.limits)], key=lambda x: x.units)
    whole: Loss = reduce(add, [*(n.amount.loss for n in needs), *fixed])
    nothing_left = whole.units == left.units and len(fixed) < len(others)
    if whole.units > left.units or nothing_left:
        sign = "ε" if knob(project.budget) == "epsilon" else "ρ"
        parts = ", ".join(f"{n.asked.name} {sign} {n.amount.text}" for n in needs)
        raise BudgetExceededError(
            N_("these errors need {currency} {needed} ({parts}), more than {left}"),
            hint=N_("give at least that much, or accept larger errors"),
            currency=CURRENCY[whole.measure],
            needed=whole,
            parts=parts,
            left=left,
        )
    return whole


def scenario_errors(
    project: Project, rows: int
) -> tuple[tuple[Scenario, tuple[tuple[tuple[float, ...], ...], ...]], ...]:
    """Return for each scenario of the tutorials what its two ends buy.

    The total of the scenario is split over the releases as the plan splits its own.

    Returns:
        For each scenario the errors at its low and at its high end: for each release,
        for each statistic.
    """
    return tuple(
        (s, tuple(_errors_of_total(project, e, rows) for e in (s.low, s.high)))
        for s in SCENARIOS
    )


def _errors_of_total(
    project: Project, epsilon: Epsilon, rows: int
) -> tuple[tuple[float, ...], ...]:
    total = _total(project.budget, epsilon)
    paying = [a for a in project.releases if a.plan.cost.units]
    by_name: dict[str, Loss] = {}
    if paying:
        shares: tuple[Loss, ...] = total.split([a.plan.cost.units for a in paying])
        by_name = {a.name: share for a, share in zip(paying, shares, strict=True)}
    return tuple(
        errors_at(project, a, by_name.get(a.name, a.loss), rows)
        for a in project.releases
    )


def _total(budget: Budget, epsilon: Epsilon) -> Loss:
    """Return a whole ε as a loss in the currency of the budget."""
    if isinstance(budget, Epsilon | ApproxDP):
        return loss_of(budget, epsilon)
    return ApproxDP(epsilon, _TOLD, gaussian_only=isinstance(budget, GDP)).cap


def _tried(
    project: Project, asked: Asked, text: str, rows: int
) -> tuple[float, ...] | None:
    """Return the errors at an amount; none where it is too small to be spent."""
    try:
        return errors_at(project, asked, amount(project.budget, text).loss, rows)
    except DeclarationError:
        return None


def _missed(found: Sequence[float], targets: Sequence[float | None]) -> list[int]:
    """Return the places whose wish is not met, the worst first."""
    excess = {
        i: error / wish
        for i, (error, wish) in enumerate(zip(found, targets, strict=False))
        if wish is not None and error > wish
    }
    return sorted(excess, key=lambda i: -excess[i])


def _text(step: int) -> str:
    """Return the decimal of a step: 100, 101, … 999, 1000, 1010, … in units of 1e-12.

    Examples:
        >>> _text(0), _text(9 * 900), _text(9 * 900 + 1)
        ('0.0000000001', '0.1', '0.101')
    """
    tens, digits = divmod(step, _DIGITS)
    return decimal_text((100 + digits) * 10**tens, 12)
