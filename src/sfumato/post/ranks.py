"""Intervals of quantiles: all values that the noisy ranks do not speak against."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.account import Gaussian, Geometric
from sfumato.plan import ByRank, Plan
from sfumato.post.noise import law_draws
from sfumato.post.tree import (
    Floats,
    consistent,
    ends,
    fan_of,
    level_of,
    quantiles,
    tree_counts,
)

__all__ = ["rank_intervals"]

Bools: TypeAlias = "NDArray[np.bool_]"

_DRAWS = 4096
_KNOTS = 9  # of the table of reaches
_ALIKE = 0.8  # variances that differ less are taken as equal
_GAIN = 0.25
_TINY = 1e-12
_FEWEST = 8  # draws beyond a quantile, to place it


def rank_intervals(
    plan: Plan,
    recipe: ByRank,
    values: Sequence[Sequence[float]],
    confidence: float,
    *,
    wider: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the ends of an interval for a quantile of the clamped data.

    Args:
        plan: The plan that was measured.
        recipe: The quantile.
        values: The integers of every part, in terms.
        confidence: How often it holds.
        wider: Per group another, independent error of the ranks, at that confidence.

    Theorem. Let ``T(j)`` be the rows in leaves up to j less `level` of all rows, and
    ``T̂(j) = T(j) + e(j)`` its consistent estimate. The quantile lies in the one leaf j
    where ``T(j - 1) < 0 <= T(j)``; its rows m are ``T(j) - T(j - 1)``. That leaf is
    rejected if ``T̂(j - 1) > c`` or ``T̂(j) < -c``. Let S be the upper tail of e, a linear
    function of noise that is symmetric with one mode, so that S is convex above 0. With
    ``a = -T(j - 1)`` a true leaf is rejected at most ``S(c + a) + S(c + m - a)`` often,
    which is convex in a, hence largest where the rank is at an edge of the leaf: ``S(c) +
    S(c + m)``. So c solves ``S(c) + S(c + m) = 1 - confidence``. No smaller c holds at
    the edge, and where in its leaf the rank lies cannot be left out: no rule of this kind
    is narrower. A leaf of very many rows needs the error of one side only, one of few
    rows that of both; the first and the last leaf have one side. For m the noisy count
    of the leaf is taken, whose error is small beside that of T̂.

    The interval is the hull of the leaves that are not rejected, found in a fixed
    sequence (Westfall and Krishen, J. Statist. Plann. Inference 99:25, 2001): "the
    quantile lies in this node or above" is tested from the highest node down until it is
    not rejected, then leaf by leaf inside that node; likewise from below. The first
    true one decides, so no test pays for the others, and no leaf far away that noise let
    pass stretches the interval. Node and leaf have one error for the most part and fail
    together; that their tests do not fail too often is measured, for tables of
    many kinds (benchmarks/intervals.py). Leaves are taken whole: where in a leaf its rows
    lie was not measured.
    """
    share = float(recipe.level)
    leaves = tree_counts(plan, recipe, values)
    excess = _excess(leaves, share)
    size = plan.parts[recipe.levels[0]].size
    both, knots, reaches = _reach(
        tuple(_law(plan, p) for p in recipe.levels),
        tuple(level_of(plan, p).count for p in recipe.levels),
        fan_of(plan, recipe),
        share,
        confidence,
    )
    reach = size * _read(leaves / size, knots, reaches)
    whole = size * both
    if wider is not None:  # the rank of a population's quantile may lie at any edge
        reach = np.hypot(np.maximum(reach, whole), wider[:, None])
        whole = np.hypot(whole, wider[:, None])
    most = excess.shape[-1] - 1
    not_below, not_above = excess >= -whole, np.ones_like(excess, dtype=bool)
    not_above[:, 1:] = (excess <= whole)[:, :-1]
    not_below[:, most] = True  # no rank lies above the last leaf, nor below the first
    held = excess >= -reach
    held[:, most] = True
    held[:, 1:] &= excess[:, :-1] <= reach[:, 1:]
    fan = fan_of(plan, recipe)
    sides = _lowest(held, not_below, fan), _highest(held, not_above, fan)
    point = quantiles(plan, recipe, values)  # made monotone, it may lie a leaf outside
    left = ends(plan, recipe, np.minimum(*sides))[0]
    right = ends(plan, recipe, np.maximum(*sides))[1]
    return np.minimum(left, point), np.maximum(right, point)


def _lowest(held: Bools, kept: Bools, fan: int) -> NDArray[np.int64]:
    """Return the first leaf held in or after the first node whose last leaf is kept."""
    most = held.shape[-1] - 1
    last = np.minimum(np.arange(fan - 1, most + fan, fan), most)
    if fan == 1:
        last = np.array([most])
    node = kept[:, last].argmax(axis=-1)
    start = np.where(node > 0, last[node - 1] + 1, 0)
    inside = held & (np.arange(most + 1) >= start[:, None])
    first = np.where(inside.any(axis=-1), inside.argmax(axis=-1), most)
    found: NDArray[np.int64] = np.minimum(first, last[node])
    return found


def _highest(held: Bools, kept: Bools, fan: int) -> NDArray[np.int64]:
    """Return the last leaf held in or before the last node whose first leaf is kept."""
    most = held.shape[-1] - 1
    first = np.arange(0, most + 1, fan) if fan > 1 else np.array([0])
    node = len(first) - 1 - kept[:, first][:, ::-1].argmax(axis=-1)
    end = np.append(first[1:] - 1, most)[node]
    inside = held & (np.arange(most + 1) <= end[:, None])
    last = np.where(inside.any(axis=-1), most - inside[:, ::-1].argmax(axis=-1), 0)
    found: NDArray[np.int64] = np.maximum(last, first[node])
    return found


