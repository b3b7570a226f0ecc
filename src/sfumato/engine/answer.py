"""From a plan to its sealed integers: the one way in which engines run statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sfumato.declare.schema import Schema
from sfumato.engine import Exact
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.relate import NO_OTHERS, Others
from sfumato.engine.statement import statement
from sfumato.engine.table import log
from sfumato.errors import EngineError, SourceError
from sfumato.plan import Plan
from sfumato.plan.relate import others_in
from sfumato.secret import Secret
from sfumato.words import N_

__all__ = ["Fetch", "answer", "prepare"]

Fetch: TypeAlias = Callable[[str], "list[tuple[object, ...]]"]
"""Runs a statement over ``data`` and returns its rows: exact and unprotected."""


def prepare(
    plan: Plan,
    schema: Schema,
    layout: Layout,
    dialect: Dialect,
    bind: Fetch,
    others: Others = NO_OTHERS,
) -> None:
    """Have the statement bound by `bind`, which must read no rows.

    Raises:
        SourceError: It was not bound; one fixed text, no cause. Nothing was spent.
    """
    bound = False
    try:
        if _fits(plan, schema, others):
            if plan.parts:
                bind(statement(plan, layout, dialect, others).sql)
            bound = True
    except Exception:  # noqa: BLE001  whatever it was, one text
        log.debug("the statement was not bound", exc_info=True)
    if not bound:  # raised out here, so that it carries no context either
        raise SourceError(
            N_("the database cannot answer the question; nothing was spent"),
            hint=N_("ask the data owner to read the engine's log"),
        )


def answer(
    plan: Plan,
    schema: Schema,
    layout: Layout,
    dialect: Dialect,
    fetch: Fetch,
    others: Others = NO_OTHERS,
) -> Secret[Exact]:
    """Return the plan's integers, from one statement.

    Raises:
        EngineError: Anything failed; one fixed text, no cause, because the words of a
            database may quote a cell. The debit stands.
    """
    exact = _try(plan, schema, layout, dialect, fetch, others)
    if exact is None:  # raised out here, so that it carries no context either
        raise EngineError
    return Secret(exact)


def _fits(plan: Plan, schema: Schema, others: Others) -> bool:
    """Tell whether a plan is about the tables that an engine holds."""
    held = {name: one.schema for name, one in others.items()}
    named = [(held.get(o.name), o.schema) for o in others_in(plan.query.base)]
    return plan.table.declared == schema.declared and all(
        here is not None and here.declared == asked.declared for here, asked in named
    )


def _try(
    plan: Plan,
    schema: Schema,
    layout: Layout,
    dialect: Dialect,
    fetch: Fetch,
    others: Others,
) -> Exact | None:
    try:
        if not _fits(plan, schema, others):
            msg = "the plan is of another schema"
            raise ValueError(msg)  # noqa: TRY301
        if not plan.parts:
            return ()
        asked = statement(plan, layout, dialect, others)
        return asked.exact(fetch(asked.sql))
    except Exception:  # noqa: BLE001  whatever it was, one text
        log.debug("the statement failed", exc_info=True)
        return None
