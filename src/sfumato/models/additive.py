"""A glass-box additive model: one curve per feature, drawn as it predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sfumato.models.declared import Span
from sfumato.models.door import Floats
from sfumato.models.estimator import Facts, Job
from sfumato.models.logistic import LogisticRegression
from sfumato.models.options import whole_option, wrong_option
from sfumato.models.price import Price
from sfumato.models.table import Columns, Encoder
from sfumato.words import N_

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AdditiveClassifier", "Shape"]

_POINTS = 101


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """What one feature adds to the log odds.

    Attributes:
        name: The feature.
        at: Values of the feature; for keys their texts.
        adds: What each adds, shape (points, outputs); missing values add 0.
    """

    name: str
    at: tuple[float | str, ...]
    adds: Floats


class AdditiveClassifier(LogisticRegression):
    """Log odds as a sum of one smooth curve per feature, each of which can be drawn.

    Formal guarantee: that of `LogisticRegression`, on Legendre polynomials of each
    feature up to `order`, the higher ones scaled down by `smoothness`.

    Args:
        epsilon: The ε of one fit; there is no default.
        delta: The δ of one fit; above 0 fits better here, for the columns are many.
        budget: A `ModelBudget` or a `Session` that pays.
        bounds: Public ``(lower, upper)`` of the features, or a mapping by name.
        classes: All classes that may occur.
        missing: Codes that mean "no value".
        schema: A `Schema` that declares all of these.
        target: Name of the label's column in the schema.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        rows_per_person: With ``privacy_ids``: how many rows of one person count.
        order: Highest order of a curve, from 1 to 5.
        smoothness: Scale of each further order, above 0 and at most 1.
        on_leak: ``"refuse"``, or ``"warn"``: see `LogisticRegression`.

    Attributes:
        classes_: The declared classes, sorted.
        importances_: Mean size of each curve over its public range: one per feature.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.linspace(-1, 1, 11), 300).reshape(-1, 1)
        >>> model = AdditiveClassifier(
        ...     epsilon="8", budget=ModelBudget("8"), bounds=(-1, 1), classes=[0, 1]
        ... ).fit(x, (abs(x[:, 0]) > 0.5).astype(int))
        >>> shape = model.shapes()[0]
        >>> bool(shape.adds[0, 0] > shape.adds[50, 0])
        True
    """

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = 0,
        *,
        budget: Any = None,
        bounds: Any = None,
        classes: Any = None,
        missing: Any = None,
        schema: Any = None,
        target: str | None = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        order: int = 2,
        smoothness: float = 0.3,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    solver = "auto"
    degree = 2
    prior_coef = prior_intercept = None

    def _encoder(self, features: Any) -> Encoder:
        hint = N_("write a whole number from 1 to 5")
        order = whole_option("order", self.order, 5, hint)
        small: Any = self.smoothness
        if not isinstance(small, int | float) or not 0 < small <= 1:
            wrong_option("smoothness", small, N_("write a number above 0, at most 1"))
        return Encoder(features, degree=order, tau=float(small), curved=True)

    def _job(self, facts: Facts, price: Price) -> Job:
        job = super()._job(facts, price)

        def run(work: Any) -> dict[str, Any]:
            found = dict(job.run(work))
            shapes = _shapes(found["_line"], facts.encoder, None)
            sizes = [float(np.abs(s.adds).mean()) for s in shapes]
            return {**found, "importances_": np.array(sizes)}

        return replace(job, run=run)

    def shapes(self) -> tuple[Shape, ...]:
        """Return the curve of each feature; free, for the fit paid for it."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return _shapes(self._line, self._encoder(self.features_), names)

    def plot_shapes(self) -> Figure:
        """Draw the curve of each feature (needs matplotlib)."""
        from matplotlib.figure import Figure

        shapes = self.shapes()
        rows = -(-len(shapes) // 3)
        figure = Figure(figsize=(9, 2.4 * rows), layout="constrained")
        for place, shape in enumerate(shapes, 1):
            axes = figure.add_subplot(rows, 3, place)
            axes.axhline(0, color="0.8", linewidth=0.8)
            style = "-" if isinstance(shape.at[0], float) else "o"
            axes.plot(shape.at, shape.adds, style)
            axes.set_title(shape.name, fontsize=9)
        return figure


def _shapes(line: Any, encoder: Encoder, names: Any) -> tuple[Shape, ...]:
    owners, found = np.array(encoder.owners), []
    for j, feature in enumerate(encoder.features):
        at: tuple[float | str, ...]
        if isinstance(feature, Span):
            values = np.linspace(feature.lower, feature.upper, _POINTS)
            at = tuple(values.tolist())
            cells = values
        else:
            at = tuple(group[0] for group in feature.cells)
            cells = np.array(at, object)
        own = Encoder((feature,), encoder.degree, encoder.tau, encoder.curved)
        column = Columns(None, (cells,))
        rows = own.encode(column, slice(None))
        name = str(names[j]) if names is not None else f"x{j}"
        found.append(Shape(name, at, rows @ line.slopes[owners == j]))
    return tuple(found)
