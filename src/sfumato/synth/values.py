"""From bins back to values of the declared types, within the declared bounds."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Integer, Real
from sfumato.noise import Stream
from sfumato.synth.draw import Bins, shuffled, uniforms
from sfumato.synth.grids import Binning, Grid
from sfumato.synth.model import Array

__all__ = ["Values", "decode", "fine_cells"]

_MANY = 200_000  # rows that need no sorting
_EVEN = 0.3  # most of a bin that is spread evenly over its grid numbers

Any_: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


@final
@dataclass(frozen=True, slots=True)
class Values:
    """The values of one synthetic column.

    Attributes:
        name: The column.
        cells: Its values; whatever stands where one is missing means nothing.
        missing: True where there is no value.
        words: How a table writes false and true.
    """

    name: str
    cells: Any_
    missing: Any_
    words: tuple[str, str] = ("false", "true")

    def to_list(self) -> list[Any]:
        """Return Python values, none where missing."""
        held = self.cells.tolist()
        return [None if gone else v for v, gone in zip(held, self.missing, strict=True)]

    def to_cells(self) -> list[Any]:
        """Return what a table shows: truth values as the declared cells, none as ``""``."""
        found = ["" if v is None else v for v in self.to_list()]
        return [self.words[v] if isinstance(v, bool) else v for v in found]


def decode(grid: Grid, cells: Bins, stream: Stream) -> Values:
    """Return a value for each fine cell: a key, or a grid number in it."""
    gone = np.zeros(len(cells), bool)
    if not grid.complete:
        gone = cells == grid.coding.missing
    match grid.declared:
        case Real() | Integer() as column:
            edges = np.array([*grid.coding.edges, column.last + 1, column.last + 1])
            low, width = edges[cells], edges[cells + 1] - edges[cells]
            q = low + np.floor(uniforms(len(cells), stream) * width).astype(np.int64)
            q = np.minimum(q, column.last)
            return Values(grid.name, _numbers(column, q), gone)
        case Category() | Boolean() as column:
            keys = np.array([*column.values, *column.values[:1]], dtype=_kind(column))
            held = keys[np.where(gone, 0, cells)]
            return Values(grid.name, held, gone, _words(column))


def fine_cells(binning: Binning, bins: Bins, stream: Stream) -> Bins:
    """Return a fine cell of each bin; `_shares` tells how likely each is."""
    if binning.places == tuple(range(len(binning.places))):
        return bins
    counts, places = np.asarray(binning.counts), np.asarray(binning.places)
    width, shares = np.bincount(places), _shares(binning)
    if binning.only:
        shares[counts <= 0] = 0.0
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(shares[order])
    first = np.concatenate([[0], np.cumsum(width)[:-1]])
    start = np.concatenate([[0.0], ends])[first]
    whole = ends[np.cumsum(width) - 1] - start
    at = start[bins] + _spread(bins, len(width), stream) * whole[bins]
    found = np.searchsorted(ends, at, side="right")
    last = np.cumsum(width)[bins] - 1
    found = np.clip(found, first[bins], last)
    cells: Bins = order[found]
    return cells


def _shares(binning: Binning) -> Array:
    """Return the rows expected in each fine cell: noisy counts, shrunk to what is smooth.

    Counts below the noise count as none. Within a bin the rest are pulled towards a
    smooth spread e by the share ``n·σ²/Σ(c - e)²`` of n cells with noise σ (James, Stein
    1961), hardly where noise does not explain the differences; and by 0.3 at most, as
    what is left after the first step lies where the rows are, and bins of few rows are
    wide.
    """
    counts, places = np.asarray(binning.counts), np.asarray(binning.places)
    held = np.maximum(np.bincount(places, counts), 0.0)
    smooth = (held[places] + 1e-9) * _smooth(binning, held)
    noise = np.bincount(places) * binning.deviation**2
    apart = np.bincount(places, (counts - smooth) ** 2)
    pull = np.minimum(_EVEN, noise / np.maximum(apart, 1e-12))
    clear = np.maximum(counts - binning.deviation, 0.0)
    found: Array = clear + pull[places] * smooth + 1e-9 * binning.grid.widths
    return found


def _smooth(binning: Binning, held: Array) -> Array:
    """Return the part of its bin that each fine cell has in a smooth column.

    Bins are even inside; but the first and the last bin of numbers are wide where rows
    are few, and rows are few far out. So there the density falls off exponentially from
    that of the neighbour, if the neighbour is denser: a bin of its own mean density
    would lie too far out.
    """
    places = np.asarray(binning.places)
    wide = np.asarray(binning.grid.widths, np.float64)
    found: Array = wide / np.bincount(places, wide)[places]
    if not binning.grid.coding.edges:
        return found
    cells = np.arange(binning.grid.values)
    for way in (cells, cells[::-1]):  # from the neighbour outwards
        outer = way[places[way] == places[way[-1]]]
        inner = way[: len(way) - len(outer)]
        if len(inner) < 2:  # noqa: PLR2004  a bound alone: its rows are no density
            continue
        near = inner[places[inner] == places[inner[-1]]]
        density = held[places[near[0]]] / wide[near].sum()
        rows = max(float(held[places[outer[0]]]), 1e-9)
        found[outer] = _falling(wide[outer], density / rows)
    return found


def _falling(wide: Array, density: float) -> Array:
    """Return the parts of cells side by side when density falls off exponentially.

    Args:
        wide: Their widths.
        density: That at the beginning; it stays even if it is at most 1 / the whole width.
    """
    times = density * wide.sum()
    if times <= 1:
        even: Array = wide / wide.sum()
        return even
    rate = times
    for _ in range(60):  # rate / (1 - exp(-rate)) = times; a contraction for times > 1
        rate = times * -np.expm1(-rate)
    ends = np.exp(-rate * np.concatenate([[0.0], np.cumsum(wide)]) / wide.sum())
    parts = ends[:-1] - ends[1:]
    found: Array = parts / parts.sum()
    return found


def _spread(bins: Bins, count: int, stream: Stream) -> Array:
    """Return for each row a number in [0, 1), spread evenly over the rows of its bin.

    Where rows are many, chance spreads them well enough.
    """
    if len(bins) > _MANY:
        return uniforms(len(bins), stream)
    mixed = shuffled(len(bins), stream)
    order = mixed[np.argsort(bins[mixed], kind="stable")]
    rows = np.bincount(bins, minlength=count)
    first = np.concatenate([[0], np.cumsum(rows)[:-1]])
    rank = np.empty(len(bins), np.int64)
    rank[order] = np.arange(len(bins)) - np.repeat(first, rows)
    found: Array = (rank + uniforms(len(bins), stream)) / rows[bins]
    return found


def _numbers(column: Real | Integer, q: Bins) -> Any_:
    if isinstance(column, Date):
        return q.astype("datetime64[D]")  # both count days since 1970-01-01
    if isinstance(column, Integer):
        return np.clip(q, np.ceil(column.lower), np.floor(column.upper)).astype(
            np.int64
        )
    found = q * column.step
    digits = -int(Decimal(repr(column.step)).normalize().as_tuple().exponent)
    if 0 <= digits <= 12:  # noqa: PLR2004  a step such as 0.1 has exact decimals
        found = np.round(found, digits)
    held: Any_ = np.clip(found, column.lower, column.upper)
    return held


def _words(column: Category | Boolean) -> tuple[str, str]:
    """Return the first cells that the column declares for false and for true."""
    if isinstance(column, Boolean):
        return column.false[0], column.true[0]
    return "false", "true"


def _kind(column: Category | Boolean) -> Any:
    if isinstance(column, Boolean):
        return bool
    held = np.iinfo(np.int64)
    whole = all(isinstance(v, int) and held.min <= v <= held.max for v in column.values)
    return np.int64 if whole else object
