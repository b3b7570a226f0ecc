"""k-means under differential privacy: noisy relative steps about a private centre."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sfumato import noise
from sfumato.models.centre import Frame, find_centre, widened
from sfumato.models.door import (
    UNIT,
    Floats,
    Share,
    described,
    deviation,
    lattice,
    noisy,
    products,
)
from sfumato.models.estimator import Facts, Job, PrivateEstimator
from sfumato.models.options import whole_option
from sfumato.models.price import Price, Pure
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["KMeans"]

_REACH, _COUNT = 0.5, 0.35
_CENTRING = Fraction(15, 100)
_STEP, _CONSTANT = 0.35, 0.5
_TRIES = 64
_MOST = 1000


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """k-means on features scaled to [-1, 1] by their bounds.

    Formal guarantee: (ε, δ)-DP. A private centre; public starts spread on a sphere
    about it; then noisy rounds (4 with δ, 2 without), in each of which a row adds one
    clipped displacement and one count to one cluster (Su et al. 2016; FastLloyd 2024).
    There are no labels and no inertia of the rows that were fitted.

    Args:
        n_clusters: How many clusters, from 1 to 1000.
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
        cluster_centers_: Private centres on scaled features, shape (clusters, columns).
        cluster_sizes_: Private number of rows of each, from the last round.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile([[-0.7, 0.0], [0.7, 0.0]], (2000, 1))
        >>> model = KMeans(2, epsilon="8", budget=ModelBudget("8"), bounds=(-1, 1)).fit(x)
        >>> model.predict([[-0.7, 0.0], [0.7, 0.0]]).shape
        (2,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
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

    def fit_predict(self, X: Any, y: Any = None, privacy_ids: Any = None) -> Any:
        """Fit, then return the cluster of each row: private data of the owner's."""
        return self.fit(X, y, privacy_ids).predict(X)

    def _job(self, facts: Facts, price: Price) -> Job:  # noqa: ARG002
        hint = N_("write a small number of at least 1")
        count = whole_option("n_clusters", self.n_clusters, _MOST, hint)
        share = price.share()
        rounds = 2 if isinstance(share, Pure) else 4
        each = (1 - _CENTRING) / rounds
        first, *steps = share.split(_CENTRING, *([each] * rounds))

        def run(work: Work) -> dict[str, Any]:
            centre = find_centre(
                work.chunks(), work.width, first, reach=_REACH, constant=_COUNT
            )
            places = np.clip(centre.middle + _starts(count, work.width), -1, 1)
            sizes = np.zeros(len(places))
            for own in steps:
                places, sizes = _round(work, places, own)
            return {
                "cluster_centers_": places,
                "cluster_sizes_": sizes,
                "n_iter_": len(steps),
            }

        return Job([described(s) for s in (first, *steps)], run, passes=1 + rounds)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the nearest centre of each row."""
        return np.asarray(self.transform(X).argmin(axis=1))

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row from each centre, on scaled features."""
        blocks = self._blocks(X, clip=True)
        places = self.cluster_centers_
        return np.concatenate([np.sqrt(_squares(b, places)) for b in blocks])

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        """Say that it clusters; there are no labels of the rows that were fitted."""
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        return tags


def _squares(rows: Floats, places: Floats) -> Floats:
    lengths = np.einsum("ij,ij->i", rows, rows)[:, None]
    found: Floats = lengths - 2 * products(rows, places.T) + (places**2).sum(1)
    np.maximum(found, 0.0, out=found)
    return found


def _starts(count: int, width: int) -> Floats:
    """Return points on a sphere that keep away from each other: public chance."""
    radius, best, far = 0.35 * sqrt(width) / 1.5, np.zeros((count, width)), -1.0
    drawn = np.array(noise.whole_gaussian(2**20, _TRIES * count * width), np.float64)
    for points in drawn.reshape(_TRIES, count, width):
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        around = points / np.maximum(lengths, 1.0)
        gaps = _squares(around, around) + 9 * np.eye(count)
        if gaps.min() > far:
            best, far = around * radius, float(gaps.min())
    return best


def _round(work: Work, places: Floats, share: Share) -> tuple[Floats, Floats]:
    """Return moved centres: one row changes one cluster's sum by at most 1."""
    count, width = places.shape
    radius = _STEP * sqrt(width)
    size = Frame(np.zeros(width), radius, _CONSTANT).size
    whole = np.zeros((count, width + 1), np.int64)
    for rows in work.chunks():
        nearest = _squares(rows, places).argmin(axis=1)
        steps = lattice(widened(rows - places[nearest], radius, _CONSTANT))
        for k in range(count):
            whole[k] += steps[nearest == k].sum(axis=0, dtype=np.int64)
    sums = np.stack([noisy(row, share) for row in whole]) / UNIT * size
    counts = sums[:, -1] / (_CONSTANT * radius)
    doubt = deviation(share, width + 1, length=size) / (_CONSTANT * radius)
    # A cluster whose count is lost in noise hardly moves.
    moves = sums[:, :-1] / np.maximum(counts, 2 * doubt)[:, None]
    return np.clip(places + moves, -1, 1), np.maximum(counts, 0.0)
