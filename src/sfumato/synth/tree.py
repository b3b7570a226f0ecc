"""Junction trees: how a joint table over many columns is kept as small tables.

Columns whose tables were measured together must lie in one clique. Cliques come from
eliminating columns one by one, the cheapest first, and hang together in a tree in which
neighbours share a *separator*. Exact inference then costs the sum of the cliques' cells
(Lauritzen, Spiegelhalter 1988; Koller, Friedman 2009, ch. 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import prod
from typing import TypeAlias, final

__all__ = ["Axes", "Tree", "cells_of"]

Axes: TypeAlias = "tuple[int, ...]"


@final
class Tree:
    """A junction tree over columns of the given numbers of bins.

    Attributes:
        sizes: Bins of each column.
        cliques: The columns of each clique, ascending.
        parent: The clique above each one; -1 for the root.
        order: Cliques from the root down: parents before children.
        separators: The columns shared with the parent; empty for the root.

    Examples:
        >>> chain = Tree([2, 3, 2], [(0, 1), (1, 2)])
        >>> sorted(chain.cliques), chain.cells
        ([(0, 1), (1, 2)], 12)
    """

    __slots__ = ("cliques", "order", "parent", "separators", "sizes")

    def __init__(self, sizes: Sequence[int], wanted: Iterable[Axes]) -> None:
        """Build it; `wanted` are sets of columns that must lie in one clique."""
        self.sizes = tuple(sizes)
        self.cliques = _largest(_eliminate(self.sizes, wanted))
        self.parent, self.order = _span(self.cliques)
        self.separators: list[Axes] = [
            tuple(x for x in clique if above >= 0 and x in self.cliques[above])
            for clique, above in zip(self.cliques, self.parent, strict=True)
        ]

    @property
    def cells(self) -> int:
        """Cells of all cliques: what one pass of inference costs."""
        return sum(map(self.count, self.cliques))

    def count(self, axes: Axes) -> int:
        """Return the number of cells of a table over these columns."""
        return prod(self.sizes[x] for x in axes)

    def shape(self, clique: int) -> tuple[int, ...]:
        """Return the shape of a clique's table."""
        return tuple(self.sizes[x] for x in self.cliques[clique])

    def home(self, axes: Axes) -> int | None:
        """Return the smallest clique that holds these columns, if any does."""
        found = [j for j, c in enumerate(self.cliques) if set(axes) <= set(c)]
        return min(found, key=lambda j: self.count(self.cliques[j])) if found else None


def cells_of(sizes: Sequence[int], wanted: Iterable[Axes]) -> int:
    """Return the cells of the tree over these sets, without keeping it."""
    cliques = _largest(_eliminate(sizes, wanted))
    return sum(prod(sizes[x] for x in clique) for clique in cliques)


def _eliminate(sizes: Sequence[int], wanted: Iterable[Axes]) -> list[Axes]:
    """Return the cliques that eliminating columns makes, the cheapest column first."""
    near: dict[int, set[int]] = {x: set() for x in range(len(sizes))}
    for axes in wanted:
        for a, b in combinations(axes, 2):
            near[a].add(b)
            near[b].add(a)
    cost = {x: prod(sizes[y] for y in near[x]) * sizes[x] for x in near}
    cliques: list[Axes] = []
    while near:
        x = min(cost, key=lambda c: (cost[c], c))
        around = near.pop(x)
        del cost[x]
        cliques.append(tuple(sorted({x, *around})))
        for a in around:
            near[a] |= around
            near[a] -= {a, x}
        for a in around:
            cost[a] = prod(sizes[y] for y in near[a]) * sizes[a]
    return cliques


def _largest(cliques: list[Axes]) -> list[Axes]:
    """Drop cliques that lie inside another."""
    kept: list[set[int]] = []
    for clique in sorted(cliques, key=len, reverse=True):
        if not any(kept_one.issuperset(clique) for kept_one in kept):
            kept.append(set(clique))
    return [tuple(sorted(c)) for c in kept]


def _span(cliques: list[Axes]) -> tuple[list[int], list[int]]:
    """Return the tree of largest separators (Prim); unrelated cliques share nothing."""
    parent, order = [-1] * len(cliques), [0]
    best = {
        j: (len(set(cliques[0]) & set(cliques[j])), 0) for j in range(1, len(cliques))
    }
    while best:
        j = max(best, key=lambda k: (best[k][0], -k))
        parent[j] = best.pop(j)[1]
        order.append(j)
        for k in best:
            shared = len(set(cliques[j]) & set(cliques[k]))
            if shared > best[k][0]:
                best[k] = (shared, j)
    return parent, order
