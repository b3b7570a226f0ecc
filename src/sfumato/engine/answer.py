"""From a plan to its sealed integers: the one way in which engines run statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sfumato.declare.schema import Schema
from sfumato.engine import Exact
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.render import Statement
from sfumato.engine.table import log
from sfumato.errors import EngineError
from sfumato.plan import Plan
from sfumato.secret import Secret

__all__ = ["Fetch", "answer"]

Fetch: TypeAlias = Callable[[str], "list[tuple[object, ...]]"]
"""Runs a statement over ``data`` and returns its rows: exact and unprotected."""


def answer(
    plan: Plan, schema: Schema, layout: Layout, dialect: Dialect, fetch: Fetch
) -> Secret[Exact]:
    """Return the plan's integers, from one statement.

    Raises:
        EngineError: Anything failed; one fixed text, no cause, because the words of a
            database may quote a cell. The debit stands.
    """
    exact = _try(plan, schema, layout, dialect, fetch)
    if exact is None:  # raised out here, so that it carries no context either
        raise EngineError
    return Secret(exact)


def _try(
    plan: Plan, schema: Schema, layout: Layout, dialect: Dialect, fetch: Fetch
) -> Exact | None:
    try:
        if plan.table.declared != schema.declared:
            msg = "the plan is of another schema"
            raise ValueError(msg)  # noqa: TRY301
        if not plan.parts:
            return ()
        statement = Statement(plan, layout, dialect)
        return statement.read(fetch(statement.sql)).exact(plan)
    except Exception:  # noqa: BLE001  whatever it was, one text
        log.debug("the statement failed", exc_info=True)
        return None
