"""What may be asked of the order of a column's values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.amount import Amount, exact
from sfumato.declare.given import read_column, read_name, read_weight
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Median", "Quantile", "median", "near_maximum", "near_minimum", "quantile"]


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
            level=quoted(level),
        )
    default = f"quantile_{float(share):g}_{read_column(column)}"
    return Quantile(column, share, read_name(name, default), read_weight(weight))


def median(column: str, *, name: str | None = None, weight: Amount = 1) -> Median:
    """Ask for the median of a numeric column: its `quantile` at one half."""
    return Median(
        read_column(column), read_name(name, f"median_{column}"), read_weight(weight)
    )


def near_minimum(
    column: str,
    level: Amount = "0.01",
    *,
    name: str | None = None,
    weight: Amount = 1,
) -> Quantile:
    """Ask for the value that all but a small share of a numeric column exceed.

    The smallest value itself belongs to one row, and no private answer can tell it.
    This is the `quantile` at `level`, named so that nobody takes it for the minimum.

    Args:
        column: Name of a declared number column.
        level: The share at or below it; default 1 in 100 rows.
        name: Name of the figure; default ``near_minimum_<column>``.
        weight: Importance when the ε is split; see `count`.

    Examples:
        >>> near_minimum("Age").name, near_minimum("Age").level
        ('near_minimum_Age', Fraction(1, 100))
    """
    given = read_name(name, f"near_minimum_{read_column(column)}")
    return quantile(column, level, name=given, weight=weight)


def near_maximum(
    column: str,
    level: Amount = "0.99",
    *,
    name: str | None = None,
    weight: Amount = 1,
) -> Quantile:
    """Ask for the value that only a small share exceeds; see `near_minimum`."""
    given = read_name(name, f"near_maximum_{read_column(column)}")
    return quantile(column, level, name=given, weight=weight)
