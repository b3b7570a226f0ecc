"""Losses and budgets in words: every amount says its currency."""

from __future__ import annotations

from typing import Any

from sfumato.account import (
    GDP,
    ZCDP,
    ApproxDP,
    Budget,
    Epsilon,
    Loss,
    epsilon_at,
    has_large_delta,
)
from sfumato.account.loss import decimal_text
from sfumato.cli.tongue import say
from sfumato.ledger import Balance
from sfumato.project import Project
from sfumato.project.standing import Standing
from sfumato.words import N_

__all__ = ["balance_loss", "budget_words", "delta_words", "loss_data", "loss_words",
           "measure_words", "small", "standing_data", "standing_words", "symbol"]  # fmt: skip

_SIGNS = {"epsilon": "ε", "zcdp": "ρ", "gdp": "ρ"}
_FAILING: dict[str, type[Epsilon | ZCDP]] = {"epsilon": Epsilon, "zcdp": ZCDP}


def symbol(measure: str) -> str:
    """Return the sign of a currency.

    Examples:
        >>> symbol("epsilon"), symbol("zcdp")
        ('ε', 'ρ')
    """
    return _SIGNS[measure]


def loss_words(loss: Loss) -> str:
    """Write a loss with the sign of its currency.

    Examples:
        >>> loss_words(Epsilon("0.5")), loss_words(ZCDP("0.1", "1e-9"))
        ('ε 0.5', 'ρ 0.1, δ 1e-09')
    """
    text = f"{symbol(loss.measure)} {decimal_text(loss.units, 12)}"
    spare = getattr(loss, "delta_units", 0)
    return f"{text}, δ {delta_words(spare)}" if spare else text


def delta_words(units: int) -> str:
    """Write a δ of so many units of 1e-18, briefly."""
    return f"{units / 10**18:.6g}"


def small(value: str) -> str:
    """Write a decimal text, such as a δ, briefly.

    Examples:
        >>> small("0.000001")
        '1e-06'
    """
    return f"{float(value):.6g}"


def measure_words(measure: str) -> str:
    """Name a currency."""
    names = {
        "epsilon": N_("pure ε"),
        "zcdp": N_("ρ of zCDP"),
        "gdp": N_("ρ of Gaussian noise only"),
    }
    return say(names[measure])


def budget_words(budget: Budget) -> str:
    """Write a budget as it was declared, and the cap that it comes to.

    Examples:
        >>> budget_words(ApproxDP("1", "1e-6"))
        'ε 1 at δ 1e-06, kept as ρ 0.024355970359'
        >>> budget_words(Epsilon("1"))
        'ε 1'
    """
    if isinstance(budget, ApproxDP):
        return say(
            N_("ε {epsilon} at δ {delta}, kept as {cap}"),
            epsilon=budget.epsilon,
            delta=delta_words(budget.delta_units),
            cap=loss_words(budget.cap),
        )
    return loss_words(budget.cap)


def standing_words(budget: Budget, standing: Standing) -> list[str]:
    """Say what the budget and its limits have left, and warn of a large δ."""
    lines = [
        say(
            N_("budget {budget}; left {left}"),
            budget=budget_words(budget),
            left=loss_words(standing.left),
        )
    ]
    for limit, left in standing.limits:
        text = N_("limit of analyst {name}: {cap}; left {left}")
        if limit.kind == "project":
            text = N_("limit of project {name}: {cap}; left {left}")
        cap: Any = limit.cap
        lines.append(
            say(text, name=limit.name, cap=loss_words(cap), left=loss_words(left))
        )
    if has_large_delta(budget):
        lines.append(
            say(
                N_(
                    "Caution: δ is above 1e-4; aim below one over the number of persons, "
                    "or the promise may fail for real ones."
                )
            )
        )
    return lines


def loss_data(loss: Loss, delta: str) -> dict[str, Any]:
    """Return a loss as JSON values: the charge, and the ε that holds at δ."""
    epsilon = epsilon_at(loss, delta)
    return {
        "measure": loss.measure,
        "loss": str(loss),
        "epsilon": None if epsilon is None else str(epsilon),
    }


def standing_data(project: Project, standing: Standing) -> dict[str, Any]:
    """Return the budget and what is left as JSON values."""
    return {
        "measure": project.budget.measure,
        "delta": project.delta,
        "budget": str(project.budget.cap),
        "left": str(standing.left),
        "limits": [
            {
                "kind": limit.kind,
                "name": limit.name,
                "cap": str(limit.cap),
                "left": str(left),
            }
            for limit, left in standing.limits
        ],
    }


def balance_loss(balance: Balance, units: int, delta_units: int = 0) -> Loss:
    """Return an amount of a stored budget as a loss.

    Examples:
        >>> pima = Balance("pima", "dataset", "", "", "zcdp", 10**11, 0)
        >>> loss_words(balance_loss(pima, 10**11))
        'ρ 0.1'
    """
    if balance.measure in _FAILING:
        return _FAILING[balance.measure].from_units(units, delta_units)
    return GDP.from_units(units)
