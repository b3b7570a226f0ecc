"""The record of a synthetic table: what was measured, with which noise, at what cost."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, final

from sfumato.release.record import Claim, Noise
from sfumato.words import N_

__all__ = ["MadeColumn", "NoisyTable", "SyntheticRelease"]

SYNTHETIC_VERSION = 1


@final
@dataclass(frozen=True, slots=True)
class MadeColumn:
    """One column of the synthetic table.

    Attributes:
        name: The column.
        kind: ``"real"``, ``"integer"``, ``"date"``, ``"category"`` or ``"boolean"``.
        cells: Number of fine cells that it was counted in.
        bins: Number of bins that its fine cells were merged into.
        labels: The bins in words, in order.
    """

    name: str
    kind: str
    cells: int
    bins: int
    labels: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class NoisyTable:
    """The raw noisy counts of one contingency table.

    Attributes:
        columns: Its columns; the last one's cells are innermost.
        shape: Cells of each column.
        fine: Whether cells are fine cells, or bins.
        noise: Law, scale and charge.
        counts: One integer per cell.
    """

    columns: tuple[str, ...]
    shape: tuple[int, ...]
    fine: bool
    noise: Noise
    counts: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class SyntheticRelease:
    """All that a synthetic table is made from: safe to print, store and send.

    Attributes:
        title: Name of the release.
        method: How tables were chosen.
        claim: What is promised.
        columns: The columns that are made.
        tables: The raw noisy counts; the model and its rows follow from them alone.
        total: Number of rows, estimated from the noisy counts; or the public one.
        start: The claims of the releases that it goes on with, oldest first: it tells of
            their noisy counts too, so that all losses add up.
        budgets: Names of the datasets whose budgets paid: each table that was read is
            one of theirs. Of linked tables they are several; the receipt is the first's.
    """

    title: str
    method: str
    claim: Claim
    columns: tuple[MadeColumn, ...]
    tables: tuple[NoisyTable, ...]
    total: float
    start: tuple[Claim, ...] = ()
    budgets: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and dicts."""
        return {"schema_version": SYNTHETIC_VERSION, **asdict(self)}

    def to_json(self) -> str:
        """Return the record as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        """Say what was made and what is promised."""
        from sfumato.release.promise import promise
        from sfumato.words import language, speaker

        say = speaker(language())
        text = f"{self.title}: {promise(self.claim, say)}"
        for earlier in self.start:
            before = say(
                N_("it goes on with an earlier release, whose loss adds up: {terms}"),
                terms=promise(earlier, say),
            )
            text = f"{text}; {before}"
        return text
