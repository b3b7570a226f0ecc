"""True values beside private ones, in numbers: for the owner's eyes, never to publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ArgumentError
from sfumato.metrics.columns import codes, columns, is_table, numbers
from sfumato.metrics.distance import total_variation, wasserstein
from sfumato.release import OWNER_ONLY, OwnerComparison
from sfumato.words import N_, language, speaker

__all__ = ["OwnerUtility", "utility"]

_NAMES = {
    "mean_absolute_error": N_("mean absolute error"),
    "root_mean_squared_error": N_("root mean squared error"),
    "relative_error": N_("mean relative error"),
    "largest_error": N_("largest error"),
    "correlation": N_("correlation"),
    "rank_agreement": N_("rank agreement"),
    "coverage": N_("intervals that hold the true value"),
    "total_variation": N_("total variation distance"),
    "wasserstein": N_("Wasserstein distance"),
    "correlation_error": N_("largest error of a correlation"),
}


@final
@dataclass(frozen=True, slots=True, repr=False)
class OwnerUtility:
    """How near a private result is to the truth: FOR THE OWNER'S EYES.

    It is computed from private values, so publishing it is a release that nobody paid
    for. Measures that do not apply are None.

    Attributes:
        mean_absolute_error: Mean of ``|private - original|``, in their unit.
        root_mean_squared_error: Root of the mean squared difference.
        relative_error: Mean of ``|private - original| / |original|`` where the original
            is not 0.
        largest_error: Largest ``|private - original|``.
        correlation: Pearson's, between original and private; none when one is constant.
        rank_agreement: Spearman's rank correlation: 1 when the order is kept.
        coverage: Share of intervals that hold the true value.
        total_variation: Of histograms, or the mean over a table's columns, in [0, 1]; a
            column of numbers counts with its Kolmogorov-Smirnov distance.
        wasserstein: Of histograms with even bins in bins; of a table the mean over its
            columns of numbers, as a share of each column's range.
        correlation_error: Of a table: largest difference of the correlation of two
            columns of numbers.
    """

    mean_absolute_error: float | None = None
    root_mean_squared_error: float | None = None
    relative_error: float | None = None
    largest_error: float | None = None
    correlation: float | None = None
    rank_agreement: float | None = None
    coverage: float | None = None
    total_variation: float | None = None
    wasserstein: float | None = None
    correlation_error: float | None = None

    def __str__(self) -> str:
        """Show what applies, marked for the owner."""
        say = speaker(language())
        lines = [
            f"{say(_NAMES[field.name])}: {getattr(self, field.name):.4g}"
            for field in fields(self)
            if getattr(self, field.name) is not None
        ]
        return "\n".join([say(OWNER_ONLY), *lines])

    def __repr__(self) -> str:
        """Name it; show no value."""
        return f"<OwnerUtility: {OWNER_ONLY}>"

    def __reduce__(self) -> NoReturn:
        """Refuse pickling and copying, hence caches and other processes."""
        msg = "an owner's utility cannot be pickled or copied"
        raise TypeError(msg)


def utility(
    original: Any, private: Any = None, *, histogram: bool = False
) -> OwnerUtility:
    """Return how near private values are to the original ones. No guarantee.

    Args:
        original: Numbers, shape ``(n,)`` or any; a table; or an `OwnerComparison`, which
            holds both sides.
        private: Numbers of the same shape, or a table with the same columns and any
            number of rows, such as a synthetic one.
        histogram: The numbers are counts of bins: their distances are returned too.

    Raises:
        ArgumentError: Shapes or columns differ, a number is missing or not finite, or
            nothing is there to compare.

    Examples:
        >>> found = utility([120.9, 69.1, 20.5], [122.3, 68.7, 20.1])
        >>> round(found.mean_absolute_error, 3)
        0.733
        >>> found
        <OwnerUtility: FOR THE OWNER'S EYES, NEVER FOR PUBLICATION>
    """
    if isinstance(original, OwnerComparison):
        return _of_comparison(original)
    if is_table(original) or is_table(private):
        return _of_tables(original, private)
    truth, noisy = _numbers("original", original), _numbers("private", private)
    if truth.shape != noisy.shape:
        raise ArgumentError(
            N_("original has shape {first}, private has shape {second}"),
            hint=N_("give one private value for each original one"),
            first=truth.shape,
            second=noisy.shape,
        )
    return _of_numbers(truth.ravel(), noisy.ravel(), histogram=histogram)


def _of_comparison(comparison: OwnerComparison) -> OwnerUtility:
    if not comparison.rows:
        raise _nothing()
    truth = np.array([row.truth for row in comparison.rows])
    noisy = np.array([row.figure.estimate for row in comparison.rows])
    share = comparison.covered / len(comparison.rows)
    return _of_numbers(truth, noisy, histogram=False, coverage=share)


def _of_numbers(
    truth: NDArray[np.float64],
    noisy: NDArray[np.float64],
    *,
    histogram: bool,
    coverage: float | None = None,
) -> OwnerUtility:
    errors = np.abs(noisy - truth)
    sized = truth != 0
    relative = errors[sized] / np.abs(truth[sized])
    return OwnerUtility(
        mean_absolute_error=float(errors.mean()),
        root_mean_squared_error=float(np.sqrt((errors**2).mean())),
        relative_error=float(relative.mean()) if sized.any() else None,
        largest_error=float(errors.max()),
        correlation=_correlation(truth, noisy),
        rank_agreement=_correlation(_ranks(truth), _ranks(noisy)),
        coverage=coverage,
        total_variation=total_variation(truth, noisy) if histogram else None,
        wasserstein=wasserstein(truth, noisy) if histogram else None,
    )


def _of_tables(original: Any, private: Any) -> OwnerUtility:
    first, second = columns(original), columns(private)
    if set(first) != set(second):
        raise ArgumentError(
            N_("the tables differ in their columns: {names}"),
            hint=N_("compare the columns that both have"),
            names=", ".join(sorted(set(first) ^ set(second))[:10]),
        )
    variations, distances, both = [], [], list[tuple[Any, Any]]()
    for name in first:
        x, y = numbers(first[name]), numbers(second[name])
        if x is None or y is None:
            joined = codes(np.concatenate([first[name], second[name]]))
            counts = [
                _counts(c, joined.max() + 1) for c in _split(joined, len(first[name]))
            ]
            variations.append(total_variation(*counts))
            continue
        if np.isinf(x).any() or np.isinf(y).any():
            raise _infinite(repr(name))
        both.append((x, y))
        known = [v[~np.isnan(v)] for v in (x, y)]
        if min(map(len, known)):
            variation, distance = _gaps(*known)
            variations.append(variation)
            distances.append(distance)
    return OwnerUtility(
        total_variation=float(np.mean(variations)) if variations else None,
        wasserstein=float(np.mean(distances)) if distances else None,
        correlation_error=_correlation_error(both),
    )


def _gaps(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the largest gap of the distribution functions, and the area between them.

    The area (Wasserstein-1) is divided by the range of both columns together.
    """
    points = np.unique(np.concatenate([x, y]))
    shares = [
        np.searchsorted(np.sort(v), points, side="right") / len(v) for v in (x, y)
    ]
    gap = np.abs(shares[0] - shares[1])
    width = points[-1] - points[0]
    area = float((gap[:-1] * np.diff(points)).sum() / width) if width else 0.0
    return float(gap.max()), area


