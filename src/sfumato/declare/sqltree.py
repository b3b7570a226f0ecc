"""The closed world of SQL: each node's arguments are used or refused, each word counted.

The tree is sqlglot's; its nodes are known here by the names of their classes, so that
this module, like the rest of the argument, needs the standard library only.
"""

from __future__ import annotations

import re
from collections import Counter
from math import isfinite
from typing import Any, Final, NoReturn, final

from sfumato.declare.logic import Literal_
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = [
    "CONSTANT",
    "DEEPEST",
    "MOST",
    "SHAPE",
    "SIGNS",
    "Scope",
    "Tree",
    "kind_of",
    "named",
    "refuse",
    "spelt",
    "too_large",
    "word_of",
]  # fmt: skip

DEEPEST = 50  # brackets and NOTs within one another
MOST = 200  # conditions; checks and engines walk filters recursively
_DIGITS = 400  # characters of a number
SIGNS: Final = {
    "SELECT": "SELECT", "FROM": "FROM", "WHERE": "WHERE", "GROUP_BY": "GROUP BY",
    "AND": "AND", "OR": "OR", "NOT": "NOT", "IN": "IN", "BETWEEN": "BETWEEN", "IS": "IS",
    "NULL": "NULL", "TRUE": "TRUE", "FALSE": "FALSE", "ALIAS": "AS", "STAR": "*",
    "COMMA": ",", "DASH": "-", "L_PAREN": "(", "R_PAREN": ")", "EQ": "=", "NEQ": "<>",
    "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=", "PLUS": "+", "SLASH": "/",
    "CASE": "CASE", "WHEN": "WHEN", "THEN": "THEN", "ELSE": "ELSE", "END": "END",
    "LIKE": "LIKE", "WITHIN": "WITHIN", "ORDER_BY": "ORDER BY",
    "HAVING": "HAVING", "LIMIT": "LIMIT", "DESC": "DESC", "ASC": "ASC",
}  # fmt: skip
"""How each kind of word is counted; any other word is counted by its text in quotes."""
_FUNCTIONS: Final = {
    **{word: word for word in (
        "COUNT", "SUM", "AVG", "VAR_POP", "STDDEV_POP", "MEDIAN", "QUANTILE",
        "PERCENTILE_DISC", "WITHIN", "GROUP", "FLOOR", "ABS", "LOWER", "TRIM", "CAST",
        "TRY_CAST", "EXTRACT", "YEAR", "MONTH", "DAY", "ISODOW", "CLIP", "COALESCE",
        "NULLIF", "DATE", "DOUBLE", "COVAR_POP", "CORR", "MODE", "JOIN", "LEFT", "INNER",
        "OUTER", "ON", "USING", "UNION", "ALL", "DISTINCT", "MAX", "MIN", "MIN_BY", "MAX_BY",
        "HISTOGRAM", "CROSSTAB", "BINS", "COVAR_MATRIX", "CORR_MATRIX", "PEOPLE_CUT",
        "ROWS_CUT",
    )},
    "ARG_MIN": "MIN_BY", "ARG_MAX": "MAX_BY",
    "REAL": "DOUBLE", "FLOAT": "DOUBLE", "DOUBLE PRECISION": "DOUBLE",
}  # fmt: skip
"""Words that SQL does not tell apart by capitals, or at all."""
_PLAIN = re.compile(r"[^\W\d]\w*")
_RESERVED = frozenset(
    [
        "ALL",
        "AND",
        "AS",
        "BETWEEN",
        "BY",
        "CASE",
        "CROSS",
        "DISTINCT",
        "ELSE",
        "END",
        "FALSE",
        "FROM",
        "FULL",
        "GROUP",
        "HAVING",
        "IN",
        "INNER",
        "IS",
        "JOIN",
        "LEFT",
        "LIKE",
        "LIMIT",
        "NOT",
        "NULL",
        "OFFSET",
        "ON",
        "OR",
        "ORDER",
        "OUTER",
        "RIGHT",
        "SELECT",
        "TABLE",
        "THEN",
        "TRUE",
        "UNION",
        "USING",
        "WHEN",
        "WHERE",
        "WITH",
    ]
)
_LONGEST = 60
_INTEGER = re.compile(r"[0-9]+", re.ASCII)
_REAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)

