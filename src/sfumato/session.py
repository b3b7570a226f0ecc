"""The front door: one dataset, one engine, one ledger.

The order that makes it safe is in one method, `SessionPlan.release`: plan, debit, run,
release.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from sfumato.account import (
    GDP,
    ZCDP,
    ApproxDP,
    Budget,
    Epsilon,
    KNorm,
    Loss,
    loss_of,
    loss_text,
    told_delta,
)
from sfumato.amount import Amount
from sfumato.declare.dataset import Dataset
from sfumato.declare.expr import Expr
from sfumato.declare.query import Query, Statistic
from sfumato.declare.sql import read_sql
from sfumato.engine import Engine
from sfumato.engine.load import open_engine
from sfumato.errors import DeclarationError, EngineError, SfumatoError
from sfumato.gate import compare_for_owner, release
from sfumato.ledger import Answered, Ledger, Limit
from sfumato.plan import Expected, Plan, bound, expected_errors, make_plan
from sfumato.release import OwnerComparison, Release, from_json
from sfumato.spending import Spending, profile_of
from sfumato.words import N_

__all__ = ["Question", "Session", "SessionPlan"]


@final
@dataclass(frozen=True, slots=True)
class _Desk:
    """What a question needs: the declarations, the engine and the ledger."""

    dataset: Dataset
    engine: Engine
    ledger: Ledger[Loss]
    budget: Budget


@final
class Session:
    """Asks questions of one private dataset, within one budget.

    Args:
        dataset: The table and its declarations.
        budget: The whole budget: ``sf.Epsilon("1")``, ``sf.ZCDP("0.1")`` (ρ) or
            ``sf.ApproxDP("1", "1e-6")``; a number counts as a pure ε. Budgets in ρ buy
            Gaussian noise.
        ledger: Path of the ledger file or ``postgresql://…``, where the budget is kept
            durably and may be shared by processes. Without it the budget lives as long
            as this session.
        limits: Caps of an analyst or a project below the dataset's, charged by every
            release of this session.
        anchor: Where the ledger's anchor lies; default beside the ledger.

    Raises:
        DeclarationError: The budget is not usable.
        SourceError: The table cannot be opened as declared.
        LedgerError: The ledger cannot be used, or records another cap.

    Examples:
        >>> import sfumato as sf
        >>> schema = sf.Schema({"glucose": sf.Real(0, 250, step=1)})
        >>> rows = {"glucose": [120, 180, None, 90] * 1000}
        >>> import pandas
        >>> patients = sf.Dataset(pandas.DataFrame(rows), schema=schema, name="demo")
        >>> session = sf.Session(patients, budget=sf.Epsilon("1"))
        >>> ask = session.query().select(sf.count(), sf.mean("glucose"))
        >>> release = ask.release(epsilon="0.5")
        >>> 3900 < release["count"].estimate < 4100  # fails once in 10^8 runs
        True
        >>> session.left
        Epsilon("0.5")
    """

    def __init__(
        self,
        dataset: Dataset,
        budget: Budget | Amount,
        *,
        ledger: str | Path | None = None,
        limits: Sequence[Limit] = (),
        anchor: str | Path | None = None,
    ) -> None:
        """Open the table and the ledger; spends nothing."""
        if not isinstance(dataset, Dataset):
            raise DeclarationError(
                N_("a session needs a Dataset, got {value}"),
                hint=N_("write sf.Session(sf.Dataset(table, schema=…), budget=…)"),
                value=type(dataset).__name__,
            )
        whole = _read_budget(budget)
        self.dataset = dataset
        engine = open_engine(dataset)  # first: a wrong table leaves no ledger behind
        self._ledger: Ledger[Loss] = Ledger(
            ledger,
            dataset=dataset.name,
            cap=whole.cap,
            limits=limits,
            anchor=anchor,
        )
        self._desk = _Desk(dataset, engine, self._ledger, whole)

    @property
    def budget(self) -> Budget:
        """The whole budget of the dataset, as it was given."""
        return self._desk.budget

    @property
    def spent(self) -> Loss:
        """What is spent so far, by every session on this ledger."""
        return self._ledger.spent

    @property
    def left(self) -> Loss:
        """What can still be spent."""
        return self._ledger.left

    def query(self) -> Question:
        """Begin a question: ``session.query().where(…).group_by(…).select(…)``."""
        return Question(self._desk, Query())

    def ask(self, query: Query) -> Question:
        """Bind a `Query` that was built elsewhere."""
        return Question(self._desk, query)

    def sql(self, text: str, *, table: str = "") -> Question:
        """Read one SELECT as a question; see `sfumato.declare.sql`, nothing is spent."""
        return self.ask(read_sql(text, table=table or self.dataset.name))

    def profile(self) -> Spending:
        """Return the privacy profile of all that was spent: δ at an ε, ε at a δ.

        A report, never a guard: valid only if the parameters of all questions were
        fixed beforehand; see `sfumato.account.profile`. With blocks it is that of the
        part that lost most. Reads no rows and costs nothing.

        Raises:
            LedgerError: The ledger cannot be read.

        Examples:
            >>> import sfumato as sf
            >>> rows = {"x": [1, 0] * 100}
            >>> schema = sf.Schema({"x": sf.Boolean()})
            >>> import pandas
            >>> data = sf.Dataset(pandas.DataFrame(rows), schema=schema, name="demo")
            >>> session = sf.Session(data, budget=sf.ZCDP("0.1"))
            >>> _ = session.query().select(sf.count()).release(rho="0.05")
            >>> round(session.profile().epsilon("1e-6"), 3)
            1.368
        """
        return profile_of(self._ledger.balances(), self._ledger.mechanisms())

    def describe(self) -> str:
        """Say what is public and what is left to spend; reads no rows."""
        unit = self.dataset.schema.unit
        lines = [
            f"dataset {self.dataset.name}: unit one row, neighbours {unit.neighbours}"
            + (f", {unit.size} rows (public)" if unit.size else ""),
            f"budget {loss_text(self._ledger.cap)}, left {self.left}",
        ]
        lines += [f"  {name}: {column}" for name, column in self.dataset.schema.columns]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Show declarations and the budget."""
        return f"Session({self.dataset!r}, budget={self.budget}, left={self.left})"

    def __copy__(self) -> Session:
        """Share the one session: a copy must not double the budget."""
        return self

    def __deepcopy__(self, memo: object) -> Session:
        """Share the one session: a copy must not double the budget."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse pickling: another process opens its own session."""
        raise SfumatoError(
            N_("a session cannot be pickled"),
            hint=N_("open a session in the other process with the same ledger file"),
        )


