"""Whether a row's keys are one of the listed groups, as SQL; for people, before they are bounded.

How much of a person counts depends on the number of her groups. So rows of groups that
are not asked about must be gone beforehand, and rows of "all others" be in one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import final

from sfumato.declare.keys import Listed
from sfumato.declare.schema import Key, Text
from sfumato.engine.terms import Terms
from sfumato.plan import Plan

__all__ = ["ListedKeys"]


@final
class ListedKeys:
    """The tests that raw keys, in columns ``k0``, ``k1``, …, are a group of the plan."""

    def __init__(self, plan: Plan, terms: Terms) -> None:
        """Look up the columns once."""
        self._terms = terms
        self._blocks = plan.grouping.blocks
        self._names = list(plan.query.keys)
        self._places = {
            name: {key: i for i, key in enumerate(column.values)}
            for name, column in plan.grouping.columns
            if not isinstance(column, Text)
        }

    @property
    def is_partial(self) -> bool:
        """Whether some combination of declared keys is not listed."""
        return any(
            len(block.keys) < prod(len(self._places[n]) for n in block.columns)
            for block in self._known
        )

    def test(self) -> str:
        """Return SQL that is true exactly for the listed groups; it may be null."""
        return " AND ".join(f"({self._block(block)})" for block in self._known)

    @property
    def _known(self) -> list[Listed]:
        """The blocks with public keys."""
        return [block for block in self._blocks if block.keys]

    def _block(self, block: Listed) -> str:
        return self._among(block.columns, block.keys)

    def _among(
        self, columns: Sequence[str], combinations: Sequence[tuple[Key, ...]]
    ) -> str:
        """Return the test that the columns hold one of the combinations."""
        name, *rest = columns
        cell, places = f"k{self._names.index(name)}", self._places[name]
        if not rest:
            firsts = [places[key] for (key,) in combinations]
            return self._terms.equals_any(name, cell, firsts)
        after: dict[int, list[tuple[Key, ...]]] = {}
        for key, *others in combinations:
            after.setdefault(places[key], []).append(tuple(others))
        return " OR ".join(
            f"({self._terms.equals_any(name, cell, [first])} AND ({self._among(rest, others)}))"
            for first, others in after.items()
        )
