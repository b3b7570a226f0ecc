"""How many people there are: the one statistic that is about no row and no column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.amount import Amount
from sfumato.declare.given import read_name, read_weight

__all__ = ["People", "people"]


@final
@dataclass(frozen=True, slots=True)
class People:
    """How many people there are with at least one row."""

    name: str = "people"
    weight: Fraction = Fraction(1)

    @property
    def column(self) -> None:
        """None: it is about whole rows."""
        return


def people(*, name: str | None = None, weight: Amount = 1) -> People:
    """Ask for the number of distinct people; arguments as for `count`.

    Where each row is a unit of its own, that is the number of rows. With `group_by`, a
    person counts in each of her groups, in as many as count fully (`Unit`).

    Examples:
        >>> people().name
        'people'
    """
    return People(read_name(name, "people"), read_weight(weight))
