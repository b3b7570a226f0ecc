"""In which unit a figure is told, from the units that columns are declared in."""

from __future__ import annotations

from sfumato.declare.query import (
    Correlation,
    Count,
    Covariance,
    Crosstab,
    Histogram,
    Mode,
    Proportion,
    Ratio,
    Statistic,
    Variance,
)
from sfumato.declare.schema import Schema

__all__ = ["unit_of"]


def unit_of(
    schema: Schema, statistic: Statistic, column: str | None, other: str | None = None
) -> str:
    """Return the unit of a figure; empty for counts, shares and correlations.

    Args:
        schema: The declarations.
        statistic: What the figure is of.
        column: The column that it is about.
        other: The second one, of a ratio or a covariance.

    Examples:
        >>> from sfumato.declare.query import covariance, ratio, variance
        >>> from sfumato.declare.schema import Integer
        >>> schema = Schema({"x": Integer(0, 9, unit="EUR"), "y": Integer(0, 9, unit="d")})
        >>> unit_of(schema, ratio("x", "y"), "x", "y"), unit_of(schema, variance("x"), "x")
        ('EUR/(d)', '(EUR)²')
    """
    first, second = (
        str(getattr(schema[name], "unit", "")) if name else ""
        for name in (column, other)
    )
    match statistic:
        case Count() | Histogram() | Proportion() | Crosstab() | Correlation() | Mode():
            return ""
        case Ratio():
            return f"{first or 1}/({second})" if second else first
        case Covariance():
            both = " · ".join(f"({unit})" for unit in (first, second) if unit)
            return f"({first})²" if first and first == second else both
        case Variance():
            return f"({first})²" if first else ""
        case _:
            return first
