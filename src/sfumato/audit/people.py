"""Neighbouring tables where a person has many rows: all of hers leave together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sfumato.audit.hostile import Row, Table
from sfumato.declare.unit import Unit
from sfumato.engine.cell import identity

__all__ = ["other_people"]


def other_people(
    rows: Table, unit: Unit, pool: Sequence[Sequence[Row]]
) -> Iterator[Table]:
    """Yield the tables without one person; under replace-one with another instead.

    Args:
        rows: A table.
        unit: Whose rows belong together.
        pool: The people who may enter, each a list of rows; their identifiers are
            replaced by that of the person who leaves.
    """
    whose = [identity(row.get(unit.column), unit.identifier) for row in rows]
    for person in dict.fromkeys(w for w in whose if w is not None):
        rest = [row for row, w in zip(rows, whose, strict=True) if w != person]
        if unit.neighbours == "add_remove":
            yield rest
            continue
        for other in pool:
            yield [*rest, *({**row, unit.column: person} for row in other)]
