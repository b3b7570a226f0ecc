"""Figures about one person: what turns many rows of hers into one row.

They are written ``sf.feature.max("HbA1c")`` and computed by ``per_person``. Each is a
total function of the person's own rows, with public bounds or keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

from sfumato.declare.schema import Column, Integer, Known
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Feature", "Of", "check_features", "count", "first", "last", "max", "min", "read_features", "sum"]  # fmt: skip

Of: TypeAlias = Literal["count", "sum", "max", "min", "first", "last"]


@final
@dataclass(frozen=True, slots=True)
class Feature:
    """One figure about each person.

    Attributes:
        of: Which figure.
        column: The column that it is of; none for a count of rows.
        by: The column that says which row is the first or the last.
        declared: Its public bounds or keys; none where they are those of its column.
    """

    of: Of
    column: str | None = None
    by: str | None = None
    declared: Known | None = None

    def __post_init__(self) -> None:
        """Refuse what no function of this module makes."""
        ordered, counted = self.of in ("first", "last"), self.of == "count"
        fits = self.of in get_args(Of) and ordered == (self.by is not None)
        fits = fits and isinstance(self.declared, Known | None)
        if counted:
            fits = fits and isinstance(self.declared, Integer)
        if not fits or (self.column is None and not counted):
            raise DeclarationError(
                N_("{value} is no figure about a person"),
                hint=N_('write, for example, worst=sf.feature.max("HbA1c")'),
                value=quoted(self.of),
            )
        for name in (self.column, self.by):
            _name_or_none(name)

    def __str__(self) -> str:
        """Render for people."""
        inner = "" if self.column is None else self.column
        return f"{self.of}({inner}{f' by {self.by}' if self.by else ''})"


def count(column: str | None = None, *, most: int) -> Feature:
    """Count a person's rows, or, with a column, her rows that have a value in it.

    Args:
        column: Name of a column, or none for rows.
        most: The largest count that is told apart; larger ones are clamped to it. It
            is public, and noise grows with it.

    Examples:
        >>> print(count(most=20), count("HbA1c", most=20))
        count() count(HbA1c)
    """
    return Feature("count", _name_or_none(column), None, Integer(0, most))


def sum(column: str, declared: Column) -> Feature:  # noqa: A001
    """Add up a person's values of a column, each clamped to the column's bounds.

    It is exact in whole grid steps (`Real`), of which those of a wide column are taken
    together so that there are at most 2^30. Without any value it is missing.

    Args:
        column: Name of a number or Boolean column.
        declared: Public bounds of the sum: ``Real(0, 5000, step=1)``.
    """
    return Feature("sum", _name(column), None, _known(declared))


def max(column: str, declared: Column | None = None) -> Feature:  # noqa: A001
    """Take a person's largest value; of a Boolean column whether any is true.

    Args:
        column: Name of a number or Boolean column.
        declared: Public bounds; default those of the column.
    """
    return Feature("max", _name(column), None, _known(declared))


def min(column: str, declared: Column | None = None) -> Feature:  # noqa: A001
    """Take a person's smallest value; of a Boolean column whether all are true."""
    return Feature("min", _name(column), None, _known(declared))


def first(column: str, *, by: str, declared: Column | None = None) -> Feature:
    """Take the value in a person's first row, among those that have it and an order.

    Where several rows come first together, it is the smallest of their values, or of
    their keys in the declared order: so it depends on the rows and not on how they lie.

    Args:
        column: Name of a number, Boolean or category column.
        by: Name of a number or day column: the smallest comes first.
        declared: Public bounds; default those of the column.

    Examples:
        >>> print(first("HbA1c", by="day"))
        first(HbA1c by day)
    """
    return Feature("first", _name(column), _name(by), _known(declared))


def last(column: str, *, by: str, declared: Column | None = None) -> Feature:
    """Take the value in a person's last row; otherwise as `first`."""
    return Feature("last", _name(column), _name(by), _known(declared))


def read_features(
    features: Mapping[str, object],
) -> tuple[tuple[str, Feature], ...]:
    """Check what can be checked without a table.

    Raises:
        DeclarationError: There is none, or one is no feature, or two have one name.
    """
    pairs = tuple((str(name), one) for name, one in features.items())
    check_features(pairs)
    return pairs  # type: ignore[return-value]


def check_features(features: tuple[tuple[str, object], ...]) -> None:
    """Refuse figures of which two have one name; arguments and errors as before."""
    for name, one in features:
        if not isinstance(one, Feature):
            raise DeclarationError(
                N_("{name} is no figure about a person"),
                hint=N_('write, for example, worst=sf.feature.max("HbA1c")'),
                name=repr(name),
            )
    if len({name.casefold() for name, _ in features}) < len(features) or not features:
        raise DeclarationError(
            N_("figures about a person are named, each once"),
            hint=N_(
                "write per_person(visits=sf.feature.count(most=20)); names differ in "
                "more than small and capital letters"
            ),
        )


def _name(column: object) -> str:
    if not column or type(column) is not str:
        raise DeclarationError(
            N_("a figure about a person is of a column, got {value}"),
            hint=N_('write, for example, worst=sf.feature.max("HbA1c")'),
            value=quoted(column),
        )
    return column


def _name_or_none(column: object) -> str | None:
    return None if column is None else _name(column)


def _known(declared: object) -> Known | None:
    if declared is None or isinstance(declared, Known):
        return declared
    raise DeclarationError(
        N_("the bounds of a figure about a person are no declaration: {value}"),
        hint=N_("use Real, Integer, Category or Boolean"),
        value=quoted(declared),
    )
