"""The error to expect of each figure, from the plan alone: no data is read."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, pi, sqrt
from statistics import NormalDist
from typing import assert_never, final

from sfumato.account import Coordinate, Gaussian, Selection
from sfumato.account.joint import pair_error, pair_mean
from sfumato.amount import exact
from sfumato.errors import DeclarationError, quoted
from sfumato.plan.aggregate import (
    FAN,
    CentredKey,
    CentredSquare,
    CentredSum,
    Level,
    SumValues,
)
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
    Plan,
    PublicSize,
    Recipe,
)
from sfumato.plan.term import bound
from sfumato.words import N_

__all__ = ["Expected", "expected_errors", "guessed", "linear", "two_laplace_error"]

_MOST_ROWS = 2**63


@final
@dataclass(frozen=True, slots=True)
class Expected:
    """What the noise will do to one figure.

    Attributes:
        name: Name of the figure (each group and bin of it alike).
        mean_absolute: Expected absolute error, in the figure's unit.
        error: The error is at most this, with probability `confidence`.
        confidence: Of `error`.
        rows: Rows per group that a mean's error was computed for; none where the
            error does not depend on it.
    """

    name: str
    mean_absolute: float
    error: float
    confidence: float
    rows: float | None


def guessed(rows: object) -> float:
    """Return a public guess of a number of rows.

    Raises:
        DeclarationError: It is no number of at least 0.
    """
    guess = exact(rows)
    if guess is None or not 0 <= guess <= _MOST_ROWS:
        raise DeclarationError(
            N_("the guess of the number of rows is a number, not {value}"),
            hint=N_("write, for example, rows=1000: about how many you expect"),
            value=quoted(rows),
        )
    return float(guess)


def expected_errors(
    plan: Plan, *, rows: int = 1000, confidence: float = 0.95
) -> tuple[Expected, ...]:
    """Return the expected error of every statistic of the plan.

    Counts, histograms and sums: quantiles of their noise law. Means: the ratio is
    linearised at `rows` rows spread evenly over the groups, with the mean a typical
    distance (range/√12) from the middle of its bounds. Variances likewise; a standard
    deviation and the quantiles are taken to be those of values spread evenly over
    the bounds. A matrix has the error of the entry that noise moves most. A mode has
    the rows that the chosen bin may lack, bounds that hold for all data.

    Args:
        plan: The plan.
        rows: A public guess of the number of rows; the declared size wins over it. Where
            keys are unknown, a group has as many rows as it needs to be shown with
            probability `confidence`.
        confidence: Probability that the error stays below `error`.
    """
    size = plan.schema.unit.rows or guessed(rows)
    if plan.threshold is None:
        each = max(1.0, size / len(plan.groups))
    else:
        each = float(plan.threshold.visible(confidence))
    return tuple(
        Expected(
            statistic.name,
            *_errors(plan, recipe, each, confidence),
            confidence,
            each if isinstance(recipe, _BY_ROWS) else None,
        )
        for statistic, recipe in plan.answers
    )


_BY_ROWS = ByRatio | BySquares | ByRank | ByQuotient | ByMatrix


def _errors(  # noqa: PLR0911  one for each recipe
    plan: Plan, recipe: Recipe, rows: float, confidence: float
) -> tuple[float, float]:
    """Return the mean absolute error and its quantile, in the figure's unit."""
    match recipe:
        case PublicSize():
            return 0.0, 0.0
        case Direct(part, step_size):
            noise = plan.noise_of(part)
            error = noise.error(confidence) * step_size
            return noise.mean_absolute_error * step_size, error
        case ByRatio(total, count):
            half, width = _half_step(plan, total)
            factors = half / rows, width * 2 * half / sqrt(12) / rows
            return _pair(plan, (total, count), factors, confidence)
        case ByRank():
            return _rank(plan, recipe, rows, confidence)
        case ByChoice(part):
            return _choice(plan, part, confidence)
        case ByMatrix():
            return max(_entry(plan, e, rows, confidence) for e in recipe.entries)
        case ByQuotient():
            return _quotient(plan, recipe, rows, confidence)
        case BySquares():
            return _spread(plan, recipe, rows, confidence)
        case ByCount(total, count):
            half, _ = _half_step(plan, total)
            middle = (
                abs(_centred(plan, total).first + _centred(plan, total).last) * half
            )
            return _pair(plan, (total, count), (half, middle), confidence)
        case _:
            assert_never(recipe)


