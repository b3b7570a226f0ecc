"""What may be asked of a table. Plain data: a question knows no table and no budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TypeAlias, final

from sfumato.amount import Amount
from sfumato.declare.derived import Derived, read_derived
from sfumato.declare.expr import And, Expr, Operand
from sfumato.declare.given import Edge, read_column, read_edges, read_name, read_weight
from sfumato.declare.keys import Listed, read_listed
from sfumato.declare.pair import (
    Correlation,
    Covariance,
    Crosstab,
    Ratio,
    correlation,
    covariance,
    crosstab,
    ratio,
)
from sfumato.declare.people import (
    Count,
    People,
    count,
    people,
    people_cut,
    rows_cut,
)
from sfumato.declare.rank import (
    Median,
    Quantile,
    median,
    near_maximum,
    near_minimum,
    quantile,
)
from sfumato.declare.relation import Base, Part
from sfumato.declare.schema import Column
from sfumato.declare.shown import ALL_SHOWN, Shown
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Correlation", "Count", "Covariance", "Crosstab", "Histogram", "Mean", "Median",
           "Mode", "People", "Proportion", "Quantile", "Query", "Ratio", "Statistic", "Std", "Sum",
           "Variance", "correlation", "count", "covariance", "crosstab", "histogram", "mean",
           "median", "mode", "near_maximum", "near_minimum", "people", "people_cut", "proportion", "quantile",
           "ratio", "rows_cut", "std", "sum", "variance"]  # fmt: skip


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
class Proportion:
    """The share of a column's values that are one key; of a Boolean, that are true."""

    column: str
    key: str | int | bool | None
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of a column's clamped values: mean squared distance from the mean.

    The sum of squares is divided by the number of values n, not by n - 1.
    """

    column: str
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Std:
    """The standard deviation of a column's clamped values: root of `Variance`."""

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


@final
@dataclass(frozen=True, slots=True)
class Mode:
    """The most frequent key, or bin of clamped values as in `Histogram`, of a column."""

    column: str
    edges: tuple[float, ...]
    name: str
    weight: Fraction = Fraction(1)


Statistic: TypeAlias = (
    Count
    | People
    | Sum
    | Mean
    | Proportion
    | Variance
    | Std
    | Quantile
    | Median
    | Histogram
    | Crosstab
    | Ratio
    | Covariance
    | Correlation
    | Mode
)


def sum(column: str, *, name: str | None = None, weight: Amount = 1) -> Sum:  # noqa: A001
    """Ask for the sum of a numeric column; arguments as for `count`."""
    return Sum(
        read_column(column), read_name(name, f"sum_{column}"), read_weight(weight)
    )


def mean(column: str, *, name: str | None = None, weight: Amount = 1) -> Mean:
    """Ask for the mean of a numeric or Boolean column; arguments as for `count`."""
    return Mean(
        read_column(column), read_name(name, f"mean_{column}"), read_weight(weight)
    )


def proportion(
    column: str,
    key: str | int | bool | None = None,
    *,
    name: str | None = None,
    weight: Amount = 1,
) -> Proportion:
    """Ask for the share of values that are `key`; other arguments as for `count`.

    Args:
        column: Name of a Boolean column, or of a category.
        key: A declared key of the column; may be left out for a Boolean: true.
        name: Name of the figure; default ``proportion_<column>``, with ``_<key>``.
        weight: Importance when the ε is split; see `count`.

    Examples:
        >>> proportion("Smoker").name, proportion("Sex", "F").name
        ('proportion_Smoker', 'proportion_Sex_F')
    """
    default = f"proportion_{read_column(column)}"
    default += "" if key is None else f"_{key if isinstance(key, str) else quoted(key)}"
    return Proportion(column, key, read_name(name, default), read_weight(weight))


def variance(column: str, *, name: str | None = None, weight: Amount = 1) -> Variance:
    """Ask for the variance of a numeric or Boolean column; arguments as for `count`.

    The divisor is n; multiply by n / (n - 1) for the estimate of a population.
    """
    return Variance(
        read_column(column), read_name(name, f"variance_{column}"), read_weight(weight)
    )


def std(column: str, *, name: str | None = None, weight: Amount = 1) -> Std:
    """Ask for the standard deviation of a column: the root of its `variance`."""
    return Std(
        read_column(column), read_name(name, f"std_{column}"), read_weight(weight)
    )


