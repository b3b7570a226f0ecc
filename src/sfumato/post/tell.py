"""Noisy integers → the records of a release: what each figure is about, its noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product, repeat
from math import prod
from typing import assert_never

from sfumato.account import (
    Gaussian,
    Geometric,
    KNorm,
    Measure,
    Selection,
    Threshold,
    charge,
)
from sfumato.declare.calendar import DAYS, Date
from sfumato.declare.query import (
    Correlation,
    Covariance,
    Crosstab,
    Histogram,
    Mode,
    Statistic,
)
from sfumato.declare.schema import Key
from sfumato.plan import (
    Aggregate,
    Bins,
    ByChoice,
    ByCount,
    ByMatrix,
    ByProduct,
    ByQuotient,
    ByRank,
    ByRatio,
    BySquares,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Direct,
    Level,
    Part,
    Plan,
    Recipe,
    Step,
    SumValues,
    linear,
    unit_of,
)
from sfumato.post.dots import LEVELS, MOST, dots, has_dots
from sfumato.post.figures import matrix, points
from sfumato.post.interval import ranges, reaching
from sfumato.post.sampling import sampling
from sfumato.post.shown import shown
from sfumato.release import Bin, Figure, Measurement, Noise

__all__ = ["figures", "lacking", "measurements", "short_by"]

_NAMES: dict[type[Aggregate], str] = {
    CountRows: "count_rows",
    CountPeople: "count_people",
    CountValues: "count_values",
    SumValues: "sum",
    CentredSum: "centred_sum",
    CentredKey: "centred_key",
    CentredSquare: "centred_squares",
    CentredProduct: "centred_products",
    Bins: "bins",
    Crossed: "pairs",
    Choice: "choice",
    Level: "ranges",
}


def figures(
    plan: Plan, noisy: Sequence[Sequence[float]], confidence: float
) -> tuple[Figure, ...]:
    """Return the figures that are told, in an order that noisy figures at most decide.

    Formal guarantee: post-processing of the noisy integers; adds no privacy loss.
    """
    return shown(plan.query, tuple(_figures(plan, noisy, confidence)))


def _figures(
    plan: Plan, noisy: Sequence[Sequence[float]], confidence: float
) -> Iterator[Figure]:
    """Iterate over the figures of all statistics, in an order that no data decide."""
    laws: dict[tuple[int, ...], tuple[Noise, ...]] = {}
    for statistic, recipe in plan.answers:
        estimates = points(plan, recipe, noisy)
        raw = estimates
        if isinstance(recipe, ByMatrix):
            raw, _ = matrix(plan, recipe, noisy)
        few = len(estimates) <= MOST and len(plan.answers) <= MOST
        inner = LEVELS if few and has_dots(recipe) else ()
        lows, highs = ranges(plan, recipe, noisy, (confidence, *inner))
        ends = lows[0], highs[0]
        wide = sampling(plan, recipe, noisy, confidence, ends)
        both: Iterable[tuple[float, float] | None] = repeat(None)
        if wide is not None:
            first, last = reaching(estimates, wide)
            both = zip(first.tolist(), last.tolist(), strict=True)
        low, high = reaching(estimates, ends)
        spots = iter(dots(lows[1:], highs[1:]).tolist()) if inner else repeat([])
        places = list(_places(plan, statistic, recipe, noisy))
        told = zip(places, estimates, raw, low, high, strict=True)
        for (place, e, r, lo, hi), more, spot in zip(told, both, spots, strict=False):
            if place.terms not in laws:
                laws[place.terms] = tuple(_noise(plan, part) for part in place.terms)
            yield Figure(
                name=statistic.name,
                kind=type(statistic).__name__.lower(),  # type: ignore[arg-type]
                column=place.column,
                group=place.group,
                estimate=float(e),
                low=float(lo),
                high=float(hi),
                noise=laws[place.terms],
                unit=place.unit,
                bin=place.bin,
                other=place.other,
                other_bin=place.other_bin,
                raw=None if r == e else float(r),
                sampling=more,
                dots=tuple(spot),
                other_unit=place.other_unit,
                closed=place.closed,
            )


@dataclass(frozen=True, slots=True)
class _Place:
    """What a figure is about, and the parts with its noise."""

    group: dict[str, Key]
    column: str | None
    terms: tuple[int, ...]
    unit: str = ""
    bin: Bin = None
    other: str | None = None
    other_bin: Bin = None
    other_unit: str = ""
    closed: bool = False


def _places(
    plan: Plan, statistic: Statistic, recipe: Recipe, noisy: Sequence[Sequence[float]]
) -> Iterator[_Place]:
    """Iterate over what each figure is about, in the order of the integers."""
    terms = _terms(plan, recipe)
    for number, keys in enumerate(plan.groups):
        group = dict(zip(plan.query.keys, keys, strict=True))
        match statistic, recipe:
            case (Mode(column, edges), ByChoice(part)):
                chosen = int(noisy[part][number])
                bin_, unit = _bins(plan, column, edges)[chosen], _days(plan, column)
                last = bool(edges) and chosen == len(edges) - 2
                yield _Place(group, column, terms, unit, bin=bin_, closed=last)
            case (Histogram(column, edges), _):
                unit = _days(plan, column)
                for bin_ in _bins(plan, column, edges):
                    yield _Place(group, column, terms, unit, bin=bin_)
            case (Crosstab(column, other), _):
                units = _days(plan, column), _days(plan, other)
                for first, second in product(
                    _bins(plan, column, statistic.edges),
                    _bins(plan, other, statistic.other_edges),
                ):
                    yield _Place(
                        group, column, terms, units[0], first, other, second, units[1]
                    )
            case (Covariance() | Correlation(), ByMatrix(entries)):
                for (column, other), entry in zip(
                    statistic.pairs, entries, strict=True
                ):
                    unit = unit_of(plan.schema, statistic, column, other)
                    terms = _terms(plan, entry)
                    yield _Place(group, column, terms, unit, other=other)
            case _:
                plain, beside = statistic.column, getattr(statistic, "other", None)
                unit = unit_of(plan.schema, statistic, plain, beside)
                yield _Place(group, plain, terms, unit, other=beside)


def _days(plan: Plan, column: str) -> str:
    """Return the unit of a column of days: what the ends of its bins are numbers of."""
    return DAYS if isinstance(plan.schema[column], Date) else ""


def _bins(plan: Plan, column: str, edges: tuple[float, ...]) -> Sequence[Bin]:
    return list(pairwise(edges)) or getattr(plan.schema[column], "values", ())


def _terms(  # noqa: PLR0911  one for each recipe
    plan: Plan, recipe: Recipe | ByProduct
) -> tuple[int, ...]:
    match recipe:
        case Direct(part):
            return (part,)
        case ByRatio(total, count) | ByCount(total, count):
            return (total,) if count is None else (total, count)
        case ByRank(levels):
            return levels
        case ByQuotient(numerator, denominator):
            sums = [*linear(plan, numerator), *linear(plan, denominator)]
            return tuple(dict.fromkeys(sums))
        case BySquares(total, squares, count):
            return tuple(part for part in (total, squares, count) if part is not None)
        case ByProduct(totals, multiplied, count, squares):
            terms = (*totals, multiplied, *(squares or ()), count)
            return tuple(part for part in terms if part is not None)
        case ByChoice(part):
            return (part,)
        case _:
            return ()


def lacking(
    plan: Plan,
    recipe: ByChoice,
    values: Sequence[Sequence[float]],
    chosen: Sequence[Bin],
) -> list[float]:
    """Return, per group, the count of the chosen bin less the largest one.

    Of exact counts this is the truth behind a mode's figure: for the owner alone.
    """
    aggregate = plan.parts[recipe.part].aggregate
    assert isinstance(aggregate, Choice)  # noqa: S101  lower.py pairs them so
    bins = list(_bins(plan, aggregate.column, aggregate.bins.edges))
    return short_by(plan, recipe, values, [bins.index(place) for place in chosen])


def short_by(
    plan: Plan,
    recipe: ByChoice,
    values: Sequence[Sequence[float]],
    places: Sequence[int],
) -> list[float]:
    """Return, per group, the count at a place less the largest one; see `lacking`."""
    counts, each = values[recipe.part], plan.parts[recipe.part].cells // len(places)
    return [
        float(counts[i * each + place] - max(counts[i * each : (i + 1) * each]))
        for i, place in enumerate(places)
    ]


def measurements(plan: Plan, noisy: Sequence[Sequence[int]]) -> tuple[Measurement, ...]:
    """Return the raw noisy integers of every part, with their noise."""
    return tuple(
        _measurement(plan, i, tuple(v) if not _is_choice(part) else _placed(part, v))
        for i, (part, v) in enumerate(zip(plan.parts, noisy, strict=True))
    )


def _is_choice(part: Part) -> bool:
    return isinstance(part.aggregate, Choice)


def _placed(part: Part, values: Sequence[int]) -> tuple[int, ...]:
    """Return the places that were chosen, which the gate tells as it tells counts."""
    return tuple(value >> part.bits for value in values)


def _measurement(plan: Plan, part: int, values: tuple[int, ...]) -> Measurement:
    aggregate, mechanism = plan.parts[part].aggregate, plan.step_of(part).mechanism
    about = getattr(aggregate, "column", None) or ""
    name = _NAMES[type(aggregate)]
    name += "_beyond" if getattr(aggregate, "beyond", False) else ""
    if among := getattr(aggregate, "among", ()):
        about += f" | {', '.join(among)}"
    name = f"{name}({about})"
    match mechanism:
        case KNorm():
            index = plan.step_of(part).parts.index(part)
            change: float = mechanism.bounds[index] * mechanism.rows
        case Geometric():
            change = mechanism.sensitivity
        case Gaussian():
            change = float(mechanism.squared_sensitivity) ** 0.5
        case Selection():
            change = float(mechanism.sensitivity)
        case Threshold():
            gaussian = mechanism.law == "gaussian"
            change = mechanism.keys**0.5 if gaussian else mechanism.keys
        case _:
            assert_never(mechanism)
    least = mechanism.least if isinstance(mechanism, Threshold) else None
    return Measurement(name, change, _noise(plan, part), values, least)


def _noise(plan: Plan, part: int) -> Noise:
    step = plan.step_of(part)
    size = _step_size(plan, plan.parts[part].aggregate) * plan.parts[part].size
    return _law(step, step.parts.index(part), size, plan.measure)


@lru_cache(maxsize=256)
def _law(step: Step, place: int, size: float, measure: Measure) -> Noise:
    """Return in words the noise on one of a step's parts."""
    mechanism = step.mechanism
    loss = str(charge(mechanism, measure))
    match mechanism:
        case KNorm():
            scale = mechanism.bounds[place] * mechanism.scale / mechanism.resolution
            return Noise("k_norm", str(scale), size, loss, len(step.parts))
        case Geometric():
            return Noise("geometric", str(mechanism.scale), size, loss)
        case Gaussian():
            law = "gaussian" if mechanism.law == "whole" else "discrete_gaussian"
            return Noise(law, f"{float(mechanism.scale):.12g}", size, loss)
        case Selection():
            return Noise(mechanism.law, str(1 / mechanism.rate), size, loss)
        case Threshold():
            width = f"{float(mechanism.scale):.12g}"
            if mechanism.law != "gaussian":
                width = str(mechanism.scale)
            return Noise(mechanism.law, width, size, loss)
        case _:
            assert_never(mechanism)


def _step_size(plan: Plan, aggregate: Aggregate) -> float:
    """Return what one unit of an aggregate stands for, in its column's unit."""

    def step(column: str) -> float:
        return float(getattr(plan.schema[column], "step", 1.0))

    match aggregate:
        case CentredKey():
            return 0.5
        case SumValues(column):
            return step(column)
        case CentredSum(column):
            return step(column) / 2
        case CentredSquare(column):
            return (step(column) / 2) ** 2 * aggregate.scale / 2
        case CentredProduct(one, two):
            halves = (step(s.column) / 2 * (1 << s.trim) for s in (one, two))
            return prod(halves) * (1 << aggregate.shift) / 2
        case _:
            return 1.0