def _pair(
    plan: Plan,
    parts: tuple[int, int | None],
    factors: tuple[float, float],
    confidence: float,
) -> tuple[float, float]:
    """Return the errors of a combination of the noise of two parts."""
    total, count = parts
    if count is None:
        noise, factor = plan.noise_of(total), factors[0]
        return noise.mean_absolute_error * factor, noise.error(confidence) * factor
    laws = plan.noise_of(total), plan.noise_of(count)
    joint, other = laws[0].law, laws[1].law
    together = plan.step_of(total) is plan.step_of(count)
    if together and isinstance(joint, Coordinate) and isinstance(other, Coordinate):
        a = joint.unit * laws[0].size * factors[0]
        b = other.unit * laws[1].size * factors[1]
        d = joint.dimension
        return pair_mean(a, b, d), pair_error(a, b, d, confidence)
    deviations = [sqrt(law.variance) * f for law, f in zip(laws, factors, strict=True)]
    if isinstance(joint, Gaussian):
        sigma = hypot(*deviations)
        return sigma * sqrt(2 / pi), sigma * NormalDist().inv_cdf((1 + confidence) / 2)
    # Two independent terms: Laplace of the same variances.
    a, b = (d / sqrt(2) for d in deviations)
    return _two_laplace_mean(a, b), two_laplace_error(a, b, confidence)


def _spread(
    plan: Plan, recipe: BySquares, rows: float, confidence: float
) -> tuple[float, float]:
    """Return the errors of a variance or its root, linearised.

    The mean E1 is taken to lie width/√3 half steps from the middle.
    """
    half, width = _half_step(plan, recipe.total)
    unit = half**2 / rows
    terms = {recipe.total: 2 * width / sqrt(3) * unit}
    if recipe.squares is not None:
        square = plan.parts[recipe.squares].aggregate
        assert isinstance(square, CentredSquare)  # noqa: S101  lower.py pairs them so
        terms[recipe.squares] = square.scale / 2 * unit
    if recipe.count is not None:
        terms[recipe.count] = hypot(2 / 3, 1 / sqrt(12)) * width**2 * unit
    if recipe.root:
        deviation = width * half / sqrt(3)
        terms = {part: t / (2 * deviation) for part, t in terms.items()}
    return _together(plan, terms, confidence)


def _entry(
    plan: Plan, recipe: ByProduct | BySquares, rows: float, confidence: float
) -> tuple[float, float]:
    """Return the errors of a covariance or correlation, linearised as a variance is.

    Both means are taken to lie width/√3 from the middle; under a correlation both
    deviations are width/√3, and it is 1/2.
    """
    if isinstance(recipe, BySquares):
        return _spread(plan, recipe, rows, confidence)
    unit, related = 1 / rows, recipe.squares is not None
    if not related:
        for total in recipe.totals:
            half, width = _half_step(plan, total)
            unit *= half * width
    factor = 3.0 if related else 1.0
    terms = {
        recipe.product: factor * unit / bound(plan.parts[recipe.product].aggregate)
    }
    for total in recipe.totals:
        terms[total] = factor / sqrt(3) * unit / _half_step(plan, total)[1]
    if recipe.count is not None:
        terms[recipe.count] = factor / 3 * unit
    for squares in recipe.squares or ():
        if squares is not None:
            terms[squares] = 3 / 8 * unit / bound(plan.parts[squares].aggregate)
    error = _together(plan, terms, confidence)
    return (min(1.0, error[0]), min(2.0, error[1])) if related else error


def _choice(plan: Plan, part: int, confidence: float) -> tuple[float, float]:
    """Return how many rows the chosen has less than the most frequent: bounds."""
    mechanism = plan.step_of(part).mechanism
    assert isinstance(mechanism, Selection)  # noqa: S101  allocate.py pairs them so
    count = getattr(plan.parts[part].aggregate, "count", 1)
    size = plan.parts[part].size
    far = size * mechanism.shortfall(count, confidence)
    return size * mechanism.mean_shortfall(count), far


def _quotient(
    plan: Plan, recipe: ByQuotient, rows: float, confidence: float
) -> tuple[float, float]:
    """Return the errors of a ratio, linearised where both means are in the middle.

    With the sums A and B, the error of A/B is (δA - A/B·δB)/B.
    """
    above, below = (linear(plan, s) for s in (recipe.numerator, recipe.denominator))
    a, b = (_middle(plan, s) for s in (recipe.numerator, recipe.denominator))
    terms = {
        part: abs(above.get(part, 0.0) - a / b * below.get(part, 0.0)) / abs(b * rows)
        for part in {**above, **below}
    }
    return _together(plan, terms, confidence)


def linear(plan: Plan, recipe: Direct | ByCount) -> dict[int, float]:
    """Return what one unit of each part adds to a sum, in the column's unit."""
    if isinstance(recipe, Direct):
        return {recipe.part: recipe.step_size}
    half, _ = _half_step(plan, recipe.total)
    found = {recipe.total: half}
    if recipe.count is not None:
        centred = _centred(plan, recipe.total)
        found[recipe.count] = (centred.first + centred.last) * half
    return found


