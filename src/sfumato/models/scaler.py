"""Means and spreads of features under differential privacy, in one joint draw."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from sfumato.errors import DeclarationError
from sfumato.models.centre import widened
from sfumato.models.declared import Feature, Span
from sfumato.models.door import (
    UNIT,
    Floats,
    described,
    deviation,
    lattice,
    noisy,
    total,
)
from sfumato.models.estimator import Facts, Job, PrivateEstimator
from sfumato.models.price import Price
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["StandardScaler", "bounds_of", "numbers_only"]

_CONSTANT = 0.35
_THIRD = 1 / 3  # the mean square of a feature that is uniform between its bounds
_LONGEST = sqrt(13 / 9)  # of (u, u² - 1/3) for |u| <= 1


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Standardise features by private means and spreads.

    Formal guarantee: (ε, δ)-DP; sums, centred squares and the count of rows are one
    joint draw, for one row changes them together by a vector of bounded length.

    It is seldom needed: scaling by declared bounds is free, and every model here does
    it. `output_bounds_` are the bounds of what comes out, for a model that follows.

    Args:
        epsilon: The ε of one fit; there is no default.
        delta: The δ of one fit; 0 for pure ε.
        budget: A `ModelBudget` or a `Session` that pays.
        bounds: Public ``(lower, upper)`` of the features, or a mapping by name.
        missing: Codes that mean "no value"; such cells become the middle.
        schema: A `Schema` that declares these.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        rows_per_person: With ``privacy_ids``: how many rows of one person count.
        with_mean: Subtract the mean.
        with_std: Divide by the standard deviation.
        on_leak: ``"refuse"``, or ``"warn"``: see `LogisticRegression`.

    Attributes:
        mean_: Private mean of each feature.
        scale_: Private standard deviation of each feature.
        output_bounds_: ``(lower, upper)`` of the transformed features.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.arange(10.0), 1000).reshape(-1, 1)
        >>> scaler = StandardScaler("1", budget=ModelBudget("1"), bounds=(0, 9)).fit(x)
        >>> 4 < scaler.mean_[0] < 5  # fails once in 10^9 runs
        np.True_
    """

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = 0,
        *,
        budget: Any = None,
        bounds: Any = None,
        missing: Any = None,
        schema: Any = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        with_mean: bool = True,
        with_std: bool = True,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _job(self, facts: Facts, price: Price) -> Job:
        spans = numbers_only(facts)
        share = price.share()

        def run(work: Work) -> dict[str, Any]:
            width = work.width
            radius = _LONGEST * sqrt(width) * (1 + 2.0**-40)
            parts = (
                lattice(widened(np.hstack([u, u * u - _THIRD]), radius, _CONSTANT))
                for u in work.chunks()
            )
            size = radius * sqrt(1 + _CONSTANT**2) * (1 + 2.0**-40)
            sums = noisy(total(parts, 2 * width + 1), share) / UNIT * size
            rows = max(sums[-1] / (_CONSTANT * radius), 1.0)
            mean = np.clip(sums[:width] / rows, -1, 1)
            noise = deviation(share, 2 * width + 1, length=size) / rows
            floor = min(max(noise, 1e-3), _THIRD)
            square = sums[width:-1] / rows + _THIRD - mean**2
            return _measured(mean, np.sqrt(np.clip(square, floor, 1.0)), spans)

        return Job([described(share)], run, passes=1)

    def transform(self, X: Any) -> Floats:
        """Return standardised features, shape of X."""
        blocks = self._blocks(X, clip=False)
        low, high = bounds_of(self.features_)
        half, middle = (high - low) / 2, (high + low) / 2
        mean, scale = self._used()
        return np.concatenate([(b * half + middle - mean) / scale for b in blocks])

    def _used(self) -> tuple[Floats, Floats]:
        mean = self.mean_ if self.with_mean else np.zeros_like(self.mean_)
        return mean, self.scale_ if self.with_std else np.ones_like(self.scale_)

    @property
    def output_bounds_(self) -> tuple[Floats, Floats]:
        """``(lower, upper)`` of the transformed features."""
        mean, scale = self._used()
        low, high = bounds_of(self.features_)
        return (low - mean) / scale, (high - mean) / scale

    def inverse_transform(self, X: Any) -> Floats:
        """Return features as they are measured."""
        mean, scale = self._used()
        found: Floats = np.asarray(X, np.float64) * scale + mean
        return found


def bounds_of(features: Sequence[Feature]) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of features that are all numbers."""
    spans = [f for f in features if isinstance(f, Span)]
    return np.array([s.lower for s in spans]), np.array([s.upper for s in spans])


def numbers_only(facts: Facts) -> tuple[Span, ...]:
    """Return the spans of features that must all be numbers.

    Raises:
        DeclarationError: A feature is a category. Nothing was spent.
    """
    spans = tuple(f for f in facts.encoder.features if isinstance(f, Span))
    if len(spans) < len(facts.encoder.features):
        raise DeclarationError(
            N_("this estimator takes numbers only, and a column is a category"),
            hint=N_("leave the column out, or declare it with Real or Integer"),
        )
    return spans


def _measured(mean: Floats, scale: Floats, spans: tuple[Span, ...]) -> dict[str, Any]:
    low, high = bounds_of(spans)
    half, middle = (high - low) / 2, (high + low) / 2
    return {"mean_": mean * half + middle, "scale_": scale * half}
