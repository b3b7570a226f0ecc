"""A parsed SELECT → a `Query`: the visitor that knows each node and each argument.

The tree is sqlglot's; its nodes are known here by the names of their classes, so that
this module, like the rest of the argument, needs the standard library only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final, NoReturn, final

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
from sfumato.declare.query import Query, Statistic, count, mean, sum  # noqa: A004
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["DEEPEST", "SHAPE", "SIGNS", "Reader", "named", "refuse", "too_large"]

DEEPEST = 50  # brackets and NOTs within one another
_MOST = 200  # conditions; checks and engines walk filters recursively
_DIGITS = 400  # characters of a number
_COMPARISONS: Final[dict[str, tuple[Operator, Operator]]] = {
    "EQ": ("==", "=="), "NEQ": ("!=", "!="), "LT": ("<", ">"),
    "LTE": ("<=", ">="), "GT": (">", "<"), "GTE": (">=", "<="),
}  # fmt: skip
"""Each comparison, and the one that holds with its sides exchanged."""
SIGNS: Final = {
    "SELECT": "SELECT", "FROM": "FROM", "WHERE": "WHERE", "GROUP_BY": "GROUP BY",
    "AND": "AND", "OR": "OR", "NOT": "NOT", "IN": "IN", "BETWEEN": "BETWEEN", "IS": "IS",
    "NULL": "NULL", "TRUE": "TRUE", "FALSE": "FALSE", "ALIAS": "AS", "STAR": "*",
    "COMMA": ",", "DASH": "-", "L_PAREN": "(", "R_PAREN": ")", "EQ": "=", "NEQ": "<>",
    "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=",
}  # fmt: skip
"""How each kind of word is counted; any other word is counted by its text in quotes."""
_PLAIN = re.compile(r"[^\W\d]\w*")
_INTEGER = re.compile(r"[0-9]+", re.ASCII)
_REAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)

SHAPE = N_(
    "write SELECT key, COUNT(*), AVG(column) AS name FROM {table} WHERE … GROUP BY key"
)
_STATISTICS = N_("ask for COUNT(*), COUNT(column), SUM(column) or AVG(column)")
_FILTER = N_(
    "write comparisons of a column with a constant, IN (…), BETWEEN, IS NULL, joined "
    "with AND, OR and NOT"
)
_CONSTANT = N_("write a number, text in single quotes, TRUE or FALSE")


def too_large() -> DeclarationError:
    """Return the error for a filter that is too long or too deep."""
    return DeclarationError(
        N_("the SQL has more conditions, or brackets within brackets, than are read"),
        hint=N_("use at most {most} conditions, {deepest} deep"),
        most=_MOST,
        deepest=DEEPEST,
    )


def refuse(construct: str, hint: str, **facts: object) -> NoReturn:
    """Refuse the text because of one construct."""
    raise DeclarationError(
        N_("the SQL cannot be asked because of {construct}"),
        hint=hint,
        construct=construct,
        **facts,
    )


@final
class Reader:
    """Walks a tree; each node is recognised by the exact name of its class.

    Attributes:
        used: The words and signs that the nodes seen so far are written with.
    """

    def __init__(self, table: str) -> None:
        """Begin with no word used; `table` is the name that may stand after FROM."""
        self._table = table
        self._conditions = 0
        self.used: Counter[str] = Counter()

    def query(self, tree: Any) -> Query:
        """Read the statement."""
        if _kind(tree) != "Select":
            refuse(_word(tree), SHAPE, table=self._table)
        outputs, source, where, group = self._open(
            tree, "expressions", "from", "where", "group", hint=SHAPE
        )
        if not outputs:
            refuse("SELECT", _STATISTICS)
        self._use("SELECT", *"," * (len(outputs) - 1))
        self._check_source(source)
        keys = self._keys(group)
        query = Query().group_by(*keys).select(*self._statistics(outputs, keys))
        if where is None:
            return query
        (condition,) = self._open(where, "this", hint=_FILTER)
        self._use("WHERE")
        return query.where(self._condition(condition, 0))

    def _check_source(self, source: Any) -> None:
        name = None
        if source is not None:
            (named,) = self._open(source, "this", hint=SHAPE)
            if _kind(named) != "Table":
                refuse(_word(named), SHAPE, table=self._table)
            (named,) = self._open(named, "this", hint=SHAPE)
            name = self._name(named, SHAPE)
            self._use("FROM")
        if name != self._table:
            raise DeclarationError(
                N_("the SQL asks of the table {name}, and this is {table}"),
                hint=N_(
                    "write FROM {table}, in double quotes if it is not a plain word"
                ),
                name="''" if name is None else repr(name),
                table=repr(self._table),
            )

    def _keys(self, group: Any) -> list[str]:
        if group is None:
            return []
        hint = N_("after GROUP BY name columns that have declared keys")
        (columns,) = self._open(group, "expressions", hint=hint)
        if not columns:
            refuse("GROUP BY", hint)
        self._use("GROUP BY", *"," * (len(columns) - 1))
        return [self._column(column, hint) for column in columns]

    def _statistics(self, outputs: list[Any], keys: list[str]) -> Iterator[Statistic]:
        """Yield the statistics; a key that groups may be listed and adds nothing."""
        for output in outputs:
            if _kind(output) == "Column":
                name = self._column(output, _STATISTICS)
                if name not in keys:
                    raise DeclarationError(
                        N_("the SQL selects the cells of column {name}"),
                        hint=N_(
                            "single cells are never shown: ask for COUNT, SUM or AVG, "
                            "or add GROUP BY {name}"
                        ),
                        name=repr(name),
                    )
            elif _kind(output) == "Alias":
                inner, alias = self._open(output, "this", "alias", hint=_STATISTICS)
                yield self._statistic(inner, self._name(alias, _STATISTICS))
            else:
                yield self._statistic(output, None)

    def _statistic(self, node: Any, name: str | None) -> Statistic:
        kind = _kind(node)
        if kind not in ("Count", "Sum", "Avg"):
            refuse(_word(node), _STATISTICS)
        # big_int only says how wide some databases count.
        inner, _ = self._open(node, "this", "big_int", hint=_STATISTICS)
        self._use(repr(kind.upper()), "(", ")")
        if kind == "Count" and _kind(inner) == "Star":
            self._open(inner, hint=_STATISTICS)
            self._use("*")
            return count(name=name)
        column = self._column(inner, _STATISTICS)
        if kind == "Count":
            return count(column, name=name)
        return (sum if kind == "Sum" else mean)(column, name=name)

    def _condition(self, node: Any, depth: int) -> Expr:
        kind = _kind(node)
        match kind:
            case _ if depth > _MOST + DEEPEST:  # a chain is as deep as it is long
                raise too_large()
            case "And" | "Or":
                both = self._open(node, "this", "expression", hint=_FILTER)
                self._use(kind.upper())
                left, right = (self._condition(side, depth + 1) for side in both)
                return And(left, right) if kind == "And" else Or(left, right)
            case "Not":
                (inner,) = self._open(node, "this", hint=_FILTER)
                self._use("NOT")
                return Not(self._condition(inner, depth + 1))
            case "Paren":
                (inner,) = self._open(node, "this", hint=_FILTER)
                self._use("(", ")")
                return self._condition(inner, depth + 1)
            case _:
                self._conditions += 1
                if self._conditions > _MOST:
                    raise too_large()
                return self._leaf(node)

    def _leaf(self, node: Any) -> Expr:
        kind = _kind(node)
        match kind:
            case "EQ" | "NEQ" | "LT" | "LTE" | "GT" | "GTE":
                return self._comparison(node)
            case "Between":
                cell, *ends = self._open(node, "this", "low", "high", hint=_FILTER)
                self._use("BETWEEN", "AND")
                low, high = map(self._value, ends)
                return Col(self._column(cell, _FILTER)).between(low, high)
            case "In":
                cell, several = self._open(node, "this", "expressions", hint=_FILTER)
                self._use("IN", "(", ")", *"," * (len(several or [None]) - 1))
                values = tuple(map(self._value, several or []))
                return IsIn(self._column(cell, _FILTER), values)
            case "Is":
                cell, null = self._open(node, "this", "expression", hint=_FILTER)
                if _kind(null) != "Null":
                    refuse(f"IS {_word(null)}", _FILTER)
                self._open(null, hint=_FILTER)
                self._use("IS", "NULL")
                return IsMissing(self._column(cell, _FILTER))
            case "Column":
                name = self._column(node, _FILTER)
                refuse(repr(name), N_("write a comparison: {name} = TRUE"), name=name)
            case _:
                refuse(_word(node), _FILTER)

    def _comparison(self, node: Any) -> Compare:
        left, right = self._open(node, "this", "expression", hint=_FILTER)
        self._use(SIGNS[_kind(node)])
        straight, turned = _COMPARISONS[_kind(node)]
        if _kind(left) == "Column":
            return Compare(self._column(left, _FILTER), straight, self._value(right))
        if _kind(right) != "Column":
            refuse(_word(left), _FILTER)
        return Compare(self._column(right, _FILTER), turned, self._value(left))

    def _value(self, node: Any) -> Literal_:
        """Read a constant."""
        match _kind(node):
            case "Literal":
                text, is_text = self._open(node, "this", "is_string", hint=_CONSTANT)
                self._use("STRING" if is_text else "NUMBER")
                return str(text) if is_text else _number(str(text))
            case "Boolean":
                (truth,) = self._open(node, "this", hint=_CONSTANT)
                self._use(str(bool(truth)).upper())
                return bool(truth)
            case "Neg":
                (inner,) = self._open(node, "this", hint=_CONSTANT)
                self._use("-")
                number = self._value(inner) if _kind(inner) == "Literal" else ""
                if isinstance(number, str):
                    refuse("-", _CONSTANT)
                return -number
            case "Null":
                refuse("NULL", N_("write column IS NULL or column IS NOT NULL"))
            case _:
                refuse(_word(node), _CONSTANT)

    def _column(self, node: Any, hint: str) -> str:
        """Return the name of a column that stands alone."""
        if _kind(node) != "Column":
            refuse(_word(node), hint, table=self._table)
        (name,) = self._open(node, "this", hint=hint)
        return self._name(name, hint)

    def _name(self, node: Any, hint: str) -> str:
        """Return an identifier exactly as written."""
        if _kind(node) != "Identifier":
            refuse(_word(node), hint, table=self._table)
        name, quoted = self._open(node, "this", "quoted", hint=hint)
        if not name or not (quoted or _PLAIN.fullmatch(name)):
            refuse(
                repr(name), N_("put names that are not plain words in double quotes")
            )
        self._use(named(name))
        return str(name)

    def _open(self, node: Any, *names: str, hint: str) -> list[Any]:
        """Return these arguments of a node; any other one that is set is refused."""
        parts: dict[str, Any] = {}
        for key, value in node.args.items():
            name = key.rstrip("_")  # sqlglot marks names that are words of Python
            if name in names:
                parts[name] = value
            elif value is not None and value is not False and value != []:
                refuse(_argument(name), hint, table=self._table)
        return [parts.get(name) for name in names]

    def _use(self, *words: str) -> None:
        self.used.update(words)


def _number(text: str) -> int | float:
    if len(text) <= _DIGITS:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _REAL.fullmatch(text) and isfinite(number := float(text)):
            return number
    return refuse(text[:40], _CONSTANT)


def named(name: str) -> str:
    """Return how a name is counted: words of functions in capitals, all else as is."""
    return repr(name.upper() if name.upper() in ("COUNT", "SUM", "AVG") else name)


def _argument(name: str) -> str:
    words = {"joins": "JOIN", "order": "ORDER BY", "laterals": "LATERAL", "db": ".",
             "table": ".", "catalog": ".", "expressions": ",", "query": "SELECT",
             "sample": "TABLESAMPLE", "alias": "AS"}  # fmt: skip
    return words.get(name, name.upper().replace("_", " "))


def _kind(node: Any) -> str:
    return type(node).__name__


def _word(node: Any) -> str:
    """Name a construct as SQL would: a column by its name, all else by its word."""
    match _kind(node):
        case "Column" | "Identifier" | "Anonymous" | "Literal":
            return repr(str(node.name))[:60]
        case "Subquery":
            return "(SELECT"
        case "NoneType":
            return "''"
        case "NullSafeEQ" | "NullSafeNEQ":
            return "IS"
        case kind:
            return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).upper()
