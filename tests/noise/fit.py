"""Goodness of fit with exact p-values, hence with a known rate of false alarms.

Cells form a binary tree. Given the count of a node, the count of its left child is
exactly binomial, so each node has an exact two-sided p-value and the smallest of m
p-values is at or below alpha/m with probability at most alpha, whatever the sample
size. Sums are tested by Chernoff's bound, which is valid for every sample size, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from sfumato.audit.distribution import binomial_p, tree_p

ALPHA = 1e-9
DRAWS = 500_000
_CELLS = 300


@dataclass(frozen=True)
class Verdict:
    """The exact p-values of a battery of tests of one sample."""

    p_values: np.ndarray

    @property
    def p(self) -> float:
        """Smallest p-value after Bonferroni's correction."""
        return min(1.0, float(self.p_values.min()) * len(self.p_values))

    @property
    def alarm(self) -> bool:
        """True with probability at most 1e-9 if the sampler is right."""
        return self.p <= ALPHA


def cells_p(sample: np.ndarray, edges: np.ndarray, cdf: Callable[[float], float]):
    """p-values of the tree of cells between edges, closed below; cdf(x) = P(X < x)."""
    counts = np.bincount(
        np.searchsorted(edges, sample, side="right"), minlength=len(edges) + 1
    )
    masses = np.array([0.0, *(cdf(e) for e in edges.tolist()), 1.0])
    return tree_p(counts, np.diff(masses))


def sum_p(mean: float, draws: int, log_moment: Callable[[float], float], grid) -> list:
    """Chernoff's bounds of both tails of a mean, from the log of E exp(s X)."""
    up = min(draws * (log_moment(s) - s * mean) for s in grid)
    down = min(draws * (log_moment(-s) + s * mean) for s in grid)
    return [min(1.0, 2 * math.exp(min(0.0, v))) for v in (up, down)]


def pair_p(sample: np.ndarray) -> np.ndarray:
    """Are the signs of consecutive non-zero draws independent?"""
    half = len(sample) // 2
    a, b = sample[: 2 * half : 2], sample[1 : 2 * half : 2]
    both = (a != 0) & (b != 0)
    return binomial_p((np.sign(a) == np.sign(b))[both].sum(), both.sum(), 0.5)


def laplace(sample: np.ndarray, scale: float) -> Verdict:
    """Test a sample against the discrete Laplace law.

    X at or above 0, or -1 - X below 0, is geometric whatever the sign; its binary
    digits are independent, digit j being 1 with probability 1 / (1 + exp(2**j / t)).
    """
    n, ratio = len(sample), math.exp(-1 / scale)

    def cdf(x: float) -> float:
        if x > 0:
            return 1 - math.exp(-x / scale) / (1 + ratio)
        return math.exp((x - 1) / scale) / (1 + ratio)

    reach = max(2.0, scale * math.log(n / 20))
    edges = np.unique(np.rint(np.linspace(-reach, reach, _CELLS)))
    size = np.where(sample < 0, ~sample, sample)
    digits = range(min(50, int(scale * 20).bit_length()))
    ones = [int(((size >> j) & 1).sum()) for j in digits]
    chances = [1 / (1 + math.exp(min(700, 2**j / scale))) for j in digits]

    def log_moment(s: float) -> float:
        if s >= 1 / scale:
            return math.inf
        return math.log(-math.expm1(-1 / scale) / -math.expm1(s - 1 / scale))

    tilts = np.array([0.5, 1, 2, 4, 8, 16, 32, 64, 128]) / 256 / scale
    mean = float(size.mean(dtype=np.longdouble))
    return Verdict(
        np.concatenate(
            [
                cells_p(sample, edges, cdf),
                binomial_p(np.array(ones), n, np.array(chances)),
                [binomial_p((sample >= 0).sum(), n, 1 / (1 + ratio)), pair_p(sample)],
                sum_p(mean, n, log_moment, tilts),
            ]
        )
    )


def gaussian(sample: np.ndarray, sigma: float) -> Verdict:
    """Test a sample against the discrete Gaussian law; exact sums up to sigma 1e5."""
    n, reach = len(sample), int(sigma * 12) + 20
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support.astype(float) ** 2) / (2 * sigma**2))
    below = np.append(0.0, np.cumsum(weights)) / weights.sum()

    def cdf(x: float) -> float:
        return float(below[int(x) + reach])

    top = max(2.0, sigma * 4)
    edges = np.unique(np.rint(np.linspace(-top, top, _CELLS)))

    def log_moment(s: float) -> float:
        tilted = weights * np.exp(s * (support / sigma) ** 2)
        return math.log(tilted.sum() / weights.sum())

    tilts = np.array([0.5, 1, 2, 4, 8, 16, 32]) / 1024
    mean = float(((sample / sigma) ** 2).mean())
    return Verdict(
        np.concatenate(
            [
                cells_p(sample, edges, cdf),
                [
                    binomial_p((sample > 0).sum(), (sample != 0).sum(), 0.5),
                    pair_p(sample),
                ],
                sum_p(mean, n, log_moment, tilts),
            ]
        )
    )


def rounded(
    steps: np.ndarray, centre: float, scale: float, cdf: Callable[[float], float]
) -> Verdict:
    """Test grid steps against continuous noise around `centre`, all in grid steps."""
    reach = 8 * scale + 2
    edges = np.unique(np.rint(np.linspace(centre - reach, centre + reach, _CELLS)))
    return Verdict(cells_p(steps, edges, lambda m: cdf((m - 0.5 - centre) / scale)))


def laplace_cdf(x: float) -> float:
    """P(L < x) for the standard continuous Laplace law."""
    return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)


def normal_cdf(x: float) -> float:
    """P(Z < x) for the standard normal law."""
    return float(ndtr(x))


def choices(counts: np.ndarray, chances: np.ndarray) -> Verdict:
    """Test the counts of a discrete choice."""
    return Verdict(
        np.concatenate(
            [
                binomial_p(counts, counts.sum(), chances),
                tree_p(counts, chances),
            ]
        )
    )
