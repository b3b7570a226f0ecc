r"""From noisy tables to one distribution over all columns: maximum entropy, penalised.

Among all distributions p take the one that minimises

.. math:: N·KL(p‖b) + \sum_r (\lVert y_r - N p_r\rVert^2) / (2 τ σ_r)·…

in its dual form. With log-potentials θ_r on the measured tables r, p ∝ b·exp(Σ θ_r), and

.. math:: \min_θ\ \log Z(θ) - ⟨θ, y⟩/N + \frac{τ}{2N} \sum_r σ_r \lVert θ_r\rVert^2 ,

which is convex; at its minimum the residual y_r - N·p_r is τ·σ_r·θ_r. So τ → 0 fits the
tables as closely as any distribution can, and τ around 1/2 leaves out what noise alone
explains. The gradient is one pass of inference on the junction tree. The dual of
maximum entropy with relaxed constraints: Dudík, Phillips, Schapire 2007 (JMLR 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from sfumato.synth.descent import Floats, minimise
from sfumato.synth.model import Model, Potentials, calibrate
from sfumato.synth.tree import Axes, Tree

__all__ = ["Noisy", "fit", "total_of"]


@final
@dataclass(frozen=True, slots=True)
class Noisy:
    """A measured table: what is known of the counts of some columns.

    Attributes:
        axes: The columns, ascending.
        counts: The noisy counts, flat.
        deviation: Standard deviation of the noise in each cell (or of each cell).
    """

    axes: Axes
    counts: Floats
    deviation: float | Floats


def total_of(noisy: Sequence[Noisy]) -> float:
    """Return the number of rows that the tables tell, weighed by their precision."""
    spread = [
        float(np.sum(np.broadcast_to(np.square(m.deviation), m.counts.shape)))
        for m in noisy
    ]
    weights = [1 / s for s in spread]
    found = sum(w * float(m.counts.sum()) for w, m in zip(weights, noisy, strict=True))
    return max(1.0, found / sum(weights))


def fit(  # noqa: PLR0913  a problem has its parts
    sizes: Sequence[int],
    noisy: Sequence[Noisy],
    total: float,
    *,
    penalty: float = 0.7,
    warm: Mapping[Axes, Floats] | None = None,
    base: Sequence[tuple[Axes, Floats]] = (),
    steps: int = 200,
) -> tuple[Model, dict[Axes, Floats]]:
    """Return the fitted model, and its log-potentials for a warm start.

    Args:
        sizes: Bins of each column.
        noisy: The measured tables; several of the same columns are combined.
        total: Number of rows.
        penalty: τ.
        warm: Log-potentials of an earlier fit.
        base: Log-weights of the base measure, -inf for combinations that cannot be.
        steps: The most iterations.
    """
    merged = _combine(noisy)
    axes = list(merged)
    tree = Tree(sizes, [*axes, *(a for a, _ in base)])
    potentials = Potentials(tree)
    for some, weights in base:
        potentials.add(some, weights)
    places = [potentials.place(a) for a in axes]
    ends = np.cumsum([0, *(tree.count(a) for a in axes)])
    parts = [slice(s, e) for s, e in pairwise(ends)]
    seen = np.concatenate([merged[a][0] for a in axes]) / total
    ridge = np.concatenate([merged[a][1] for a in axes]) * (penalty / total)

    def dual(v: Floats) -> tuple[float, Floats]:
        tables = potentials.tables()
        for place, part in zip(places, parts, strict=True):
            tables[place.clique] += v[part].reshape(place.shape)
        beliefs, log_z = calibrate(tree, tables)
        told = np.concatenate([p.read(beliefs) for p in places])
        value = log_z - float(v @ seen) + 0.5 * float((ridge * v) @ v)
        return value, told - seen + ridge * v

    start = np.zeros(len(seen))
    for a, part in zip(axes, parts, strict=True):
        if warm and a in warm:
            start[part] = warm[a]
    found, _ = minimise(dual, start, steps=steps)
    learned = {a: found[part] for a, part in zip(axes, parts, strict=True)}
    for a, v in learned.items():
        potentials.add(a, v)
    return Model(potentials, total), learned


def _combine(noisy: Sequence[Noisy]) -> dict[Axes, tuple[Floats, Floats]]:
    """Return counts and deviations per set of columns: inverse variances add up."""
    sums: dict[Axes, tuple[Any, Any]] = {}
    for one in noisy:
        weight = 1 / np.square(np.broadcast_to(one.deviation, one.counts.shape))
        total, weights = sums.get(one.axes, (0.0, 0.0))
        sums[one.axes] = (total + weight * one.counts, weights + weight)
    return {a: (t / w, 1 / np.sqrt(w)) for a, (t, w) in sums.items()}
