"""Rows for fitting and rows for testing: each row, or person, by its own public coin."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import noise
from sfumato.models.table import numbered

__all__ = ["coins", "shuffled"]


def coins(
    count: int, share: float, persons: NDArray[Any] | None = None
) -> NDArray[np.bool_]:
    """Return which rows fall into the first part, about `share` of them.

    A coin does not depend on other rows, so that one row, or one person with all rows,
    moves nobody else; every row of a person follows one coin.

    Args:
        count: Number of rows.
        share: Chance of the first part, above 0 and below 1.
        persons: Whose each row is; default: each row is a person's own.
    """
    drawn = noise.default().words(count + 1)  # one for nobody: persons may be as many
    drawn = drawn[:count] if persons is None else drawn[numbered(persons)]
    found: NDArray[np.bool_] = drawn < np.uint64(int(Fraction(share) * 2**64))
    return found


def shuffled(count: int) -> NDArray[np.int64]:
    """Return a random order of rows: which of a person's rows come first is chance.

    A database gives rows in any order; which rows of one person count must not depend
    on where rows of others lie.
    """
    return np.argsort(noise.default().words(count), kind="stable")
