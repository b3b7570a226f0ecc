"""Tables of the same people, counted together: rows of one with facts of another.

What a person adds to a contingency table follows from her own rows in all tables and
from nothing else: of the *head* table the one row that describes her, with the number of
rows that she has in each other table; of another table her rows, each with her cells of
the head. If the head has several rows of hers, each is weighed down (as `max_rows` says),
and the facts that her other rows borrow are those of the first in the order of bins: a
function of her rows, whatever their order.

Each engine says the bins of each row and whose it is; they are brought together here, in
arrays, so that the same integers come from files, frames and databases. The rules for
identifiers are those of `Text` cells: whole numbers are their digits, all other text is
compared exactly, longer ones than 1000 characters are nobody's.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import Any, Self, final

import numpy as np

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Schema, Text
from sfumato.declare.unit import Unit
from sfumato.engine.contingency import (
    Counter,
    Ints,
    Tables,
    coded_bins,
    is_long,
)
from sfumato.engine.load import open_engine
from sfumato.engine.owned import whose_rows
from sfumato.engine.tally import bin_of_number
from sfumato.engine.terms import Terms
from sfumato.plan.contingency import FINE, Coding, TableQuery

__all__ = ["Heads", "Tails", "Together", "weighed"]

_LONGEST = 1000


@final
class Together:
    """The engines of a head table and of others of the same people; close it after use."""

    def __init__(self, head: Dataset, others: Mapping[str, Dataset]) -> None:
        """Open all of them.

        Raises:
            SourceError: A table cannot be opened as declared.
        """
        self._stack = ExitStack()
        with ExitStack() as opening:
            self.head = opening.enter_context(_open(head))
            self.others = {
                n: opening.enter_context(_open(d)) for n, d in others.items()
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
    """One table with its engine; identifiers are read as texts."""

    engine: Any
    schema: Schema
    unit: Unit

    def __enter__(self) -> Self:
        self.engine.__enter__()
        return self

    def __exit__(self, *kind: object) -> None:
        self.engine.__exit__(*kind)

    def owned(self) -> tuple[list[str | None], dict[str, Any]]:
        """Return whose each row is, and its columns: FOR THE OWNER'S EYES."""
        people, columns = whose_rows(self.engine, self.schema, self.unit.column)
        nobody = {None, "", *self.unit.missing}
        return [None if p in nobody else p for p in people], columns

    def rows(self, codings: Sequence[Coding]) -> tuple[list[str | None], list[Ints]]:
        """Return whose each row is, and its bin in each column."""
        engine: Counter = self.engine
        terms = Terms(self.schema, engine.layout, engine.dialect)
        query = TableQuery(self.schema, tuple(codings), ())
        outputs = [f"{terms.key(self.unit.column)} AS u"]
        outputs += [
            f"{cell} AS k{i}" for i, cell in enumerate(coded_bins(query, terms))
        ]
        rows = engine.unprotected(f"SELECT {', '.join(outputs)} FROM data")
        columns = list(zip(*rows, strict=True)) or [()] * len(outputs)
        nobody = {None, "", *self.unit.missing}
        people = [None if u in nobody else str(u) for u in columns[0]]
        bins = [
            _read(coding, cells, terms)
            for coding, cells in zip(codings, columns[1:], strict=True)
        ]
        return people, bins


def _open(dataset: Dataset) -> _Opened:
    unit = dataset.schema.unit
    assert isinstance(unit, Unit)  # noqa: S101  the caller checked it
    columns = {**dict(dataset.schema.columns), unit.column: Text(longest=_LONGEST)}
    schema = Schema(columns)
    source = Dataset(
        dataset.source, schema=schema, name=dataset.name, memory=dataset.memory
    )
    return _Opened(open_engine(source), schema, unit)


def _read(coding: Coding, cells: Sequence[object], terms: Terms) -> Ints:
    """Return bins; the keys of a long list come as their spellings."""
    if not is_long(coding):
        return np.array([int(str(c)) for c in cells], np.int64)
    known: dict[object, int] = {}
    for cell in set(cells):
        key = terms.place(coding.column, cell)
        known[cell] = coding.missing if key is None else coding.places[int(key)]
    return np.array([known[c] for c in cells], np.int64)


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


def _numbers(
    other: _Opened, people: Sequence[str | None], coding: Coding, query: TableQuery
) -> Ints:
    """Return the bin of the number of rows that each row's person has elsewhere."""
    whose, _ = other.rows(())
    rows: dict[str | None, int] = {}
    for person in whose:
        rows[person] = rows.get(person, 0) + 1
    found = [bin_of_number(rows.get(p, 0), coding, query) for p in people]
    return np.array(found, np.int64)


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
        first: dict[str | None, tuple[int, ...]] = {}
        for person, told in zip(heads, zip(*facts, strict=True), strict=False):
            told_ = tuple(map(int, told))
            first[person] = min(first.get(person, told_), told_)
        missing = tuple(c.missing for c in lent)
        borrowed = [first.get(p, missing) for p in people]
        for i, coding in enumerate(lent):
            held[coding.column] = np.array([b[i] for b in borrowed], np.int64)
        ordered = [held[c.column] for c in query.codings]
        return _counted(people, ordered, query, other.unit.max_rows)


def _renamed(coding: Coding, name: str) -> Coding:
    return Coding(name, coding.count, coding.missing, coding.edges, coding.places)


def _counted(
    people: Sequence[str | None], bins: Sequence[Ints], query: TableQuery, most: int
) -> Tables:
    """Count the rows of people by the bins of each table's columns."""
    numbers: dict[str, int] = {}
    whose = np.array(
        [-1 if p is None else numbers.setdefault(p, len(numbers)) for p in people],
        np.int64,
    )
    kept = whose >= 0
    found = []
    for table, columns in enumerate(query.sets):
        flat = np.zeros(len(whose), np.int64)
        for c in columns:
            flat = flat * query.codings[c].count + bins[c]
        cells = prod(query.shape(table))
        found.append(weighed(whose[kept], flat[kept], cells, most))
    return tuple(found)
