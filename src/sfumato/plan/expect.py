"""The error to expect of each figure, from the plan alone: no data is read."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, pi, sqrt
from statistics import NormalDist
from typing import assert_never, final

from sfumato.account import Coordinate, Gaussian
from sfumato.account.joint import pair_error, pair_mean
from sfumato.plan.aggregate import CentredSum
from sfumato.plan.record import ByCount, ByRatio, Direct, Plan, PublicSize, Recipe

__all__ = ["Expected", "expected_errors", "two_laplace_error"]


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


def expected_errors(
    plan: Plan, *, rows: int = 1000, confidence: float = 0.95
) -> tuple[Expected, ...]:
    """Return the expected error of every statistic of the plan.

    Counts, histograms and sums: quantiles of their noise law. Means: the ratio is
    linearised at `rows` rows spread evenly over the groups, with the mean a typical
    distance (range/√12) from the middle of its bounds.

    Args:
        plan: The plan.
        rows: A public guess of the number of rows; the declared size wins over it.
        confidence: Probability that the error stays below `error`.
    """
    size = plan.schema.unit.size or rows
    each = max(1.0, size / len(plan.groups))
    return tuple(
        Expected(
            statistic.name,
            *_errors(plan, recipe, each, confidence),
            confidence,
            each if isinstance(recipe, ByRatio) else None,
        )
        for statistic, recipe in plan.answers
    )


def _errors(
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
    if isinstance(laws[0], Coordinate) and plan.step_of(total) is plan.step_of(count):
        a, b = (law.unit * f for law, f in zip(laws, factors, strict=True))  # type: ignore[union-attr]
        d = laws[0].dimension
        return pair_mean(a, b, d), pair_error(a, b, d, confidence)
    deviations = [sqrt(law.variance) * f for law, f in zip(laws, factors, strict=True)]
    if isinstance(laws[0], Gaussian):
        sigma = hypot(*deviations)
        return sigma * sqrt(2 / pi), sigma * NormalDist().inv_cdf((1 + confidence) / 2)
    # Two independent terms: Laplace of the same variances.
    a, b = (d / sqrt(2) for d in deviations)
    return _two_laplace_mean(a, b), two_laplace_error(a, b, confidence)


def _half_step(plan: Plan, total: int) -> tuple[float, int]:
    """Return half a grid step in the column's unit, and the width in steps."""
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
