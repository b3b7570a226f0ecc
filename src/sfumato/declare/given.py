"""How the arguments of statistics are read: names, weights, edges, columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import isinf
from typing import TypeAlias

from sfumato.amount import Amount, exact, nearest_double
from sfumato.declare.calendar import day_number, day_of_text
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Edge", "read_column", "read_edges", "read_name", "read_weight"]


Edge: TypeAlias = "Amount | dt.date"

_MOST = Fraction(10**50)  # weights are squared, summed and taken roots of as doubles


def read_column(column: object) -> str:
    """Return the name of a column that a figure is about.

    Raises:
        DeclarationError: It is no text.
    """
    if isinstance(column, str):
        return column
    raise DeclarationError(
        N_("a column is named by a text, got {value}"),
        hint=N_('write, for example, sf.mean("Glucose")'),
        value=quoted(column),
    )


def read_name(name: object, default: str) -> str:
    """Return the name of a figure.

    Raises:
        DeclarationError: It is no text.
    """
    if name is None or isinstance(name, str):
        return default if name is None else name
    raise DeclarationError(
        N_("a figure is named by a text, got {value}"),
        hint=N_('write, for example, name="sugar", or leave it out'),
        value=quoted(name),
    )


def read_weight(weight: Amount) -> Fraction:
    """Return the importance of a figure, exactly.

    Raises:
        DeclarationError: It is not a number greater than 0.
    """
    number = exact(weight)
    if number is None or number <= 0:
        raise DeclarationError(
            N_("weight must be a number greater than 0, got {weight}"),
            hint=N_("leave it out, or write 2 for a figure that matters more"),
            weight=quoted(weight),
        )
    if not 1 / _MOST <= number <= _MOST:
        raise DeclarationError(
            N_("weight {weight} is beyond what noise can be shared by"),
            hint=N_("write a number between 1e-50 and 1e50"),
            weight=quoted(weight),
        )
    return number


def read_edges(column: str, edges: Iterable[Edge] | None) -> tuple[float, ...]:
    """Return public edges as doubles; none gives none.

    Days, as dates or as ``"YYYY-MM-DD"``, become the numbers of a column of days.

    Examples:
        >>> read_edges("day", ["2024-01-01", dt.date(2024, 7, 1), "2025-01-01"])
        (19723.0, 19905.0, 20089.0)

    Raises:
        DeclarationError: Fewer than two edges, or edges that do not increase.
    """
    listed: object = edges
    if listed is None:
        return ()
    numbers = tuple(map(_edge, listed)) if isinstance(listed, Iterable) else ()
    cut = tuple(nearest_double(n) for n in numbers if n is not None)
    if (
        len(numbers) < 2  # noqa: PLR2004  one bin has two edges
        or None in numbers
        or any(not a < b for a, b in pairwise(cut))
        or any(map(isinf, cut))
    ):
        raise DeclarationError(
            N_("the edges of a histogram must be at least two increasing numbers"),
            hint=N_("write, for example, histogram({column}, [0, 50, 100, 150])"),
            column=quoted(column),
        )
    return cut


def _edge(edge: Edge) -> Fraction | None:
    if isinstance(edge, dt.date):
        return None if isinstance(edge, dt.datetime) else Fraction(day_number(edge))
    day = day_of_text(edge) if isinstance(edge, str) else None
    return exact(edge) if day is None else Fraction(day)
