"""From a plan to its sealed integers: the one way in which engines run statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

from sfumato.declare.schema import Schema
from sfumato.engine import Exact
from sfumato.engine.dialect import Dialect
from sfumato.engine.physical import Layout
from sfumato.engine.relate import NO_OTHERS, Others
from sfumato.engine.statement import Statements, statement
from sfumato.engine.table import log
from sfumato.errors import SourceError
from sfumato.plan import Plan
from sfumato.plan.relate import others_in
from sfumato.secret import Quiet, Secret
from sfumato.words import N_

__all__ = ["Answers", "Fetch"]

Fetch: TypeAlias = Callable[[str], "list[tuple[object, ...]]"]
"""Runs a statement over ``data`` and returns its rows: exact and unprotected."""


@final
class Answers:
    """Renders the statements of one engine's tables, and reads what they return.

    Safe to share between threads: a plan and a statement never change.
    """

    __slots__ = ("_dialect", "_last", "_layout", "_others", "_schema")

    def __init__(
        self,
        schema: Schema,
        layout: Layout,
        dialect: Dialect,
        others: Others = NO_OTHERS,
    ) -> None:
        """Keep what statements are made from.

        Args:
            schema: The declarations of the engine's own table.
            layout: How it is stored.
            dialect: The primitives of the database.
            others: The dataset's other private tables.
        """
        self._schema, self._layout = schema, layout
        self._dialect, self._others = dialect, others
        self._last: tuple[Plan, Statements | None] | None = None

    def prepare(self, plan: Plan, bind: Fetch) -> None:
        """Have the statement bound by `bind`, which must read no rows.

        Raises:
            SourceError: It was not bound; one fixed text, no cause. Nothing was spent.
        """
        bound = False
        try:
            asked = self._statement(plan)
            if asked is not None:
                bind(asked.sql)
            bound = True
        except Exception:  # noqa: BLE001  whatever it was, one text
            log.debug("the statement was not bound", exc_info=True)
        if not bound:  # raised out here, so that it carries no context either
            raise SourceError(
                N_("the database cannot answer the question; nothing was spent"),
                hint=N_("ask the data owner to read the engine's log"),
            )

    def answer(self, plan: Plan, fetch: Fetch) -> Secret[Exact]:
        """Return the plan's integers, from one statement.

        Raises:
            EngineError: Anything failed; one fixed text, no cause, because the words of
                a database may quote a cell. The debit stands.
        """
        with Quiet() as work:
            try:
                return Secret(self._exact(plan, fetch))
            except Exception:
                log.debug("the statement failed", exc_info=True)
                raise
        raise work.stop

    def _statement(self, plan: Plan) -> Statements | None:
        """Return the plan's statement, or none where there is nothing to compute.

        What was bound is neither checked nor rendered again to be run.
        """
        last = self._last
        if last is None or last[0] is not plan:
            if not self._fits(plan):
                msg = "the plan is of another schema"
                raise ValueError(msg)
            made = None
            if plan.parts:
                made = statement(plan, self._layout, self._dialect, self._others)
            self._last = last = (plan, made)
        return last[1]

    def _fits(self, plan: Plan) -> bool:
        """Tell whether a plan is about the tables that the engine holds."""
        held = {name: one.schema for name, one in self._others.items()}
        named = [(held.get(o.name), o.schema) for o in others_in(plan.query.base)]
        return plan.table.declared == self._schema.declared and all(
            here is not None and here.declared == asked.declared
            for here, asked in named
        )

    def _exact(self, plan: Plan, fetch: Fetch) -> Exact:
        asked = self._statement(plan)
        return () if asked is None else asked.exact(fetch(asked.sql))
