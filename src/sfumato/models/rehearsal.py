"""What to expect of a model: the same fit, with the same noise, on made-up rows.

The rows are made up from public facts and from figures that were paid for; so what is
found costs nothing and says nothing more of the true rows. It answers one question: how
much of a known relation would be left, at this ε, with about so many rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.metrics import r2_score, roc_auc_score

from sfumato import noise
from sfumato.account import ZCDP
from sfumato.declare.schema import Category, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.models.budget import ModelBudget
from sfumato.models.declared import Feature, Span
from sfumato.models.door import Floats

__all__ = ["Expectation", "rehearse"]

_FITS = 12
_MOST, _LEAST, _TESTED = 5000, 10, 4000
_SPREAD = 0.3  # standard deviation of a made-up number, in halves of its bounds
_FINE = 1 << 20


@final
@dataclass(frozen=True, slots=True)
class Expectation:
    """What the same fit finds on made-up rows.

    Attributes:
        middle: Mean AUC of a classifier, mean R² of a regression.
        low: The worst of the rehearsals.
        high: The best of them.
        rows: How many rows each was fitted on.
    """

    middle: float
    low: float
    high: float
    rows: int


def rehearse(
    model: Any, *, hoped: float, rows: float, share: float = 0.5
) -> Expectation | None:
    """Fit a copy of a fitted model several times on made-up rows; none if it cannot.

    Numbers are normal about the middle of their bounds, keys are equally likely, all
    features are independent and count alike, and the relation is linear and as strong
    as `hoped` says.

    Formal guarantee: it reads no row. `rows` and `share` must be public or paid for.

    Args:
        model: A fitted binary classifier or regression of this package.
        hoped: The AUC, or R², of the relation itself: above 0.5, or 0, and below 1.
        rows: About how many rows there are; from 5,000 on, 5,000 are made up.
        share: About which share of them is of the second class.

    Examples:
        >>> x = np.tile(np.linspace(-1, 1, 20), 50).reshape(-1, 1)
        >>> from sfumato.models import LogisticRegression
        >>> model = LogisticRegression(
        ...     "1", budget=ModelBudget("1"), bounds=(-1, 1), classes=[0, 1]
        ... ).fit(x, (x[:, 0] > 0).astype(int))
        >>> found = rehearse(model, hoped=0.9, rows=2000)
        >>> 0.8 < found.middle < 0.93
        True
    """
    number = is_regressor(model)
    several = not number and len(model.classes_) != 2  # noqa: PLR2004
    if several or not (0.0 if number else 0.5) < hoped < 1:
        return None
    count = int(min(max(rows, _LEAST), _MOST))
    x, signal = _made_up(model.features_, count + _TESTED)
    if number:
        y = _numbers(signal, hoped, model.y_bounds_)
    else:
        y = model.classes_[_labels(signal, hoped, min(max(share, 0.02), 0.98))]
    found = [_once(model, x, y, count) for _ in range(_FITS)]
    return Expectation(float(np.mean(found)), min(found), max(found), count)


def _once(model: Any, x: NDArray[Any], y: NDArray[Any], count: int) -> float:
    """Return AUC or R² on the rows that were not fitted."""
    claim = model.privacy_claim_
    persons = np.arange(count) if claim["unit"] == "person" else None
    again = clone(model).set_params(**_facts(model, claim["neighbours"], count))
    again.fit(x[:count], y[:count], privacy_ids=persons)
    rest, truth = x[count:], y[count:]
    if is_regressor(again):
        return float(r2_score(truth, again.predict(rest)))
    score = again.predict_proba(rest)[:, 1]
    return float(roc_auc_score(truth == again.classes_[1], score))


def _facts(model: Any, neighbours: Any, count: int) -> dict[str, Any]:
    """Return the public facts of a fitted model as arguments, and a budget for play."""
    size = count if neighbours == "replace_one" else None
    columns = {
        f"x{j}": Real(f.lower, f.upper)
        if isinstance(f, Span)
        else Category([group[0] for group in f.cells])
        for j, f in enumerate(model.features_)
    }
    schema = Schema(columns, unit=Rows(neighbours=neighbours, size=size))
    budget = ModelBudget(ZCDP("1000000"), dataset="rehearsal")
    found = {"schema": schema, "budget": budget, "neighbours": None, "target": None}
    found |= {"bounds": None, "missing": None}
    if is_regressor(model):
        return {**found, "y_bounds": model.y_bounds_}
    return {**found, "classes": model.classes_.tolist()}


def _normal(count: int) -> Floats:
    return np.array(noise.whole_gaussian(_FINE, count), np.float64) / _FINE


def _uniform(count: int) -> Floats:
    return noise.default().words(count).astype(np.float64) / 2.0**64


def _made_up(features: tuple[Feature, ...], count: int) -> tuple[NDArray[Any], Floats]:
    """Return rows as they are measured, and a standardised linear score of them."""
    columns: list[NDArray[Any]] = []
    signal = np.zeros(count)
    for feature in features:
        if isinstance(feature, Span):
            z = np.clip(_SPREAD * _normal(count), -1, 1)
            half = (feature.upper - feature.lower) / 2
            columns.append(feature.lower + half + half * z)
            signal += z / _SPREAD
            continue
        keys = np.array([group[0] for group in feature.cells] + [None], object)
        most = max(len(feature.cells), 2)
        places = (_uniform(count) * most).astype(np.int64)
        columns.append(keys[places])
        signal += (places - (most - 1) / 2) / most
    kind: Any = float if all(c.dtype.kind == "f" for c in columns) else object
    x = np.empty((count, len(columns)), kind)
    for j, column in enumerate(columns):
        x[:, j] = column
    spread = float(signal.std())
    return x, (signal - signal.mean()) / (spread if spread > 0 else 1.0)


def _labels(signal: Floats, hoped: float, share: float) -> NDArray[np.int64]:
    """Return labels whose score has the AUC that was hoped for, by bisection."""
    coin = _uniform(len(signal))
    low, high = 0.0, 50.0
    labels = np.zeros(len(signal), np.int64)
    for _ in range(30):
        slope = (low + high) / 2
        raw = slope * signal + np.log(coin / (1 - coin))  # a logistic latent variable
        labels = (raw > np.quantile(raw, 1 - share)).astype(np.int64)
        if roc_auc_score(labels, signal) < hoped:
            low = slope
        else:
            high = slope
    return labels


def _numbers(signal: Floats, hoped: float, bounds: tuple[float, float]) -> Floats:
    low, high = bounds
    raw = np.sqrt(hoped) * signal + np.sqrt(1 - hoped) * _normal(len(signal))
    half = (high - low) / 2
    found: Floats = np.clip(low + half + half * _SPREAD * raw, low, high)
    return found
