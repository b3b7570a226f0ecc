"""Choosing among settings under differential privacy, for a price that is known first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sfumato import noise
from sfumato.account import Epsilon, Selection, describe
from sfumato.errors import DeclarationError
from sfumato.models.answers import truths
from sfumato.models.budget import ModelBudget, read_budget
from sfumato.models.claim import claim_of
from sfumato.models.declared import Span
from sfumato.models.door import spread
from sfumato.models.estimator import PrivateEstimator
from sfumato.models.given import one_column
from sfumato.models.options import wrong_option
from sfumato.models.parts import coins
from sfumato.models.price import Price, Pure
from sfumato.models.progress import watching
from sfumato.models.residuals import targets_of
from sfumato.models.table import first_rows, numbers_of, persons_of
from sfumato.secret import Quiet
from sfumato.words import N_

__all__ = ["PrivateSearchCV"]

_FINE = 1 << 20
_PLENTY = "1000000"


def _fitted_has(name: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, name))


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Find good settings of an estimator; all trials together cost `epsilon`.

    Each row is put by its own public coin into the part for fitting or the part for
    scoring, so that a trial, a fit and a score, costs the larger of the two.

    Formal guarantee: ε-DP, ε being `epsilon`, by one of two methods.

    ``"stop"`` (Papernot, Steinke 2022, η = 0; ``docs/proofs/search.md``)
        Settings are drawn at random, fitted and scored at ε/2 each, a random number of
        times; the best trial is kept. The price does not grow with the settings.
    ``"choose"``
        Every setting is fitted once, at ε over their number; one is chosen by
        permute-and-flip on the other rows, at ε (disjoint rows). For a few settings.

    The model that is kept is the one that was scored: there is no refit.

    Args:
        estimator: An estimator of this package with ``delta=0``; its `epsilon` and
            `budget` are set by the search.
        param_grid: Settings to try: a mapping from names to lists, or several.
        epsilon: The ε of the whole search; there is no default.
        budget: A `ModelBudget` or a `Session` that pays.
        method: ``"stop"`` or ``"choose"``.
        trials: For ``"stop"``: about how many trials to expect.
        fit_share: Share of the rows for fitting.

    Attributes:
        best_estimator_: The fitted model; its claim is the search's.
        best_params_: Its settings.

    Raises:
        DeclarationError: An argument is wrong or missing. Nothing was spent.
        BudgetExceededError: The budget refused. Nothing was spent.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import LogisticRegression, ModelBudget
        >>> x = np.tile(np.linspace(-1, 1, 20), 100).reshape(-1, 1)
        >>> budget = ModelBudget("4")
        >>> search = PrivateSearchCV(
        ...     LogisticRegression(bounds=(-1, 1), classes=[0, 1]),
        ...     {"degree": [1, 2]}, epsilon="4", budget=budget,
        ... ).fit(x, (abs(x[:, 0]) > 0.5).astype(int))
        >>> budget.left, sorted(search.best_params_)
        (Epsilon("0"), ['degree'])
    """

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        epsilon: Any = None,
        budget: Any = None,
        method: str = "stop",
        trials: float = 6,
        fit_share: float = 0.75,
    ) -> None:
        """Keep the arguments; they are checked when a fit begins."""
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.budget = budget
        self.method = method
        self.trials = trials
        self.fit_share = fit_share

    def fit(self, X: Any, y: Any, privacy_ids: Any = None) -> Self:
        """Pay, then search."""
        pays, settings = read_budget(self.budget), self._settings()
        price = self._price(privacy_ids)
        pays.check(price)
        self._check_split(price, len(settings))
        self._dry_run(settings, X, y, privacy_ids, price)
        persons = persons_of(privacy_ids, len(y))
        loss = price.loss(pays.measure)
        paid = pays.pay(loss, plan=self._digest(settings), descriptor=_told(price))
        private = noise.default().secure
        found = None
        # Its guarantee needs the number of trials to be secret: seconds are shown.
        with Quiet() as work, watching(type(self).__name__), np.errstate(all="ignore"):
            found = self._search(settings, X, y, persons, price)
        if found is None:
            raise work.stop
        self.best_params_, self.best_estimator_ = found
        self.best_estimator_.budget = self.budget
        self.best_estimator_.privacy_spent_ = self.privacy_spent_ = loss
        self.privacy_claim_ = claim_of(price, loss, paid, private=private)
        self.best_estimator_.privacy_claim_ = self.privacy_claim_
        if hasattr(self.best_estimator_, "classes_"):
            self.classes_ = self.best_estimator_.classes_
        return self

    def _settings(self) -> list[dict[str, Any]]:
        grids = self.param_grid
        grids = [grids] if isinstance(grids, Mapping) else grids
        found: list[dict[str, Any]] = []
        for grid in grids if isinstance(grids, Sequence) else []:
            if isinstance(grid, Mapping):
                found += [
                    dict(zip(grid, v, strict=True)) for v in product(*grid.values())
                ]
        taken = {"epsilon", "delta", "budget", "on_leak", "neighbours"}
        taken |= {"rows_per_person"}
        if not any(found) or any(taken & set(f) for f in found):
            raise DeclarationError(
                N_("param_grid holds no settings, or settings of privacy"),
                hint=N_('write {{"degree": [1, 2]}}; epsilon is set by the search'),
            )
        if self.method not in ("stop", "choose"):
            wrong_option("method", self.method, N_('write "stop" or "choose"'))
        share: Any = self.fit_share
        if not isinstance(share, int | float) or not 0 < share < 1:
            wrong_option("fit_share", share, N_("write a number such as 0.75"))
        trials: Any = self.trials
        if not isinstance(trials, int | float) or not 1 < trials <= 1000:  # noqa: PLR2004
            wrong_option("trials", trials, N_("write a number such as 6"))
        return found

    def _price(self, privacy_ids: Any) -> Price:
        model = self.estimator
        if not isinstance(model, PrivateEstimator) or not hasattr(model, "predict"):
            wrong_option(
                "estimator", model, N_("give a private classifier or regressor")
            )
        price = clone(model).set_params(epsilon=self.epsilon)._price(privacy_ids)  # noqa: SLF001
        if not price.pure or model.on_leak != "refuse":
            raise DeclarationError(
                N_("a private search needs delta=0 and declared facts"),
                hint=N_("leave delta and on_leak out of the estimator"),
            )
        return price  # type: ignore[no-any-return]

    def _check_split(self, price: Price, settings: int) -> None:
        """Refuse a loss that has fewer units than parts."""
        parts = settings if self.method == "choose" else 2 * price.rows
        if price.epsilon.units < parts:
            raise DeclarationError(
                N_("epsilon {epsilon} is too small to be split into {parts} parts"),
                hint=N_("search among fewer settings or give a larger epsilon"),
                epsilon=str(price.epsilon),
                parts=parts,
            )

    def _dry_run(
        self, settings: list[dict[str, Any]], X: Any, y: Any, ids: Any, price: Price
    ) -> None:
        """Let each setting be refused now: nothing is fitted yet."""
        parts = len(settings) if self.method == "choose" else 2
        least = Epsilon.from_units(price.epsilon.units // parts)
        for setting in settings:
            self._trial(setting, least)._check(X, y, ids)  # noqa: SLF001

    def _trial(self, setting: Mapping[str, Any], epsilon: Epsilon) -> Any:
        inner = ModelBudget(_PLENTY, dataset="search")
        trial = clone(self.estimator).set_params(
            **setting, epsilon=epsilon, budget=inner
        )
        # Coins may leave no row for fitting; an error then would tell how few there are.
        trial._least_rows = 0  # noqa: SLF001
        return trial

    def _digest(self, settings: list[dict[str, Any]]) -> str:
        text = repr(
            (settings, self.method, self.trials, self.fit_share, self.estimator)
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def _search(
        self, settings: list[dict[str, Any]], X: Any, y: Any, ids: Any, price: Price
    ) -> tuple[dict[str, Any], Any]:
        part = _Parts(X, y, ids, self.fit_share, price.rows)
        if self.method == "choose":
            each = price.epsilon.split([1] * len(settings))
            models = [
                part.fit(self._trial(s, e)) for s, e in zip(settings, each, strict=True)
            ]
            law = Selection(_FINE * price.rows * price.changes, price.epsilon)
            scores = [part.score(m) for m in models]
            best = noise.permute_and_flip(scores, law.rate)
            return settings[best], models[best]
        own = Epsilon.from_units(price.epsilon.units // 2)
        share = Pure(Epsilon.from_units(own.units // price.rows), price.changes)
        best_mark: tuple[float, int] | None = None
        kept: tuple[dict[str, Any], Any] | None = None
        for _ in range(_stopping_time(self.trials)):
            setting = settings[noise.uniform_below(len(settings))]
            model = part.fit(self._trial(setting, own))
            noisy = float(spread([part.score(model)], share, length=_FINE)[0])
            mark = noisy, noise.default().bits(64)
            if best_mark is None or mark > best_mark:
                best_mark, kept = mark, (setting, model)
        assert kept is not None  # noqa: S101  there is at least one trial
        return kept

    @_fitted_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Return what the best model predicts."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @_fitted_has("score")  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """Return the exact score on these rows: for the owner's eyes."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    @_fitted_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @_fitted_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the best model."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)


def _told(price: Price) -> str:
    told = {
        "version": 1,
        "unit": "person" if price.persons else "row",
        "neighbours": price.neighbours,
        "rows": price.rows,
        "mechanisms": [describe(price.epsilon)],
    }
    return json.dumps(told, sort_keys=True)


def _stopping_time(trials: float) -> int:
    """Draw K with P(K = k) ∝ (1 - γ)^k / k, exactly: geometric, kept with chance 1/k.

    γ is the whole fraction for which about `trials` are expected.
    """
    steps = 2
    while (steps - 1) / np.log(steps) < trials:
        steps += 1
    while True:
        k = 1
        while noise.uniform_below(steps):
            k += 1
        if noise.uniform_below(k) == 0:
            return k


class _Parts:
    """The rows for fitting and for scoring: each row, or person, by its own coin."""

    def __init__(self, X: Any, y: Any, ids: Any, share: float, most: int) -> None:
        self.ids = ids
        first = coins(len(y), share, self.ids)
        kept = True if self.ids is None else first_rows(self.ids, most)
        self.fitting, self.scoring = (
            np.flatnonzero(first),
            np.flatnonzero(~first & kept),
        )
        # A list of no rows would not say how many columns there are.
        self.X = np.asarray(X, object) if isinstance(X, list | tuple) else X
        self.y = y

    def fit(self, model: Any) -> Any:
        ids = {} if self.ids is None else {"privacy_ids": self.ids[self.fitting]}
        rows = (
            _safe_indexing(self.X, self.fitting),
            _safe_indexing(self.y, self.fitting),
        )
        return model.fit(*rows, **ids)

    def score(self, model: Any) -> int:
        """Return Σ of scores in [0, 1], in whole steps: one row adds at most `_FINE`."""
        if not len(self.scoring):
            return 0
        rows = _safe_indexing(self.X, self.scoring)
        y = one_column(_safe_indexing(self.y, self.scoring))
        each: NDArray[np.float64]
        if is_regressor(model):
            span = Span(*model.y_bounds_)
            truth, there = targets_of(y, span)
            gap = (truth - numbers_of(model.predict(rows), span)) / 2
            each = np.where(there, 1 - gap**2, 0.0)
        else:
            place = truths(model, y)
            found = model.predict_proba(rows)
            right = found[np.arange(len(place)), np.maximum(place, 0)]
            each = np.where(place >= 0, 1 - (1 - right) ** 2, 0.0)
        whole = np.floor(np.clip(np.nan_to_num(each), 0, 1) * _FINE)
        return int(whole.sum(dtype=np.float64))
