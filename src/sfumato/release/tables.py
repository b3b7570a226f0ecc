"""A release as a table: one row per figure; for CSV, pandas and polars."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from sfumato.release.libraries import need
from sfumato.release.record import Figure, Person, Release
from sfumato.release.text import whole

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = [
    "Cell",
    "Sort",
    "sort_of",
    "text_of",
    "to_columns",
    "to_csv",
    "to_pandas",
    "to_polars",
    "write_csv",
]

Cell: TypeAlias = "str | int | float | bool | None"
Sort: TypeAlias = Literal["text", "whole", "real", "flag", "mixed"]

_REALS = {"bin_low", "bin_high", "other_bin_low", "other_bin_high", "raw", "estimate", "low",
          "high", "confidence", "sampling_low", "sampling_high"}  # fmt: skip
_SOMETIMES = {"other_column", "other_key", "other_unit", "unit_column", "max_rows",
              "max_groups", "united_tables"}  # fmt: skip
_RUNS = re.compile(r"[\s']*[=+\-@＝＋－＠]|[\t\r\n]")
_LARGEST = 1 << 63  # whole numbers from here on do not fit a column of 64-bit integers
_EXACT = 1 << 53  # below it, every whole float is the integer that it looks like

_PANDAS = {
    ("text", False): "string",
    ("text", True): "string",
    ("whole", False): "int64",
    ("whole", True): "Int64",
    ("real", False): "float64",
    ("real", True): "float64",
    ("flag", False): "bool",
    ("flag", True): "boolean",
}


def to_columns(release: Release) -> dict[str, list[Cell]]:
    """Return the columns of the table by name, in a fixed order.

    A grouping column keeps its name; should any table of ours have a column of that name,
    it becomes ``group.<name>``.
    """
    figures = release.figures
    keys = dict.fromkeys(k for figure in figures for k in figure.group)
    taken = _REALS | _SOMETIMES
    table: dict[str, list[Cell]] = {
        "name": [f.name for f in figures],
        "kind": [f.kind for f in figures],
        "column": [f.column for f in figures],
        **_about_others(figures),
        **_about_raw(figures),
    }
    last = _about_figures(figures, release.confidence) | _about_release(release)
    for key in keys:
        name = key
        while name in table or name in last or name in taken:
            name = f"group.{name}"
        table[name] = [f.group.get(key) for f in figures]
    return table | last


def _about_others(figures: Sequence[Figure]) -> dict[str, list[Cell]]:
    """Return what is said of second columns, where any figure has one."""
    if not any(f.other for f in figures):
        return {}
    edges = [
        f.other_bin if isinstance(f.other_bin, tuple) else (None, None) for f in figures
    ]
    units: list[Cell] = [f.other_unit for f in figures]
    return {
        "other_column": [f.other for f in figures],
        "other_key": [
            None if isinstance(f.other_bin, tuple) else f.other_bin for f in figures
        ],
        "other_bin_low": [left for left, _ in edges],
        "other_bin_high": [right for _, right in edges],
        **({"other_unit": units} if any(units) else {}),
    }


def _about_raw(figures: Sequence[Figure]) -> dict[str, list[Cell]]:
    """Return the entries before a matrix was adjusted, where any could have been."""
    known = any(f.kind in {"covariance", "correlation"} for f in figures)
    return {"raw": [f.raw for f in figures]} if known else {}


def _about_sampling(figures: Sequence[Figure]) -> dict[str, list[Cell]]:
    """Return the ends of noise and choice of rows, where any figure has them."""
    ends = [f.sampling or (None, None) for f in figures]
    if not any(f.sampling for f in figures):
        return {}
    return {"sampling_low": [a for a, _ in ends], "sampling_high": [b for _, b in ends]}


def _about_figures(
    figures: Sequence[Figure], confidence: float
) -> dict[str, list[Cell]]:
    edges = [f.bin if isinstance(f.bin, tuple) else (None, None) for f in figures]
    return {
        "key": [None if isinstance(f.bin, tuple) else f.bin for f in figures],
        "bin_low": [left for left, _ in edges],
        "bin_high": [right for _, right in edges],
        "estimate": [f.estimate for f in figures],
        "low": [f.low for f in figures],
        "high": [f.high for f in figures],
        **_about_sampling(figures),
        "confidence": [confidence] * len(figures),
        "unit": [f.unit for f in figures],
        "noise_law": [_join(n.law for n in f.noise) for f in figures],
        "noise_scale": [_join(n.scale for n in f.noise) for f in figures],
        "noise_step": [_join(_number(n.step) for n in f.noise) for f in figures],
        "noise_loss": [_join(n.loss for n in f.noise) for f in figures],
    }


def _about_release(release: Release) -> dict[str, list[Cell]]:
    claim, bounds = release.claim, release.claim.bounds
    same: dict[str, Cell] = {
        "measure": claim.measure,
        "loss": claim.loss,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "protected_unit": claim.unit,
        **({} if bounds is None else _about_person(bounds)),
        **({} if claim.tables == 1 else {"united_tables": claim.tables}),
        "neighbours": claim.neighbours,
        "size": claim.size,
        "dataset": claim.receipt.dataset,
        "debit": claim.receipt.sequence,
        "time": claim.receipt.time,
        "title": release.title,
        "question": release.question,
        "status": "private" if claim.private else "NOT PRIVATE",
    }
    return {name: [value] * len(release) for name, value in same.items()}


def _about_person(bounds: Person) -> dict[str, Cell]:
    return {
        "unit_column": bounds.column,
        "max_rows": bounds.max_rows,
        "max_groups": bounds.max_groups,
    }


def _join(parts: Iterable[str]) -> str:
    return "; ".join(parts)


def to_csv(release: Release) -> str:
    """Return the table as CSV text, safe to open in a spreadsheet.

    Numbers stay numbers. A *text* cell (or heading) that a spreadsheet could run as a
    formula, because it starts with ``=``, ``+``, ``-``, ``@``, their full-width forms,
    a tab or a line break, gets one apostrophe in front. Apostrophes and spaces before
    such a sign count too, so taking one apostrophe off restores every cell.

    Save it in UTF-8 with a byte-order mark (as `Release.save` does): Excel needs the
    mark to read Chinese.
    """
    return write_csv(to_columns(release))


def write_csv(table: Mapping[str, Sequence[Cell]], *, guard: bool = True) -> str:
    """Return columns as CSV text.

    Args:
        table: Cells by column name.
        guard: Put an apostrophe before what a spreadsheet could run; see `to_csv`.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_cell(name, guard=guard) for name in table)
    for row in zip(*table.values(), strict=True):
        writer.writerow(_cell(value, guard=guard) for value in row)
    return out.getvalue()


