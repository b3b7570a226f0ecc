"""A loaded table: what a loader hands to the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from sfumato.declare.schema import Integer, Real, Schema, Stored, Text
from sfumato.declare.unit import Unit
from sfumato.errors import SourceError, closest
from sfumato.words import N_

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "NO_NAME",
    "Table",
    "declared_positions",
    "has_keys",
    "log",
    "refuse_floats",
    "unreadable",
    "wrong_size",
]

NO_NAME = N_(
    "names must agree exactly, and the first line of a text file must name the columns"
)

# What failed may quote a cell: nobody hears it unless the owner attaches a handler.
log = logging.getLogger("sfumato.engine")
log.addHandler(logging.NullHandler())
log.propagate = False


@final
@dataclass(frozen=True, slots=True)
class Table:
    """How to bring a source into a database, and what is known about it.

    Attributes:
        attach: Makes the relation ``source``, with the columns of ``schema.stored`` as
            ``c0``, ``c1``, … in that order. It copies numbers only if it must.
        places: Which columns hold places among the declared keys (see `Places`).
        stored: For the owner, how the source stores each column.
        files: Files that every later scan must be able to read.
        days: Which columns hold day numbers, written by a loader.
    """

    attach: Callable[[duckdb.DuckDBPyConnection], object]
    places: frozenset[int]
    stored: tuple[str, ...]
    files: tuple[str, ...] = ()
    days: frozenset[int] = frozenset()


def declared_positions(
    schema: Schema, names: Sequence[str], *, hint: str = "", **facts: object
) -> tuple[int, ...]:
    """Return the position in the source of each declared column, then of the unit's.

    Args:
        schema: The declarations.
        names: The columns of the source, in order, exactly as it spells them.
        hint: What else the owner could do when a column is missing.
        facts: Values of the hint's placeholders.

    Raises:
        SourceError: A declared column is missing, or its name stands twice. Nothing
            was spent.
    """
    known, wanted = list(names), [name for name, _ in schema.stored]
    for name in wanted:
        if name not in known:
            near = closest(name, known)
            other = N_("did you mean {near}? Names must agree exactly")
            raise SourceError(
                N_("the table has no column {name}"),
                hint=hint or (other if near else NO_NAME),
                name=repr(name),
                near=near,
                **facts,
            )
        if known.count(name) > 1:
            raise SourceError(
                N_("the table has {times} columns called {name}"),
                hint=N_("rename one of them: it must be clear which one is meant"),
                name=repr(name),
                times=known.count(name),
            )
    return tuple(known.index(name) for name in wanted)


def has_keys(column: Stored) -> bool:
    """Tell whether a column's cells are read as keys; else they are numbers."""
    return not isinstance(column, Real | Integer)


def refuse_floats(name: str, stored: str, column: Stored) -> None:
    """Refuse a column of binary fractions whose cells shall be texts.

    Raises:
        SourceError: It is declared as Text: a fraction is no key, and whether all are
            whole numbers is private. Nothing was spent.
    """
    if isinstance(column, Text):
        raise SourceError(
            N_("column {name} is stored as {stored}; fractions cannot be keys"),
            hint=N_(
                "store it as whole numbers or text (pandas: astype('Int64')), or declare "
                "it as Real and ask for a histogram"
            ),
            name=repr(name),
            stored=stored,
        )


def unreadable(name: str, stored: str) -> SourceError:
    """Return the error for a column whose storage holds neither numbers nor keys."""
    return SourceError(
        N_("column {name} is stored as {stored}, which cannot be read as declared"),
        hint=N_("store it as numbers, text, or true and false, then open it again"),
        name=repr(name),
        stored=stored,
    )


def wrong_size(schema: Schema) -> SourceError:
    """Return the error for a table whose declared public number of units is not true."""
    if isinstance(schema.unit, Unit):
        return SourceError(
            N_("the table does not have the declared public number of people, {size}"),
            hint=N_(
                "correct size=..., or leave the number of people private: "
                'neighbours="add_remove"'
            ),
            size=schema.unit.size,
        )
    return SourceError(
        N_("the table does not have the declared public number of rows, {size}"),
        hint=N_(
            "correct size=..., or leave the number of rows private: "
            'Rows(neighbours="add_remove")'
        ),
        size=schema.unit.size,
    )