def histogram(
    column: str,
    edges: Iterable[Edge] | None = None,
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
    cut = read_edges(read_column(column), edges)
    return Histogram(
        column, cut, read_name(name, f"histogram_{column}"), read_weight(weight)
    )


def mode(
    column: str,
    edges: Iterable[Edge] | None = None,
    *,
    name: str | None = None,
    weight: Amount = 1,
) -> Mode:
    """Ask for the most frequent key of a column, or bin of a numeric one.

    The answer is a key or bin, chosen with a probability that falls with the rows that
    it has fewer than the most frequent one; no count is told. Arguments as for
    `histogram`. To have the counts too, ask for the histogram alone and read the mode
    from it: that costs nothing more.

    Raises:
        DeclarationError: Fewer than two edges, or edges that do not increase.
    """
    cut = read_edges(read_column(column), edges)
    return Mode(column, cut, read_name(name, f"mode_{column}"), read_weight(weight))


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
    listed: tuple[Listed, ...] = ()
    other: str | None = None
    derived: tuple[Derived, ...] = ()
    shown: Shown = ALL_SHOWN
    base: Base | None = None

    @property
    def rows(self) -> Part:
        """The rows that it is about, as a part of another question."""
        return Part(self.base, self.derived, self.condition)

    def of(self, base: Base) -> Query:
        """Ask the same about the rows that a node yields (`sfumato.declare.relation`)."""
        return replace(self, base=base, derived=(), condition=None)

    def derive(self, name: str, value: Operand, column: Column | None = None) -> Query:
        """Add a column computed from the others; see `Question.derive`."""
        one = read_derived(name, value, column)
        return replace(self, derived=(*self.derived, one))

    def where(self, condition: Expr) -> Query:
        """Keep the rows where `condition` is true; repeated calls all must hold."""
        if not isinstance(condition, Expr):
            raise DeclarationError(
                N_("{value} is not a filter"),
                hint=N_(
                    'write where(col("Age") >= 30), or where(col("Smoker") == True)'
                ),
                value=type(condition).__name__,
            )
        both = condition if self.condition is None else And(self.condition, condition)
        return replace(self, condition=both)

    def group_by(
        self, *columns: str, keys: object = None, other: str | None = None
    ) -> Query:
        """Answer for each combination of the declared keys of these columns.

        Repeated calls cross their combinations, those of the first call outermost.

        Args:
            columns: Names of columns with declared keys.
            keys: A public list of keys, or of tuples of keys: only these combinations
                are answered for, in this order, whether or not they occur.
            other: Name of one more group, at the end, for all rows that are in no
                group otherwise: an unlisted or a missing key.

        Raises:
            DeclarationError: The keys are not such a list, or `other` is no name.

        Examples:
            >>> q = Query().group_by("Sex", "Year", keys=[("F", 2024), ("M", 2025)])
            >>> print(q.select(count()))
            count by Sex, Year (2 listed keys)
        """
        columns = tuple(map(read_column, columns))
        listed = () if keys is None else (read_listed(columns, keys),)
        if other == "" or not isinstance(other, str | None):
            raise DeclarationError(
                N_("the group of all other rows needs a name, got {value}"),
                hint=N_('write, for example, other="other"'),
                value=quoted(other),
            )
        return replace(
            self,
            keys=self.keys + columns,
            listed=self.listed + listed,
            other=self.other if other is None else other,
        )

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

    def having(self, condition: Expr) -> Query:
        """Tell only groups whose *released* figures meet it; see `Question.having`."""
        return replace(self, shown=self.shown.where(condition))

    def order_by(self, *names: str, descending: bool = False) -> Query:
        """Sort groups by released figures or by keys; see `Question.order_by`."""
        return replace(self, shown=self.shown.sorted_by(names, descending))

    def limit(self, most: int) -> Query:
        """Tell at most so many groups; see `Question.limit`."""
        return replace(self, shown=self.shown.limited(most))

    def __str__(self) -> str:
        """Say it in words."""
        words = ", ".join(s.name for s in self.statistics) or "nothing"
        if self.keys:
            words += f" by {', '.join(self.keys)}"
            if self.listed:
                words += f" ({prod(len(e.keys) for e in self.listed)} listed keys)"
            if self.other is not None:
                words += f" and {self.other}"
        if self.condition is not None:
            words += f" where {self.condition}"
        if self.derived:
            words += " with " + ", ".join(map(str, self.derived))
        words += f"{self.shown}"
        return words if self.base is None else f"{words}; of {self.base}"
