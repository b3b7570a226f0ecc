"""What a black box returned, as numbers that events can be made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Draws", "Floats", "Outcome", "draw"]

Floats: TypeAlias = "NDArray[np.float64]"
_MOST_NUMBERS = 64  # of one outcome
_MOST_LABELS = 200


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """One return value, or one exception.

    Attributes:
        labels: What can be present or absent: its type, its length, the keys of a
            mapping, an exception's type, a small number of plain values.
        numbers: Its numbers by name, in a mapping by key, else by place.
    """

    labels: frozenset[str]
    numbers: Mapping[str, float]


@final
@dataclass(frozen=True, slots=True)
class Draws:
    """Outcomes of one mechanism on one input.

    Attributes:
        labels: For each label which draws have it.
        numbers: For each number its values, NaN where a draw has none.
        count: How many draws there are.
    """

    labels: Mapping[str, NDArray[np.bool_]]
    numbers: Mapping[str, Floats]
    count: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Draws:
        """Turn outcomes into columns."""
        count = len(outcomes)
        labels: dict[str, NDArray[np.bool_]] = {}
        numbers: dict[str, Floats] = {}
        for i, one in enumerate(outcomes):
            for label in one.labels:
                if label not in labels and len(labels) < _MOST_LABELS:
                    labels[label] = np.zeros(count, bool)
                if label in labels:
                    labels[label][i] = True
            for name, value in one.numbers.items():
                if name not in numbers and len(numbers) < _MOST_NUMBERS:
                    numbers[name] = np.full(count, np.nan)
                if name in numbers:
                    numbers[name][i] = value
        return cls(labels, numbers, count)

    def part(self, first: int, last: int) -> Draws:
        """Return the draws from `first` to before `last`."""
        return Draws(
            {name: where[first:last] for name, where in self.labels.items()},
            {name: values[first:last] for name, values in self.numbers.items()},
            last - first,
        )


def draw(mechanism: Callable[[Any], object], data: object, count: int) -> Draws:
    """Ask a mechanism `count` times; what it raises is an outcome like any other."""
    return Draws.of([_ask(mechanism, data) for _ in range(count)])


def _ask(mechanism: Callable[[Any], object], data: object) -> Outcome:
    try:
        value = mechanism(data)
    except Exception as error:  # noqa: BLE001  an error is an outcome
        texts = (f"raises {type(error).__name__}", f"error text {str(error)[:80]}")
        return Outcome(frozenset(texts), {})
    return read(value)


def read(value: object) -> Outcome:
    """Return the labels and numbers of a value."""
    if hasattr(value, "to_dict") and type(value).__name__ == "Release":
        return _of_release(value)
    if isinstance(value, Mapping):
        keys = {f"has key {key!r}"[:80] for key in value}
        numbers = {
            f"value of {key!r}"[:80]: _number(held) for key, held in value.items()
        }
        known = {name: n for name, n in numbers.items() if n is not None}
        return Outcome(frozenset({f"{len(value)} keys", *keys}), known)
    if hasattr(value, "tolist") and not isinstance(value, list | tuple):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _of_list(value)
    number = _number(value)
    if number is not None:
        kind = {type(value).__name__} | ({"not a number"} if isnan(number) else set())
        return Outcome(frozenset(kind), {"value": number})
    return Outcome(frozenset({type(value).__name__, f"value {value!r}"[:80]}), {})


def _of_list(value: Sequence[object]) -> Outcome:
    flat = list(_flat(value))
    numbers = {f"value {i}": _number(one) for i, one in enumerate(flat)}
    known = {name: n for name, n in numbers.items() if n is not None}
    return Outcome(frozenset({f"length {len(flat)}"}), known)


def _flat(value: Sequence[object]) -> Any:
    for one in value:
        if isinstance(one, list | tuple):
            yield from _flat(one)
        else:
            yield one


def _of_release(value: Any) -> Outcome:
    named = {
        f"{f.name} {dict(f.group)} {f.bin or ''}".strip()[:80]: f.estimate
        for f in value.figures
    }
    return Outcome(frozenset({f"{len(named)} figures", *named}), named)


def _number(value: object) -> float | None:
    if isinstance(value, bool | np.bool_):
        return float(value)
    if isinstance(value, int | float | np.number):
        try:
            return float(value)
        except OverflowError:
            return float("inf")
    return None
