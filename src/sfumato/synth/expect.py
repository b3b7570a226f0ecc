"""What a synthetic table will be like, from public facts alone: errors and memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb, prod, sqrt
from typing import TYPE_CHECKING, final

from sfumato.declare.schema import Integer, Real
from sfumato.plan.contingency import fraction, noise_of
from sfumato.plan.expect import guessed
from sfumato.synth.tree import cells_of

if TYPE_CHECKING:
    from sfumato.account import Loss
    from sfumato.synth.run import Layout

__all__ = ["ExpectedTable", "expected_tables", "predicted_megabytes"]

_LARGEST = 10_000
_BYTES = 8
_COPIES = 8  # of the junction tree's tables: weights, beliefs, messages, scratch
_MEMORY = 45  # vectors that the descent keeps
_ROW_BYTES = 400  # of a row that an engine returns, with its Python objects
_SETS = 64


@final
@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """The error that noise makes in one table, if it is measured.

    Attributes:
        columns: Its columns.
        cells: Its bins, about.
        error: Expected total-variation error from noise alone: half the L1 distance,
            as a share of the rows, at most 1.
    """

    columns: tuple[str, ...]
    cells: int
    error: float

    def __str__(self) -> str:
        """Show it on one line."""
        return f"{' × '.join(self.columns)}: {self.cells} cells, error {self.error:.3f}"


def expected_tables(layout: Layout, *, rows: int) -> tuple[ExpectedTable, ...]:
    """Return the expected errors of single columns and, where chosen, of pairs."""
    from sfumato.synth.run import shares_of
    from sfumato.synth.search import split

    plan, options, about = layout.plan, layout.options, max(1.0, guessed(rows))
    one, _, measuring = shares_of(options, plan.cost)
    unit = plan.schema.unit
    parts = _part(plan.cost, one if measuring else 1.0)
    share = split(parts, [1] * len(layout.grids))[0]
    fine = noise_of(share, unit).mean_absolute_error / fraction(unit)
    bins = [_bins(layout, i) for i in range(len(layout.grids))]
    found = []
    for grid, held in zip(layout.grids, bins, strict=True):
        spread = fine * sqrt(max(1.0, grid.coding.count / held))
        error = min(1.0, 0.5 * held * spread / about)
        found.append(ExpectedTable((grid.name,), held, error))
    if not measuring:
        return tuple(found)
    rounds = options.rounds or max(1, len(bins) - 1)
    noise = noise_of(split(_part(plan.cost, measuring), [1] * rounds)[0], unit)
    size = noise.mean_absolute_error / fraction(unit)
    for a, b in combinations(range(len(bins)), 2):
        cells = bins[a] * bins[b]
        error = min(1.0, 0.5 * cells * size / about)
        names = (layout.grids[a].name, layout.grids[b].name)
        found.append(ExpectedTable(names, cells, error))
    return tuple(found)


def _part(loss: Loss, share: float) -> Loss:
    return type(loss).from_units(max(1, int(loss.units * share)))


def _bins(layout: Layout, place: int) -> int:
    """Return about how many bins a column will have."""
    from sfumato.synth.run import MOST_KEYS

    grid = layout.grids[place]
    if isinstance(grid.declared, Real | Integer):
        return min(grid.coding.count, layout.options.bins + (not grid.complete))
    return min(grid.coding.count, MOST_KEYS)


def predicted_megabytes(layout: Layout) -> int:
    """Return a bound on the memory of counting and fitting, in megabytes.

    Every column has at most its fine cells as bins (columns of keys at most 64), every
    candidate table at most 10,000 cells, and the junction tree at most ``layout.room``.
    """
    from sfumato.synth.run import MOST_KEYS

    options = layout.options
    fine = sum(g.coding.count for g in layout.grids)
    most = [
        g.coding.count if g.coding.edges else min(g.coding.count, MOST_KEYS)
        for g in layout.grids
    ]
    if options.method == "independent":
        fine += _told(layout)
        return 1 + (fine * (_ROW_BYTES + _COPIES * _BYTES)) // 1_000_000
    tables = _candidates(most, options.ways)
    own = sum(prod(most[i] for i in _places(layout, t)) for t in options.tables)
    own += _told(layout)
    candidates = sum(cells * many for cells, many in tables) + own
    counted = 3 * _BYTES * candidates + _ROW_BYTES * (_largest(tables, _SETS) + own)
    tree = _COPIES * _BYTES * (layout.room + fine + own + _tied(layout, most))
    measured = min(candidates, _largest(tables, options.rounds or 60))
    return 1 + (counted + tree + _MEMORY * _BYTES * measured) // 1_000_000


def _candidates(most: Sequence[int], ways: int) -> list[tuple[int, int]]:
    """Return cells of the candidate tables, the largest first, and how many have so many.

    Columns of as many cells are alike, so that a thousand columns are as few kinds.
    """
    kinds = Counter(n for n in most if n > 1)
    found = Counter[int]()
    for k in range(2, ways + 1):
        for axes in combinations_with_replacement(sorted(kinds), k):
            cells, alike = prod(axes), Counter(axes)
            if cells <= _LARGEST:
                found[cells] += prod(comb(kinds[n], m) for n, m in alike.items())
    return sorted(found.items(), reverse=True)


def _largest(tables: Sequence[tuple[int, int]], count: int) -> int:
    """Return the cells of so many of the largest tables together."""
    cells = 0
    for size, many in tables:
        cells += size * min(many, count)
        count -= min(many, count)
    return cells


def _tied(layout: Layout, most: Sequence[int]) -> int:
    """Return the cells of the tree over the tables that are measured in any case.

    Tables that share columns in a ring lie in cliques that are larger than any of them.
    """
    asked = [tuple(sorted(_places(layout, t))) for t in layout.options.tables]
    asked += [
        tuple(sorted(_places(layout, tuple(rule)))) for rule in layout.options.forbid
    ]
    return cells_of(most, asked) if asked else 0


def _told(layout: Layout) -> int:
    """Return the cells of the tables that tell dependent columns from their sources."""
    sizes = {g.name: g.coding.count for g in layout.grids}
    return sum(sizes[d.source] * d.grid.coding.count for d in layout.learned)


def _places(layout: Layout, table: tuple[str, ...]) -> list[int]:
    names = [g.name for g in layout.grids]
    return [names.index(c) for c in table]
