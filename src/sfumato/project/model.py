"""The project file as strict pydantic models: what may stand in it, and nothing else.

The models check shape; whether a declaration makes sense is asked of the declarations
themselves, so that file, Python and command line refuse the same things in the same
words.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from sfumato.account import Epsilon
from sfumato.amount import exact
from sfumato.declare import query, schema
from sfumato.declare.unit import Rows
from sfumato.errors import DeclarationError
from sfumato.project.place import shown
from sfumato.words import N_

__all__ = [
    "BooleanColumn",
    "BudgetTable",
    "CategoryColumn",
    "ColumnTable",
    "DataTable",
    "IntegerColumn",
    "OutputTable",
    "ProjectFile",
    "RealColumn",
    "ReleaseTable",
    "StatisticTable",
    "Titles",
    "UnitTable",
]

KINDS = ("count", "mean", "sum", "proportion", "variance", "std", "quantile", "median",
         "histogram")  # fmt: skip
_PARTS = (("edges", "histogram"), ("level", "quantile"), ("key", "proportion"))


def _number(value: object) -> Decimal | int:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return value
    raise DeclarationError(
        N_("a number is needed, got {value}"),
        hint=N_("write it without quotes, such as 250 or 0.1"),
        value=shown(value),
    )


def _numbers(value: object) -> list[Decimal | int]:
    return list(map(_number, value if isinstance(value, list) else [value]))


def _epsilon(value: object) -> Epsilon:
    if isinstance(value, str | int | Decimal) and not isinstance(value, bool):
        return Epsilon(value)
    raise DeclarationError(
        N_("epsilon must be a finite number greater than 0, got {value}"),
        hint=N_('write a decimal such as "0.5"'),
        value=shown(value),
    )


def _confidence(value: object) -> float:
    number = exact(value) if isinstance(value, int | Decimal) else None
    if number is not None and 0 < number < 1:
        return float(number)
    raise DeclarationError(
        N_("confidence must lie between 0 and 1, got {value}"),
        hint=N_("write 0.95 for intervals that hold 95 times in 100"),
        value=shown(value),
    )


def _keys(value: object) -> list[Any]:
    several = value if isinstance(value, list) else [value]
    for key in several:
        if not isinstance(key, str | int | Decimal) or isinstance(key, bool):
            raise DeclarationError(
                N_("a key is a text or a whole number, got {value}"),
                hint=N_('write, for example, ["F", "M"] or [0, 1]'),
                value=shown(key),
            )
    return several


def _titles(value: object) -> Titles:
    if isinstance(value, str):
        return Titles(en=value, zh=value)
    if isinstance(value, dict):
        known = {k: v for k, v in value.items() if k in ("en", "zh")}
        if known and known == value and all(isinstance(v, str) for v in known.values()):
            return Titles(**{"en": known.get("zh"), "zh": known.get("en"), **known})
    raise DeclarationError(
        N_("a title is a text, or one text per language, got {value}"),
        hint=N_('write title = "…" or title = {{ en = "…", zh = "…" }}'),
        value=shown(value),
    )


_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}


def _or_list(*kinds: dict[str, Any]) -> dict[str, Any]:
    one = {"anyOf": list(kinds)} if len(kinds) > 1 else kinds[0]
    return {"anyOf": [*kinds, {"type": "array", "items": one}]}


Number: TypeAlias = Annotated[Any, PlainValidator(_number), WithJsonSchema(_NUMBER)]
Numbers: TypeAlias = Annotated[
    Any, PlainValidator(_numbers), WithJsonSchema(_or_list(_NUMBER))
]
Keys: TypeAlias = Annotated[
    Any, PlainValidator(_keys), WithJsonSchema(_or_list(_TEXT, {"type": "integer"}))
]
Loss: TypeAlias = Annotated[
    Any, PlainValidator(_epsilon), WithJsonSchema({"anyOf": [_TEXT, _NUMBER]})
]
Share: TypeAlias = Annotated[
    Any,
    PlainValidator(_confidence),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
_TITLES = {
    "type": "object",
    "properties": {"en": _TEXT, "zh": _TEXT},
    "additionalProperties": False,
}
Title: TypeAlias = Annotated[
    Any, PlainValidator(_titles), WithJsonSchema({"anyOf": [_TEXT, _TITLES]})
]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False
    )


class Titles(_Strict):
    """A text in each language."""

    en: str
    zh: str


class DataTable(_Strict):
    """Where the table is and how it is written."""

    source: str = Field(
        min_length=1, description="Path of the table, from the project file's folder"
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


class UnitTable(_Strict):
    """Whom the guarantee protects."""

    neighbours: Literal["add_remove", "replace_one"] = "add_remove"
    size: int | None = Field(
        default=None, description="Public number of rows, with replace_one"
    )

    def declared(self) -> Rows:
        """Return the declaration."""
        return Rows(neighbours=self.neighbours, size=self.size)

    @model_validator(mode="after")
    def _fits(self) -> UnitTable:
        self.declared()
        return self


class BudgetTable(_Strict):
    """What all releases together may cost."""

    epsilon: Loss = Field(description="The whole budget of the dataset, for ever")
    ledger: str | None = Field(
        default=None,
        min_length=1,
        description="Path of the ledger; default: the project's name with .ledger",
    )


class _ColumnTable(_Strict):
    """A declared column."""

    def declared(self) -> schema.Column:
        """Return the declaration."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _fits(self) -> _ColumnTable:
        self.declared()
        return self


