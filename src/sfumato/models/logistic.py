"""Logistic regression under differential privacy: HOP for pure ε, GNM with δ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.models.classifier import PrivateClassifier
from sfumato.models.door import Floats, described
from sfumato.models.estimator import Facts, Job
from sfumato.models.gnm import GNM, fit_gnm, logistic, softmax
from sfumato.models.hop import Settings, Tilt, fit_hop
from sfumato.models.line import Line
from sfumato.models.losses import Logistic
from sfumato.models.options import whole_option, wrong_option
from sfumato.models.price import Price, Pure, Rho
from sfumato.models.table import Encoder
from sfumato.models.work import Work
from sfumato.words import N_

__all__ = ["LogisticRegression"]

_FARTHEST = 1e4  # log odds of a public prior; the solver's tolerance is an absolute one


class LinearClassifier(PrivateClassifier):
    """Prediction by a line, and the arguments that linear classifiers share."""

    _line: Line

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
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _scores(self, X: Any) -> Floats:
        blocks = self._blocks(X, clip=False)  # first, for it asks whether it is fitted
        return self._line.scores(blocks)

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row: log odds; one column per class from three on."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of `classes_`."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            one = 1 / (1 + np.exp(-np.clip(scores[:, 0], -500, 500)))
            return np.stack([1 - one, one], axis=1)
        return self._several(scores)

    def _several(self, scores: Floats) -> Floats:
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
        found: Floats = grown / grown.sum(axis=1, keepdims=True)
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            place = (scores[:, 0] > 0).astype(np.int64)
        else:
            place = scores.argmax(axis=1)
        found: NDArray[Any] = self.classes_[place]
        return found


class LogisticRegression(LinearClassifier):
    r"""Logistic regression; no tuning, for the ridge is set by the noise.

    Formal guarantee: (ε, δ)-differential privacy for the declared unit and neighbour
    relation. With ``delta=0`` by HOP, Huberised objective perturbation
    (``docs/proofs/hop.md``); with ``delta > 0`` by GNM, noisy Newton steps accounted
    for exactly by Gaussian DP (``docs/proofs/gnm.md``). Fitting debits `budget` before
    a row is looked at.

    Args:
        epsilon: The ε of one fit; there is no default.
        delta: The δ of one fit; 0 for pure ε.
        budget: A `ModelBudget` or a `Session` that pays.
        bounds: Public ``(lower, upper)`` of the features, or a mapping by name.
        classes: All classes that may occur; rows of any other label do not count.
        missing: Codes that mean "no value": one, one per column, or by name. Missing
            cells, and NaN, count as the middle of the bounds.
        schema: A `Schema` that declares bounds, missing codes, classes and the unit,
            instead of the above.
        target: Name of the label's column in the schema; default the name of y.
        neighbours: ``"add_remove"`` or ``"replace_one"``; default the schema's, else
            add_remove.
        rows_per_person: With ``privacy_ids``: how many rows of one person count.
        solver: ``"auto"``, ``"hop"`` (needs delta 0) or ``"gnm"`` (needs delta > 0).
        degree: 1, or 2 for additive squares.
        prior_coef: Public coefficients to shrink towards, on features as measured.
        prior_intercept: Public intercept to shrink towards.
        on_leak: ``"refuse"``, or ``"warn"`` to read undeclared facts from the rows,
            which makes the model NOT PRIVATE.

    Attributes:
        coef_: Coefficients on the features as they are measured (``degree=1`` only).
        intercept_: Intercepts.
        classes_: The declared classes, sorted.

    Raises:
        DeclarationError: An argument is wrong or missing. Nothing was spent.
        PrivacyLeakError: Bounds or classes are not declared. Nothing was spent.
        BudgetExceededError: The budget refused. Nothing was spent.
        EngineError: The fit failed. The debit stands.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.arange(10.0), 100).reshape(-1, 1)
        >>> budget = ModelBudget("1", dataset="demo")
        >>> model = LogisticRegression(
        ...     epsilon="1", budget=budget, bounds=(0, 9), classes=[0, 1]
        ... ).fit(x, (x[:, 0] > 4).astype(int))
        >>> budget.left, model.privacy_claim_["neighbours"]
        (Epsilon("0"), 'add_remove')
        >>> bool(model.predict_proba([[9.0]])[0, 1] > 0.5)
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
        solver: str = "auto",
        degree: int = 1,
        prior_coef: Any = None,
        prior_intercept: Any = None,
        on_leak: str = "refuse",
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self._keep(locals())

    def _encoder(self, features: Any) -> Encoder:
        hint = N_("write 1, or 2 for squares")
        degree = whole_option("degree", self.degree, 2, hint)
        return Encoder(features, degree=degree, curved=degree > 1)

    def _job(self, facts: Facts, price: Price) -> Job:
        outputs = 1 if len(facts.classes) == 2 else len(facts.classes)  # type: ignore[arg-type]  # noqa: PLR2004
        share, prior = price.share(), self._prior(facts, outputs)
        solver = self._solver(price)
        if isinstance(share, Pure):
            settings = Settings()
            first, rest = settings.split(share)
            told = [described(first)]
            for own in rest.split(*([1] * outputs)):
                Tilt.of(own, settings)
                told.append(described(own))

            def run(work: Work) -> dict[str, Any]:
                labels = work.targets
                signs = [
                    np.where(labels == k, 1.0, -1.0)
                    for k in ([1] if outputs == 1 else range(outputs))
                ]
                return self._attributes(
                    fit_hop(work, signs, share, settings, loss=Logistic(), prior=prior),
                    facts,
                    solver,
                )

        else:
            constants = GNM() if outputs == 1 else GNM(bend=0.5)
            told = [described(s) for s in constants.split(share)]
            rho: Rho = share

            def run(work: Work) -> dict[str, Any]:
                loss = logistic if outputs == 1 else softmax
                line = fit_gnm(work, outputs, loss, rho, constants, prior=prior)
                return self._attributes(line, facts, solver)

        # GNM goes through the rows once per mechanism, HOP as often as it needs.
        return Job(told, run, passes=0 if isinstance(share, Pure) else len(told))

    def _solver(self, price: Price) -> str:
        fitting = "hop" if price.pure else "gnm"
        if self.solver not in ("auto", fitting):
            wrong_option(
                "solver",
                self.solver,
                N_('write "auto": hop goes with delta 0, gnm with delta above 0'),
            )
        return fitting

    def _prior(self, facts: Facts, outputs: int) -> Line | None:
        if self.prior_coef is None and self.prior_intercept is None:
            return None
        width = facts.encoder.width
        coef = (
            np.zeros((outputs, width)) if self.prior_coef is None else self.prior_coef
        )
        shift = (
            np.zeros(outputs) if self.prior_intercept is None else self.prior_intercept
        )
        try:
            slopes = np.asarray(coef, np.float64).reshape(outputs, width)
            offset = np.asarray(shift, np.float64).reshape(outputs)
        except (TypeError, ValueError):
            slopes, offset = np.full((1, 1), np.nan), np.zeros(1)
        if self.degree > 1 or not (
            np.isfinite(slopes).all() and np.isfinite(offset).all()
        ):
            wrong_option(
                "prior_coef",
                self.prior_coef,
                N_("give one finite number per feature and output, with degree=1"),
            )
        line = Line.of_raw(slopes, offset, facts.encoder)
        reach = np.abs(line.slopes).sum(axis=0) + np.abs(line.offset)
        if not (reach <= _FARTHEST).all():
            wrong_option(
                "prior_coef",
                self.prior_coef,
                N_(
                    "give weights that make log odds of at most 10000 within the bounds"
                ),
            )
        return line

    def _attributes(self, line: Line, facts: Facts, solver: str) -> dict[str, Any]:
        found: dict[str, Any] = {"_line": line, "solver_": solver}
        if self.degree == 1:
            found["coef_"], found["intercept_"] = line.raw(facts.encoder)
        return found

    def _several(self, scores: Floats) -> Floats:
        if self.solver_ == "gnm":
            return super()._several(scores)
        each = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))  # one against the rest
        found: Floats = each / each.sum(axis=1, keepdims=True)
        return found
