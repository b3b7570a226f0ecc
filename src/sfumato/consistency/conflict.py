"""Which constraints contradict each other: a smallest set, found by linear programmes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.consistency.system import Floats, Placed, System

__all__ = ["conflict"]


def conflict(
    placed: Sequence[Placed], values: Floats, spread: Floats
) -> tuple[Placed, ...]:
    """Return constraints that cannot hold together, while any fewer of them can.

    QuickXplain (Junker, AAAI 2004): divide and conquer, so that few of many
    constraints cost few trials.

    Args:
        placed: Constraints that contradict each other together.
        values: The figures; one of variance 0 is exact and cannot move.
        spread: Their variances.
    """
    return tuple(_explain([], [], list(placed), values, spread))


def _explain(
    held: list[Placed],
    added: list[Placed],
    rest: list[Placed],
    values: Floats,
    spread: Floats,
) -> list[Placed]:
    if added and not _holds(held, values, spread):
        return []
    if len(rest) == 1:
        return rest
    half = len(rest) // 2
    first, second = rest[:half], rest[half:]
    found = _explain(held + first, first, second, values, spread)
    return found + _explain(held + found, found, first, values, spread)


def _holds(placed: Sequence[Placed], values: Floats, spread: Floats) -> bool:
    """Tell whether any vector satisfies all of them."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    system = System.of(len(values), placed)
    exact = spread == 0
    low = np.where(exact, np.maximum(values, system.low), system.low)
    high = np.where(exact, np.minimum(values, system.high), system.high)
    if (low > high).any():
        return False
    equal, most = system.equal, system.most
    limits = [
        LinearConstraint(rows.matrix(len(values)), rows.right + least, rows.right)
        for rows, least in ((equal, 0.0), (most, -np.inf))
        if len(rows.right)
    ]
    found = milp(
        np.zeros(len(values)), bounds=Bounds(low, high), constraints=limits
    )  # no figure is bound to be whole: a linear programme
    return bool(found.status != 2)  # noqa: PLR2004  2 means infeasible
