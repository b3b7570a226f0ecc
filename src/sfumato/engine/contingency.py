"""Contingency tables: counted by any engine in grouping sets, sealed before noise.

One statement counts many tables at once::

    SELECT k0, k1, k2, COUNT(*)
    FROM (SELECT bin of q0 AS k0, …
          FROM (SELECT grid number of x0 AS q0, … FROM (SELECT clamped cell AS x0, … FROM data)))
    GROUP BY GROUPING SETS ((k0, k1), (k0, k2), …)

A bin is never null, so the columns that are not null tell which table a row belongs to.

Of a person with m rows each row counts min(m, R)/m, in 1024ths, cut down in each cell::

    WITH s AS (the bins, and whose row it is, as u), m AS (SELECT u AS person, COUNT(*) AS m …)
    SELECT k0, k1, k2, SUM(c · 1024 · min(m, R)/m)
    FROM (SELECT u, k0, k1, k2, COUNT(*) AS c FROM s
          GROUP BY GROUPING SETS ((u, k0, k1), (u, k0, k2), …)) JOIN m … GROUP BY k0, k1, k2

All are integer steps of at most 64 bits for tables of less than 2^33 rows: ``x·R/m`` with
``x = 1024·c <= 1024·m`` is computed as ``x/m·R + (x%m)·R/m``, the same integer.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from sfumato.declare.unit import PrivacyUnit, Unit
from sfumato.engine.table import log
from sfumato.engine.terms import Terms
from sfumato.plan.contingency import FINE, Coding, TableQuery, fraction
from sfumato.secret import Quiet, Secret

if TYPE_CHECKING:
    from sfumato.engine.dialect import Dialect
    from sfumato.engine.physical import Layout

__all__ = [
    "FARTHEST",
    "FEW_SETS",
    "FINE",
    "SETS",
    "Choose",
    "Counter",
    "Ints",
    "Measure",
    "Rate",
    "Tables",
    "Tabulator",
    "coded_bins",
    "count_tables",
    "is_long",
    "scores",
    "statements",
]

Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Tables: TypeAlias = "tuple[Ints, ...]"
"""The counts of each table, flat, the last column's bins innermost."""

SETS = 8  # tables of one statement, so that rows are read few times
FEW_SETS = 2  # of few rows: DuckDB takes 2 MB for each table, however small
FARTHEST = 2**52  # 1024ths of a row that a prediction may say; no table holds so many
_LONG = 64  # bins of keys that one expression can tell apart in good time


class Counter(Protocol):
    """An engine that runs statements over ``data``."""

    @property
    def layout(self) -> Layout:
        """How each declared column is stored."""

    @property
    def dialect(self) -> Dialect:
        """The primitives of its statements."""

    @property
    def sets(self) -> int:
        """How many tables one statement counts."""

    def unprotected(self, sql: str) -> list[tuple[object, ...]]:
        """Return the rows of a statement."""


@final
@dataclass(frozen=True, slots=True)
class Measure:
    """A request for noisy tables.

    Attributes:
        tables: Which of the sealed tables.
        shares: What each costs; in the budget's currency.
    """

    tables: tuple[int, ...]
    shares: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Choose:
    """A request to choose the table that a model predicts worst.

    Attributes:
        tables: The candidates, among the sealed tables.
        predicted: For each, the predicted counts in 1024ths of a row: public.
        weights: For each, how much its error counts: positive integers.
        penalties: For each, what is taken off, in 1024ths times weight: public.
        share: What the choice costs.
    """

    tables: tuple[int, ...]
    predicted: Tables
    weights: tuple[int, ...]
    penalties: tuple[int, ...]
    share: Any


@final
@dataclass(frozen=True, slots=True)
class Rate:
    """A request for the noisy errors of predictions, all at once.

    Attributes:
        tables: The candidates, among the sealed tables.
        predicted: For each, the predicted counts in 1024ths of a row: public.
        share: What all of them cost together.
    """

    tables: tuple[int, ...]
    predicted: Tables
    share: Any


def scores(tables: Tables, asked: Choose | Rate, unit: PrivacyUnit) -> list[int]:
    """Return for each candidate the error of its prediction, in 1024ths of a row.

    The error is ``sum(|1024 · count - predicted|)``, in integers of any length: one row more in one
    cell moves it by at most 1024, whatever the prediction (triangle inequality), and
    exactly so in every candidate's own unit, its weight. People's tables are counted in
    1024ths already, so that one person moves it by at most 1024 times her most rows.
    """
    times = FINE // fraction(unit)
    found = [
        _exact_sum(np.abs(tables[t] * times - np.clip(p, -FARTHEST, FARTHEST)))
        for t, p in zip(asked.tables, asked.predicted, strict=True)
    ]
    if isinstance(asked, Rate):
        return found
    return [
        w * e - p for w, e, p in zip(asked.weights, found, asked.penalties, strict=True)
    ]


