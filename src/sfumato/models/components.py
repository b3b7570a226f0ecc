"""Principal components under differential privacy (Analyze Gauss, centred)."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sfumato.models.centre import clipped, find_centre
from sfumato.models.door import Floats, described, products
from sfumato.models.estimator import Facts, Job, PrivateEstimator
from sfumato.models.gnm import gram
from sfumato.models.options import whole_option
from sfumato.models.price import Price
from sfumato.models.scaler import bounds_of, numbers_only
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["PCA"]

_REACH, _RADIUS, _COUNT = 0.5, 0.35, 0.35
_CENTRING = Fraction(15, 100)


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Principal components of features scaled to [-1, 1] by their bounds.

    Formal guarantee: (ε, δ)-DP. A private centre, then the sum of aa' of the clipped
    rows about it with symmetric noise: normal with δ (Dwork, Talwar, Thakurta, Zhang
    2014), one spherical draw on the triangle without. Eigenvectors are post-processing.

    Args:
        n_components: How many components; default all.
        epsilon: The ε of one fit; there is no default.
        delta: The δ of one fit; 0 for pure ε.
        budget: A `ModelBudget` or a `Session` that pays.
        bounds: Public ``(lower, upper)`` of the features, or a mapping by name.
        missing: Codes that mean "no value"; such cells become the middle.
        schema: A `Schema` that declares these.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        rows_per_person: With ``privacy_ids``: how many rows of one person count.
        on_leak: ``"refuse"``, or ``"warn"``: see `LogisticRegression`.

    Attributes:
        components_: Private axes, shape (components, features), on scaled features.
        mean_: Private centre of the scaled features.
        explained_variance_: Private variance along each axis, at least 0.
        explained_variance_ratio_: Its share of all variance.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> t = np.tile(np.linspace(-1, 1, 21), 500)
        >>> pca = PCA(1, epsilon="4", budget=ModelBudget("4"), bounds=(-1, 1))
        >>> axis = pca.fit(np.stack([t, t], axis=1)).components_[0]
        >>> bool(abs(axis[0] - axis[1]) < 0.2)
        True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: Any = None,
        delta: Any = 0,
        budget: Any = None,
        bounds: Any = None,
        missing: Any = None,
        schema: Any = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _job(self, facts: Facts, price: Price) -> Job:
        width = len(numbers_only(facts))
        given = width if self.n_components is None else self.n_components
        hint = N_("write a number from 1 to that of columns")
        wanted = whole_option("n_components", given, width, hint)
        first, second = price.share().split(_CENTRING, 1 - _CENTRING)

        def run(work: Work) -> dict[str, Any]:
            centre = find_centre(
                work.chunks(), width, first, reach=_REACH, constant=_COUNT
            )
            radius = _RADIUS * sqrt(width)
            size = radius * (1 + 2.0**-40)
            parts = (clipped(u - centre.middle, radius) / size for u in work.chunks())
            matrix, _ = gram(parts, width, second)
            values, vectors = np.linalg.eigh(matrix * size**2 / centre.rows)
            order = np.argsort(values)[::-1]
            found = np.clip(values[order], 0, None)
            axes = vectors[:, order].T
            # The sign of an axis is free: its largest entry is positive.
            tops = np.take_along_axis(
                axes, np.abs(axes).argmax(axis=1)[:, None], axis=1
            )
            axes = axes * np.where(tops < 0, -1.0, 1.0)
            share = found / max(float(found.sum()), 1e-300)
            return {
                "components_": axes[:wanted],
                "mean_": centre.middle,
                "explained_variance_": found[:wanted],
                "explained_variance_ratio_": share[:wanted],
                "n_components_": wanted,
            }

        return Job([described(first), described(second)], run, passes=2)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Floats:
        """Return the coordinates of rows along the components."""
        blocks = self._blocks(X, clip=False)
        axes = self.components_.T
        return np.concatenate([products(b - self.mean_, axes) for b in blocks])

    def inverse_transform(self, X: Any) -> Floats:
        """Return rows as they are measured, as far as the components tell."""
        scaled = np.asarray(X, np.float64) @ self.components_ + self.mean_
        low, high = bounds_of(self.features_)
        found: Floats = (scaled + 1) * (high - low) / 2 + low
        return found
