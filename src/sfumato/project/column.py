"""Declared and derived columns of a project file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from sfumato.declare import schema
from sfumato.declare.bounds import private_bounds
from sfumato.declare.calendar import Date
from sfumato.declare.derived import Derived, read_derived
from sfumato.declare.query import Query
from sfumato.declare.walk import mentioned
from sfumato.declare.where import parse_value
from sfumato.project.value import Day, Days, Keys, Number, Numbers, Strict

__all__ = [
    "BooleanColumn",
    "CategoryColumn",
    "ColumnTable",
    "DateColumn",
    "DeriveTable",
    "IntegerColumn",
    "RealColumn",
    "with_derived",
]


_CONFIRMED = Field(
    default=True,
    description="false until somebody has compared it with the table: check reminds of it",
)


class _ColumnTable(Strict, ABC):
    """A declared column."""

    @abstractmethod
    def declared(self) -> schema.Column:
        """Return the declaration."""

    @model_validator(mode="after")
    def _fits(self) -> _ColumnTable:
        self.declared()
        return self


def _ends(lower: object, upper: object, q: object) -> dict[str, Any]:
    if q is None:
        return {"lower": lower, "upper": upper}
    return {"bounds": private_bounds(q, within=(lower, upper))}  # type: ignore[arg-type]


class RealColumn(_ColumnTable):
    """Numbers between public bounds."""

    type: Literal["real"]
    lower: Number = Field(description="Smaller values are clamped to it")
    upper: Number = Field(description="Larger values are clamped to it")
    private_bounds: Number | None = Field(
        default=None,
        description="Quantile, such as 0.99, that clipping bounds are found near, with a "
        "fifth of a release's loss; lower and upper are the ends to search within",
    )
    step: Number | None = Field(
        default=None, description="Precision of the measurement"
    )
    missing: Numbers = Field(default=(), description="Codes that mean: no value")
    complete: bool = Field(default=False, description="True when every row has a value")
    unit: str = Field(default="", description="Such as mg/dL")
    confirmed: bool = _CONFIRMED

    def declared(self) -> schema.Real:
        """Return the declaration."""
        return schema.Real(
            **_ends(self.lower, self.upper, self.private_bounds),
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
    private_bounds: Number | None = Field(
        default=None,
        description="Quantile, such as 0.99, that clipping bounds are found near, with a "
        "fifth of a release's loss; lower and upper are the ends to search within",
    )
    missing: Numbers = Field(default=(), description="Codes that mean: no value")
    complete: bool = Field(default=False, description="True when every row has a value")
    unit: str = Field(default="", description="Such as years")
    confirmed: bool = _CONFIRMED

    def declared(self) -> schema.Integer:
        """Return the declaration."""
        return schema.Integer(
            **_ends(self.lower, self.upper, self.private_bounds),
            missing=tuple(self.missing),
            complete=self.complete,
            unit=self.unit,
        )


class CategoryColumn(_ColumnTable):
    """One of a list of public keys."""

    type: Literal["category"]
    values: Keys = Field(description="Every key that may appear, in order")
    confirmed: bool = _CONFIRMED

    def declared(self) -> schema.Category:
        """Return the declaration."""
        return schema.Category(self.values)


class BooleanColumn(_ColumnTable):
    """True or false."""

    type: Literal["boolean"]
    true: Keys | None = Field(default=None, description="Cells that mean true")
    false: Keys | None = Field(default=None, description="Cells that mean false")
    confirmed: bool = _CONFIRMED

    def declared(self) -> schema.Boolean:
        """Return the declaration."""
        return schema.Boolean(self.true, self.false)


class DateColumn(_ColumnTable):
    """Days between public bounds."""

    type: Literal["date"]
    first: Day = Field(description="Earlier days are clamped to it")
    last: Day = Field(description="Later days are clamped to it")
    missing: Days = Field(default=(), description="Days that mean: no value")
    complete: bool = Field(default=False, description="True when every row has a value")
    confirmed: bool = _CONFIRMED

    def declared(self) -> Date:
        """Return the declaration."""
        return Date(
            self.first, self.last, missing=tuple(self.missing), complete=self.complete
        )


class TextColumn(_ColumnTable):
    """Texts that nobody has listed; as keys they are unknown."""

    type: Literal["text"]
    longest: int = Field(default=100, description="Longer texts are missing")
    confirmed: bool = _CONFIRMED

    def declared(self) -> schema.Text:
        """Return the declaration."""
        return schema.Text(longest=self.longest)


ColumnTable: TypeAlias = Annotated[
    RealColumn
    | IntegerColumn
    | DateColumn
    | CategoryColumn
    | BooleanColumn
    | TextColumn,
    Field(discriminator="type"),
]


class DeriveTable(Strict):
    """A column computed from the others, row by row."""

    name: str = Field(min_length=1, description="Its name, which no column has")
    value: str = Field(
        min_length=1, description="Such as: Weight / Height ** 2, or BMI > 30"
    )
    column: ColumnTable | None = Field(
        default=None,
        description="Its public bounds or keys, where they do not follow from the value",
    )

    def declared(self) -> Derived:
        """Return the declaration."""
        column = None if self.column is None else self.column.declared()
        return read_derived(self.name, parse_value(self.value), column)

    @model_validator(mode="after")
    def _fits(self) -> DeriveTable:
        self.declared()
        return self


def with_derived(query: Query, tables: Sequence[DeriveTable]) -> Query:
    """Return the question with the derived columns that it needs, in their order."""
    needed = set(query.keys)
    needed |= mentioned(query.condition) if query.condition is not None else set()
    for asked in query.statistics:
        values = (getattr(asked, field.name) for field in fields(asked))
        for value in values:
            several = value if isinstance(value, tuple) else (value,)
            needed |= {part for part in several if isinstance(part, str)}
    chosen: list[Derived] = []
    for table in reversed(tables):
        if table.name in needed:
            chosen.insert(0, table.declared())
            needed |= mentioned(chosen[0].value)
    for one in chosen:
        query = query.derive(one.name, one.value, one.column)
    return query