def _exact_sum(errors: Any) -> int:
    """Return a sum that 64 bits may not hold, of whole numbers from 0 to 2^63."""
    return (int((errors >> 32).sum()) << 32) + int((errors & 0xFFFFFFFF).sum())


@runtime_checkable
class Tabulator(Protocol):
    """Something that counts tables in its own way."""

    def tables(self, query: TableQuery) -> Tables:
        """Return the counts of each table: exact and unprotected."""


def count_tables(engine: Counter | Tabulator, query: TableQuery) -> Secret[Tables]:
    """Count rows by the bins of each table's columns.

    Raises:
        EngineError: The engine failed; one fixed text, no cause. The debit stands.
    """
    with Quiet() as work:
        try:
            return Secret(
                engine.tables(query)
                if isinstance(engine, Tabulator)
                else _count(engine, query)
            )
        except Exception:
            log.debug("the statement failed", exc_info=True)
            raise
    raise work.stop


def _count(engine: Counter, query: TableQuery) -> Tables:
    found = tuple(
        np.zeros(prod(query.shape(t)), np.int64) for t in range(len(query.sets))
    )
    # A set may be asked twice; it is counted once, and stands in each of its tables.
    places: dict[tuple[int, ...], list[int]] = {}
    for t, s in enumerate(query.sets):
        places.setdefault(tuple(sorted(s)), []).append(t)
    terms = Terms(query.schema, engine.layout, engine.dialect)
    for columns, sql in statements(query, terms, sets=engine.sets):
        for row in engine.unprotected(sql):
            *cells, rows = row
            if not columns:
                _add_key(found, query, terms, places, cells, rows)
                continue
            bins = {c: b for c, b in zip(columns, cells, strict=True) if b is not None}
            for table in places[tuple(bins)]:
                flat = 0
                for c in query.sets[table]:
                    flat = flat * query.codings[c].count + int(str(bins[c]))
                found[table][flat] += int(str(rows))
    return found


def _add_key(
    found: Tables,
    query: TableQuery,
    terms: Terms,
    places: dict[tuple[int, ...], list[int]],
    cells: list[object],
    rows: object,
) -> None:
    """Add the rows of one key of a long list, whose spelling tells its place."""
    column, raw = cells
    coding = query.codings[int(str(column))]
    key = terms.place(coding.column, raw)
    bin_ = coding.missing if key is None else coding.places[int(key)]
    for table in places[int(str(column)),]:
        found[table][bin_] += int(str(rows))


def statements(
    query: TableQuery, terms: Terms, *, sets: int = SETS
) -> Iterator[tuple[tuple[int, ...], str]]:
    """Iterate over the statements, each with the columns of its rows; each set once.

    A long list of keys on its own is counted by the keys themselves, and its rows begin
    with the number of its column instead; there are no columns then.
    """
    counting = _Counting.of(terms)
    asked = list(dict.fromkeys(tuple(sorted(s)) for s in query.sets))
    long = [s for s in asked if len(s) == 1 and is_long(query.codings[s[0]])]
    for (c,) in long:
        name = query.codings[c].column
        key = f"CASE WHEN {terms.has_key(name)} THEN {terms.key(name)} END"
        source = f"SELECT {', '.join([*counting.whose, f'{key} AS k'])} FROM data"
        yield (), counting.select([str(c)], ["k"], source, ["k"])
    rest = [s for s in asked if s not in long]
    for start in range(0, len(rest), sets):
        some = rest[start : start + sets]
        columns = tuple(sorted({c for s in some for c in s}))
        person = ["u"] if counting.whose else []
        cells = [f"{_cell(terms, query.codings[c])} AS x{c}" for c in columns]
        steps = [f"{_step(terms, query.codings[c], f'x{c}')} AS q{c}" for c in columns]
        bins = [f"{_bin(terms, query.codings[c], f'q{c}')} AS k{c}" for c in columns]
        keys = [f"k{c}" for c in columns]
        source = (
            f"SELECT {', '.join(person + bins)} FROM (SELECT {', '.join(person + steps)} "
            f"FROM (SELECT {', '.join([*counting.whose, *cells])} FROM data) AS cells) "
            f"AS steps"
        )
        groups = [", ".join(f"k{c}" for c in s) for s in some]
        yield columns, counting.select([], keys, source, groups)


