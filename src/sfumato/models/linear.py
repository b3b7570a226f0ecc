"""Linear regression under differential privacy, with predictions inside the bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from sfumato.models.door import Floats, described
from sfumato.models.estimator import Facts, Job, PrivateEstimator
from sfumato.models.gnm import GNM, fit_gnm, squared
from sfumato.models.hop import Settings, Tilt, fit_hop
from sfumato.models.line import Line
from sfumato.models.losses import Huber
from sfumato.models.options import wrong_option
from sfumato.models.price import Price, Pure
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["LinearRegression"]

_GAUSSIAN = GNM(radius=0.5, bend=1.0)
_PURE = Settings(radius=0.4)


class LinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Linear regression with clipped residuals, and a ridge.

    Formal guarantee: as `LogisticRegression`; with ``delta=0`` HOP with Huber's loss,
    with ``delta > 0`` GNM with the squared loss. A residual beyond a quarter of the
    target's range pulls no harder than one of that size.

    Args:
        epsilon: The ε of one fit; there is no default.
        delta: The δ of one fit; 0 for pure ε.
        budget: A `ModelBudget` or a `Session` that pays.
        bounds: Public ``(lower, upper)`` of the features, or a mapping by name.
        y_bounds: Public ``(lower, upper)`` of the target.
        missing: Codes that mean "no value" among the features.
        schema: A `Schema` that declares all of these.
        target: Name of the target's column in the schema; default the name of y.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        rows_per_person: With ``privacy_ids``: how many rows of one person count.
        ridge: Public ridge on the weights of rows scaled to length 1, at least 0.
        clip_predictions: Keep predictions inside the target's bounds.
        on_leak: ``"refuse"``, or ``"warn"``: see `LogisticRegression`.

    Attributes:
        coef_: Coefficients on the features as they are measured.
        intercept_: The intercept.
        y_bounds_: The declared bounds of the target.

    Raises:
        DeclarationError: An argument is wrong or missing. Nothing was spent.
        BudgetExceededError: The budget refused. Nothing was spent.
        EngineError: The fit failed. The debit stands.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.arange(10.0), 200).reshape(-1, 1)
        >>> model = LinearRegression(
        ...     epsilon="2", budget=ModelBudget("2"), bounds=(0, 9), y_bounds=(0, 18)
        ... ).fit(x, 2 * x[:, 0])
        >>> bool(model.predict([[9.0]])[0] > model.predict([[0.0]])[0])
        True
    """

    _wants: ClassVar[Literal["labels", "number", "nothing"]] = "number"
    _line: Line

    def __init__(
        self,
        epsilon: Any = None,
        delta: Any = 0,
        *,
        budget: Any = None,
        bounds: Any = None,
        y_bounds: Any = None,
        missing: Any = None,
        schema: Any = None,
        target: str | None = None,
        neighbours: str | None = None,
        rows_per_person: int | None = None,
        ridge: float = 0.0,
        clip_predictions: bool = True,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _job(self, facts: Facts, price: Price) -> Job:
        share, ridge = price.share(), _ridge(self.ridge)
        if isinstance(share, Pure):
            told = [described(s) for s in _PURE.split(share)]
            Tilt.of(_PURE.split(share)[1], _PURE)  # which may be too small
        else:
            told = [described(s) for s in _GAUSSIAN.split(share)]

        def run(work: Work) -> dict[str, Any]:
            if isinstance(share, Pure):
                line = fit_hop(
                    work, [work.targets], share, _PURE, loss=Huber(), ridge=ridge
                )
            else:
                line = fit_gnm(work, 1, squared, share, _GAUSSIAN, ridge=ridge)
            return self._attributes(line, facts)

        # GNM goes through the rows once per mechanism, HOP as often as it needs.
        return Job(told, run, passes=0 if isinstance(share, Pure) else len(told))

    def _attributes(self, line: Line, facts: Facts) -> dict[str, Any]:
        span = facts.span
        assert span is not None  # noqa: S101  a target that is a number has bounds
        half, middle = (span.upper - span.lower) / 2, (span.upper + span.lower) / 2
        scaled = replace(
            line, slopes=line.slopes * half, offset=line.offset * half + middle
        )
        coef, intercept = scaled.raw(facts.encoder)
        return {
            "_line": scaled,
            "coef_": coef[0],
            "intercept_": float(intercept[0]),
            "y_bounds_": (span.lower, span.upper),
        }

    def predict(self, X: Any) -> Floats:
        """Return the expected target of each row."""
        blocks = self._blocks(X, clip=False)  # first, for it asks whether it is fitted
        numbers: Floats = self._line.scores(blocks)[:, 0]
        if not self.clip_predictions:
            return numbers
        return np.clip(numbers, *self.y_bounds_)

    def __sklearn_tags__(self) -> Any:
        """Say that a noisy model may score badly on a tiny table."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _ridge(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value < float("inf"):
        wrong_option("ridge", value, N_("write a finite number from 0 up"))
    return float(value)
