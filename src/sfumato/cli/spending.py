"""What each command of a project spends, and all of them together, in words and data."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from sfumato.account import Loss
from sfumato.cli.money import loss_words
from sfumato.cli.table import table
from sfumato.cli.tongue import say
from sfumato.project import Project
from sfumato.project.spend import Spend, fits, spends, total_of
from sfumato.project.standing import Standing
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
    ]


def too_little_words(project: Project, left: Standing) -> list[str]:
    """Say which command will be refused, for less is left than it costs."""
    found = spends(project)
    dear = [one for one in found if not fits(one.cost, left)]
    lines = [_refused(one) for one in dear]
    if not dear and not fits(total_of(found), left):
        text = N_(
            "Caution: all together cost {cost}, more than is left: each command can be "
            "paid, and not all of them. Lower an amount, or take out what you do not need."
        )
        lines.append(say(text, cost=loss_words(total_of(found))))
    return lines


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
    names = ", ".join(f"sfumato {one.command}" for one in others)
    text = N_("Beside the releases this project spends {cost}: {commands}.")
    lines = [say(text, commands=names, cost=loss_words(total_of(others)))]
    kept = (
        one.cost if releases is None or one in others else releases for one in found
    )
    whole = reduce(add, kept)
    if not fits(whole, left):
        text = N_("Caution: with the releases that is {cost}, more than is left.")
        lines.append(say(text, cost=loss_words(whole)))
    return lines


def _refused(spend: Spend) -> str:
    text = N_("{cost} is more than is left: sfumato {command} will refuse.")
    return say(text, cost=loss_words(spend.cost), command=spend.command)


def spending_data(project: Project, left: Standing) -> dict[str, Any]:
    """Return cost, of all and by command, as JSON values."""
    found = spends(project)
    return {
        "cost": str(total_of(found)),
        "commands": [
            {"command": one.command, "count": one.count, "cost": str(one.cost)}
            for one in found
        ],
        "suffices": fits(total_of(found), left),
    }
