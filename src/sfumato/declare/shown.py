"""Which groups of a release are told, in which order: decided by released figures alone.

Formal guarantee: filter, order and limit see noisy figures only, never a row or an exact
integer, so they are post-processing and cost nothing (Dwork, Roth 2014, Prop. 2.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, final

from sfumato.declare.logic import Expr
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["ALL_SHOWN", "Order", "Shown"]


@final
@dataclass(frozen=True, slots=True)
class Order:
    """One figure or grouping column to sort groups by."""

    name: str
    descending: bool = False

    def __str__(self) -> str:
        """Render for people."""
        return self.name + (" descending" if self.descending else "")


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """Which groups are told.

    Attributes:
        having: Over released figures by name; a group is told where it is true.
        order: What groups are sorted by, the first one first; equal ones stay in order.
        most: How many groups are told; or none, for all.
    """

    having: Expr | None = None
    order: tuple[Order, ...] = ()
    most: int | None = None

    def where(self, condition: object) -> Shown:
        """Add a condition; all must hold."""
        if not isinstance(condition, Expr):
            raise DeclarationError(
                N_("{value} is not a filter"),
                hint=N_('write, for example, having(col("count") > 100)'),
                value=type(condition).__name__,
            )
        both = condition if self.having is None else self.having & condition
        return replace(self, having=both)

    def sorted_by(self, names: tuple[Any, ...], descending: object) -> Shown:
        """Sort by these too."""
        if not names or not all(isinstance(n, str) and n for n in names):
            raise DeclarationError(
                N_("groups are sorted by names of figures or of grouping columns"),
                hint=N_('write order_by("count", descending=True)'),
            )
        if not isinstance(descending, bool):
            raise DeclarationError(
                N_("descending is true or false, got {value}"),
                hint=N_('write order_by("count", descending=True)'),
                value=quoted(descending),
            )
        added = tuple(Order(name, descending) for name in names)
        return replace(self, order=self.order + added)

    def limited(self, most: object) -> Shown:
        """Tell at most so many groups."""
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise DeclarationError(
                N_("a limit is a whole number of groups, got {value}"),
                hint=N_("write limit(10)"),
                value=quoted(most),
            )
        return replace(self, most=most)

    def __str__(self) -> str:
        """Say it in words; nothing for all groups in their own order."""
        words = "" if self.having is None else f" having {self.having}"
        if self.order:
            words += f" ordered by {', '.join(map(str, self.order))}"
        return words if self.most is None else f"{words}, first {self.most}"


ALL_SHOWN: Final = Shown()
"""All groups, in their own order."""
