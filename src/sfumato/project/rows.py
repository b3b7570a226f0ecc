"""The rows that a release is about, step by step, as tables of the project file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from sfumato.declare import feature
from sfumato.declare.feature import Feature
from sfumato.errors import DeclarationError
from sfumato.project.column import ColumnTable
from sfumato.project.value import Strict
from sfumato.words import N_

__all__ = ["FigureTable", "RowsTable"]

_STEPS = ("table", "join", "union", "where", "per_person")
_FIGURES = ("count", "sum", "max", "min", "first", "last")


class FigureTable(Strict):
    """One figure about each person: exactly one of its kinds."""

    name: str = Field(min_length=1, description="Its name, which no column has")
    count: Literal[True] | str | None = Field(
        default=None, description="true for her rows, or a column: rows with a value"
    )
    most: int | None = Field(
        default=None, description="Of a count: larger ones are clamped to it"
    )
    sum: str | None = Field(default=None, description="A column")
    max: str | None = Field(default=None, description="A column")
    min: str | None = Field(default=None, description="A column")
    first: str | None = Field(default=None, description="A column, in her first row")
    last: str | None = Field(default=None, description="A column, in her last row")
    by: str | None = Field(
        default=None, description="Of first and last: the column that orders her rows"
    )
    column: ColumnTable | None = Field(
        default=None, description="Its public bounds; a sum needs them"
    )

    def declared(self) -> Feature:
        """Return the declaration."""
        (kind,) = self._kinds
        column = getattr(self, kind)
        bounds = None if self.column is None else self.column.declared()
        if kind == "count":
            return feature.count(None if column is True else column, most=self.most)  # type: ignore[arg-type]  # it was checked
        if kind == "sum":
            return feature.sum(column, bounds)  # type: ignore[arg-type]  # likewise
        if kind in ("first", "last"):
            make = feature.first if kind == "first" else feature.last
            return make(column, by=self.by or "", declared=bounds)
        return (feature.max if kind == "max" else feature.min)(column, bounds)

    @property
    def _kinds(self) -> list[str]:
        return [kind for kind in _FIGURES if getattr(self, kind) is not None]

    @model_validator(mode="after")
    def _fits(self) -> FigureTable:
        kinds = self._kinds
        if len(kinds) != 1:
            raise DeclarationError(
                N_("a figure about a person is one of {kinds}"),
                hint=N_('write, for example, {{ name = "worst", max = "HbA1c" }}'),
                kinds=", ".join(_FIGURES),
            )
        (kind,) = kinds
        needs = {"count": "most", "sum": "column", "first": "by", "last": "by"}
        for entry in ("most", "column", "by"):
            wanted, given = needs.get(kind) == entry, getattr(self, entry) is not None
            may = entry == "column" and kind != "count"
            if wanted != given and not (given and may):
                fact = N_("a figure {kind} needs {entry}")
                if given:
                    fact = N_("a figure {kind} takes no {entry}")
                raise DeclarationError(
                    fact,
                    hint=N_(
                        "most goes with count, by with first and last, column with sum"
                    ),
                    kind=kind,
                    entry=entry,
                )
        self.declared()
        return self


class RowsTable(Strict):
    """One step from the dataset's rows to those that a release is about."""

    table: str | None = Field(
        default=None, description="Begin with another private table instead"
    )
    join: str | None = Field(
        default=None, description="Add the columns of another table, public or private"
    )
    on: str | list[str] | None = Field(
        default=None, description="Columns here that are compared with a public key"
    )
    how: Literal["left", "inner"] | None = Field(
        default=None, description="inner leaves out rows without a public row"
    )
    prefix: str | None = Field(
        default=None, description="Before the names of the other table's columns"
    )
    max_rows: int | None = Field(
        default=None, description="Pairs of one person that count in a group"
    )
    max_groups: int | None = Field(
        default=None, description="Her groups that count after the join"
    )
    union: list[str] | None = Field(
        default=None, min_length=1, description="Add all rows of other private tables"
    )
    where: str | None = Field(
        default=None, description="Keep rows where it is true, before the next step"
    )
    per_person: list[FigureTable] | None = Field(
        default=None, min_length=1, description="Make one row per person"
    )

    @property
    def kind(self) -> str:
        """Which step it is."""
        return next(step for step in _STEPS if getattr(self, step) is not None)

    @model_validator(mode="after")
    def _fits(self) -> RowsTable:
        steps = [step for step in _STEPS if getattr(self, step) is not None]
        if len(steps) != 1:
            raise DeclarationError(
                N_("a step of rows is one of {kinds}"),
                hint=N_('write, for example, {{ join = "sites", on = "site" }}'),
                kinds=", ".join(_STEPS),
            )
        of_join = ("on", "how", "prefix", "max_rows", "max_groups")
        extra = [entry for entry in of_join if getattr(self, entry) is not None]
        if extra and steps != ["join"]:
            raise DeclarationError(
                N_("{entry} goes with join"),
                hint=N_("remove it"),
                entry=extra[0],
            )
        return self
