"""What a project wants to learn or to make, checked before anything is opened."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from sfumato.account import ApproxDP, Loss
from sfumato.declare.schema import Schema
from sfumato.errors import DeclarationError, nearest
from sfumato.project.learned import ModelTable, order_of, price_of, refuse_names
from sfumato.project.load import Project
from sfumato.project.paid import Due, Piece, refuse_short
from sfumato.project.place import place_of, placed
from sfumato.project.standing import Standing
from sfumato.project.synthetic import AskedTable
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.models.training import Lesson
    from sfumato.synth.run import Layout

__all__ = [
    "afford_table",
    "check_made",
    "check_owner",
    "cost_with_delta",
    "knows_models",
    "layouts_of",
]


def knows_models() -> bool:
    """Tell whether scikit-learn is there, without which models are checked in part."""
    return find_spec("sklearn") is not None


def check_made(project: Project) -> tuple[Piece, ...]:
    """Refuse what ``train`` and ``synth`` would refuse, from the declarations alone.

    Args:
        project: The declarations.

    Returns:
        What the project asks for, the releases first.

    Raises:
        ProjectError: A model or a synthetic table does not fit the declared columns, the
            budget's currency or its own settings. Nothing was read and nothing spent.
    """
    where = project.path.name
    refuse_names([wish.name for wish in project.models], where)
    found = [
        Piece("run", a.name, a.plan.cost, ((a.bounded or a.plan).digest,), a)
        for a in project.releases
    ]
    for wish in project.models:
        with placed(f"{where}: {place_of('models', wish.name)}"):
            found.append(_check_model(project, wish))
    if project.synthetic is not None:
        with placed(f"{where}: synthetic"):
            found.append(_check_table(project, project.synthetic))
    return tuple(found)


def cost_with_delta(project: Project, wish: ModelTable) -> Loss | None:
    """Return what a model of pure ε would cost at the δ of an (ε, δ) budget.

    Such a budget is kept as a ρ. Pure ε allows more than Gaussian noise of (ε, δ), so it
    is charged a larger ρ: `sfumato.account.charge`.

    Returns:
        None where that is no half less, or the model has a δ or takes none.
    """
    budget, unit = project.budget, project.dataset.schema.unit
    if not isinstance(budget, ApproxDP) or wish.delta or not knows_models():
        return None
    other = wish.model_copy(update={"delta": project.delta})
    try:
        cost, less = (price_of(w, unit, budget.measure) for w in (wish, other))
        _lesson(project, other)
    except DeclarationError:
        return None
    return less if 2 * less.units <= cost.units else None


def _lesson(project: Project, wish: ModelTable) -> Lesson:
    from sfumato.models.budget import ModelBudget
    from sfumato.models.training import Lesson

    budget = ModelBudget(project.budget, dataset=project.dataset.name)  # in memory
    return Lesson(project.dataset.schema, order_of(wish), budget)


def _check_model(project: Project, wish: ModelTable) -> Piece:
    schema = project.dataset.schema
    for name in (wish.target, *wish.features):
        schema[name]
    cost = price_of(wish, schema.unit, project.budget.measure)
    if not knows_models():
        return Piece("train", wish.name, cost, ())
    digest = _lesson(project, wish).digest
    less = cost_with_delta(project, wish)
    return Piece("train", wish.name, cost, (digest,), less=less)


def _check_table(project: Project, asked: AskedTable) -> Piece:
    layouts = layouts_of(project, asked)
    check_owner(layouts[""], asked, project.dataset.schema)
    plans = tuple(layout.plan.digest for layout in layouts.values())
    return Piece("synth", project.dataset.name, asked.loss, plans)


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
    refuse_short((Due("synth", (), (Piece("synth", "", asked.loss, ()),)),), standing)


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
