"""Which linked tables belong together, and whose budgets pay for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.account import Loss
from sfumato.declare.dataset import Dataset
from sfumato.declare.unit import Unit
from sfumato.errors import BudgetExceededError, DeclarationError, nearest, quoted
from sfumato.ledger import Ledger
from sfumato.question import Desk
from sfumato.session import Session
from sfumato.words import N_

__all__ = ["check_desks", "check_left", "check_linked", "check_names", "check_tables", "desks_of",
           "payers_of"]  # fmt: skip

_MOST_TABLES = 2  # beside the head
_HEAVIEST = 1000


def desks_of(
    head: Any, others: Any, budget: Any, ledger: str | Path | None
) -> tuple[Desk, dict[str, Desk]]:
    """Return the desk of the head table and of each other one.

    A name stands for a private table of the head's dataset: it shares the head's ledger.

    Raises:
        DeclarationError: Something is neither a session, a dataset nor such a name.
    """
    first = _desk(head, budget, ledger)
    if isinstance(others, Mapping):
        return first, {n: _desk(one, budget, ledger) for n, one in others.items()}
    held = first.dataset.private
    if not isinstance(others, Iterable) or isinstance(others, str):
        raise DeclarationError(
            N_("the other tables are given by name, got {value}"),
            hint=N_('write fit(patients, {{"visits": visits}}, budget=…)'),
            value=quoted(others),
        )
    for name in others:
        if not isinstance(name, str) or name not in held:
            raise DeclarationError(
                N_("the dataset has no private table {name}"),
                hint=N_("did you mean {near}?"),
                name=quoted(name),
                near=nearest(quoted(name).strip("'"), held),
            )
    return first, {name: replace(first, dataset=held[name]) for name in others}


def _desk(one: Any, budget: Any, ledger: str | Path | None) -> Desk:
    if isinstance(one, Session) and budget is None and ledger is None:
        return one.desk
    if isinstance(one, Dataset) and budget is not None:
        return Session(one, budget, ledger=ledger).desk
    raise DeclarationError(
        N_("linked tables are sessions, or datasets with one budget for each"),
        hint=N_('write fit(patients, {{"visits": visits}}, budget=…)'),
    )


def check_tables(head: Dataset, others: Mapping[str, Dataset]) -> None:
    """Refuse tables that are not of the same people."""
    if not 1 <= len(others) <= _MOST_TABLES:
        raise DeclarationError(
            N_("beside the head there are one or two tables, got {count}"),
            hint=N_("make other tables on their own"),
            count=len(others),
        )
    unit = head.schema.unit
    for name, table in {head.name: head, **others}.items():
        own = table.schema.unit
        if not isinstance(own, Unit) or own.neighbours != "add_remove":
            raise DeclarationError(
                N_("table {name} does not say whose its rows are"),
                hint=N_(
                    'declare unit=sf.Unit("patient_id", max_rows=…, max_groups=1); people '
                    "are added or removed"
                ),
                name=repr(name),
            )
        if table is head:
            continue
        if own.column != unit.column or own.missing != unit.missing:  # type: ignore[union-attr]
            raise DeclarationError(
                N_("table {name} names its people by another column than the head"),
                hint=N_("the key has one name and one list of missing codes in all"),
                name=repr(name),
            )
        if name == head.name or name in head.schema:
            raise DeclarationError(
                N_("{name} is the name of the head table, or of a column of it"),
                hint=N_("call the table otherwise"),
                name=repr(name),
            )


def check_desks(head: Desk, others: Mapping[str, Desk]) -> None:
    """Refuse budgets that cannot pay for one release together."""
    for desk in others.values():
        if type(desk.budget.cap) is not type(head.budget.cap):
            raise DeclarationError(
                N_("the budgets of the tables are in different currencies"),
                hint=N_("give all of them ε, or all of them ρ"),
            )
    _check_limits([head, *others.values()])


def _check_limits(desks: Sequence[Desk]) -> None:
    """Refuse two sessions of one budget that are charged to different limits."""
    met: dict[object, Desk] = {}
    for desk in desks:
        first = met.setdefault(desk.ledger.place, desk)
        if first.ledger.limits != desk.ledger.limits:
            raise DeclarationError(
                N_("two sessions share the budget of {name}, under different limits"),
                hint=N_("open both with the same limits, or give the tables names"),
                name=repr(desk.dataset.name),
            )


def payers_of(head: Desk, others: Mapping[str, Desk], name: str) -> list[Ledger[Loss]]:
    """Return the ledgers that pay for a table: of all tables that it reads, each once.

    Args:
        head: The head table.
        others: The other ones.
        name: Which of them; the empty name is the head, which reads all.
    """
    read = [others[name]] if name else list(others.values())
    ledgers = [desk.ledger for desk in (head, *read)]
    return list({ledger.place: ledger for ledger in reversed(ledgers)}.values())[::-1]


def check_linked(head: object, others: object, shared: object, weights: object) -> None:
    """Refuse settings of linked tables that are of another kind than asked for.

    Raises:
        DeclarationError: One is; the error names it.
    """
    named = others is None or isinstance(others, Mapping)
    made = [head, *(others.values() if isinstance(others, Mapping) else ())]
    texts = shared is None or (
        isinstance(shared, Iterable) and all(isinstance(c, str) for c in shared)
    )
    weighed = weights is None or isinstance(weights, Mapping)
    for setting, value, right in (
        ("head", head, head is None or hasattr(head, "options")),
        ("others", others, named and all(hasattr(m, "options") for m in made[1:])),
        ("shared", shared, texts and not isinstance(shared, str)),
        ("weights", weights, weighed),
    ):
        if not right:
            raise DeclarationError(
                N_("linked tables cannot be made with {setting}={value}"),
                hint=N_(
                    "head is a Synthesizer, others are such by name, shared is a list of "
                    "columns, weights are whole numbers by name"
                ),
                setting=setting,
                value=quoted(value),
            )


def check_names(
    head: Dataset,
    others: Mapping[str, Dataset],
    settings: Mapping[str, object],
    weights: Mapping[str, object],
) -> None:
    """Refuse settings and weights of tables that are not there, which would go unheard.

    Raises:
        DeclarationError: There is no such table, or a weight is no whole number.
    """
    for name in (*settings, *(n for n in weights if n not in ("", head.name))):
        if name not in others:
            raise DeclarationError(
                N_("no other table is called {name}"),
                hint=N_("did you mean {near}?"),
                name=quoted(name),
                near=nearest(quoted(name).strip("'"), others),
            )
    for value in weights.values():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not 1 <= value <= _HEAVIEST:  # type: ignore[operator]
            raise DeclarationError(
                N_("the weight {value} of a table is no whole number from 1 to 1000"),
                hint=N_('write weights={{"visits": 2}}'),
                value=quoted(value),
            )
    prefix = f"{head.name}."
    for name, table in others.items():
        for column in table.schema:
            if column.startswith(prefix):
                raise DeclarationError(
                    N_("column {column} of {name} is called like a borrowed one"),
                    hint=N_("call the column, or the head table, otherwise"),
                    column=repr(column),
                    name=repr(name),
                )


def check_left(head: Desk, others: Mapping[str, Desk], prices: Sequence[Loss]) -> None:
    """Refuse before the first debit what a later one would refuse."""
    asked: dict[object, Loss] = {}
    paying: dict[object, tuple[str, Desk]] = {}
    for name, price in zip(("", *others), prices, strict=True):
        for ledger in payers_of(head, others, name):
            before = asked.get(ledger.place)
            asked[ledger.place] = price if before is None else before + price  # type: ignore[operator]
    for name, desk in {head.dataset.name: head, **others}.items():
        paying.setdefault(desk.ledger.place, (name, desk))
    for place, (name, desk) in paying.items():
        cost, left = asked[place], desk.ledger.left
        if not cost.fits(left):  # type: ignore[arg-type]
            raise BudgetExceededError(
                N_("table {name} would pay {cost}, and {left} is left of its budget"),
                hint=N_("spend less, or give the table a larger budget"),
                name=repr(name),
                cost=cost,
                left=left,
            )
        desk.ledger.check(cost)
