"""A question bound to a session, its plan, and the four steps that answer it.

The order that makes it safe is in one method, `SessionPlan.release`: plan, debit, run,
release.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, final

from sfumato.account import (
    Budget,
    Loss,
    loss_of,
    loss_text,
    told_delta,
)
from sfumato.amount import Amount
from sfumato.combine import Combining, check_tables
from sfumato.declare.dataset import Dataset
from sfumato.declare.expr import Expr, Operand
from sfumato.declare.query import Query, Statistic
from sfumato.declare.schema import Column
from sfumato.engine import Engine
from sfumato.engine.dialect import Dialect
from sfumato.errors import DeclarationError, quoted
from sfumato.explain import Explanation, cost_words, explain
from sfumato.gate import Found, compare_for_owner, find_bounds, release
from sfumato.ledger import Answered, Ledger
from sfumato.plan import Expected, Plan, expected_errors, make_plan
from sfumato.plan.bounded import BoundedPlan, make_bounded
from sfumato.post.clipping import bounds_told
from sfumato.release import OwnerComparison, Receipt, Release, from_json
from sfumato.release.text import visible
from sfumato.secret import Quiet
from sfumato.words import N_

__all__ = ["Desk", "Question", "SessionPlan"]


@final
@dataclass(frozen=True, slots=True)
class Desk:
    """What a question needs: the declarations, the engine and the ledger."""

    dataset: Dataset
    engine: Engine
    ledger: Ledger[Loss]
    budget: Budget


@final
class Question(Combining):
    """A question bound to a session; each step returns a new one."""

    __slots__ = ("_desk", "query")
    query: Query

    def __init__(self, desk: Desk, query: Query) -> None:
        """Bind; made by `Session.query`."""
        self._desk, self.query = desk, query

    def derive(
        self, name: str, value: Operand, column: Column | None = None
    ) -> Question:
        """Add a column computed from the others, row by row; then ask about it.

        It can stand wherever a declared column can. Every value is total: what is not
        defined, such as a division by zero, is missing (``docs/expressions.md``).

        Args:
            name: Its name; it must differ from every other column's.
            value: How it is computed, from columns of the table or derived before.
            column: Its public bounds or keys, as in a schema. A number needs them; of a
                condition and of a text they follow from the value itself.

        Examples:
            >>> import sfumato as sf
            >>> rows = [{"Weight": 70, "Height": 1.75}] * 100
            >>> schema = sf.Schema({"Weight": sf.Real(2, 300), "Height": sf.Real(0, 3)})
            >>> session = sf.Session(sf.Dataset(rows, schema=schema), budget="1")
            >>> bmi = sf.col("Weight") / sf.col("Height") ** 2
            >>> ask = session.query().derive("BMI", bmi, sf.Real(10, 80, step="0.1"))
            >>> ask.select(sf.mean("BMI"))
            <question: mean_BMI with BMI = (Weight / (Height * Height))>
        """
        return Question(self._desk, self.query.derive(name, value, column))

    def _asking(self, query: Query) -> Question:
        return Question(self._desk, query)

    def _tables(self) -> Dataset:
        return self._desk.dataset

    def _rows_of(self, other: object) -> Query | None:
        if isinstance(other, Question) and other._desk is self._desk:  # noqa: SLF001
            return other.query
        return None

    def where(self, condition: Expr) -> Question:
        """Keep the rows where `condition` is true."""
        return Question(self._desk, self.query.where(condition))

    def group_by(
        self, *columns: str, keys: object = None, other: str | None = None
    ) -> Question:
        """Answer for each combination of keys; see `Query.group_by`."""
        return Question(
            self._desk, self.query.group_by(*columns, keys=keys, other=other)
        )

    def select(self, *statistics: Statistic) -> Question:
        """Ask for these statistics."""
        return Question(self._desk, self.query.select(*statistics))

    def having(self, condition: Expr) -> Question:
        """Tell only groups whose *released* figures meet a condition; costs nothing more.

        Noise decides with the data: a group near the bound is told or not by chance, and
        the figures of those told are on average further beyond it than the truth is. All
        noisy integers, of hidden groups too, stand in the release's measurements.

        Args:
            condition: Over figures by name: ``col("count") > 100``. A figure of several
                numbers, such as a histogram, cannot be compared.

        Examples:
            >>> from sfumato.declare.query import Query, count
            >>> from sfumato.declare.expr import col
            >>> ask = Query().group_by("Ward").select(count())
            >>> print(ask.having(col("count") > 100).order_by("count").limit(3))
            count by Ward having count > 100 ordered by count, first 3
        """
        return Question(self._desk, self.query.having(condition))

    def order_by(self, *names: str, descending: bool = False) -> Question:
        """Sort the groups by *released* figures, or by keys; equal ones stay in order."""
        return Question(self._desk, self.query.order_by(*names, descending=descending))

    def limit(self, most: int) -> Question:
        """Tell at most so many groups, the first ones by `order_by`."""
        return Question(self._desk, self.query.limit(most))

    def plan(
        self,
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        delta: Amount | None = None,
    ) -> SessionPlan:
        """Return what `release` would do, with its cost. Reads no rows, costs nothing.

        Args:
            epsilon: What to spend. Under an (ε, δ) budget: the ε that this release
                would have alone, at the budget's δ; it is charged as the ρ it converts
                to, so that many such releases cost less than their sum.
            rho: What to spend under a budget in ρ.
            delta: What to spend on unknown keys: the probability that a key is shown
                that one row alone has. Only such questions need it, and must name it.

        Raises:
            DeclarationError: The question does not fit the schema, or the loss is
                unusable or of another currency than the budget.
        """
        dataset = check_tables(self._desk.dataset, self.query)
        loss = loss_of(self._desk.budget, epsilon, rho, delta)
        name, schema = dataset.name, dataset.schema
        bounded = make_bounded(self.query, schema, loss, dataset=name)
        if bounded is not None:
            return SessionPlan(self._desk, bounded.widest(), bounded)
        return SessionPlan(
            self._desk, make_plan(self.query, schema, loss, dataset=name)
        )

    def release(
        self,
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        delta: Amount | None = None,
        title: str = "",
        confidence: float = 0.95,
        request_key: str | None = None,
    ) -> Release:
        """Plan and release in one step; see `plan` and `SessionPlan.release`."""
        return self.plan(epsilon, rho=rho, delta=delta).release(
            title=title, confidence=confidence, request_key=request_key
        )

    def __repr__(self) -> str:
        """Say the question in words."""
        return f"<question: {visible(str(self.query))}>"


@final
class SessionPlan:
    """A plan that its session can carry out."""

    __slots__ = ("_desk", "bounded", "plan")

    def __init__(
        self, desk: Desk, plan: Plan, bounded: BoundedPlan | None = None
    ) -> None:
        """Bind; made by `Question.plan`.

        Where clipping bounds are found first, `plan` is the second step with the widest
        bounds that it can have, hence the most noise.
        """
        self._desk, self.plan, self.bounded = desk, plan, bounded

    @property
    def whole(self) -> Plan | BoundedPlan:
        """All that one debit pays for."""
        return self.plan if self.bounded is None else self.bounded

    @property
    def cost(self) -> Loss:
        """What `release` will debit."""
        return self.whole.cost

    def visible(self, confidence: float = 0.95) -> int | None:
        """Return the rows, or people, that an unknown key needs to be shown; reads no data.

        Args:
            confidence: Probability with which a key of that many is shown.

        Returns:
            A number of rows, of people where the unit is a person, or none where all
            keys are public.
        """
        threshold = self.plan.threshold
        return None if threshold is None else threshold.visible(_confidence(confidence))

    def expected(
        self, *, rows: int = 1000, confidence: float = 0.95
    ) -> tuple[Expected, ...]:
        """Return the expected error of each figure; reads no data.

        Args:
            rows: A public guess of the number of rows, on which means depend.
            confidence: Probability that an error stays below its bound.
        """
        return expected_errors(self.plan, rows=rows, confidence=_confidence(confidence))

    def release(
        self,
        *,
        title: str = "",
        confidence: float = 0.95,
        request_key: str | None = None,
    ) -> Release:
        """Answer with differential privacy.

        Args:
            title: Title of the release; default the question in words.
            confidence: Of each figure's interval, between 0 and 1.
            request_key: Names the request: asked again under the same key, the stored
                release comes back, byte for byte, and nothing more is spent.

        Returns:
            The noisy figures with intervals and the claim.

        Raises:
            DeclarationError: The confidence is not between 0 and 1. Nothing was spent.
            SourceError: The database cannot bind the statement, or the table is no
                longer the one that was opened. Nothing was spent.
            BudgetExceededError: The ledger refused. Nothing was spent.
            LedgerError: The ledger cannot be used, or the key belongs to another
                request. Nothing was spent, unless its text says that a charge stands.
            EngineError: The engine failed. The debit stands, because whether an engine
                fails may depend on the rows.
        """
        level = _confidence(confidence)
        if not isinstance(title, str):
            raise DeclarationError(
                N_("the title of a release is a text, got {value}"),
                hint=N_('write title="Glucose by outcome", or leave it out'),
                value=quoted(title),
            )
        self._desk.engine.prepare(self.plan)
        desk, told = self._desk, json.dumps(self.whole.descriptor, sort_keys=True)
        if request_key is None:
            paid = desk.ledger.debit(self.cost, plan=self.whole.digest, descriptor=told)
        else:
            done = desk.ledger.debit(
                self.cost,
                plan=self.whole.digest,
                descriptor=told,
                request_key=request_key,
            )
            if isinstance(done, Answered):
                return from_json(done.content.decode())
            paid = done
        made = self._answered(paid, title, level)
        if request_key is not None:
            said = made.to_json().encode("utf-8", "backslashreplace")
            desk.ledger.answer(paid, said)
        return made

    def _answered(self, paid: Receipt, title: str, level: float) -> Release:
        """Look at the rows; after the debit no text and no frame may carry a cell."""
        desk, delta = self._desk, told_delta(self._desk.budget)
        with Quiet() as work:
            plan, found = self._with_bounds(paid)
            return release(
                plan, desk.engine.run(plan), paid,
                title=title, confidence=level, delta=delta, found=found,
            )  # fmt: skip
        raise work.stop

    def _with_bounds(self, paid: Receipt) -> tuple[Plan, Found | None]:
        """Return the plan to answer with, after the first step if there is one."""
        if self.bounded is None:
            return self.plan, None
        counts = self._desk.engine.run(self.bounded.first)
        found = find_bounds(self.bounded, counts, paid)
        return self.bounded.second(found.bounds), found

    def compare_for_owner(self, released: Release) -> OwnerComparison:
        """Set true figures beside released ones: for the owner's eyes, never to publish.

        It is not private and costs nothing because nothing of it may leave. Where
        clipping bounds were found, the true figures are clamped to the same bounds.
        """
        plan = self.plan
        if self.bounded is not None:
            first = self.bounded.first
            plan = self.bounded.second(bounds_told(first, released))
        return compare_for_owner(plan, self._desk.engine.run(plan), released)

    def explain(self, *, rows: int = 1000) -> Explanation:
        """Say what is measured, how it is protected, what to expect, and in which SQL.

        Reads no data and costs nothing. The object prints as tables, on a terminal and
        in a notebook; ``to_text(lang="zh")`` says it in Chinese.

        Args:
            rows: A public guess of the number of rows, on which means depend.
        """
        dialect = getattr(self._desk.engine, "dialect", None)
        return self._explained(dialect, rows=rows)

    def _explained(self, dialect: Dialect | None, *, rows: int) -> Explanation:
        told = explain(self.plan, dialect=dialect, rows=rows)
        if self.bounded is None:
            return told
        found = f"; finds bounds of {', '.join(self.bounded.columns)} first"
        asked = f"{told.question}{found}, for {loss_text(self.bounded.first.cost)}"
        return replace(told, question=asked, cost=loss_text(self.cost))

    def __str__(self) -> str:
        """Show cost and expected errors, in the language of the locale."""
        return self._explained(None, rows=1000).brief()

    def __repr__(self) -> str:
        """Say the question and its cost on one line."""
        asked = visible(str(self.plan.query))
        return f"<plan: {asked}; costs {cost_words(loss_text(self.cost))}>"

    def _repr_html_(self) -> str:
        """Render for a notebook, in the language of the locale."""
        return self.explain()._repr_html_()


def _confidence(value: Any) -> float:
    if isinstance(value, int | float) and 0 < value < 1:
        return float(value)
    raise DeclarationError(
        N_("confidence must lie between 0 and 1, got {value}"),
        hint=N_("write 0.95 for intervals that hold 95 times in 100"),
        value=quoted(value),
    )