def _cell(value: Cell, *, guard: bool = True) -> str:
    if isinstance(value, str):
        return f"'{value}" if guard and _RUNS.match(value) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else _number(value)


def _number(value: float) -> str:
    """Render a number so that it reads back exactly; whole ones without a point."""
    return str(int(value) if abs(value) < _EXACT and value == int(value) else value)


def to_pandas(release: Release) -> pd.DataFrame:
    """Return the table as a pandas data frame.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    pandas = need("pandas")
    made = {}
    for name, cells in to_columns(release).items():
        kind = _PANDAS.get((sort_of(name, cells), None in cells), "object")
        made[whole(name)] = pandas.Series(list(map(_written, cells)), dtype=kind)
    frame: pd.DataFrame = pandas.DataFrame(made)
    return frame


def to_polars(release: Release) -> pl.DataFrame:
    """Return the table as a polars data frame; keys of mixed types become text.

    Raises:
        MissingExtraError: polars is not installed.
    """
    polars = need("polars")
    types = {
        "text": polars.String,
        "whole": polars.Int64,
        "real": polars.Float64,
        "flag": polars.Boolean,
        "mixed": polars.String,
    }
    made = []
    for name, cells in to_columns(release).items():
        sort = sort_of(name, cells)
        mixed = sort == "mixed"
        values = [_written(text_of(c) if mixed else c) for c in cells]
        made.append(polars.Series(whole(name), values, dtype=types[sort], strict=False))
    frame: pl.DataFrame = polars.DataFrame(made)
    return frame


def _written(cell: Cell) -> Cell:
    return whole(cell) if isinstance(cell, str) else cell


def text_of(cell: Cell) -> str | None:
    """Return a cell of a column of mixed types as text."""
    return cell if cell is None or isinstance(cell, str) else _cell(cell, guard=False)


def sort_of(name: str, cells: Sequence[Cell]) -> Sort:
    """Return what a column holds; it depends on names and public keys, not on noise."""
    if name in _REALS:
        return "real"
    types = {type(c) for c in cells if c is not None}
    if types <= {str}:
        return "text"
    if types == {bool}:
        return "flag"
    if types == {int} and all(
        -_LARGEST <= c < _LARGEST for c in cells if isinstance(c, int)
    ):
        return "whole"
    return "real" if types == {float} else "mixed"