def _correlation_error(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> float | None:
    worst = None
    for i, (x, y) in enumerate(pairs):
        for other_x, other_y in pairs[:i]:
            found = [_correlation(x, other_x), _correlation(y, other_y)]
            if None not in found:
                gap = abs(found[0] - found[1])  # type: ignore[operator]
                worst = gap if worst is None else max(worst, gap)
    return worst


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if len(x) < 2:  # noqa: PLR2004  one point has no slope
        return None
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x**2).sum() * (y**2).sum()))
    return float(np.clip((x * y).sum() / size, -1, 1)) if size else None


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks; equal values share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: NDArray[np.float64] = (ends - (counts - 1) / 2)[places.ravel()]
    return means


def _split(joined: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [joined[:size], joined[size:]]


def _counts(places: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    return np.bincount(places, minlength=size).astype(np.float64)


def _numbers(name: str, given: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array([np.nan])
    if not found.size:
        raise _nothing()
    if not np.isfinite(found).all():
        raise _infinite(name)
    return found


def _infinite(name: str) -> ArgumentError:
    return ArgumentError(
        N_("{name} must be finite numbers"),
        hint=N_("leave out what is missing, or ask for it again"),
        name=name,
    )


def _nothing() -> ArgumentError:
    return ArgumentError(
        N_("there is nothing to compare"), hint=N_("give at least one number")
    )
