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
from decimal import Decimal
from functools import reduce
from math import isfinite
from typing import Any, Final, NoReturn

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
from sfumato.declare.query import Query, Statistic
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["is_ibis", "read_ibis"]

_MOST = 200  # conditions; checks and engines walk filters recursively
_DEEPEST = 250
_TABLES = ("UnboundTable", "DatabaseTable", "InMemoryTable")
_COMPARISONS: Final[dict[str, tuple[Operator, Operator]]] = {
    "Equals": ("==", "=="), "NotEquals": ("!=", "!="), "Less": ("<", ">"),
    "LessEqual": ("<=", ">="), "Greater": (">", "<"), "GreaterEqual": (">=", "<="),
}  # fmt: skip
_OF_COLUMN: Final[dict[str, Callable[..., Statistic]]] = {
    "Count": ask.count, "Sum": ask.sum, "Mean": ask.mean, "Median": ask.median,
}  # fmt: skip

_SHAPE = N_(
    'write table.filter(…).group_by("key").aggregate(n=_.count(), '
    "m=_.column.mean()), where the table is called {table}"
)
_STATISTICS = N_(
    "ask for count(), sum(), mean(), median(), quantile(level), var(how={how}) or "
    "std(how={how}) of a column, without where="
)
_FILTER = N_(
    "write comparisons of a column with a constant, isin, between, isnull, notnull, "
    "joined with &, | and ~"
)


def is_ibis(value: object) -> bool:
    """Tell whether a value is an expression of Ibis; the library is not imported."""
    return type(value).__module__.split(".")[0] == "ibis" and hasattr(value, "op")


def read_ibis(expression: Any, *, table: str) -> Query:
    """Read an expression as a question; nothing is run and nothing spent.

    Args:
        expression: ``t.filter(…).group_by(…).aggregate(…)`` of Ibis.
        table: The only name that its table may have.

    Raises:
        DeclarationError: The expression holds anything beyond the grammar; the message
            names it.
    """
    node = expression.op()
    parent, groups, metrics = _open(
        node, "Aggregate", "parent", "groups", "metrics", hint=_SHAPE, table=table
    )
    conditions = _rows(parent, table)
    keys = [_key(name, column, parent) for name, column in groups.items()]
    if not metrics:
        _refuse("aggregate()", _STATISTICS, how='"pop"')
    query = Query().group_by(*keys).select(*(_statistic(name, n, parent) for name, n in metrics.items()))  # fmt: skip
    return query.where(reduce(And, conditions)) if conditions else query


def _rows(node: Any, table: str) -> list[Expr]:
    """Return the filters between the table and the aggregate, the first one first."""
    found: list[Expr] = []
    while _kind(node) not in _TABLES:
        if _kind(node) == "Filter":
            parent, several = _open(node, "Filter", "parent", "predicates", hint=_SHAPE, table=table)  # fmt: skip
            found = [*(_condition(p, parent, 0) for p in several), *found]
        elif _kind(node) == "Project":
            parent, values = _open(node, "Project", "parent", "values", hint=_SHAPE, table=table)  # fmt: skip
            for name, value in values.items():
                _key(name, value, parent)  # a choice of columns, and nothing new
        else:
            _refuse(_kind(node), _SHAPE, table=table)
        if len(found) > _MOST:
            raise _too_large()
        node = parent
    if node.name != table:
        raise DeclarationError(
            N_("the expression asks of the table {name}, and this is {table}"),
            hint=N_("write ibis.table(…, name={table})"),
            name=repr(str(node.name)),
            table=repr(table),
        )
    if sum(map(_size, found)) > _MOST:
        raise _too_large()
    return found


def _key(name: str, node: Any, parent: Any) -> str:
    column = _column(node, parent, N_("name columns of the table, without new names"))
    if column != name:
        _refuse(repr(name), N_("name columns of the table, without new names"))
    return column


def _statistic(name: str, node: Any, parent: Any) -> Statistic:
    hint, facts, kind = _STATISTICS, {"how": '"pop"'}, _kind(node)
    if kind == "CountStar":
        rows, where = _open(node, kind, "arg", "where", hint=hint, **facts)
        _unconditional(where)
        if rows != parent:
            _refuse("count() of another table", hint, **facts)
        return ask.count(name=name)
    if kind in ("Variance", "StandardDev"):
        inner, how, where = _open(node, kind, "arg", "how", "where", hint=hint, **facts)
        _unconditional(where)
        if how != "pop":
            _refuse(f'how="{how}"', hint, **facts)
        of = ask.variance if kind == "Variance" else ask.std
        return of(_column(inner, parent, hint, **facts), name=name)
    if kind == "Quantile":
        inner, level, where = _open(
            node, kind, "arg", "quantile", "where", hint=hint, **facts
        )
        _unconditional(where)
        value = _value(level)
        if isinstance(value, str | bool):
            _refuse("quantile", hint, **facts)
        return ask.quantile(_column(inner, parent, hint, **facts), value, name=name)
    if kind in _OF_COLUMN:
        inner, where = _open(node, kind, "arg", "where", hint=hint, **facts)
        _unconditional(where)
        if kind == "Mean" and _kind(inner) == "Equals":  # the mean of "it is that key"
            same = _comparison(inner, parent)
            return ask.proportion(same.column, _as_key(same.value), name=name)
        return _OF_COLUMN[kind](_column(inner, parent, hint, **facts), name=name)
    return _refuse(kind, hint, **facts)


