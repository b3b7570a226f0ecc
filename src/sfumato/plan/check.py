"""Does the question fit the table? Everything here is free: it reads no rows."""

from __future__ import annotations

from typing import assert_never

from sfumato.amount import exact
from sfumato.declare.expr import And, Compare, Expr, IsIn, IsMissing, Not, Or
from sfumato.declare.query import (
    Count,
    Histogram,
    Mean,
    Median,
    Proportion,
    Quantile,
    Query,
    Statistic,
    Std,
    Sum,
    Variance,
)
from sfumato.declare.schema import (
    Boolean,
    Category,
    Column,
    Integer,
    Real,
    Schema,
    token,
)
from sfumato.errors import DeclarationError, nearest
from sfumato.plan.grouping import Grouping
from sfumato.words import N_

__all__ = ["check_query"]

_MOST_CONDITIONS = 400


def check_query(query: Query, schema: Schema) -> None:
    """Refuse unknown columns, statistics of the wrong type, unknown keys, no question.

    Raises:
        DeclarationError: With the nearest known name where there is one.
    """
    if not query.statistics:
        raise DeclarationError(
            N_("the question asks for no statistic"),
            hint=N_('add one, such as .select(count(), mean("Age"))'),
        )
    for statistic in query.statistics:
        _check_statistic(statistic, schema)
    Grouping.of(query, schema)
    if query.condition is not None:
        _check_size(query.condition)
        _check_filter(query.condition, schema)


def _check_statistic(statistic: Statistic, schema: Schema) -> None:
    match statistic:
        case Count(column):
            _ = column is None or schema[column]
        case Sum(column) | Mean(column) | Variance(column) | Std(column):
            if not isinstance(schema[column], Real | Integer | Boolean):
                raise DeclarationError(
                    N_("column {name} is a category; it has no sum or mean"),
                    hint=N_("ask for histogram({name}) or group by it"),
                    name=repr(column),
                )
        case Quantile(column) | Median(column):
            if not isinstance(schema[column], Real | Integer):
                raise DeclarationError(
                    N_("column {name} is not a number; it has no quantiles"),
                    hint=N_("ask for histogram({name}) or group by it"),
                    name=repr(column),
                )
        case Proportion(column, key):
            _check_share(column, schema[column], key)
        case Histogram(column, edges):
            _check_histogram(column, edges, schema[column])
        case _:
            assert_never(statistic)


def _check_share(name: str, column: Column, key: object) -> None:
    match column:
        case Category():
            if token(key) not in column.tokens:
                raise DeclarationError(
                    N_("{key} is no declared key of {name}; its share is not known"),
                    hint=N_("name a key, such as {example}"),
                    key=repr(key)[:60],
                    name=repr(name),
                    example=nearest(str(key), map(str, column.values)),
                )
        case Boolean():
            if not (key is None or isinstance(key, bool)):
                raise DeclarationError(
                    N_("{name} is true or false; {key} is neither"),
                    hint=N_("write proportion({name}) for the share of true"),
                    key=repr(key)[:60],
                    name=repr(name),
                )
        case Real() | Integer():
            raise DeclarationError(
                N_("column {name} is a number; it has no share"),
                hint=N_("count the rows of a filter, or ask for mean({name})"),
                name=repr(name),
            )
        case _:
            assert_never(column)


def _check_histogram(name: str, edges: tuple[float, ...], column: Column) -> None:
    numeric = isinstance(column, Real | Integer)
    if numeric and not edges:
        raise DeclarationError(
            N_("the histogram of {name} needs public edges"),
            hint=N_("write histogram({name}, [{lower:g}, …, {upper:g}])"),
            name=repr(name),
            lower=getattr(column, "lower", 0),
            upper=getattr(column, "upper", 0),
        )
    if edges and not numeric:
        raise DeclarationError(
            N_("{name} has declared keys; its histogram takes no edges"),
            hint=N_("write histogram({name})"),
            name=repr(name),
        )


def _check_size(expr: Expr) -> None:
    """Refuse filters too long to be walked; counted without recursion."""
    open_, count = [expr], 0
    while open_:
        match open_.pop():
            case And(left, right) | Or(left, right):
                open_ += [left, right]
            case Not(inner):
                open_.append(inner)
                count += 1
            case _:
                count += 1
    if count > _MOST_CONDITIONS:
        raise DeclarationError(
            N_("the filter has more than {most} conditions"),
            hint=N_("list many values of one column with is_in"),
            most=_MOST_CONDITIONS,
        )


def _check_filter(expr: Expr, schema: Schema) -> None:
    match expr:
        case Compare(column, operator, value):
            ordered = operator not in ("==", "!=")
            _check_literal(column, schema[column], value, ordered=ordered)
        case IsIn(column, values):
            for value in values:
                _check_literal(column, schema[column], value, ordered=False)
        case IsMissing(column):
            _ = schema[column]
        case And(left, right) | Or(left, right):
            _check_filter(left, schema)
            _check_filter(right, schema)
        case Not(inner):
            _check_filter(inner, schema)
        case _:
            assert_never(expr)


def _check_literal(name: str, column: Column, value: object, *, ordered: bool) -> None:
    match column:
        case Real() | Integer():
            if exact(value) is not None and not isinstance(value, str):
                return
            expected = N_("compare it with a finite number, such as {example}")
            example = f"{column.lower:g}"
        case Boolean():
            if isinstance(value, bool) and not ordered:
                return
            expected = N_("compare it with == or != and {example}")
            example = "True"
        case Category(values):
            if token(value) in column.tokens and not ordered:
                return
            expected = N_(
                "compare it with ==, != or is_in and a declared key: {example}"
            )
            example = nearest(str(value), map(str, values))
        case _:
            assert_never(column)
    raise DeclarationError(
        N_("column {name} cannot be compared with {value}"),
        hint=expected,
        name=repr(name),
        value=repr(value)[:60],
        example=example,
    )
