"""The table [synthetic] of a project file: a synthetic table and what it may cost."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, final

from pydantic import Field

from sfumato.account import Loss as Price
from sfumato.errors import DeclarationError
from sfumato.project.place import shown
from sfumato.project.value import Loss, Positive, Rho, Strict, Title
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.synth import LinkedSynthesizer, Synthesizer

__all__ = ["AskedTable", "SyntheticTable"]


class MadeTable(Strict):
    """How one table is made; all of it may be left out."""

    method: Literal["adaptive", "oneshot", "independent"] = Field(
        default="adaptive", description="adaptive up to 30 columns; oneshot for more"
    )
    columns: list[str] = Field(
        default_factory=list, description="Which declared columns; default all"
    )
    complete: bool | list[str] = Field(
        default=False, description="Columns that never lack a value, or true for all"
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
    weight: int = Field(
        default=1, ge=1, le=1000, description="Its share of the price of linked tables"
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


class LinkedTable(MadeTable):
    """Another table of the same people, whose rows are made with the dataset's."""

    name: str = Field(min_length=1, description="A private table of [[tables]]")


class SyntheticTable(MadeTable):
    """One synthetic table, or linked ones; everything but the price may be left out."""

    epsilon: Loss = Field(default=None, description="What it costs")
    rho: Rho = Field(default=None, description="What it costs, of a budget in ρ")
    title: Title | None = Field(default=None, description="Title of its page")
    rows: int | None = Field(
        default=None,
        ge=1,
        le=100_000_000,
        description="Rows of the file; default about as many",
    )
    target: str = Field(
        default="", description="For the owner's page: a column to be predicted"
    )
    quasi_identifiers: list[str] = Field(
        default_factory=list, description="For the owner's page: k-anonymity of these"
    )
    tables: list[LinkedTable] = Field(
        default_factory=list, description="Other tables of the same people, with it"
    )
    shared: list[str] | None = Field(
        default=None, description="Columns on which rows of those depend; default all"
    )

    def linked(self) -> LinkedSynthesizer:
        """Return what makes the dataset's table and the others together."""
        from sfumato.synth import LinkedSynthesizer

        return LinkedSynthesizer(
            self.synthesizer(),
            {one.name: one.synthesizer() for one in self.tables},
            shared=self.shared,
            weights={one.name: one.weight for one in self.tables} | {"": self.weight},
        )


@final
@dataclass(frozen=True, slots=True)
class AskedTable:
    """The synthetic table that a project asks for.

    Attributes:
        loss: What it costs.
        title: Its title in each language.
        table: Its settings.
        private: The dataset's private tables, by name.
    """

    loss: Price
    title: dict[str, str]
    table: SyntheticTable
    private: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse linked tables that the project does not have.

        Raises:
            DeclarationError: Their names do not fit.
        """
        names = [one.name for one in self.table.tables]
        for name in names:
            if name not in self.private or names.count(name) > 1:
                raise DeclarationError(
                    N_("{name} is no private table of [[tables]], or stands twice"),
                    hint=N_(
                        "a linked table is one of them; the head is the dataset itself, "
                        "with one row of each person"
                    ),
                    name=repr(name),
                )
        if self.table.shared is not None and not names:
            raise DeclarationError(
                N_("columns are shared with other tables, and none is named"),
                hint=N_("add [[synthetic.tables]] with name, or leave shared out"),
            )


def _condition(value: Any) -> Any:
    """Read a condition: a value, a list, ``{ from, to }`` or ``{ missing = true }``."""
    if isinstance(value, list):
        return [_condition(v) for v in value]
    if isinstance(value, dict):
        if value == {"missing": True}:
            return None
        if not value or not value.keys() <= {"from", "to"}:
            raise _no_condition(value)
        return (_plain(value.get("from")), _plain(value.get("to")))
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal | float):
        return float(value)
    if isinstance(value, str | bool | int | dt.date) or value is None:
        return value
    raise _no_condition(value)


def _no_condition(value: object) -> DeclarationError:
    return DeclarationError(
        N_("{value} is no condition of a forbidden combination"),
        hint=N_(
            "write a value, a list of values, {{ from = 0, to = 17 }} or "
            "{{ missing = true }}"
        ),
        value=shown(value),
    )
