"""The front door: one dataset, one engine, one ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, final

from sfumato.account import (
    GDP,
    ZCDP,
    ApproxDP,
    Budget,
    Epsilon,
    Loss,
    has_large_delta,
    loss_text,
    warn_of_delta,
)
from sfumato.amount import Amount
from sfumato.combine import KnownTables, private_table
from sfumato.declare.dataset import Dataset
from sfumato.declare.query import Query
from sfumato.declare.unit import terms_of
from sfumato.describe import Description, describe
from sfumato.engine.load import open_engine
from sfumato.errors import DeclarationError, SfumatoError
from sfumato.ledger import Declared, Ledger, Limit
from sfumato.question import Desk, Question
from sfumato.spending import Spending, profile_of
from sfumato.words import N_

__all__ = ["Session"]


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
        DeclarationError: The budget is not usable, or another budget pays for the rows.
        SourceError: The table cannot be opened as declared.
        LedgerError: The ledger cannot be used, records another cap or unit, or holds a
            budget of one of the dataset's tables.

    Warns:
        LargeDeltaWarning: The budget's δ is above 1e-4.

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
        if isinstance(whole, Epsilon | ZCDP) and has_large_delta(whole):
            warn_of_delta(float(whole.delta))  # ApproxDP warned when it was made
        self.dataset = dataset
        engine = open_engine(dataset)  # first: a wrong table leaves no ledger behind
        dataset.pay_from(dataset.name)
        self._ledger: Ledger[Loss] = Ledger(
            ledger,
            dataset=dataset.name,
            cap=whole.cap,
            limits=limits,
            anchor=anchor,
            declared=Declared(terms_of(dataset.schema.unit), dataset.unpaid),
        )
        self._desk = Desk(dataset, engine, self._ledger, whole)

    @property
    def desk(self) -> Desk:
        """What releases of other kinds than questions are made with."""
        return self._desk

    @property
    def budget(self) -> Budget:
        """The whole budget of the dataset, as it was given."""
        return self._desk.budget

    @property
    def ledger(self) -> Ledger[Loss]:
        """The ledger that every release and every model of this session is charged to."""
        return self._ledger

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

    def table(self, name: str) -> Question:
        """Begin a question about another private table of the dataset (``docs/joins.md``).

        Raises:
            DeclarationError: The dataset has no private table of that name.
        """
        return Question(self._desk, Query().of(private_table(self.dataset, name)))

    def ask(self, query: Query | Any) -> Question:
        """Bind a `Query` that was built elsewhere, or an expression of Ibis.

        Args:
            query: The question, or ``t.filter(…).group_by(…).aggregate(…)`` of Ibis
                about a table of the dataset's name, or joined tables of the dataset;
                the expression is taken apart and never run (``docs/ibis.md``).

        Raises:
            DeclarationError: An expression holds anything beyond the grammar.
        """
        from sfumato.declare.ibis_tree import is_ibis, read_ibis

        if is_ibis(query):
            person = getattr(self.dataset.schema.unit, "column", None)
            name = self.dataset.name
            known = KnownTables(self.dataset, name)
            query = read_ibis(query, table=name, person=person, tables=known)
        return Question(self._desk, query)

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

    def sql(self, text: str, *, table: str | None = None) -> Question:
        """Read a question from one SELECT; it is taken apart, never run as it is.

        Args:
            text: ``SELECT key, COUNT(*), AVG(column) AS name FROM … WHERE … GROUP BY
                key``; the grammar is ``docs/sql.md``.
            table: The name after FROM; default the dataset's.

        Raises:
            DeclarationError: The text holds anything beyond the grammar. Nothing was
                spent.
            MissingExtraError: sqlglot is not installed. Nothing was spent.
        """
        from sfumato.declare.sql import read_sql

        name = self.dataset.name if table is None else table
        known = KnownTables(self.dataset, name)
        return Question(self._desk, read_sql(text, table=name, tables=known))

    def describe(self) -> Description:
        """Say what is public, what is left to spend, and what can be asked.

        Reads no rows and costs nothing. The object prints as a table, on a terminal and
        in a notebook; ``to_text(lang="zh")`` says it in Chinese.

        Raises:
            LedgerError: The ledger cannot be read.
        """
        return describe(
            self.dataset,
            budget=loss_text(self._ledger.cap),
            spent=loss_text(self.spent),
            left=loss_text(self.left),
        )

    def __repr__(self) -> str:
        """Show declarations and the budget."""
        return f"Session({self.dataset!r}, budget={self.budget!r}, left={self.left!r})"

    def _repr_html_(self) -> str:
        """Render for a notebook: what `describe` says."""
        return self.describe()._repr_html_()

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


def _read_budget(value: Any) -> Budget:
    return value if isinstance(value, ZCDP | GDP | ApproxDP) else Epsilon(value)
