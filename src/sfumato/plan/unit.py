"""In which unit a figure is told, from the units that columns are declared in."""

from __future__ import annotations

import re

from sfumato.declare.calendar import DAYS
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
    Std,
    Variance,
)
from sfumato.declare.schema import Schema

__all__ = ["unit_of"]

_COMPOSED = re.compile(r"[\s/·*^²³()\d]")


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
        ('EUR/d', 'EUR²')
        >>> mixed = Schema({"x": Integer(0, 9, unit="mg/dL"), "y": Integer(0, 9, unit="d")})
        >>> unit_of(mixed, covariance("x", "y"), "x", "y")
        '(mg/dL) · d'
    """
    first, second = (
        str(getattr(schema[name], "unit", "")) if name else ""
        for name in (column, other)
    )
    match statistic:
        case Count() | Histogram() | Proportion() | Crosstab() | Correlation() | Mode():
            return ""
        case Ratio():
            over = _factor(first) if first else "1"
            return f"{over}/{_factor(second)}" if second else first
        case Covariance():
            return _product(_span(first), _span(second))
        case Variance():
            return _product(_span(first), _span(first))
        case Std():
            return _span(first)
        case _:
            return first


def _span(unit: str) -> str:
    """Return the unit of a difference: that of two days is told in days."""
    return "days" if unit == DAYS else unit


def _product(first: str, second: str) -> str:
    if not (first and second):
        return first or second
    if first == second:
        return f"{_factor(first)}²"
    return f"{_factor(first)} · {_factor(second)}"


def _factor(unit: str) -> str:
    """Write a unit as a factor: in brackets unless it is one word or sign."""
    return f"({unit})" if _COMPOSED.search(unit) else unit
