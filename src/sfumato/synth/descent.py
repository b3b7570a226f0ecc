"""Minimise a smooth convex function: limited-memory BFGS in numpy.

Nocedal and Wright, Numerical Optimization (2006), Alg. 7.4 and 7.5, with a line search
that backtracks to the Armijo condition and lengthens while the slope stays steep.
Nothing here is private: it runs on noisy numbers only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

__all__ = ["minimise"]

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Function: TypeAlias = "Callable[[Floats], tuple[float, Floats]]"

_MEMORY = 20
_FALL, _SLOPE = 1e-4, 0.9
_TRIES = 25
_TINY = 1e-300
_IDLE = 3  # steps of little gain in a row; one alone may be a poor direction


def minimise(
    function: Function,
    start: Floats,
    *,
    steps: int = 200,
    slope: float = 1e-6,
    fall: float = 1e-10,
) -> tuple[Floats, int]:
    """Return a point near the minimum, and how often the function was called.

    Args:
        function: Returns its value and its gradient.
        start: Where to begin.
        steps: The most iterations.
        slope: Stop when no entry of the gradient is larger.
        fall: Stop when three steps in a row gain less than this, relatively.

    Examples:
        >>> point, _ = minimise(lambda v: (float(v @ v), 2 * v), np.ones(3))
        >>> bool(np.abs(point).max() < 1e-6)
        True
    """
    x = start.astype(np.float64)
    value, gradient = function(x)
    calls = 1
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    idle = 0
    for _ in range(steps):
        if float(np.abs(gradient).max(initial=0.0)) <= slope:
            break
        direction = _direction(gradient, pairs)
        along = float(gradient @ direction)
        if along >= 0:  # lost by rounding: begin anew with the steepest descent
            pairs.clear()
            direction, along = -gradient, -float(gradient @ gradient)
        first = (
            1.0 if pairs else min(1.0, 1.0 / max(float(np.abs(gradient).sum()), 1e-300))
        )
        found = _search(function, x, value, direction, along, first)
        calls += found[3]
        if found[0] is None:
            break
        new, new_value, new_gradient = found[:3]
        moved, turned = new - x, new_gradient - gradient
        curve = float(moved @ turned)
        if curve > _TINY:
            pairs.append((moved, turned, 1.0 / curve))
        gained = (value - new_value) / max(abs(value), abs(new_value), 1.0)
        x, value, gradient = new, new_value, new_gradient
        idle = idle + 1 if gained < fall else 0
        if idle == _IDLE:
            break
    return x, calls


def _direction(gradient: Floats, pairs: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Return minus the gradient times the inverse curvature (two loops)."""
    q = -gradient
    shares = []
    for moved, turned, rho in reversed(pairs):
        share = rho * float(moved @ q)
        q = q - share * turned
        shares.append(share)
    if pairs:
        moved, turned, rho = pairs[-1]
        q = q / (rho * float(turned @ turned))
    for (moved, turned, rho), share in zip(pairs, reversed(shares), strict=True):
        q = q + (share - rho * float(turned @ q)) * moved
    return q


def _search(
    function: Function,
    x: Floats,
    value: float,
    direction: Floats,
    along: float,
    first: float,
) -> tuple[Any, float, Any, int]:
    """Return a point of sufficient fall and gentler slope along a direction (Wolfe)."""
    low, high, step = 0.0, np.inf, first
    best: tuple[Any, float, Any] = (None, value, None)
    for tries in range(1, _TRIES + 1):
        point = x + step * direction
        new, gradient = function(point)
        slope = float(gradient @ direction)
        if not np.isfinite(new) or new > value + _FALL * step * along:
            high = step
        else:
            if best[0] is None or new < best[1]:
                best = (point, new, gradient)
            if slope >= _SLOPE * along:
                return point, new, gradient, tries
            low = step
        if best[0] is not None and tries > 8:  # noqa: PLR2004  good enough
            break
        step = 2 * low if np.isinf(high) else (low + high) / 2
        step = step or first / 2
    return (*best, tries)
