"""Can the released figures decide which groups are told? Free: it reads no rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sfumato.declare.logic import And, Compare, Expr, Not, Or, Relation
from sfumato.declare.query import (
    Correlation,
    Covariance,
    Crosstab,
    Histogram,
    Mode,
    Query,
    Statistic,
)
from sfumato.declare.value import Arithmetic, Constant, Name, Value
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.words import N_

__all__ = ["check_shown", "single"]

_PAIR = 2


def single(statistic: Statistic) -> bool:
    """Tell whether a statistic is one number per group."""
    match statistic:
        case Histogram() | Crosstab() | Mode():
            return False
        case Covariance(columns) | Correlation(columns):
            return len(columns) == _PAIR
        case _:
            return True


def check_shown(query: Query) -> None:
    """Refuse names of no figure, figures of several numbers, and what is no number.

    Raises:
        DeclarationError: With the nearest known name. Nothing was spent.
    """
    figures = [s.name for s in query.statistics if single(s)]
    several = {s.name for s in query.statistics} - {*figures}
    shown = query.shown
    wanted = [] if shown.having is None else list(_names(shown.having))
    sorted_by = [one.name for one in shown.order]
    for name in wanted + sorted_by:
        if name in several:
            raise DeclarationError(
                N_("{name} is several numbers in each group; they decide about none"),
                hint=N_("name a figure of one number, such as a count or a mean"),
                name=repr(name),
            )
        known = figures + (list(query.keys) if name in sorted_by else [])
        if name not in known:
            raise DeclarationError(
                N_("{name} is no figure of the question"),
                hint=N_("known figures: {near}; having and order_by see released ones"),
                name=quoted(name),
                near=nearest(name, known),
            )


def _names(condition: Expr) -> Iterator[str]:
    """Yield the figures that a condition is about."""
    match condition:
        case And(left, right) | Or(left, right):
            yield from _names(left)
            yield from _names(right)
        case Not(inner):
            yield from _names(inner)
        case Compare(name, _, value):
            yield name
            if isinstance(value, str | bool):
                raise _no_number(repr(value))
        case Relation(left, _, right):
            yield from _of_value(left)
            yield from _of_value(right)
        case _:
            raise _no_number(str(condition))


def _of_value(value: Value | Any) -> Iterator[str]:
    match value:
        case Name(name):
            yield name
        case Constant(number) if not isinstance(number, str):
            pass
        case Arithmetic(_, left, right):
            yield from _of_value(left)
            yield from _of_value(right)
        case _:
            raise _no_number(str(value))


def _no_number(what: str) -> DeclarationError:
    return DeclarationError(
        N_("released figures are numbers; they are not compared with {what}"),
        hint=N_('use +, -, *, / and comparisons: having(col("count") > 100)'),
        what=what[:60],
    )
