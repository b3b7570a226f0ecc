"""What a project wants to learn or to make, checked before anything is opened."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from sfumato.account import Loss
from sfumato.declare.schema import Schema
from sfumato.errors import BudgetExceededError, DeclarationError, nearest
from sfumato.project.learned import ModelTable, order_of, refuse_names
from sfumato.project.load import Project
from sfumato.project.place import place_of, placed
from sfumato.project.spend import fits, spends
from sfumato.project.standing import Standing
from sfumato.project.synthetic import AskedTable
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.synth.run import Layout

__all__ = ["afford_table", "check_made", "check_owner", "knows_models", "layouts_of"]

_TOO_DEAR = {
    "train": N_("fit and test cost {cost}, {left} is left"),
    "synth": N_("the synthetic table costs {cost}, {left} is left"),
}


def knows_models() -> bool:
    """Tell whether scikit-learn is there, without which models are checked in part."""
    return find_spec("sklearn") is not None


def check_made(project: Project, standing: Standing) -> None:
    """Refuse what ``train`` and ``synth`` would refuse, from the declarations alone.

    Args:
        project: The declarations.
        standing: What is left to spend.

    Raises:
        ProjectError: A model or a synthetic table does not fit the declared columns, the
            budget's currency or its own settings. Nothing was read and nothing spent.
        BudgetExceededError: What they cost is more than is left. Nothing was spent.
    """
    where = project.path.name
    refuse_names([wish.name for wish in project.models], where)
    for wish in project.models:
        with placed(f"{where}: {place_of('models', wish.name)}"):
            _check_model(project, wish)
    if project.synthetic is not None:
        with placed(f"{where}: synthetic"):
            _check_table(project, project.synthetic)
    for spend in spends(project):
        if spend.command != "run":
            _afford(spend.cost, standing, _TOO_DEAR[spend.command])


def _check_model(project: Project, wish: ModelTable) -> None:
    schema = project.dataset.schema
    for name in (wish.target, *wish.features):
        schema[name]
    if not knows_models():
        return
    from sfumato.models.budget import ModelBudget
    from sfumato.models.training import Lesson

    budget = ModelBudget(project.budget, dataset=project.dataset.name)  # in memory
    Lesson(schema, order_of(wish), budget)


def _check_table(project: Project, asked: AskedTable) -> None:
    check_owner(layouts_of(project, asked)[""], asked, project.dataset.schema)


def layouts_of(project: Project, asked: AskedTable) -> dict[str, Layout]:
    """Return what ``synth`` will do for each table, the head's under the empty name.

    Raises:
        DeclarationError: The settings do not fit. Nothing was opened.
    """
    from sfumato.synth.layout import layout_of

    dataset = project.dataset
    if asked.table.tables:
        others = {one.name: dataset.private[one.name] for one in asked.table.tables}
        return asked.table.linked().layouts(dataset, others, asked.loss)
    options = asked.table.synthesizer().options
    return {"": layout_of(dataset.name, dataset.schema, options, asked.loss)}


def afford_table(asked: AskedTable, standing: Standing) -> None:
    """Refuse a synthetic table that costs more than is left.

    Raises:
        BudgetExceededError: With both amounts. Nothing was spent.
    """
    _afford(asked.loss, standing, _TOO_DEAR["synth"])


def check_owner(layout: Layout, asked: AskedTable, schema: Schema) -> None:
    """Refuse what the owner's page could not tell, before the debit."""
    made = {grid.name for grid in layout.grids}
    target = asked.table.target
    if target:
        keys = getattr(schema[target], "values", ())
        if len(keys) != 2 or target not in made:  # noqa: PLR2004
            raise DeclarationError(
                N_("column {name} cannot be predicted: it has not two declared keys"),
                hint=N_("name a category of two keys, or a boolean"),
                name=repr(target),
            )
    made |= set(asked.table.surrogates) | set(asked.table.dependent)
    for name in asked.table.quasi_identifiers:
        if name not in made:
            raise DeclarationError(
                N_("unknown column {name}"),
                hint=N_("did you mean {near}?"),
                name=repr(name),
                near=nearest(name, made),
            )


def _afford(cost: Loss, standing: Standing, fact: str) -> None:
    if fits(cost, standing):
        return
    lefts = (standing.left, *(left for _, left in standing.limits))
    raise BudgetExceededError(
        fact,
        hint=N_("ask for less, or ask the data owner for another budget"),
        cost=str(cost),
        left=str(next(x for x in lefts if not cost.fits(x))),  # type: ignore[arg-type]
    )
