"""A synthetic table that was made: its model, its rows, its record, its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.account import Loss
from sfumato.declare.schema import Schema
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
    """

    axes: Axes
    share: Loss
    counts: tuple[int, ...]
    fine: bool = False


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
        secure: False when noise came from a test seed.
    """

    schema: Schema
    options: Options
    binnings: tuple[Binning, ...]
    model: Model
    measured: tuple[Measured, ...]
    secure: bool
