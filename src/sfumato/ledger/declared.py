"""What was declared of a dataset when its budget was opened: whom it protects.

Formal guarantee: losses add up where they are about the same neighbours (basic
composition). An ε per row and an ε per person bound different things, and their sum
bounds neither; so one budget is spent in one unit. The unit stands in the entry that
opens the budget, hence in the chain, and cannot be changed afterwards. Tables may be
added: an entry of its own names those that it did not name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, final

from sfumato.errors import LedgerError
from sfumato.ledger.store import Database
from sfumato.ledger.transaction import Transaction, now
from sfumato.words import N_

__all__ = ["Declared", "check_declared", "record_tables"]


@final
@dataclass(frozen=True, slots=True)
class Declared:
    """What a budget is about, beyond its name.

    Attributes:
        unit: Whom each loss is about, in words that are compared: ``"row, add_remove"``
            or ``"person by 'patient_id', add_remove"``. How many rows of a person count
            is no part of it: the loss is about the whole person in any case.
        tables: Names of the dataset's other private tables, which its budget pays for:
            none of them has a budget of its own.
        assumed: Whether nobody has said the unit: a budget that is opened records it, one
            that records another keeps that.
    """

    unit: str
    tables: tuple[str, ...] = ()
    assumed: bool = False

    def said(self) -> dict[str, Any]:
        """Return what the entry that opens the budget tells of it."""
        tables = {"tables": list(self.tables)} if self.tables else {}
        return {"unit": self.unit, **tables}


def check_declared(db: Database, dataset: str, declared: Declared | None) -> str | None:
    """Refuse a budget of another unit, and rows that two budgets would pay for.

    A budget that was opened without saying so, by an older version or anew after its
    ledger was lost, is used in any unit.

    Returns:
        The unit that the ledger records, or will when the budget is opened.

    Raises:
        LedgerError: Something was declared otherwise. Nothing was spent.
    """
    names = [name for (name,) in db.rows(_NAMES)]
    unit = declared.unit if declared else None
    if dataset in names:
        unit = _check_unit(db, dataset, declared)
    else:
        _check_free(db, dataset)
    wanted = {name.casefold() for name in declared.tables} if declared else set()
    for name in names:
        if name != dataset and name.casefold() in wanted:
            raise _paid_twice(name, dataset)
    return unit


def record_tables(
    transaction: Transaction, dataset: str, declared: Declared | None
) -> None:
    """Tell the chain of tables that a budget pays for since it was opened.

    Formal guarantee: from here on none of them is given a budget of its own, as if it
    had been there from the start (`check_declared`); whatever pays for a row, then, is
    one budget, and what is lost of it adds up there.
    """
    known = {
        str(name).casefold()
        for (body,) in transaction.db.rows(_OPENED, dataset)
        for name in json.loads(body).get("tables", ())
    }
    tables = declared.tables if declared else ()
    added = [name for name in tables if name.casefold() not in known]
    if added:
        transaction.append("open", dataset, {"tables": added, "time": now()})


_NAMES = "SELECT dataset FROM budget WHERE kind = 'dataset'"
_FIRST = (
    "SELECT body FROM entry WHERE kind = 'open' AND dataset = ? ORDER BY place LIMIT 1"
)
_OPENED = "SELECT body FROM entry WHERE kind = 'open' AND dataset = ?"
_WITH_TABLES = "SELECT dataset, body FROM entry WHERE kind = 'open' AND body LIKE ?"


def _check_unit(db: Database, dataset: str, declared: Declared | None) -> str | None:
    rows = db.rows(_FIRST, dataset)
    recorded = json.loads(rows[0][0]).get("unit") if rows else None
    if declared and not declared.assumed and recorded not in (None, declared.unit):
        raise LedgerError(
            N_("the budget of {dataset} is spent per {recorded}, not per {unit}"),
            hint=N_(
                "losses of different units do not add up: declare the unit as it was "
                "when the budget was opened"
            ),
            dataset=repr(dataset),
            recorded=recorded,
            unit=declared.unit,
        )
    return None if recorded is None else str(recorded)


def _check_free(db: Database, dataset: str) -> None:
    """Refuse a first budget for the rows of a table that another one pays for."""
    for owner, body in db.rows(_WITH_TABLES, '%"tables":%'):
        tables = json.loads(body).get("tables", ())
        if dataset.casefold() in (str(name).casefold() for name in tables):
            raise _paid_twice(dataset, owner)


def _paid_twice(table: str, dataset: str) -> LedgerError:
    return LedgerError(
        N_(
            "{table} is a table of dataset {dataset}, and a dataset of its own in this ledger"
        ),
        hint=N_(
            "its people would lose from two budgets: ask about its rows through one of "
            "them, or, if these are other rows, call dataset, table and file otherwise"
        ),
        table=repr(table),
        dataset=repr(dataset),
    )
