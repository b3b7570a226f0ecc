"""HAVING, ORDER BY and LIMIT: conditions, orders and limits of released figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, final

from sfumato.declare.logic import And, Expr, Not, Operator, Or, Relation
from sfumato.declare.query import Query, Statistic
from sfumato.declare.sqltree import (
    DEEPEST,
    MOST,
    SIGNS,
    Tree,
    kind_of,
    refuse,
    too_large,
    word_of,
)
from sfumato.declare.value import Arithmetic, Constant, Name, Sign, Value
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["ShownReader"]

Output: TypeAlias = "tuple[Statistic | Value, str | None]"
_HINT = N_(
    "HAVING, ORDER BY and LIMIT see released figures: write HAVING COUNT(*) > 100, "
    "ORDER BY n DESC, LIMIT 10, of outputs of the SELECT"
)
_COMPARISONS: Final[dict[str, Operator]] = {
    "EQ": "==", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=",
}  # fmt: skip
_SIGNS: Final[dict[str, Sign]] = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}


@final
class ShownReader:
    """Reads the last clauses of a statement, whose outputs are already known."""

    def __init__(
        self, tree: Tree, outputs: Sequence[Output], read: Callable[[Any], Output]
    ) -> None:
        """Keep the outputs in order, and how an output is read."""
        self._tree, self._outputs, self._read = tree, outputs, read
        self._conditions = 0

    def apply(self, query: Query, having: Any, order: Any, limit: Any) -> Query:
        """Return the question with these clauses; each may be none."""
        tree = self._tree
        if having is not None:
            (condition,) = tree.open(having, "this", hint=_HINT)
            tree.use("HAVING")
            query = query.having(self._condition(query, condition, 0))
        if order is not None:
            (columns,) = tree.open(order, "expressions", hint=_HINT)
            tree.use("ORDER BY", *"," * (len(columns) - 1))
            for node in columns:
                query = self._sorted(query, node)
        if limit is not None:
            if kind_of(limit) != "Limit":
                refuse(word_of(limit), _HINT)
            (number,) = tree.open(limit, "expression", hint=_HINT)
            tree.use("LIMIT")
            most = tree.constant(number)
            query = replace(query, shown=query.shown.limited(most))
        return query

    def _sorted(self, query: Query, node: Any) -> Query:
        # nulls_first is what some databases do with what is missing: nothing here.
        if kind_of(node) != "Ordered":
            refuse(word_of(node), _HINT)
        inner, desc, _ = self._tree.open(
            node, "this", "desc", "nulls_first", hint=_HINT
        )
        if desc is not None:  # ASC is told apart from no word at all
            self._tree.use("DESC" if desc else "ASC")
        if kind_of(inner) == "Literal":
            name = self._at(query, self._tree.constant(inner))
        else:
            found = self._value(query, inner, 0)
            if not isinstance(found, Name):
                refuse(word_of(inner), _HINT)
            name = found.column
        return query.order_by(name, descending=bool(desc))

    def _at(self, query: Query, place: object) -> str:
        """Return the name of the output at a place, from 1."""
        if not isinstance(place, int) or not 1 <= place <= len(self._outputs):
            refuse(f"ORDER BY {place!r}"[:40], _HINT)
        output, alias = self._outputs[place - 1]
        if isinstance(output, Value):
            return str(output) if alias is None else alias
        before = [o for o, _ in self._outputs[: place - 1] if not isinstance(o, Value)]
        return query.statistics[len(before)].name

    def _condition(self, query: Query, node: Any, depth: int) -> Expr:
        tree, kind = self._tree, kind_of(node)
        self._conditions += 1
        if depth > DEEPEST or self._conditions > MOST:
            raise too_large()
        match kind:
            case "And" | "Or":
                both = tree.open(node, "this", "expression", hint=_HINT)
                tree.use(kind.upper())
                left, right = (self._condition(query, n, depth + 1) for n in both)
                return And(left, right) if kind == "And" else Or(left, right)
            case "Not":
                (inner,) = tree.open(node, "this", hint=_HINT)
                tree.use("NOT")
                return Not(self._condition(query, inner, depth + 1))
            case "Paren":
                (inner,) = tree.open(node, "this", hint=_HINT)
                tree.use("(", ")")
                return self._condition(query, inner, depth + 1)
            case "Between":
                nodes = tree.open(node, "this", "low", "high", hint=_HINT)
                tree.use("BETWEEN", "AND")
                cell, low, high = (self._value(query, n, depth + 1) for n in nodes)
                return And(Relation(cell, ">=", low), Relation(cell, "<=", high))
            case _ if kind in _COMPARISONS:
                both = tree.open(node, "this", "expression", hint=_HINT)
                tree.use(SIGNS[kind])
                one, two = (self._value(query, n, depth + 1) for n in both)
                return Relation(one, _COMPARISONS[kind], two)
            case _:
                return refuse(word_of(node), _HINT)

    def _value(self, query: Query, node: Any, depth: int) -> Value:
        """Read a figure, a number, or arithmetic of both."""
        tree, kind = self._tree, kind_of(node)
        if depth > DEEPEST:
            raise too_large()
        match kind:
            case "Column":
                return Name(tree.column(node, _HINT))
            case "Literal" | "Neg" if (
                kind == "Literal" or kind_of(node.this) == "Literal"
            ):
                number = tree.constant(node)
                if isinstance(number, str | bool):
                    refuse(quoted(number), _HINT)
                return Constant(number)
            case "Paren":
                (inner,) = tree.open(node, "this", hint=_HINT)
                tree.use("(", ")")
                return self._value(query, inner, depth + 1)
            case _ if kind in _SIGNS and not _is_ratio(node):
                # typed and safe say how a database divides; here figures do.
                both = tree.open(
                    node, "this", "expression", "typed", "safe", hint=_HINT
                )[:2]
                tree.use(_SIGNS[kind])
                left, right = (self._value(query, n, depth + 1) for n in both)
                return Arithmetic(_SIGNS[kind], left, right)
            case _:
                return Name(self._figure(query, node))

    def _figure(self, query: Query, node: Any) -> str:
        """Return the name of the selected figure that an expression asks for."""
        if kind_of(node) == "Alias":
            refuse("AS", _HINT)
        asked, _ = self._read(node)
        for own in query.statistics:
            if not isinstance(asked, Value) and own == replace(asked, name=own.name):
                return own.name
        raise DeclarationError(
            N_("{figure} is none of the outputs of the SELECT"),
            hint=_HINT,
            figure=word_of(node),
        )


def _is_ratio(node: Any) -> bool:
    """Tell whether it is SUM(x) / SUM(y), a figure of its own."""
    sides = (node.args.get("this"), node.args.get("expression"))
    return kind_of(node) == "Div" and all(kind_of(side) == "Sum" for side in sides)
