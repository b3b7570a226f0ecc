"""Histograms whose bins can be counted off by one division, exactly.

``floor((x - e0) / w)`` never decreases in x, because IEEE subtraction, division by a
positive number and floor do not. So if it gives i at the left edge of bin i and at the
last double before the right edge, for every i, it gives i everywhere between: what is
computed equals what the edges say for every double, and no comparison is needed.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, inf, nextafter

__all__ = ["even_width"]

_FEW = 8  # bins that a search finds as quickly


@lru_cache(maxsize=256)
def even_width(edges: tuple[float, ...]) -> float | None:
    """Return the width by which bins are counted off; none where that is not exact.

    Examples:
        >>> even_width(tuple(k * 0.5 for k in range(11)))
        0.5
        >>> even_width((0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0))
    """
    count = len(edges) - 1
    if count < _FEW:
        return None
    first = edges[0]
    for width in (edges[1] - first, (edges[-1] - first) / count):
        if all(
            floor((edges[i] - first) / width) == i
            and floor((nextafter(edges[i + 1], -inf) - first) / width) == i
            for i in range(count)
        ):
            return width
    return None
