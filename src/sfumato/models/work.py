"""The rows that count, encoded chunk by chunk: what a learner is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.models.door import Floats
from sfumato.models.progress import tick
from sfumato.models.table import CHUNK, Columns, Encoder

__all__ = ["Work"]


@final
@dataclass(frozen=True, slots=True)
class Work:
    """A table, its public facts, and which rows count.

    Attributes:
        table: The columns.
        encoder: The public facts.
        target: For each row its label's place, or its number; empty without a target.
        kept: Which rows count; none for all.
    """

    table: Columns
    encoder: Encoder
    target: NDArray[np.float64]
    kept: NDArray[np.bool_] | None = None

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return self.encoder.width

    def __len__(self) -> int:
        """Return the number of rows that count: private."""
        return len(self.table) if self.kept is None else int(self.kept.sum())

    @property
    def targets(self) -> NDArray[np.float64]:
        """The targets of the rows that count."""
        return self.target if self.kept is None else self.target[self.kept]

    def chunks(self) -> Iterator[Floats]:
        """Iterate over the encoded rows that count."""
        for start in range(0, len(self.table), CHUNK):
            part = slice(start, start + CHUNK)
            rows = self.encoder.encode(self.table, part)
            yield rows if self.kept is None else rows[self.kept[part]]
            tick()

    def pairs(self) -> Iterator[tuple[Floats, NDArray[np.float64]]]:
        """Iterate over encoded rows and their targets."""
        done, targets = 0, self.targets
        for rows in self.chunks():
            yield rows, targets[done : done + len(rows)]
            done += len(rows)
