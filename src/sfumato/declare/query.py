"""What may be asked of a table. Plain data: a question knows no table and no budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import isinf, prod
from typing import TypeAlias, final

from sfumato.amount import Amount, exact, nearest_double
from sfumato.declare.derived import Derived, read_derived
from sfumato.declare.expr import And, Expr, Operand
from sfumato.declare.keys import Listed, read_listed
from sfumato.declare.schema import Column
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Count", "Histogram", "Mean", "Median", "Proportion", "Quantile", "Query",
           "Statistic", "Std", "Sum", "Variance", "count", "histogram", "mean", "median",
           "proportion", "quantile", "std", "sum", "variance"]  # fmt: skip


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
class Quantile:
    """The smallest value that a share `level` of a column's clamped values reach."""

    column: str
    level: Fraction
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Median:
    """The quantile at one half."""

    column: str
    name: str
    weight: Fraction = Fraction(1)

    @property
    def level(self) -> Fraction:
        """One half."""
        return Fraction(1, 2)


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


Statistic: TypeAlias = (
    Count | Sum | Mean | Proportion | Variance | Std | Quantile | Median | Histogram
)


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
    default = f"proportion_{column}" + ("" if key is None else f"_{key}")
    return Proportion(column, key, _name(name, default), _weight(weight))


def variance(column: str, *, name: str | None = None, weight: Amount = 1) -> Variance:
    """Ask for the variance of a numeric or Boolean column; arguments as for `count`.

    The divisor is n; multiply by n / (n - 1) for the estimate of a population.

    Examples:
        >>> variance("Glucose").name
        'variance_Glucose'
    """
    return Variance(column, _name(name, f"variance_{column}"), _weight(weight))


def std(column: str, *, name: str | None = None, weight: Amount = 1) -> Std:
    """Ask for the standard deviation of a column: the root of its `variance`."""
    return Std(column, _name(name, f"std_{column}"), _weight(weight))


def quantile(
    column: str, level: Amount, *, name: str | None = None, weight: Amount = 1
) -> Quantile:
    """Ask for the value below which a share of a numeric column lies.

    All quantiles of a column come from one measurement: asking for more of them costs
    nothing more, and they never cross.

    Args:
        column: Name of a declared number column.
        level: The share, between 0 and 1, such as ``"0.9"``. Neither end is a level:
            one row decides the smallest and the largest value, and no private answer
            can tell it; ask for ``"0.01"`` and ``"0.99"``.
        name: Name of the figure; default ``quantile_<level>_<column>``.
        weight: Importance when the ε is split; see `count`.

    Raises:
        DeclarationError: `level` is no number between 0 and 1.

    Examples:
        >>> quantile("Age", "0.9").name
        'quantile_0.9_Age'
    """
    share = exact(level)
    if share is None or not 0 < share < 1:
        raise DeclarationError(
            N_("the level of a quantile must lie between 0 and 1, got {level}"),
            hint=N_('write "0.5" for the median; for the ends take "0.01" and "0.99"'),
            level=repr(level)[:60],
        )
    default = f"quantile_{float(share):g}_{column}"
    return Quantile(column, share, _name(name, default), _weight(weight))


def median(column: str, *, name: str | None = None, weight: Amount = 1) -> Median:
    """Ask for the median of a numeric column: its `quantile` at one half."""
    return Median(column, _name(name, f"median_{column}"), _weight(weight))


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
    listed: tuple[Listed, ...] = ()
    other: str | None = None
    derived: tuple[Derived, ...] = ()

    def derive(self, name: str, value: Operand, column: Column | None = None) -> Query:
        """Add a column computed from the others; see `Question.derive`."""
        one = read_derived(name, value, column)
        return replace(self, derived=(*self.derived, one))

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
        listed = () if keys is None else (read_listed(columns, keys),)
        if other == "" or not isinstance(other, str | None):
            raise DeclarationError(
                N_("the group of all other rows needs a name, got {value}"),
                hint=N_('write, for example, other="other"'),
                value=repr(other)[:60],
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
        return words


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
