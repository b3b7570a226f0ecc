"""Twenty equally likely places of the figure without noise, for a dot plot.

A reader counts dots better than she reads densities (Kay, Kola, Hullman, Munson, "When
(ish) is my bus?", CHI 2016): each of 20 dots stands for one chance in 20.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.plan import (
    ByCount,
    ByQuotient,
    ByRatio,
    BySquares,
    Direct,
    Plan,
    Recipe,
)
from sfumato.post.interval import intervals
from sfumato.post.rule import Floats

__all__ = ["DOTS", "MOST", "dots"]

DOTS = 20
MOST = 24  # figures of a plan that has dots: a page shows no more of them
_KINDS = Direct | ByRatio | ByCount | BySquares | ByQuotient


def dots(
    plan: Plan, recipe: Recipe, values: Sequence[Sequence[float]]
) -> Floats | None:
    """Return, per figure, the quantiles 0.025, 0.075 … 0.975 of where noise leaves it.

    Formal guarantee: post-processing; adds no privacy loss. They are the ends of the
    intervals of confidence 0.05, 0.15 … 0.95. None where there are no such intervals.
    """
    if not isinstance(recipe, _KINDS):
        return None
    found = [
        intervals(plan, recipe, values, (2 * i + 1) / DOTS) for i in range(DOTS // 2)
    ]
    lows, highs = (np.stack(side, axis=-1) for side in zip(*found, strict=True))
    return np.sort(np.concatenate([lows, highs], axis=-1), axis=-1)