def _middle(plan: Plan, recipe: Direct | ByCount) -> float:
    """Return the middle of a summed column's bounds."""
    part = recipe.part if isinstance(recipe, Direct) else recipe.total
    aggregate = plan.parts[part].aggregate
    assert isinstance(aggregate, SumValues | CentredSum)  # noqa: S101  lower.py pairs them so
    step = float(getattr(plan.schema[aggregate.column], "step", 1.0))
    return (aggregate.first + aggregate.last) / 2 * step


def _together(
    plan: Plan, terms: dict[int, float], confidence: float
) -> tuple[float, float]:
    """Return the errors of a sum of noise terms, each times a factor of at least 0.

    They are added as if independent, the largest against the sum of the others.
    """
    first, *rest = sorted(
        (sqrt(plan.noise_of(p).variance) * t for p, t in terms.items()), reverse=True
    )
    others = hypot(*rest)
    if isinstance(plan.noise_of(next(iter(terms))).law, Gaussian):
        sigma = hypot(first, others)
        return sigma * sqrt(2 / pi), sigma * NormalDist().inv_cdf((1 + confidence) / 2)
    a, b = first / sqrt(2), others / sqrt(2)
    return _two_laplace_mean(a, b), two_laplace_error(a, b, confidence)


def _rank(
    plan: Plan, recipe: ByRank, rows: float, confidence: float
) -> tuple[float, float]:
    """Return the errors of a quantile: of its rank, times the range per row.

    With k known totals of variance V each, a prefix at share p less p of the whole has
    variance k·p(1-p)·V. Inside a node of 16 leaves, whose total is known better, a
    prefix of m leaves has m(16-m)/16 times a leaf's variance, 8/3 on average.
    """
    finest, coarsest = recipe.levels[0], recipe.levels[-1]
    leaf, top = (plan.noise_of(p).variance for p in (finest, coarsest))
    inside = 0.0
    if finest != coarsest:
        fan = 1 << FAN
        inside = (fan**2 - 1) / (6 * fan) * leaf
        top = 1 / (1 / top + 1 / (fan * leaf))
    level = plan.parts[coarsest].aggregate
    assert isinstance(level, Level)  # noqa: S101  lower.py pairs them so
    p = float(recipe.level)
    sigma = sqrt(inside + level.count * p * (1 - p) * top) / rows
    column = plan.schema[level.column]
    reach = getattr(column, "upper", 1.0) - getattr(column, "lower", 0.0)
    error = sigma * NormalDist().inv_cdf((1 + confidence) / 2)
    return reach * min(1.0, sigma * sqrt(2 / pi)), reach * min(1.0, error)


def _half_step(plan: Plan, total: int) -> tuple[float, int]:
    """Return half a grid step in the column's unit, and the width in steps."""
    if isinstance(plan.parts[total].aggregate, CentredKey):
        return 0.5, 1
    aggregate = _centred(plan, total)
    step = float(getattr(plan.schema[aggregate.column], "step", 1.0))
    return step / 2, aggregate.width


def _centred(plan: Plan, total: int) -> CentredSum:
    aggregate = plan.parts[total].aggregate
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    return aggregate


def two_laplace_error(a: float, b: float, confidence: float) -> float:
    """Return t with ``P(|aX + bY| <= t) = confidence`` for standard Laplace X, Y.

    ``P(|aX + bY| > t) = (a² e^(-t/a) - b² e^(-t/b)) / (a² - b²)``, by convolution;
    found by bisection.

    Examples:
        >>> round(two_laplace_error(1, 0, 0.95), 4), round(two_laplace_error(1, 1, 0.95), 4)
        (2.9957, 4.113)
    """
    a, b = max(a, b), min(a, b)
    if not a:
        return 0.0  # a loss so large that no noise is left as a float
    if b < a * 1e-9:
        b = 0.0
    if a - b < a * 1e-6:
        b = a * (1 - 1e-6)  # the limit of equal scales, to six digits

    def tail(t: float) -> float:
        far = b**2 * exp(-t / b) if b else 0.0
        return (a**2 * exp(-t / a) - far) / (a**2 - b**2)

    low, high = 0.0, 100 * a
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle) <= 1 - confidence else (middle, high)
    return high


def _two_laplace_mean(a: float, b: float) -> float:
    """Return E|aX + bY| = (a² + ab + b²) / (a + b), from the tail above."""
    return (a**2 + a * b + b**2) / (a + b) if a + b else 0.0
