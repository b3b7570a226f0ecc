"""What each command of a project spends, and all of them together, in words and data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from sfumato.account import Loss
from sfumato.cli.money import loss_words
from sfumato.cli.table import table
from sfumato.cli.tongue import say
from sfumato.project import Project
from sfumato.project.learned import price_of
from sfumato.project.made import cost_with_delta
from sfumato.project.paid import Due
from sfumato.project.spend import Spend, fits, spends, total_of
from sfumato.project.standing import Standing
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["beside_words", "spending_data", "spending_words", "too_little_words"]

_MADE = {
    "run": N_("releases: {count}"),
    "train": N_("models: {count}"),
    "synth": N_("synthetic tables: {count}"),
}


def spending_words(project: Project) -> list[str]:
    """Say what belongs to which command, and what all of it costs.

    A project of releases alone needs one line, for one command spends it.
    """
    found = spends(project)
    whole = loss_words(total_of(found))
    if [one.command for one in found] == ["run"]:
        return [say(N_("all releases together cost {cost}"), cost=whole)]
    heads = [say(N_("command")), say(N_("makes")), say(N_("cost"))]
    rows = [
        [f"sfumato {one.command}", say(_MADE[one.command], count=one.count), loss_words(one.cost)]
        for one in found
    ]  # fmt: skip
    rows.append([say(N_("all together")), "", whole])
    return [
        say(N_("What this project spends, by the command that spends it:")),
        *table(heads, rows),
        *_pure_words(project),
    ]


def _pure_words(project: Project) -> list[str]:
    """Say which models would cost far less with a δ; under other budgets, nothing."""
    text = N_(
        "Model {name} asks for pure ε, which costs {cost} of this budget. With delta = "
        '"{delta}" in its entry the same ε costs {less} (Gaussian noise; the promise holds '
        "except with that probability), so that a larger ε can be had for less."
    )
    unit, lines = project.dataset.schema.unit, []
    for wish in project.models:
        less = cost_with_delta(project, wish)
        if less is not None:
            facts = {
                "name": visible(wish.name),
                "cost": loss_words(price_of(wish, unit, project.budget.measure)),
                "delta": project.delta,
                "less": loss_words(less),
            }
            lines.append(say(text, **facts))
    return lines


def too_little_words(
    project: Project, left: Standing, dues: Sequence[Due] = ()
) -> list[str]:
    """Say which command will be refused, for less is left than it costs.

    Args:
        project: The declarations.
        left: What is left to spend.
        dues: What each command has yet to spend, where the ledger was asked.
    """
    found = spends(project)
    dear = [one for one in found if not fits(one.cost, left)]
    lines = [_refused(one) for one in dear]
    if any(due.paid for due in dues):
        lines += [text for due in dues for text in _standing_of(due, left)]
    if not dear and not _suffices(found, left, dues):
        text = N_(
            "Caution: all together cost {cost}, more than is left: each command can be "
            "paid, and not all of them. Lower an amount, or take out what you do not need."
        )
        lines.append(say(text, cost=loss_words(total_of(found))))
    return lines


def _standing_of(due: Due, left: Standing) -> list[str]:
    """Say what of a command was paid for already, and what can still be paid."""
    rest = [piece.name for piece in due.rest] if due.fits(left) else []
    told = [
        (N_("Paid for already, by sfumato {command}: {names}."), due.paid),
        (N_("Can still be paid, by sfumato {command}: {names}."), rest),
    ]
    return [
        say(text, command=due.command, names=say(N_(", ")).join(map(visible, names)))
        for text, names in told
        if names
    ]


def _suffices(found: tuple[Spend, ...], left: Standing, dues: Sequence[Due]) -> bool:
    """Tell whether all that was not paid for yet can be paid."""
    if not dues:
        return fits(total_of(found), left)
    costs = [due.cost for due in dues if due.cost is not None]
    return not costs or fits(reduce(add, costs), left)


def beside_words(project: Project, left: Standing, releases: Loss | None) -> list[str]:
    """Say what models and a synthetic table spend beside the releases, if anything.

    Args:
        project: The declarations.
        left: What is left to spend.
        releases: What the releases shall cost; none for what the file gives them.
    """
    found = spends(project)
    others = tuple(one for one in found if one.command != "run")
    if not others:
        return []
    names = say(N_(", ")).join(f"sfumato {one.command}" for one in others)
    text = N_("Beside the releases this project spends {cost}: {commands}.")
    lines = [say(text, commands=names, cost=loss_words(total_of(others)))]
    kept = (
        one.cost if releases is None or one in others else releases for one in found
    )
    whole = reduce(add, kept)
    if not fits(whole, left):
        text = N_("Caution: with the releases that is {cost}, more than is left.")
        lines.append(say(text, cost=loss_words(whole)))
    return lines + _pure_words(project)


def _refused(spend: Spend) -> str:
    text = N_("{cost} is more than is left: sfumato {command} will refuse.")
    return say(text, cost=loss_words(spend.cost), command=spend.command)


def spending_data(
    project: Project, left: Standing, dues: Sequence[Due] = ()
) -> dict[str, Any]:
    """Return cost, of all and by command, as JSON values; and what was paid for already."""
    found = spends(project)
    paid = [name for due in dues for name in due.paid]
    return {
        "cost": str(total_of(found)),
        "commands": [
            {"command": one.command, "count": one.count, "cost": str(one.cost)}
            for one in found
        ],
        "suffices": _suffices(found, left, dues),
        **({"paid": paid} if paid else {}),
    }
