"""Public cells of each column, and what is merged once noisy counts are known.

Every declared column becomes a row of *fine cells*: equal runs of a number's grid, or
one cell per declared key, and one for missing. They follow from declarations alone. They
are counted once, with noise; after that, neighbouring or rare cells are merged until
each *bin* holds more rows than noise. Merging reads noisy counts only, so it is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never, final

import numpy as np

from sfumato.declare.schema import Boolean, Category, Integer, Known, Real, Schema, Text
from sfumato.errors import DeclarationError
from sfumato.plan.contingency import Coding
from sfumato.synth.model import Array
from sfumato.words import N_

__all__ = ["Binning", "Grid", "grids", "known", "merge"]

_WITH_ENDS = 8  # cells from which each bound has one of its own
_FEW_KEYS = 40  # key columns of more cells have their rare ones merged
_RARE = 3.0  # deviations of noise below which a cell of a long list is rare
_CLEAR = 2.5  # deviations of noise that a bin of numbers must hold


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """The fine cells of one column.

    Attributes:
        declared: Its declaration.
        coding: Its fine cells; the last one holds missing values, unless `complete`.
        complete: No missing value appears in the output; a missing cell counts as the
            middle of the bounds or as the first key.
        marks: Per fine cell, a number: cells of unlike marks are never merged.
    """

    declared: Known
    coding: Coding
    complete: bool
    marks: tuple[int, ...]

    @property
    def name(self) -> str:
        """The column's name."""
        return self.coding.column

    @property
    def values(self) -> int:
        """Number of cells that hold values, not missing ones."""
        return self.coding.count - (not self.complete)

    @property
    def widths(self) -> Array:
        """Grid numbers in each cell; 1 for a key, and for missing."""
        widths = np.ones(self.coding.count)
        if isinstance(self.declared, Real | Integer):
            ends = [*self.coding.edges[1:], self.declared.last + 1]
            widths[: self.values] = np.subtract(ends, self.coding.edges)
        return widths


@final
@dataclass(frozen=True, slots=True)
class Binning:
    """Fine cells gathered into bins.

    Attributes:
        grid: The fine cells.
        places: For each fine cell the bin that holds it.
        coding: The bins.
        counts: Noisy counts of the fine cells.
        deviation: Standard deviation of their noise.
        only: Draw from cells of positive counts only.
    """

    grid: Grid
    places: tuple[int, ...]
    coding: Coding
    counts: tuple[float, ...]
    deviation: float
    only: bool = False

    def restricted(self, chosen: Array) -> Binning:
        """Return it with only some fine cells to draw values from; of those left before.

        Args:
            chosen: A truth value per fine cell.
        """
        left = np.asarray(self.counts) > 0 if self.only else True
        kept = np.where(
            np.logical_and(chosen, left), np.maximum(self.counts, 0.0) + 1e-9, -1.0
        )
        return replace(self, counts=tuple(map(float, kept)), only=True)

    @property
    def gathered(self) -> Array:
        """Noisy counts of the bins."""
        return np.bincount(
            self.places, np.asarray(self.counts, np.float64), self.coding.count
        ).astype(np.float64)

    @property
    def deviations(self) -> Array:
        """Standard deviation of each bin's noise: cells add up."""
        return self.deviation * np.sqrt(
            np.bincount(self.places, minlength=self.coding.count)
        )


def grids(
    schema: Schema,
    columns: Sequence[str],
    *,
    complete: Sequence[str] = (),
    cells: int = 32,
    cuts: Mapping[str, Sequence[int]] | None = None,
) -> tuple[Grid, ...]:
    """Return the fine cells of these columns.

    Args:
        schema: The declarations.
        columns: Which, in the order of the output.
        complete: Columns in which no value is ever missing; those declared complete are.
        cells: The most fine cells of a number column.
        cuts: Grid numbers at which a fine cell must begin.

    Examples:
        >>> schema = Schema({"Age": Integer(0, 120), "Sex": Category(["F", "M"])})
        >>> [g.coding.count for g in grids(schema, ["Age", "Sex"], cells=4)]
        [5, 3]
    """
    extra = cuts or {}
    return tuple(
        _grid(name, known(schema, name), name in complete, cells, extra.get(name, ()))
        for name in columns
    )


def known(schema: Schema, name: str) -> Known:
    """Return a declared column whose values are public.

    Raises:
        DeclarationError: Its values are not declared, so none can be made.
    """
    column = schema[name]
    if isinstance(column, Text):
        raise DeclarationError(
            N_("column {name} has no declared keys; none of it can be made"),
            hint=N_("declare it as Category([...]), or leave it out of columns"),
            name=repr(name),
        )
    return column


