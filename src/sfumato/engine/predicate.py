"""Filters as SQL; the database's three-valued logic is that of the specification."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never

from sfumato.declare.logic import (
    Absent,
    And,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Literal_,
    Member,
    Not,
    Or,
    Relation,
    StartsWith,
)
from sfumato.declare.schema import Boolean, Category, Integer, Real, Text
from sfumato.declare.value import Name
from sfumato.engine.cell import constant as number_constant
from sfumato.engine.cell import key_index
from sfumato.engine.terms import Terms

__all__ = ["Computed", "predicate"]


Computed: TypeAlias = Relation | Member | Absent | StartsWith
"""Conditions on computed values, which are bound to columns first."""


def predicate(  # noqa: PLR0911  one for each
    expr: Expr, terms: Terms, computed: Callable[[Computed], str]
) -> str:
    """Return SQL that is true, false or null exactly where `expr` is (null: missing).

    Chains of one operator become flat lists, so that long filters stay shallow.

    Args:
        expr: The condition.
        terms: The cells of the columns.
        computed: Renders a condition on computed values.
    """

    def inside(part: Expr) -> str:
        return f"({predicate(part, terms, computed)})"

    match expr:
        case Compare(name, operator, value):
            return _compare(name, operator, value, terms)
        case IsIn(name, values):
            return _is_in(name, values, terms)
        case StartsWith(Name(name), prefix) if isinstance(terms.schema[name], Text):
            return terms.begins(name, prefix)
        case IsMissing(name):
            return f"NOT COALESCE({_has_value(name, terms)}, FALSE)"
        case And():
            return " AND ".join(map(inside, _chain(expr, And)))
        case Or():
            return " OR ".join(map(inside, _chain(expr, Or)))
        case Not(inner):
            return f"NOT {inside(inner)}"
        case Relation() | Member() | Absent() | StartsWith():
            return computed(expr)
        case _:
            assert_never(expr)


def _chain(expr: Expr, kind: type[And | Or]) -> Iterator[Expr]:
    """Yield the operands of nested nodes of one kind, left to right."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, And | Or) and isinstance(node, kind):
            waiting += [node.right, node.left]
        else:
            yield node


def _compare(name: str, operator: str, value: Literal_, terms: Terms) -> str:
    column = terms.schema[name]
    if isinstance(column, Real | Integer):
        symbol = {"==": "=", "!=": "<>"}.get(operator, operator)
        constant = terms.dialect.constant(number_constant(value, column))
        return f"{terms.number(name)} {symbol} {constant}"
    equal = _is_in(name, (value,), terms)
    return f"NOT ({equal})" if operator == "!=" else equal


def _is_in(name: str, values: tuple[Literal_, ...], terms: Terms) -> str:
    column = terms.schema[name]
    match column:
        case Real() | Integer():
            constants = [
                terms.dialect.constant(number_constant(v, column)) for v in values
            ]
            x = terms.number(name)
            if not constants:
                return f"CASE WHEN {x} IS NOT NULL THEN FALSE END"
            return f"{x} IN ({', '.join(constants)})"
        case Boolean():
            places = {int(v is True) for v in values}
        case Category():
            places = {i for v in values if (i := key_index(v, column)) is not None}
        case Text():
            is_one = terms.is_text(name, values)
            return f"CASE WHEN {is_one} THEN TRUE WHEN {terms.has_key(name)} THEN FALSE END"
        case _:
            assert_never(column)
    inside = terms.is_any(name, sorted(places))
    return f"CASE WHEN {inside} THEN TRUE WHEN {terms.has_key(name)} THEN FALSE END"


def _has_value(name: str, terms: Terms) -> str:
    if isinstance(terms.schema[name], Real | Integer):
        return f"{terms.number(name)} IS NOT NULL"
    return terms.has_key(name)