def _as_key(value: Literal_) -> str | int | bool:
    if isinstance(value, float):
        _refuse(repr(value), N_("a key is a text, a whole number, or true or false"))
    return value


def _unconditional(where: Any) -> None:
    if where is not None:
        _refuse("where=", N_("filter the table instead: table.filter(…)"))


def _condition(node: Any, parent: Any, depth: int) -> Expr:
    kind = _kind(node)
    if depth > _DEEPEST:
        raise _too_large()
    if kind in ("And", "Or"):
        both = _open(node, kind, "left", "right", hint=_FILTER)
        left, right = (_condition(side, parent, depth + 1) for side in both)
        return And(left, right) if kind == "And" else Or(left, right)
    if kind == "Not":
        (inner,) = _open(node, kind, "arg", hint=_FILTER)
        return Not(_condition(inner, parent, depth + 1))
    return _leaf(node, parent)


def _leaf(node: Any, parent: Any) -> Expr:
    kind = _kind(node)
    if kind in ("IsNull", "NotNull"):
        (inner,) = _open(node, kind, "arg", hint=_FILTER)
        missing = IsMissing(_column(inner, parent, _FILTER))
        return missing if kind == "IsNull" else Not(missing)
    if kind == "InValues":
        inner, options = _open(node, kind, "value", "options", hint=_FILTER)
        return IsIn(_column(inner, parent, _FILTER), tuple(map(_value, options)))
    if kind == "Between":
        inner, *ends = _open(node, kind, "arg", "lower_bound", "upper_bound", hint=_FILTER)  # fmt: skip
        low, high = map(_value, ends)
        return Col(_column(inner, parent, _FILTER)).between(low, high)
    if kind == "Field":  # a column of truth values stands for "it is true"
        return Compare(_column(node, parent, _FILTER), "==", True)  # noqa: FBT003
    if kind in _COMPARISONS:
        return _comparison(node, parent)
    return _refuse(kind, _FILTER)


def _comparison(node: Any, parent: Any) -> Compare:
    kind = _kind(node)
    left, right = _open(node, kind, "left", "right", hint=_FILTER)
    straight, turned = _COMPARISONS[kind]
    if _kind(left) == "Field":
        return Compare(_column(left, parent, _FILTER), straight, _value(right))
    return Compare(_column(right, parent, _FILTER), turned, _value(left))


def _column(node: Any, parent: Any, hint: str, **facts: object) -> str:
    """Return the name of a column that stands alone, of these very rows."""
    rows, name = _open(node, "Field", "rel", "name", hint=hint, **facts)
    if rows != parent:
        _refuse(repr(str(name)), _SHAPE, table="it")
    return str(name)


def _value(node: Any) -> Literal_:
    """Return a constant."""
    hint = N_("write a number, a text, True or False")
    value, _ = _open(node, "Literal", "value", "dtype", hint=hint)
    if isinstance(value, Decimal) and value.is_finite():
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bool | str | int) or (isinstance(value, float) and isfinite(value)):  # fmt: skip
        return value
    return _refuse(type(value).__name__, hint)


def _open(node: Any, kind: str, *names: str, hint: str, **facts: object) -> list[Any]:
    """Return these arguments of a node of this kind; any other that is set is refused."""
    if _kind(node) != kind:
        _refuse(_kind(node), hint, **facts)
    parts = dict(zip(node.__argnames__, node.__args__, strict=True))
    for name, value in parts.items():
        if name not in names and value is not None and value != ():
            _refuse(f"{kind}.{name}", hint, **facts)
    if set(names) - set(parts):  # another Ibis, whose node means something else
        _refuse(kind, hint, **facts)
    return [parts[name] for name in names]


def _kind(node: Any) -> str:
    """Return the name of a node's class, if it is one of Ibis's own."""
    kind = type(node)
    own = kind.__module__.startswith("ibis.expr.operations.")
    return kind.__name__ if own else f"{kind.__module__}.{kind.__name__}"


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


def _refuse(construct: str, hint: str, **facts: object) -> NoReturn:
    raise DeclarationError(
        N_("the expression of Ibis cannot be asked because of {construct}"),
        hint=hint,
        construct=construct,
        **facts,
    )
