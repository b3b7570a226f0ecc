"""Rows from a model: clique by clique, so that they reproduce its tables.

Within each group of rows that agree on a separator, the next columns are dealt out by
systematic rounding: each cell gets its expected number of rows, up or down by less than
one (Madow 1949), so that sampling adds little error of its own. Sampling is
post-processing: it costs nothing and may be repeated.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from sfumato.noise import Stream
from sfumato.synth.model import Array, Model

__all__ = ["Bins", "draw_bins", "shuffled", "uniforms"]

Bins: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


def uniforms(count: int, stream: Stream) -> Array:
    """Return floats in [0, 1) with 53 random bits each."""
    return (stream.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def shuffled(count: int, stream: Stream) -> Bins:
    """Return the numbers 0 … count - 1 in random order."""
    return np.argsort(stream.words(count), kind="stable")


def draw_bins(model: Model, rows: int, stream: Stream) -> Bins:
    """Return the bins of each column for that many rows, shape (columns, rows).

    Examples:
        >>> from sfumato.synth.model import Potentials
        >>> from sfumato.synth.tree import Tree
        >>> even = Model(Potentials(Tree([2], [])), 1.0)
        >>> [int(n) for n in np.bincount(draw_bins(even, 10, Stream())[0])]
        [5, 5]
    """
    tree = model.tree
    found = np.zeros((len(tree.sizes), rows), np.int64)
    for j in tree.order:
        clique, shared = tree.cliques[j], tree.separators[j]
        rest = [x for x in clique if x not in shared]
        if not rest:
            continue
        axes = [clique.index(x) for x in (*shared, *rest)]
        table = np.transpose(model.beliefs[j], axes).reshape(tree.count(shared), -1)
        group = np.zeros(rows, np.int64)
        for x in shared:
            group = group * tree.sizes[x] + found[x]
        cells = _deal(table, group, stream)
        for x in reversed(rest):
            cells, found[x] = np.divmod(cells, tree.sizes[x])
    return found[:, shuffled(rows, stream)]


def _deal(table: Array, group: Bins, stream: Stream) -> Bins:
    """Return a cell for each row, by the row of the table that its group says."""
    counts = np.bincount(group, minlength=len(table))
    used = np.flatnonzero(counts)
    # In a random order of cells, rounding favours none of them.
    order = shuffled(table.shape[1], stream)
    shares = np.cumsum(table[used][:, order], axis=1)
    ends = shares / shares[:, -1:] * counts[used, None]
    ends = np.floor(ends + uniforms(len(used), stream)[:, None])
    ends[:, -1] = counts[used]
    ends = np.minimum(ends, counts[used, None])
    each = np.diff(ends, axis=1, prepend=0).astype(np.int64)
    cells = np.repeat(np.tile(order, len(used)), each.ravel())
    # Rows of a group get its cells in random order.
    mixed = shuffled(len(group), stream)
    place = mixed[np.argsort(group[mixed], kind="stable")]
    found = np.empty(len(group), np.int64)
    found[place] = cells
    return found
