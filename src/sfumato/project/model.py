"""The project file as strict pydantic models: what may stand in it, and nothing else.

The models check shape; whether a declaration makes sense is asked of the declarations
themselves, so that file, Python and command line refuse the same things in the same
words.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from sfumato.errors import DeclarationError
from sfumato.project.column import ColumnTable, DeriveTable
from sfumato.project.learned import ModelTable
from sfumato.project.rows import FigureTable, RowsTable
from sfumato.project.statistic import StatisticTable
from sfumato.project.synthetic import SyntheticTable
from sfumato.project.unit import UnitTable
from sfumato.project.value import (
    Delta,
    Loss,
    Positive,
    Ratio,
    Rho,
    Share,
    Strict,
    Title,
    Titles,
)
from sfumato.words import N_

__all__ = [
    "BudgetTable",
    "ColumnTable",
    "DataTable",
    "DeriveTable",
    "FigureTable",
    "LimitTable",
    "OtherTable",
    "OutputTable",
    "ProjectFile",
    "ReleaseTable",
    "RowsTable",
    "StatisticTable",
    "Titles",
    "UnitTable",
]


class DataTable(Strict):
    """Where the table is and how it is written."""

    source: str = Field(
        min_length=1,
        description="Path of the table, from the project file's folder; or "
        '"postgresql://…", "spark", "sc://…" or "spark://…"',
    )
    name: str = Field(
        min_length=1,
        description="Identity in the ledger: all releases under it share one budget",
    )
    encoding: str = Field(
        default="utf-8", description="Such as utf-8, gb18030 or utf-16"
    )
    separator: str = Field(default=",", description="One character between cells")
    decimal: Literal[".", ","] = "."
    thousands: str | None = Field(
        default=None, description="Sign to remove inside numbers"
    )
    table: str | None = Field(
        default=None, min_length=1, description="Name of the table in the database"
    )
    schema_: str | None = Field(
        default=None,
        alias="schema",
        min_length=1,
        description='Schema of the table in PostgreSQL; default "public"',
    )
    seconds: int | None = Field(
        default=None,
        gt=0,
        description="After how long PostgreSQL gives a statement up; default 600",
    )


class OtherTable(DataTable):
    """Another table: private and of the same people, or public."""

    name: str = Field(min_length=1, description="What releases call it")
    unit: UnitTable | None = Field(
        default=None, description="Of a private table; default: that of the dataset"
    )
    key: str | list[str] | None = Field(
        default=None, description="Of a public table: the columns that name one row"
    )
    columns: dict[str, ColumnTable] = Field(
        min_length=1, description="By the exact name in the table"
    )

    @property
    def located(self) -> DataTable:
        """Where it is and how it is written."""
        names = DataTable.model_fields.keys() & self.model_fields_set
        given = {n.rstrip("_"): getattr(self, n) for n in names}
        return DataTable.model_validate(given)

    @model_validator(mode="after")
    def _fits(self) -> OtherTable:
        if self.key is not None and self.unit is not None:
            raise DeclarationError(
                N_("a public table has a key and no unit"),
                hint=N_("remove unit, or remove key if its rows are private"),
            )
        return self


class LimitTable(Strict):
    """What one analyst or project may spend of the budget."""

    kind: Literal["analyst", "project"]
    name: str = Field(min_length=1)
    epsilon: Loss = Field(default=None, description="Cap, where the budget is in ε")
    rho: Rho = Field(default=None, description="Cap, where the budget is in ρ")

    @model_validator(mode="after")
    def _fits(self) -> LimitTable:
        _one_amount(self.epsilon, self.rho)
        return self


class BudgetTable(Strict):
    """What all releases together may cost."""

    epsilon: Loss = Field(
        default=None, description="The whole budget of the dataset, for ever"
    )
    rho: Rho = Field(
        default=None, description="Instead of epsilon: the whole budget as ρ of zCDP"
    )
    delta: Delta = Field(default=None, description="δ beside epsilon, such as 1e-6")
    gaussian_only: bool = Field(
        default=False, description="Account exactly for Gaussian noise; no other"
    )
    threshold_delta: Delta = Field(
        default=None,
        description="δ kept for unknown keys: part of delta, or beside epsilon or rho",
    )
    split: Literal["equal", "weighted", "geometric", "optimal"] | None = Field(
        default=None, description="Shares what is left over among the other releases"
    )
    ratio: Ratio = Field(default=None, description="Of split geometric; default 0.8")
    limits: list[LimitTable] = Field(default_factory=list)
    ledger: str | None = Field(
        default=None,
        min_length=1,
        description="Path of the ledger, or postgresql://…; default: the project's "
        "name with .ledger",
    )
    anchor: str | None = Field(
        default=None,
        min_length=1,
        description="Path of the ledger's anchor; default: beside the ledger",
    )

    @model_validator(mode="after")
    def _fits(self) -> BudgetTable:
        _one_amount(self.epsilon, self.rho)
        if self.rho is not None and self.delta is not None:
            raise DeclarationError(
                N_("delta goes with epsilon, not with rho"),
                hint=N_("remove it; for unknown keys write threshold_delta"),
            )
        if self.threshold_delta is not None and self.gaussian_only:
            raise DeclarationError(
                N_("a Gaussian budget shows no unknown keys"),
                hint=N_("remove gaussian_only, or remove threshold_delta"),
            )
        if self.ratio is not None and self.split != "geometric":
            raise DeclarationError(
                N_("ratio goes with a geometric split only"),
                hint=N_('write split = "geometric", or remove ratio'),
            )
        return self


def _one_amount(epsilon: object, rho: object) -> None:
    if (epsilon is None) == (rho is None):
        fact = N_("either epsilon or rho must be given")
        if epsilon is not None:
            fact = N_("epsilon and rho are both given")
        raise DeclarationError(
            fact, hint=N_('write epsilon = "0.5" or rho = "0.01", one of them')
        )


_SAID = ("statistics", "group_by", "keys", "other", "where", "rows")


class ReleaseTable(Strict):
    """One release: a question and what it may cost."""

    name: str = Field(min_length=1, description="Short name, for --only")
    title: Title | None = Field(default=None, description="Title in the report")
    epsilon: Loss = Field(default=None, description="What this release costs")
    rho: Rho = Field(default=None, description="What it costs, of a budget in ρ")
    delta: Delta = Field(
        default=None, description="What its unknown keys cost, of threshold_delta"
    )
    weight: Positive = Field(
        default=None, description="Its share where budget.split is weighted or optimal"
    )
    statistics: list[StatisticTable] = Field(default_factory=list)
    sql: str | None = Field(
        default=None,
        min_length=1,
        description="Instead of statistics, group_by, keys, other, where and rows: one "
        "SELECT, such as: SELECT AVG(Glucose) FROM patients WHERE Age >= 30",
    )
    group_by: list[str] = Field(
        default_factory=list, description="Category, boolean or text columns"
    )
    keys: list[Any] | None = Field(
        default=None,
        description="Only these keys, in this order; of several columns lists of keys",
    )
    other: str | None = Field(
        default=None, min_length=1, description="Name of one group for all other rows"
    )
    where: str | None = Field(
        default=None, description="Filter, such as: Age >= 30 and Outcome == 1"
    )
    rows: list[RowsTable] = Field(
        default_factory=list,
        description="From the dataset's rows to those that it is about, step by step",
    )
    confidence: Share = Field(default=0.95, description="Of every interval")

    @model_validator(mode="after")
    def _fits(self) -> ReleaseTable:
        if self.epsilon is not None and self.rho is not None:
            _one_amount(self.epsilon, self.rho)
        if self.sql is None and not self.statistics:
            raise DeclarationError(
                N_("the release asks for nothing"),
                hint=N_(
                    'write statistics = [{{ count = true }}], or sql = "SELECT COUNT(*) …"'
                ),
            )
        said = [entry for entry in _SAID if getattr(self, entry)]
        if self.sql is not None and said:
            raise DeclarationError(
                N_("the release has both sql and {entry}"),
                hint=N_("the SQL says all of the question: remove {entry}, or sql"),
                entry=said[0],
            )
        return self


class OutputTable(Strict):
    """What is written, and where."""

    folder: str = Field(default="results", min_length=1)
    formats: list[Literal["json", "csv", "html", "md", "xlsx", "parquet", "zip"]] = (
        Field(default=["json", "csv", "html"], min_length=1)
    )
    headline: list[str] = Field(
        default_factory=list,
        description="Names of the figures that the report shows first, such as mean_Age",
    )


class ProjectFile(Strict):
    """A sfumato project file."""

    title: Title | None = Field(default=None, description="Title of the report")
    language: Literal["en", "zh"] | None = Field(
        default=None, description="Language of the report"
    )
    data: DataTable
    unit: UnitTable = UnitTable()
    columns: dict[str, ColumnTable] = Field(
        min_length=1, description="By the exact name in the table"
    )
    derive: list[DeriveTable] = Field(
        default_factory=list, description="Columns computed from the others"
    )
    tables: list[OtherTable] = Field(
        default_factory=list, description="Other tables that releases join or unite"
    )
    budget: BudgetTable
    releases: list[ReleaseTable] = Field(default_factory=list)
    synthetic: SyntheticTable | None = None
    models: list[ModelTable] = Field(default_factory=list)
    output: OutputTable = OutputTable()

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """The columns whose declaration nobody has confirmed yet."""
        found = [name for name, column in self.columns.items() if not column.confirmed]
        for table in self.tables:
            own = table.columns.items()
            found += [f"{table.name}.{n}" for n, column in own if not column.confirmed]
        derived = ((one.name, one.column) for one in self.derive)
        return (*found, *(n for n, c in derived if c is not None and not c.confirmed))

    @model_validator(mode="after")
    def _fits(self) -> ProjectFile:
        if not self.releases and self.synthetic is None and not self.models:
            raise DeclarationError(
                N_(
                    "the project asks for nothing: no [[releases]], no [synthetic] and "
                    "no [[models]]"
                ),
                hint=N_("add one, such as [[releases]] with its statistics"),
            )
        return self
