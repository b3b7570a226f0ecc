"""The error to expect of each figure, from the plan alone: no data is read."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, sqrt
from typing import assert_never, final

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

    Counts, histograms and sums: exact quantiles of their noise law. Means: the ratio
    is linearised at `rows` rows spread evenly over the groups, with the mean a typical
    distance (range/√12) from the middle of its bounds.

    Args:
        plan: The plan.
        rows: A public guess of the number of rows; the declared size wins over it.
        confidence: Probability that the error stays below `error`.
    """
    size = plan.schema.unit.size or rows
    each = max(1.0, size / len(plan.groups))
    found = []
    for statistic, recipe in plan.answers:
        scales = _scales(plan, recipe, each)
        ratio = isinstance(recipe, ByRatio)
        match recipe:
            case PublicSize():
                average = error = 0.0
            case Direct(step, step_size):
                noise = plan.steps[step].mechanism
                average = noise.mean_absolute_error * step_size
                error = noise.error(confidence) * step_size
            case ByRatio() | ByCount():
                average = _two_laplace_mean(*scales)
                error = two_laplace_error(*scales, confidence)
            case _:
                assert_never(recipe)
        found.append(
            Expected(
                statistic.name, average, error, confidence, each if ratio else None
            )
        )
    return tuple(found)


def _scales(plan: Plan, recipe: Recipe, rows: float) -> tuple[float, float]:
    """Return the scales of the sum's and the count's noise in the figure's unit."""
    if not isinstance(recipe, ByRatio | ByCount):
        return 0.0, 0.0
    total = plan.steps[recipe.total]
    aggregate = total.aggregate
    assert isinstance(aggregate, CentredSum)  # noqa: S101  lower.py pairs them so
    step = getattr(plan.schema[aggregate.column], "step", 1.0)
    half = float(total.mechanism.scale) * step / 2
    count = (
        0.0 if recipe.count is None else float(plan.steps[recipe.count].mechanism.scale)
    )
    if isinstance(recipe, ByRatio):
        return half / rows, count * aggregate.width * step / sqrt(12) / rows
    return half, count * abs(aggregate.first + aggregate.last) / 2 * step


def two_laplace_error(a: float, b: float, confidence: float) -> float:
    """Return t with ``P(|aX + bY| <= t) = confidence`` for standard Laplace X, Y.

    ``P(|aX + bY| > t) = (a² e^(-t/a) - b² e^(-t/b)) / (a² - b²)``, by convolution;
    found by bisection.

    Examples:
        >>> round(two_laplace_error(1, 0, 0.95), 4), round(two_laplace_error(1, 1, 0.95), 4)
        (2.9957, 4.113)
    """
    a, b = max(a, b), min(a, b)
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
    return (a**2 + a * b + b**2) / (a + b) if a + b else hypot(a, b)
