"""The range that noise and the choice of the rows together can explain.

The rows are taken as independent draws from a population much larger than the table;
where the table *is* the population, the interval of the noise alone says all. Nothing but
noisy figures and public bounds goes in.

Theorem (MOVER: Zou and Donner, Statistics in Medicine 27:1693, 2008). Let θ̂ - θ be the
noise on the table's figure θ, and θ - θ₀ what the choice of the rows added to the
population's θ₀; they are independent. If [l, u] holds θ and [l', u'] holds θ₀ around the
same point, each with the confidence, then θ₀ lies between ``θ̂ - √((θ̂-l)² + (θ̂-l')²)`` and
``θ̂ + √((u-θ̂)² + (u'-θ̂)²)`` with that confidence, exactly so for normal errors.

The interval of the choice, z being the normal quantile:

- *Shares* p of n rows: Wilson (JASA 22:209, 1927): all p₀ with
  ``|p - p₀| <= z √(p₀(1 - p₀)/n)``.
- *Means* between bounds a and b: the same of ``p = (m - a)/(b - a)``, because no values with
  that mean vary more than ``(b - m)(m - a)`` (Bhatia and Davis, Amer. Math. Monthly
  107:353, 2000). Where the release also measures the variance, ``z √(s²/n)`` with the upper
  end of the interval of s², if that is narrower.
- *Variances*: Wilson's of the mean of (x - m)², which lies between 0 and R², R being the
  distance from the mean to the farther bound; deviations are their roots.
- *Counts* c: rows arrive independently, so c has Poisson's law: all c₀ with
  ``|c - c₀| <= z √c₀``, its score interval (Rao 1948). Of a public number of rows: that of
  the share, times the number.
- *Sums*, likewise; of a public number of rows that of the mean, a row that is left out
  counting as 0. Else: the squares of the terms sum to at most ``(a + b)S - n a b``, since
  ``(b - x)(x - a) >= 0``; with bounds on one side of 0 to at most ``b S``.
- *Quantiles*: the number of rows up to the population's quantile is binomial, so the rank is
  wrong by up to ``z √(n q(1 - q))``, added to the error of the noisy ranks.

Of ratios, covariances and correlations the noisy figures alone bound no such error: none.
Nor of people with several rows, whose rows are not independent; only their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from sfumato.plan import (
    Bins,
    ByCount,
    ByRank,
    ByRatio,
    BySquares,
    CentredSum,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Direct,
    Plan,
    Recipe,
    SumValues,
)
from sfumato.post.figures import points
from sfumato.post.interval import intervals
from sfumato.post.ranks import rank_intervals
from sfumato.post.rule import Floats, Spread, ends_of_sum, floats, limits, row_counts

__all__ = ["sampling"]

Ends: TypeAlias = "tuple[Floats, Floats]"
_COUNTS = CountRows | CountValues | CountPeople | Bins | Crossed


def sampling(  # noqa: PLR0911  one for each recipe
    plan: Plan,
    recipe: Recipe,
    values: Sequence[Sequence[float]],
    confidence: float,
    noise: Ends,
) -> Ends | None:
    """Return the ends that noise and the choice of the rows explain; none if unknown.

    Formal guarantee: post-processing; adds no privacy loss.

    Args:
        plan: The plan that was measured.
        recipe: How the figure follows from the parts.
        values: The integers of every part, in terms.
        confidence: Of each interval.
        noise: The ends of the interval of the noise alone, at that confidence.
    """
    people = isinstance(recipe, Direct) and isinstance(
        plan.parts[recipe.part].aggregate, CountPeople
    )
    if not plan.groups or (plan.schema.unit.name != "row" and not people):
        return None  # of unknown keys none may be shown
    z = NormalDist().inv_cdf(min((1 + confidence) / 2, 1 - 2**-53))
    match recipe:
        case Direct():
            return _direct(plan, recipe, values, z, noise)
        case ByRatio():
            return _mean(plan, recipe, values, z, noise, confidence)
        case ByCount():
            return _sum(plan, recipe, values, z, noise)
        case BySquares():
            return _spread(plan, recipe, values, z, noise)
        case ByRank(_, level):
            share = float(level)
            rows = points(plan, Direct(recipe.levels[-1]), values)
            each = max(1, len(rows) // max(1, len(plan.groups)))  # no key may be shown
            rows = np.maximum(rows.reshape(-1, each).sum(axis=-1), 1.0)
            wider = z * np.sqrt(rows * share * (1 - share))
            return rank_intervals(plan, recipe, values, confidence, wider=wider)
        case _:
            return None


def _joined(estimate: Floats, noise: Ends, rows: Ends, around: Floats) -> Ends:
    """Join the interval of the noise with that of the choice of the rows."""
    down = np.hypot(np.maximum(estimate - noise[0], 0.0), around - rows[0])
    up = np.hypot(np.maximum(noise[1] - estimate, 0.0), rows[1] - around)
    return np.minimum(estimate - down, noise[0]), np.maximum(estimate + up, noise[1])


def _wilson(share: Floats, rows: Floats, z: float) -> Ends:
    """Return Wilson's ends for a share of so many rows."""
    square = z * z / rows
    middle = (share + square / 2) / (1 + square)
    half = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    return np.minimum(low, share), np.maximum(high, share)


def _poisson(count: Floats, z: float) -> Ends:
    """Return the ends of the score interval for a mean of Poisson's law."""
    middle, half = count + z * z / 2, z * np.sqrt(count + z * z / 4)
    return np.maximum(middle - half, 0.0), middle + half


