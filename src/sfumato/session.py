"""The front door: one dataset, one engine, one ledger.

The order that makes it safe is in one method, `SessionPlan.release`: plan, debit, run,
release.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from sfumato.account import Epsilon, KNorm
from sfumato.amount import Amount
from sfumato.declare.dataset import Dataset
from sfumato.declare.expr import Expr
from sfumato.declare.query import Query, Statistic
from sfumato.engine import Engine
from sfumato.engine.load import open_engine
from sfumato.errors import DeclarationError, EngineError, SfumatoError
from sfumato.gate import compare_for_owner, release
from sfumato.ledger import Ledger
from sfumato.plan import Expected, Plan, bound, expected_errors, make_plan
from sfumato.release import OwnerComparison, Release
from sfumato.words import N_

__all__ = ["Question", "Session", "SessionPlan"]


@final
@dataclass(frozen=True, slots=True)
class _Desk:
    """What a question needs: the declarations, the engine and the ledger."""

    dataset: Dataset
    engine: Engine
    ledger: Ledger


@final
class Session:
    """Asks questions of one private dataset, within one budget.

    Args:
        dataset: The table and its declarations.
        budget: The whole budget, such as ``sf.Epsilon("1")``.
        ledger: Path of the ledger file, where the budget is kept durably and may be
            shared by processes. Without it the budget lives as long as this session.

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
        budget: Epsilon | Amount,
        *,
        ledger: str | Path | None = None,
    ) -> None:
        """Open the table and the ledger; spends nothing."""
        if not isinstance(dataset, Dataset):
            raise DeclarationError(
                N_("a session needs a Dataset, got {value}"),
                hint=N_("write sf.Session(sf.Dataset(table, schema=…), budget=…)"),
                value=type(dataset).__name__,
            )
        cap = Epsilon(budget)
        self.dataset = dataset
        engine = open_engine(dataset)  # first: a wrong table leaves no ledger behind
        self._ledger = Ledger(ledger, dataset=dataset.name, cap=cap)
        self._desk = _Desk(dataset, engine, self._ledger)

    @property
    def budget(self) -> Epsilon:
        """The whole budget of the dataset."""
        return self._ledger.cap

    @property
    def spent(self) -> Epsilon:
        """What is spent so far, by every session on this ledger."""
        return self._ledger.spent

    @property
    def left(self) -> Epsilon:
        """What can still be spent."""
        return self._ledger.left

    def query(self) -> Question:
        """Begin a question: ``session.query().where(…).group_by(…).select(…)``."""
        return Question(self._desk, Query())

    def ask(self, query: Query) -> Question:
        """Bind a `Query` that was built elsewhere."""
        return Question(self._desk, query)

    def describe(self) -> str:
        """Say what is public and what is left to spend; reads no rows."""
        unit = self.dataset.schema.unit
        lines = [
            f"dataset {self.dataset.name}: unit one row, neighbours {unit.neighbours}"
            + (f", {unit.size} rows (public)" if unit.size else ""),
            f"budget epsilon {self.budget}, left {self.left}",
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

    def plan(self, epsilon: Amount | Epsilon) -> SessionPlan:
        """Return what `release` would do, with its cost. Reads no rows, costs nothing.

        Raises:
            DeclarationError: The question does not fit the schema, or ε is unusable.
        """
        dataset = self._desk.dataset
        plan = make_plan(self.query, dataset.schema, epsilon, dataset=dataset.name)
        return SessionPlan(self._desk, plan)

    def release(
        self, epsilon: Amount | Epsilon, *, title: str = "", confidence: float = 0.95
    ) -> Release:
        """Plan and release in one step; see `SessionPlan.release`."""
        return self.plan(epsilon).release(title=title, confidence=confidence)

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
    def cost(self) -> Epsilon:
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

    def release(self, *, title: str = "", confidence: float = 0.95) -> Release:
        """Answer with differential privacy.

        Args:
            title: Title of the release; default the question in words.
            confidence: Of each figure's interval, between 0 and 1.

        Returns:
            The noisy figures with intervals and the claim.

        Raises:
            DeclarationError: The confidence is not between 0 and 1. Nothing was spent.
            BudgetExceededError: The ledger refused. Nothing was spent.
            EngineError: The engine failed. The debit stands, because whether an engine
                fails may depend on the rows.
        """
        level = _confidence(confidence)
        receipt = self._desk.ledger.debit(self.cost, plan=self.plan.digest)
        with suppress(Exception):  # after the debit no text may carry a cell
            exact = self._desk.engine.run(self.plan)
            return release(self.plan, exact, receipt, title=title, confidence=level)
        raise EngineError  # out here, so that it carries no context either

    def compare_for_owner(self, released: Release) -> OwnerComparison:
        """Set true figures beside released ones: for the owner's eyes, never to publish.

        It is not private and costs nothing because nothing of it may leave.
        """
        return compare_for_owner(self.plan, self._desk.engine.run(self.plan), released)

    def explain(self) -> str:
        """List steps, sensitivities, noise and shares of ε; reads no data."""
        lines = [f"{self.plan.query}: epsilon {self.cost}"]
        for step in self.plan.steps:
            m = step.mechanism
            how = (
                f"joint noise of {len(step.parts)} measurements"
                if isinstance(m, KNorm)
                else f"geometric noise of scale {float(m.scale):g}"
            )
            lines.append(f"  epsilon {m.cost}: {how}")
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
            f"cost: epsilon {self.cost} per row ({unit.neighbours})",
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


def _confidence(value: Any) -> float:
    if isinstance(value, int | float) and 0 < value < 1:
        return float(value)
    raise DeclarationError(
        N_("confidence must lie between 0 and 1, got {value}"),
        hint=N_("write 0.95 for intervals that hold 95 times in 100"),
        value=repr(value)[:60],
    )
