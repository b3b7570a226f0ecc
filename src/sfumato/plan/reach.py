"""How far a computed number can reach, where that follows from public facts alone.

The operations of `value` never decrease, or never increase, in each operand (IEEE
rounding is monotone, and so is moving into ±1e50), so they reach no farther than at the
ends of their operands. A plain column reaches anywhere: its cells are not clamped when
they are computed with. ``clip`` says a reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import assert_never, final

from sfumato.declare.calendar import Date
from sfumato.declare.numeral import numeral
from sfumato.declare.schema import Schema
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
from sfumato.plan.kinds import Logical, Numeric, Words, kind_of

__all__ = ["Reach", "reach"]

_WHOLE_BELOW = 2.0**53


@final
@dataclass(frozen=True, slots=True)
class Reach:
    """A number is missing or between these, both included.

    Attributes:
        low: The least value.
        high: The greatest value.
        whole: Whether it is a whole number on every row.
    """

    low: float
    high: float
    whole: bool


def reach(value: Value, schema: Schema) -> Reach | None:  # noqa: PLR0911  one for each
    """Return the reach of a number, which was typed before; none when it is unknown."""
    match value:
        case Constant(constant):
            number = settled(float(constant))
            return Reach(number, number, number.is_integer())
        case Arithmetic(sign, left, right):
            one, other = reach(left, schema), reach(right, schema)
            return _combined(sign, one, other) if one and other else None
        case Floor(inner):
            inside = reach(inner, schema)
            return inside and Reach(_floor(inside.low), _floor(inside.high), whole=True)
        case Clip(inner, lower, upper):
            low, high = settled(lower), settled(upper)
            inside = reach(inner, schema)
            if inside is None:
                return Reach(low, high, whole=False)
            least, most = (min(max(x, low), high) for x in (inside.low, inside.high))
            whole = inside.whole and low.is_integer() and high.is_integer()
            return Reach(least, most, whole)
        case Mapped(_, inner):
            return _mapped(inner, schema)
        case Choice(branches, otherwise):
            values = [*(branch for _, branch in branches), otherwise]
            reaches = [reach(v, schema) for v in values if not isinstance(v, Missing)]
            known = [one for one in reaches if one is not None]
            return _union(known) if known and len(known) == len(reaches) else None
        case DatePart(part, inner):
            return _part(part, inner, schema)
        case Name() | Missing() | Cut() | Truth():
            return None
        case _:
            assert_never(value)


def _combined(sign: Sign, one: Reach, other: Reach) -> Reach | None:
    if sign == "/" and other.low <= 0 <= other.high:
        return None  # near zero, quotients reach anywhere
    operation = {
        "+": float.__add__, "-": float.__sub__, "*": float.__mul__, "/": float.__truediv__,
    }[sign]  # fmt: skip
    ends = [
        settled(operation(a, b))
        for a, b in product((one.low, one.high), (other.low, other.high))
    ]
    # Below 2^53 sums and products of whole numbers are exact.
    exact = max(map(abs, ends)) < _WHOLE_BELOW
    whole = sign != "/" and one.whole and other.whole and exact
    return Reach(min(ends), max(ends), whole)


def _part(part: str, inner: Value, schema: Schema) -> Reach | None:
    """Return the reach of a part of a day.

    Years reach as far as the declared days do. A day beyond is in no group, and clamped
    in sums, as its column is.
    """
    ends = {"month": (1, 12), "day": (1, 31), "weekday": (1, 7)}.get(part)
    column = schema[inner.column] if isinstance(inner, Name) else None
    if ends is None and isinstance(column, Date):
        ends = column.years
    return Reach(float(ends[0]), float(ends[1]), whole=True) if ends else None


def _mapped(inner: Value, schema: Schema) -> Reach | None:
    match kind_of(inner, schema):
        case Logical():
            return Reach(0.0, 1.0, whole=True)
        case Numeric():
            return reach(inner, schema)
        case Words(vocabulary):
            numbers = [settled(x) for t in vocabulary if (x := numeral(t)) is not None]
            reaches = [Reach(x, x, x.is_integer()) for x in numbers]
            return _union(reaches) if reaches else None
        case _:
            return None


def _union(several: Iterable[Reach]) -> Reach:
    every = list(several)
    return Reach(
        min(one.low for one in every),
        max(one.high for one in every),
        all(one.whole for one in every),
    )


def _floor(number: float) -> float:
    return float(number.__floor__())
