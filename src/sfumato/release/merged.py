"""Several releases as one table: the columns are the union of theirs."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.release.record import Release
from sfumato.release.tables import Cell, to_columns

__all__ = ["merge"]


def merge(releases: Sequence[Release]) -> dict[str, list[Cell]]:
    """Return the columns of all releases, one below the other; absent cells are None.

    Columns keep the order in which they first appear.
    """
    tables = [to_columns(release) for release in releases]
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: [
            cell
            for table, release in zip(tables, releases, strict=True)
            for cell in table.get(name, [None] * len(release))
        ]
        for name in names
    }
