"""Does a constant fit the column that it is compared with?"""

from __future__ import annotations

from typing import assert_never

from sfumato.amount import exact
from sfumato.declare.calendar import Date, day_of_text
from sfumato.declare.schema import Boolean, Category, Column, Integer, Real, Text, token
from sfumato.errors import DeclarationError, nearest, quoted
from sfumato.words import N_

__all__ = ["check_literal", "is_number"]


def is_number(value: object) -> bool:
    """Tell whether a constant is a finite number; a text never is."""
    return exact(value) is not None and not isinstance(value, str)


def check_literal(  # noqa: C901  one for each
    name: str, column: Column, value: object, *, ordered: bool
) -> None:
    """Refuse a constant that a column cannot be compared with.

    Args:
        name: The column.
        column: Its declaration.
        value: The constant.
        ordered: Whether it is compared by order, and not by == or != alone.

    Raises:
        DeclarationError: With a constant that can be compared.
    """
    match column:
        case Date():
            if isinstance(value, str) and day_of_text(value) is not None:
                return
            expected = N_("compare it with a day, such as {example}")
            example = '"2024-02-29"'
        case Real() | Integer():
            if is_number(value):
                return
            expected = N_("compare it with a finite number, such as {example}")
            example = f"{column.lower:g}"
        case Boolean():
            if isinstance(value, bool) and not ordered:
                return
            expected = N_("compare it with == or != and {example}")
            example = "True"
        case Category(values):
            if token(value) in column.tokens and not ordered:
                return
            expected = N_(
                "compare it with ==, != or is_in and a declared key: {example}"
            )
            example = nearest(str(value), map(str, values))
        case Text():
            if isinstance(value, str | int) and type(value) is not bool and not ordered:
                return
            expected = N_("compare it with ==, != or is_in and a text: {example}")
            example = '"Bonn"'
        case _:
            assert_never(column)
    raise DeclarationError(
        N_("column {name} cannot be compared with {value}"),
        hint=expected,
        name=repr(name),
        value=quoted(value),
        example=example,
    )
