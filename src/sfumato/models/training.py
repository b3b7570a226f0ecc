"""Train a model on a declared dataset: open, check, pay, fit, and test for a price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato import models, noise
from sfumato.account import Loss
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.errors import BudgetExceededError, DeclarationError
from sfumato.models.budget import ModelBudget
from sfumato.models.cells import OpenedCells, open_cells
from sfumato.models.evaluation import Evaluation, evaluate
from sfumato.models.price import read_price
from sfumato.words import N_

__all__ = ["Order", "Trained", "Training"]


@final
@dataclass(frozen=True, slots=True)
class Order:
    """What shall be learned; all of it is public.

    Attributes:
        estimator: Name of an estimator of `sfumato.models`.
        target: The column to predict.
        features: The columns to predict from; empty for all others.
        epsilon: ε of the fit.
        delta: δ of the fit, or none.
        options: Further arguments of the estimator.
        test_share: Share of the rows kept for the test.
        test_epsilon: ε of the private test; none for no test.
    """

    estimator: str
    target: str
    features: tuple[str, ...] = ()
    epsilon: Any = None
    delta: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    test_share: float = 0.25
    test_epsilon: Any = None


@final
@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and what a private test said of it.

    Attributes:
        model: The fitted estimator.
        features: The names of its columns, in order.
        test: The private test, or none.
        spent: What fit and test were charged together.
    """

    model: Any
    features: tuple[str, ...]
    test: Evaluation | None
    spent: Loss


@final
class Training:
    """An order on an opened table: checked, not yet paid.

    Args:
        dataset: The table and its declarations.
        order: What shall be learned.
        budget: What pays.

    Raises:
        DeclarationError: The order does not fit the schema. Nothing was spent.
        SourceError: The table cannot be opened. Nothing was spent.
        BudgetExceededError: Fit and test cost more than is left. Nothing was spent.
    """

    def __init__(self, dataset: Dataset, order: Order, budget: ModelBudget) -> None:
        """Open the table and check everything that needs no row."""
        schema = dataset.schema
        schema[order.target]
        names = order.features or tuple(n for n in schema if n != order.target)
        if order.target in names:
            raise DeclarationError(
                N_("the target {name} cannot be a feature too"),
                hint=N_("leave it out of features"),
                name=repr(order.target),
            )
        known = {n: schema[n] for n in (*names, order.target)}
        self.features, self._order, self._budget = tuple(names), order, budget
        self._schema = Schema(known, schema.unit)
        self._model = self._estimator()
        self._cells: OpenedCells = open_cells(dataset)
        left = budget.left
        if not self.cost.fits(left):  # type: ignore[arg-type]  # one currency
            raise BudgetExceededError(
                N_("fit and test cost {cost}, {left} is left"),
                hint=N_("ask for less, or ask the data owner for another budget"),
                cost=str(self.cost),
                left=str(left),
            )

    @property
    def left(self) -> Loss:
        """What can still be spent."""
        return self._budget.left

    @property
    def cost(self) -> Loss:
        """What fit and test will be charged together."""
        order, unit = self._order, self._schema.unit
        prices = [read_price(order.epsilon, order.delta or 0, unit.neighbours)]
        if order.test_epsilon is not None:
            prices.append(read_price(order.test_epsilon, 0, unit.neighbours))
        first, *rest = (p.loss(self._budget.measure) for p in prices)
        for loss in rest:
            first = first + loss  # type: ignore[operator]  # one currency
        return first

    def run(self) -> Trained:
        """Pay, fit; pay, test. Each row is fitted or tested, by its own coin.

        Raises:
            EngineError: Something failed after a debit, which stands.
        """
        order = self._order
        cells = self._cells.read([*self.features, order.target])
        y = cells.pop(order.target)
        x = _matrix([cells[n] for n in self.features])
        first = _coins(len(y), order.test_share) if order.test_epsilon else None
        chosen = np.ones(len(y), bool) if first is None else first
        model = self._model.fit(x[chosen], y[chosen])
        test = None
        if first is not None and hasattr(model, "classes_"):
            test = evaluate(
                model,
                x[~chosen],
                y[~chosen],
                epsilon=order.test_epsilon,
                budget=self._budget,
                neighbours=self._schema.unit.neighbours,
            )
        return Trained(model, self.features, test, self.cost)

    def _estimator(self) -> Any:
        order = self._order
        kind = getattr(models, order.estimator)
        column = self._schema[order.target]
        number = isinstance(column, Real | Integer)
        if hasattr(kind(), "y_bounds") != number:
            raise DeclarationError(
                N_("{estimator} cannot predict {name}"),
                hint=N_(
                    "predict a category with a classifier, a number with a regression"
                ),
                estimator=order.estimator,
                name=repr(order.target),
            )
        if number and order.test_epsilon is not None:
            raise DeclarationError(
                N_("a private test of a regression is not there yet"),
                hint=N_("leave test_epsilon out"),
            )
        taken = {"epsilon", "delta", "budget", "schema", "target", "on_leak"}
        unknown = set(order.options) - (set(kind().get_params()) - taken)
        if unknown:
            raise DeclarationError(
                N_("{estimator} has no option {name}"),
                hint=N_("leave it out, or see docs/models"),
                estimator=order.estimator,
                name=repr(min(unknown)),
            )
        return kind(
            epsilon=order.epsilon,
            delta=order.delta or 0,
            budget=self._budget,
            schema=self._schema,
            target=order.target,
            **order.options,
        )


def _matrix(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as one array: of floats, or of objects where a key stands."""
    kind: type[Any] = float if all(c.dtype.kind == "f" for c in columns) else object
    found = np.empty((len(columns[0]), len(columns)), kind)
    for place, column in enumerate(columns):
        found[:, place] = column
    return found


def _coins(count: int, test_share: float) -> NDArray[np.bool_]:
    """Return which rows are fitted: an own coin for each, so one row moves no other."""
    edge = int(Fraction(1 - test_share) * 2**64)
    found: NDArray[np.bool_] = noise.default().words(count) < np.uint64(edge)
    return found
