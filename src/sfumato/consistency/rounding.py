"""Controlled rounding: whole numbers near the figures that still satisfy everything."""

from __future__ import annotations

import numpy as np

from sfumato.consistency.forest import Forest
from sfumato.consistency.system import Floats, System
from sfumato.errors import ArgumentError
from sfumato.words import N_

__all__ = ["round_forest", "round_system"]

_WHOLE = 1e-6  # a float this near to a whole number is one
_REACH = 3  # whole numbers further off than the next are tried, at most


def round_forest(values: Floats, forest: Forest) -> Floats:
    """Return whole numbers, each its figure rounded down or up, whose sums agree.

    From the roots down: a whole's number lies between the sums of its parts rounded
    down and rounded up, so the parts with the largest remainders are rounded up until
    the sum is met.

    Args:
        values: Figures that satisfy the sums.
        forest: The sums.
    """
    near = np.round(values)
    down = np.where(np.abs(values - near) < _WHOLE, near, np.floor(values))
    found = near.copy()
    for layer in forest.layers:
        up = forest.parent[layer]
        order = np.lexsort((layer, -(values - down)[layer], up))
        layer, up = layer[order], up[order]  # noqa: PLW2901  in the order of remainders
        sums = np.bincount(up, weights=down[layer], minlength=len(values))
        need = (found - sums)[up]
        starts = np.flatnonzero(np.r_[True, up[1:] != up[:-1]])
        sizes = np.diff(np.r_[starts, len(up)])
        rank = np.arange(len(up)) - np.repeat(starts, sizes)
        found[layer] = down[layer] + (rank < need)
    return found


def round_system(values: Floats, system: System) -> Floats:
    """Return whole numbers of least total distance that satisfy the system.

    Each figure is rounded down or up, which two-way tables always allow (Cox, JASA
    1987); where that cannot be done, numbers further off are tried. An integer
    programme, solved by HiGHS.

    Args:
        values: Figures that satisfy the system.
        system: The constraints.

    Raises:
        ArgumentError: No whole numbers near the figures satisfy the constraints.
    """
    near = np.round(values)
    down = np.where(np.abs(values - near) < _WHOLE, near, np.floor(values))
    for reach in range(_REACH):
        found = _round(values, down, system, reach)
        if found is not None:
            return found
    raise ArgumentError(
        N_("no whole numbers near the figures satisfy the constraints"),
        hint=N_("leave out integers=True, or give totals that are whole numbers"),
    )


def _round(values: Floats, down: Floats, system: System, reach: int) -> Floats | None:
    """Round to ``down + up + more - less``; `up` is 0 or 1, the others at most `reach`."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    size, share = system.size, values - down
    unit = sparse.eye_array(size, format="csr")
    steps = sparse.hstack([unit, unit, -unit], format="csr") if reach else unit
    limits = [LinearConstraint(steps, system.low - down, system.high - down)]
    for rows, least in ((system.equal, 0.0), (system.most, -np.inf)):
        if len(rows.right):
            matrix = rows.matrix(size)
            right = np.round(rows.right - matrix @ down, 6)
            limits.append(LinearConstraint(matrix @ steps, right + least, right))
    costs = [1 - 2 * share] + [np.ones(size)] * (2 if reach else 0)
    tops = [np.ones(size)] + [np.full(size, float(reach))] * (2 if reach else 0)

    def solved(*, whole: bool) -> Floats | None:
        """Return a vertex; without integrality tables have whole ones all the same."""
        found: Floats | None = milp(
            np.concatenate(costs),
            integrality=np.full(steps.shape[1], int(whole)),
            bounds=Bounds(0.0, np.concatenate(tops)),
            constraints=limits,
        ).x
        return found

    moves = solved(whole=False)
    if moves is not None and np.abs(moves - np.round(moves)).max() > _WHOLE:
        moves = solved(whole=True)
    if moves is None:
        return None
    moved = np.asarray(steps @ np.round(moves), dtype=np.float64)
    return down + np.round(moved)
