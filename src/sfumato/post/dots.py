"""Twenty equally likely places of the figure without noise, for a dot plot.

A reader counts dots better than she reads densities (Kay, Kola, Hullman, Munson, "When
(ish) is my bus?", CHI 2016): each of 20 dots stands for one chance in 20.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sfumato.plan import ByCount, ByQuotient, ByRatio, BySquares, Direct, Recipe
from sfumato.post.rule import Floats

__all__ = ["DOTS", "LEVELS", "MOST", "dots", "has_dots"]

DOTS = 20
MOST = 24  # figures of a plan that has dots: a page shows no more of them
LEVELS: Final = tuple((2 * i + 1) / DOTS for i in range(DOTS // 2))
"""The confidences of the intervals whose ends the dots are."""


def has_dots(recipe: Recipe) -> bool:
    """Tell whether there are intervals of all confidences."""
    return isinstance(recipe, Direct | ByRatio | ByCount | BySquares | ByQuotient)


def dots(lows: Floats, highs: Floats) -> Floats:
    """Return, per figure, the quantiles 0.025, 0.075 … 0.975 of where noise leaves it.

    Formal guarantee: post-processing; adds no privacy loss.

    Args:
        lows: Lower ends of the intervals of confidences `LEVELS`, one row for each.
        highs: Upper ends, likewise.
    """
    return np.sort(np.concatenate([lows, highs]), axis=0).T
