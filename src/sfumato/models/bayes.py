"""Gaussian naive Bayes under differential privacy, with one variance for all classes."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sfumato.models.centre import Frame, clipped, widened
from sfumato.models.door import (
    UNIT,
    Floats,
    Share,
    described,
    deviation,
    lattice,
    noisy,
    spread,
)
from sfumato.models.estimator import Facts, Job
from sfumato.models.line import Line
from sfumato.models.logistic import LinearClassifier
from sfumato.models.price import Price, Pure
from sfumato.models.work import Work

__all__ = ["GaussianNB"]

_REACH, _CONSTANT = 0.5, 0.5
_SQUARES = Fraction(1, 4)


class GaussianNB(LinearClassifier):
    """Gaussian naive Bayes with pooled variances: a linear rule from class means.

    Formal guarantee: (ε, δ)-DP. The sums of each class are disjoint in rows, so each
    costs the same three quarters of the budget (parallel composition); the pooled
    squares cost the rest. Pooling and shrinking the variances is post-processing.

    Arguments, errors and the meaning of each are those of `LogisticRegression`.

    Attributes:
        theta_: Private mean of each class, on features scaled to [-1, 1].
        var_: Private pooled variance of each feature, likewise.
        class_prior_: Private share of each class.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import ModelBudget
        >>> x = np.tile(np.arange(10.0), 100).reshape(-1, 1)
        >>> model = GaussianNB(
        ...     epsilon="2", budget=ModelBudget("2"), bounds=(0, 9), classes=[0, 1]
        ... ).fit(x, (x[:, 0] > 4).astype(int))
        >>> model.predict([[0.0], [9.0]]).tolist()
        [0, 1]
    """

    def _job(self, facts: Facts, price: Price) -> Job:
        sums, squares = price.share().split(1 - _SQUARES, _SQUARES)
        classes = len(facts.classes)  # type: ignore[arg-type]

        def run(work: Work) -> dict[str, Any]:
            means, shares, pooled = _moments(work, classes, sums, squares)
            return {
                "_line": _rule(means, shares, pooled),
                "theta_": means,
                "var_": pooled,
                "class_prior_": shares,
            }

        return Job([described(sums), described(squares)], run, passes=1)


def _moments(
    work: Work, classes: int, first: Share, second: Share
) -> tuple[Floats, Floats, Floats]:
    """Return class means, shares and the pooled variances, all of noisy sums."""
    radius = _REACH * sqrt(work.width)
    frame = Frame(np.zeros(work.width), radius, _CONSTANT)
    whole = np.zeros((classes, work.width + 1), np.int64)
    squares = np.zeros(work.width, np.int64)
    for rows, labels in work.pairs():
        steps = lattice(widened(rows, radius, _CONSTANT))
        for k in range(classes):
            whole[k] += steps[labels == k].sum(axis=0, dtype=np.int64)
        inside = lattice(clipped(rows, radius) / (radius * (1 + 2.0**-40)))
        # A row's squares, over UNIT**2 and cut to steps of 1/UNIT, add up to at most 1.
        squares += (inside.astype(np.int64) ** 2 >> 18).sum(axis=0)
    sums = np.stack([noisy(row, first) for row in whole]) / UNIT * frame.size
    counts = np.maximum(sums[:, -1] / (_CONSTANT * radius), 1.0)
    means = np.clip(sums[:, :-1] / counts[:, None], -1, 1)
    rows = counts.sum()
    shares = np.maximum(counts / rows, 1e-3)
    shares /= shares.sum()
    found = spread(squares, second) / UNIT * radius**2 / rows - shares @ means**2
    return means, shares, _shrunk(found, second, radius, rows)


def _shrunk(found: Floats, share: Share, radius: float, rows: float) -> Floats:
    """Weigh each variance against a public guess, by the noise in it."""
    guess = radius**2 / len(found) / 2
    if isinstance(share, Pure):
        noise = sqrt(2) * share.changes * radius**2 / float(share.epsilon.value)
    else:
        noise = deviation(share, len(found), length=radius**2)
    noise = (noise / rows) ** 2
    weighed = (found * guess**2 + guess * noise) / (guess**2 + noise)
    return np.clip(weighed, guess / 10, 1.0)


def _rule(means: Floats, shares: Floats, pooled: Floats) -> Line:
    """Return log posteriors, up to what classes share: linear in the features."""
    slopes = (means / pooled).T
    offset = np.log(shares) - (means**2 / pooled).sum(axis=1) / 2
    if len(shares) == 2:  # noqa: PLR2004
        return Line(slopes[:, 1:] - slopes[:, :1], offset[1:] - offset[:1])
    return Line(slopes, offset)
