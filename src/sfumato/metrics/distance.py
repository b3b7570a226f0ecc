"""Distances between two histograms over the same bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["total_variation", "wasserstein"]


def total_variation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return half the sum of the differences of the shares, in [0, 1].

    Negative counts, which noise brings about, count as 0.

    Examples:
        >>> total_variation(np.array([1.0, 1.0]), np.array([4.0, 0.0]))
        0.5
    """
    return float(np.abs(_shares(first) - _shares(second)).sum() / 2)


def wasserstein(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the earth mover's distance, in bins.

    Examples:
        >>> wasserstein(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]))
        2.0
    """
    gaps = np.cumsum(_shares(first) - _shares(second))
    return float(np.abs(gaps[:-1]).sum())


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.maximum(counts, 0.0)
    total = kept.sum()
    shares: NDArray[np.float64] = (
        kept / total if total else np.full(len(kept), 1 / max(1, len(kept)))
    )
    return shares