@final
class Question:
    """A question bound to a session; each step returns a new one."""

    __slots__ = ("_desk", "query")

    def __init__(self, desk: _Desk, query: Query) -> None:
        """Bind; made by `Session.query`."""
        self._desk, self.query = desk, query

    def where(self, condition: Expr) -> Question:
        """Keep the rows where `condition` is true."""
        return Question(self._desk, self.query.where(condition))

    def group_by(self, *columns: str) -> Question:
        """Answer for each combination of the declared keys of these columns."""
        return Question(self._desk, self.query.group_by(*columns))

    def select(self, *statistics: Statistic) -> Question:
        """Ask for these statistics."""
        return Question(self._desk, self.query.select(*statistics))

    def plan(
        self, epsilon: Amount | Loss | None = None, *, rho: Amount | None = None
    ) -> SessionPlan:
        """Return what `release` would do, with its cost. Reads no rows, costs nothing.

        Args:
            epsilon: What to spend. Under an (ε, δ) budget: the ε that this release
                would have alone, at the budget's δ; it is charged as the ρ it converts
                to, so that many such releases cost less than their sum.
            rho: What to spend under a budget in ρ.

        Raises:
            DeclarationError: The question does not fit the schema, or the loss is
                unusable or of another currency than the budget.
        """
        dataset, loss = self._desk.dataset, self._loss(epsilon, rho)
        plan = make_plan(self.query, dataset.schema, loss, dataset=dataset.name)
        return SessionPlan(self._desk, plan)

    def release(
        self,
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        title: str = "",
        confidence: float = 0.95,
        request_key: str | None = None,
    ) -> Release:
        """Plan and release in one step; see `plan` and `SessionPlan.release`."""
        return self.plan(epsilon, rho=rho).release(
            title=title, confidence=confidence, request_key=request_key
        )

    def _loss(self, epsilon: Amount | Loss | None, rho: Amount | None) -> Loss:
        return loss_of(self._desk.budget, epsilon, rho)

    def __repr__(self) -> str:
        """Say the question in words."""
        return f"<question: {self.query}>"


