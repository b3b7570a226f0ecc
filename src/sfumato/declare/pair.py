"""What may be asked of several columns together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.amount import Amount
from sfumato.declare.given import Edge, read_column, read_edges, read_name, read_weight
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Correlation", "Covariance", "Crosstab", "Ratio", "correlation", "covariance",
           "crosstab", "ratio"]  # fmt: skip

_MOST = 30  # columns of one matrix: 465 entries


@final
@dataclass(frozen=True, slots=True)
class Crosstab:
    """How many rows fall into each pair of a bin or key of two columns.

    Bins as in `Histogram`. A row without a bin in either column is in no pair.
    """

    column: str
    other: str
    edges: tuple[float, ...]
    other_edges: tuple[float, ...]
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Ratio:
    """The sum of a column's clamped values over the sum of another's.

    Each sum is over the cells that are not missing in its own column, as two `Sum`.
    """

    column: str
    other: str
    name: str
    weight: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariances of columns' clamped values, over rows that have all of them.

    Of two columns one number; of more the matrix, variances on its diagonal. The
    divisor is the number of such rows n, not n - 1.
    """

    columns: tuple[str, ...]
    name: str
    weight: Fraction = Fraction(1)

    @property
    def column(self) -> str:
        """The first column."""
        return self.columns[0]

    @property
    def other(self) -> str:
        """The second column."""
        return self.columns[1]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that a figure is given for: the upper triangle, row by row."""
        names = self.columns
        if len(names) == 2:  # noqa: PLR2004  one pair
            return ((names[0], names[1]),)
        return tuple((a, b) for i, a in enumerate(names) for b in names[i:])


@final
@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlations of columns' clamped values, over rows that have all of them."""

    columns: tuple[str, ...]
    name: str
    weight: Fraction = Fraction(1)

    @property
    def column(self) -> str:
        """The first column."""
        return self.columns[0]

    @property
    def other(self) -> str:
        """The second column."""
        return self.columns[1]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs that a figure is given for: what lies above the diagonal of ones."""
        names = self.columns
        return tuple((a, b) for i, a in enumerate(names) for b in names[i + 1 :])


def crosstab(
    column: str,
    other: str,
    *,
    edges: Iterable[Edge] | None = None,
    other_edges: Iterable[Edge] | None = None,
    name: str | None = None,
    weight: Amount = 1,
) -> Crosstab:
    """Ask how many rows fall into each pair of bins or keys of two columns.

    One row lies in one pair at most, so the whole table costs as much as one count.

    Args:
        column: Name of a declared column: the rows of the table.
        other: Name of another: its columns.
        edges: Public, increasing edges where `column` is numeric; none for keys.
        other_edges: The same for `other`.
        name: Name of the figures; default ``crosstab_<column>_<other>``.
        weight: Importance when the ε is split; see `count`.

    Raises:
        DeclarationError: Fewer than two edges, or edges that do not increase.

    Examples:
        >>> crosstab("Outcome", "Age", other_edges=[0, 30, 60, 120]).name
        'crosstab_Outcome_Age'
    """
    return Crosstab(
        read_column(column),
        read_column(other),
        read_edges(column, edges),
        read_edges(other, other_edges),
        read_name(name, f"crosstab_{column}_{other}"),
        read_weight(weight),
    )


def ratio(
    column: str, other: str, *, name: str | None = None, weight: Amount = 1
) -> Ratio:
    """Ask for the sum of a numeric column over the sum of another.

    Both sums are shared with other figures of the question that need them.

    Args:
        column: The numerator.
        other: The denominator. Its bounds must lie on one side of zero, or touch it:
            a sum that may have either sign gives no ratio that noise leaves usable.
        name: Name of the figure; default ``ratio_<column>_<other>``.
        weight: Importance when the ε is split; see `count`.

    Examples:
        >>> ratio("Cost", "Days").name
        'ratio_Cost_Days'
    """
    default = f"ratio_{read_column(column)}_{read_column(other)}"
    return Ratio(column, other, read_name(name, default), read_weight(weight))


def covariance(
    *columns: str, name: str | None = None, weight: Amount = 1
) -> Covariance:
    """Ask for the covariance of two numeric columns, or the matrix of several.

    Rows without a value in one of the columns are left out. Sums and squares are shared
    with means and variances of the same rows. The divisor is n, as in `variance`.

    Args:
        *columns: Names of number or Boolean columns, at least two.
        name: Name of the figures; default ``covariance_<column>_<column>…``.
        weight: Importance when the ε is split; see `count`.

    Raises:
        DeclarationError: Fewer than two columns, too many, or one of them twice.

    Examples:
        >>> covariance("Glucose", "BMI").name
        'covariance_Glucose_BMI'
        >>> covariance("x", "y", "z").pairs[:3]
        (('x', 'x'), ('x', 'y'), ('x', 'z'))
    """
    names = _several(columns)
    default = f"covariance_{'_'.join(names)}"
    return Covariance(names, read_name(name, default), read_weight(weight))


def correlation(
    *columns: str, name: str | None = None, weight: Amount = 1
) -> Correlation:
    """Ask for the correlation of two numeric columns, or of each pair of several.

    Between -1 and 1; 0 where a column seems to have one value only. Arguments, rows and
    errors as for `covariance`.

    Examples:
        >>> correlation("x", "y", "z").pairs
        (('x', 'y'), ('x', 'z'), ('y', 'z'))
    """
    names = _several(columns)
    default = f"correlation_{'_'.join(names)}"
    return Correlation(names, read_name(name, default), read_weight(weight))


def _several(columns: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(map(read_column, columns))
    if not 2 <= len(names) <= _MOST or len(set(names)) < len(names):  # noqa: PLR2004
        raise DeclarationError(
            N_(
                "a covariance or correlation is of 2 to {most} columns, each named once"
            ),
            hint=N_('write, for example, covariance("Glucose", "BMI")'),
            most=_MOST,
        )
    return names
