"""Tables of the same people, counted together: rows of one with facts of another.

What a person adds to a contingency table follows from her own rows in all tables and
from nothing else: of the *head* table the one row that describes her, with the number of
rows that she has in each other table; of another table her rows, each with her cells of
the head. If the head has several rows of hers, each is weighed down (as `max_rows` says),
and the facts that her other rows borrow are those of the first in the order of bins: a
function of her rows, whatever their order.

Each engine says the bins of each row and whose it is; they are brought together here, in
arrays of 4 bytes a cell and 8 a row, so that the same integers come from files, frames and
databases. DuckDB hands rows over some at a time; the drivers of databases all at once. The rules for
identifiers are those of every answer; texts of more than 1000 characters are nobody's.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine.contingency import (
    Counter,
    Ints,
    Tables,
    coded_bins,
    is_long,
)
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.load import open_engine
from sfumato.engine.owned import identifier, identifiers, whose_rows
from sfumato.engine.tally import bin_of_number
from sfumato.engine.terms import Terms
from sfumato.plan.contingency import FINE, Coding, TableQuery

__all__ = ["Heads", "Tails", "Together", "weighed"]

Bins: TypeAlias = "NDArray[np.int32]"


@final
class Together:
    """The engines of a head table and of others of the same people; close it after use."""

    def __init__(self, head: Dataset, others: Mapping[str, Dataset]) -> None:
        """Open all of them.

        Raises:
            SourceError: A table cannot be opened as declared.
        """
        self._stack = ExitStack()
        people: dict[str | None, int] = {}
        with ExitStack() as opening:
            self.head = opening.enter_context(_open(head, people))
            self.others = {
                n: opening.enter_context(_open(d, people)) for n, d in others.items()
            }
            self._stack = opening.pop_all()

    def __enter__(self) -> Self:
        """Return it, for ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all engines."""
        self._stack.close()


@final
@dataclass(frozen=True, slots=True)
class _Opened:
    """One table with its engine."""

    engine: Any
    schema: Schema
    unit: Unit
    people: dict[str | None, int]
    """The number of each person that was met, in any of the tables."""

    def __enter__(self) -> Self:
        self.engine.__enter__()
        return self

    def __exit__(self, *kind: object) -> None:
        self.engine.__exit__(*kind)

    def owned(self) -> tuple[list[str | None], dict[str, Any]]:
        """Return whose each row is, and its columns: FOR THE OWNER'S EYES."""
        return whose_rows(self.engine, self.schema)

    def rows(self, codings: Sequence[Coding]) -> tuple[Ints, list[Bins]]:
        """Return the number of whose each row is, -1 of nobody, and bins by column."""
        engine: Counter = self.engine
        terms = Terms(self.schema, engine.layout, engine.dialect)
        query = TableQuery(self.schema, tuple(codings), ())
        outputs = [f"{identifiers(terms)} AS u"]
        outputs += [
            f"{cell} AS k{i}" for i, cell in enumerate(coded_bins(query, terms))
        ]
        read = [_reader(coding, terms) for coding in codings]
        whose: list[Ints] = [np.zeros(0, np.int64)]
        bins: list[list[Bins]] = [[np.zeros(0, np.int32)] for _ in codings]
        for some in _batches(engine, f"SELECT {', '.join(outputs)} FROM data"):
            people, *columns = zip(*some, strict=True)
            whose.append(np.array([*map(self._number, people)], np.int64))
            for held, bin_, column in zip(bins, read, columns, strict=True):
                held.append(np.array([*map(bin_, column)], np.int32))
        return np.concatenate(whose), [np.concatenate(held) for held in bins]

    def _number(self, person: object) -> int:
        if person is None:
            return -1
        return self.people.setdefault(identifier(person), len(self.people))


def _batches(engine: Counter, sql: str) -> Iterator[list[tuple[object, ...]]]:
    """Iterate over rows, some at a time where the engine can."""
    if isinstance(engine, DuckDBEngine):
        yield from engine.batches(sql)
    elif rows := engine.unprotected(sql):
        yield rows


def _open(dataset: Dataset, people: dict[str | None, int]) -> _Opened:
    schema, unit = dataset.schema, dataset.schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  the caller checked it
    source = Dataset(
        dataset.source, schema=schema, name=dataset.name, memory=dataset.memory
    )
    return _Opened(open_engine(source), schema, unit, people)


def _reader(coding: Coding, terms: Terms) -> Callable[[object], int]:
    """Return what reads a bin; the keys of a long list come as their spellings."""
    if not is_long(coding):
        return lambda cell: int(str(cell))
    known: dict[object, int] = {}

    def read(cell: object) -> int:
        if cell not in known:
            key = terms.place(coding.column, cell)
            known[cell] = coding.missing if key is None else coding.places[int(key)]
        return known[cell]

    return read


