"""What of a project was paid for already, as its ledger says, and what is still due."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from operator import add
from pathlib import Path
from typing import Any, final

from sfumato.account import Loss
from sfumato.errors import BudgetExceededError
from sfumato.ledger import export
from sfumato.project.load import Asked, Project
from sfumato.project.spend import Command, fits
from sfumato.project.standing import CURRENCY, Standing, afford
from sfumato.words import N_

__all__ = ["Debited", "Due", "Piece", "debited", "due_of", "refuse_short"]

_TOO_DEAR = {
    "train": N_("fit and test cost {cost}, {left} is left"),
    "synth": N_("the synthetic table costs {cost}, {left} is left"),
}


@final
@dataclass(frozen=True, slots=True)
class Debited:
    """A debit of the project's dataset.

    Attributes:
        plan: The digest of what it paid for.
        request: Its request key; empty for none.
        answered: Whether the ledger keeps an answer under the key.
    """

    plan: str
    request: str
    answered: bool = False


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """A release, model or synthetic table that a project asks for.

    Attributes:
        command: The command that makes it.
        name: Its name.
        cost: What it costs.
        plans: The digests of what its debits pay for; empty where they are not known.
        asked: The release, if it is one.
        less: Of a model, what it would cost with the budget's δ, where that matters.
    """

    command: Command
    name: str
    cost: Loss
    plans: tuple[str, ...]
    asked: Asked | None = None
    less: Loss | None = None


@final
@dataclass(frozen=True, slots=True)
class Due:
    """What a command has yet to spend.

    Attributes:
        command: Its name.
        paid: Names of what was paid for already.
        rest: The pieces that were not.
    """

    command: Command
    paid: tuple[str, ...]
    rest: tuple[Piece, ...]

    @property
    def cost(self) -> Loss | None:
        """What the rest costs together; none where nothing is left to pay."""
        return reduce(add, (p.cost for p in self.rest)) if self.rest else None

    def fits(self, standing: Standing) -> bool:
        """Tell whether the rest can be paid."""
        return self.cost is None or fits(self.cost, standing)


def debited(project: Project) -> tuple[Debited, ...]:
    """Return the debits of the project's dataset, oldest first.

    Raises:
        LedgerError: The ledger cannot be read.
    """
    if isinstance(project.ledger, Path) and not project.ledger.exists():
        return ()
    found: dict[int, Debited] = {}
    for line in export(project.ledger, anchor=project.anchor):
        said: dict[str, Any] = json.loads(line)["body"]
        if said["dataset"] != project.dataset.name:
            continue
        if said["kind"] == "debit":
            found[said["debits"]] = Debited(said["plan"], said["request"] or "")
        elif said["kind"] == "answer" and said["debit"] in found:
            found[said["debit"]] = replace(found[said["debit"]], answered=True)
    return tuple(found.values())


def due_of(
    project: Project, pieces: Sequence[Piece], standing: Standing
) -> tuple[Due, ...]:
    """Return what each command has yet to spend.

    A debit under a request key counts once its answer is kept: else nobody has it. The
    ledger is read only where not all can be paid anyway.

    Raises:
        LedgerError: The ledger cannot be read.
    """
    paid: Counter[str] = Counter()
    if pieces and not fits(reduce(add, (p.cost for p in pieces)), standing):
        found = debited(project)
        paid.update(d.plan for d in found if d.answered or not d.request)
    return tuple(
        _due(command, tuple(made), paid)
        for command, made in groupby(pieces, key=lambda piece: piece.command)
    )


def _due(command: Command, pieces: Sequence[Piece], paid: Counter[str]) -> Due:
    """Take what was paid for out of `paid`: one debit pays for one of two alike."""
    names, rest = [], []
    for piece in pieces:
        plans = Counter(piece.plans)
        if plans and plans <= paid:
            paid.subtract(plans)
            names.append(piece.name)
        else:
            rest.append(piece)
    return Due(command, tuple(names), tuple(rest))


def refuse_short(dues: Sequence[Due], standing: Standing) -> None:
    """Refuse what was not paid for yet and costs more than is left.

    Raises:
        BudgetExceededError: With both amounts, and what can be paid. Nothing was spent.
    """
    short = [one for one in dues if not one.fits(standing)]
    if not short:
        return
    lefts = (standing.left, *(left for _, left in standing.limits))
    due, cost = short[0], short[0].cost
    assert cost is not None  # noqa: S101  nothing fits always
    left = next(x for x in lefts if not cost.fits(x))  # type: ignore[arg-type]
    could = [p for p in due.rest if p.less is not None]
    if could:
        raise BudgetExceededError(
            _TOO_DEAR[due.command],
            hint=N_(
                "ask for less, or give {names} a delta: at that of the budget the same "
                "epsilon costs {less}"
            ),
            cost=str(cost),
            left=str(left),
            names=", ".join(repr(p.name) for p in could),
            less=", ".join(str(p.less) for p in could),
        )
    others = [d.command for d in dues if d.rest and d.fits(standing)]
    if others:
        raise BudgetExceededError(
            N_("sfumato {command} costs {currency} {cost}, {left} is left"),
            hint=N_(
                "{others} can be paid as the file stands; lower what {command} costs, or "
                "make only some of it"
            ),
            command=due.command,
            currency=CURRENCY[cost.measure],
            cost=str(cost),
            left=str(left),
            others=", ".join(f"sfumato {other}" for other in others),
        )
    afford(tuple(p.asked for p in due.rest if p.asked is not None), standing)
    raise BudgetExceededError(
        _TOO_DEAR[due.command],
        hint=N_("ask for less, or ask the data owner for another budget"),
        cost=str(cost),
        left=str(left),
    )
