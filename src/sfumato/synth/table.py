"""Synthetic rows, column by column, and their forms: lists, frames, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.errors import ArgumentError, MissingExtraError
from sfumato.release.files import write
from sfumato.release.record import Claim
from sfumato.synth.arguments import check_path
from sfumato.synth.values import Values
from sfumato.words import N_

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["SyntheticTable", "surrogate"]


def surrogate(name: str, rows: int) -> Values:
    """Return new names for rows: they count the synthetic rows and mean nothing else."""
    digits = max(6, len(str(rows)))
    cells = np.array([f"S{i:0{digits}d}" for i in range(1, rows + 1)], dtype=object)
    return Values(name, cells, np.zeros(rows, bool))


@final
@dataclass(frozen=True, slots=True)
class SyntheticTable:
    """Rows that no person gave: safe to share under the claim of their release.

    Attributes:
        columns: The columns, in the order of the schema.
        claim: What is promised.
    """

    columns: tuple[Values, ...]
    claim: Claim = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns[0].cells)

    def __getitem__(self, name: str) -> list[Any]:
        """Return the values of a column; none where one is missing.

        Raises:
            KeyError: There is no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column.to_list()
        raise KeyError(name)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as mappings."""
        lists = [c.to_list() for c in self.columns]
        for values in zip(*lists, strict=True):
            yield dict(zip(self.names, values, strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame; whole numbers, truth values and days stay such.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise _missing("pandas") from None
        found = {}
        for c in self.columns:
            if c.cells.dtype.kind == "i":
                found[c.name] = pd.Series(
                    pd.arrays.IntegerArray(c.cells.astype(np.int64), c.missing.copy())
                )
            elif c.cells.dtype.kind == "b":
                found[c.name] = pd.Series(
                    pd.arrays.BooleanArray(c.cells.copy(), c.missing.copy())
                )
            elif c.cells.dtype.kind == "M":
                days = c.cells.astype("datetime64[s]")
                found[c.name] = pd.Series(
                    np.where(c.missing, np.datetime64("NaT", "s"), days)
                )
            elif c.cells.dtype.kind == "f":
                found[c.name] = pd.Series(np.where(c.missing, np.nan, c.cells))
            else:
                found[c.name] = pd.Series(c.to_list(), dtype=object)
            if not c.missing.any() and c.cells.dtype.kind in "ib":
                found[c.name] = pd.Series(c.cells)
        return pd.DataFrame(found)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame with nulls where a value is missing.

        Raises:
            MissingExtraError: polars is not installed.
        """
        try:
            import polars as pl
        except ImportError:
            raise _missing("polars") from None
        return pl.DataFrame([pl.Series(c.name, c.to_list()) for c in self.columns])

    def to_csv(self) -> str:
        """Return CSV; a text that a spreadsheet would run gets a ``'``.

        Truth values are the declared cells, so that the same declarations read the table.
        """
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_tame(n) for n in self.names])
        for row in zip(*(c.to_cells() for c in self.columns), strict=True):
            writer.writerow([_tame(v) for v in row])
        return out.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the rows to a ``.csv`` file, whole or not at all.

        Raises:
            ArgumentError: No path, or another ending.
        """
        check_path(path)
        where = Path(path)
        if where.suffix.lower() != ".csv":
            raise ArgumentError(
                N_("a table is written as .csv, not as {ending}"),
                hint=N_("for other forms use to_pandas() or to_polars()"),
                ending=repr(where.suffix),
            )
        write(where, "\ufeff" + self.to_csv())  # Excel needs the mark to read Chinese


def _tame(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


def _missing(library: str) -> MissingExtraError:
    return MissingExtraError(
        N_("this form of the table needs the package {library}"),
        hint=N_("install it: pip install {library}"),
        library=library,
    )
