"""What a project wants to learn or to make, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

from sfumato.account import Loss
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.errors import BudgetExceededError, DeclarationError
from sfumato.models.price import read_price
from sfumato.project.learned import ModelTable
from sfumato.project.load import Project
from sfumato.project.place import placed
from sfumato.project.standing import Standing
from sfumato.project.synthetic import MadeTable
from sfumato.words import N_

__all__ = ["check_made"]


def check_made(project: Project, standing: Standing) -> None:
    """Refuse models and synthetic tables of unknown columns, or beyond the budget.

    Args:
        project: The declarations.
        standing: What is left to spend.

    Raises:
        ProjectError: A column is not declared. Nothing was read and nothing spent.
        BudgetExceededError: What they cost is more than is left. Nothing was spent.
    """
    where, schema = project.path.name, project.dataset.schema
    for model in project.models:
        with placed(f"{where}: models, {model.name!r}"):
            _check_columns(schema, [model.target, *model.features])
            if model.target in model.features:
                raise DeclarationError(
                    N_("the target {name} cannot be a feature too"),
                    hint=N_("leave it out of features"),
                    name=repr(model.target),
                )
    if project.models:
        prices = [p for model in project.models for p in _prices(project, model)]
        _afford(reduce(add, prices), standing, N_("fit and test cost {cost}, {left} is left"))  # fmt: skip
    asked = project.synthetic
    if asked is None:
        return
    with placed(f"{where}: synthetic"):
        _check_columns(schema, _named(asked.table))
    private = project.dataset.private
    for table in asked.table.tables:
        if table.name in private:
            with placed(f"{where}: synthetic, {table.name!r}"):
                own, lent = private[table.name].schema, f"{project.dataset.name}."
                names = list(
                    _named(table)
                )  # those of the head table stand behind its name
                borrowed = [n for n in names if n.startswith(lent) and n not in own]
                _check_columns(schema, (n.removeprefix(lent) for n in borrowed))
                _check_columns(own, (n for n in names if n not in borrowed))
    _afford(asked.loss, standing, N_("the synthetic table costs {cost}, {left} is left"))  # fmt: skip


def _check_columns(schema: Schema, names: Iterable[str]) -> None:
    for name in names:
        schema[name]


def _named(table: MadeTable) -> Iterator[str]:
    """Iterate over the names of declared columns that a synthetic table speaks of."""
    yield from table.columns
    yield from table.weights
    if not isinstance(table.complete, bool):
        yield from table.complete
    for several in (*table.marginals, *table.forbid):
        yield from several


def _prices(project: Project, model: ModelTable) -> Iterator[Any]:
    """Iterate over what a fit and its test cost, in the budget's currency."""
    unit, measure = project.dataset.schema.unit, project.budget.cap.measure
    persons = isinstance(unit, Unit)
    rows = unit.max_rows if persons else None
    with placed(f"{project.path.name}: models, {model.name!r}"):
        for epsilon, delta in ((model.epsilon, model.delta), (model.test_epsilon, 0)):
            if epsilon is not None:
                price = read_price(
                    epsilon, delta or 0, unit.neighbours, rows, persons=persons
                )
                yield price.loss(measure)


def _afford(cost: Loss, standing: Standing, fact: str) -> None:
    for left in (standing.left, *(left for _, left in standing.limits)):
        if not cost.fits(left):  # type: ignore[arg-type]  # one currency
            raise BudgetExceededError(
                fact,
                hint=N_("ask for less, or ask the data owner for another budget"),
                cost=str(cost),
                left=str(left),
            )
