"""Cells of an opened table as arrays: for the models' door, which pays for the look.

Nothing of this is a release. Only `sfumato.models.training` may ask for it; a test of the source
tree holds that. One statement reads all columns, so that a row stays a row in every
database; its expressions are total, so that no cell can make it fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Boolean, Category, Integer, Real
from sfumato.declare.unit import Unit
from sfumato.engine.load import open_engine
from sfumato.engine.terms import Terms
from sfumato.errors import DeclarationError
from sfumato.words import N_

__all__ = ["Cells", "OpenedCells", "learnable", "open_cells"]

Column: TypeAlias = Real | Integer | Category | Boolean


@final
@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a table that belong to somebody, in the order of the engine.

    Attributes:
        columns: By name: clamped numbers with NaN for missing, or keys with None.
        persons: Whose each row is, where persons are protected; else none.
        rows: Number of rows: private.
    """

    columns: dict[str, NDArray[Any]]
    persons: NDArray[Any] | None
    rows: int


class OpenedCells:
    """A table that was opened and checked; its cells are read when asked for."""

    def __init__(self, dataset: Dataset) -> None:
        """Open it; reads no figure."""
        self._engine, self._schema = open_engine(dataset), dataset.schema

    def read(self, names: Sequence[str]) -> Cells | None:
        """Return the cells of columns; none if the engine failed, whatever it says.

        A row without an identifier is nobody's and left out, as in every answer.
        """
        found = None
        with suppress(Exception):  # its words may quote a cell
            found = self._read(names)
        return found

    def _read(self, names: Sequence[str]) -> Cells:
        terms = Terms(self._schema, self._engine.layout, self._engine.dialect)
        asked = [self._asked(terms, n) for n in names]
        owned = isinstance(self._schema.unit, Unit)
        if owned:
            asked.append(terms.identity())
        outputs = ", ".join(f"{term} AS v{i}" for i, term in enumerate(asked))
        rows = self._engine.unprotected(f"SELECT {outputs} FROM data")  # noqa: S608  no user's words
        if owned:
            rows = [row for row in rows if row[-1] is not None]
        raw = list(zip(*rows, strict=True)) or [()] * len(asked)
        cells = {
            name: self._column(terms, name, column)
            for name, column in zip(names, raw, strict=False)
        }
        persons = np.array([str(p) for p in raw[-1]], object) if owned else None
        return Cells(cells, persons, len(rows))

    def _asked(self, terms: Terms, name: str) -> str:
        number = isinstance(self._schema[name], Real | Integer)
        return terms.clamped(name) if number else terms.key(name)

    def _column(self, terms: Terms, name: str, raw: Sequence[object]) -> NDArray[Any]:
        declared = self._schema[name]
        if isinstance(declared, Real | Integer):
            numbers = [np.nan if c is None else float(str(c)) for c in raw]
            return np.array(numbers, np.float64)
        assert isinstance(declared, Category | Boolean)  # noqa: S101  `learnable` saw it
        keys = _keys(declared)
        places = [terms.place(name, cell) for cell in raw]
        found = [keys[p] if isinstance(p, int) else None for p in places]
        return np.array([*found, None], object)[:-1]


def _keys(column: Category | Boolean) -> tuple[str, ...]:
    if isinstance(column, Boolean):
        return column.false[0], column.true[0]
    return column.tokens


def learnable(name: str, column: object) -> Column:
    """Return a column that a model can use: numbers, or declared keys.

    Raises:
        DeclarationError: It holds texts or days. Nothing was spent.
    """
    if isinstance(column, Real | Integer | Category | Boolean):
        return column
    raise DeclarationError(
        N_("a model cannot use column {name}, which is of type {kind}"),
        hint=N_("name the features: numbers, categories and booleans"),
        name=repr(name),
        kind=type(column).__name__,
    )


def open_cells(dataset: Dataset) -> OpenedCells:
    """Open a dataset, wherever it lies, and check that it fits its declarations.

    Raises:
        SourceError: The source cannot be opened. Nothing was spent.
    """
    return OpenedCells(dataset)