def _read(rows: Floats, knots: Floats, reaches: Floats) -> Floats:
    """Return, per group and leaf, the reach for so many rows.

    A convex function lies below the chords between its knots, and they form its hull.
    """
    found = np.broadcast_to(reaches[-1], rows.shape)
    for place in range(len(knots) - 1):
        (a, b), (c, d) = knots[place : place + 2], reaches[place : place + 2]
        slope = (d - c) / np.where(b > a, b - a, np.inf)
        found = np.maximum(found, c + slope * (rows - a))
    return found


def _excess(leaves: Floats, share: float) -> Floats:
    counts: Floats = np.cumsum(leaves, axis=-1)
    return counts - share * counts[..., -1:]


def _law(plan: Plan, part: int) -> Geometric | Gaussian:
    mechanism = plan.step_of(part).mechanism
    assert isinstance(mechanism, Geometric | Gaussian)  # noqa: S101  levels stand alone
    return mechanism


@lru_cache(maxsize=2)  # 8 MB each; all quantiles of a column share them
def _errors(
    laws: tuple[Geometric | Gaussian, ...], sizes: tuple[int, ...], fan: int
) -> Floats:
    """Return draws of the error of the cumulative counts."""
    noise = [
        law_draws(law, _DRAWS * size).reshape(_DRAWS, size)
        for law, size in zip(laws, sizes, strict=True)
    ]
    leaves = consistent(noise, [float(law.variance) for law in laws], fan)
    return np.cumsum(leaves, axis=-1, out=leaves)


@lru_cache(maxsize=64)
def _reach(
    laws: tuple[Geometric | Gaussian, ...],
    sizes: tuple[int, ...],
    fan: int,
    share: float,
    confidence: float,
) -> tuple[Floats, Floats, Floats]:
    """Return per leaf the reach for no rows, and a table of rows m and reaches c.

    Where the errors are simulated, their order statistics are taken one standard error
    of the rank further out.
    """
    counts = _errors(laws, sizes, fan)
    errors = counts - share * counts[:, -1:]
    failing = 1 - confidence
    if failing * _DRAWS < _FEWEST:
        widest: Floats = 1 + 1.1 * _tail(failing) * errors.std(axis=0)
        return widest, np.zeros((1, sizes[0])), widest[None]
    one = failing * (0.5 + np.linspace(0.0, 0.5, _KNOTS))  # fails on one side
    shrunk, deviation = _shrunk(errors)
    np.abs(errors, out=errors)
    sizes_beyond = np.concatenate([2 * one, 2 * (failing - one[:-1])])  # of either sign
    beyond = _DRAWS * sizes_beyond
    beyond -= np.sqrt(beyond * (1 - sizes_beyond))
    ranks = _DRAWS - 1 - np.maximum(np.floor(beyond), 0).astype(int)
    tails = np.partition(errors, np.unique(ranks), axis=0)[ranks]
    tails[:, 1:] = np.maximum(tails[:, 1:], tails[:, :-1])  # of either edge of the leaf
    reaches, others = tails[:_KNOTS], tails[_KNOTS:]
    rows = np.maximum(others - reaches[:-1], 0.0)
    rows = np.concatenate([rows, 2 * rows[-1:] + 1])
    few = np.maximum(1 - rows / (2 * deviation), 0.0)
    scale = np.sqrt(1 - shrunk * few)
    made = scale * _read(rows / scale, rows, reaches)
    made[:, [0, -1]] = reaches[-1, [0, -1]]  # these leaves fail on one side only
    return reaches[0], rows, made


def _shrunk(errors: Floats) -> tuple[Floats, Floats]:
    """Return by how much the mean error of a leaf's edges varies less than theirs.

    As a share of their variance, and their deviation. A leaf that seems to have few rows
    is rejected by the middle of its two edges: its noisy rows are their difference, whose
    error does not go with that of the middle if both vary alike. Up to a quarter, that
    of a leaf as noisy as the ranks, no leaf of any m was seen to be rejected too often.
    """
    before = np.roll(errors, 1, axis=1)
    one, two = errors.var(axis=0), np.roll(errors.var(axis=0), 1)
    most = np.maximum(one, two)
    both = (one + two + 2 * np.einsum("ij,ij->j", errors, before) / len(errors)) / 4
    alike = np.minimum(one, two) > _ALIKE * most
    gain = np.clip(1 - both / np.where(most > 0, most, 1.0), 0.0, _GAIN)
    return np.where(alike, gain, 0.0), np.sqrt(most) + _TINY


def _tail(failing: float) -> float:
    """Return t with ``P(|X| > t) <= failing`` for a noise X of standard deviation 1.

    X is a sum of independent Laplace or Gaussian terms of variances vᵢ. Its moment
    generating function is at most ``Π 1/(1 - s²vᵢ/2) <= 1/(1 - s²/2)``, so with
    ``u = √2·t`` Chernoff's bound is ``2·exp(-su)/(1 - s²)``, least at
    ``s = (√(1 + u²) - 1)/u``. Integers and a simulated deviation cost the margin that
    the caller adds.
    """
    low, high = 0.0, 200.0
    while high - low > 1e-6:  # noqa: PLR2004  far below the margin
        u = (low + high) / 2
        s = (sqrt(1 + u * u) - 1) / u
        within = 2 * exp(-s * u) / (1 - s * s) <= failing
        low, high = (low, u) if within else (u, high)
    return high / sqrt(2)
