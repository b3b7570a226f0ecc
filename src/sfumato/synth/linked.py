"""Two or three linked tables: patients, and their visits.

The protected unit is a person with all her rows in all tables. The head table, of one
row per person, is made together with the number of her rows in each other table; another
table is made together with the columns of the head that are shared, so that both what a
visit is and how many there are may depend on whose they are. Then patients are drawn,
with their numbers of visits, and for each of them visits like hers: keys agree by
construction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from sfumato.account import Budget, Loss, loss_of, loss_text
from sfumato.amount import Amount
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Integer, Schema
from sfumato.engine.linked import Heads, Tails, Together
from sfumato.errors import DeclarationError
from sfumato.explain import cost_words
from sfumato.question import Desk
from sfumato.release import Receipt
from sfumato.release.text import visible
from sfumato.session import Session
from sfumato.synth.arguments import check_progress
from sfumato.synth.belong import (
    check_desks,
    check_left,
    check_linked,
    check_names,
    check_tables,
    desks_of,
    payers_of,
)
from sfumato.synth.expect import ExpectedTable, expected_tables, predicted_megabytes
from sfumato.synth.joined import LinkedSynthesis
from sfumato.synth.layout import layout_of
from sfumato.synth.omitted import warnings_of
from sfumato.synth.options import Options
from sfumato.synth.run import Layout, make
from sfumato.synth.search import split
from sfumato.synth.synthesis import Synthesis
from sfumato.synth.synthesizer import Synthesizer
from sfumato.words import N_

__all__ = ["LinkedPlan", "LinkedSynthesizer"]

_QUIET: Callable[[int, int], None] = lambda done, rounds: None  # noqa: ARG005, E731


@final
class LinkedSynthesizer:
    """Makes synthetic tables that belong together, with differential privacy.

    Every table declares the same people: the head ``sf.Unit("patient_id", max_rows=1,
    max_groups=1)``, another ``sf.Unit("patient_id", max_rows=5, max_groups=1)``, where at
    most so many rows of a person count fully and are made of one.

    Formal guarantee: all releases together are ``cost``-DP for a person with all her rows
    in all tables, added or removed (`docs/proofs/synthetic.md`, section 6).

    Args:
        head: How the head table is made; default as ``Synthesizer()``.
        others: How other tables are made, by name; likewise.
        shared: Columns of the head on which rows of the other tables depend; default all.
        weights: How the price is shared: ``{"visits": 2}``; default alike. The head's
            stands under its name, or under none: ``""``.

    Raises:
        DeclarationError: A setting cannot be used. Nothing was spent.

    Examples:
        >>> import sfumato as sf
        >>> who = lambda n: sf.Unit("id", max_rows=n, max_groups=1)
        >>> people = [{"id": i, "sex": "FM"[i % 2]} for i in range(900)]
        >>> visits = [{"id": i % 900, "ill": i % 2 == 0} for i in range(1800)]
        >>> sex, ill = {"sex": sf.Category(["F", "M"])}, {"ill": sf.Boolean()}
        >>> head = sf.Dataset(people, schema=sf.Schema(sex, who(1)), name="patients")
        >>> other = sf.Dataset(visits, schema=sf.Schema(ill, who(3)), name="visits")
        >>> made = LinkedSynthesizer().fit(head, {"visits": other}, budget=sf.Epsilon("2"))
        >>> tables = made.sample(100)
        >>> tables["visits"].names, set(tables["visits"]["id"]) <= set(tables["patients"]["id"])
        (('id', 'ill'), True)
    """

    def __init__(
        self,
        head: Synthesizer | None = None,
        others: Mapping[str, Synthesizer] | None = None,
        *,
        shared: Sequence[str] | None = None,
        weights: Mapping[str, int] | None = None,
    ) -> None:
        """Keep the settings; reads nothing."""
        check_linked(head, others, shared, weights)
        self.head = Synthesizer() if head is None else head
        self.others = dict(others or {})
        self.shared = None if shared is None else tuple(shared)
        self.weights = dict(weights or {})

    def plan(
        self,
        head: Session | Dataset,
        others: Mapping[str, Session | Dataset] | Sequence[str],
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        budget: Budget | Amount | None = None,
        ledger: str | Path | None = None,
    ) -> LinkedPlan:
        """Return what `fit` would do and cost; reads no rows.

        Args:
            head: The table of one row per person: a session, whose budget pays; or a
                dataset, with `budget`.
            others: One or two other tables, by name; likewise. Or the names of private
                tables of the head's dataset, all of whose rows one budget protects.
            epsilon: What to spend; with datasets, default the whole budget.
            rho: What to spend under a budget in ρ.
            budget: The budget of each dataset; see `sfumato.Session`.
            ledger: Where it is kept; see `sfumato.Session`.

        Raises:
            DeclarationError: The tables do not fit each other, the settings or the
                budget. Nothing was spent.
            BudgetExceededError: A table's budget does not allow it. Nothing was spent.
        """
        first, desks = desks_of(head, others, budget, ledger)
        tables = {name: desk.dataset for name, desk in desks.items()}
        self._check(first.dataset, tables)
        check_desks(first, desks)
        if epsilon is None and rho is None and budget is not None:
            loss = first.budget.cap
        else:
            loss = loss_of(first.budget, epsilon, rho)
        loss = type(loss).from_units(loss.units)
        check_left(first, desks, self._prices(first.dataset, tables, loss))
        layouts = self.layouts(first.dataset, tables, loss)
        return LinkedPlan(first, desks, layouts, self._shared(first.dataset), loss)

    def layouts(
        self, head: Dataset, others: Mapping[str, Dataset], loss: Loss
    ) -> dict[str, Layout]:
        """Return what would be done for each table, from declarations alone.

        Args:
            head: The table of one row per person.
            others: One or two other tables, by name.
            loss: The price of all of them.

        Returns:
            The head's under the empty name, then each other table's.

        Raises:
            DeclarationError: The tables do not fit each other or the settings. Nothing
                was opened.
        """
        self._check(head, others)
        first, *prices = self._prices(head, others, loss)
        shared, own = self._shared(head), self.head.options
        found = {"": _head_layout(head, others, own, first)}
        for (name, table), price in zip(others.items(), prices, strict=True):
            options = self.others.get(name, Synthesizer()).options
            found[name] = _tail_layout((head, table), shared, options, own, price)
        return found

    def _check(self, head: Dataset, others: Mapping[str, Dataset]) -> None:
        check_tables(head, others)
        check_names(head, others, self.others, self.weights)

    def _prices(
        self, head: Dataset, others: Mapping[str, Dataset], loss: Loss
    ) -> tuple[Loss, ...]:
        own = self.weights.get("", self.weights.get(head.name, 1))
        return split(loss, [own, *(self.weights.get(name, 1) for name in others)])

    def fit(  # noqa: PLR0913  as plan, and who is told
        self,
        head: Session | Dataset,
        others: Mapping[str, Session | Dataset] | Sequence[str],
        epsilon: Amount | Loss | None = None,
        *,
        rho: Amount | None = None,
        budget: Budget | Amount | None = None,
        ledger: str | Path | None = None,
        progress: Callable[[int, int], None] = _QUIET,
    ) -> LinkedSynthesis:
        """Spend, measure and fit; arguments as for `plan`.

        Raises:
            DeclarationError: Something does not fit. Nothing was spent.
            SourceError: A table cannot be opened. Nothing was spent.
            BudgetExceededError: A ledger refused.
            EngineError: An engine failed. The debits stand.
        """
        check_progress(progress)
        asked = self.plan(head, others, epsilon, rho=rho, budget=budget, ledger=ledger)
        return asked.fit(progress)

    def _shared(self, head: Dataset) -> tuple[str, ...]:
        names = self.head.options.modelled(head.schema)
        if self.shared is None:
            return names
        for name in self.shared:
            _ = head.schema[name]
            if name not in names:
                raise DeclarationError(
                    N_("column {name} is shared, and not made in the head table"),
                    hint=N_("share one of {names}"),
                    name=repr(name),
                    names=", ".join(map(repr, names)),
                )
        return tuple(n for n in names if n in self.shared)


@final
@dataclass(frozen=True, slots=True)
class LinkedPlan:
    """Linked tables before they are paid for.

    Attributes:
        layouts: What was decided for each table; the head's under the empty name.
        shared: The columns of the head on which other tables depend.
        cost: What `fit` will debit: of the head's budget. Another table's budget, if it
            has one of its own, pays for the head and for itself.
    """

    _head: Desk
    _others: dict[str, Desk]
    layouts: dict[str, Layout]
    shared: tuple[str, ...]
    cost: Loss

    def fit(self, progress: Callable[[int, int], None] = _QUIET) -> LinkedSynthesis:
        """Debit every budget, then measure and fit; see `LinkedSynthesizer.fit`."""
        check_progress(progress)
        made: dict[str, Synthesis] = {}
        datasets = {n: d.dataset for n, d in self._others.items()}
        with Together(self._head.dataset, datasets) as together:  # before any debit
            paid = {name: self._debit(name) for name in self.layouts}
            for name, layout in self.layouts.items():
                counter: Any = Heads(together, {n: n for n in self._others})
                if name:
                    counter = Tails(together, name, self._borrowed(name))
                fitted = make(layout, counter, paid[name], progress)
                title = name or self._head.dataset.name
                payers = payers_of(self._head, self._others, name)
                made[name] = Synthesis.of(
                    fitted, layout.plan, paid[name], self._head.budget, title=title,
                    budgets=tuple(ledger.dataset for ledger in payers),
                )  # fmt: skip
        key = self._head.dataset.schema.unit.column  # type: ignore[union-attr]
        return LinkedSynthesis(
            self._head.dataset.name, key, self.shared, made, loss_text(self.cost)
        )

    def _borrowed(self, name: str) -> dict[str, str]:
        head = self._head.dataset.name
        return {f"{head}.{c}": c for c in self.shared} if name else {}

    def _debit(self, name: str) -> Receipt:
        """Debit a table's price from the budgets of all tables that it reads."""
        plan = self.layouts[name].plan
        text = json.dumps(plan.descriptor, sort_keys=True)
        receipts = [
            ledger.debit(plan.cost, plan=plan.digest, descriptor=text)
            for ledger in payers_of(self._head, self._others, name)
        ]
        return receipts[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The tables, the head first."""
        return tuple(name or self._head.dataset.name for name in self.layouts)

    @property
    def megabytes(self) -> int:
        """A bound on what fitting needs, beyond the program and the rows' bins."""
        return max(map(predicted_megabytes, self.layouts.values()))

    def expected(self, *, rows: int = 1000) -> dict[str, tuple[ExpectedTable, ...]]:
        """Return the error that noise alone will make in each table; reads no data.

        Args:
            rows: A public guess of the number of rows of every table.
        """
        found = (expected_tables(x, rows=rows) for x in self.layouts.values())
        return dict(zip(self.names, found, strict=True))

    def warnings(self, *, rows: int = 1000, lang: str = "en") -> tuple[str, ...]:
        """Say what cannot be trusted at this cost, and which columns are left out.

        Args:
            rows: A public guess of the number of rows.
            lang: ``"en"`` or ``"zh"``.
        """
        return tuple(
            f"{name}: {text}"
            for name, layout in zip(self.names, self.layouts.values(), strict=True)
            for text in warnings_of(layout, rows=rows, lang=lang, keyed=True)
        )

    def __str__(self) -> str:
        """Show the cost of each table."""
        lines = [
            f"{name}: {cost_words(loss_text(layout.plan.cost))}"
            for name, layout in zip(self.names, self.layouts.values(), strict=True)
        ]
        return "\n".join(lines + list(self.warnings()))

    def __repr__(self) -> str:
        """Say what will be made and its cost on one line."""
        cost = cost_words(loss_text(self.cost))
        return f"<plan of {', '.join(map(visible, self.names))}: {cost}>"


def _head_layout(
    head: Dataset, others: Mapping[str, Dataset], options: Options, price: Loss
) -> Layout:
    """Return the layout of the head, with a column for each number of rows."""
    schema = head.schema
    numbers = {
        name: Integer(0, other.schema.unit.max_rows, complete=True)
        for name, other in others.items()
    }
    made = Schema({**dict(schema.columns), **numbers}, schema.unit)
    if options.columns:
        options = replace(options, columns=(*options.columns, *numbers))
    return layout_of(head.name, made, options, price)


def _tail_layout(
    tables: tuple[Dataset, Dataset], shared: Sequence[str], options: Options,
    of_head: Options, price: Loss,
) -> Layout:  # fmt: skip
    """Return the layout of another table, with the columns that it shares."""
    head, table = tables
    schema, prefix = table.schema, head.name
    lent = {f"{prefix}.{c}": head.schema[c] for c in shared}
    made = Schema({**dict(schema.columns), **lent}, schema.unit)
    if options.columns:
        options = replace(options, columns=(*options.columns, *lent))
    whole = of_head.whole(head.schema)
    complete = [f"{prefix}.{c}" for c in shared if c in whole]
    if "*" not in options.complete:
        options = replace(options, complete=(*options.complete, *complete))
    return layout_of(table.name, made, options, price)
