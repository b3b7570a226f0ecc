"""Neighbouring tables where a person has many rows: all of hers leave together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType

from sfumato.audit.hostile import TABLE, Row, Table
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine.cell import identity

__all__ = ["other_people", "other_rows", "units_of"]


def units_of(unit: Unit, others: Mapping[str, Schema]) -> dict[object, Unit]:
    """Return the unit of each table; that of none is the dataset's own."""
    found: dict[object, Unit] = {None: unit}
    for name, schema in others.items():
        assert isinstance(schema.unit, Unit)  # noqa: S101  the plan checked it
        found[name] = schema.unit
    return found


def other_rows(rows: Table) -> Iterator[Table]:
    """Yield the tables without one row, or without one row of each of several tables."""
    names = list(dict.fromkeys(row.get(TABLE) for row in rows))
    places = [
        [None, *(i for i, row in enumerate(rows) if row.get(TABLE) == name)]
        for name in names
    ]
    for gone in product(*places):
        if any(i is not None for i in gone):
            yield [row for i, row in enumerate(rows) if i not in gone]


def other_people(
    rows: Table,
    unit: Unit,
    pool: Sequence[Sequence[Row]],
    others: Mapping[str, Schema] = MappingProxyType({}),
) -> Iterator[Table]:
    """Yield the tables without one person; under replace-one with another instead.

    Args:
        rows: A table.
        unit: Whose rows belong together.
        pool: The people who may enter, each a list of rows; their identifiers are
            replaced by that of the person who leaves.
        others: The dataset's other tables.
    """
    units = units_of(unit, others)
    whose = [
        identity(row.get(own.column), own.identifier)
        for row in rows
        for own in [units[row.get(TABLE)]]
    ]
    for person in dict.fromkeys(w for w in whose if w is not None):
        rest = [row for row, w in zip(rows, whose, strict=True) if w != person]
        if unit.neighbours == "add_remove":
            yield rest
            continue
        for other in pool:
            yield [*rest, *({**row, unit.column: person} for row in other)]
