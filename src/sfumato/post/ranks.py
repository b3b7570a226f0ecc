"""Intervals of quantiles: all values that the noisy ranks do not speak against."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, sqrt

import numpy as np

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

_DRAWS = 4096
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
    ``T̂(j)`` its consistent estimate. The quantile lies in the leaf j* where
    ``T(j* - 1) < 0 <= T(j*)``. ``T̂ - T`` is a linear function of the noise, whose law
    is known and symmetric; let ``P(|T̂(j) - T(j)| <= t(j)) >= confidence``. Then
    ``T̂(j*) >= -t(j*)`` and ``T̂(j* - 1) <= t(j* - 1)`` hold together with at least
    that probability, since j* is no function of the noise. The interval is the hull of
    all leaves for which both hold: it covers whatever the data are, up to the error of
    the simulated t (0.4 % of the level). Leaves are taken whole.
    """
    share = float(recipe.level)
    excess = _excess(tree_counts(plan, recipe, values), share)
    size = plan.parts[recipe.levels[0]].size
    reach = size * _reach(
        tuple(_law(plan, p) for p in recipe.levels),
        tuple(level_of(plan, p).count for p in recipe.levels),
        fan_of(plan, recipe),
        share,
        confidence,
    )
    if wider is not None:
        reach = np.hypot(reach, wider[:, None])
    most = excess.shape[-1] - 1
    enough = excess >= -reach
    low = np.where(enough.any(axis=-1), enough.argmax(axis=-1), most)
    open_ = (excess <= reach)[:, :-1]
    high = np.where(open_.any(axis=-1), most - open_[:, ::-1].argmax(axis=-1), 0)
    point = quantiles(plan, recipe, values)  # made monotone, it may lie a leaf outside
    left, right = ends(plan, recipe, low)[0], ends(plan, recipe, high)[1]
    return np.minimum(left, point), np.maximum(right, point)


def _excess(leaves: Floats, share: float) -> Floats:
    counts: Floats = np.cumsum(leaves, axis=-1)
    return counts - share * counts[..., -1:]


def _law(plan: Plan, part: int) -> Geometric | Gaussian:
    mechanism = plan.step_of(part).mechanism
    assert isinstance(mechanism, Geometric | Gaussian)  # noqa: S101  levels stand alone
    return mechanism


@lru_cache(maxsize=64)
def _reach(
    laws: tuple[Geometric | Gaussian, ...],
    sizes: tuple[int, ...],
    fan: int,
    share: float,
    confidence: float,
) -> Floats:
    """Return, per leaf, the quantile of the size of the error of the excess."""
    noise = [
        law_draws(law, _DRAWS * size).reshape(_DRAWS, size)
        for law, size in zip(laws, sizes, strict=True)
    ]
    leaves = consistent(noise, [float(law.variance) for law in laws], fan)
    errors = _excess(leaves, share)
    if (1 - confidence) * _DRAWS < _FEWEST:
        widest: Floats = 1 + 1.1 * _tail(1 - confidence) * errors.std(axis=0)
        return widest
    rank = min(_DRAWS - 1, ceil(confidence * _DRAWS))
    reach: Floats = np.partition(np.abs(errors), rank, axis=0)[rank]
    reach.flags.writeable = False
    return reach


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
