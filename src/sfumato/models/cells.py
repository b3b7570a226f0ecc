"""Cells of a loaded table as arrays: for the models' door, which pays before it looks.

Nothing of this is a release. Only `sfumato.models.training` may ask for it; a test of the source
tree holds that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Boolean, Category, Integer, Real
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.load import open_engine
from sfumato.engine.physical import Places
from sfumato.errors import SourceError
from sfumato.words import N_

__all__ = ["Cells", "OpenedCells", "open_cells"]

Cells: TypeAlias = "dict[str, NDArray[Any]]"


class OpenedCells:
    """A table that was opened and checked; its cells are read when asked for."""

    def __init__(self, engine: DuckDBEngine, dataset: Dataset) -> None:
        """Keep the engine."""
        self._engine, self._schema = engine, dataset.schema

    def read(self, names: Sequence[str]) -> Cells:
        """Return the raw cells of columns: numbers as floats, keys as text.

        Missing numbers are NaN, other cells that are no key are None.
        """
        return {n: self._column(n) for n in names}

    def _column(self, name: str) -> NDArray[Any]:
        place = list(self._schema).index(name)
        column, stored = self._schema[name], self._engine.layout[place]
        if isinstance(column, Real | Integer):
            numbers = self._read(f"CAST(c{place} AS DOUBLE)")
            return np.array([np.nan if c is None else c for c in numbers], np.float64)
        if isinstance(stored, Places) and isinstance(column, Category | Boolean):
            keys, places = _keys(column), self._read(f"c{place}")
            cells = [None if p is None or p < 0 else keys[p] for p in places]
            return np.array(cells, object)
        return np.array(self._read(f"CAST(c{place} AS VARCHAR)"), object)

    def _read(self, term: str) -> list[Any]:
        rows = self._engine.unprotected(f"SELECT {term} FROM data")  # noqa: S608  no user's words
        return [row[0] for row in rows]


def _keys(column: Category | Boolean) -> tuple[str, ...]:
    if isinstance(column, Boolean):
        return column.false[0], column.true[0]
    return column.tokens


def open_cells(dataset: Dataset) -> OpenedCells:
    """Open a dataset and check that it fits its declarations; reads no figure.

    Raises:
        SourceError: The source cannot be opened, or is a table in another system.
    """
    engine = open_engine(dataset)
    if not isinstance(engine, DuckDBEngine):
        raise SourceError(
            N_(
                "models are fitted on files and frames, not on a table in another system"
            ),
            hint=N_("export the table to Parquet, and delete it afterwards"),
        )
    return OpenedCells(engine, dataset)