def _grid(
    name: str, declared: Known, complete: bool, cells: int, cuts: Sequence[int]
) -> Grid:
    match declared:
        case Real() | Integer():
            whole = complete or declared.complete
            edges = _edges(declared.first, declared.last, cells, cuts)
            count = len(edges) + (not whole)
            middle = (declared.first + declared.last) // 2
            inside = max(i for i, e in enumerate(edges) if i == 0 or e <= middle)
            missing = inside if whole else count - 1
            coding = Coding(name, count, missing, edges=edges)
        case Category() | Boolean():
            whole = complete
            keys = len(declared.values)
            count = keys + (not whole)
            coding = Coding(
                name, count, 0 if whole else keys, places=tuple(range(keys))
            )
        case _:
            assert_never(declared)
    return Grid(declared, coding, whole, (0,) * coding.count)


def _edges(first: int, last: int, cells: int, cuts: Sequence[int]) -> tuple[int, ...]:
    """Return where cells begin: equal runs, and the bounds on their own.

    Whatever lies beyond a bound is moved onto it, and codes such as 0 often stand there,
    so that many rows can lie on a bound and few beside it.
    """
    values = last - first + 1
    if values <= cells or cells < _WITH_ENDS:
        count, ends = min(cells, values), set[int]()
    else:
        first, values, count = first + 1, values - 2, cells - 2
        ends = {first - 1, last}
    equal = {first - (-i * values // count) for i in range(count)}
    return tuple(sorted(equal | ends | {c for c in cuts if min(equal) < c <= last}))


def merge(
    grid: Grid, counts: Array, deviation: float, total: float, *, bins: int, most: int
) -> Binning:
    """Gather fine cells into bins that hold more than noise.

    Args:
        grid: The fine cells.
        counts: Their noisy counts.
        deviation: Of the noise in each.
        total: Estimated number of rows.
        bins: About how many bins a number column shall have.
        most: The most bins of any column.
    """
    if isinstance(grid.declared, Real | Integer):
        places = _run(grid, counts, deviation, max(total, 1.0) / bins)
    else:
        places = _rare(grid, counts, deviation, most)
    return Binning(
        grid, places, _coarse(grid, places), tuple(map(float, counts)), deviation
    )


def _run(grid: Grid, counts: Array, deviation: float, share: float) -> tuple[int, ...]:
    """Merge neighbours until each run holds its share, and more than noise."""
    places: list[int] = []
    run, held, width = 0, 0.0, 0
    for i in range(grid.values):
        if width and grid.marks[i] != grid.marks[i - 1]:
            run, held, width = run + 1, 0.0, 0
        places.append(run)
        held, width = held + float(counts[i]), width + 1
        if held >= max(share, _CLEAR * deviation * width**0.5):
            run, held, width = run + 1, 0.0, 0
    if (
        width
        and run
        and grid.marks[places.index(run) - 1] == grid.marks[grid.values - 1]
    ):
        places = [min(p, run - 1) for p in places]  # what is left joins its neighbour
    if not grid.complete:
        places.append(places[-1] + 1)
    return tuple(places)


def _rare(grid: Grid, counts: Array, deviation: float, most: int) -> tuple[int, ...]:
    """Merge the rare keys of a long list, those of each mark into one bin."""
    if grid.values <= min(_FEW_KEYS, most):
        return tuple(range(grid.coding.count))
    marks = len(set(grid.marks[: grid.values]))
    order = sorted(range(grid.values), key=lambda i: -counts[i])
    room = max(1, most - marks - (not grid.complete))
    kept = {i for i in order[:room] if counts[i] >= _RARE * deviation}
    names: dict[tuple[int, int], int] = {}
    places = [
        names.setdefault((0, i) if i in kept else (1, grid.marks[i]), len(names))
        for i in range(grid.values)
    ]
    if not grid.complete:
        places.append(len(names))
    return tuple(places)


def _coarse(grid: Grid, places: tuple[int, ...]) -> Coding:
    fine, count = grid.coding, max(places) + 1
    edges = tuple(
        edge
        for i, edge in enumerate(fine.edges)
        if i == 0 or places[i] != places[i - 1]
    )
    keys = tuple(places[p] for p in fine.places)
    return Coding(fine.column, count, places[fine.missing], edges=edges, places=keys)
