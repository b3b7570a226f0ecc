"""A private centre of the rows: their mean, shrunk towards the public middle.

Centring costs a fraction of the budget and repairs lazy bounds. The sum of the clipped
rows and a constant column is one draw; the rest is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import final

import numpy as np

from sfumato.models.door import UNIT, Floats, Share, deviation, lattice, noisy, total
from sfumato.models.line import Line

__all__ = ["Centre", "Frame", "clipped", "find_centre", "widened"]

_LEAST_ROWS = 10.0


@final
@dataclass(frozen=True, slots=True)
class Centre:
    """What was learned of the middle of the rows.

    Attributes:
        middle: The private mean, shrunk; between -1 and 1.
        rows: The private number of rows, at least 10.
    """

    middle: Floats
    rows: float


def clipped(rows: Floats, radius: float) -> Floats:
    """Return rows no longer than `radius`: longer ones are shortened."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    factor = np.minimum(1.0, radius / np.maximum(lengths, 1e-300))
    found: Floats = rows * factor[:, None]
    return found


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """Between weights on centred rows of length 1 and a line on the encoded ones.

    Attributes:
        middle: The centre.
        radius: Radius of clipping about it.
        constant: Weight of the constant column over the radius.
    """

    middle: Floats
    radius: float
    constant: float

    @property
    def size(self) -> float:
        """The length that became 1."""
        return self.radius * sqrt(1 + self.constant**2) * (1 + 2.0**-40)

    def outside(self, weights: Floats) -> tuple[Floats, float]:
        """Return slopes and offset on encoded rows, without any clipping."""
        slope = weights[:-1] / self.size
        lift = weights[-1] * self.constant * self.radius / self.size
        return slope, float(lift - slope @ self.middle)

    def inside(self, line: Line, output: int) -> Floats:
        """Return the weights of one output of a line."""
        slope = line.slopes[:, output]
        lift = line.offset[output] + slope @ self.middle
        wide: Floats = np.append(slope, lift / (self.constant * self.radius))
        return wide * self.size


def widened(rows: Floats, radius: float, constant: float) -> Floats:
    """Return ``(clip(row), constant·radius)`` scaled to a length of at most 1."""
    size = radius * sqrt(1 + constant**2) * (1 + 2.0**-40)
    wide: Floats = np.empty((len(rows), rows.shape[1] + 1))
    wide[:, :-1] = clipped(rows, radius)
    wide[:, -1] = constant * radius
    wide /= size
    return wide


def find_centre(
    chunks: Iterable[Floats], width: int, share: Share, *, reach: float, constant: float
) -> Centre:
    """Return the private centre.

    Formal guarantee: one row changes the sum by an integer vector of length at most
    `UNIT`; `door.noisy` with `share`. Rounding, division and James-Stein shrinkage
    (which falls back to the public middle when ε·n is small) are post-processing.

    Args:
        chunks: Encoded rows in [-1, 1].
        width: Number of encoded columns.
        share: What may be lost.
        reach: Radius of clipping over √width.
        constant: Weight of the count beside the sums.
    """
    radius = reach * sqrt(width)
    parts = (lattice(widened(c, radius, constant)) for c in chunks)
    sums = noisy(total(parts, width + 1), share) / UNIT
    size = radius * sqrt(1 + constant**2)
    rows = max(sums[-1] * size / (constant * radius), _LEAST_ROWS)
    middle = np.clip(sums[:-1] * size / rows, -1.0, 1.0)
    noise = deviation(share, width + 1, length=size) / rows
    square = float(middle @ middle)
    shrink = max(0.0, 1 - max(width - 2, 1) * noise**2 / max(square, 1e-12))
    return Centre(middle * shrink, rows)