@final
class SessionPlan:
    """A plan that its session can carry out."""

    __slots__ = ("_desk", "plan")

    def __init__(self, desk: _Desk, plan: Plan) -> None:
        """Bind; made by `Question.plan`."""
        self._desk, self.plan = desk, plan

    @property
    def cost(self) -> Loss:
        """What `release` will debit."""
        return self.plan.cost

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
            BudgetExceededError: The ledger refused. Nothing was spent.
            LedgerError: The ledger cannot be used, or the key belongs to another
                request. Nothing was spent, unless its text says that a charge stands.
            EngineError: The engine failed. The debit stands, because whether an engine
                fails may depend on the rows.
        """
        level = _confidence(confidence)
        desk, told = self._desk, json.dumps(self.plan.descriptor, sort_keys=True)
        if request_key is None:
            paid = desk.ledger.debit(self.cost, plan=self.plan.digest, descriptor=told)
        else:
            done = desk.ledger.debit(
                self.cost,
                plan=self.plan.digest,
                descriptor=told,
                request_key=request_key,
            )
            if isinstance(done, Answered):
                return from_json(done.content.decode())
            paid = done
        made: Release | None = None
        with suppress(Exception):  # after the debit no text may carry a cell
            exact = desk.engine.run(self.plan)
            delta = told_delta(desk.budget)
            made = release(
                self.plan, exact, paid, title=title, confidence=level, delta=delta
            )
        if made is None:
            raise EngineError  # out here, so that it carries no context either
        if request_key is not None:
            desk.ledger.answer(paid, made.to_json().encode())
        return made

    def compare_for_owner(self, released: Release) -> OwnerComparison:
        """Set true figures beside released ones: for the owner's eyes, never to publish.

        It is not private and costs nothing because nothing of it may leave.
        """
        return compare_for_owner(self.plan, self._desk.engine.run(self.plan), released)

    def explain(self) -> str:
        """List steps, sensitivities, noise and shares of ε; reads no data."""
        lines = [f"{self.plan.query}: {loss_text(self.cost)}"]
        for step in self.plan.steps:
            m = step.mechanism
            how = (
                f"joint noise of {len(step.parts)} measurements"
                if isinstance(m, KNorm)
                else f"{type(m).__name__} noise of scale {float(m.scale):g}"
            )
            lines.append(f"  {loss_text(self.plan.charge(step))}: {how}")
            for part in step.parts:
                measured = self.plan.parts[part]
                lines.append(
                    f"    {measured.aggregate}: one row changes it by at most "
                    f"{bound(measured.aggregate)}, {measured.cells} cells"
                )
        return "\n".join(lines)

    def __str__(self) -> str:
        """Show cost and expected errors."""
        unit = self.plan.schema.unit
        lines = [
            f"{self.plan.query}",
            f"cost: {loss_text(self.cost)} per row ({unit.neighbours})",
        ]
        for e in self.expected():
            rows = f" at {e.rows:g} rows" if e.rows else ""
            lines.append(
                f"  {e.name}: ±{e.error:.4g} (95 %), {e.mean_absolute:.4g} on average{rows}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Show cost and expected errors."""
        return str(self)


def _read_budget(value: Any) -> Budget:
    return value if isinstance(value, ZCDP | GDP | ApproxDP) else Epsilon(value)


def _confidence(value: Any) -> float:
    if isinstance(value, int | float) and 0 < value < 1:
        return float(value)
    raise DeclarationError(
        N_("confidence must lie between 0 and 1, got {value}"),
        hint=N_("write 0.95 for intervals that hold 95 times in 100"),
        value=repr(value)[:60],
    )
