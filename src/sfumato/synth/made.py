"""A synthetic table that was made: its model, its rows, its record, its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.account import Loss
from sfumato.declare.schema import Schema
from sfumato.plan.contingency import Coding
from sfumato.synth.depend import Dependent
from sfumato.synth.grids import Binning
from sfumato.synth.model import Model
from sfumato.synth.options import Options
from sfumato.synth.tree import Axes

__all__ = ["Made", "Measured"]


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A noisy table, as it left the gate.

    Attributes:
        axes: Its columns.
        share: What it cost.
        counts: The noisy counts.
        fine: Whether its cells are fine cells, or bins.
        dependent: The column that the table tells from its source, where it is no table
            of the model.
    """

    axes: Axes
    share: Loss
    counts: tuple[int, ...]
    fine: bool = False
    dependent: str = ""


@final
@dataclass(frozen=True, slots=True)
class Made:
    """Everything that fitting leaves behind; all of it follows from noisy counts.

    Attributes:
        schema: Public facts of the table.
        options: The settings.
        binnings: The bins of each column.
        model: The distribution.
        measured: The noisy tables.
        dependents: The columns that others determine.
        earlier: How many of the noisy tables come from an earlier release.
        secure: False when noise came from a test seed.
    """

    schema: Schema
    options: Options
    binnings: tuple[Binning, ...]
    model: Model
    measured: tuple[Measured, ...]
    secure: bool
    dependents: tuple[Dependent, ...] = ()
    earlier: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are made, in the order of the schema."""
        held = {b.grid.name for b in self.binnings} | {d.name for d in self.dependents}
        return tuple(n for n in self.schema if n in held)

    def codings(self, measured: Measured) -> list[Coding]:
        """Return the cells of each column of a measured table."""
        if measured.dependent:
            told = next(d for d in self.dependents if d.name == measured.dependent)
            source = next(b for b in self.binnings if b.grid.name == told.source)
            return [source.grid.coding, told.grid.coding]
        held = [self.binnings[x] for x in measured.axes]
        return [b.grid.coding if measured.fine else b.coding for b in held]
