"""What may be asked of two columns together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.amount import Amount
from sfumato.declare.given import read_edges, read_name, read_weight

__all__ = ["Crosstab", "Ratio", "crosstab", "ratio"]


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


def crosstab(
    column: str,
    other: str,
    *,
    edges: Iterable[Amount] | None = None,
    other_edges: Iterable[Amount] | None = None,
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
        column,
        other,
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
    default = f"ratio_{column}_{other}"
    return Ratio(column, other, read_name(name, default), read_weight(weight))
