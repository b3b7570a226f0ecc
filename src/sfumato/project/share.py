"""Releases without an amount of their own share what the others leave of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sfumato.account import (
    GDP,
    ZCDP,
    Budget,
    Epsilon,
    Loss,
    Term,
    equal,
    geometric,
    optimal,
    weighted,
    with_delta,
)
from sfumato.amount import Amount
from sfumato.declare.query import Query
from sfumato.declare.schema import Schema
from sfumato.errors import ProjectError
from sfumato.plan import make_plan
from sfumato.plan.weigh import weights
from sfumato.project.model import BudgetTable
from sfumato.project.place import place_of, placed
from sfumato.words import N_

__all__ = ["Pot", "Wanted", "share_out"]

_SMALL = 10**9  # 1e-3: at a small loss noise on integers has its continuous variance


@final
@dataclass(frozen=True, slots=True)
class Wanted:
    """One release before its loss is known.

    Attributes:
        name: Its name.
        query: The question.
        given: What the file gives it; none for a share.
        weight: Its weight, if it has one.
        delta_units: What its unknown keys cost, in 1e-18.
    """

    name: str
    query: Query
    given: Loss | None
    weight: Amount | None
    delta_units: int = 0


@final
@dataclass(frozen=True, slots=True)
class Pot:
    """What bounds the shares beside the budget itself.

    Attributes:
        taken: What models and a synthetic table of the file will spend.
        caps: Limits that every release of the file is charged to.
    """

    taken: tuple[Loss, ...] = ()
    caps: tuple[Loss, ...] = ()


def share_out(
    wanted: Sequence[Wanted],
    budget: Budget,
    table: BudgetTable,
    schema: Schema,
    file: str,
    pot: Pot,
) -> tuple[Loss, ...]:
    """Return what each release may spend.

    What is shared is the pot without what is given, to the last unit of 1e-12; the
    sum never exceeds the pot through a share. A release whose figures are all public
    costs nothing and gets nothing.

    Raises:
        ProjectError: A release has no amount and there is no split, or nothing is left
            to share, or a setting of the split has no use.
    """
    _check_settings(wanted, table, file)
    open_ = [w for w in wanted if w.given is None and not _is_free(w, budget, schema)]
    shares: dict[str, Loss] = {}
    if open_:
        rest = _rest(wanted, budget, file, pot)
        with placed(f"{file}: budget.split"):
            found = _split(rest, open_, table, schema)
            shares = {
                w.name: with_delta(budget, share, w.delta_units)
                for w, share in zip(open_, found, strict=True)
            }
    nothing = _small(budget, 0)
    return tuple(
        w.given if w.given is not None else shares.get(w.name, nothing) for w in wanted
    )


def _check_settings(wanted: Sequence[Wanted], table: BudgetTable, file: str) -> None:
    for w in wanted:
        place = f"{file}: {place_of('releases', w.name)}"
        if w.given is None and table.split is None:
            raise ProjectError(
                N_("{place} has neither epsilon nor rho"),
                hint=N_(
                    'write what it may cost, or let it share: budget.split = "equal"'
                ),
                place=place,
            )
        shares = w.given is None and table.split in ("weighted", "optimal")
        if w.weight is not None and not shares:
            raise ProjectError(
                N_("{place}.weight has no use"),
                hint=N_(
                    "a weight goes with a release without an amount of its own, under "
                    'budget.split = "weighted" or "optimal"'
                ),
                place=place,
            )
    if table.split is not None and all(w.given is not None for w in wanted):
        raise ProjectError(
            N_("{file}: budget.split has nothing to do: every release has an amount"),
            hint=N_("remove it, or remove epsilon or rho from a release"),
            file=file,
        )


def _rest(wanted: Sequence[Wanted], budget: Budget, file: str, pot: Pot) -> Loss:
    amounts = [w.given for w in wanted if w.given is not None]
    given = _small(budget, sum(loss.units for loss in (*amounts, *pot.taken)))
    whole = min([budget.cap.units, *(cap.units for cap in pot.caps)])
    if given.units >= whole:
        raise ProjectError(
            N_(
                "{file}: budget.split: the amounts given, {given}, leave nothing of {cap}"
            ),
            hint=N_(
                "give less to what has an amount: releases, models, the synthetic table"
            ),
            file=file,
            given=given,
            cap=_small(budget, whole),
        )
    return _small(budget, whole - given.units)


def _split(
    rest: Any, wanted: Sequence[Wanted], table: BudgetTable, schema: Schema
) -> Sequence[Loss]:
    values = [w.weight if w.weight is not None else 1 for w in wanted]
    match table.split:
        case "weighted":
            return weighted(rest, values)
        case "geometric":
            ratio = "0.8" if table.ratio is None else table.ratio
            return geometric(rest, len(wanted), ratio=ratio)
        case "optimal":
            terms = [
                _term(w, rest, weight, schema)
                for w, weight in zip(wanted, values, strict=True)
            ]
            return optimal(rest, terms)
        case _:
            return equal(rest, len(wanted))


def _term(wanted: Wanted, like: Loss, weight: Amount, schema: Schema) -> Term:
    """Return a release as one figure: the variance that a loss of 1 would leave.

    A plan spreads its loss so that the weighted variance, in rows, of all its figures
    is L/ε² or L/ρ, the least possible (`sfumato.plan.allocate`); L takes the place of
    the squared sensitivity in the same rule one floor up.
    """
    small = _failing(type(like).from_units(_SMALL), wanted.delta_units)
    plan = make_plan(wanted.query, schema, small)
    worth = weights([p.aggregate for p in plan.parts], plan.recipes, plan.query)
    if plan.selecting is not None:
        worth[plan.selecting] += 1
    variance = sum(w * plan.noise_of(i).variance for i, w in enumerate(worth))
    power = 2 if isinstance(like, Epsilon) else 1
    return Term.of_square(Fraction(variance) * small.value**power, weight)


def _is_free(wanted: Wanted, budget: Budget, schema: Schema) -> bool:
    with placed(place_of("releases", wanted.name)):
        small = _failing(_small(budget, _SMALL), wanted.delta_units)
        return not make_plan(wanted.query, schema, small).parts


def _failing(loss: Loss, delta_units: int) -> Loss:
    """Return the loss with a δ; one that has no place for it, as it is."""
    if isinstance(loss, GDP):
        return loss
    return type(loss).from_units(loss.units, delta_units)


def _small(budget: Budget, units: int) -> Loss:
    kinds: dict[str, type[Epsilon | ZCDP | GDP]] = {
        kind.measure: kind for kind in (Epsilon, ZCDP, GDP)
    }
    return kinds[budget.measure].from_units(units)
