"""Row predicates: a closed set of total functions.

Every node is true, false or missing on *every* row: none can raise. A comparison with
a missing cell is missing; a filter keeps the rows where it is true (three-valued
logic, as in SQL). Adding a node means one `match` arm in each engine; the type checker
lists the places that lack it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, final

from sfumato.errors import DeclarationError
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.declare.value import Value

__all__ = ["Absent", "And", "Compare", "Expr", "IsIn", "IsMissing", "Literal_", "Member",
           "Not", "Operator", "Or", "Relation", "StartsWith"]  # fmt: skip

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


@final
@dataclass(frozen=True, slots=True)
class Relation(_Logic):
    """``left operator right`` of two values; missing when one of them is missing."""

    left: Value
    operator: Operator
    right: Value

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.left} {self.operator} {self.right}"


@final
@dataclass(frozen=True, slots=True)
class Member(_Logic):
    """A value equals one of the constants; missing when the value is missing."""

    inner: Value
    values: tuple[Literal_, ...]

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.inner} in {list(self.values)!r}"


@final
@dataclass(frozen=True, slots=True)
class Absent(_Logic):
    """A value is missing; true or false, never missing itself."""

    inner: Value

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.inner} is missing"


@final
@dataclass(frozen=True, slots=True)
class StartsWith(_Logic):
    """A text begins with `prefix`, exactly; missing when the text is missing."""

    inner: Value
    prefix: str

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.inner} starts with {self.prefix!r}"


Expr: TypeAlias = (
    Compare
    | IsIn
    | IsMissing
    | Relation
    | Member
    | Absent
    | StartsWith
    | And
    | Or
    | Not
)


def _predicate(value: object) -> Expr:
    if isinstance(value, Expr):
        return value
    raise DeclarationError(
        N_("{value} is not a filter"),
        hint=N_('write, for example, (col("Age") >= 30) & (col("Smoker") == True)'),
        value=type(value).__name__,
    )
