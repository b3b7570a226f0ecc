"""Fitted models as plain scikit-learn objects, to serve where sfumato is not installed.

What is exported was paid for by the fit: private coefficients and public facts.
Missing codes and NaN are filled with the public middle by plain imputers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import (
    cluster,
    compose,
    decomposition,
    impute,
    linear_model,
    multiclass,
    pipeline,
    preprocessing,
)
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import DeclarationError
from sfumato.models.bayes import GaussianNB
from sfumato.models.clusters import KMeans
from sfumato.models.components import PCA
from sfumato.models.declared import Span
from sfumato.models.linear import LinearRegression
from sfumato.models.logistic import LinearClassifier, LogisticRegression
from sfumato.models.scaler import StandardScaler, bounds_of
from sfumato.words import N_

__all__ = ["to_sklearn"]


def to_sklearn(model: Any) -> Any:
    """Return a plain pipeline that predicts as the fitted model does.

    A plain regression does not clip its predictions to the target's bounds. Infinities,
    which count as the bound here, are refused there.

    Args:
        model: A fitted `LogisticRegression` or `LinearRegression` of degree 1, a
            `GaussianNB`, `PCA`, `KMeans` or `StandardScaler`, on numbers only.

    Raises:
        DeclarationError: The model has no plain counterpart.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import LogisticRegression, ModelBudget
        >>> x = np.tile(np.arange(10.0), 50).reshape(-1, 1)
        >>> model = LogisticRegression(
        ...     "1", budget=ModelBudget("1"), bounds=(0, 9), classes=[0, 1]
        ... ).fit(x, (x[:, 0] > 4).astype(int))
        >>> plain = to_sklearn(model)
        >>> bool((plain.predict(x) == model.predict(x)).all())
        True
    """
    check_is_fitted(model)
    spans = [f for f in model.features_ if isinstance(f, Span)]
    curved = getattr(model, "degree", 1) != 1
    if len(spans) < len(model.features_) or curved:
        raise _none(model)
    names = getattr(model, "feature_names_in_", None)
    steps: list[tuple[str, Any]] = [("missing", _filler(spans, names))]
    match model:
        case GaussianNB() | LogisticRegression():
            steps.append(("model", _classifier(model)))
        case LinearRegression():
            steps.append(("model", _line(model)))
        case KMeans():
            steps += [("scale", _scaler(spans)), ("model", _clusters(model))]
        case PCA():
            steps += [("scale", _scaler(spans, clip=False)), ("model", _axes(model))]
        case StandardScaler():
            steps.append(("model", _standard(model)))
        case _:
            raise _none(model)
    return pipeline.Pipeline(steps)


def _none(model: Any) -> DeclarationError:
    return DeclarationError(
        N_("{kind} has no plain counterpart in scikit-learn"),
        hint=N_("export linear models of numbers; save() keeps any model as JSON"),
        kind=type(model).__name__,
    )


def _filler(spans: list[Span], names: Any) -> Any:
    """Return imputers, fitted on public middles, that see no row."""
    parts = []
    for j, span in enumerate(spans):
        middle = (span.lower + span.upper) / 2
        codes = (float("nan"), *span.missing)
        fillers = [
            impute.SimpleImputer(
                missing_values=c, strategy="constant", fill_value=middle
            )
            for c in codes
        ]
        # Of largest size 1, it changes no number, only whole ones to floats.
        steps = pipeline.make_pipeline(preprocessing.MaxAbsScaler(), *fillers)
        parts.append((f"x{j}", steps, [j]))
    middles = np.array([[(s.lower + s.upper) / 2 for s in spans]])
    found = compose.ColumnTransformer(parts).fit(middles)
    for j, (_, steps, _) in enumerate(found.transformers_):
        steps[0].fit(np.ones((1, 1)))
        if names is not None:
            steps[0].feature_names_in_ = names[j : j + 1]
    return found


def _scaler(spans: list[Span], *, clip: bool = True) -> Any:
    low, high = bounds_of(spans)
    scaler = preprocessing.MinMaxScaler(feature_range=(-1, 1), clip=clip)
    return scaler.fit(np.stack([low, high]))


def _classifier(model: LinearClassifier) -> Any:
    from sfumato.models.table import Encoder

    coef, intercept = model._line.raw(Encoder(model.features_))  # noqa: SLF001
    if len(coef) == 1 or getattr(model, "solver_", "gnm") == "gnm":
        return _logistic(coef, intercept, model.classes_)
    several = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    several.estimators_ = [
        _logistic(coef[k : k + 1], intercept[k : k + 1], np.array([0, 1]))
        for k in range(len(coef))
    ]
    several.label_binarizer_ = preprocessing.LabelBinarizer().fit(model.classes_)
    several.classes_ = model.classes_
    several.n_features_in_ = coef.shape[1]
    return several


def _logistic(coef: Any, intercept: Any, classes: Any) -> Any:
    plain = linear_model.LogisticRegression()
    plain.coef_, plain.intercept_, plain.classes_ = coef, intercept, classes
    plain.n_features_in_, plain.n_iter_ = coef.shape[1], np.array([1])
    return plain


def _line(model: LinearRegression) -> Any:
    plain = linear_model.LinearRegression()
    plain.coef_, plain.intercept_ = model.coef_, model.intercept_
    plain.n_features_in_ = len(model.coef_)
    return plain


def _clusters(model: KMeans) -> Any:
    places = np.ascontiguousarray(model.cluster_centers_)
    plain = cluster.KMeans(n_clusters=len(places), init=places, n_init=1, max_iter=1)
    plain.fit(places)  # of its own centres: public numbers alone
    plain.cluster_centers_ = places
    return plain


def _axes(model: PCA) -> Any:
    plain = decomposition.PCA(n_components=len(model.components_))
    plain.components_, plain.mean_ = model.components_, model.mean_
    plain.explained_variance_ = model.explained_variance_
    plain.explained_variance_ratio_ = model.explained_variance_ratio_
    plain.n_components_, plain.n_features_in_ = len(model.components_), len(model.mean_)
    return plain


def _standard(model: StandardScaler) -> Any:
    plain = preprocessing.StandardScaler(
        with_mean=model.with_mean, with_std=model.with_std
    )
    plain.mean_, plain.scale_ = model.mean_, model.scale_
    plain.var_, plain.n_features_in_ = model.scale_**2, len(model.mean_)
    return plain