@final
@dataclass(frozen=True, slots=True)
class _Counting:
    """How rows are added up: by one each, or a person's weighed down to her most.

    Attributes:
        dialect: The primitives.
        whose: The column u of the source, which says whose a row is; none for rows.
        most: The rows of one person that count fully.
    """

    dialect: Dialect
    whose: tuple[str, ...]
    most: int

    @classmethod
    def of(cls, terms: Terms) -> _Counting:
        unit = terms.schema.unit
        whose = (f"{terms.identity()} AS u",) if isinstance(unit, Unit) else ()
        return cls(terms.dialect, whose, unit.max_rows)

    def select(
        self, heads: list[str], keys: list[str], source: str, groups: list[str]
    ) -> str:
        """Return the statement that counts by each group of keys."""
        if not self.whose:
            count = self.dialect.count_text.format(x="*")
            sets = ", ".join(f"({group})" for group in groups)
            return (
                f"SELECT {', '.join([*heads, *keys, count])} FROM ({source}) AS bins "
                f"GROUP BY GROUPING SETS ({sets})"
            )
        cte, named = self.dialect.cte.format, ", ".join(keys)
        sets = ", ".join(f"(u, {group})" for group in groups)
        total = self.dialect.sum_text.format(x="w")
        return (
            f"SELECT * FROM (WITH {cte(name='s')} (SELECT * FROM ({source}) AS whose "
            f"WHERE u IS NOT NULL), {cte(name='p')} (SELECT u AS person, COUNT(*) AS m "
            f"FROM s GROUP BY u) SELECT {', '.join([*heads, *keys, total])} FROM "
            f"(SELECT {named}, {self._weighed()} AS w FROM (SELECT u, {named}, COUNT(*) AS c "
            f"FROM s GROUP BY GROUPING SETS ({sets})) AS counts JOIN p ON counts.u = p.person) "
            f"AS weighed GROUP BY {named}) AS people"
        )

    def _weighed(self) -> str:
        """Return ``c · 1024 · min(m, R)/m``, cut down."""
        dialect, most = self.dialect, self.dialect.integer(self.most)
        size = f"(c * {dialect.integer(FINE)})"
        whole = dialect.divided.format(x=size, y="m")
        rest = dialect.rest.format(x=size, y="m")
        part = dialect.divided.format(x=f"({rest} * {most})", y="m")
        return f"CASE WHEN m <= {most} THEN {size} ELSE {whole} * {most} + {part} END"


def is_long(coding: Coding) -> bool:
    """Tell whether a list of keys is too long for one expression."""
    return len(coding.places) > _LONG and coding.count > _LONG


def coded_bins(query: TableQuery, terms: Terms) -> list[str]:
    """Return the bin of each column's cell as SQL; of a long list of keys the key."""
    found = []
    for coding in query.codings:
        if is_long(coding):
            name = coding.column
            found.append(f"CASE WHEN {terms.has_key(name)} THEN {terms.key(name)} END")
            continue
        cell = _cell(terms, coding)
        found.append(_bin(terms, coding, _step(terms, coding, cell)))
    return found


def _cell(terms: Terms, coding: Coding) -> str:
    """Return the clamped number, or the bin of the key, null where it is missing."""
    if coding.edges:
        return terms.clamped(coding.column)
    runs: dict[int, list[int]] = {}
    for place, bin_ in enumerate(coding.places):
        runs.setdefault(bin_, []).append(place)
    # The longest lists of keys come last, so that few cells are compared with them.
    arms = " ".join(
        f"WHEN {terms.is_any(coding.column, places)} THEN {bin_}"
        for bin_, places in sorted(runs.items(), key=lambda run: len(run[1]))
    )
    return f"CASE {arms} ELSE {coding.missing} END"


def _step(terms: Terms, coding: Coding, cell: str) -> str:
    """Return the grid number of a clamped number; keys have their bin already."""
    return terms.steps(coding.column, cell) if coding.edges else cell


def _bin(terms: Terms, coding: Coding, q: str) -> str:
    """Return the bin of a grid number, found by halving; keys have theirs already."""
    if not coding.edges:
        return q
    inner = _halve(terms, coding.edges, q, 0, len(coding.edges) - 1)
    return f"CASE WHEN {q} IS NULL THEN {coding.missing} ELSE {inner} END"


def _halve(terms: Terms, edges: tuple[int, ...], q: str, low: int, high: int) -> str:
    if low >= high:
        return str(low)
    middle = (low + high + 1) // 2
    left = _halve(terms, edges, q, low, middle - 1)
    right = _halve(terms, edges, q, middle, high)
    edge = terms.dialect.integer(edges[middle])
    return f"CASE WHEN {q} < {edge} THEN {left} ELSE {right} END"
