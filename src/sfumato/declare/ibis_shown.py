"""What follows an aggregate of Ibis: filters, one order and a limit of released figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from sfumato.declare.ibis_node import kind_of, opened, refuse
from sfumato.declare.logic import Expr
from sfumato.declare.query import Query
from sfumato.words import N_

__all__ = ["after_aggregate", "with_shown"]

Condition: TypeAlias = Callable[[Any, Any], Expr]
_SHOWN = N_(
    "after aggregate(…) write filter(_.n > 100), then order_by(ibis.desc(name)), then "
    "limit(10): they see released figures"
)


def after_aggregate(node: Any) -> tuple[Any, list[Any]]:
    """Return the aggregate below a node, and what follows it, the first one first."""
    following: list[Any] = []
    while kind_of(node) in ("Filter", "Sort", "Limit"):
        below = node
        while kind_of(below) in ("Filter", "Sort", "Limit"):
            below = below.__args__[below.__argnames__.index("parent")]
        if kind_of(below) != "Aggregate":
            break  # no aggregate at all: the caller says what is wanted
        following.insert(0, node)
        node = node.__args__[node.__argnames__.index("parent")]
    return node, following


def with_shown(query: Query, following: list[Any], condition: Condition) -> Query:
    """Return the question with its filters, order and limit of released figures.

    Raises:
        DeclarationError: They stand in another order, or hold anything else.
    """
    steps = [kind_of(node) for node in following]
    if steps != sorted(steps, key=("Filter", "Sort", "Limit").index) or any(
        steps.count(kind) > 1 for kind in ("Sort", "Limit")
    ):
        refuse(steps[-1], _SHOWN)
    for node in following:
        match kind_of(node):
            case "Filter":
                parent, several = opened(node, "Filter", "parent", "predicates", hint=_SHOWN)  # fmt: skip
                for one in several:
                    query = query.having(condition(one, parent))
            case "Sort":
                parent, keys = opened(node, "Sort", "parent", "keys", hint=_SHOWN)
                for key in keys:
                    column, ascending, first = opened(key, "SortKey", "arg", "ascending", "nulls_first", hint=_SHOWN)  # fmt: skip
                    if first:
                        refuse("nulls_first", _SHOWN)
                    rows, name = opened(column, "Field", "rel", "name", hint=_SHOWN)
                    if rows != parent:
                        refuse(repr(str(name)), _SHOWN)
                    query = query.order_by(str(name), descending=not ascending)
            case _:
                _, most, start = opened(
                    node, "Limit", "parent", "n", "offset", hint=_SHOWN
                )
                if start != 0:
                    refuse("offset", _SHOWN)
                query = replace(query, shown=query.shown.limited(most))
    return query
