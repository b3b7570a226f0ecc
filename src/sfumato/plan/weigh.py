"""How much the noise on each measurement matters for the figures that were asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import log
from typing import assert_never

from sfumato.declare.query import Query
from sfumato.plan.aggregate import Aggregate, CentredSum, SumValues
from sfumato.plan.record import (
    ByChoice,
    ByCount,
    ByMatrix,
    ByProduct,
    ByQuotient,
    ByRank,
    ByRatio,
    BySquares,
    Direct,
    PublicSize,
    Recipe,
)
from sfumato.plan.term import bound

__all__ = ["weights"]


def weights(
    aggregates: Sequence[Aggregate], recipes: Sequence[Recipe], query: Query
) -> list[float]:
    """Return how much one unit of squared noise on each part matters.

    Errors of different figures are made comparable as *rows*: an error of one row in a
    count weighs as much as one row's full range in a sum or mean. The place of a mean
    between its bounds is private, so the count below it gets the weight of a uniform
    prior: 1/12. A variance, mean square less squared mean, is linearised under the same
    prior; its root is taken for values spread evenly over the bounds.
    """
    weights = [Fraction(0)] * len(aggregates)
    for statistic, recipe in zip(query.statistics, recipes, strict=True):
        for part, squared in _influence(recipe, aggregates):
            weights[part] += statistic.weight * squared
    smallest = min((w for w in weights if w), default=Fraction(1))
    return [float(max(w, smallest / 2**20)) for w in weights]


def _influence(  # noqa: C901, PLR0911  one for each recipe
    recipe: Recipe, aggregates: Sequence[Aggregate]
) -> list[tuple[int, Fraction]]:
    """Return, per part, the squared error in rows that one unit of its noise causes."""
    match recipe:
        case PublicSize():
            return []
        case Direct(part):
            aggregate = aggregates[part]
            size = bound(aggregate) if isinstance(aggregate, SumValues) else 1
            return [(part, Fraction(1, size**2))]
        case ByRatio(total, count):
            pair = [(total, Fraction(1, 4 * bound(aggregates[total]) ** 2))]
            return pair if count is None else [*pair, (count, Fraction(1, 12))]
        case ByRank(levels):
            # about 8/3 leaves and 4 nodes stand between a rank and what is known
            shares = (Fraction(8, 3), Fraction(4))
            return list(zip(levels, shares[: len(levels)], strict=True))
        case ByChoice(part):
            # the rows by which a choice of k falls short are near ln k times the scale
            short = 1 + log(getattr(aggregates[part], "count", 1))
            return [(part, Fraction(short**2 / 2))]
        case ByMatrix(entries):
            return _matrix_influence(entries, aggregates)
        case BySquares(total, squares, count, root):
            return _spread_influence((total, squares, count), aggregates, root=root)
        case ByQuotient(numerator, denominator):
            # each sum as if it were asked for by itself
            sums = (_influence(s, aggregates) for s in (numerator, denominator))
            return list(chain.from_iterable(sums))
        case ByCount(total, count):
            centred = aggregates[total]
            assert isinstance(centred, CentredSum)  # noqa: S101  lower.py pairs them so
            largest = max(abs(centred.first), abs(centred.last))
            middle = Fraction(centred.first + centred.last, 2)
            pair = [(total, Fraction(1, 4 * largest**2))]
            if count is None:
                return pair
            return [*pair, (count, (middle / largest) ** 2)]
        case _:
            assert_never(recipe)


def _matrix_influence(
    entries: Sequence[ByProduct | BySquares], aggregates: Sequence[Aggregate]
) -> list[tuple[int, Fraction]]:
    """Return the mean of the influences on the entries."""
    found = [
        _spread_influence((e.total, e.squares, e.count), aggregates, root=False)
        if isinstance(e, BySquares)
        else _product_influence(e, aggregates)
        for e in entries
    ]
    return [(part, w / len(entries)) for one in found for part, w in one]


def _product_influence(
    recipe: ByProduct, aggregates: Sequence[Aggregate]
) -> list[tuple[int, Fraction]]:
    """Return the influences on ``E12 - E1·E2``, with E1 and E2 uniform in ±width.

    In units of twice width·width per row: half of the mean product, E2/2 per unit of
    the first sum, hence 1/12 of its square, and E1·E2/2 per row counted: 1/36. A
    correlation divides by both deviations, width/√3 each, so all grow 9 times; and each
    mean square moves it by r·3/2 of its share, r² taken as 1/3.
    """
    factor = Fraction(9 if recipe.squares else 1)
    found = [(recipe.product, factor / (4 * bound(aggregates[recipe.product]) ** 2))]
    found += [
        (total, factor / (12 * bound(aggregates[total]) ** 2))
        for total in recipe.totals
    ]
    if recipe.count is not None:
        found.append((recipe.count, factor / 36))
    found += [
        (squares, Fraction(3, 64) / bound(aggregates[squares]) ** 2)
        for squares in recipe.squares or ()
        if squares is not None
    ]
    return found


def _spread_influence(
    parts: tuple[int, int | None, int | None],
    aggregates: Sequence[Aggregate],
    *,
    root: bool,
) -> list[tuple[int, Fraction]]:
    """Return the influences on ``E2 - E1²``, with E1 uniform in ±width.

    In units of width² per row: 2·E1 per unit of the sum, hence 4/3 of its square;
    half of the centred mean square and 2·E1² per row counted: 1/12 and 4/5 squared.
    A root divides by twice a deviation of width/√3 and is measured in 2·width.
    """
    total, squares, count = parts
    factor = Fraction(3, 16) if root else Fraction(1)
    found = [(total, factor * Fraction(4, 3) / bound(aggregates[total]) ** 2)]
    if squares is not None:
        found.append((squares, factor / (4 * bound(aggregates[squares]) ** 2)))
    if count is not None:
        found.append((count, factor * (Fraction(1, 12) + Fraction(4, 5))))
    return found
