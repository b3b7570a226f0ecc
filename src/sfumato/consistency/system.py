"""Constraints on places of a vector → rows of linear equations and inequalities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final

import numpy as np
from numpy.typing import NDArray

from sfumato.consistency.constraint import (
    Between,
    Constraint,
    Monotone,
    Parts,
    Total,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Floats", "Placed", "Places", "Rows", "System"]

Floats: TypeAlias = "NDArray[np.float64]"
Places: TypeAlias = "NDArray[np.int64]"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A constraint whose members are known places of the vector.

    Attributes:
        constraint: What was said, for messages.
        members: Places that it is about: of a sum those of the parts.
        whole: Place of the sum: for `Total` of an exact figure of its own; else -1.
    """

    constraint: Constraint
    members: Places
    whole: int = -1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Sparse rows ``weights · x[places]`` with a right-hand side each."""

    row: Places
    place: Places
    weight: Floats
    right: Floats

    def matrix(self, size: int) -> csr_array[Any]:
        """Return the rows as a scipy matrix with `size` columns."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.weight, (self.row, self.place)), shape=(len(self.right), size)
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class System:
    """All constraints on a vector of `size` numbers.

    Attributes:
        size: Length of the vector.
        equal: ``A x = b``.
        most: ``G x <= h``.
        low: Lower bound of each number, perhaps -inf.
        high: Upper bound of each number, perhaps inf.
    """

    size: int
    equal: Rows
    most: Rows
    low: Floats
    high: Floats

    @classmethod
    def of(cls, size: int, placed: Sequence[Placed]) -> System:
        """Collect the rows and bounds of all constraints."""
        low, high = np.full(size, -np.inf), np.full(size, np.inf)
        equal, most = _Builder(), _Builder()
        for one in placed:
            match one.constraint:
                case Total() | Parts():
                    weights = np.ones(len(one.members) + 1)
                    weights[-1] = -1.0
                    equal.add(np.append(one.members, one.whole), weights, 0.0)
                case Between(least, largest):
                    low[one.members] = np.maximum(low[one.members], least)
                    high[one.members] = np.minimum(high[one.members], largest)
                case Monotone(direction):
                    most.add_steps(one.members, rising=direction == "rising")
                case _:
                    assert_never(one.constraint)
        return cls(size, equal.rows(), most.rows(), low, high)

    @property
    def is_bounded(self) -> bool:
        """Whether any inequality was stated."""
        return bool(
            len(self.most.right)
            or np.isfinite(self.low).any()
            or np.isfinite(self.high).any()
        )

    def violation(self, x: Floats) -> float:
        """Return how far x is from satisfying the inequalities."""
        worst = max(
            float(np.max(self.low - x, initial=0)),
            float(np.max(x - self.high, initial=0)),
        )
        if len(self.most.right):
            left = np.bincount(
                self.most.row,
                weights=self.most.weight * x[self.most.place],
                minlength=len(self.most.right),
            )
            worst = max(worst, float(np.max(left - self.most.right)))
        return worst


class _Builder:
    """Rows in the making."""

    def __init__(self) -> None:
        self._rows: list[Places] = []
        self._places: list[Places] = []
        self._weights: list[Floats] = []
        self._right: list[float] = []

    def add(self, places: Places, weights: Floats, right: float) -> None:
        """Add one row."""
        self._rows.append(np.full(len(places), len(self._right), dtype=np.int64))
        self._places.append(places)
        self._weights.append(weights)
        self._right.append(right)

    def add_steps(self, places: Places, *, rising: bool) -> None:
        """Add a row ``x[i] - x[i+1] <= 0`` for each pair of neighbours."""
        sign = 1.0 if rising else -1.0
        count = max(0, len(places) - 1)
        first = np.arange(len(self._right), len(self._right) + count, dtype=np.int64)
        self._rows += [first, first]
        self._places += [places[:-1], places[1:]]
        self._weights += [np.full(count, sign), np.full(count, -sign)]
        self._right += [0.0] * count

    def rows(self) -> Rows:
        """Return what was added."""
        nothing = np.zeros(0, dtype=np.int64)
        return Rows(
            np.concatenate([nothing, *self._rows]),
            np.concatenate([nothing, *self._places]),
            np.concatenate([np.zeros(0), *self._weights]),
            np.array(self._right, dtype=np.float64),
        )
