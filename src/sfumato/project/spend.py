"""What the commands of a project spend: run, train and synth, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal, TypeAlias, final

from sfumato.account import Loss
from sfumato.project.learned import price_of
from sfumato.project.load import Project, total_cost
from sfumato.project.place import place_of, placed
from sfumato.project.standing import Standing

__all__ = ["Command", "Spend", "fits", "spends", "total_of"]

Command: TypeAlias = Literal["run", "train", "synth"]


@final
@dataclass(frozen=True, slots=True)
class Spend:
    """What one command spends of the budget, if it does all that the file asks for.

    Attributes:
        command: Its name.
        count: How many releases, models or synthetic tables it makes.
        cost: What they cost together.
    """

    command: Command
    count: int
    cost: Loss


def spends(project: Project) -> tuple[Spend, ...]:
    """Return what each command of a project spends; reads nothing but the file.

    Raises:
        ProjectError: The budget cannot pay for a model's noise. Nothing was spent.
    """
    found = []
    if project.releases:
        cost = total_cost(project.releases)
        found.append(Spend("run", len(project.releases), cost))
    if project.models:
        found.append(Spend("train", len(project.models), _sum(_prices(project))))
    asked = project.synthetic
    if asked is not None:
        found.append(Spend("synth", 1 + len(asked.table.tables), asked.loss))
    return tuple(found)


def total_of(found: tuple[Spend, ...]) -> Loss:
    """Return what all commands spend together."""
    return _sum([one.cost for one in found])


def fits(cost: Loss, standing: Standing) -> bool:
    """Tell whether a cost is within what is left of the budget and of each limit."""
    lefts = (standing.left, *(left for _, left in standing.limits))
    return all(cost.fits(left) for left in lefts)  # type: ignore[arg-type]  # one currency


def _prices(project: Project) -> list[Loss]:
    unit, measure = project.dataset.schema.unit, project.budget.measure
    found = []
    for wish in project.models:
        with placed(f"{project.path.name}: {place_of('models', wish.name)}"):
            found.append(price_of(wish, unit, measure))
    return found


def _sum(losses: list[Loss]) -> Loss:
    return reduce(add, losses)
