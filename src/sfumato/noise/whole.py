"""Continuous noise rounded to whole numbers, as integers of any size.

``floor(1/2 + noise)`` added to an integer x is ``floor(x + 1/2 + noise)``: the ideal sum
rounded, which is post-processing (``docs/proofs/rounded-reals.md``). The integer stays
outside the float, so no size of x or noise loses a digit.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.noise import exact
from sfumato.noise.arguments import Number, positive
from sfumato.noise.grid import COARSEST, FINEST
from sfumato.noise.rounded import rounded_gaussian, rounded_laplace
from sfumato.noise.stream import default

__all__ = ["whole_gaussian", "whole_laplace"]

_FAST = Fraction(2) ** COARSEST, Fraction(2) ** FINEST
"""Scales that the samplers of whole arrays take on a grid of step 1; others are drawn
one by one, exactly."""


def whole_laplace(scale: Number, count: int) -> list[int]:
    """Draw ``floor(1/2 + L)``, L exact continuous Laplace noise of `scale`.

    Returns:
        `count` Python integers.

    Examples:
        >>> len(whole_laplace(3, 5)), type(whole_laplace(10**30, 1)[0])
        (5, <class 'int'>)
    """
    width = positive("scale", scale)
    if _FAST[0] <= width < _FAST[1]:
        drawn = rounded_laplace(np.zeros(count), width, grid=1)
        return drawn.astype(np.int64).tolist()  # type: ignore[no-any-return]
    return [exact.rounded_laplace(default(), Fraction(0), width) for _ in range(count)]


def whole_gaussian(scale: Number, count: int) -> list[int]:
    """Draw ``floor(1/2 + Z)``, Z exact normal noise of standard deviation `scale`.

    Returns:
        `count` Python integers.

    Examples:
        >>> len(whole_gaussian(3, 5)), type(whole_gaussian(10**30, 1)[0])
        (5, <class 'int'>)
    """
    width = positive("scale", scale)
    if _FAST[0] <= width < _FAST[1]:
        drawn = rounded_gaussian(np.zeros(count), width, grid=1)
        return drawn.astype(np.int64).tolist()  # type: ignore[no-any-return]
    return [exact.rounded_gaussian(default(), Fraction(0), width) for _ in range(count)]
