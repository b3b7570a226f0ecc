"""Row predicates: a closed set of total functions.

Every node is true, false or missing on *every* row: none can raise. A comparison with
a missing cell is missing; a filter keeps the rows where it is true (three-valued
logic, as in SQL). Adding a node means one `match` arm in each engine; the type checker
lists the places that lack it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias, final

from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = [
    "And",
    "Col",
    "Compare",
    "Expr",
    "IsIn",
    "IsMissing",
    "Literal_",
    "Not",
    "Or",
    "col",
    "columns_of",
]  # fmt: skip

Literal_: TypeAlias = "str | int | float | bool"
Operator: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]


class _Logic:
    """The operators that combine predicates."""

    __slots__ = ()

    def __and__(self, other: Expr) -> And:
        """Both hold."""
        return And(_predicate(self), _predicate(other))

    def __or__(self, other: Expr) -> Or:
        """At least one holds."""
        return Or(_predicate(self), _predicate(other))

    def __invert__(self) -> Not:
        """It does not hold (missing stays missing)."""
        return Not(_predicate(self))

    def __bool__(self) -> NoReturn:
        """Refuse `and`, `or`, `not` and chained comparisons, which Python cannot pass on."""
        raise DeclarationError(
            N_("a filter cannot be used with `and`, `or`, `not` or a < b < c"),
            hint=N_('use &, | and ~ with parentheses, or col("x").between(a, b)'),
        )


@final
@dataclass(frozen=True, slots=True)
class Compare(_Logic):
    """``column operator value``; missing when the cell is missing."""

    column: str
    operator: Operator
    value: Literal_

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.column} {self.operator} {self.value!r}"


@final
@dataclass(frozen=True, slots=True)
class IsIn(_Logic):
    """The cell equals one of the values; missing when the cell is missing."""

    column: str
    values: tuple[Literal_, ...]

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.column} in {list(self.values)!r}"


@final
@dataclass(frozen=True, slots=True)
class IsMissing(_Logic):
    """The cell is missing; true or false, never missing itself."""

    column: str

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.column} is missing"


@final
@dataclass(frozen=True, slots=True)
class And(_Logic):
    """Three-valued conjunction."""

    left: Expr
    right: Expr

    def __str__(self) -> str:
        """Render for people."""
        return f"({self.left} and {self.right})"


@final
@dataclass(frozen=True, slots=True)
class Or(_Logic):
    """Three-valued disjunction."""

    left: Expr
    right: Expr

    def __str__(self) -> str:
        """Render for people."""
        return f"({self.left} or {self.right})"


@final
@dataclass(frozen=True, slots=True)
class Not(_Logic):
    """Three-valued negation."""

    inner: Expr

    def __str__(self) -> str:
        """Render for people."""
        return f"not ({self.inner})"


Expr: TypeAlias = Compare | IsIn | IsMissing | And | Or | Not


@final
class Col:
    """A column mentioned in a filter: ``(col("Age") >= 30) & (col("Outcome") == 1)``.

    Examples:
        >>> print((col("Age") >= 30) & ~col("Outcome").is_in([1]))
        (Age >= 30 and not (Outcome in [1]))
        >>> print(col("Glucose").between(70, 140))
        (Glucose >= 70 and Glucose <= 140)
    """

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        """Mention the column called exactly `name`."""
        self.name = name

    def __repr__(self) -> str:
        """Render a constructor call."""
        return f"col({self.name!r})"

    def __lt__(self, value: Literal_) -> Compare:
        """Cell below value."""
        return Compare(self.name, "<", _literal(value))

    def __le__(self, value: Literal_) -> Compare:
        """Cell at most value."""
        return Compare(self.name, "<=", _literal(value))

    def __gt__(self, value: Literal_) -> Compare:
        """Cell above value."""
        return Compare(self.name, ">", _literal(value))

    def __ge__(self, value: Literal_) -> Compare:
        """Cell at least value."""
        return Compare(self.name, ">=", _literal(value))

    def __eq__(self, value: object) -> Compare:  # type: ignore[override]
        """Cell equal to value."""
        return Compare(self.name, "==", _literal(value))

    def __ne__(self, value: object) -> Compare:  # type: ignore[override]
        """Cell different from value."""
        return Compare(self.name, "!=", _literal(value))

    def is_in(self, values: Iterable[Literal_]) -> IsIn:
        """Return the predicate that the cell equals one of `values`."""
        several = [values] if isinstance(values, str) else values
        return IsIn(self.name, tuple(map(_literal, several)))

    def is_missing(self) -> IsMissing:
        """Return the predicate that the cell is missing."""
        return IsMissing(self.name)

    def between(self, lower: Literal_, upper: Literal_) -> And:
        """Return the predicate ``lower <= cell <= upper``."""
        return And(self >= lower, self <= upper)


def col(name: str) -> Col:
    """Mention a column in a filter; see `Col`."""
    return Col(name)


def columns_of(expr: Expr) -> tuple[str, ...]:
    """Return every column name that a predicate mentions, in order."""
    match expr:
        case Compare(column) | IsIn(column) | IsMissing(column):
            return (column,)
        case And(left, right) | Or(left, right):
            return columns_of(left) + columns_of(right)
        case Not(inner):
            return columns_of(inner)


def _literal(value: object) -> Literal_:
    if isinstance(value, str | bool | int | float):
        return value
    raise DeclarationError(
        N_("a filter compares a column with a number or text, got {value}"),
        hint=N_('write, for example, col("Age") >= 30'),
        value=type(value).__name__,
    )


def _predicate(value: object) -> Expr:
    if isinstance(value, Expr):
        return value
    raise DeclarationError(
        N_("{value} is not a filter"),
        hint=N_('write, for example, (col("Age") >= 30) & (col("Sex") == "F")'),
        value=type(value).__name__,
    )
