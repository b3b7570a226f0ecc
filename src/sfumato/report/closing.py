"""What the releases of a page share: odds, budget, guarantee; told once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from sfumato.release.loss import brief, read, symbol
from sfumato.release.record import Claim, Measurement, Release
from sfumato.release.wording import Say, neighbour_words, unit_words
from sfumato.report.cost import Budget, Risks, budget, risks, share_of_budget
from sfumato.report.noise import method
from sfumato.report.terms import (
    Other,
    budget_words,
    guarantee,
    many_rows,
    others,
    scenarios,
)
from sfumato.report.view import View

__all__ = ["Closing", "Slice", "closings"]


@dataclass(frozen=True, slots=True)
class Slice:
    """One release's part of the budget's bar, in per cent of it."""

    name: str
    cost: str
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class Closing:
    """Releases that were paid from one budget under the same terms.

    Attributes:
        views: The releases.
        private: Whether all had real noise.
        unit: The protected unit.
        person: Whether it is a person with all rows, not a row.
        neighbours: The neighbour relation.
        relation: The same as a token.
        letter: Of the currency.
        risks: An attacker's chances after these releases, all so far, the whole budget.
        many_rows: What holds for a person with several rows.
        others: Public deployments, to compare with.
        scenarios: Ranges of ε that tutorials suggest.
        budget: Before these releases, for them, and left.
        slices: Each release's part of the bar.
        budget_words: How the budget is kept.
        guarantee: The theorem.
        method: How the figures were made.
    """

    views: tuple[View, ...]
    private: bool
    unit: str
    person: bool
    neighbours: str
    relation: str
    letter: str
    risks: Risks
    many_rows: str
    others: tuple[Other, ...]
    scenarios: tuple[str, ...]
    budget: Budget
    slices: tuple[Slice, ...]
    budget_words: tuple[str, ...]
    guarantee: tuple[str, ...]
    method: tuple[str, ...]

    @property
    def both(self) -> bool:
        """Whether any figure has an interval of noise and sampling."""
        return any(block.both for view in self.views for block in view.blocks)


def closings(
    releases: Sequence[Release], views: Sequence[View], say: Say
) -> tuple[Closing, ...]:
    """Gather releases by their terms, in the order of the page."""
    found: dict[Any, list[tuple[Release, View]]] = {}
    for pair in zip(releases, views, strict=True):
        found.setdefault(_terms(pair[0].claim), []).append(pair)
    return tuple(_closing(pairs, say) for pairs in found.values())


def _terms(claim: Claim) -> Any:
    paid = claim.receipt
    return (claim.measure, claim.delta, claim.unit, claim.neighbours, claim.size,
            claim.bounds, claim.private, paid.dataset, paid.cap, claim.epsilon is None)  # fmt: skip


def _closing(pairs: Sequence[tuple[Release, View]], say: Say) -> Closing:
    claims = [release.claim for release, _ in pairs]
    whole = _together(claims)
    chances = risks(whole)
    terms = {"unit": unit_words(whole, say), "neighbours": neighbour_words(whole, say)}
    measured: list[Measurement] = [m for r, _ in pairs for m in r.measurements]
    bar = budget(whole)
    return Closing(
        views=tuple(view for _, view in pairs),
        private=whole.private,
        **terms,
        person=whole.unit == "person",
        relation=whole.neighbours,
        letter=symbol(whole.measure),
        risks=chances,
        many_rows=many_rows(whole, say),
        others=others(say),
        scenarios=scenarios(say),
        budget=bar,
        slices=_slices(pairs, bar),
        budget_words=budget_words(whole, chances, terms, say),
        guarantee=guarantee(whole, say),
        method=method(measured, say),
    )


def _together(claims: Sequence[Claim]) -> Claim:
    """Return the claim of the last debit, with the loss of all the releases."""
    last = max(claims, key=lambda claim: claim.receipt.sequence)
    paid = {claim.receipt: claim for claim in claims}.values()
    # One release twice on a page is paid once; one number in two ledgers twice.
    loss = reduce(add, (read(c.measure, c.loss) for c in paid))
    cost = reduce(add, (read(c.measure, c.receipt.cost) for c in paid))
    spent = read(last.measure, last.receipt.spent)
    told = str(cost) if cost.units > spent.units else last.receipt.spent
    receipt = replace(last.receipt, cost=str(cost), spent=told)
    tables = max(claim.tables for claim in claims)  # a row in each is one of one too
    return replace(last, loss=str(loss), receipt=receipt, tables=tables)


def _slices(pairs: Sequence[tuple[Release, View]], bar: Budget) -> tuple[Slice, ...]:
    found, start = [], bar.before_share
    seen = {release.claim.receipt: (release, view) for release, view in pairs}
    for release, view in seen.values():
        claim = release.claim
        share = share_of_budget(claim)
        cost = brief(read(claim.measure, claim.receipt.cost))
        words = f"{symbol(claim.measure)} = {cost}"
        found.append(Slice(view.title, words, round(start, 2), share))
        start += share
    return tuple(found)
