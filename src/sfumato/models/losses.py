"""Losses of one score whose slope is at most one half: what clipping gradients means."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol, final

import numpy as np

from sfumato.models.door import Floats

__all__ = ["Huber", "Logistic", "ScoreLoss"]

_LN2 = float(np.log(2))
_FAR = 10_000  # where the slope is below 10**-4000, and soon below any decimal


class ScoreLoss(Protocol):
    """A convex, differentiable loss ℓ(z) of a score z and a target.

    Attributes:
        curve: Largest second derivative; the first is at most 1/2 in size.
    """

    curve: float

    def value(self, scores: Floats, targets: Floats) -> float:
        """Return the sum of the losses."""
        ...

    def slope(self, scores: Floats, targets: Floats) -> Floats:
        """Return the first derivatives."""
        ...

    def bend(self, scores: Floats, targets: Floats) -> Floats:
        """Return the second derivatives, where they exist."""
        ...

    def exact(self, score: Decimal, target: float) -> Decimal:
        """Return one first derivative with the digits of the context."""
        ...


@final
class Logistic:
    """h(s·z) for s = ±1: logistic loss for s·z >= 0, its tangent below."""

    curve = 0.25

    def value(self, scores: Floats, targets: Floats) -> float:
        """Return the sum of the losses."""
        t = targets * scores
        low = np.log1p(np.exp(-np.abs(t)))
        return float(np.where(t >= 0, low, _LN2 - t / 2).sum())

    def slope(self, scores: Floats, targets: Floats) -> Floats:
        """Return the first derivatives."""
        t = targets * scores
        e = np.exp(-np.abs(t))
        return np.asarray(-targets * np.where(t >= 0, e / (1 + e), 0.5))

    def bend(self, scores: Floats, targets: Floats) -> Floats:
        """Return the second derivatives."""
        t = targets * scores
        e = np.exp(-np.abs(t))
        return np.asarray(np.where(t >= 0, e / (1 + e) ** 2, 0.0))

    def exact(self, score: Decimal, target: float) -> Decimal:
        """Return one first derivative with the digits of the context."""
        side = Decimal(target)
        t = side * score
        if t > _FAR:
            return Decimal(0)
        pull = Decimal("0.5") if t < 0 else 1 / (1 + t.exp())
        return -side * pull


@final
class Huber:
    """Half the squared error where it is at most 1/2, linear beyond."""

    curve = 1.0

    def value(self, scores: Floats, targets: Floats) -> float:
        """Return the sum of the losses."""
        r = np.abs(scores - targets)
        return float(np.where(r <= 0.5, r * r / 2, r / 2 - 0.125).sum())  # noqa: PLR2004

    def slope(self, scores: Floats, targets: Floats) -> Floats:
        """Return the first derivatives."""
        return np.clip(scores - targets, -0.5, 0.5)

    def bend(self, scores: Floats, targets: Floats) -> Floats:
        """Return the second derivatives."""
        return np.asarray(np.abs(scores - targets) <= 0.5, np.float64)  # noqa: PLR2004

    def exact(self, score: Decimal, target: float) -> Decimal:
        """Return one first derivative with the digits of the context."""
        half = Decimal("0.5")
        return min(max(score - Decimal(target), -half), half)
