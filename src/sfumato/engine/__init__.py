"""Compute a plan's exact integers on somebody's data.

An engine is any object with `run`; `reference` is the executable specification in
plain Python that every other engine is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from sfumato.plan import Group, Plan
from sfumato.secret import Secret

__all__ = ["Engine", "Exact", "Integers", "Keyed"]

Integers: TypeAlias = "tuple[tuple[int, ...], ...]"
"""One tuple per part of the plan, of the part's `cells` integers: groups in the order
of ``plan.groups``, and for a histogram the bins of each group innermost."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Keyed:
    """The integers of a question with unknown keys, and the keys themselves.

    Both are private: which keys occur is what the threshold protects.

    Attributes:
        groups: The keys that occur, by `Grouping.arranged`; each has at least one row.
        integers: As `Integers`, of these groups, and of all other rows at the end where
            the question asks for them.
    """

    groups: tuple[Group, ...]
    integers: Integers

    def __repr__(self) -> str:
        """Show nothing, so that logs stay clean."""
        return "<Keyed>"


Exact: TypeAlias = "Integers | Keyed"
"""What an engine computes: of public groups, or of those that it found."""


class Engine(Protocol):
    """Computes exact integers; sealed, because they are not yet private."""

    def prepare(self, plan: Plan) -> None:
        """Have the database bind the plan's statement, where it can; reads no rows.

        So a statement that it cannot bind is found before anything is spent.

        Raises:
            SourceError: It cannot; one fixed text. Nothing was spent.
        """
        ...

    def run(self, plan: Plan) -> Secret[Exact]:
        """Return the plan's integers in one consistent scan.

        Raises:
            EngineError: The engine failed; one fixed text, no cause. The debit stands.
        """
        ...
