"""Computed values: a closed set of total functions of one row.

A value is a number, a text out of a public vocabulary, a day, a truth value, or missing,
on *every* row; none can raise, and each has one meaning on every engine
(``docs/expressions.md``):

* Numbers are IEEE 754 doubles that are 0 or between 1e-50 and 1e50 in size. What a cell
  or an operation gives beyond is moved to ±1e50, and what is smaller becomes 0. So no
  operation overflows, underflows or gives NaN anywhere. Division by zero is missing.
* Texts come from declared keys and from constants alone, so that what is done to them
  is done to public texts, by Python, before any row is read.
* An operation on a missing value is missing.

The nodes are plain data; `expr` builds them with operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

if TYPE_CHECKING:
    from sfumato.declare.logic import Expr

__all__ = ["LARGEST_VALUE", "SMALLEST_VALUE", "Arithmetic", "Choice", "Clip", "Constant",
           "Cut", "DatePart", "Floor", "Function", "Mapped", "Missing", "Name", "Part",
           "Sign", "Truth", "Value", "bin_labels", "settled"]  # fmt: skip

LARGEST_VALUE: Final = 1e50
SMALLEST_VALUE: Final = 1e-50

Sign: TypeAlias = Literal["+", "-", "*", "/"]
Function: TypeAlias = Literal["lower", "strip", "number", "date"]
Part: TypeAlias = Literal["year", "month", "day", "weekday"]


def settled(number: float) -> float:
    """Return a number, which is not NaN, as it counts in values.

    Examples:
        >>> settled(float("-inf")), settled(5e-324), settled(-0.0), settled(2.5)
        (-1e+50, 0.0, 0.0, 2.5)
    """
    if -SMALLEST_VALUE < number < SMALLEST_VALUE:
        return 0.0
    return min(max(number, -LARGEST_VALUE), LARGEST_VALUE)


def _plain(number: float) -> str:
    """Write a number as people do; it reads back as the same double."""
    whole = number.is_integer() and abs(number) < 1e15  # noqa: PLR2004  a long line
    return str(int(number)) if whole else repr(number)


def bin_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the bins between edges as texts, the last one closed."""
    words = [f"{e:.15g}" for e in edges]
    last = len(words) - 2
    return tuple(
        f"[{a}, {b}{']' if i == last else ')'}"
        for i, (a, b) in enumerate(pairwise(words))
    )


@final
@dataclass(frozen=True, slots=True)
class Name:
    """The cell of a column: numbers before clamping and after missing codes."""

    column: str

    def __str__(self) -> str:
        """Render for people."""
        return self.column


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """The same value on every row."""

    value: str | int | float

    def __str__(self) -> str:
        """Render for people."""
        return repr(self.value)


@final
@dataclass(frozen=True, slots=True)
class Missing:
    """Missing on every row."""

    def __str__(self) -> str:
        """Render for people."""
        return "missing"


@final
@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``left sign right``; division by zero is missing."""

    sign: Sign
    left: Value
    right: Value

    def __str__(self) -> str:
        """Render for people."""
        return f"({self.left} {self.sign} {self.right})"


@final
@dataclass(frozen=True, slots=True)
class Floor:
    """The largest whole number that is not above the value."""

    inner: Value

    def __str__(self) -> str:
        """Render for people."""
        return f"floor({self.inner})"


@final
@dataclass(frozen=True, slots=True)
class Clip:
    """The value moved into ``[lower, upper]``."""

    inner: Value
    lower: float
    upper: float

    def __str__(self) -> str:
        """Render for people."""
        return f"clip({self.inner}, {_plain(self.lower)}, {_plain(self.upper)})"


@final
@dataclass(frozen=True, slots=True)
class Mapped:
    """A function of a text, or ``number`` of a truth value (1 and 0)."""

    function: Function
    inner: Value

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.function}({self.inner})"


@final
@dataclass(frozen=True, slots=True)
class DatePart:
    """The year, month, day of the month, or weekday (Monday 1 to Sunday 7) of a day."""

    part: Part
    inner: Value

    def __str__(self) -> str:
        """Render for people."""
        return f"{self.part}({self.inner})"


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """The label of the bin: ``[e0, e1), …, [e(k-1), ek]``; outside the edges missing."""

    inner: Value
    edges: tuple[float, ...]
    labels: tuple[str, ...]

    def __str__(self) -> str:
        """Render for people."""
        edges = ", ".join(map(_plain, self.edges))
        usual = self.labels == bin_labels(self.edges)
        named = "" if usual else f", {list(self.labels)!r}"
        return f"cut({self.inner}, [{edges}]{named})"


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """The value of the first branch whose condition is true, or else `otherwise`."""

    branches: tuple[tuple[Expr, Value], ...]
    otherwise: Value

    def __str__(self) -> str:
        """Render for people."""
        words = " ".join(f"when {c} then {v}" for c, v in self.branches)
        rest = "" if isinstance(self.otherwise, Missing) else f" otherwise {self.otherwise}"  # fmt: skip
        return f"({words}{rest})"


@final
@dataclass(frozen=True, slots=True)
class Truth:
    """A condition as a value: true, false or missing."""

    condition: Expr

    def __str__(self) -> str:
        """Render for people."""
        return f"({self.condition})"


Value: TypeAlias = (
    Name | Constant | Missing | Arithmetic | Floor | Clip | Mapped | DatePart | Cut
    | Choice | Truth
)  # fmt: skip
