"""Integers of the parts → the figures that were asked for, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from sfumato.plan import ByCount, ByRatio, CentredSum, Direct, Plan, PublicSize, Recipe

__all__ = ["Floats", "centre", "points"]

Floats: TypeAlias = "NDArray[np.float64]"


def points(plan: Plan, recipe: Recipe, values: Sequence[Sequence[int]]) -> Floats:
    """Return one number per group (and bin) for a recipe.

    Formal guarantee: post-processing of the values; adds no privacy loss.

    Counts and sums are unbiased. A mean is clamped to its bounds; a count below one
    counts as one under it.

    Args:
        plan: The plan that was measured.
        recipe: How the figure follows from the parts.
        values: The integers of every part, in the order of ``plan.parts``.

    Returns:
        Shape ``(cells of the figure,)``, in the column's unit.
    """
    match recipe:
        case PublicSize():
            return np.array([float(plan.schema.unit.size or 0)])
        case Direct(part, step_size):
            return _floats(values[part]) * step_size
        case ByRatio(total, count):
            middle, half = centre(plan, total)
            low, high = limits(plan, total)
            rows = _rows(plan, count, values)
            mean = middle + half * _floats(values[total]) / np.maximum(rows, 1.0)
            return np.clip(mean, low, high)
        case ByCount(total, count):
            middle, half = centre(plan, total)
            return middle * _rows(plan, count, values) + half * _floats(values[total])
        case _:
            assert_never(recipe)


def centre(plan: Plan, total: int) -> tuple[float, float]:
    """Return the middle of the bounds and half a grid step, in the column's unit."""
    aggregate = plan.parts[total].aggregate
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    half = _step(plan, aggregate.column) / 2
    return (aggregate.first + aggregate.last) * half, half


def limits(plan: Plan, total: int) -> tuple[float, float]:
    """Return the public bounds of the column under a centred sum."""
    aggregate = plan.parts[total].aggregate
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    column = plan.schema[aggregate.column]
    return getattr(column, "lower", 0.0), getattr(column, "upper", 1.0)


def _rows(plan: Plan, count: int | None, values: Sequence[Sequence[int]]) -> Floats:
    if count is None:
        return np.array([float(plan.schema.unit.size or 0)])
    return _floats(values[count])


def _step(plan: Plan, column: str) -> float:
    return float(getattr(plan.schema[column], "step", 1.0))


def _floats(values: Sequence[int]) -> Floats:
    return np.array([float(v) for v in values], dtype=np.float64)
