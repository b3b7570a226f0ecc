"""Budgets and how a debit changes them: the rule, in plain Python.

The databases apply the same rule in SQL, where two writers cannot race; `verify`
recomputes every balance with this one and compares.

Formal guarantee: let the blocks of a data set be disjoint and let each person (each
privacy unit) lie in one of them. Losses of debits add up within a block (basic
composition for ε; adaptive composition for ρ, see `sfumato.account`), and a debit that
names blocks tells nothing about persons elsewhere; so the loss of any person is at most
``whole`` plus the largest own loss of a block, which is ``spent``. It never exceeds the
cap. This holds for neighbours that add or remove one unit. Where a unit is *replaced*,
the replacement must stay in its block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sfumato.ledger.amounts import Amounts
from sfumato.words import N_

__all__ = ["Balance", "Balances", "Key", "charge"]

Key: TypeAlias = tuple[str, str, str]
"""Data set, kind and name of a budget."""


@dataclass(frozen=True, slots=True)
class Balance:
    """One budget as stored; amounts in 1e-12, those of δ in 1e-18.

    Attributes:
        dataset: The data set it belongs to.
        kind: ``"dataset"``: the guarantee; ``"analyst"``, ``"project"``: limits below
            it; ``"block"``: a disjoint part of the data set.
        name: Name of the analyst, project or block; empty for the data set.
        label: How the data set is cut into blocks; empty for other kinds.
        measure: The currency.
        cap: The most that may be spent.
        delta_cap: The most δ.
        spent: What is spent; of a block only what was spent on it by name.
        delta_spent: The δ of it.
        whole: Of a data set: what was spent on all its blocks, also future ones.
        delta_whole: The δ of it.
    """

    dataset: str
    kind: str
    name: str
    label: str
    measure: str
    cap: int
    delta_cap: int
    spent: int = 0
    delta_spent: int = 0
    whole: int = 0
    delta_whole: int = 0

    @property
    def key(self) -> Key:
        """Data set, kind and name."""
        return self.dataset, self.kind, self.name

    @property
    def fits(self) -> bool:
        """Whether no cap is exceeded."""
        return self.spent <= self.cap and self.delta_spent <= self.delta_cap

    def plus(self, cost: Amounts) -> Balance:
        """Return the balance after a further charge by name."""
        return replace(
            self,
            spent=self.spent + cost.units,
            delta_spent=self.delta_spent + cost.delta_units,
        )

    def amounts(self, units: int, delta_units: int) -> Amounts:
        """Return amounts in this budget's currency."""
        return Amounts(self.measure, units, delta_units)


Balances: TypeAlias = dict[Key, Balance]


def charge(
    balances: Mapping[Key, Balance],
    dataset: str,
    cost: Amounts,
    *,
    limits: Sequence[tuple[str, str]] = (),
    blocks: Sequence[str] = (),
) -> list[Balance]:
    """Return the budgets that a debit changes, as they are after it.

    A result that does not `fits` means that the debit must be refused as a whole.

    Examples:
        >>> pima = Balance("pima", "dataset", "", "", "epsilon", 10, 0)
        >>> a, b = (Balance("pima", "block", n, "year", "epsilon", 10, 0) for n in "ab")
        >>> books = {x.key: x for x in (pima, a, b)}
        >>> for names, units in [((), 2), ("a", 3), ("b", 5)]:
        ...     paid = charge(books, "pima", Amounts("epsilon", units), blocks=names)
        ...     books.update({x.key: x for x in paid})
        >>> books["pima", "dataset", ""].spent  # 2 for all, 3 and 5 beside each other
        7
    """
    paid = [balances[dataset, kind, name].plus(cost) for kind, name in limits]
    top = balances[dataset, "dataset", ""]
    if not blocks:
        after = top.plus(cost)
        return [
            *paid,
            replace(
                after,
                whole=top.whole + cost.units,
                delta_whole=top.delta_whole + cost.delta_units,
            ),
        ]
    parts = [balances[dataset, "block", name].plus(cost) for name in blocks]
    return [*paid, *parts, raised(top, parts)]


def raised(top: Balance, blocks: Sequence[Balance]) -> Balance:
    """Return the data set's balance, at least what its largest block has spent.

    Examples:
        >>> top = Balance("pima", "dataset", "", "", "epsilon", 10, 0, 4, 0, 2, 0)
        >>> raised(top, [Balance("pima", "block", "a", "year", "epsilon", 10, 0, 5)]).spent
        7
    """
    own = max((b.spent for b in blocks), default=0)
    delta = max((b.delta_spent for b in blocks), default=0)
    return replace(
        top,
        spent=max(top.spent, top.whole + own),
        delta_spent=max(top.delta_spent, top.delta_whole + delta),
    )


def replayed(balances: Balances, entry: Mapping[str, Any]) -> str | None:
    """Apply an entry to the balances; return what is wrong with it, or none.

    Args:
        balances: Changed in place.
        entry: The fields of an entry's body.
    """
    try:
        match entry["kind"]:
            case "open" if "budget" in entry:  # else it names tables that were added
                made = Balance(entry["dataset"], **entry["budget"])
                if made.key in balances:
                    return N_("opens a budget twice")
                balances[made.key] = made
            case "debit":
                return _debit(balances, entry)
            case "reconcile":
                return _reconcile(balances, entry)
            case _:
                pass
    except (KeyError, TypeError, ValueError):
        return N_("cannot be read")
    return None


def _debit(balances: Balances, entry: Mapping[str, Any]) -> str | None:
    cost = Amounts(entry["measure"], entry["units"], entry["delta_units"])
    limits = [(kind, name) for kind, name in entry["limits"]]
    after = charge(
        balances, entry["dataset"], cost, limits=limits, blocks=entry["blocks"]
    )
    balances.update({b.key: b for b in after})
    top = after[-1]
    if not all(b.fits for b in after):
        return N_("exceeds a cap")
    if min(cost.units, cost.delta_units) < 0:
        return N_("is a refund")
    if (top.spent, top.delta_spent) != (entry["spent"], entry["delta_spent"]):
        return N_("states another balance than its history gives")
    return None


def _reconcile(balances: Balances, entry: Mapping[str, Any]) -> str | None:
    for row in entry["after"]:
        after = Balance(*row)
        before = balances.get(after.key)
        balances[after.key] = after
        if before and (
            after.spent < before.spent
            or after.delta_spent < before.delta_spent
            or (after.cap, after.delta_cap) != (before.cap, before.delta_cap)
        ):
            return N_("is a refund")
    return None
