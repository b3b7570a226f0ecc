"""Split the ε of one request over its measurements."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from sfumato.account import Epsilon
from sfumato.declare.query import Query
from sfumato.plan.aggregate import Aggregate, CentredSum, SumValues
from sfumato.plan.record import ByCount, ByRatio, Direct, PublicSize, Recipe

__all__ = ["shares"]


def shares(
    total: Epsilon,
    bounded: Sequence[tuple[Aggregate, int]],
    query: Query,
    recipes: Sequence[Recipe],
) -> tuple[Epsilon, ...]:
    """Split by the cube-root rule; the shares sum exactly to the whole.

    The weighted sum of variances Σ wᵢ·2(Δᵢ/εᵢ)² under Σ εᵢ = ε is least for
    ``εᵢ ∝ (wᵢ·Δᵢ²)^(1/3)`` (Lagrange; Cormode et al., ICDE 2012). Errors of different
    figures are made comparable as *rows*: an error of one row in a count weighs as
    much as one row's full range in a sum or mean. The place of a mean between its
    bounds is private, so the count below it gets the weight of a uniform prior: 1/12.
    """
    if not bounded:
        return ()
    weights = [Fraction(0)] * len(bounded)
    for statistic, recipe in zip(query.statistics, recipes, strict=True):
        for step, squared in _influence(recipe, bounded):
            weights[step] += statistic.weight * squared
    roots = [
        round(float(w * bound**2) ** (1 / 3) * 2**40) or 1
        for w, (_, bound) in zip(weights, bounded, strict=True)
    ]
    return total.split(roots)


def _influence(
    recipe: Recipe, bounded: Sequence[tuple[Aggregate, int]]
) -> list[tuple[int, Fraction]]:
    """Return, per step, the squared error in rows that one unit of its noise causes."""
    match recipe:
        case PublicSize():
            return []
        case Direct(step):
            aggregate = bounded[step][0]
            if isinstance(aggregate, SumValues):
                largest = max(abs(aggregate.first), abs(aggregate.last), 1)
                return [(step, Fraction(1, largest**2))]
            return [(step, Fraction(1))]
        case ByRatio(total, count):
            width = _centred(bounded, total).width
            pair = [(total, Fraction(1, 4 * width**2))]
            return pair if count is None else [*pair, (count, Fraction(1, 12))]
        case ByCount(total, count):
            centred = _centred(bounded, total)
            largest = max(abs(centred.first), abs(centred.last), 1)
            middle = Fraction(centred.first + centred.last, 2)
            pair = [(total, Fraction(1, 4 * largest**2))]
            if count is None:
                return pair
            return [*pair, (count, (middle / largest) ** 2)]
        case _:
            assert_never(recipe)


def _centred(bounded: Sequence[tuple[Aggregate, int]], step: int) -> CentredSum:
    aggregate = bounded[step][0]
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    return aggregate
