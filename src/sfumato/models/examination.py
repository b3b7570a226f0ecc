"""A private test is paid like a fit: check, debit, look at rows, one fixed error."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from sfumato import noise
from sfumato.models.budget import read_budget
from sfumato.models.claim import claim_of
from sfumato.models.door import Floats
from sfumato.models.estimator import PrivateEstimator
from sfumato.models.price import Price
from sfumato.models.table import as_columns, first_rows
from sfumato.secret import Quiet

__all__ = ["check_columns", "examined"]


def check_columns(model: Any, X: Any) -> None:
    """Refuse an unfitted model, and a table that `as_columns` or the model refuses.

    Raises:
        NotFittedError: The model is not fitted. Nothing was spent.
        ValueError: The columns are not those of the fit. Nothing was spent.
        TypeError: The table is sparse, or a cell is a container. Nothing was spent.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
        validate_data(model, X, reset=False, skip_check_array=True)
    if isinstance(model, PrivateEstimator):
        as_columns(X, type(model).__name__, least=0)


def examined(
    budget: Any,
    price: Price,
    told: object,
    mechanism: Mapping[str, object],
    look: Callable[[NDArray[np.bool_] | None], Floats],
    persons: NDArray[Any] | None = None,
) -> tuple[Floats, dict[str, Any]]:
    """Pay, then return the noisy numbers of a test and its claim.

    Args:
        budget: A `ModelBudget` or a `Session` that pays.
        price: What the test may lose.
        told: What it asks, for the plan's digest; public.
        mechanism: The ledger's descriptor of all noise that `look` adds.
        look: Looks at the rows that it is told to keep (none: all) and adds noise.
        persons: The person of each row.

    Raises:
        DeclarationError: Nothing that can pay. Nothing was spent.
        BudgetExceededError: The budget refused. Nothing was spent.
        EngineError: `look` failed. The debit stands.
    """
    pays = read_budget(budget)
    pays.check(price)
    loss = price.loss(pays.measure)
    descriptor = {
        "version": 1,
        "unit": "person" if price.persons else "row",
        "neighbours": price.neighbours,
        "mechanisms": [dict(mechanism)],
    }
    paid = pays.pay(
        loss,
        plan=hashlib.sha256(repr((told, price)).encode()).hexdigest(),
        descriptor=json.dumps(descriptor, sort_keys=True),
    )
    private = noise.default().secure
    with Quiet() as work, np.errstate(all="ignore"):
        found = look(None if persons is None else first_rows(persons, price.rows))
        return found, claim_of(price, loss, paid, private=private)
    raise work.stop
