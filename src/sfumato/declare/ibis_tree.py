"""An Ibis expression as a way to ask: its tree → the same `Query` that the builder makes.

A closed world: each node of the tree must be one of those known here, by the exact name
of its class, and each of its arguments must be used, or the expression is refused.
Nothing is run through Ibis, and no table of Ibis is ever read: what comes out is a `Query`
about the dataset at hand. Nodes are known by name, so that this module, like the
rest of the argument, needs the standard library only. The grammar in words is
``docs/ibis.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from math import isfinite
from typing import Any, Final

from sfumato.declare import query as ask
from sfumato.declare.expr import (
    And,
    Col,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Literal_,
    Not,
    Operator,
    Or,
)
from sfumato.declare.ibis_join import TABLES, Rows, Tables, read_rows
from sfumato.declare.ibis_node import kind_of, opened, refuse
from sfumato.declare.ibis_shown import after_aggregate, with_shown
from sfumato.declare.query import Query, Statistic
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["is_ibis", "read_ibis"]

_MOST = 200  # conditions; checks and engines walk filters recursively
_DEEPEST = 250
_COMPARISONS: Final[dict[str, tuple[Operator, Operator]]] = {
    "Equals": ("==", "=="), "NotEquals": ("!=", "!="), "Less": ("<", ">"),
    "LessEqual": ("<=", ">="), "Greater": (">", "<"), "GreaterEqual": (">=", "<="),
}  # fmt: skip
_OF_COLUMN: Final[dict[str, Callable[..., Statistic]]] = {
    "Count": ask.count, "Sum": ask.sum, "Mean": ask.mean, "Median": ask.median,
    "Mode": ask.mode,
}  # fmt: skip

_SHAPE = N_(
    'write table.filter(…).group_by("key").aggregate(n=_.count(), '
    "m=_.column.mean()), where the table is called {table}"
)
_STATISTICS = N_(
    "ask for count(), sum(), mean(), median(), mode(), quantile(level), var(how={how}), "
    "std(how={how}), x.cov(y, how={how}), x.corr(y), x.sum() / y.sum() or nunique() of "
    "the unit's column, without where="
)
_FILTER = N_(
    "write comparisons of a column with a constant, isin, between, isnull, notnull, "
    "joined with &, | and ~"
)


def is_ibis(value: object) -> bool:
    """Tell whether a value is an expression of Ibis; the library is not imported."""
    return type(value).__module__.split(".")[0] == "ibis" and hasattr(value, "op")


def read_ibis(
    expression: Any,
    *,
    table: str,
    person: str | None = None,
    tables: Tables | None = None,
) -> Query:
    """Read an expression as a question; nothing is run and nothing spent.

    Args:
        expression: ``t.filter(…).group_by(…).aggregate(…)`` of Ibis, and what may follow:
            filters, an order and a limit of its figures.
        table: The name of the dataset's own table.
        person: The column that says whose a row is; the count of its distinct values is
            the number of people.
        tables: All tables that may be asked about or joined, by name, that one among
            them. Without it there is that one only.

    Raises:
        DeclarationError: The expression holds anything beyond the grammar; the message
            names it.
    """
    node, following = after_aggregate(expression.op())
    parent, groups, metrics = opened(
        node, "Aggregate", "parent", "groups", "metrics", hint=_SHAPE, table=table
    )
    filters, bottom = _filters(parent, table)
    if tables is None:
        rows = Rows(bottom, {}, None, person)
        if kind_of(bottom) not in TABLES:
            refuse(kind_of(bottom), _SHAPE, table=table)
        if bottom.name != table:
            raise _other_table(bottom.name, table)
    else:
        rows = read_rows(bottom, table, tables)
    conditions = [_condition(p, replace(rows, node=of), 0) for p, of in filters]
    if sum(map(_size, conditions)) > _MOST:
        raise _too_large()
    rows = replace(rows, node=parent)
    keys = [_key(name, column, rows) for name, column in groups.items()]
    if not metrics:
        refuse("aggregate()", _STATISTICS, how='"pop"')
    query = Query(base=rows.base).group_by(*keys)
    query = query.select(*(_statistic(name, n, rows) for name, n in metrics.items()))
    query = query.where(reduce(And, conditions)) if conditions else query
    return with_shown(query, following, lambda n, told: _condition(n, Rows(told, {}), 0))  # fmt: skip


def _filters(node: Any, table: str) -> tuple[list[tuple[Any, Any]], Any]:
    """Return the filters between the tables and the aggregate, the first one first.

    Each comes with the rows that it is a filter of; and what lies below all.
    """
    found: list[tuple[Any, Any]] = []
    while kind_of(node) in ("Filter", "Project"):
        if kind_of(node) == "Filter":
            parent, several = opened(node, "Filter", "parent", "predicates", hint=_SHAPE, table=table)  # fmt: skip
            found = [*((p, parent) for p in several), *found]
        else:
            parent, values = opened(node, "Project", "parent", "values", hint=_SHAPE, table=table)  # fmt: skip
            for name, value in values.items():
                _key(name, value, Rows(parent, {}))  # a choice of columns, nothing new
        if len(found) > _MOST:
            raise _too_large()
        node = parent
    return found, node


def _other_table(name: str, table: str) -> DeclarationError:
    return DeclarationError(
        N_("the expression asks of the table {name}, and this is {table}"),
        hint=N_("write ibis.table(…, name={table})"),
        name=repr(str(name)),
        table=repr(table),
    )


def _key(name: str, node: Any, parent: Rows) -> str:
    hint = N_("name columns of the table, without new names")
    column = _column(node, parent, hint)
    if str(node.name) != name:
        refuse(repr(name), hint)
    return column


def _statistic(  # noqa: C901, PLR0911, PLR0912  one for each
    name: str, node: Any, parent: Rows
) -> Statistic:
    hint, facts, kind = _STATISTICS, {"how": '"pop"'}, kind_of(node)
    if kind in ("Covariance", "Correlation"):
        *two, how, where = opened(node, kind, "left", "right", "how", "where", hint=hint, **facts)  # fmt: skip
        _unconditional(where)
        if kind == "Covariance" and how != "pop":  # a correlation has no divisor
            refuse(f'how="{how}"', hint, **facts)
        of_two = ask.covariance if kind == "Covariance" else ask.correlation
        return of_two(*(_column(side, parent, hint, **facts) for side in two), name=name)  # fmt: skip
    if kind == "Divide":
        sums = opened(node, kind, "left", "right", hint=hint, **facts)
        names = []
        for side in sums:
            inner, where = opened(side, "Sum", "arg", "where", hint=hint, **facts)
            _unconditional(where)
            names.append(_column(inner, parent, hint, **facts))
        return ask.ratio(*names, name=name)
    if kind == "CountDistinct":
        inner, where = opened(node, kind, "arg", "where", hint=hint, **facts)
        _unconditional(where)
        if parent.person is None or _column(inner, parent, hint, **facts) != parent.person:  # fmt: skip
            refuse("nunique()", hint, **facts)
        return ask.people(name=name)
    if kind == "CountStar":
        rows, where = opened(node, kind, "arg", "where", hint=hint, **facts)
        _unconditional(where)
        if rows != parent.node:
            refuse("count() of another table", hint, **facts)
        return ask.count(name=name)
    if kind in ("Variance", "StandardDev"):
        inner, how, where = opened(
            node, kind, "arg", "how", "where", hint=hint, **facts
        )
        _unconditional(where)
        if how != "pop":
            refuse(f'how="{how}"', hint, **facts)
        of = ask.variance if kind == "Variance" else ask.std
        return of(_column(inner, parent, hint, **facts), name=name)
    if kind == "Quantile":
        inner, level, where = opened(
            node, kind, "arg", "quantile", "where", hint=hint, **facts
        )
        _unconditional(where)
        value = _value(level)
        if isinstance(value, str | bool):
            refuse("quantile", hint, **facts)
        return ask.quantile(_column(inner, parent, hint, **facts), value, name=name)
    if kind in _OF_COLUMN:
        inner, where = opened(node, kind, "arg", "where", hint=hint, **facts)
        _unconditional(where)
        if (
            kind == "Mean" and kind_of(inner) == "Equals"
        ):  # the mean of "it is that key"
            same = _comparison(inner, parent)
            return ask.proportion(same.column, _as_key(same.value), name=name)
        return _OF_COLUMN[kind](_column(inner, parent, hint, **facts), name=name)
    return refuse(kind, hint, **facts)


def _as_key(value: Literal_) -> str | int | bool:
    if isinstance(value, float):
        refuse(repr(value), N_("a key is a text, a whole number, or true or false"))
    return value


def _unconditional(where: Any) -> None:
    if where is not None:
        refuse("where=", N_("filter the table instead: table.filter(…)"))


def _condition(node: Any, parent: Rows, depth: int) -> Expr:
    kind = kind_of(node)
    if depth > _DEEPEST:
        raise _too_large()
    if kind in ("And", "Or"):
        both = opened(node, kind, "left", "right", hint=_FILTER)
        left, right = (_condition(side, parent, depth + 1) for side in both)
        return And(left, right) if kind == "And" else Or(left, right)
    if kind == "Not":
        (inner,) = opened(node, kind, "arg", hint=_FILTER)
        return Not(_condition(inner, parent, depth + 1))
    return _leaf(node, parent)


def _leaf(node: Any, parent: Rows) -> Expr:
    kind = kind_of(node)
    if kind in ("IsNull", "NotNull"):
        (inner,) = opened(node, kind, "arg", hint=_FILTER)
        missing = IsMissing(_column(inner, parent, _FILTER))
        return missing if kind == "IsNull" else Not(missing)
    if kind == "InValues":
        inner, options = opened(node, kind, "value", "options", hint=_FILTER)
        return IsIn(_column(inner, parent, _FILTER), tuple(map(_value, options)))
    if kind == "Between":
        inner, *ends = opened(node, kind, "arg", "lower_bound", "upper_bound", hint=_FILTER)  # fmt: skip
        low, high = map(_value, ends)
        return Col(_column(inner, parent, _FILTER)).between(low, high)
    if kind == "Field":  # a column of truth values stands for "it is true"
        return Compare(_column(node, parent, _FILTER), "==", True)  # noqa: FBT003
    if kind in _COMPARISONS:
        return _comparison(node, parent)
    return refuse(kind, _FILTER)


def _comparison(node: Any, parent: Rows) -> Compare:
    kind = kind_of(node)
    left, right = opened(node, kind, "left", "right", hint=_FILTER)
    straight, turned = _COMPARISONS[kind]
    if kind_of(left) == "Field":
        return Compare(_column(left, parent, _FILTER), straight, _value(right))
    return Compare(_column(right, parent, _FILTER), turned, _value(left))


def _column(node: Any, parent: Rows, hint: str, **facts: object) -> str:
    """Return the name of a column that stands alone, of these very rows."""
    rows, name = opened(node, "Field", "rel", "name", hint=hint, **facts)
    if rows != parent.node:
        refuse(repr(str(name)), _SHAPE, table="it")
    return parent.names.get(str(name), str(name))


def _value(node: Any) -> Literal_:
    """Return a constant."""
    hint = N_("write a number, a text, True or False")
    value, _ = opened(node, "Literal", "value", "dtype", hint=hint)
    if isinstance(value, Decimal) and value.is_finite():
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bool | str | int) or (isinstance(value, float) and isfinite(value)):  # fmt: skip
        return value
    return refuse(type(value).__name__, hint)


def _size(expr: Expr) -> int:
    """Return the number of comparisons of a filter."""
    waiting: list[Expr] = [expr]
    leaves = 0
    while waiting:
        node = waiting.pop()
        if isinstance(node, And | Or):
            waiting += [node.left, node.right]
        elif isinstance(node, Not):
            waiting.append(node.inner)
        else:
            leaves += 1
    return leaves


def _too_large() -> DeclarationError:
    return DeclarationError(
        N_("the expression has more conditions, or deeper ones, than are read"),
        hint=N_("use at most {most} conditions"),
        most=_MOST,
    )
