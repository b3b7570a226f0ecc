"""Columns that a question computes from others of the same row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.declare.expr import Operand, value_of
from sfumato.declare.schema import Column
from sfumato.declare.value import Value
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Derived", "read_derived"]


@final
@dataclass(frozen=True, slots=True)
class Derived:
    """A column computed from other columns of the same row.

    It is unit-local: what a unit's rows become depends on these rows alone.

    Attributes:
        name: Its name; no other column has it.
        value: How it is computed.
        column: Its declaration: public bounds or keys; none where they follow from the
            value itself.

    Examples:
        >>> from sfumato.declare.expr import col
        >>> print(read_derived("BMI", col("Weight") / col("Height") ** 2, None))
        BMI = (Weight / (Height * Height))
    """

    name: str
    value: Value
    column: Column | None = None

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.name} = {self.value}"


def read_derived(name: str, value: Operand, column: Column | None) -> Derived:
    """Check what can be checked without a table.

    Raises:
        DeclarationError: The name, the value or the declaration is none.
    """
    if not name or type(name) is not str:
        raise DeclarationError(
            N_("the name of a derived column is a text, got {value}"),
            hint=N_('write derive("BMI", col("Weight") / col("Height") ** 2, …)'),
            value=quoted(name),
        )
    if column is not None and not isinstance(column, Column):
        raise DeclarationError(
            N_("column {name} is not declared with a column type"),
            hint=N_("use Real, Integer, Category or Boolean"),
            name=repr(name),
        )
    return Derived(name, value_of(value), column)
