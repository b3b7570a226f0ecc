"""A small logistic regression, to ask how well synthetic rows train a model."""

from __future__ import annotations

import numpy as np

from sfumato.synth.model import Array

__all__ = ["auc", "fit_logistic"]

_STEPS, _RIDGE = 30, 1.0


def fit_logistic(features: Array, labels: Array) -> Array:
    """Return the weights of a ridge-penalised logistic regression, the last one constant.

    Newton's method on at most a few hundred features (Hastie, Tibshirani, Friedman 2009,
    section 4.4).
    """
    x = np.hstack([features, np.ones((len(features), 1))])
    weights = np.zeros(x.shape[1])
    ridge = np.full(x.shape[1], _RIDGE)
    ridge[-1] = 1e-6
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - labels) + ridge * weights
        curvature = (x.T * (p * (1 - p))) @ x + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-6:  # noqa: PLR2004  near enough
            break
    return weights


def auc(scores: Array, labels: Array) -> float | None:
    """Return the chance that a positive scores above a negative; none without both.

    Examples:
        >>> auc(np.array([0.1, 0.9, 0.4]), np.array([0.0, 1.0, 0.0]))
        1.0
    """
    positive, negative = scores[labels > 0], scores[labels <= 0]
    if not len(positive) or not len(negative):
        return None
    order = np.sort(negative)
    below = np.searchsorted(order, positive, "left")
    upto = np.searchsorted(order, positive, "right")
    return float((below + upto).sum() / (2 * len(positive) * len(negative)))
