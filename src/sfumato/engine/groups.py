"""Which group a row of a statement belongs to."""

from __future__ import annotations

from typing import final

from sfumato.engine.terms import Terms
from sfumato.plan import Plan

__all__ = ["Groups"]


@final
class Groups:
    """Reads the key cells of a statement's rows as places among the plan's groups."""

    def __init__(self, plan: Plan, terms: Terms) -> None:
        """Look up the groups once."""
        self._names, self._terms = plan.query.keys, terms
        values = [column.values for _, column in plan.grouping.columns]
        known = [{key: i for i, key in enumerate(keys)} for keys in values]
        end = len(plan.groups) - (plan.query.other is not None)
        self._places: dict[tuple[int | None, ...], int] = {
            tuple(keys[k] for keys, k in zip(known, group, strict=True)): i
            for i, group in enumerate(plan.groups[:end])
        }
        self._other = None if plan.query.other is None else end

    def place(self, cells: tuple[object, ...]) -> int | None:
        """Return the place of the group of these key cells; none for no group.

        A combination may be unlisted; and the one row of a statement over an empty
        table has null keys.
        """
        group = tuple(
            self._terms.place(name, cell)
            for name, cell in zip(self._names, cells, strict=True)
        )
        return self._places.get(group, self._other)
