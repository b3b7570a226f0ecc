r"""Computed values as text: the part of `where` between the signs of conditions.

::

    value    = product {("+" | "-") product}
    product  = factor {("*" | "/") factor}
    factor   = "-" factor | atom ["**" whole number]
    atom     = number | text in quotes | name | column("name") | missing
             | "(" value ")" | "(" filter ")" | function "(" value {"," …} ")"
             | "when" filter "then" value {"when" filter "then" value} ["otherwise" value]
    function = floor | abs | lower | strip | number | date | year | month | day | weekday
             | clip(value, low, high) | cut(value, [edges] [, [labels]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, final

from sfumato.declare.expr import Term
from sfumato.declare.lexer import RESERVED, Cursor
from sfumato.declare.logic import Expr, Literal_
from sfumato.declare.value import (
    Arithmetic,
    Choice,
    Constant,
    DatePart,
    Floor,
    Mapped,
    Missing,
    Name,
    Sign,
    Truth,
    Value,
)
from sfumato.words import N_

__all__ = ["Formulas"]

_DEEPEST = 50
_Item = TypeVar("_Item")
_FUNCTIONS: Final[dict[str, Callable[[Value], Value]]] = {
    "floor": Floor,
    "abs": lambda v: abs(Term(v)).value,
    "lower": lambda v: Mapped("lower", v),
    "strip": lambda v: Mapped("strip", v),
    "number": lambda v: Mapped("number", v),
    "date": lambda v: Mapped("date", v),
    "year": lambda v: DatePart("year", v),
    "month": lambda v: DatePart("month", v),
    "day": lambda v: DatePart("day", v),
    "weekday": lambda v: DatePart("weekday", v),
}


@final
class Formulas:
    """Reads values; conditions inside them are read by `condition`."""

    def __init__(self, cursor: Cursor, condition: Callable[[int], Expr]) -> None:
        """Read at the place of `cursor`."""
        self._cursor, self._condition = cursor, condition

    def sum(self, depth: int) -> Value:
        """Read a value."""
        found = self._product(depth)
        while True:
            self._cursor.split_sign()
            if not self._cursor.here.is_sign("+", "-"):
                return found
            sign: Sign = "+" if self._cursor.skip_sign("+") else "-"
            self._cursor.place += sign == "-"
            found = Arithmetic(sign, found, self._product(depth))

    def _product(self, depth: int) -> Value:
        found = self._factor(depth)
        while self._cursor.here.is_sign("*", "/"):
            sign: Sign = "*" if self._cursor.skip_sign("*") else "/"
            self._cursor.place += sign == "/"
            found = Arithmetic(sign, found, self._factor(depth))
        return found

    def _factor(self, depth: int) -> Value:
        cursor = self._cursor
        if depth > _DEEPEST:
            raise cursor.refusal(N_("use fewer brackets"))
        if cursor.skip_sign("-"):
            return Arithmetic("-", Constant(0), self._factor(depth + 1))
        found = self._atom(depth)
        if not cursor.skip_sign("**"):
            return found
        power = cursor.constant() if cursor.here.kind == "number" else None
        if not isinstance(power, int):
            cursor.place -= power is not None
            raise cursor.refusal(N_("a power is a whole number: Height ** 2"))
        return (Term(found) ** power).value

    def _atom(self, depth: int) -> Value:
        cursor, token = self._cursor, self._cursor.here
        if token.kind in ("number", "text"):
            return Constant(self._plain(cursor.constant()))
        if token.is_word("when"):
            return self._choice(depth)
        if token.is_sign("("):
            cursor.expect("(")
            found = self._argument(depth + 1)
            cursor.expect(")")
            return found
        if token.kind == "word" and cursor.after.is_sign("("):
            return self._function(depth)
        if token.is_word("missing"):
            cursor.place += 1
            return Missing()
        if token.kind == "word" and token.text.lower() not in {*RESERVED, "true", "false"}:  # fmt: skip
            return Name(cursor.name())
        raise cursor.refusal(
            N_("here a value is missing: a column, a number, or a text in quotes")
        )

    def _argument(self, depth: int) -> Value:
        """Read a value, or a filter as a value."""
        if self._cursor.holds_condition(self._cursor.place):
            return Truth(self._condition(depth))
        return self.sum(depth)

    def _choice(self, depth: int) -> Value:
        cursor, branches = self._cursor, []
        while cursor.skip_word("when"):
            condition = self._condition(depth + 1)
            cursor.expect_word("then")
            branches.append((condition, self._argument(depth + 1)))
        otherwise: Value = Missing()
        if cursor.skip_word("otherwise"):
            otherwise = self._argument(depth + 1)
        return Choice(tuple(branches), otherwise)

    def _function(self, depth: int) -> Value:
        cursor = self._cursor
        name = cursor.here.text
        known = [*_FUNCTIONS, "clip", "cut", "column"]
        if name.lower() not in known:
            raise cursor.refusal(N_("the functions are {names}"), names=", ".join(known))  # fmt: skip
        cursor.place += 1
        cursor.expect("(")
        match name.lower():
            case "column":
                found: Value = Name(cursor.name())
            case "clip":
                found = self._clip(depth)
            case "cut":
                found = self._cut(depth)
            case simple:
                found = _FUNCTIONS[simple](self._argument(depth + 1))
        cursor.expect(")")
        return found

    def _clip(self, depth: int) -> Value:
        inner = self._argument(depth + 1)
        self._cursor.expect(",")
        low = self._number()
        self._cursor.expect(",")
        return Term(inner).clip(low, self._number()).value

    def _cut(self, depth: int) -> Value:
        inner = self._argument(depth + 1)
        self._cursor.expect(",")
        edges = self._list(self._number)
        labels = None
        if self._cursor.skip_sign(","):
            labels = [str(t) for t in self._list(self._cursor.constant)]
        return Term(inner).cut(edges, labels).value

    def _list(self, read: Callable[[], _Item]) -> list[_Item]:
        self._cursor.expect("[")
        found = [read()]
        while self._cursor.skip_sign(","):
            found.append(read())
        self._cursor.expect("]")
        return found

    def _number(self) -> float:
        constant = self._cursor.constant()
        if isinstance(constant, str | bool):
            self._cursor.place -= 1
            raise self._cursor.refusal(N_("here a number is needed"))
        return constant

    def _plain(self, constant: Literal_) -> str | int | float:
        if not isinstance(constant, str):
            Term(Constant(0)).clip(constant, constant)  # refuses what is too large
        return constant