SHAPE = N_(
    "write SELECT key, COUNT(*), AVG(column) AS name FROM {table} WHERE … GROUP BY key"
)
CONSTANT = N_("write a number, text in single quotes, TRUE or FALSE")


def too_large() -> DeclarationError:
    """Return the error for a filter that is too long or too deep."""
    return DeclarationError(
        N_("the SQL has more conditions, or brackets within brackets, than are read"),
        hint=N_("use at most {most} conditions, {deepest} deep"),
        most=MOST,
        deepest=DEEPEST,
    )


def spelt(name: object) -> str:
    """Write a name as SQL takes it: in double quotes unless it is a plain word.

    Examples:
        >>> spelt("visits"), spelt("clinic-2024"), spelt("order"), spelt('a"b')
        ('visits', '"clinic-2024"', '"order"', '"a""b"')
    """
    text = str(name)[:_LONGEST]
    if _PLAIN.fullmatch(text) and text.upper() not in _RESERVED:
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def refuse(construct: str, hint: str, **facts: object) -> NoReturn:
    """Refuse the text because of one construct; the table is spelt as SQL takes it."""
    if "table" in facts:
        facts["table"] = spelt(facts["table"])
    raise DeclarationError(
        N_("the SQL cannot be asked because of {construct}"),
        hint=hint,
        construct=construct,
        **facts,
    )


@final
class Scope:
    """The columns of the tables of a statement.

    Attributes:
        columns: For each table, its columns and what the question calls them.
        persons: For each table, its column of identifiers, or none.
    """

    def __init__(
        self, columns: dict[str, dict[str, str]], persons: dict[str, str | None]
    ) -> None:
        """Begin with the first table."""
        self.columns, self.persons = columns, persons

    def holds(self, name: str) -> bool:
        """Tell whether some table has a column of that name."""
        return any(name in named for named in self.columns.values())

    def is_person(self, table: str | None, name: str) -> bool:
        """Tell whether a column, of that table if it is said, says whose a row is."""
        if table is not None:
            return name == self.persons.get(table)
        return name in self.persons.values() and not self.holds(name)

    def add(self, table: str, names: list[str], person: str | None) -> str:
        """Add a table; return what stands before its columns where names are taken."""
        taken = {
            n.casefold() for named in self.columns.values() for n in named.values()
        }
        taken |= {p.casefold() for p in self.persons.values() if p is not None}
        prefix = f"{table}_" if any(n.casefold() in taken for n in names) else ""
        self.columns[table] = {n: f"{prefix}{n}" for n in names}
        self.persons[table] = person
        return prefix

    def find(self, table: str | None, name: str) -> str:
        """Return what the question calls a column; an unknown one keeps its name.

        Raises:
            DeclarationError: The table is unknown or lacks it, or several have it.
        """
        if table is None:
            found = [named[name] for named in self.columns.values() if name in named]
            if len(found) > 1:
                refuse(repr(name), N_("several tables have it: write {table}.{name}"), table=next(iter(self.columns)), name=spelt(name))  # fmt: skip
            return found[0] if found else name
        if name == self.persons.get(table):
            return name
        if name not in self.columns.get(table, {}):
            refuse(f"{table}.{name}"[:60], N_("write a table of the statement and one of its declared columns"))  # fmt: skip
        return self.columns[table][name]


