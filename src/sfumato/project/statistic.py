"""One statistic of a project file: exactly one kind, with the parts that go with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field, model_validator

from sfumato.declare import query
from sfumato.errors import DeclarationError
from sfumato.project.value import Edge, Number, Positive, Strict
from sfumato.words import N_

__all__ = ["KINDS", "StatisticTable"]

KINDS = ("count", "people", "people_cut", "rows_cut", "mean", "sum", "proportion", "variance", "std", "quantile", "median",
         "near_minimum", "near_maximum", "histogram", "crosstab", "ratio", "covariance", "correlation", "mode")  # fmt: skip
_PLAIN: dict[str, Callable[..., query.Statistic]] = {
    kind.__name__: kind
    for kind in (query.mean, query.sum, query.variance, query.std, query.median,
                 query.quantile, query.near_minimum, query.near_maximum)
}  # fmt: skip
_OF_PEOPLE: dict[str, Callable[..., query.Statistic]] = {
    kind.__name__: kind for kind in (query.people, query.people_cut, query.rows_cut)
}
_PARTS = {
    "edges": ("histogram", "crosstab", "mode"),
    "level": ("quantile", "near_minimum", "near_maximum"),
    "key": ("proportion",),
    "by": ("crosstab", "ratio"),
    "by_edges": ("crosstab",),
}


class StatisticTable(Strict):
    """One statistic: exactly one of its kinds."""

    count: Literal[True] | str | None = Field(
        default=None, description="true for rows, or a column: rows with a value in it"
    )
    people: Literal[True] | None = Field(
        default=None, description="true: people with at least one row"
    )
    people_cut: Literal[True] | None = Field(
        default=None, description="true: people of whom not everything counts fully"
    )
    rows_cut: Literal[True] | None = Field(
        default=None, description="true: rows beyond max_rows, up to as many again"
    )
    mean: str | None = Field(default=None, description="A column")
    sum: str | None = Field(default=None, description="A column")
    proportion: str | None = Field(default=None, description="A column")
    key: str | int | bool | None = Field(default=None, description="Of a proportion")
    variance: str | None = Field(default=None, description="A column")
    std: str | None = Field(default=None, description="A column")
    median: str | None = Field(default=None, description="A column")
    quantile: str | None = Field(default=None, description="A column")
    near_minimum: str | None = Field(
        default=None, description="A column; its quantile at 0.01 or at level"
    )
    near_maximum: str | None = Field(
        default=None, description="A column; its quantile at 0.99 or at level"
    )
    level: Number | None = Field(default=None, description="Of a quantile: 0 to 1")
    histogram: str | None = Field(default=None, description="A column")
    crosstab: str | None = Field(
        default=None, description="A column, counted together with the one in by"
    )
    ratio: str | None = Field(
        default=None, description="A column whose sum is divided by the sum of by"
    )
    covariance: list[str] | None = Field(
        default=None, description="Two columns, or those of a matrix"
    )
    correlation: list[str] | None = Field(
        default=None, description="Two columns, or those of a matrix"
    )
    mode: str | None = Field(
        default=None, description="A column whose most frequent key or bin is asked"
    )
    by: str | None = Field(default=None, description="The second column")
    edges: list[Edge] | None = Field(
        default=None, description="Increasing, public edges"
    )
    by_edges: list[Edge] | None = Field(
        default=None, description="Edges of the second column of a crosstab"
    )
    weight: Number = Field(default=1, description="Importance when epsilon is split")
    target: Positive = Field(
        default=None,
        description="The error wished, in the figure's unit, for sfumato advise",
    )
    name: str | None = Field(
        default=None, min_length=1, description="Name of the figure"
    )

    def declared(self) -> query.Statistic:  # noqa: PLR0911  one for each
        """Return the declaration."""
        given = {"name": self.name, "weight": self.weight}
        kind = next((k for k in KINDS if getattr(self, k) is not None), "count")
        column = getattr(self, kind)
        match kind:
            case "count":
                return query.count(column if isinstance(column, str) else None, **given)
            case "people" | "people_cut" | "rows_cut":
                return _OF_PEOPLE[kind](**given)
            case "proportion":
                return query.proportion(column, self.key, **given)
            case "histogram":
                return query.histogram(column, self.edges, **given)
            case "mode":
                return query.mode(column, self.edges, **given)
            case "covariance":
                return query.covariance(*column, **given)
            case "correlation":
                return query.correlation(*column, **given)
            case "crosstab":
                cut: Any = {"edges": self.edges, "other_edges": self.by_edges}
                return query.crosstab(column, self.by or "", **cut, **given)
            case "ratio":
                return query.ratio(column, self.by or "", **given)
            case _:
                return _PLAIN[kind](column, *self._level(), **given)

    def _level(self) -> tuple[Number, ...]:
        return () if self.level is None else (self.level,)

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
        for part, kinds in _PARTS.items():
            if getattr(self, part) is not None and asked[0] not in kinds:
                raise DeclarationError(
                    N_("the entry {part} goes with {kind} only"),
                    hint=N_("remove {part}"),
                    part=part,
                    kind=", ".join(kinds),
                )
        if asked[0] in _PARTS["by"] and self.by is None:
            raise DeclarationError(
                N_("the entry {kind} needs a second column"),
                hint=N_('add by = "…", such as {{ {kind} = "Cost", by = "Days" }}'),
                kind=asked[0],
            )
        if asked[0] == "quantile" and self.level is None:
            raise DeclarationError(
                N_("the entry quantile needs a level"),
                hint=N_('add level, such as {{ quantile = "Age", level = 0.9 }}'),
            )
        self.declared()
        return self
