r"""GNM: a Gaussian noisy Newton method, for δ > 0; binary, multiclass and squared loss.

T + 2 Gaussian mechanisms: a private centre, a noisy Gram matrix that preconditions, and
T noisy clipped gradients. A row changes A'A by aa' with :math:`\|aa'\|_F \le 1`, and a
clipped gradient by at most its radius. The shares of ρ sum to the whole exactly, so the
fit is √(2ρ)-GDP (Dong, Roth, Su 2022, Cor. 3.3). Proof: ``docs/proofs/gnm.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.models.centre import Frame, find_centre, widened
from sfumato.models.door import (
    UNIT,
    Floats,
    Share,
    deviation,
    lattice,
    noisy,
    products,
)
from sfumato.models.line import Line
from sfumato.models.price import Rho
from sfumato.models.work import Work

__all__ = ["GNM", "fit_gnm", "gram", "logistic", "softmax", "squared"]

Residual: TypeAlias = Callable[[Floats, NDArray[np.float64]], Floats]


@final
@dataclass(frozen=True, slots=True)
class GNM:
    """The public constants of GNM; see ``docs/models/logistic-regression.md``.

    Attributes:
        reach: Radius of the rows over √columns, when their sum is taken.
        radius: The same, about the centre.
        constant: Weight of the constant column and of the count.
        steps: T.
        clip: Radius of one row's gradient, for rows of length 1.
        bend: Largest second derivative of the loss.
        centring: Share of ρ for the centre.
        shaping: Share of ρ for the Gram matrix.
    """

    reach: float = 0.5
    radius: float = 0.3
    constant: float = 0.35
    steps: int = 6
    clip: float = 0.5
    bend: float = 0.25
    centring: Fraction = Fraction(15, 100)
    shaping: Fraction = Fraction(10, 100)

    def split(self, whole: Rho) -> tuple[Rho, ...]:
        """Return the shares of the centre, the Gram matrix and each step."""
        each = (1 - self.centring - self.shaping) / self.steps
        return whole.split(self.centring, self.shaping, *([each] * self.steps))


def logistic(scores: Floats, labels: NDArray[np.float64]) -> Floats:
    """Return the derivative of the logistic loss by the score; labels are 0 and 1."""
    found: Floats = 1 / (1 + np.exp(-np.clip(scores, -40, 40))) - labels[:, None]
    return found


def softmax(scores: Floats, labels: NDArray[np.float64]) -> Floats:
    """Return the derivative of the cross entropy by the scores; labels are places."""
    grown: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    grown /= grown.sum(axis=1, keepdims=True)
    grown[np.arange(len(labels)), labels.astype(np.int64)] -= 1.0
    return grown


def squared(scores: Floats, targets: NDArray[np.float64]) -> Floats:
    """Return the derivative of half the squared error."""
    return np.asarray(scores - targets[:, None], np.float64)


def gram(parts: Iterator[Floats], width: int, share: Share) -> tuple[Floats, float]:
    """Return the noisy sum of ``a a'`` for rows of length at most 1, and its deviation.

    Formal guarantee: one row changes the matrix of whole numbers by ``aa'`` of
    Frobenius length at most ``UNIT**2``, in which each entry above the diagonal counts
    twice; `door.noisy` with `share`.
    """
    whole = np.zeros((width, width), object)
    for part in parts:
        block = lattice(part).astype(np.float64)
        # Exact: entries below 2**36 and at most 2**13 rows stay below 2**53.
        whole += (block.T @ block).astype(np.int64).astype(object)
    upper = np.triu_indices(width)
    thin = [1 if i == j else 2 for i, j in zip(*upper, strict=True)]
    found = noisy(list(whole[upper]), share, length=UNIT**2, thin=thin) / UNIT**2
    matrix = np.zeros((width, width))
    matrix[upper] = found
    return matrix + np.triu(matrix, 1).T, deviation(share, len(thin))


def fit_gnm(
    work: Work,
    outputs: int,
    residual: Residual,
    share: Rho,
    settings: GNM,
    *,
    prior: Line | None = None,
    ridge: float = 0.0,
) -> Line:
    """Return a line.

    Formal guarantee: √(2ρ)-GDP with the ρ of `share`, hence (ε, δ)-DP by the Gaussian
    curve.

    Args:
        work: The rows.
        outputs: Columns of scores.
        residual: Derivative of the loss of each row by its scores.
        share: What may be lost.
        settings: Public constants.
        prior: Public line to begin at and to shrink to; default zero.
        ridge: Public ridge.
    """
    first, second, *steps = settings.split(share)
    centre = find_centre(
        work.chunks(),
        work.width,
        first,
        reach=settings.reach,
        constant=settings.constant,
    )
    frame = Frame(centre.middle, settings.radius * sqrt(work.width), settings.constant)

    def wide(rows: Floats) -> Floats:
        return widened(rows - centre.middle, frame.radius, settings.constant)

    q = work.width + 1
    matrix, noise = gram(map(wide, work.chunks()), q, second)
    values, vectors = np.linalg.eigh(matrix)
    floor = sqrt(2 * q) * noise + ridge / settings.bend
    shape = (vectors / (np.clip(values, 0, None) + floor)) @ vectors.T / settings.bend
    w = np.zeros((q, outputs))
    if prior is not None:
        w = np.stack([frame.inside(prior, k) for k in range(outputs)], axis=1)
    start = w
    average, weight = np.zeros_like(w), 0.0
    for t, own in enumerate(steps):
        slope = _gradient(work, wide, w, residual, own, settings.clip)
        w = w - shape @ (slope + ridge * (w - start))
        average += (t + 1) ** 2 * w
        weight += (t + 1) ** 2
    average /= weight
    ends = [frame.outside(average[:, k]) for k in range(outputs)]
    return Line(np.array([s for s, _ in ends]).T, np.array([o for _, o in ends]))


def _gradient(
    work: Work,
    wide: Callable[[Floats], Floats],
    w: Floats,
    residual: Residual,
    share: Rho,
    clip: float,
) -> Floats:
    """Return the noisy sum of the rows' gradients, each clipped to length `clip`."""
    whole = np.zeros(w.size, np.int64)
    for rows, targets in work.pairs():
        a = wide(rows)
        r = residual(products(a, w), targets)
        lengths = np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", r, r))
        r *= (1 / np.maximum(lengths, clip * (1 + 2.0**-40)))[:, None]
        each = (a[:, :, None] * r[:, None, :]).reshape(len(a), w.size)  # also of no row
        whole += lattice(each).sum(axis=0, dtype=np.int64)
    return (noisy(whole, share) / UNIT * clip).reshape(w.shape)
