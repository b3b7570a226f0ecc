"""Rows in the bins of a model: of true, public or synthetic tables that lie open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.engine.load import open_engine
from sfumato.engine.owned import owner_rows
from sfumato.synth.draw import Bins
from sfumato.synth.grids import Binning, known
from sfumato.synth.model import Array
from sfumato.synth.table import SyntheticTable

__all__ = ["Columns", "bins_of", "coded", "open_rows"]

Columns: TypeAlias = "Mapping[str, Array]"
"""Numbers as they are, keys by their places, days since 1970; NaN is missing."""


def open_rows(dataset: Dataset) -> Columns:
    """Return the rows of a table that lies open: to its owner, or to anybody."""
    with open_engine(dataset) as engine:
        return owner_rows(engine, dataset.schema)


def coded(schema: Schema, drawn: SyntheticTable, skipped: Sequence[str]) -> Columns:
    """Return synthetic rows as `open_rows` returns true ones."""
    found = {}
    for column in drawn.columns:
        if column.name in skipped:
            continue
        declared = known(schema, column.name)
        cells: Any = column.cells
        if isinstance(declared, Date):
            cells = cells.astype(np.int64)
        elif not isinstance(declared, Real | Integer):
            places = {v: i for i, v in enumerate(declared.values)}
            cells = np.array([places[v] for v in cells.tolist()], np.float64)
        found[column.name] = np.where(column.missing, np.nan, cells.astype(np.float64))
    return found


def bins_of(binnings: Sequence[Binning], columns: Columns) -> list[Bins]:
    """Return the bin of each cell of these columns."""
    found = []
    for binning in binnings:
        coding, values = binning.coding, columns[binning.grid.name]
        gone = np.isnan(values)
        filled = np.where(gone, 0.0, values)
        declared = binning.grid.declared
        if isinstance(declared, Real | Integer):
            q = np.floor(filled / declared.step + 0.5)
            bins = np.searchsorted(coding.edges, q, side="right") - 1
            bins = np.maximum(bins, 0)
        else:
            bins = np.asarray(coding.places)[filled.astype(np.int64)]
        found.append(np.where(gone, coding.missing, bins).astype(np.int64))
    return found
