"""Is a person in the table behind a released one? Distances tell, if anything does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["Membership", "membership"]

_BLOCK = 256


@final
@dataclass(frozen=True, slots=True)
class Membership:
    """How well distances to a released table tell members from others.

    Attributes:
        auc: Chance that a member is nearer to the released table than another person;
            0.5 is no better than a coin.
        members: How many members were tried.
        others: How many others were tried.
    """

    auc: float
    members: int
    others: int


def membership(
    released: NDArray[Any], members: NDArray[Any], others: NDArray[Any]
) -> Membership:
    """Compare how near members and others are to a released table.

    The distance-to-closest-record attack. A released copy of the rows gives 1; rows
    drawn from a private model should stay near 0.5. A weak attack that fails proves
    nothing.

    Args:
        released: Rows of numbers, shape ``(rows, columns)``.
        members: Rows of the private table.
        others: Rows of the same population that were not in it.

    Raises:
        ArgumentError: The columns differ in number, or a table has no rows.
    """
    tables = [
        np.atleast_2d(np.asarray(t, np.float64)) for t in (released, members, others)
    ]
    if len({t.shape[1] for t in tables}) > 1 or not all(map(len, tables)):
        raise ArgumentError(
            N_("the three tables must have rows, and the same columns"),
            hint=N_("encode categories as numbers and put the columns in one order"),
        )
    spread = np.vstack(tables[1:]).std(axis=0)
    scaled = [t / np.where(spread > 0, spread, 1.0) for t in tables]
    near_members, near_others = (_nearest(t, scaled[0]) for t in scaled[1:])
    auc = float(
        (near_members[:, None] < near_others).mean()
        + (near_members[:, None] == near_others).mean() / 2
    )
    return Membership(auc, len(near_members), len(near_others))


def _nearest(rows: NDArray[np.float64], to: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK, None, :]
        found[start : start + _BLOCK] = np.abs(block - to).sum(axis=2).min(axis=1)
    return found
