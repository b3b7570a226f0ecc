"""The budgets of the running ledger, and what the records of the log make of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from sfumato.ledger.amounts import Amounts
from sfumato.ledger.anchor import State
from sfumato.ledger.balances import Balance, Balances, Key
from sfumato.ledger.chain import canonical
from sfumato.ledger.store import Database

__all__ = ["Change", "Standing", "Standings"]

_STATED = 8  # budgets, at most, that each record states

Change: TypeAlias = "tuple[Standing, int, int, int, int]"


class Standing:
    """A budget of the running ledger; the amounts change in place."""

    __slots__ = ("budget", "cap", "delta", "delta_cap", "delta_whole", "id", "is_block",
                 "measure", "opening", "spent", "top_of", "whole")  # fmt: skip

    def __init__(self, row: Sequence[Any]) -> None:
        """Begin as the row of the table says."""
        self.id: int = row[0]
        self.budget = Balance(*row[1:])
        self.spent, self.delta = self.budget.spent, self.budget.delta_spent
        self.whole, self.delta_whole = self.budget.whole, self.budget.delta_whole
        self.measure, self.is_block = self.budget.measure, self.budget.kind == "block"
        self.top_of = self.budget.dataset if self.budget.kind == "dataset" else None
        self.cap, self.delta_cap = self.budget.cap, self.budget.delta_cap
        self.opening = canonical(list(row[1:8]))[:-1]

    def text(self) -> str:
        """Return `state` as canonical JSON."""
        return (
            f"{self.opening},{self.spent},{self.delta},{self.whole},{self.delta_whole}]"
        )

    def effect(self) -> str:
        """Return the amounts as a record states them."""
        return f"{self.id}:{self.spent}:{self.delta}:{self.whole}:{self.delta_whole}"

    def state(self) -> State:
        """Return the budget as it is now."""
        b = self.budget
        return (
            b.dataset, b.kind, b.name, b.label, b.measure, b.cap, b.delta_cap,
            self.spent, self.delta, self.whole, self.delta_whole,
        )  # fmt: skip


class Standings:
    """Every budget as it is now, with what the log has changed and the anchor lacks."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        """Begin as the table says."""
        self._standings: dict[Key, Standing] = {}
        self._by_id: dict[int, Standing] = {}
        for row in rows:
            standing = Standing(row)
            self._by_id[standing.id] = standing
            self._standings[standing.budget.key] = standing
        self._changed: set[int] = set()
        self.sole: Standing | None = None  # the changed one, where it is only one
        self.lacking: dict[int, int] = {}  # where budgets changed that it lacks

    def top(self, dataset: str) -> Balance | None:
        """Return the budget of a data set as it is now."""
        found = self._standings.get((dataset, "dataset", ""))
        return Balance(*found.state()) if found else None

    def balances(self) -> Balances:
        """Return every budget as it is now."""
        return {k: Balance(*s.state()) for k, s in self._standings.items()}

    def changes(
        self,
        dataset: str,
        cost: Amounts,
        limits: Sequence[tuple[str, str]],
        blocks: Sequence[str],
    ) -> list[Change] | None:
        """Return what a debit makes of each budget, the data set's last.

        The rule is that of `balances.charge`; none where it must be refused.
        """
        units, delta, measure = cost.units, cost.delta_units, cost.measure
        top = self._standings.get((dataset, "dataset", ""))
        if top is None or top.measure != measure:
            return None
        found: list[Change] = []
        if blocks or limits:
            found = self._parts(dataset, cost, limits, blocks)
            if not found:
                return None
        whole, delta_whole = top.whole, top.delta_whole
        if blocks:
            own = max(spent for part, spent, _, _, _ in found if part.is_block)
            own_delta = max(delta for part, _, delta, _, _ in found if part.is_block)
            spent = max(top.spent, whole + own)
            delta_spent = max(top.delta, delta_whole + own_delta)
        else:
            spent, delta_spent = top.spent + units, top.delta + delta
            whole, delta_whole = whole + units, delta_whole + delta
        if spent > top.cap or delta_spent > top.delta_cap:
            return None
        found.append((top, spent, delta_spent, whole, delta_whole))
        return found

    def _parts(
        self,
        dataset: str,
        cost: Amounts,
        limits: Sequence[tuple[str, str]],
        blocks: Sequence[str],
    ) -> list[Change]:
        """Return what a debit makes of limits and blocks; nothing if one is refused."""
        found: list[Change] = []
        keys = [(dataset, *limit) for limit in limits]
        keys += [(dataset, "block", name) for name in blocks]
        for key in keys:
            part = self._standings.get(key)
            if part is None or part.measure != cost.measure:
                return []
            spent, delta = part.spent + cost.units, part.delta + cost.delta_units
            if spent > part.cap or delta > part.delta_cap:
                return []
            found.append((part, spent, delta, part.whole, part.delta_whole))
        return found

    # -- what records make of them -------------------------------------------------

    def change(self, changes: Sequence[Change], place: int) -> str:
        """Take over what one's own record makes of them; return what it states."""
        by_id, changed, lacking = self._by_id, self._changed, self.lacking
        for standing, spent, delta, whole, delta_whole in changes:
            standing.spent, standing.delta = spent, delta
            standing.whole, standing.delta_whole = whole, delta_whole
            lacking[standing.id] = place
            changed.add(standing.id)
        self._find_sole()
        if len(changed) <= _STATED:
            return ",".join([by_id[i].effect() for i in sorted(changed)])
        return "+" + ",".join([change[0].effect() for change in changes])

    def take(self, effect: str, place: int) -> None:
        """Take over what another's record states.

        Raises:
            KeyError: There is no such budget.
            ValueError: It is no statement.
        """
        effect = effect.removeprefix("+")
        for part in effect.split(",") if effect else ():
            id_, spent, delta, whole, delta_whole = map(int, part.split(":"))
            standing = self._by_id[id_]
            standing.spent, standing.delta = spent, delta
            standing.whole, standing.delta_whole = whole, delta_whole
            self.lacking[id_] = place
            self._changed.add(id_)
        if self.sole is None or len(self._changed) > 1:
            self._find_sole()

    def _find_sole(self) -> None:
        changed = self._changed
        self.sole = self._by_id[min(changed)] if len(changed) == 1 else None

    def unmarked(self) -> list[int]:
        """Return ids of the budgets whose change the anchor may not know."""
        return sorted(self.lacking)

    def text(self) -> str:
        """Return the states of these as they stand in an anchor's line."""
        return ",".join([self._by_id[i].text() for i in sorted(self.lacking)])

    def marked(self, place: int, last: int) -> None:
        """Note how far the anchor knows, and where the last entry is."""
        if place >= last:
            self.lacking.clear()
        elif self.lacking:
            self.lacking = {i: p for i, p in self.lacking.items() if p > place}

    def copy_to(self, db: Database) -> None:
        """Write what the log has changed into a transaction of SQLite."""
        for id_ in sorted(self._changed):
            s = self._by_id[id_]
            db.rows(
                "UPDATE budget SET spent = ?, delta_spent = ?, whole = ?,"
                " delta_whole = ? WHERE id = ?",
                s.spent, s.delta, s.whole, s.delta_whole, id_,
            )  # fmt: skip

    def settled(self) -> None:
        """Go on after this, marked, was committed."""
        self._changed.clear()
        self.sole = None
        self.lacking.clear()
