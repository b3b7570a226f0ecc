"""Attacks on floating-point noise and floating-point sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.audit.black_box import Finding, compare_draws
from sfumato.audit.outcome import Draws, Floats
from sfumato.noise import default

__all__ = ["float_sums", "granularity", "reachability"]

Vectorised = Callable[[float, int], ArrayLike]
_RISK = 1e-9


def granularity(
    mechanism: Vectorised,
    *,
    claimed: float,
    delta: float = 0.0,
    draws: int = 40_000,
    confidence: float = 1 - _RISK,
) -> Finding:
    """Look at the lowest bits of ``0 + noise`` and ``1 + noise``.

    Near 0 a double has finer bits than near 1, so the sum of a value and float noise
    betrays the value (Haney, Desfontaines, Hartman, Shrestha, Hay, "Precision-based
    attacks and interval refining", 2022).

    Args:
        mechanism: Returns n draws of a value with noise: ``mechanism(value, n)``.
        claimed: The ε that it claims for values 1 apart.
        delta: The δ that it claims.
        draws: How many on each side.
        confidence: 1 less the risk of accusing a sound mechanism.
    """
    zero, one = (_draws({"value": _floats(mechanism, x, draws)}) for x in (0.0, 1.0))
    return compare_draws(zero, one, claimed=claimed, delta=delta, confidence=confidence)


def reachability(
    mechanism: Vectorised,
    *,
    scale: float,
    claimed: float,
    draws: int = 20_000,
    confidence: float = 1 - _RISK,
) -> Finding:
    """Ask which doubles a textbook Laplace sampler can reach from 0, and which from 1.

    Mironov, "On significance of the least significant bits for differential privacy"
    (CCS 2012): ``centre ± scale·log(v)`` takes few of the doubles, and other ones for
    another centre.

    Args:
        mechanism: Returns n draws: ``mechanism(value, n)``.
        scale: The scale of its Laplace noise.
        claimed: The ε that it claims for values 1 apart.
        draws: How many on each side.
        confidence: As in `granularity`.
    """
    held = (_floats(mechanism, x, draws) for x in (0.0, 1.0))
    zero, one = (
        _draws({}, {"reachable from 0": _reachable(y, 0.0, scale)}) for y in held
    )
    return compare_draws(zero, one, claimed=claimed, delta=0.0, confidence=confidence)


def float_sums(
    mechanism: Callable[[Floats, int], ArrayLike],
    *,
    claimed: float,
    rows: int = 1024,
    draws: int = 20_000,
    confidence: float = 1 - _RISK,
) -> Finding:
    """Look for two neighbouring tables whose float sums differ by more than they may.

    Casacuberta, Shoemate, Vadhan, Wagaman, "Widespread underestimation of sensitivity
    in differentially private libraries" (CCS 2022). Records lie in ``[2^45, 2^45 + 1]``,
    so replacing one moves the true sum by at most 1, and a float sum by up to 8.

    Args:
        mechanism: Returns n private sums of a table: ``mechanism(records, n)``, with
            noise for sensitivity 1.
        claimed: The ε that it claims when one record is replaced.
        rows: Records of a table.
        draws: How many on each side.
        confidence: As in `granularity`.
    """
    first, second = _far_apart(rows)
    centre = rows * 2.0**45
    one, other = (
        _draws({"sum": np.asarray(mechanism(table, draws), np.float64) - centre})
        for table in (first, second)
    )
    return compare_draws(one, other, claimed=claimed, delta=0.0, confidence=confidence)


def _far_apart(rows: int) -> tuple[Floats, Floats]:
    """Return neighbouring tables whose float sums differ most, of 400 tried."""
    low, best = 2.0**45, -1.0
    found: tuple[Floats, Floats] | None = None
    for _ in range(400):
        words = default().words(rows + 1)
        table = low + (words[:rows] >> np.uint64(63)).astype(np.float64)
        place = int(words[rows] % np.uint64(rows))
        other = table.copy()
        other[place] = 2 * low + 1 - table[place]
        gap = abs(float(np.sum(table)) - float(np.sum(other)))
        if gap > best:
            best, found = gap, (table, other)
    assert found is not None  # noqa: S101  the first try is one
    return found


def _reachable(y: Floats, centre: float, scale: float) -> NDArray[np.bool_]:
    """Could a double be ``centre ± scale·log(v)`` for v a multiple of 2^-52?"""
    found = np.zeros(len(y), bool)
    for sign in (1, -1):
        guess = np.exp(sign * (y - centre) / scale)
        steps = np.rint(guess * 2.0**52)
        for offset in range(-6, 7):
            v = (steps + offset) * 2.0**-52
            with np.errstate(all="ignore"):
                z = centre + sign * scale * np.log(v)
            found |= (guess <= 1.0000001) & (v > 0) & (z == y)  # noqa: PLR2004  rounding
    return found


def _floats(mechanism: Vectorised, value: float, draws: int) -> Floats:
    return np.asarray(mechanism(value, draws), dtype=np.float64)


def _draws(
    numbers: dict[str, Floats], labels: dict[str, NDArray[np.bool_]] | None = None
) -> Draws:
    held = labels or {}
    count = len(next(iter([*numbers.values(), *held.values()])))
    return Draws(held, numbers, count)