@final
class Tree:
    """Opens nodes, and counts what they are written with.

    Attributes:
        table: The name that may stand after FROM.
        scope: The tables of the statement and their columns; empty where only one name
            is known.
        used: The words and signs that the nodes opened so far are written with.
    """

    def __init__(self, table: str) -> None:
        """Begin with no word used."""
        self.table = table
        self.scope = Scope({}, {})
        self.used: Counter[str] = Counter()

    def open(self, node: Any, *names: str, hint: str) -> list[Any]:
        """Return these arguments of a node; any other one that is set is refused."""
        parts: dict[str, Any] = {}
        for key, value in node.args.items():
            name = key.rstrip("_")  # sqlglot marks names that are words of Python
            if name in names:
                parts[name] = value
            elif value is not None and value is not False and value != []:
                refuse(_argument(name), hint, table=self.table)
        return [parts.get(name) for name in names]

    def use(self, *words: str) -> None:
        """Count words and signs."""
        self.used.update(words)

    def column(self, node: Any, hint: str) -> str:
        """Return the name of a column that stands alone."""
        if kind_of(node) != "Column":
            refuse(word_of(node), hint, table=self.table)
        return self.scope.find(*self.cell(node, hint))

    def cell(self, node: Any, hint: str) -> tuple[str | None, str]:
        """Return the table that a column is said to be of, or none, and its name."""
        if kind_of(node) != "Column":
            refuse(word_of(node), hint, table=self.table)
        names = ("this", "table") if self.scope.columns else ("this",)
        name, *table = self.open(node, *names, hint=hint)
        if not table or table[0] is None:
            return None, self.name(name, hint)
        self.use(named("."))
        return self.name(table[0], hint), self.name(name, hint)

    def name(self, node: Any, hint: str) -> str:
        """Return an identifier exactly as written."""
        if kind_of(node) != "Identifier":
            refuse(word_of(node), hint, table=self.table)
        name, quoted = self.open(node, "this", "quoted", hint=hint)
        if not name or not (quoted or _PLAIN.fullmatch(name)):
            refuse(
                repr(name), N_("put names that are not plain words in double quotes")
            )
        self.use(named(name))
        return str(name)

    def constant(self, node: Any) -> Literal_:
        """Read a constant."""
        match kind_of(node):
            case "Literal":
                text, is_text = self.open(node, "this", "is_string", hint=CONSTANT)
                self.use("STRING" if is_text else "NUMBER")
                return str(text) if is_text else _number(str(text))
            case "Boolean":
                (truth,) = self.open(node, "this", hint=CONSTANT)
                self.use(str(bool(truth)).upper())
                return bool(truth)
            case "Neg":
                (inner,) = self.open(node, "this", hint=CONSTANT)
                self.use("-")
                number = self.constant(inner) if kind_of(inner) == "Literal" else ""
                if isinstance(number, str):
                    refuse("-", CONSTANT)
                return -number
            case "Null":
                refuse("NULL", N_("write column IS NULL or column IS NOT NULL"))
            case _:
                refuse(word_of(node), CONSTANT)


def kind_of(node: Any) -> str:
    """Return the name of a node's class, by which it is known."""
    return type(node).__name__


def word_of(node: Any) -> str:
    """Name a construct as SQL would: a column by its name, all else by its word."""
    match kind_of(node):
        case "Column" | "Identifier" | "Anonymous" | "Literal" | "Var":
            return quoted(str(node.name))
        case "Subquery":
            return "(SELECT"
        case "NoneType":
            return "''"
        case "NullSafeEQ" | "NullSafeNEQ":
            return "IS"
        case kind:
            return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).upper()


def named(name: str) -> str:
    """Return how a name is counted: words of functions in capitals, all else as is."""
    return repr(_FUNCTIONS.get(name.upper(), name))


def _number(text: str) -> int | float:
    if len(text) <= _DIGITS:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _REAL.fullmatch(text) and isfinite(number := float(text)):
            return number
    return refuse(text[:40], CONSTANT)


def _argument(name: str) -> str:
    words = {"joins": "JOIN", "order": "ORDER BY", "laterals": "LATERAL", "db": ".",
             "table": ".", "catalog": ".", "expressions": ",", "query": "SELECT",
             "sample": "TABLESAMPLE", "alias": "AS"}  # fmt: skip
    return words.get(name, name.upper().replace("_", " "))
