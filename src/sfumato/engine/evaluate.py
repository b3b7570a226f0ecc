"""Conditions and computed values of one row, in plain Python: the specification."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import pairwise
from math import floor
from typing import TypeAlias, assert_never

from sfumato.declare.calendar import EPOCH, Date
from sfumato.declare.logic import (
    Absent,
    And,
    Compare,
    Expr,
    IsIn,
    IsMissing,
    Member,
    Not,
    Or,
    Relation,
    StartsWith,
)
from sfumato.declare.query import Query
from sfumato.declare.relation import Part
from sfumato.declare.schema import (
    Boolean,
    Category,
    Integer,
    Real,
    Schema,
    Text,
    token,
)
from sfumato.declare.value import (
    Arithmetic,
    Choice,
    Clip,
    Constant,
    Cut,
    DatePart,
    Floor,
    Mapped,
    Missing,
    Name,
    Sign,
    Truth,
    Value,
    settled,
)
from sfumato.engine.cell import Day, as_double, day, key_index, number, text_key
from sfumato.engine.cell import constant as number_constant
from sfumato.plan.kinds import (
    FIRST_DAY,
    LAST_DAY,
    Days,
    dated,
    kind_of,
    text_function,
)

__all__ = ["Cell", "arithmetic", "cell", "truth", "value", "widened_row"]

Row: TypeAlias = Mapping[str, object]
Cell: TypeAlias = "float | int | str | None"
"""A cell after the rule: a number, the place of a key, a text, or none when missing."""
Found: TypeAlias = "float | str | bool | None"
"""A computed value; a text is a token."""


def widened_row(query: Query | Part, row: Row, schema: Schema) -> Row:
    """Return the row with the columns that a query derives.

    Args:
        query: The question.
        row: The cells of the table, in any form.
        schema: The declarations, derived columns included.
    """
    for one in query.derived:
        found = value(one.value, row, schema)
        if isinstance(found, float) and isinstance(schema[one.name], Date):
            found = Day(found)
        row = {**row, one.name: found}
    return row


def cell(row: Row, schema: Schema, name: str) -> Cell:
    """Read one cell of one row."""
    match schema[name]:
        case Date() as column:
            return day(row.get(name), column.missing)
        case Real() | Integer() as column:
            return number(row.get(name), column.missing)
        case Category() | Boolean() as column:
            return key_index(row.get(name), column)
        case Text() as column:
            return text_key(row.get(name), column)
        case other:
            assert_never(other)


def arithmetic(sign: Sign, left: float | None, right: float | None) -> float | None:
    """Return ``left sign right`` of settled numbers.

    Sums of settled numbers stay below 2e50 and products and quotients between 1e-100
    and 1e100 in size, far from where doubles end: nothing overflows or underflows.

    Examples:
        >>> arithmetic("/", 1.0, 0.0), arithmetic("*", 1e50, 10.0)
        (None, 1e+50)
    """
    if left is None or right is None or (sign == "/" and right == 0):
        return None
    match sign:
        case "+":
            return settled(left + right)
        case "-":
            return settled(left - right)
        case "*":
            return settled(left * right)
        case "/":
            return settled(left / right)


def value(node: Value, row: Row, schema: Schema) -> Found:  # noqa: C901, PLR0911, PLR0912  one for each
    """Return a computed value of one row."""
    match node:
        case Name(name):
            return _read(row, schema, name)
        case Constant(str() as text):
            return token(text)
        case Constant(constant):
            return settled(as_double(constant))  # type: ignore[arg-type]  # texts were above
        case Missing():
            return None
        case Arithmetic(sign, left, right):
            return arithmetic(
                sign, _number(left, row, schema), _number(right, row, schema)
            )
        case Floor(inner):
            x = _number(inner, row, schema)
            return None if x is None else settled(float(floor(x)))
        case Clip(inner, lower, upper):
            x = _number(inner, row, schema)
            low, high = settled(lower), settled(upper)
            return None if x is None else min(max(x, low), high)
        case Mapped(function, inner):
            return _mapped(function, value(inner, row, schema))
        case DatePart(part, inner):
            return _part(part, _number(inner, row, schema))
        case Cut(inner, edges, labels):
            return _cut(_number(inner, row, schema), edges, labels)
        case Choice(branches, otherwise):
            for condition, branch in branches:
                if truth(condition, row, schema) is True:
                    return value(branch, row, schema)
            return value(otherwise, row, schema)
        case Truth(condition):
            return truth(condition, row, schema)
        case _:
            assert_never(node)


def truth(expr: Expr, row: Row, schema: Schema) -> bool | None:  # noqa: C901, PLR0911, PLR0912  one for each
    """Evaluate a condition in three-valued logic; none is "missing"."""
    match expr:
        case Compare(name, operator, constant):
            found = cell(row, schema, name)
            return None if found is None else _compare(found, operator, _operand(schema, name, constant))  # fmt: skip
        case IsIn(name, constants):
            found = cell(row, schema, name)
            return None if found is None else found in [_operand(schema, name, v) for v in constants]  # fmt: skip
        case IsMissing(name):
            return cell(row, schema, name) is None
        case Relation():
            left, operator, right = dated(expr, schema)
            one, other = value(left, row, schema), value(right, row, schema)
            if one is None or other is None:
                return None
            return _compare(one, operator, other)
        case Member(inner, constants):
            x = value(inner, row, schema)
            if x is None:
                return None
            if isinstance(x, str):
                return x in map(token, constants)
            if isinstance(kind_of(inner, schema), Days):
                return x in map(day, constants)
            return x in [settled(as_double(c)) for c in constants]  # type: ignore[arg-type]  # the plan checked it
        case Absent(inner):
            return value(inner, row, schema) is None
        case StartsWith(inner, prefix):
            text = value(inner, row, schema)
            return None if text is None else str(text).startswith(prefix)
        case And(left, right):
            both = (truth(left, row, schema), truth(right, row, schema))
            return False if False in both else None if None in both else True
        case Or(left, right):
            both = (truth(left, row, schema), truth(right, row, schema))
            return True if True in both else None if None in both else False
        case Not(inner):
            inside = truth(inner, row, schema)
            return None if inside is None else not inside
        case _:
            assert_never(expr)


def _read(row: Row, schema: Schema, name: str) -> Found:
    """Return a cell as a computed value."""
    found, column = cell(row, schema, name), schema[name]
    if found is None:
        return None
    match column:
        case Real() | Integer():
            return settled(float(found))
        case Text():
            return str(found)
        case Category():
            return column.tokens[int(found)]
        case Boolean():
            return bool(found)
        case _:
            assert_never(column)


def _number(node: Value, row: Row, schema: Schema) -> float | None:
    found = value(node, row, schema)
    assert found is None or isinstance(found, float)  # noqa: S101  the plan checked it
    return found


def _mapped(function: str, found: Found) -> Found:
    if found is None:
        return None
    if function == "date":
        return day(found) if isinstance(found, str) else found
    if function == "number":
        if isinstance(found, bool | float):
            return float(found)
        x = number(found)
        return None if x is None else settled(x)
    return token(text_function(function)(str(found)))


def _part(part: str, days: float | None) -> float | None:
    """Return a part of a day; days that Python's calendar lacks have none."""
    if days is None or not FIRST_DAY <= days <= LAST_DAY:
        return None
    found = dt.date.fromordinal(int(days) + EPOCH)
    whole = found.isoweekday() if part == "weekday" else getattr(found, part)
    return float(whole)


def _cut(
    x: float | None, edges: tuple[float, ...], labels: tuple[str, ...]
) -> str | None:
    if x is None:
        return None
    bins = list(zip(pairwise(edges), labels, strict=True))
    if x == edges[-1]:
        return token(bins[-1][1])
    return next((token(label) for (a, b), label in bins if a <= x < b), None)


def _operand(schema: Schema, name: str, constant: object) -> Cell:
    """Read the constant of a comparison as the cells of that column are read."""
    column = schema[name]
    if isinstance(column, Real | Integer):
        return number_constant(constant, column)
    if isinstance(column, Boolean):
        return int(constant is True)
    if isinstance(column, Text):
        return token(constant)
    return key_index(constant, column)


def _compare(left: float | str, operator: str, right: float | str | None) -> bool:
    assert right is not None  # noqa: S101  the plan checked it
    if operator in ("==", "!="):
        return (left == right) is (operator == "==")
    less, equal = left < right, left == right  # type: ignore[operator]  # of one kind
    return {
        "<": less, "<=": less or equal, ">": not (less or equal), ">=": not less
    }[operator]  # fmt: skip
