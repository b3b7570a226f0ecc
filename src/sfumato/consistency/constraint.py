"""What is publicly known to hold between figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, Literal, TypeAlias, final

from sfumato.errors import ArgumentError, quoted
from sfumato.words import N_

__all__ = ["Between", "Constraint", "Members", "Monotone", "Parts", "Total"]

Members: TypeAlias = "int | str | Any | Iterable[int | str | Any] | None"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """The members add up to a publicly known number.

    Attributes:
        equals: The number. It must be public: a true total read from private rows is
            not free to use.
        members: Places in an array; of a release the names of figures, or the figures.
            None means all.

    Raises:
        ArgumentError: `equals` is not a finite number.
    """

    equals: float
    members: Members = None

    def __post_init__(self) -> None:
        """Check the number."""
        _number("equals", self.equals, finite=True)

    def __str__(self) -> str:
        """Say it in words."""
        return f"Total({self.equals:g}, {_shown(self.members)})"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """One figure is the sum of others: a province and its districts.

    Attributes:
        whole: The figure that is the sum. Of a release it may name a figure of every
            group: each is then the sum of the parts whose group lies in its own.
        parts: The figures that add up to it.
    """

    whole: Members
    parts: Members

    def __str__(self) -> str:
        """Say it in words."""
        return f"Parts({_shown(self.whole)}, {_shown(self.parts)})"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """Each member lies between two publicly known numbers.

    Attributes:
        low: The lower, perhaps ``-math.inf``.
        high: The upper, perhaps ``math.inf``.
        members: As in `Total`.

    Raises:
        ArgumentError: A bound is NaN, or the lower is above the upper.

    Examples:
        >>> print(Between(0))  # no figure is negative
        Between(0, inf, all)
    """

    low: float = -inf
    high: float = inf
    members: Members = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        _number("low", self.low)
        _number("high", self.high)
        if self.low > self.high:
            raise ArgumentError(
                N_("the lower bound {low} is above the upper bound {high}"),
                hint=N_("write the smaller number first"),
                low=self.low,
                high=self.high,
            )

    def __str__(self) -> str:
        """Say it in words."""
        return f"Between({self.low:g}, {self.high:g}, {_shown(self.members)})"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Monotone:
    """The members, in their order, never fall (or never rise).

    Attributes:
        direction: ``"rising"`` or ``"falling"``; equal neighbours are allowed.
        members: As in `Total`.

    Raises:
        ArgumentError: Another direction.
    """

    direction: Literal["rising", "falling"] = "rising"
    members: Members = None

    def __post_init__(self) -> None:
        """Check the direction."""
        if self.direction not in ("rising", "falling"):
            raise ArgumentError(
                N_("a direction is rising or falling, got {direction}"),
                hint=N_('write Monotone("rising")'),
                direction=quoted(self.direction),
            )

    def __str__(self) -> str:
        """Say it in words."""
        return f"Monotone({self.direction}, {_shown(self.members)})"


_BEYOND = 10**300  # a whole number that is too large for a float

Constraint: TypeAlias = Total | Parts | Between | Monotone


def _number(name: str, value: object, *, finite: bool = False) -> None:
    good = isinstance(value, float) or (type(value) is int and abs(value) < _BEYOND)
    if not good or isnan(value) or (finite and value in (inf, -inf)):  # type: ignore[arg-type]
        raise ArgumentError(
            N_("{name} must be a number, got {value}"),
            hint=N_("constraints are public numbers, such as 0 or 768"),
            name=name,
            value=quoted(value),
        )


def _shown(members: Members) -> str:
    if members is None:
        return "all"
    if isinstance(members, str | int):
        return repr(members)
    named = getattr(members, "name", None)
    if isinstance(named, str):
        return repr(named)
    try:
        places = list(members)
    except TypeError:
        return quoted(members)
    shown = ", ".join(_shown(one) for one in places[:4])
    return f"[{shown}{', …' if len(places) > 4 else ''}]"  # noqa: PLR2004  a glimpse
