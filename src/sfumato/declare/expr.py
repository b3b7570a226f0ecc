"""How conditions and computed values are written: columns and operators.

What comes out is plain data (`logic`, `value`). Comparing a column with a constant gives
a condition; computing with it gives another term, which can be computed with, compared,
or put into a question by ``derive``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias, final

from sfumato.amount import exact, nearest_double
from sfumato.declare.given import read_column
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
    Operator,
    Or,
    Relation,
    StartsWith,
)
from sfumato.declare.value import (
    LARGEST_VALUE,
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
    bin_labels,
)
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["Absent", "And", "Col", "Compare", "Expr", "IsIn", "IsMissing", "Literal_",
           "Member", "Not", "Operand", "Operator", "Operators", "Or", "Relation", "StartsWith", "Term",
           "col", "value_of"]  # fmt: skip

Operand: TypeAlias = "Operators | Expr | Value | str | int | float | dt.date | None"
_HIGHEST_POWER = 8


class Operators:
    """What columns and computed values share; every operation on them is total.

    Examples:
        >>> bmi = col("Weight") / col("Height") ** 2
        >>> print(bmi.value)
        (Weight / (Height * Height))
        >>> print(bmi > 30)
        (Weight / (Height * Height)) > 30
    """

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]
    value: Value

    def __repr__(self) -> str:
        """Say it in words."""
        return f"<value: {self.value}>"

    def __bool__(self) -> bool:
        """Refuse `and`, `or`, `not` and chained comparisons."""
        raise DeclarationError(
            N_("a value cannot be used with `and`, `or`, `not` or a < b < c"),
            hint=N_("compare it first; join conditions with &, | and ~"),
        )

    def __add__(self, other: Operand) -> Term:
        """Sum."""
        return self._with("+", other)

    def __radd__(self, other: Operand) -> Term:
        """Sum."""
        return Term(Arithmetic("+", value_of(other), self.value))

    def __sub__(self, other: Operand) -> Term:
        """Difference; of two days, the number of days between them."""
        return self._with("-", other)

    def __rsub__(self, other: Operand) -> Term:
        """Difference."""
        return Term(Arithmetic("-", value_of(other), self.value))

    def __mul__(self, other: Operand) -> Term:
        """Product."""
        return self._with("*", other)

    def __rmul__(self, other: Operand) -> Term:
        """Product."""
        return Term(Arithmetic("*", value_of(other), self.value))

    def __truediv__(self, other: Operand) -> Term:
        """Quotient; missing where the divisor is zero."""
        return self._with("/", other)

    def __rtruediv__(self, other: Operand) -> Term:
        """Quotient; missing where the divisor is zero."""
        return Term(Arithmetic("/", value_of(other), self.value))

    def __pow__(self, power: int) -> Term:
        """Repeated product, from the left; the power is a whole number from 1 to 8."""
        whole = type(power) is int and 1 <= power <= _HIGHEST_POWER
        if not whole:
            raise DeclarationError(
                N_("a power is a whole number from 1 to {most}, got {value}"),
                hint=N_("other powers and roots differ between databases"),
                most=_HIGHEST_POWER,
                value=quoted(power),
            )
        product = Term(self.value)
        for _ in range(power - 1):
            product *= self
        return product

    def __neg__(self) -> Term:
        """Opposite."""
        return Term(Arithmetic("-", Constant(0), self.value))

    def __abs__(self) -> Term:
        """Size without sign."""
        below = Relation(self.value, "<", Constant(0))
        return Term(Choice(((below, (-self).value),), self.value))

    def __lt__(self, other: Operand) -> Expr:
        """Below."""
        return self._compared("<", other)

    def __le__(self, other: Operand) -> Expr:
        """At most."""
        return self._compared("<=", other)

    def __gt__(self, other: Operand) -> Expr:
        """Above."""
        return self._compared(">", other)

    def __ge__(self, other: Operand) -> Expr:
        """At least."""
        return self._compared(">=", other)

    def __eq__(self, other: Operand) -> Expr:  # type: ignore[override]
        """Equal."""
        return self._compared("==", other)

    def __ne__(self, other: Operand) -> Expr:  # type: ignore[override]
        """Different."""
        return self._compared("!=", other)

    def is_in(self, values: Iterable[Literal_ | dt.date]) -> Expr:
        """Return the condition that it equals one of `values`."""
        return Member(self.value, _several(values))

    def is_missing(self) -> Expr:
        """Return the condition that it is missing."""
        return Absent(self.value)

    def between(self, lower: Operand, upper: Operand) -> And:
        """Return the condition ``lower <= value <= upper``."""
        return And(self >= lower, self <= upper)

    def starts_with(self, prefix: str) -> StartsWith:
        """Return the condition that a text begins with `prefix`, exactly."""
        return StartsWith(self.value, _text(prefix))

    def floor(self) -> Term:
        """Return the largest whole number that is not above it."""
        return Term(Floor(self.value))

    def clip(self, lower: float, upper: float) -> Term:
        """Return it moved into the bounds."""
        low, high = _number(lower), _number(upper)
        if not low <= high:
            raise DeclarationError(
                N_("the bounds of clip are out of order: {lower} and {upper}"),
                hint=N_("write the lower bound first"),
                lower=lower,
                upper=upper,
            )
        return Term(Clip(self.value, low, high))

    def lower(self) -> Term:
        """Return a text in small letters (`str.lower`)."""
        return Term(Mapped("lower", self.value))

    def strip(self) -> Term:
        """Return a text without blanks around it (`str.strip`)."""
        return Term(Mapped("strip", self.value))

    def to_number(self) -> Term:
        """Return the number that a text is, else missing; of a truth value 1 or 0."""
        return Term(Mapped("number", self.value))

    def to_date(self) -> Term:
        """Return the day that a text ``YYYY-MM-DD`` is, else missing."""
        return Term(Mapped("date", self.value))

    def year(self) -> Term:
        """Return the year of a day."""
        return Term(DatePart("year", self.value))

    def month(self) -> Term:
        """Return the month of a day, 1 to 12."""
        return Term(DatePart("month", self.value))

    def day(self) -> Term:
        """Return the day of the month, 1 to 31."""
        return Term(DatePart("day", self.value))

    def weekday(self) -> Term:
        """Return the day of the week, Monday 1 to Sunday 7."""
        return Term(DatePart("weekday", self.value))

    def cut(self, edges: Iterable[float], labels: Sequence[str] | None = None) -> Term:
        """Return the label of the bin that a number lies in, a text.

        Args:
            edges: Public, increasing edges: the bins are ``[e0, e1), …, [e(k-1), ek]``,
                the last one closed. What lies outside is missing.
            labels: A text for each bin; default the bins themselves.

        Raises:
            DeclarationError: Edges that do not increase, or another number of labels.

        Examples:
            >>> col("Age").cut([0, 18, 65, 120]).value.labels
            ('[0, 18)', '[18, 65)', '[65, 120]')
        """
        cut = tuple(map(_number, edges))
        if len(cut) < 2 or any(not a < b for a, b in pairwise(cut)):  # noqa: PLR2004  one bin
            raise DeclarationError(
                N_("the edges of a cut must be at least two increasing numbers"),
                hint=N_('write, for example, col("Age").cut([0, 18, 65, 120])'),
            )
        if isinstance(labels, str):
            labels = [labels]
        named = bin_labels(cut) if labels is None else tuple(map(_text, labels))
        if len(named) != len(cut) - 1 or len(set(named)) < len(named):
            raise DeclarationError(
                N_("a cut into {bins} bins needs as many different labels"),
                hint=N_("name each bin once, from the lowest to the highest"),
                bins=len(cut) - 1,
            )
        return Term(Cut(self.value, cut, named))

    def _with(self, sign: Sign, other: Operand) -> Term:
        return Term(Arithmetic(sign, self.value, value_of(other)))

    def _compared(self, operator: Operator, other: Operand) -> Expr:
        return Relation(self.value, operator, value_of(other))


@final
class Term(Operators):
    """A computed value in the making."""

    __slots__ = ()

    def __init__(self, value: Value) -> None:
        """Wrap a node."""
        self.value = value


@final
class Col(Operators):
    """A column mentioned in a question: ``(col("Age") >= 30) & (col("Outcome") == 1)``.

    Examples:
        >>> print((col("Age") >= 30) & ~col("Outcome").is_in([1]))
        (Age >= 30 and not (Outcome in [1]))
        >>> print(col("Glucose").between(70, 140))
        (Glucose >= 70 and Glucose <= 140)
        >>> print(col("Systolic") > col("Diastolic") + 20)
        Systolic > (Diastolic + 20)
    """

    __slots__ = ()

    def __init__(self, name: str) -> None:
        """Mention the column called exactly `name`."""
        self.value = Name(read_column(name))

    @property
    def name(self) -> str:
        """The name of the column."""
        assert isinstance(self.value, Name)  # noqa: S101  made so
        return self.value.column

    def __repr__(self) -> str:
        """Render a constructor call."""
        return f"col({self.name!r})"

    def is_in(self, values: Iterable[Literal_ | dt.date]) -> Expr:
        """Return the condition that the cell equals one of `values`."""
        return IsIn(self.name, _several(values))

    def is_missing(self) -> Expr:
        """Return the condition that the cell is missing."""
        return IsMissing(self.name)

    def _compared(self, operator: Operator, other: Operand) -> Expr:
        if isinstance(other, Operators | Value):
            return super()._compared(operator, other)
        return Compare(self.name, operator, _literal(other))


def col(name: str) -> Col:
    """Mention a column in a question; see `Col`."""
    return Col(name)


def value_of(operand: object) -> Value:
    """Return the node of a term, a condition or a constant; none is missing.

    Raises:
        DeclarationError: It is neither.
    """
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, Expr):
        return Truth(operand)
    match operand:
        case Operators():
            return operand.value
        case None:
            return Missing()
        case bool():
            raise DeclarationError(
                N_("a truth value is no value to compute with, got {value}"),
                hint=N_("write a condition, such as Age >= 18, or the numbers 1 and 0"),
                value=repr(operand),
            )
        case int() | float():
            _number(operand)
            return Constant(operand)
        case str() | dt.date():
            return Constant(_text(operand))
        case _:
            raise DeclarationError(
                N_("{value} is no value to compute with"),
                hint=N_('write a column, a number or a text: col("Weight") * 2'),
                value=type(operand).__name__,
            )


def _several(values: Iterable[Literal_ | dt.date]) -> tuple[Literal_, ...]:
    several = [values] if isinstance(values, str) else values
    return tuple(map(_literal, several))


def _literal(value: object) -> Literal_:
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dt.date):
        return _text(value)
    raise DeclarationError(
        N_("a filter compares a column with a number or text, got {value}"),
        hint=N_('write, for example, col("Age") >= 30'),
        value=type(value).__name__,
    )


def _text(value: object) -> str:
    if isinstance(value, dt.datetime) or not isinstance(value, str | dt.date):
        raise DeclarationError(
            N_("a text or a day is needed, got {value}"),
            hint=N_("write it in quotes; a day has no time: 2024-02-29"),
            value=type(value).__name__,
        )
    return value if isinstance(value, str) else value.isoformat()


def _number(value: object) -> float:
    number = exact(value) if not isinstance(value, str) else None
    if number is None or abs(number) > LARGEST_VALUE:
        raise DeclarationError(
            N_("{value} is no number to compute with"),
            hint=N_("write a finite number between -1e50 and 1e50"),
            value=quoted(value),
        )
    return nearest_double(number)
