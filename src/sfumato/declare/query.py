"""What may be asked of a table. Plain data: a question knows no table and no budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import isinf
from typing import TypeAlias, final

from sfumato.amount import Amount, exact, nearest_double
from sfumato.declare.expr import And, Expr
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Count", "Histogram", "Mean", "Query", "Statistic", "Sum", "count",
           "histogram", "mean", "sum"]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are, or, with a column, how many rows have a value in it."""

    column: str | None = None
    name: str = "count"
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a column's values, each clamped to the declared bounds."""

    column: str
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a column's values, each clamped to the declared bounds."""

    column: str
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values fall into each bin, or, without edges, into each category.

    Bins are ``[e0, e1), [e1, e2), …, [e(k-1), ek]``: the last one is closed. Values
    are clamped to the column's bounds first; those outside the edges are in no bin.
    """

    column: str
    edges: tuple[float, ...]
    name: str
    weight: Fraction = Fraction(1)


Statistic: TypeAlias = Count | Sum | Mean | Histogram


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
    default = "count" if column is None else f"count_{column}"
    return Count(column, _name(name, default), _weight(weight))


def sum(column: str, *, name: str | None = None, weight: Amount = 1) -> Sum:  # noqa: A001
    """Ask for the sum of a numeric column; arguments as for `count`."""
    return Sum(column, _name(name, f"sum_{column}"), _weight(weight))


def mean(column: str, *, name: str | None = None, weight: Amount = 1) -> Mean:
    """Ask for the mean of a numeric or Boolean column; arguments as for `count`."""
    return Mean(column, _name(name, f"mean_{column}"), _weight(weight))


def histogram(
    column: str,
    edges: Iterable[Amount] | None = None,
    *,
    name: str | None = None,
    weight: Amount = 1,
) -> Histogram:
    """Ask how many values fall into each bin of a numeric column or each category.

    Args:
        column: Name of a declared column.
        edges: Public, increasing edges for a numeric column; none for a category.
        name: Name of the figures; default ``histogram_<column>``.
        weight: Importance when the ε is split; see `count`.

    Raises:
        DeclarationError: Fewer than two edges, or edges that do not increase.

    Examples:
        >>> histogram("Glucose", [0, 100, 140, 250]).edges
        (0.0, 100.0, 140.0, 250.0)
    """
    numbers = tuple(exact(e) for e in (edges or ()))
    cut = tuple(nearest_double(n) for n in numbers if n is not None)
    if edges is not None and (
        len(numbers) < 2  # noqa: PLR2004  one bin has two edges
        or None in numbers
        or any(not a < b for a, b in pairwise(cut))
        or any(map(isinf, cut))
    ):
        raise DeclarationError(
            N_("the edges of a histogram must be at least two increasing numbers"),
            hint=N_("write, for example, histogram({column}, [0, 50, 100, 150])"),
            column=repr(column),
        )
    return Histogram(column, cut, _name(name, f"histogram_{column}"), _weight(weight))


@final
@dataclass(frozen=True, slots=True)
class Query:
    """A question: which rows, grouped by what, which statistics.

    Examples:
        >>> from sfumato.declare.expr import col
        >>> q = Query().where(col("Age") >= 30).group_by("Outcome").select(count())
        >>> print(q)
        count by Outcome where Age >= 30
    """

    statistics: tuple[Statistic, ...] = ()
    keys: tuple[str, ...] = ()
    condition: Expr | None = None

    def where(self, condition: Expr) -> Query:
        """Keep the rows where `condition` is true; repeated calls all must hold."""
        if not isinstance(condition, Expr):
            raise DeclarationError(
                N_("{value} is not a filter"),
                hint=N_('write, for example, where(col("Age") >= 30)'),
                value=type(condition).__name__,
            )
        both = condition if self.condition is None else And(self.condition, condition)
        return replace(self, condition=both)

    def group_by(self, *columns: str) -> Query:
        """Answer for each combination of the declared keys of these columns."""
        return replace(self, keys=self.keys + columns)

    def select(self, *statistics: Statistic) -> Query:
        """Ask for these statistics; equal names get a number appended."""
        taken = [s.name for s in self.statistics]
        added: list[Statistic] = []
        for statistic in statistics:
            if not isinstance(statistic, Statistic):
                raise DeclarationError(
                    N_("{value} is not a statistic"),
                    hint=N_('use count(), sum("x"), mean("x") or histogram("x", …)'),
                    value=type(statistic).__name__,
                )
            name, i = statistic.name, 2
            while name in taken:
                name, i = f"{statistic.name}_{i}", i + 1
            taken.append(name)
            added.append(replace(statistic, name=name))
        return replace(self, statistics=(*self.statistics, *added))

    def __str__(self) -> str:
        """Say it in words."""
        words = ", ".join(s.name for s in self.statistics) or "nothing"
        if self.keys:
            words += f" by {', '.join(self.keys)}"
        return words if self.condition is None else f"{words} where {self.condition}"


def _name(name: str | None, default: str) -> str:
    return default if name is None else str(name)


def _weight(weight: Amount) -> Fraction:
    number = exact(weight)
    if number is None or number <= 0:
        raise DeclarationError(
            N_("weight must be a number greater than 0, got {weight}"),
            hint=N_("leave it out, or write 2 for a figure that matters more"),
            weight=weight,
        )
    return number