class RealColumn(_ColumnTable):
    """Numbers between public bounds."""

    type: Literal["real"]
    lower: Number = Field(description="Smaller values are clamped to it")
    upper: Number = Field(description="Larger values are clamped to it")
    step: Number | None = Field(
        default=None, description="Precision of the measurement"
    )
    missing: Numbers = Field(default=(), description="Codes that mean: no value")
    complete: bool = Field(default=False, description="True when every row has a value")
    unit: str = Field(default="", description="Such as mg/dL")

    def declared(self) -> schema.Real:
        """Return the declaration."""
        return schema.Real(
            self.lower,
            self.upper,
            step=self.step,
            missing=tuple(self.missing),
            complete=self.complete,
            unit=self.unit,
        )


class IntegerColumn(_ColumnTable):
    """Whole numbers between public bounds."""

    type: Literal["integer"]
    lower: Number = Field(description="Smaller values are clamped to it")
    upper: Number = Field(description="Larger values are clamped to it")
    missing: Numbers = Field(default=(), description="Codes that mean: no value")
    complete: bool = Field(default=False, description="True when every row has a value")
    unit: str = Field(default="", description="Such as years")

    def declared(self) -> schema.Integer:
        """Return the declaration."""
        return schema.Integer(
            self.lower,
            self.upper,
            missing=tuple(self.missing),
            complete=self.complete,
            unit=self.unit,
        )


class CategoryColumn(_ColumnTable):
    """One of a list of public keys."""

    type: Literal["category"]
    values: Keys = Field(description="Every key that may appear, in order")

    def declared(self) -> schema.Category:
        """Return the declaration."""
        return schema.Category(self.values)


class BooleanColumn(_ColumnTable):
    """True or false."""

    type: Literal["boolean"]
    true: Keys | None = Field(default=None, description="Cells that mean true")
    false: Keys | None = Field(default=None, description="Cells that mean false")

    def declared(self) -> schema.Boolean:
        """Return the declaration."""
        return schema.Boolean(self.true, self.false)


ColumnTable: TypeAlias = Annotated[
    RealColumn | IntegerColumn | CategoryColumn | BooleanColumn,
    Field(discriminator="type"),
]


class StatisticTable(_Strict):
    """One statistic: exactly one of its kinds."""

    count: Literal[True] | str | None = Field(
        default=None, description="true for rows, or a column: rows with a value in it"
    )
    mean: str | None = Field(default=None, description="A column")
    sum: str | None = Field(default=None, description="A column")
    proportion: str | None = Field(default=None, description="A column")
    key: str | int | bool | None = Field(default=None, description="Of a proportion")
    variance: str | None = Field(default=None, description="A column")
    std: str | None = Field(default=None, description="A column")
    median: str | None = Field(default=None, description="A column")
    quantile: str | None = Field(default=None, description="A column")
    level: Number | None = Field(default=None, description="Of a quantile: 0 to 1")
    histogram: str | None = Field(default=None, description="A column")
    edges: list[Number] | None = Field(
        default=None, description="Increasing, public edges"
    )
    weight: Number = Field(default=1, description="Importance when epsilon is split")
    name: str | None = Field(
        default=None, min_length=1, description="Name of the figure"
    )

    def declared(self) -> query.Statistic:
        """Return the declaration."""
        given = {"name": self.name, "weight": self.weight}
        if self.proportion is not None:
            return query.proportion(self.proportion, self.key, **given)
        if self.quantile is not None:
            return query.quantile(self.quantile, self.level or 0, **given)
        if self.histogram is not None:
            return query.histogram(self.histogram, self.edges, **given)
        for ask in (query.mean, query.sum, query.variance, query.std, query.median):
            column = getattr(self, ask.__name__)
            if column is not None:
                return ask(column, **given)
        return query.count(self.count if isinstance(self.count, str) else None, **given)

    @model_validator(mode="after")
    def _fits(self) -> StatisticTable:
        asked = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(asked) != 1:
            raise DeclarationError(
                N_("each entry asks for exactly one statistic"),
                hint=N_(
                    'write {{ count = true }} or {{ mean = "Age" }}, one per entry'
                ),
            )
        for part, kind in _PARTS:
            if getattr(self, part) is not None and getattr(self, kind) is None:
                raise DeclarationError(
                    N_("the entry {part} goes with {kind} only"),
                    hint=N_("remove {part}"),
                    part=part,
                    kind=kind,
                )
        self.declared()
        return self


class ReleaseTable(_Strict):
    """One release: a question and what it may cost."""

    name: str = Field(min_length=1, description="Short name, for --only")
    title: Title | None = Field(default=None, description="Title in the report")
    epsilon: Loss = Field(description="What this release costs")
    statistics: list[StatisticTable] = Field(min_length=1)
    group_by: list[str] = Field(
        default_factory=list, description="Category or boolean columns"
    )
    where: str | None = Field(
        default=None, description="Filter, such as: Age >= 30 and Outcome == 1"
    )
    confidence: Share = Field(default=0.95, description="Of every interval")


class OutputTable(_Strict):
    """What is written, and where."""

    folder: str = Field(default="results", min_length=1)
    formats: list[Literal["json", "csv", "html"]] = Field(
        default=["json", "csv", "html"], min_length=1
    )


class ProjectFile(_Strict):
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
    budget: BudgetTable
    releases: list[ReleaseTable] = Field(min_length=1)
    output: OutputTable = OutputTable()
