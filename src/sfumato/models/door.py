"""The models' door: exact integer sums of rows on one side, noisy numbers on the other.

Every row becomes a vector of integers of Euclidean length at most `UNIT`, checked in
integers row by row: no rounding of floats can raise the sensitivity. Sums are exact.
Noise is an exact continuous draw, rounded; so what leaves is the ideal mechanism's
answer rounded (``docs/proofs/spherical-noise.md``, ``docs/proofs/rounded-reals.md``).
Nothing else in `sfumato.models` adds noise to a number that was computed from rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato import noise
from sfumato.account import Gaussian, Geometric, describe
from sfumato.models.price import Pure, Rho

__all__ = [
    "UNIT",
    "Floats",
    "Share",
    "counts",
    "described",
    "deviation",
    "lattice",
    "noisy",
    "products",
    "total",
]

Floats: TypeAlias = "NDArray[np.float64]"
Share: TypeAlias = Pure | Rho
UNIT = 1 << 18
"""Whole steps in a length of 1."""

_WIDE = 1 << 62


def lattice(rows: Floats, unit: int = UNIT) -> NDArray[np.int32]:
    """Return rows of length at most 1 as integers of length at most `unit`.

    Truncation towards zero shortens every vector; a row that is too long all the same
    counts as zero, which no row of length at most 1 - 2**-40 can be.
    """
    whole = np.trunc(rows * unit)
    squares = np.einsum("ij,ij->i", whole, whole)  # exact: integers below 2**53
    whole[~(squares <= float(unit) ** 2)] = 0  # also a row that holds NaN
    return whole.astype(np.int32)


def products(rows: Floats, weights: Floats) -> Floats:
    """Return ``rows @ weights``, each row by itself, to the last bit.

    A matrix product of a library rounds a row by its place among the others, so that one
    row more could move the integers of other rows; here no row knows of another. `rows`
    must lie row by row in memory, as an `Encoder` gives them.
    """
    columns = [
        np.einsum("ij,j->i", rows, np.ascontiguousarray(weights[:, k]))
        for k in range(weights.shape[1])
    ]
    found: Floats = np.stack(columns, axis=1)
    return found


def total(parts: Iterable[NDArray[np.int32]], width: int) -> NDArray[np.int64]:
    """Return the exact sum of all rows of all parts."""
    found = np.zeros(width, np.int64)
    for part in parts:
        found += part.sum(axis=0, dtype=np.int64)
    return found


def noisy(
    sums: Sequence[int] | NDArray[np.int64],
    share: Share,
    *,
    length: Fraction | int = UNIT,
    thin: Sequence[int] | None = None,
) -> Floats:
    r"""Return integer sums with noise: the only way of a sum to the outside.

    Formal guarantee: let one row change `sums` by a vector of Euclidean length at most
    `length` (with entry i counted ``thin[i]`` times in its square). With a `Pure` share
    the result is ε-DP (the K-norm mechanism of the ball; Hardt, Talwar 2010); with a
    `Rho` share it is √(2ρ)-GDP, hence ρ-zCDP (Dong, Roth, Su 2022, Thm 2.7).

    Args:
        sums: The exact integers.
        share: What may be lost.
        length: Largest change by one row, in whole steps.
        thin: Weights of the squares: 2 for the upper triangle of a symmetric matrix.
    """
    values = [int(v) for v in sums]
    reach = Fraction(length) * share.changes
    weights = [1] * len(values) if thin is None else list(thin)
    if isinstance(share, Rho):
        return _with_normal(values, reach**2, share, weights)
    scale = reach / share.epsilon.value
    drawn = noise.spherical_noise(scale, len(values), thin=weights)
    return np.array([float(v + z) for v, z in zip(values, drawn, strict=True)])


def _with_normal(
    values: Sequence[int], square: Fraction, share: Rho, thin: Sequence[int]
) -> Floats:
    """Add normal noise; a coordinate that counts t times has 1/t of the variance."""
    small = all(-_WIDE < v < _WIDE for v in values)
    whole = np.array(values, np.int64 if small else object)
    weights = np.array(thin)
    found = np.empty(len(whole))
    for t in set(thin):
        law = Gaussian(square / t, share.rho, squared=True)
        found[weights == t] = noise.rounded_gaussian(whole[weights == t], law.scale)
    return found


def deviation(share: Share, width: int, *, length: float = 1.0) -> float:
    """Return the standard deviation of one coordinate's noise, in the unit of `length`.

    Args:
        share: What is lost.
        width: Number of coordinates of the joint draw.
        length: The largest change by one row.
    """
    reach = length * share.changes
    if isinstance(share, Pure):
        return sqrt(width + 1) * reach / float(share.epsilon.value)
    return reach / sqrt(2 * float(share.rho.value))


def counts(cells: NDArray[np.int64], share: Pure) -> Floats:
    """Return counts of disjoint cells with geometric noise.

    Formal guarantee: a row adds one to one cell, so ε-DP (Ghosh, Roughgarden,
    Sundararajan 2012); a replaced row moves one from cell to cell.
    """
    law = Geometric(share.changes, share.epsilon)
    drawn = noise.discrete_laplace(law.scale, cells.shape)
    return np.asarray(cells + drawn, np.float64)


def described(share: Share, *, count: int = 1) -> dict[str, str | int]:
    """Return what a ledger keeps of a mechanism, for later reports."""
    if isinstance(share, Pure):
        return dict(describe(share.epsilon, count=count))
    return dict(describe(Gaussian(1, share.rho), count=count))


def spread(
    sums: Sequence[int] | NDArray[np.int64], share: Share, *, length: int = UNIT
) -> Floats:
    """Return non-negative integer sums of which one row adds at most `length` in all.

    Formal guarantee: the L1 change, hence the L2 change, is at most `length` per row.
    With a `Pure` share geometric noise on each (ε-DP; Ghosh, Roughgarden, Sundararajan
    2012), which is less than a joint draw of many; with a `Rho` share as `noisy`.
    """
    if isinstance(share, Rho):
        return noisy(sums, share, length=length)
    law = Geometric(length * share.changes, share.epsilon)
    return np.array([float(int(v) + noise.discrete_laplace(law.scale)) for v in sums])


def cell_counts(cells: NDArray[np.int64], share: Share) -> Floats:
    """Return counts of disjoint cells with noise, whatever the currency.

    Formal guarantee: a row adds one to one cell. A replaced row changes two cells by
    one, or none: L1 2, L2 at most √2 <= 2.
    """
    if isinstance(share, Rho):
        flat = noisy(cells.ravel(), share, length=1)
        return flat.reshape(cells.shape)
    return counts(cells, share)
