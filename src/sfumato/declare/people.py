"""How many rows and people there are, and how many the bounds of a unit cut."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.amount import Amount
from sfumato.declare.given import read_column, read_name, read_weight

__all__ = ["Count", "People", "count", "people", "people_cut", "rows_cut"]


@final
@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are, or, with a column, how many rows have a value in it.

    Attributes:
        column: The column, or none for rows.
        name: Name of the figure.
        weight: Importance.
        beyond: Only rows beyond those that count fully of a person.
    """

    column: str | None = None
    name: str = "count"
    weight: Fraction = Fraction(1)
    beyond: bool = False


@final
@dataclass(frozen=True, slots=True)
class People:
    """How many people there are with at least one row.

    Attributes:
        name: Name of the figure.
        weight: Importance.
        beyond: Only people of whom not everything counts fully.
    """

    name: str = "people"
    weight: Fraction = Fraction(1)
    beyond: bool = False

    @property
    def column(self) -> None:
        """None: it is about whole rows."""
        return


def count(
    column: str | None = None, *, name: str | None = None, weight: Amount = 1
) -> Count:
    """Ask for the number of rows; with `column`, of rows that have a value in it.

    Args:
        column: Name of a declared column, or none for rows.
        name: Name of the figure; default ``count`` or ``count_<column>``.
        weight: Importance when the ε is split among figures; twice the weight buys
            about 1.26 times the accuracy (cube-root rule).

    Examples:
        >>> count().name, count("Glucose").name
        ('count', 'count_Glucose')
    """
    default = "count" if column is None else f"count_{read_column(column)}"
    return Count(column, read_name(name, default), read_weight(weight))


def people(*, name: str | None = None, weight: Amount = 1) -> People:
    """Ask for the number of distinct people; arguments as for `count`.

    Where each row is a unit of its own, that is the number of rows. With `group_by`, a
    person counts in each of her groups, in as many as count fully (`Unit`).

    Examples:
        >>> people().name
        'people'
    """
    return People(read_name(name, "people"), read_weight(weight))


def people_cut(*, name: str | None = None, weight: Amount = 1) -> People:
    """Ask how many people the bounds of the unit cut: a paid figure like any other.

    A person is cut in a group where she has more than ``max_rows`` rows; and in all her
    groups, if they are more than ``max_groups``. Her rows then count in part, which
    draws counts and sums towards 0; no interval of noise covers that. With `group_by`
    she counts in each of her groups, in as many as count fully.

    Examples:
        >>> people_cut().name
        'people_cut'
    """
    return People(read_name(name, "people_cut"), read_weight(weight), beyond=True)


def rows_cut(*, name: str | None = None, weight: Amount = 1) -> Count:
    """Ask how many rows lie beyond ``max_rows``: a paid figure like any other.

    Of each person and group those beyond the first ``max_rows`` are counted, up to as
    many again: twice the bound would count them fully. So it is a lower bound of the
    rows that are cut; if it is near 0 the bound cuts little.

    Examples:
        >>> rows_cut().name
        'rows_cut'
    """
    return Count(None, read_name(name, "rows_cut"), read_weight(weight), beyond=True)
