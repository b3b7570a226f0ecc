"""The table [synthetic] of a project file: a synthetic table and what it may cost."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from pydantic import Field

from sfumato.account import Loss as Price
from sfumato.project.value import Loss, Positive, Rho, Strict, Title

if TYPE_CHECKING:
    from sfumato.synth import Synthesizer

__all__ = ["AskedTable", "SyntheticTable"]


class SyntheticTable(Strict):
    """One synthetic table; everything but its price may be left out."""

    epsilon: Loss = Field(default=None, description="What it costs")
    rho: Rho = Field(default=None, description="What it costs, of a budget in ρ")
    title: Title | None = Field(default=None, description="Title of its page")
    method: Literal["adaptive", "oneshot", "independent"] = Field(
        default="adaptive", description="adaptive up to 30 columns; oneshot for more"
    )
    columns: list[str] = Field(
        default_factory=list, description="Which declared columns; default all"
    )
    complete: bool | list[str] = Field(
        default=False, description="Columns that never lack a value, or true for all"
    )
    rows: int | None = Field(
        default=None, ge=1, description="Rows of the file; default about as many"
    )
    cells: int = Field(default=32, description="Most cells of a number column")
    bins: int = Field(default=10, description="About how many bins they become")
    forbid: list[dict[str, Any]] = Field(
        default_factory=list, description="Combinations of values that cannot be"
    )
    marginals: list[list[str]] = Field(
        default_factory=list, description="Columns to be measured together in any case"
    )
    weights: dict[str, Positive] = Field(
        default_factory=dict, description="How much the error of a column counts"
    )
    ways: int = Field(default=2, description="Tables of up to 2 or 3 columns")
    dependent: dict[str, str | dict[str, dict[str, Any]]] = Field(
        default_factory=dict, description="Columns that another column determines"
    )
    surrogates: list[str] = Field(
        default_factory=list, description="Columns of new row names"
    )
    memory: int = Field(default=500, description="Most megabytes of fitting")
    target: str = Field(
        default="", description="For the owner's page: a column to be predicted"
    )
    quasi_identifiers: list[str] = Field(
        default_factory=list, description="For the owner's page: k-anonymity of these"
    )

    def synthesizer(self) -> Synthesizer:
        """Return the synthesizer; whether it fits the schema is asked by its plan."""
        from sfumato.synth import Synthesizer  # numpy, only when asked for

        return Synthesizer(
            self.method,
            columns=self.columns,
            complete=self.complete or (),
            cells=self.cells,
            bins=self.bins,
            forbid=[{n: _condition(c) for n, c in r.items()} for r in self.forbid],
            marginals=self.marginals,
            weights=self.weights,
            ways=self.ways,
            surrogates=self.surrogates,
            dependent=self.dependent,
            memory=self.memory,
        )


@final
@dataclass(frozen=True, slots=True)
class AskedTable:
    """The synthetic table that a project asks for.

    Attributes:
        loss: What it costs.
        title: Its title in each language.
        table: Its settings.
    """

    loss: Price
    title: dict[str, str]
    table: SyntheticTable


def _condition(value: Any) -> Any:
    """Read a condition: a value, a list, ``{ from, to }`` or ``{ missing = true }``."""
    if isinstance(value, list):
        return [_condition(v) for v in value]
    if isinstance(value, dict):
        if value.get("missing") is True:
            return None
        return (_plain(value.get("from")), _plain(value.get("to")))
    return _plain(value)


def _plain(value: Any) -> Any:
    plain = isinstance(value, str | bool | int | dt.date) or value is None
    return value if plain else float(value)
