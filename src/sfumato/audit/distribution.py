"""Does a sampler follow its law? Exact p-values, so a known rate of false alarms.

Cells form a binary tree. Given the count of a node, the count of its left child is
exactly binomial, so each node has an exact two-sided p-value, and the smallest of m
p-values is at or below α/m with probability at most α, whatever the sample size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ArgumentError
from sfumato.release.libraries import need
from sfumato.words import N_

__all__ = ["Fit", "binomial_p", "distribution", "tree_p"]

Floats: TypeAlias = "NDArray[np.float64]"
_CELLS = 300


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """The verdict on one sample.

    Attributes:
        p: Smallest exact p-value after Bonferroni's correction.
        tests: How many exact tests were made.
        draws: Size of the sample.
        risk: The rate of false alarms at which `alarm` speaks.
    """

    p: float
    tests: int
    draws: int
    risk: float

    @property
    def alarm(self) -> bool:
        """Whether the sampler is refuted; a right one is with probability `risk`."""
        return self.p <= self.risk


def distribution(
    sampler: Callable[[int], ArrayLike],
    below: Callable[[float], float],
    *,
    draws: int = 200_000,
    risk: float = 1e-9,
) -> Fit:
    """Test a sampler against the law that it should follow.

    Args:
        sampler: Returns as many independent draws as asked, shape ``(n,)``.
        below: ``P(X < x)`` of the law; at a whole number of a discrete law the
            probability of everything below it.
        draws: Size of the sample.
        risk: Rate of false alarms.

    Raises:
        ArgumentError: The sampler returns another shape or a number that is not finite.
        MissingExtraError: scipy is not installed.

    Examples:
        >>> from math import exp
        >>> import sfumato as sf
        >>> half = lambda x: 0.5 * exp(x) if x < 0 else 1 - 0.5 * exp(-x)
        >>> fit = distribution(
        ...     lambda n: sf.laplace(np.zeros(n), 1, 1), half, draws=10_000
        ... )
        >>> fit.alarm
        False
    """
    sample = np.asarray(sampler(draws), dtype=np.float64)
    if sample.shape != (draws,) or not all(map(isfinite, sample[:1000])):
        raise ArgumentError(
            N_("a sampler returns as many finite numbers as it is asked for"),
            hint=N_("write, for example, lambda n: rng.laplace(0, 1, n)"),
        )
    # Edges come from the first tenth, and cells are counted on the rest.
    first, rest = sample[: draws // 10], sample[draws // 10 :]
    edges = np.unique(np.quantile(first, np.linspace(0, 1, _CELLS), method="lower"))
    counts = np.bincount(
        np.searchsorted(edges, rest, side="right"), minlength=len(edges) + 1
    )
    masses = np.array([0.0, *(below(e) for e in edges.tolist()), 1.0])
    p_values = np.concatenate([tree_p(counts, np.diff(masses)), _pairs(rest)])
    p = min(1.0, float(p_values.min()) * len(p_values))
    return Fit(p, len(p_values), draws, risk)


def binomial_p(count: Any, trials: Any, chance: Any) -> Floats:
    """Return exact two-sided p-values, doubling the smaller tail."""
    binom: Any = need("scipy.stats").binom
    low, high = (
        binom.cdf(count, trials, chance),
        binom.sf(np.asarray(count) - 1, trials, chance),
    )
    doubled: Floats = np.minimum(1.0, 2 * np.minimum(low, high))
    return doubled


def tree_p(counts: NDArray[Any], chances: Floats) -> Floats:
    """Return the p-values of all inner nodes of a balanced tree over the cells."""
    left, whole, chance = [], [], []
    todo = [(0, len(counts))]
    sums = np.append(0, counts.cumsum())
    while todo:
        i, j = todo.pop()
        if j - i < 2 or sums[j] == sums[i]:  # noqa: PLR2004  one cell has no children
            continue
        m = (i + j) // 2
        left.append(sums[m] - sums[i])
        whole.append(sums[j] - sums[i])
        part, all_ = fsum(chances[i:m]), fsum(chances[i:j])
        chance.append(part / all_ if all_ > 0 else 0.0)
        todo += [(i, m), (m, j)]
    if not left:
        return np.ones(1)
    return binomial_p(np.array(left), np.array(whole), np.clip(chance, 0.0, 1.0))


def _pairs(sample: Floats) -> Floats:
    """Return the p-value of: consecutive draws rise as often as they fall."""
    half = len(sample) // 2
    a, b = sample[: 2 * half : 2], sample[1 : 2 * half : 2]
    return np.atleast_1d(binomial_p((a < b).sum(), (a != b).sum(), 0.5))
