r"""The minimum of a strongly convex objective, with a certified distance.

:math:`F(w) = \sum_i \ell(a_i\cdot w, y_i) + \tfrac\Lambda2\|w-w_0\|^2 + b\cdot w` is
Λ-strongly convex, so a point with gradient g lies within :math:`\|g\|/\Lambda` of the
minimum. Newton's method runs in floats; the gradient at its end is computed with a
bound of its own rounding error, and where that is not small enough, with decimals of
sixty digits. The tolerance is public: nothing here may depend on the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import fsum, isqrt, log2, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.models.door import Floats
from sfumato.models.losses import ScoreLoss
from sfumato.models.progress import tick

__all__ = ["Problem", "minimum"]

_CHUNK = 1 << 13
_ROUNDING = 2.0**-53
_STEPS = 100
_PRECISION = 60


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """An objective.

    Attributes:
        rows: Whole numbers; a row is ``rows[i] / unit``, of length at most 1.
        targets: One per row: a sign, or a number from -1 to 1.
        unit: Whole steps in a length of 1.
        ridge: Λ > 0.
        tilt: b.
        start: w0.
        loss: ℓ.
    """

    rows: NDArray[np.int32]
    targets: Floats
    unit: int
    ridge: float
    tilt: Floats
    start: Floats
    loss: ScoreLoss

    def chunks(self) -> Iterator[tuple[Floats, Floats]]:
        """Iterate over rows and targets; exact, for the unit is a power of 2."""
        for start in range(0, len(self.rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            yield self.rows[part] / float(self.unit), self.targets[part]
            tick()

    def value(self, w: Floats) -> float:
        """Return F(w)."""
        found = sum(self.loss.value(a @ w, y) for a, y in self.chunks())
        away = w - self.start
        return found + self.ridge / 2 * float(away @ away) + float(self.tilt @ w)

    def slopes(self, w: Floats) -> tuple[Floats, Floats]:
        """Return gradient and second derivatives of F at w."""
        gradient = self.ridge * (w - self.start) + self.tilt
        bend = self.ridge * np.eye(len(w))
        for rows, targets in self.chunks():
            scores = rows @ w
            gradient = gradient + self.loss.slope(scores, targets) @ rows
            weight = self.loss.bend(scores, targets)
            bend += (rows * weight[:, None]).T @ rows
        return gradient, bend

    def certified(self, w: Floats) -> float:
        """Return an upper bound of the length of the exact gradient at w.

        Products and sums are in doubles: a dot product of q terms errs by q·u·|a||w|,
        ℓ' is Lipschitz with the constant `loss.curve` and its evaluation errs by less
        than 16u (libm: 4 ulp for exp); halving sums of m terms err by log2(m)·u of the
        sum of sizes; the sums of the chunks are added exactly and rounded once.
        """
        parts: list[Floats] = []
        count = len(self.rows)
        for rows, targets in self.chunks():
            pull = self.loss.slope(rows @ w, targets)
            parts.append(_halving(pull[:, None] * rows))
        gradient = np.array([fsum(p[j] for p in parts) for j in range(len(w))])
        own = self.ridge * (w - self.start) + self.tilt
        size, q = sqrt(float(w @ w)), len(w)
        per_row = (q + 2) * size * self.loss.curve + 16 + (log2(_CHUNK) + 3) / 2
        error = _ROUNDING * (count * per_row + count / 2)
        error += 8 * _ROUNDING * (self.ridge * (size + _length(self.start)))
        error += 8 * _ROUNDING * (_length(self.tilt) + count / 2)
        return _length(gradient + own) + error * sqrt(q)


def minimum(
    problem: Problem, rows: float, fine: int, grid: Fraction
) -> tuple[list[int], Fraction]:
    """Return a point in whole steps of 1/fine, and a public bound of its distance.

    The distance is that from the exact minimum, and holds for every table.

    Args:
        problem: The objective.
        rows: A public guess of the number of rows: sets the tolerance.
        fine: Steps in a length of 1.
        grid: Those of the grid that the ideal b was rounded to.
    """
    q = len(problem.start)
    tolerance = max(4e-8, 2.0**-42 * rows)
    root = Fraction(isqrt(q) + 1)
    blur, rounding = root / (2 * grid), root / (2 * fine)  # of b, and of the point
    within = (Fraction(tolerance) + blur) / Fraction(problem.ridge) + rounding
    with np.errstate(all="ignore"):
        found = _newton(problem, tolerance)
        if problem.certified(found) <= tolerance:
            return [round(Fraction(x) * fine) for x in found.tolist()], within
        start = found if np.isfinite(found).all() else problem.start
        exact = _refined(problem, start, tolerance)
    return [round(Fraction(x) * fine) for x in exact], within


def _newton(problem: Problem, tolerance: float) -> Floats:
    w = problem.start.copy()
    value = problem.value(w)
    for _ in range(_STEPS):
        gradient, bend = problem.slopes(w)
        size = _length(gradient)
        if size <= tolerance / 8:
            return w
        step = np.linalg.solve(bend, gradient)
        pace, new = 1.0, value
        fall = float(gradient @ step)
        noise = 1e-12 * (abs(value) + 1)  # below it values say nothing
        while pace > 1e-6:  # noqa: PLR2004
            new = problem.value(w - pace * step)
            if new <= value - 1e-4 * pace * fall + noise:
                break
            pace /= 2
        ahead = w - pace * step
        if np.array_equal(ahead, w):
            return w
        w, value = ahead, new
        if fall < noise and _length(problem.slopes(w)[0]) >= size / 2:
            return w  # rounding is all that is left
    return w


def _refined(problem: Problem, found: Floats, tolerance: float) -> list[Decimal]:
    """Go on with gradients of sixty digits, until one proves the point good enough.

    Slow, and hardly ever needed: it makes the bound hold for every table. Newton's
    steps, then gradient steps, which converge from anywhere.
    """
    with localcontext() as context:
        context.prec = _PRECISION
        w = [Decimal(x) for x in found.tolist()]
        steps = 0
        while True:
            gradient = _exact_gradient(problem, w)
            if _length(gradient) <= tolerance / 2:
                return w
            near = np.array([float(x) for x in w])
            if steps < _STEPS:
                move = np.linalg.solve(problem.slopes(near)[1], gradient)
            else:
                move = gradient / (
                    len(problem.rows) * problem.loss.curve + problem.ridge
                )
            w = [x - Decimal(m) for x, m in zip(w, move.tolist(), strict=True)]
            steps += 1


def _exact_gradient(problem: Problem, w: Sequence[Decimal]) -> Floats:
    unit = Decimal(problem.unit)
    sums = [Decimal(0)] * len(w)
    for row, y in zip(problem.rows.tolist(), problem.targets.tolist(), strict=True):
        z = sum((a * x for a, x in zip(row, w, strict=True)), Decimal(0)) / unit
        pull = problem.loss.exact(z, y)
        for j, a in enumerate(row):
            sums[j] += pull * a
    ridge = Decimal(problem.ridge)
    starts, tilts = problem.start.tolist(), problem.tilt.tolist()
    return np.array(
        [
            float(s / unit + ridge * (x - Decimal(x0)) + Decimal(b))
            for s, x, x0, b in zip(sums, w, starts, tilts, strict=True)
        ]
    )


def _halving(parts: Floats) -> Floats:
    """Return the sum of rows, by halves: its rounding grows with the logarithm."""
    while len(parts) > 1:
        half = len(parts) // 2
        folded = parts[:half] + parts[half : 2 * half]
        parts = (
            np.concatenate([folded, parts[2 * half :]]) if len(parts) % 2 else folded
        )
    found: Floats = parts[0] if len(parts) else np.zeros(parts.shape[1])
    return found


def _length(vector: Floats) -> float:
    return sqrt(float(vector @ vector))
