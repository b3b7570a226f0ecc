"""Which parts share their noise, and how the loss of one request is split over steps.

Minimise the weighted variance of the figures. A step of one part has geometric noise of
variance 2(Δ/ε)². A step of d parts has joint noise of variance (d+1)(d+2)/3 · (rows·b/ε)²
in each (`KNorm`). With losses L of the steps at ε = 1 and shares εᵢ, the sum Σ Lᵢ/εᵢ² under
Σ εᵢ = ε is least for ``εᵢ ∝ Lᵢ^(1/3)`` and equals ``(Σ Lᵢ^(1/3))³/ε²`` (Lagrange; Cormode et
al., ICDE 2012), so the best arrangement has the least Σ Lᵢ^(1/3).

For people every integer is measured in terms (`fraction_bits`), so that parts compare.

Under a budget of ρ each part has Gaussian noise of variance Δ²/2ρ of its own (joint draws
gain nothing there) and a share ``ρᵢ ∝ √wᵢ·Δᵢ``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias, final

from sfumato.account import (
    GDP,
    ZCDP,
    Epsilon,
    Gaussian,
    Geometric,
    KNorm,
    Loss,
    Selection,
    Threshold,
    make_selection,
)
from sfumato.declare.merged import OneInEach
from sfumato.declare.query import Query
from sfumato.declare.unit import PrivacyUnit, Unit
from sfumato.plan.aggregate import Aggregate, Choice
from sfumato.plan.record import Recipe, Step
from sfumato.plan.term import (
    fraction_bits,
    reach,
    sensitivity,
    squared_sensitivity,
    term,
)
from sfumato.plan.weigh import weights

__all__ = ["arrange", "with_threshold"]

_Class: TypeAlias = "tuple[float, tuple[int, ...]]"  # loss at ε = 1, parts


def arrange(  # noqa: PLR0913, PLR0917  what a plan consists of
    total: Loss,
    aggregates: Sequence[Aggregate],
    recipes: Sequence[Recipe],
    query: Query,
    unit: PrivacyUnit,
    groups: int,
    selecting: int | None = None,
) -> tuple[Step, ...]:
    """Return the steps: every part in one of them, their costs summing to `total`.

    Parts that a row changes together are tried in joint steps: sorted by importance
    (weight times bound²), the best cut into runs is found by dynamic programming.
    The part `selecting` is measured alone. It matters as a count of rows does, beside
    what it matters for the figures.
    """
    worth = weights(aggregates, recipes, query)
    if selecting is not None:
        worth[selecting] += 1
    if not isinstance(total, Epsilon):
        return _gaussian_steps(total, aggregates, worth, unit, groups)
    crowd = _Crowd.of(unit, groups, whole=selecting is not None)
    alone: list[_Class] = [
        (2 * w * (sensitivity(a, unit, groups=groups) * _size(a, unit)) ** 2, (i,))
        for i, (a, w) in enumerate(zip(aggregates, worth, strict=True))
    ]
    joint = [
        (w * (crowd.rows * reach(a, unit) * _size(a, unit)) ** 2, i)
        for i, (a, w) in enumerate(zip(aggregates, worth, strict=True))
        if not term(a).apart and i != selecting
    ]
    bins = [
        c
        for i, (c, a) in enumerate(zip(alone, aggregates, strict=True))
        if term(a).apart or i == selecting
    ]
    classes: list[_Class] = [*_best_runs(sorted(joint, reverse=True), alone), *bins]
    bounds = [reach(a, unit) for a in aggregates]
    costs = _costs(total, classes)
    if any(
        _too_sure(c, p, bounds, crowd.rows)
        for c, (_, p) in zip(costs, classes, strict=True)
    ):
        classes = alone  # noise below one step: joint draws gain nothing there
        costs = _costs(total, classes)
    order = sorted(range(len(classes)), key=lambda i: min(classes[i][1]))
    return tuple(_step(classes[i][1], costs[i], aggregates, unit, crowd) for i in order)


@final
@dataclass(frozen=True, slots=True)
class _Crowd:
    """How many groups all that differs between neighbours can be in.

    Attributes:
        groups: Group cells of the question.
        rows: Full weights: the groups of one unit that count, of one unit or of two.
        spread: Groups in which a unit can have a part of a weight.
    """

    groups: int
    rows: int
    spread: int

    @classmethod
    def of(cls, unit: PrivacyUnit, groups: int, *, whole: bool) -> _Crowd:
        """Return it; `whole` where groups are chosen, so that no weight is a part."""
        sides = 2 if unit.neighbours == "replace_one" else 1
        many = isinstance(unit, Unit) and groups > unit.max_groups and not whole
        full = sides * min(unit.max_groups, groups)
        if isinstance(unit, OneInEach) and groups > 1:  # a row in each of n groups
            return cls(groups, full, sides * min(unit.tables, groups))
        return cls(groups, full, sides * groups if many else 0)


def _size(aggregate: Aggregate, unit: PrivacyUnit) -> float:
    """Return how much of a term one integer stands for."""
    return 2.0 ** -fraction_bits(aggregate, unit)


def with_threshold(
    steps: Sequence[Step], selecting: int, delta_units: int, unit: PrivacyUnit
) -> tuple[Step, ...]:
    """Return the steps with a threshold on one of them, which has the whole δ.

    A unit is counted in at most ``max_groups`` keys, by 1 each: a row in one, a person
    in those of her groups that were chosen. A replaced unit leaves as many and enters as
    many, and can bring forth only the keys of one of the two tables.
    """
    sides = 2 if unit.neighbours == "replace_one" else 1
    keys, new = sides * unit.max_groups, unit.max_groups
    found = []
    for step in steps:
        cost = step.mechanism.cost
        if step.parts == (selecting,):
            loss = type(cost).from_units(cost.units, delta_units)
            found.append(Step(step.parts, Threshold(loss, keys=keys, new=new)))
        else:
            found.append(step)
    return tuple(found)


def _gaussian_steps(
    total: ZCDP | GDP,
    aggregates: Sequence[Aggregate],
    worth: Sequence[float],
    unit: PrivacyUnit,
    groups: int,
) -> tuple[Step, ...]:
    squares = [squared_sensitivity(a, unit, groups=groups) for a in aggregates]
    roots = [
        round((w * q) ** 0.5 * _size(a, unit) * 2**40) or 1
        for a, w, q in zip(aggregates, worth, squares, strict=True)
    ]
    shares: tuple[ZCDP | GDP, ...] = total.split(roots) if roots else ()
    return tuple(
        Step((i,), Gaussian(square, share, law="whole", squared=True))
        if not isinstance(aggregate, Choice)
        else Step((i,), _selection(aggregate, share, unit, groups))
        for i, (aggregate, square, share) in enumerate(
            zip(aggregates, squares, shares, strict=True)
        )
    )


def _selection(
    aggregate: Choice, cost: Loss, unit: PrivacyUnit, groups: int
) -> Selection:
    """Return the choice that a loss buys in all groups together.

    Theorem. Let neighbours move the counts of group h up by at most p(h) and down by at
    most m(h). The choice there loses what one from monotone scores of sensitivity
    p(h) + m(h) does (`Selection`), and groups choose independently. Σ p(h) + m(h) is at
    most the L1 sensitivity of all counts; under add/remove they move one way.
    """
    change = sensitivity(aggregate, unit, groups=groups)
    if unit.neighbours == "add_remove":
        return make_selection(change, cost, monotone=True)
    return make_selection(Fraction(change, 2), cost)


def _best_runs(
    joint: Sequence[tuple[float, int]], alone: Sequence[_Class]
) -> list[_Class]:
    """Cut the sorted parts into runs of least total cube-root loss."""
    sums = [0.0, *accumulate(q for q, _ in joint)]

    def loss(start: int, end: int) -> float:
        d = end - start
        if d == 1:
            return alone[joint[start][1]][0]
        return (d + 1) * (d + 2) / 3 * (sums[end] - sums[start])

    least, cuts = [0.0], [0]
    for end in range(1, len(joint) + 1):
        costs = [least[s] + loss(s, end) ** (1 / 3) for s in range(end)]
        cut = min(range(end), key=costs.__getitem__)
        least.append(costs[cut])
        cuts.append(cut)
    classes: list[_Class] = []
    end = len(joint)
    while end:
        start = cuts[end]
        parts = tuple(sorted(i for _, i in joint[start:end]))
        classes.append((loss(start, end), parts))
        end = start
    return classes


def _costs(total: Epsilon, classes: Sequence[_Class]) -> tuple[Epsilon, ...]:
    roots = [round(loss ** (1 / 3) * 2**40) or 1 for loss, _ in classes]
    return total.split(roots) if roots else ()


def _too_sure(
    cost: Epsilon, parts: tuple[int, ...], bounds: Sequence[int], rows: int
) -> bool:
    """Tell whether joint noise would be below a step of its smallest coordinate."""
    d = len(parts)
    return d > 1 and cost.value > (d + 1) * rows * min(bounds[i] for i in parts)


def _step(
    parts: tuple[int, ...],
    cost: Epsilon,
    aggregates: Sequence[Aggregate],
    unit: PrivacyUnit,
    crowd: _Crowd,
) -> Step:
    first = aggregates[parts[0]]
    if isinstance(first, Choice):
        return Step(parts, _selection(first, cost, unit, crowd.groups))
    if len(parts) == 1:
        change = sensitivity(aggregates[parts[0]], unit, groups=crowd.groups)
        return Step(parts, Geometric(change, cost))
    bounds = [reach(aggregates[i], unit) for i in parts]
    return Step(parts, KNorm(bounds, cost, rows=crowd.rows, spread=crowd.spread))
