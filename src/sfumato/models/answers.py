"""What a model says of private rows, each row by itself, whatever its cells are.

A test promises that a row moves its own cell or sums and nothing else. The models of this
package keep to that. Of others nothing is known: one may refuse a whole table because
of one cell, which after a debit would tell neighbours apart, or round a row by its place
among the others. So they are asked about one row at a time, and a row that is refused has
no answer.

Batches cannot keep the promise, not even with a return to single rows where one fails. A
row more shifts which rows share a batch, and one that is refused sends the others of its
batch another way; a library may round a row in a batch otherwise than alone (matrix
products do), and one bit moves a row into another bin. So one row could move the cells of
many. How long it takes is told to whoever holds the rows and no one else.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from sfumato.models.door import Floats
from sfumato.models.estimator import PrivateEstimator
from sfumato.models.progress import TESTING, tick, watching
from sfumato.models.table import labels_of

__all__ = ["answers", "chosen", "truths"]


def chosen(model: Any) -> Any:
    """Return the model of this package that a search has kept; else the model itself."""
    best = getattr(model, "best_estimator_", None)
    return best if isinstance(best, PrivateEstimator) else model


def truths(model: Any, y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the place of each label among a model's classes; -1 for any other label.

    They are read as the fit read its own: a boolean target has several spellings.
    """
    own = chosen(model)
    labels = own.labels_read(y) if isinstance(own, PrivateEstimator) else y
    return labels_of(labels, model.classes_)


def answers(model: Any, method: str, X: Any, rows: int, width: int) -> Floats:
    """Return what a model says of each row, shape (rows, width); NaN of none.

    Formal guarantee: what is said of a row follows from the row and the model, for
    models without a memory of what they were asked before.

    Args:
        model: A fitted model.
        method: ``"predict"`` or ``"predict_proba"``.
        X: The table.
        rows: Its number of rows.
        width: Numbers that are said of a row.
    """
    ask = getattr(model, method)
    found = np.full((rows, width), np.nan)
    if isinstance(model, PrivateEstimator):
        if rows:  # of none they say, as scikit-learn asks, that they will not
            found[:] = np.asarray(ask(X), np.float64).reshape(rows, width)
        return found
    table = X.tocsr() if hasattr(X, "tocsr") else X
    name = type(model).__name__
    with warnings.catch_warnings(), watching(name, rows, telling=TESTING):
        warnings.simplefilter("ignore")  # a warning would tell of a cell
        for i in range(rows):
            tick()
            with suppress(Exception):
                said = ask(_safe_indexing(table, slice(i, i + 1)))
                found[i] = np.asarray(said, np.float64).reshape(width)
    return found
