"""Trees of sums in closed form: two passes, whatever the variances and numbers of parts.

Up the tree, each whole's own figure and the sum of its parts are averaged by their
variances; down the tree, what is left over is shared among the parts in proportion to
theirs (Hay, Rastogi, Miklau, Suciu, VLDB 2010, for any variances). The two passes are
the Gauss-Markov estimate under the constraints; the variance of each adjusted figure
follows on the way down, as in the Rauch-Tung-Striebel smoother.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.consistency.system import Floats, Placed, Places

__all__ = ["Forest"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """A forest over the places of a vector.

    Attributes:
        parent: The whole that each place is a part of; -1 for none.
        layers: Places that have a parent, by depth: children of the roots first.
    """

    parent: Places
    layers: tuple[Places, ...]

    @classmethod
    def of(cls, size: int, placed: Sequence[Placed]) -> Forest | None:
        """Return the forest that sums form; none when they form another shape."""
        parent = np.full(size, -1, dtype=np.int64)
        wholes = [one.whole for one in placed]
        if len(set(wholes)) < len(wholes):
            return None
        for one in placed:
            if (parent[one.members] >= 0).any():
                return None
            if len(np.unique(one.members)) < len(one.members):
                return None
            parent[one.members] = one.whole
        return cls._layered(parent)

    @classmethod
    def _layered(cls, parent: Places) -> Forest | None:
        layers: list[Places] = []
        above = np.where(parent < 0)[0]
        known = np.zeros(len(parent), dtype=bool)
        known[above] = True
        left = np.where(~known)[0]
        while len(left):
            reached = known[parent[left]]
            if not reached.any():  # a circle
                return None
            layers.append(left[reached])
            left = left[~reached]
            known[layers[-1]] = True
        return cls(parent, tuple(layers))

    def adjust(self, values: Floats, variances: Floats) -> tuple[Floats, Floats]:
        """Return the least-squares values and the variance of each.

        Args:
            values: Noisy figures, shape ``(size,)``.
            variances: Of their independent noise; 0 for a public, exact figure.
        """
        size = len(values)
        best, spread = values.astype(np.float64), variances.astype(np.float64)
        sums, loose = np.zeros(size), np.zeros(size)
        for layer in reversed(self.layers):
            up = self.parent[layer]
            wholes = np.unique(up)
            sums[wholes] = np.bincount(up, weights=best[layer], minlength=size)[wholes]
            loose[wholes] = np.bincount(up, weights=spread[layer], minlength=size)[
                wholes
            ]
            own, below = spread[wholes], loose[wholes]
            both = np.where(own + below > 0, own + below, 1.0)
            best[wholes] = (best[wholes] * below + sums[wholes] * own) / both
            # Where both are exact, the whole's own figure stands.
            exact = own + below == 0
            best[wholes[exact]] = values[wholes[exact]]
            spread[wholes] = own * below / both
        found, variance = best.copy(), spread.copy()
        for layer in self.layers:
            up = self.parent[layer]
            total = np.where(loose[up] > 0, loose[up], 1.0)
            share = spread[layer] / total
            found[layer] = best[layer] + share * (found[up] - sums[up])
            variance[layer] = spread[layer] - share**2 * (loose[up] - variance[up])
        return found, np.maximum(variance, 0.0)

    def mismatch(self, values: Floats) -> float:
        """Return the largest gap between a whole and the sum of its parts."""
        if not self.layers:
            return 0.0
        inner = np.concatenate(self.layers)
        sums = np.bincount(
            self.parent[inner], weights=values[inner], minlength=len(values)
        )
        wholes = np.unique(self.parent[inner])
        return float(np.max(np.abs(sums[wholes] - values[wholes]), initial=0.0))
