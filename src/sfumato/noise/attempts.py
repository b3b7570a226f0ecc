"""Rejection sampling on arrays: attempt all, then again those that were rejected."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

import numpy as np

from sfumato.noise.arrays import Ints

__all__ = [
    "NONE",
    "Attempt",
    "Exact",
    "Where",
    "fill_accepted",
    "fill_in_order",
    "in_chunks",
    "moved",
    "narrowed",
]

Exact: TypeAlias = Callable[[int], Fraction]
"""The exact parameter of an element."""

Where: TypeAlias = slice | Ints
"""Some elements of an array: a range, or their positions."""

Attempt: TypeAlias = Callable[[Ints, Where], Ints]
"""Fills an array with one attempt for each of some elements of the run, and returns
the positions, within that array, of the attempts that were rejected."""

NONE: Ints = np.empty(0, np.int64)
"""No positions."""


def fill_accepted(count: int, attempt: Attempt) -> Ints:
    """Repeat an attempt on the elements that it rejects until none is left."""
    out = np.empty(count, np.int64)
    rejected = attempt(out, slice(0, count))
    while rejected.size:
        again = np.empty(rejected.size, np.int64)
        still = attempt(again, rejected)
        out[rejected] = again
        rejected = rejected[still]
    return out


def fill_in_order(count: int, chance: float, length: int, attempt: Attempt) -> Ints:
    """Keep the first `count` accepted of independent attempts of one common law.

    Which attempts are accepted does not depend on the values of those that are, so
    stopping at the first `count` of them leaves the law as it is.

    Args:
        count: Number of draws.
        chance: About how likely an attempt is to be accepted; any value is correct.
        length: How many draws to finish at a time.
        attempt: Makes the attempts.
    """
    out = np.empty(count, np.int64)
    done = 0
    while done < count:
        missing = min(count - done, length)
        tries = min(int(missing / chance + 3 * sqrt(missing)) + 8, length)
        batch = np.empty(tries, np.int64)
        rejected = attempt(batch, slice(0, tries))
        kept = np.delete(batch, rejected)[:missing]
        out[done : done + len(kept)] = kept
        done += len(kept)
    return out


def in_chunks(out: Ints, where: Where, length: int, attempt: Attempt) -> Ints:
    """Make one attempt in pieces that stay in cache; return the rejected positions."""
    if len(out) <= length:
        return attempt(out, where)
    rejected = [NONE]
    for start in range(0, len(out), length):
        part = slice(start, min(start + length, len(out)))
        rejected.append(attempt(out[part], narrowed(where, part)) + start)
    return np.concatenate(rejected)


def narrowed(where: Where, part: slice) -> Where:
    """Return the elements of the run at the positions `part` of `where`."""
    if isinstance(where, slice):
        return slice(where.start + part.start, where.start + part.stop)
    return where[part]


def moved(exact: Exact, where: Where) -> Exact:
    """Renumber a function of the element for the elements at `where`."""
    if isinstance(where, slice):
        start = int(where.start)
        return lambda i: exact(start + i)
    return lambda i: exact(int(where[i]))
