"""Columns that another column determines: a hospital lies in one region.

Such a column is left out of the model and told from its source, cell by cell, so that
the dependency holds in every row. The table from source to column is either declared,
or read off one noisy table of both: for each key of the source the key that most rows
seem to have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from sfumato.declare.schema import Boolean, Category, Schema
from sfumato.errors import DeclarationError, quoted
from sfumato.synth.draw import Bins
from sfumato.synth.grids import Grid, grids
from sfumato.synth.model import Array
from sfumato.synth.rules import key_place, plain, selected
from sfumato.words import N_

__all__ = [
    "Dependent",
    "cells_by_source",
    "dependents",
    "met_by_source",
    "read_dependent",
    "told_by",
]

_MOST = 1_000_000  # cells of a table that is measured for a dependency


@final
@dataclass(frozen=True, slots=True)
class Dependent:
    """A column that is told from another one.

    Attributes:
        grid: Its cells.
        source: The column that determines it.
        places: For each fine cell of the source the cell of this column; none until it
            was measured.
    """

    grid: Grid
    source: str
    places: tuple[int, ...] | None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.grid.name


def read_dependent(given: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    """Return columns with their sources, and the declared tables as pairs of keys.

    Raises:
        DeclarationError: A dependency is not written as one.
    """
    found: list[tuple[str, str, Any]] = []
    for name, told in given.items():
        if isinstance(told, str):
            found.append((name, told, None))
            continue
        source, table = next(iter(told.items())) if _is_table(told) else ("", None)
        if not table:
            raise DeclarationError(
                N_("{value} does not say what determines column {name}"),
                hint=N_(
                    'write dependent={{"region": "hospital"}}, or with the public table: '
                    '{{"region": {{"hospital": {{"A": "north", "B": "south"}}}}}}'
                ),
                value=quoted(told),
                name=repr(name),
            )
        pairs = tuple((plain(key), plain(value)) for key, value in table.items())
        found.append((str(name), str(source), pairs))
    return tuple(found)


def _is_table(told: object) -> bool:
    return (
        isinstance(told, Mapping)
        and len(told) == 1
        and all(isinstance(table, Mapping) for table in told.values())
    )


def dependents(
    schema: Schema,
    asked: Sequence[tuple[str, str, Any]],
    made: Sequence[Grid],
    complete: Sequence[str],
) -> tuple[Dependent, ...]:
    """Return the dependent columns with what is known of them before anything is read.

    Args:
        schema: The declarations.
        asked: Columns, their sources, and declared tables.
        made: The cells of the columns that are modelled.
        complete: Columns that never lack a value.

    Raises:
        DeclarationError: A column is no list of keys, its source is not made, a key is
            not declared, or the table would be too large.
    """
    sources = {g.name: g for g in made}
    found = []
    for name, source, table in asked:
        for one in (name, source):
            if not isinstance(schema[one], Category | Boolean):
                raise DeclarationError(
                    N_("column {name} has no declared keys, so no table can tell it"),
                    hint=N_("dependencies are between categories or booleans"),
                    name=repr(one),
                )
        if source not in sources:
            raise DeclarationError(
                N_("column {name} is determined by {source}, which is not modelled"),
                hint=N_("name a column that is made and that nothing else determines"),
                name=repr(name),
                source=repr(source),
            )
        (grid,) = grids(schema, [name], complete=complete)
        if table is None:
            _check_size(grid, sources[source])
            found.append(Dependent(grid, source, None))
            continue
        found.append(
            Dependent(grid, source, _declared(grid, sources[source], dict(table)))
        )
    return tuple(found)


def _check_size(grid: Grid, source: Grid) -> None:
    cells = grid.coding.count * source.coding.count
    if cells > _MOST:
        raise DeclarationError(
            N_("the table from {source} to {name} has {cells} cells, too many"),
            hint=N_("declare the table, if it is public, or leave the column out"),
            source=repr(source.name),
            name=repr(grid.name),
            cells=cells,
        )


def _declared(grid: Grid, source: Grid, table: dict[Any, Any]) -> tuple[int, ...]:
    """Return the cell of each cell of the source; what is not named is missing."""
    places = [grid.coding.missing] * source.coding.count
    for key, value in table.items():
        place = source.coding.missing if key is None else key_place(source, key)
        places[place] = grid.coding.missing if value is None else key_place(grid, value)
    if grid.complete and len(table) < source.values:
        raise DeclarationError(
            N_(
                "the table from {source} to {name} leaves keys out, and {name} is complete"
            ),
            hint=N_("name every key of {source}, or let {name} be missing"),
            source=repr(source.name),
            name=repr(grid.name),
        )
    return tuple(places)


def told_by(dependent: Dependent, source: Grid, counts: Array) -> tuple[int, ...]:
    """Return for each cell of the source the likeliest cell, by noisy counts of both."""
    table = counts.reshape(source.coding.count, dependent.grid.coding.count)
    return tuple(int(place) for place in table.argmax(axis=1))


def met_by_source(dependent: Dependent, condition: Any) -> Array:
    """Return a truth value per cell of the source: whether it tells what is asked."""
    chosen = selected(dependent.grid, condition)
    found: Array = chosen[np.asarray(dependent.places)]
    return found


def cells_by_source(dependent: Dependent, cells: Bins) -> Bins:
    """Return the cell of each row, from the cells of the source."""
    found: Bins = np.asarray(dependent.places)[cells]
    return found
