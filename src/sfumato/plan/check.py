"""Does the question fit the table? Everything here is free: it reads no rows."""

from __future__ import annotations

from typing import assert_never

from sfumato.declare.calendar import Date
from sfumato.declare.merged import OneInEach
from sfumato.declare.query import (
    Correlation,
    Count,
    Covariance,
    Crosstab,
    Histogram,
    Mean,
    Median,
    Mode,
    People,
    Proportion,
    Quantile,
    Query,
    Ratio,
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
    Text,
    token,
)
from sfumato.declare.unit import Rows
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.plan.grouping import Grouping
from sfumato.plan.kinds import check_condition
from sfumato.plan.relate import check_found, related
from sfumato.plan.shown import check_shown
from sfumato.plan.widen import widened
from sfumato.words import N_

__all__ = ["check_query"]


def check_query(query: Query, schema: Schema) -> Schema:
    """Refuse unknown columns, statistics of the wrong type, unknown keys, no question.

    Returns:
        The schema of what is asked about: the table's, with the derived columns.

    Raises:
        DeclarationError: With the nearest known name where there is one.
    """
    if not query.statistics:
        raise DeclarationError(
            N_("the question asks for no statistic"),
            hint=N_('add one, such as .select(count(), mean("Age"))'),
        )
    schema = widened(query, related(query.base, schema))
    for statistic in query.statistics:
        _check_statistic(statistic, schema)
        if query.base is not None:
            check_found(statistic, schema)
    if Grouping.of(query, schema).unknown and isinstance(schema.unit, OneInEach):
        # The δ of a threshold is for the one row that one unit can bring in.
        raise DeclarationError(
            N_("unknown keys are not shown of united tables whose unit is one row"),
            hint=N_("list public keys, group_by(…, keys=[…]), or declare Unit(…)"),
        )
    if query.condition is not None:
        check_condition(query.condition, schema)
    check_shown(query)
    if Grouping.of(query, schema).unknown and any(
        getattr(s, "beyond", False) for s in query.statistics
    ):
        raise DeclarationError(
            N_("with unknown keys it is not told how much the bounds cut"),
            hint=N_("ask for it without group_by, or list public keys"),
        )
    return schema


def _check_statistic(  # noqa: C901, PLR0912  one case for each
    statistic: Statistic, schema: Schema
) -> None:
    match statistic:
        case People(beyond=True) | Count(beyond=True):
            _check_bounded(schema)
        case People():
            pass
        case Count(column):
            _ = column is None or schema[column]
        case Sum(column) if isinstance(schema[column], Date):
            raise DeclarationError(
                N_("column {name} holds days; they have no sum"),
                hint=N_("ask for mean({name}) or median({name})"),
                name=repr(column),
            )
        case Sum(column) | Mean(column) | Variance(column) | Std(column):
            _check_number(column, schema[column])
        case Ratio(column, other):
            _check_number(column, schema[column])
            _check_number(other, schema[other])
            _check_denominator(other, schema[other])
        case Quantile(column) | Median(column):
            if not isinstance(schema[column], Real | Integer):
                raise DeclarationError(
                    N_("column {name} is not a number; it has no quantiles"),
                    hint=N_("ask for histogram({name}) or group by it"),
                    name=repr(column),
                )
        case Proportion(column, key):
            _check_share(column, schema[column], key)
        case Covariance(columns) | Correlation(columns):
            for column in columns:
                _check_number(column, schema[column])
        case Histogram(column, edges) | Mode(column, edges):
            _check_histogram(column, edges, schema[column])
        case Crosstab(column, other, edges, other_edges):
            _check_histogram(column, edges, schema[column])
            _check_histogram(other, other_edges, schema[other])
            _check_apart(column, other)
        case _:
            assert_never(statistic)


def _check_bounded(schema: Schema) -> None:
    if isinstance(schema.unit, Rows):
        raise DeclarationError(
            N_("each row is a unit of its own here, and no bound cuts any"),
            hint=N_("ask for count(), or declare Unit(…, max_rows=…, max_groups=…)"),
        )


def _check_number(name: str, column: Column) -> None:
    if not isinstance(column, Real | Integer | Boolean):
        raise DeclarationError(
            N_("column {name} is a category; it has no sum or mean"),
            hint=N_("ask for histogram({name}) or group by it"),
            name=repr(name),
        )


def _check_apart(*names: str) -> None:
    if len(set(names)) < len(names):
        raise DeclarationError(
            N_("a statistic of several columns names one of them twice: {names}"),
            hint=N_("name each column once"),
            names=", ".join(names),
        )


def _check_denominator(name: str, column: Column) -> None:
    lower, upper = getattr(column, "lower", 0.0), getattr(column, "upper", 1.0)
    if lower < 0 < upper:
        raise DeclarationError(
            N_("the sum of {name} can have either sign, so nothing is divided by it"),
            hint=N_(
                "declare bounds of {name} on one side of zero, such as 0 and {upper:g}, "
                "or ask for both sums"
            ),
            name=repr(name),
            upper=upper,
        )


def _check_share(name: str, column: Column, key: object) -> None:
    match column:
        case Category():
            if key is None:
                raise DeclarationError(
                    N_("the share of which key of {name} is asked for is not said"),
                    hint=N_("name a key, such as {example}"),
                    name=repr(name),
                    example=", ".join(map(quoted, column.values[:3])),
                )
            if token(key) not in column.tokens:
                raise DeclarationError(
                    N_("{key} is no declared key of {name}; its share is not known"),
                    hint=N_("name a key, such as {example}"),
                    key=quoted(key),
                    name=repr(name),
                    example=nearest(str(key), map(str, column.values)),
                )
        case Boolean():
            if not (key is None or isinstance(key, bool)):
                raise DeclarationError(
                    N_("{name} is true or false; {key} is neither"),
                    hint=N_("write proportion({name}) for the share of true"),
                    key=quoted(key),
                    name=repr(name),
                )
        case Text():
            raise DeclarationError(
                N_("column {name} has no declared keys; it has no share"),
                hint=N_("count the rows of a filter, such as {name} == {example}"),
                name=repr(name),
                example=quoted("" if key is None else key),
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
    if isinstance(column, Text):
        raise DeclarationError(
            N_("column {name} has no declared keys; it has no histogram"),
            hint=N_("group by it, with listed or with unknown keys"),
            name=repr(name),
        )
    if edges and not numeric:
        raise DeclarationError(
            N_("{name} has declared keys; its histogram takes no edges"),
            hint=N_("write histogram({name})"),
            name=repr(name),
        )