def _direct(
    plan: Plan,
    recipe: Direct,
    values: Sequence[Sequence[float]],
    z: float,
    noise: Ends,
) -> Ends | None:
    aggregate = plan.parts[recipe.part].aggregate
    estimate = points(plan, recipe, values)
    if isinstance(aggregate, SumValues):
        a, b = (
            end * recipe.step_size
            for end in (min(aggregate.first, 0), max(aggregate.last, 0))
        )
        return _total(plan, recipe, (estimate, None), (a, b), z, noise)
    if not isinstance(aggregate, _COUNTS):
        return None
    unit, around = plan.schema.unit, np.maximum(estimate, 0.0)
    of_people = isinstance(aggregate, CountPeople)
    size = unit.size if of_people else unit.rows
    if size is None:
        low, high = _joined(estimate, noise, _poisson(around, z), around)
        return np.maximum(low, 0.0), high
    share = np.minimum(around / size, 1.0)
    ends = _wilson(share, np.full(len(share), float(size)), z)
    low, high = _joined(estimate, noise, (ends[0] * size, ends[1] * size), share * size)
    return np.maximum(low, 0.0), np.minimum(high, float(size))


def _mean(
    plan: Plan,
    recipe: ByRatio,
    values: Sequence[Sequence[float]],
    z: float,
    noise: Ends,
    confidence: float,
) -> Ends:
    low, high = limits(plan, recipe.total)
    mean = points(plan, recipe, values)
    rows = np.maximum(row_counts(plan, recipe.count, values), 1.0)
    share = (mean - low) / (high - low or 1.0)
    ends = tuple(low + (high - low) * end for end in _wilson(share, rows, z))
    down, up = mean - ends[0], ends[1] - mean
    for other in plan.recipes:
        if (
            isinstance(other, BySquares)
            and (other.total, other.count) == (recipe.total, recipe.count)
            and isinstance(plan.parts[recipe.total].aggregate, CentredSum)
        ):
            most = intervals(plan, other, values, confidence)[1]
            half = z * np.sqrt((most if not other.root else most**2) / rows)
            down, up = np.minimum(down, half), np.minimum(up, half)
    found = _joined(mean, noise, (mean - down, mean + up), mean)
    return np.maximum(found[0], low), np.minimum(found[1], high)


def _sum(
    plan: Plan,
    recipe: ByCount,
    values: Sequence[Sequence[float]],
    z: float,
    noise: Ends,
) -> Ends | None:
    estimate = points(plan, recipe, values)
    rows = None if recipe.count is None else floats(values[recipe.count])
    a, b = limits(plan, recipe.total)
    if rows is not None and plan.schema.unit.rows is not None:
        a, b = min(a, 0.0), max(b, 0.0)  # of a known number of rows some add nothing
    return _total(plan, recipe, (estimate, rows), (a, b), z, noise)


def _total(
    plan: Plan,
    recipe: Direct | ByCount,
    sums: tuple[Floats, Floats | None],
    bounds: tuple[float, float],
    z: float,
    noise: Ends,
) -> Ends | None:
    """Return the ends of a sum; where the number of rows is not known, of one sign."""
    found = _around(plan, sums, bounds, z, noise)
    if found is None:
        return None
    ends = ends_of_sum(plan, recipe)
    return np.clip(found[0], *ends), np.clip(found[1], *ends)


def _around(
    plan: Plan,
    sums: tuple[Floats, Floats | None],
    bounds: tuple[float, float],
    z: float,
    noise: Ends,
) -> Ends | None:
    (estimate, rows), (a, b), size = sums, bounds, plan.schema.unit.rows
    if a >= b:
        return None
    if size is not None:
        share = np.clip((estimate / size - a) / (b - a), 0.0, 1.0)
        ends = _wilson(share, np.full(len(share), float(size)), z)
        spread = size * (b - a)
        return _joined(estimate, noise, (ends[0] * spread, ends[1] * spread), share * spread)  # fmt: skip
    if a >= 0 or b <= 0:
        most = b if a >= 0 else a
        counts = np.maximum(estimate / most, 0.0)
        ends = _poisson(counts, z)
        first, last = (end * most for end in (ends if most > 0 else ends[::-1]))
        return _joined(estimate, noise, (first, last), counts * most)
    if rows is None:
        return None
    squares = np.maximum((a + b) * estimate - np.maximum(rows, 1.0) * a * b, 0.0)
    half = z * np.sqrt(squares)
    return _joined(estimate, noise, (estimate - half, estimate + half), estimate)


def _spread(
    plan: Plan,
    recipe: BySquares,
    values: Sequence[Sequence[float]],
    z: float,
    noise: Ends,
) -> Ends:
    """Return the ends of a variance, or of its root."""
    low, high = limits(plan, recipe.total)
    mean = points(plan, ByRatio(recipe.total, recipe.count), values)
    rows = np.maximum(row_counts(plan, recipe.count, values), 1.0)
    farthest = np.maximum(mean - low, high - mean) ** 2
    estimate, *ends = (
        x**2 if recipe.root else x for x in (points(plan, recipe, values), *noise)
    )
    share = np.minimum(estimate / farthest, 1.0)
    first, last = (end * farthest for end in _wilson(share, rows, z))
    found = _joined(estimate, (ends[0], ends[1]), (first, last), share * farthest)
    largest = Spread.of(plan, recipe).largest
    made = (np.clip(x, 0.0, None) for x in found)
    least, most = (np.sqrt(x) if recipe.root else x for x in made)
    return least, np.minimum(most, largest)
