"""Train a model on a declared dataset: open, check, pay, fit, and test for a price."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from sfumato import models
from sfumato.account import Loss
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.errors import (
    BudgetExceededError,
    DeclarationError,
    EngineError,
    SfumatoError,
)
from sfumato.models.budget import ModelBudget
from sfumato.models.cells import OpenedCells, learnable, open_cells
from sfumato.models.evaluation import Evaluation, evaluate
from sfumato.models.parts import coins, shuffled
from sfumato.models.price import Price, read_price
from sfumato.models.rehearsal import Expectation, rehearse
from sfumato.models.residuals import RegressionEvaluation, evaluate_regression
from sfumato.secret import Quiet
from sfumato.words import N_

__all__ = ["Lesson", "Order", "Trained", "Training"]


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
        hoped: AUC or R² without any privacy, as far as others have found it.
        rows: A public guess of the number of rows; default what the test says.
    """

    estimator: str
    target: str
    features: tuple[str, ...] = ()
    epsilon: Any = None
    delta: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    test_share: float = 0.25
    test_epsilon: Any = None
    hoped: float | None = None
    rows: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and what a private test said of it.

    Attributes:
        model: The fitted estimator.
        features: The names of its columns, in order.
        test: The private test, or none.
        spent: What fit and test were charged together.
        expectation: What the same fit finds on made-up rows, or none.
    """

    model: Any
    features: tuple[str, ...]
    test: Evaluation | RegressionEvaluation | None
    spent: Loss
    expectation: Expectation | None = None


@final
class Lesson:
    """An order that fits a schema: all is checked that needs no table.

    Args:
        schema: What is declared of the table.
        order: What shall be learned.
        budget: What pays.

    Raises:
        DeclarationError: The order does not fit the schema. Nothing was spent.
    """

    def __init__(self, schema: Schema, order: Order, budget: ModelBudget) -> None:
        """Check; opens nothing and spends nothing."""
        unit = schema.unit
        schema[order.target]
        names = order.features or tuple(n for n in schema if n != order.target)
        if order.target in names:
            raise DeclarationError(
                N_("the target {name} cannot be a feature too"),
                hint=N_("leave it out of features"),
                name=repr(order.target),
            )
        known = {n: learnable(n, schema[n]) for n in (*names, order.target)}
        self.features, self.order, self._measure = tuple(names), order, budget.measure
        self.persons, self.most = isinstance(unit, Unit), unit.max_rows
        self.schema = Schema(known, Rows(neighbours=unit.neighbours, size=unit.size))
        self.model = self._estimator(budget)

    @property
    def cost(self) -> Loss:
        """What fit and test will be charged together."""
        order = self.order
        prices = [self._price(order.epsilon, order.delta or 0)]
        if order.test_epsilon is not None:
            prices.append(self._price(order.test_epsilon, 0))
        first, *rest = (p.loss(self._measure) for p in prices)
        for loss in rest:
            first = first + loss  # type: ignore[operator]  # one currency
        return first

    @property
    def digest(self) -> str:
        """What the receipt of the fit will say it paid for."""
        order = self.order
        price = self._price(order.epsilon, order.delta or 0)
        facts = self.model._check(*_nothing(len(self.features))).facts  # noqa: SLF001
        return str(self.model._digest(facts, price))  # noqa: SLF001

    def _price(self, epsilon: Any, delta: Any) -> Price:
        neighbours = self.schema.unit.neighbours
        rows = self.most if self.persons else None
        return read_price(epsilon, delta, neighbours, rows, persons=self.persons)

    def _estimator(self, budget: ModelBudget) -> Any:
        order = self.order
        kind = getattr(models, order.estimator)
        column = self.schema[order.target]
        number = isinstance(column, Real | Integer)
        if is_regressor(kind()) != number:
            raise DeclarationError(
                N_("{estimator} cannot predict {name}"),
                hint=N_(
                    "predict a category with a classifier, a number with a regression"
                ),
                estimator=order.estimator,
                name=repr(order.target),
            )
        taken = {"epsilon", "delta", "budget", "schema", "target", "on_leak"}
        taken |= {"neighbours", "rows_per_person"}  # the unit says both
        unknown = set(order.options) - (set(kind().get_params()) - taken)
        if unknown:
            raise DeclarationError(
                N_("{estimator} has no option {name}"),
                hint=N_("leave it out, or see docs/models"),
                estimator=order.estimator,
                name=repr(min(unknown)),
            )
        model = kind(
            epsilon=order.epsilon,
            delta=order.delta or 0,
            budget=budget,
            schema=self.schema,
            target=order.target,
            rows_per_person=self.most if self.persons else None,
            **order.options,
        )
        model._least_rows = 0  # noqa: SLF001  an error would tell that there is no row
        model._check(*_nothing(len(self.features)))  # noqa: SLF001  refuse wrong options now
        return model


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
        lesson = Lesson(dataset.schema, order, budget)
        self.features, self._order, self._budget = lesson.features, order, budget
        self._persons, self._most = lesson.persons, lesson.most
        self._schema, self._model = lesson.schema, lesson.model
        self.cost: Loss = lesson.cost
        self._cells: OpenedCells = open_cells(dataset)
        dataset.pay_from(budget.dataset)
        left = budget.left
        if not self.cost.fits(left):  # type: ignore[arg-type]  # one currency
            raise BudgetExceededError(
                N_("fit and test cost {cost}, {left} is left"),
                hint=N_("ask for less, or ask the data owner for another budget"),
                cost=str(self.cost),
                left=str(left),
            )

    def pay_from(self, budget: ModelBudget) -> None:
        """Let another budget of the same kind pay.

        All may be checked with a budget in memory, so that no ledger begins for nothing.
        """
        self._budget = self._model.budget = budget

    def run(self, keep: Callable[[Any], None] = lambda _: None) -> Trained:
        """Pay, fit; pay, test. Each row, or person, is fitted or tested, by an own coin.

        No table makes it raise: also one without rows gives a model, which is noise.

        Args:
            keep: Is given the fitted model before its test is paid for, so that a test
                that is refused, fails or is broken off loses no model.

        Raises:
            EngineError: Something failed; it was paid for, and the debit stands.
        """
        kept = _Kept(keep)
        with Quiet(SfumatoError) as work:
            return self._run(kept)
        kept.tell()
        raise work.stop

    def _run(self, keep: Callable[[Any], None]) -> Trained:
        order = self._order
        cells = self._cells.read([*self.features, order.target])
        if cells is None:  # reading may fail because of a row, so it costs the same
            self._budget.pay(self.cost, plan=self._digest())
            raise EngineError
        x = _matrix([cells.columns[n] for n in self.features])
        table = _Table(x, cells.columns[order.target], cells.persons)
        if cells.persons is not None:
            table = table.of(shuffled(cells.rows))
        if order.test_epsilon is None:
            model = self._fit(table)
            keep(model)
            return self._told(model, None)
        first = coins(cells.rows, 1 - order.test_share, table.persons)
        model = self._fit(table.of(first))
        keep(model)
        return self._told(model, self._test(model, table.of(~first)))

    def _told(
        self, model: Any, test: Evaluation | RegressionEvaluation | None
    ) -> Trained:
        """Add what could be expected: of public facts and of what was paid for."""
        order, expectation = self._order, None
        rows, share = order.rows, 0.5
        if test is not None:
            kept = order.test_share
            rows = rows or int(test.rows * (1 - kept) / kept)
            if isinstance(test, Evaluation):
                share = float(np.maximum(test.cells, 0)[1].sum() / max(test.rows, 1.0))
        if rows is not None and order.hoped is not None:
            with suppress(Exception):  # what was paid for must not be lost to a guess
                expectation = rehearse(model, hoped=order.hoped, rows=rows, share=share)
        return Trained(model, self.features, test, self.cost, expectation)

    def _fit(self, table: _Table) -> Any:
        return self._model.fit(table.x, table.y, privacy_ids=table.persons)

    def _test(self, model: Any, table: _Table) -> Evaluation | RegressionEvaluation:
        test = evaluate_regression if is_regressor(model) else evaluate
        return test(
            model,
            table.x,
            table.y,
            epsilon=self._order.test_epsilon,
            budget=self._budget,
            neighbours=self._schema.unit.neighbours,
            privacy_ids=table.persons,
            rows_per_person=self._most if self._persons else None,
        )

    def _digest(self) -> str:
        text = repr((self._order, self.features))
        return hashlib.sha256(text.encode()).hexdigest()


@final
class _Kept:
    """Whatever keeps the fitted model, and its own error, which names no row."""

    def __init__(self, keep: Callable[[Any], None]) -> None:
        self._keep, self._error = keep, list[Exception]()

    def __call__(self, model: Any) -> None:
        try:
            self._keep(model)
        except Exception as error:
            self._error.append(error)
            raise

    def tell(self) -> None:
        """Raise the error again, if there was one; its frames go no further up."""
        for error in self._error:
            raise error.with_traceback(None)


@final
@dataclass(frozen=True, slots=True)
class _Table:
    """Rows, their targets, and whose they are."""

    x: NDArray[Any]
    y: NDArray[Any]
    persons: NDArray[Any] | None

    def of(self, rows: NDArray[Any]) -> _Table:
        owners = None if self.persons is None else self.persons[rows]
        return _Table(self.x[rows], self.y[rows], owners)


def _nothing(features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a table of one made-up row, and its target: all else is public."""
    return np.zeros((1, features)), np.zeros(1)


def _matrix(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as one array: of floats, or of objects where a key stands."""
    kind: type[Any] = float if all(c.dtype.kind == "f" for c in columns) else object
    found = np.empty((len(columns[0]), len(columns)), kind)
    for place, column in enumerate(columns):
        found[:, place] = column
    return found
