"""Rows whose tables of two columns are nearer to the model's than chance would leave them.

Rows that are drawn one by one deviate from their model by about √n in every cell: with a
few hundred rows that is as large as the noise. So several rows are drawn for each one
that is kept, and those are kept that bring the tables of all pairs nearest to what the
model expects: greedily, a few at a time (kernel herding: Chen, Welling, Smola 2010, UAI).
Every kept row is a row of the model, so what the model forbids stays forbidden. It is
post-processing of the model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from sfumato.noise import Stream
from sfumato.synth.draw import Bins, draw_bins, shuffled
from sfumato.synth.model import Array, Model
from sfumato.synth.tree import Axes

__all__ = ["balanced_bins"]

_DRAWN = 5  # rows drawn for each one kept
_AT_ONCE = 4  # rows kept at a time
_BLOCK = 4096  # rows kept of one draw: bounds memory
_MOST_LOOKS = 20_000_000  # cells looked at; beyond, rows are many and chance is small
_LEAST = 0.25  # rows expected in a cell below which all cells weigh alike


def balanced_bins(model: Model, rows: int, stream: Stream) -> Bins:
    """Return the bins of each column for that many rows, shape (columns, rows).

    Examples:
        >>> from sfumato.synth.model import Potentials
        >>> from sfumato.synth.tree import Tree
        >>> even = Model(Potentials(Tree([2, 2], [])), 1.0)
        >>> first, second = balanced_bins(even, 1000, Stream())
        >>> bool(abs((first * second).sum() - 250) < 10)
        True
    """
    pairs = list(combinations([x for x, n in enumerate(model.tree.sizes) if n > 1], 2))
    if not pairs or rows * _DRAWN * len(pairs) > _MOST_LOOKS:
        return draw_bins(model, rows, stream)
    sought = _Sought.of(model, pairs, rows)
    kept = [
        sought.keep(model, min(_BLOCK, rows - start), stream)
        for start in range(0, rows, _BLOCK)
    ]
    found = np.concatenate(kept, axis=1) if kept else draw_bins(model, 0, stream)
    return found[:, shuffled(rows, stream)]


@final
@dataclass(slots=True)
class _Sought:
    """How far the rows kept so far are from the tables that the model expects.

    Attributes:
        pairs: The columns of each table.
        starts: Where each table begins among all cells.
        shares: The model's share of each cell.
        weights: How much a cell's error counts: less where more rows are expected.
        over: Rows kept less rows expected, so far.
    """

    pairs: Sequence[Axes]
    starts: list[int]
    shares: Array
    weights: Array
    over: Array

    @classmethod
    def of(cls, model: Model, pairs: Sequence[Axes], rows: int) -> _Sought:
        tables = [model.marginal(p).ravel() for p in pairs]
        shares = np.concatenate(tables)
        starts = np.cumsum([0, *(t.size for t in tables[:-1])]).tolist()
        weights = 1 / np.sqrt(np.maximum(shares * rows, _LEAST))
        return cls(pairs, starts, shares, weights, np.zeros(len(shares)))

    def keep(self, model: Model, rows: int, stream: Stream) -> Bins:
        """Draw rows and return those that bring all tables nearest."""
        drawn = draw_bins(model, rows * _DRAWN, stream)
        sizes = model.tree.sizes
        cells = np.stack(
            [
                start + drawn[a] * sizes[b] + drawn[b]
                for start, (a, b) in zip(self.starts, self.pairs, strict=True)
            ],
            axis=1,
        )
        own = self.weights[cells].sum(axis=1)
        kept = []
        for start in range(0, rows, _AT_ONCE):
            count = min(_AT_ONCE, rows - start)
            place = slice(start * _DRAWN, (start + count) * _DRAWN)
            some = cells[place]
            self.over -= self.shares * count
            pull = (self.weights[some] * self.over[some]).sum(axis=1)
            best = np.argsort(2 * pull + own[place], kind="stable")[:count]
            np.add.at(self.over, some[best].ravel(), 1.0)
            kept.append(place.start + best)
        found: Bins = drawn[:, np.concatenate(kept)]
        return found