def weighed(people: Ints, cells: Ints, count: int, most: int) -> Ints:
    """Return the counts of cells in 1024ths of a row, each person's rows weighed down.

    Args:
        people: Whose each row is, by numbers from 0.
        cells: The cell of each row.
        count: Number of cells.
        most: Rows of one person that count fully.

    Examples:
        >>> weighed(np.array([0, 0, 1]), np.array([1, 1, 0]), 2, 1).tolist()
        [1024, 1024]
    """
    rows = np.bincount(people) if len(people) else np.zeros(1, np.int64)
    both, many = np.unique(people * count + cells, return_counts=True)
    whose, where = np.divmod(both, count)
    found = np.zeros(count, np.int64)
    added = many * FINE * np.minimum(rows[whose], most) // rows[whose]
    np.add.at(found, where, added)
    return found


@final
class Heads:
    """Counts the rows of the head table, with the number of rows in each other table."""

    def __init__(self, together: Together, numbers: Mapping[str, str]) -> None:
        """Keep the tables.

        Args:
            together: The tables.
            numbers: The column that holds the number of rows, with the table's name.
        """
        self._together, self._numbers = together, dict(numbers)

    def tables(self, query: TableQuery) -> Tables:
        """Return the counts of each table, in 1024ths of a row."""
        own = [c for c in query.codings if c.column not in self._numbers]
        people, bins = self._together.head.rows(own)
        held = dict(zip((c.column for c in own), bins, strict=True))
        for coding in query.codings:
            if coding.column in self._numbers:
                other = self._together.others[self._numbers[coding.column]]
                held[coding.column] = _numbers(other, people, coding, query)
        ordered = [held[c.column] for c in query.codings]
        return _counted(people, ordered, query, self._together.head.unit.max_rows)


def _numbers(other: _Opened, people: Ints, coding: Coding, query: TableQuery) -> Bins:
    """Return the bin of the number of rows that each row's person has elsewhere."""
    whose, _ = other.rows(())
    rows = np.bincount(whose[whose >= 0], minlength=len(other.people) + 1)
    numbers = np.where(people >= 0, rows[people], 0)  # the last one is nobody's: none
    met, places = np.unique(numbers, return_inverse=True)
    bins = [bin_of_number(int(n), coding, query) for n in met]
    return np.array(bins, np.int32)[places]


@final
class Tails:
    """Counts the rows of another table, each with its person's cells of the head."""

    def __init__(
        self, together: Together, name: str, shared: Mapping[str, str]
    ) -> None:
        """Keep the tables.

        Args:
            together: The tables.
            name: The other table.
            shared: The columns that are borrowed, with their names in the head.
        """
        self._together, self._name, self._shared = together, name, dict(shared)

    def tables(self, query: TableQuery) -> Tables:
        """Return the counts of each table, in 1024ths of a row."""
        own = [c for c in query.codings if c.column not in self._shared]
        lent = [c for c in query.codings if c.column in self._shared]
        other = self._together.others[self._name]
        people, bins = other.rows(own)
        held = dict(zip((c.column for c in own), bins, strict=True))
        theirs = [_renamed(c, self._shared[c.column]) for c in lent]
        heads, facts = self._together.head.rows(theirs)
        there = np.append(_has(heads, len(other.people)), False)[people]
        for coding, cells in zip(
            lent, _first(heads, facts, len(other.people)), strict=True
        ):
            # the last one is of whoever has no row in the head, and of nobody
            held[coding.column] = np.append(cells, 0)[people]
            held[coding.column][~there] = coding.missing
        ordered = [held[c.column] for c in query.codings]
        return _counted(people, ordered, query, other.unit.max_rows)


def _renamed(coding: Coding, name: str) -> Coding:
    return Coding(name, coding.count, coding.missing, coding.edges, coding.places)


def _has(heads: Ints, people: int) -> NDArray[np.bool_]:
    """Tell of each person whether she has a row in the head."""
    found = np.zeros(people, np.bool_)
    found[heads[heads >= 0]] = True
    return found


def _first(heads: Ints, facts: Sequence[Bins], people: int) -> list[Bins]:
    """Return each person's bins in the first of her rows, in the order of bins."""
    order = np.lexsort(np.stack([*reversed(facts), heads]))
    met, at = np.unique(heads[order], return_index=True)
    found = []
    for fact in facts:
        cells = np.zeros(people, np.int32)
        cells[met[met >= 0]] = fact[order][at][met >= 0]
        found.append(cells)
    return found


def _counted(
    people: Ints, bins: Sequence[Bins], query: TableQuery, most: int
) -> Tables:
    """Count the rows of people by the bins of each table's columns."""
    kept = people >= 0
    whose = people[kept]
    found = []
    for table, columns in enumerate(query.sets):
        flat = np.zeros(len(whose), np.int64)
        for c in columns:
            flat = flat * query.codings[c].count + bins[c][kept]
        cells = prod(query.shape(table))
        found.append(weighed(whose, flat, cells, most))
    return tuple(found)
