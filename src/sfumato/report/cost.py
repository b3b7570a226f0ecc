"""What a release costs, in odds that a person can weigh, and what is left to spend."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato.account import GDP, ZCDP, Epsilon, Loss, Odds, odds
from sfumato.account.loss import ATTO, decimal_text
from sfumato.account.meaning import upper_percent
from sfumato.amount import exact
from sfumato.release.loss import brief, failing, read, symbol
from sfumato.release.record import Claim

__all__ = ["Budget", "Risk", "Risks", "budget", "risks",
           "share_of_budget"]  # fmt: skip

_DELTA = Fraction(1, 10**6)  # where neither budget nor claim names one


@dataclass(frozen=True, slots=True)
class Risk:
    """An attacker's best chances after releases that cost `loss` together.

    Attributes:
        loss: The loss in the budget's currency, briefly.
        epsilon: The ε that holds at the table's δ; the loss itself when it is pure.
        of_100: Of 100 guesses whether a row was used, how many the best attacker gets
            right; without the release 50.
        power: How often the best test detects the row if it is wrong for 5 % of those
            without it; without the release 5 %.
        beliefs: A belief beforehand and the highest belief afterwards.
    """

    loss: str
    epsilon: str
    of_100: int
    power: str
    beliefs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Risks:
    """The chances after this release, all so far, and the whole budget.

    Attributes:
        this: This release.
        total: All that is spent after it.
        cap: The whole budget.
        delta: The δ at which ε and beliefs are told, for a budget in ε that of the whole
            budget; ``"0"`` when they hold for sure.
        named: Whether the budget names that δ; else it was chosen here.
    """

    this: Risk
    total: Risk
    cap: Risk
    delta: str = "0"
    named: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget in brief amounts with their letter, and shares in per cent of it."""

    cap: str
    before: str
    cost: str
    left: str
    before_share: float
    cost_share: float


def risks(claim: Claim) -> Risks:
    """Explain a claim and its budget in odds.

    ε and beliefs of a ρ are told at one δ for all three rows: the claim's, or 1e-6
    where there is none. Guesses and power of a ρ need no δ: they are the least over
    all (ε, δ) that it implies.
    """
    paid = claim.receipt
    this, total, cap = (
        read(claim.measure, text) for text in (claim.loss, paid.spent, paid.cap)
    )
    if claim.measure == "epsilon":
        shown = decimal_text(int(failing(cap) * ATTO), 18)
        return Risks(_risk(this), _risk(total), _risk(cap), shown)
    inside = max(map(failing, (this, total, cap)))
    delta = exact(claim.delta) or Fraction(0)
    named = delta > inside
    told = delta if named else inside + min(_DELTA, (1 - inside) / 2)
    shown = decimal_text(int(told * ATTO), 18)
    return Risks(_risk(this, told), _risk(total, told), _risk(cap, told), shown, named)


def _risk(loss: Loss, told: Fraction = Fraction(0)) -> Risk:
    known = _odds(loss, told)
    beliefs = (
        (f"{upper_percent(a)}%", f"{upper_percent(b)}%") for a, b in known.certainty
    )
    return Risk(
        str(loss) if isinstance(loss, Epsilon) else brief(loss),
        brief(known.epsilon),
        known.of_100_with,
        f"{upper_percent(known.power)}%",
        tuple(beliefs),
    )


def _odds(loss: Loss, told: Fraction) -> Odds:
    if isinstance(loss, Epsilon):
        return odds(loss)
    # `odds` adds the δ inside the loss to the one that it is given
    return odds(loss, delta=told - failing(loss))


def budget(claim: Claim) -> Budget:
    """Return what was spent before this release, for it, and what is left."""
    receipt, letter = claim.receipt, symbol(claim.measure)
    cap, spent, cost = (
        read(claim.measure, text) for text in (receipt.cap, receipt.spent, receipt.cost)
    )
    whole = max(cap.units, spent.units, 1)
    before = max(spent.units - cost.units, 0)
    return Budget(
        brief(cap),
        f"{letter} = {_brief(spent, cost)}",
        f"{letter} = {brief(cost)}",
        f"{letter} = {_brief(cap, spent, down=True)}",
        round(100 * before / whole, 2),
        round(100 * cost.units / whole, 2),
    )


def share_of_budget(claim: Claim) -> float:
    """Return which part of the budget a release cost, in per cent."""
    receipt = claim.receipt
    cap, spent, cost = (
        read(claim.measure, text) for text in (receipt.cap, receipt.spent, receipt.cost)
    )
    return round(100 * cost.units / max(cap.units, spent.units, 1), 2)


def _brief(whole: Loss, part: Loss, *, down: bool = False) -> str:
    """Return `whole` less `part`, and nothing below 0."""
    units = max(whole.units - part.units, 0)
    match whole:
        case ZCDP() | Epsilon():
            delta = int((failing(whole) - failing(part)) * ATTO)
            return brief(type(whole).from_units(units, max(delta, 0)), down=down)
        case GDP():
            return brief(GDP.from_units(units), down=down)
