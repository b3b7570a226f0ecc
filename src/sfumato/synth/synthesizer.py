"""The front door: from a private table to a synthetic one, within its budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from sfumato.account import GDP, Budget, Loss, loss_of, loss_text
from sfumato.amount import Amount
from sfumato.declare.dataset import Dataset
from sfumato.errors import DeclarationError
from sfumato.explain import cost_words
from sfumato.question import Desk
from sfumato.release import Claim
from sfumato.release.text import visible
from sfumato.session import Session
from sfumato.synth.arguments import check_progress, check_title
from sfumato.synth.expect import ExpectedTable, expected_tables, predicted_megabytes
from sfumato.synth.layout import layout_of
from sfumato.synth.omitted import warnings_of
from sfumato.synth.options import Method, Options, read_options
from sfumato.synth.prior import check_start, public_columns
from sfumato.synth.rules import Rule
from sfumato.synth.run import Layout, make
from sfumato.synth.synthesis import Synthesis
from sfumato.words import N_

__all__ = ["SynthesisPlan", "Synthesizer"]

_QUIET: Callable[[int, int], None] = lambda done, rounds: None  # noqa: ARG005, E731


@final
class Synthesizer:
    """Makes synthetic tables with differential privacy.

    Columns are counted on public cells; tables of two (or three) columns are chosen
    privately and measured with exact integer noise; a distribution of largest entropy is
    fitted to the noisy counts, and rows are drawn from it. The rows are post-processing:
    any number of them costs nothing more.

    Formal guarantee: the release is ``cost``-DP for the schema's unit and neighbour
    relation (`docs/synthetic.md`, `docs/proofs/synthetic.md`).

    Args:
        method: ``"adaptive"`` (each round measures what the model predicts worst; best
            up to some 30 columns), ``"oneshot"`` (all tables are rated once, the best
            set is measured once; for wide tables), ``"independent"`` (single columns
            only).
        columns: Which declared columns to make; default all. What is not declared,
            such as names and numbers of patients, is never made.
        complete: Columns that never lack a value in the output, or True for all; a
            missing cell counts as the first key or the middle of the bounds.
        cells: The most cells of the public grid on which a number column is counted.
        bins: About how many bins those cells are merged into, by noisy counts.
        forbid: Combinations that cannot be, and never appear: ``{"Sex": "M",
            "Pregnant": True}``; a value may be a list of values, none for missing, or
            for numbers a pair (low, high).
        marginals: Tables that are measured in any case: ``[("Age", "Outcome")]``.
        weights: How much the error of a column or of a table counts:
            ``{"Outcome": 3}``, from 0.001 to 1000.
        ways: Choose among tables of up to 2 or 3 columns.
        rounds: Rounds of the adaptive method, or tables that `oneshot` chooses under
            pure ε; default by a public rule.
        surrogates: Columns of new row names, put first; they carry no information.
        memory: The most megabytes that fitting may need.
        dependent: Columns that another one determines, in every row:
            ``{"region": "hospital"}``; the table from one to the other is measured, or
            declared: ``{"region": {"hospital": {"A": "north", "B": "south"}}}``.

    Raises:
        DeclarationError: A setting cannot be used. Nothing was spent.

    Examples:
        >>> import sfumato as sf
        >>> schema = sf.Schema({"ill": sf.Boolean(), "smokes": sf.Boolean()})
        >>> rows = [{"ill": i % 3 == 0, "smokes": i % 3 == 0} for i in range(3000)]
        >>> table = sf.Dataset(rows, schema=schema, name="doc")
        >>> made = Synthesizer(complete=True).fit(table, budget=sf.Epsilon("1"))
        >>> made.sample(6).names
        ('ill', 'smokes')
        >>> 2900 < made.release.total < 3100  # fails once in 10^8 runs
        True
    """

    def __init__(  # noqa: PLR0913  each is a setting by name
        self,
        method: Method = "adaptive",
        *,
        columns: Sequence[str] | None = None,
        complete: Sequence[str] | bool = (),
        cells: int = 32,
        bins: int = 10,
        forbid: Sequence[Rule] = (),
        marginals: Sequence[Sequence[str]] = (),
        weights: Mapping[Any, Amount] | None = None,
        ways: int = 2,
        rounds: int | None = None,
        surrogates: Sequence[str] = (),
        memory: int = 500,
        dependent: Mapping[str, Any] | None = None,
    ) -> None:
        """Check the settings; reads nothing."""
        given = {k: v for k, v in locals().items() if k != "self"}
        self.options: Options = read_options(given)

    def plan(  # noqa: PLR0913  each is a setting by name
        self,
        source: Session | Dataset,
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        budget: Budget | Amount | None = None,
        ledger: str | Path | None = None,
        title: str = "",
        start: Synthesis | None = None,
        public: Dataset | Synthesis | None = None,
    ) -> SynthesisPlan:
        """Return what `fit` would do, its cost and expected errors; reads no rows.

        Args:
            source: A session, whose budget pays; or a dataset, with `budget`.
            epsilon: What to spend; default, with a dataset, the whole budget.
            rho: What to spend under a budget in ρ.
            budget: The budget of a dataset; see `sfumato.Session`.
            ledger: Where it is kept; see `sfumato.Session`.
            title: Title of the release.
            start: An earlier release of the same table, to go on with: its noisy tables
                count beside the new ones. Both were paid for, and together they cost the
                sum.
            public: Rows of other people that anybody may see, as a dataset, or a release
                of such: a first guess that noisy tables correct. It must not hold rows
                of the private table.

        Raises:
            DeclarationError: The settings do not fit the schema or the budget, or
                fitting would need more than `memory`. Nothing was spent.
        """
        check_title(title)
        session, whole = _session(source, budget, ledger)
        desk = session.desk
        if epsilon is None and rho is None and whole:
            loss = desk.budget.cap
        else:
            loss = loss_of(desk.budget, epsilon, rho)
        if not isinstance(loss, GDP):  # no noise needs a chance of failure
            loss = type(loss).from_units(loss.units)
        dataset = desk.dataset
        layout = layout_of(dataset.name, dataset.schema, self.options, loss)
        before: tuple[Claim, ...] = ()
        if start is not None:
            made = check_start(start, dataset.name, dataset.schema, layout.grids)
            layout = replace(layout, start=made)
            before = (*start.release.start, start.release.claim)
        if isinstance(public, Synthesis) and _of_table(public, dataset):
            before = (*before, *public.release.start, public.release.claim)
        if public is not None:
            names = [g.name for g in layout.grids]
            layout = replace(layout, public=public_columns(public, dataset, names))
        return SynthesisPlan(desk, layout, title or dataset.name, before)

    def fit(  # noqa: PLR0913  as plan, and who is told
        self,
        source: Session | Dataset,
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        budget: Budget | Amount | None = None,
        ledger: str | Path | None = None,
        title: str = "",
        start: Synthesis | None = None,
        public: Dataset | Synthesis | None = None,
        progress: Callable[[int, int], None] = _QUIET,
    ) -> Synthesis:
        """Spend, measure and fit.

        Args:
            source: See `plan`, as for all up to `title`.
            epsilon: See `plan`.
            rho: See `plan`.
            budget: See `plan`.
            ledger: See `plan`.
            title: See `plan`.
            start: See `plan`.
            public: See `plan`.
            progress: Is told ``(rounds done, rounds)`` along the way.

        Raises:
            DeclarationError: The settings do not fit. Nothing was spent.
            BudgetExceededError: The ledger refused. Nothing was spent.
            LedgerError: The ledger cannot be used. Nothing was spent.
            EngineError: The engine failed. The debit stands.
        """
        check_progress(progress)
        return self.plan(
            source, epsilon, rho=rho, budget=budget, ledger=ledger, title=title,
            start=start, public=public,
        ).fit(progress)  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class SynthesisPlan:
    """A synthetic table before it is paid for.

    Attributes:
        layout: All that was decided.
        title: Title of the release.
        start: The claims of the releases that it goes on with.
    """

    _desk: Desk
    layout: Layout
    title: str
    start: tuple[Claim, ...] = ()

    @property
    def cost(self) -> Loss:
        """What `fit` will debit."""
        return self.layout.plan.cost

    @property
    def megabytes(self) -> int:
        """A bound on what fitting needs beyond the program itself."""
        return predicted_megabytes(self.layout)

    def expected(self, *, rows: int = 1000) -> tuple[ExpectedTable, ...]:
        """Return the error that noise alone will make in each table; reads no data.

        Args:
            rows: A public guess of the number of rows.
        """
        return expected_tables(self.layout, rows=rows)

    def warnings(self, *, rows: int = 1000, lang: str = "en") -> tuple[str, ...]:
        """Say what cannot be trusted at this cost, and which columns are left out.

        Args:
            rows: A public guess of the number of rows.
            lang: ``"en"`` or ``"zh"``.
        """
        return warnings_of(self.layout, rows=rows, lang=lang)

    def fit(self, progress: Callable[[int, int], None] = _QUIET) -> Synthesis:
        """Debit, then measure and fit; see `Synthesizer.fit`."""
        check_progress(progress)
        desk, plan = self._desk, self.layout.plan
        paid = desk.ledger.debit(
            plan.cost,
            plan=plan.digest,
            descriptor=json.dumps(plan.descriptor, sort_keys=True),
        )
        made = make(self.layout, desk.engine, paid, progress)  # type: ignore[arg-type]
        return Synthesis.of(
            made, plan, paid, desk.budget, title=self.title, start=self.start
        )

    def __str__(self) -> str:
        """Show cost, memory and expected errors."""
        cost = cost_words(loss_text(self.cost))
        lines = [f"{self.title}: {cost}, at most {self.megabytes} MB"]
        lines += [f"  {e}" for e in self.expected()]
        return "\n".join(lines + list(self.warnings()))

    def __repr__(self) -> str:
        """Say what will be made and its cost on one line."""
        cost = cost_words(loss_text(self.cost))
        return f"<plan of {visible(self.title)}: {cost}>"


def _of_table(made: Synthesis, dataset: Dataset) -> bool:
    """Tell whether a synthesis was made of this very table, alone or with others."""
    return dataset.name in (*made.release.budgets, made.release.claim.receipt.dataset)


def _session(
    source: Any, budget: Any, ledger: str | Path | None
) -> tuple[Session, bool]:
    if isinstance(source, Session):
        if budget is not None or ledger is not None:
            raise DeclarationError(
                N_("a session has its budget and its ledger already"),
                hint=N_("leave budget and ledger out, or give the dataset itself"),
            )
        return source, False
    if isinstance(source, Dataset) and budget is not None:
        return Session(source, budget, ledger=ledger), True
    raise DeclarationError(
        N_("a synthetic table needs a session, or a dataset with its budget"),
        hint=N_('write fit(session, epsilon="1"), or fit(dataset, budget=…)'),
    )
