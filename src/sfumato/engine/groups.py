"""Which group a row of a statement belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from sfumato.declare.schema import Key, Text
from sfumato.engine.terms import Terms
from sfumato.plan import Group, Plan

__all__ = ["Groups"]


@final
class Groups:
    """Reads the key cells of a statement's rows as groups.

    Attributes:
        found: The groups that have a place, in order: the plan's, or, where keys are
            unknown, those among the rows.
    """

    def __init__(
        self, plan: Plan, terms: Terms, rows: Iterable[tuple[object, ...]]
    ) -> None:
        """Give each group a place.

        Args:
            plan: Its question names the columns.
            terms: What rendered the keys.
            rows: The rows of the statement, whose first cells are keys.
        """
        self._terms, self._grouping = terms, plan.grouping
        self._width = len(plan.query.keys)
        end = len(plan.groups) - (plan.query.other is not None)
        self.found: tuple[Group, ...] = plan.groups[:end]
        met = {row[: self._width] for row in rows}
        groups = {cells: self._group(cells) for cells in met}
        if self._grouping.unknown:
            known = {group for group in groups.values() if group is not None}
            self.found = self._grouping.arranged(known)
        places = {group: i for i, group in enumerate(self.found)}
        other = None if plan.query.other is None else len(self.found)
        self._places = {
            cells: other if group is None else places.get(group, other)
            for cells, group in groups.items()
        }

    def place(self, row: tuple[object, ...]) -> int | None:
        """Return the place of a row's group; none for no group.

        A combination may be unlisted; and the one row of a statement over an empty
        table has null keys.
        """
        return self._places[row[: self._width]]

    def _group(self, cells: tuple[object, ...]) -> Group | None:
        keys = [self._key(i, cell) for i, cell in enumerate(cells)]
        return tuple(keys) if self._grouping.holds(keys) else None  # type: ignore[arg-type]

    def _key(self, i: int, cell: object) -> Key | None:
        name, column = self._grouping.columns[i]
        if isinstance(column, Text):
            return None if cell is None else str(cell)
        place = self._terms.place(name, cell)
        return None if place is None else column.values[int(place)]
