"""A linear score over encoded features: one form for every linear model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.models.declared import Span
from sfumato.models.door import Floats, products
from sfumato.models.table import Encoder

__all__ = ["Line"]


@final
@dataclass(frozen=True, slots=True)
class Line:
    """``score = encoded row · slopes + offset``, one column of slopes per output.

    Attributes:
        slopes: Shape (encoded columns, outputs).
        offset: Shape (outputs,).
    """

    slopes: Floats
    offset: Floats

    def scores(self, blocks: Iterable[Floats]) -> Floats:
        """Return the scores of encoded rows, shape (rows, outputs); always finite."""
        with np.errstate(all="ignore"):
            found: Floats = np.concatenate(
                [products(b, self.slopes) + self.offset for b in blocks]
            )
        np.nan_to_num(found, copy=False)
        return found

    def raw(self, encoder: Encoder) -> tuple[Floats, Floats]:
        """Return coefficients and intercepts on the features as they are measured.

        Indicators of keys stay indicators. Only for an encoder of degree 1.
        """
        scale, shift = _units(encoder)
        slopes = self.slopes * scale[:, None]
        return slopes.T.copy(), self.offset + self.slopes.T @ shift

    @classmethod
    def of_raw(cls, coef: Floats, intercept: Floats, encoder: Encoder) -> Line:
        """Return the line of coefficients on the features as they are measured."""
        scale, shift = _units(encoder)
        slopes = np.atleast_2d(np.asarray(coef, float)).T / scale[:, None]
        offset = np.atleast_1d(np.asarray(intercept, float)) - slopes.T @ shift
        return cls(slopes, offset)


def _units(encoder: Encoder) -> tuple[Floats, Floats]:
    """Return (scale, shift) with ``encoded = scale * raw + shift``."""
    scale, shift = [], []
    for feature in encoder.features:
        if isinstance(feature, Span):
            width = feature.upper - feature.lower
            scale.append(2 / width)
            shift.append(-(feature.lower + feature.upper) / width)
        else:
            scale += [1.0] * len(feature.cells)
            shift += [0.0] * len(feature.cells)
    return np.array(scale), np.array(shift)
