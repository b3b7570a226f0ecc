"""Rejection sampling on arrays: attempt all, then again those that were rejected."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from sfumato.noise.arrays import Ints

__all__ = ["NONE", "Attempt", "Exact", "Where", "fill_accepted", "in_chunks", "moved"]

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


def in_chunks(out: Ints, length: int, attempt: Attempt) -> Ints:
    """Make one attempt in pieces that stay in cache; return the rejected positions."""
    if len(out) <= length:
        return attempt(out, slice(0, len(out)))
    rejected = [NONE]
    for start in range(0, len(out), length):
        part = slice(start, start + length)
        rejected.append(attempt(out[part], part) + start)
    return np.concatenate(rejected)


def moved(exact: Exact, where: Where) -> Exact:
    """Renumber a function of the element for the elements at `where`."""
    if isinstance(where, slice):
        start = int(where.start)
        return lambda i: exact(start + i)
    return lambda i: exact(int(where[i]))
