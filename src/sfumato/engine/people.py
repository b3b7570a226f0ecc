"""Plan → one SQL statement whose numbers are sums over people, on any dialect.

Every person's rows are added up per group, weighed down to what the unit's bounds let
count, and the weighed integers are added up over people::

    WITH ug AS (SELECT u, k0, COUNT(*) AS n, COUNT(q0) AS m0, SUM(term) AS s0 …
                FROM (the rows of the question as integers) AS steps GROUP BY u, k0),
         uk AS (SELECT u AS person, COUNT(*) AS k FROM ug GROUP BY u)
    SELECT k0, SUM(s0 * min(m0, R)/m0 * min(k, G)/k) … FROM ug JOIN uk … GROUP BY k0

and, for each histogram, once more with the bins of each person's rows. A database that would
compute ``ug`` anew for ``uk`` counts k by a window in ``ug`` instead. Where keys are
unknown, how many a person can bring in must be bounded too: there ``ug`` keeps G of her
groups, chosen by `chosen`, and k plays no part. All steps are
integer steps of at most 64 bits, so any engine returns the integers of `reference`:

* a term is at most 2^30 in its unit (`fraction_bits`), so a table of less than 2^33 rows
  has sums below 2^63;
* ``s * R / m`` is computed as ``s/m * R + (s%m) * R / m``, which is the same integer;
* division is of numbers of at least 0 only, where all databases round alike; a sign is
  put back afterwards.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import final

from sfumato.declare.unit import Unit
from sfumato.engine import Exact, Integers, Keyed
from sfumato.engine.dialect import Dialect
from sfumato.engine.draw import nth
from sfumato.engine.groups import Groups
from sfumato.engine.physical import Layout
from sfumato.engine.rowterm import RowTerms
from sfumato.engine.scan import Scan, axes_of
from sfumato.plan import (
    Bins,
    Choice,
    Crossed,
    Level,
    Part,
    Plan,
    term,
)

__all__ = ["PeopleStatement"]


@final
@dataclass(frozen=True, slots=True)
class _Sum:
    """The outputs of one part before the weights: over one person's rows of one group.

    Attributes:
        part: Place in the plan.
        count: The rows that have a term, as SQL over the scan.
        term: The term of a row; none where it is 1 for each row that has one.
    """

    part: int
    count: str
    term: str | None


@final
class PeopleStatement:
    """The SQL of a plan about people, and the reading of its rows.

    Attributes:
        sql: One SELECT. It contains no name and no text that its columns could carry.
    """

    def __init__(self, plan: Plan, layout: Layout, dialect: Dialect) -> None:
        """Render; pure, no connection is needed."""
        unit = plan.schema.unit
        assert isinstance(unit, Unit)  # noqa: S101  `statement` chose this class
        self._plan, self._dialect, self._unit = plan, dialect, unit
        self._scan = Scan(plan, layout, dialect)
        self._tables = list(dict.fromkeys(self._asked()))
        terms = RowTerms(self._scan, dialect)
        self._sums = [
            _Sum(i, terms.count(part.aggregate), terms.term(part))
            for i, part in enumerate(plan.parts)
            if not term(part.aggregate).apart and not term(part.aggregate).once
        ]
        self._people = [
            i for i, part in enumerate(plan.parts) if term(part.aggregate).once
        ]
        # Nobody can have rows in more groups than there are.
        self._is_shared = len(plan.groups) > unit.max_groups
        self.sql = self._render()

    def exact(self, rows: list[tuple[object, ...]]) -> Exact:
        """Return the plan's integers."""
        plan = self._plan
        groups = Groups(plan, self._scan.groups, (row[1:] for row in rows))
        if not plan.grouping.unknown:
            return self._read(plan, groups, rows)
        own = plan.shown(groups.found)
        return Keyed(groups.found, self._read(own, groups, rows))

    def _read(
        self, plan: Plan, groups: Groups, rows: list[tuple[object, ...]]
    ) -> Integers:
        keys = len(plan.query.keys)
        found = [[0] * part.cells for part in plan.parts]
        sizes = [prod(axis.count for axis in axes) for axes in self._tables]
        counts = [[0] * (len(plan.groups) * size) for size in sizes]
        for branch, *row in rows:
            group = groups.place(tuple(row))
            if group is None:
                continue
            place, numbers = row[keys], row[keys + 1 :]
            if int(str(branch)):
                which = int(str(branch)) - 1
                if place is not None and 0 <= int(str(place)) < sizes[which]:
                    cell = group * sizes[which] + int(str(place))
                    counts[which][cell] += int(str(numbers[0]))
                continue
            for part, number in zip(self._outputs, numbers, strict=False):
                found[part][group] += int(str(number))
        for wanted, cells in zip(plan.parts, found, strict=True):
            if isinstance(wanted.aggregate, Bins | Level | Crossed | Choice):
                self._fill(cells, wanted.aggregate, counts)
        return tuple(map(tuple, found))

    @property
    def _outputs(self) -> list[int]:
        """The parts that the first branch returns, in order."""
        return [one.part for one in self._sums] + self._people

    def _asked(self) -> Iterator[tuple[Bins | Level, ...]]:
        """Yield what rows are counted by together, for each part with several cells."""
        for part in self._plan.parts:
            one = part.aggregate
            if isinstance(one, Bins | Crossed | Choice) or one in self._scan.axes:
                yield axes_of(one)

    def _fill(
        self,
        cells: list[int],
        wanted: Bins | Level | Crossed | Choice,
        found: list[list[int]],
    ) -> None:
        """Take the counts of places; those of a tree's nodes from its leaves."""
        held: Bins | Level | Crossed | Choice = wanted
        bits = 0
        if isinstance(wanted, Level):
            finest = self._plan.finest(wanted).aggregate
            assert isinstance(finest, Level)  # noqa: S101  `finest` looks for one
            held, bits = finest, wanted.bits - finest.bits
        for i, size in enumerate(found[self._tables.index(axes_of(held))]):
            group, place = divmod(i, held.count)
            cells[group * wanted.count + (place >> bits)] += size

    def _render(self) -> str:
        keys, cte = self._scan.keys, self._dialect.cte
        weights, kept = "", self._kept(keys)
        if self._is_shared and self._dialect.recomputes:
            kept = f"SELECT own.*, COUNT(*) OVER (PARTITION BY u) AS k FROM ({kept}) AS own"  # fmt: skip
        elif self._is_shared:
            count = "SELECT u AS person, COUNT(*) AS k FROM ug GROUP BY u"
            weights = f", {cte.format(name='uk')} ({count})"
        branches = [self._branch(keys)]
        branches += [self._bin_branch(keys, i) for i, _ in enumerate(self._tables)]
        return (
            f"SELECT * FROM (WITH {cte.format(name='ug')} ({kept}){weights} "
            f"{' UNION ALL '.join(branches)}) AS people"
        )

    def _kept(self, keys: list[str]) -> str:
        """Return `_persons`; of unknown keys the groups of each person that are chosen."""
        if not self._plan.grouping.unknown:
            return self._persons(keys)
        place = nth(self._plan, self._scan.groups, self._dialect)
        most = self._dialect.integer(self._unit.max_groups)
        return (
            f"SELECT * FROM (SELECT own.*, {place} AS nth FROM ({self._persons(keys)}) "
            f"AS own) AS ranked WHERE nth <= {most}"
        )

    def _persons(self, keys: list[str]) -> str:
        """Return the sums of each person's terms per group."""
        own = ["u", *keys]
        total = self._dialect.sum_int64
        outputs = list(own)
        outputs += [f"COUNT({x}) AS m{i}" for i, x in enumerate(self._counts)]
        outputs += [
            f"{total.format(x=one.term)} AS s{one.part}"
            for one in self._sums
            if one.term is not None
        ]
        return (
            f"SELECT {', '.join(outputs)} FROM ({self._scan.relation()}) AS steps "
            f"GROUP BY {', '.join(own)}"
        )

    @property
    def _counts(self) -> list[str]:
        """What is counted, each once: of sums, then of bins."""
        counted = [one.count for one in self._sums]
        counted += [self._in_bin(i) for i, _ in enumerate(self._tables)]
        parts = [self._plan.parts[i].aggregate for i in self._people]
        counted += ["*" for one in parts if getattr(one, "beyond", False)]
        return list(dict.fromkeys(counted))

    def _rows(self, count: str) -> str:
        """Return the column of `_persons` that counts these rows."""
        return f"m{self._counts.index(count)}"

    def _branch(self, keys: list[str]) -> str:
        """Return the sums over people of everything that has one cell per group."""
        inner, outputs = list(keys), []
        for one in self._sums:
            part, rows = self._plan.parts[one.part], self._rows(one.count)
            name = f"w{one.part}"
            if one.term is None:
                inner.append(f"{self._unit_rows(rows, part)} AS {name}")
                outputs.append(self._shared(name))
                continue
            size = f"s{one.part}"
            signed = term(part.aggregate).low < 0
            held = f"abs({size})" if signed else size
            inner.append(f"{self._weighed(held, rows, part)} AS {name}")
            share = self._shared(name)
            if signed:
                inner.append(size)
                share = f"CASE WHEN {size} < 0 THEN -{share} ELSE {share} END"
            outputs.append(share)
        for place in self._people:
            one_person = self._dialect.integer(1 << self._plan.parts[place].bits)
            share = self._shared(one_person)
            if getattr(self._plan.parts[place].aggregate, "beyond", False):
                inner.append(f"{self._rows('*')} AS m")
                share = f"CASE WHEN {self._is_cut()} THEN {share} ELSE 0 END"
            outputs.append(share)
        if self._is_shared:
            inner.append("k")
        totals = [self._dialect.sum_text.format(x=x) for x in outputs]
        totals = totals or [self._dialect.null_text]
        heads = [f"{0} AS branch", *keys, f"{self._dialect.null_int64} AS place"]
        return (
            f"SELECT {', '.join(heads + totals)} FROM "
            f"(SELECT {', '.join(inner) or '1 AS one'} FROM ug{self._join('ug.u')}) AS weighed"
            f"{_group_by(keys)}"
        )

    def _bin_branch(self, keys: list[str], place: int) -> str:
        """Return the sums over people of one histogram's bins, or of one table's pairs."""
        axes, own = self._tables[place], ["u", *keys]
        cells = [self._axis(axis) for axis in axes]
        part = next(
            p
            for p in self._plan.parts
            if isinstance(p.aggregate, Bins | Level | Crossed | Choice)
            and axes_of(p.aggregate) == axes
        )
        rows = self._rows(self._in_bin(place))
        counts = (
            f"SELECT {', '.join([*own, *cells])}, COUNT(*) AS c "
            f"FROM ({self._scan.relation()}) AS steps WHERE {self._is_in_bin(place)} "
            f"GROUP BY {', '.join([*own, *cells])}"
        )
        named = [f"ug.{key} AS {key}" for key in keys]
        inner = [*named, *cells, f"{self._weighed('c', rows, part)} AS w"]
        if self._is_shared:
            inner.append("k")
        same = "=" if self._plan.query.other is None else "IS NOT DISTINCT FROM"
        met = " AND ".join(["ug.u = h.u", *(f"ug.{x} {same} h.{x}" for x in keys)])
        weighed = (
            f"SELECT {', '.join(inner)} FROM ({counts}) AS h JOIN ug ON {met}"
            f"{self._join('h.u')}"
        )
        total = self._dialect.sum_text.format(x=self._shared("w"))
        totals = (
            f"SELECT {', '.join([*keys, *cells])}, {total} AS total FROM ({weighed}) AS weighed"
            f"{_group_by([*keys, *cells])}"
        )
        where = ""
        for axis, cell in zip(axes, cells, strict=True):
            keyed = isinstance(axis, Bins) and not axis.edges
            digit = self._scan.terms.place_of(axis.column, cell) if keyed else cell
            digit = self._dialect.to_int64.format(x=digit)
            size = self._dialect.integer(axis.count)
            where = f"({where} * {size} + {digit})" if where else digit
        outputs = [
            f"{place + 1} AS branch", *keys, f"{where} AS place", "total",
            *[self._dialect.null_text] * (len(self._outputs) - 1),
        ]  # fmt: skip
        return f"SELECT {', '.join(outputs)} FROM ({totals}) AS totals"

    def _axis(self, axis: Bins | Level) -> str:
        """Return the column of the scan that holds an axis."""
        return f"b{self._scan.axes.index(axis)}"

    def _join(self, person: str) -> str:
        if not self._is_shared or self._dialect.recomputes:
            return ""
        return f" JOIN uk ON {person} = uk.person"

    def _is_cut(self) -> str:
        """Return the test that not everything of a person counts fully."""
        test = f"m > {self._dialect.integer(self._unit.max_rows)}"
        if self._is_shared:
            test += f" OR k > {self._dialect.integer(self._unit.max_groups)}"
        return test

    def _unit_rows(self, rows: str, part: Part) -> str:
        """Return ``min(m, R)``, in the part's unit: what rows of one each come to.

        Of rows beyond, ``min(m - min(m, R), R)``.
        """
        most = self._dialect.integer(self._unit.max_rows)
        one = self._dialect.integer(1 << part.bits)
        if getattr(part.aggregate, "beyond", False):
            twice = self._dialect.integer(2 * self._unit.max_rows)
            return (
                f"CASE WHEN {rows} <= {most} THEN 0 WHEN {rows} >= {twice} THEN {most} "
                f"ELSE {rows} - {most} END * {one}"
            )
        return f"CASE WHEN {rows} < {most} THEN {rows} ELSE {most} END * {one}"

    def _weighed(self, size: str, rows: str, part: Part) -> str:
        """Return ``size * min(m, R)/m``, in the part's unit; `size` is at least 0."""
        most, dialect = self._dialect.integer(self._unit.max_rows), self._dialect
        if part.bits > 0:
            size = f"({size} * {dialect.integer(1 << part.bits)})"
        whole = dialect.divided.format(x=size, y=rows)
        rest = dialect.rest.format(x=size, y=rows)
        part_of = dialect.divided.format(x=f"({rest} * {most})", y=rows)
        return f"CASE WHEN {rows} <= {most} THEN {size} ELSE {whole} * {most} + {part_of} END"

    def _shared(self, size: str) -> str:
        """Return ``size * min(k, G)/k``; `size` is at least 0."""
        if not self._is_shared:
            return size
        most = self._dialect.integer(self._unit.max_groups)
        share = self._dialect.divided.format(x=f"({size} * {most})", y="k")
        return f"CASE WHEN k <= {most} THEN {size} ELSE {share} END"

    def _in_bin(self, place: int) -> str:
        return f"CASE WHEN {self._is_in_bin(place)} THEN 1 END"

    def _is_in_bin(self, place: int) -> str:
        """Return the test that a row is in some place of a histogram or a table."""
        tests = []
        for axis in self._tables[place]:
            numeric = isinstance(axis, Level) or axis.edges
            cell = self._axis(axis)
            tests.append(f"{cell} >= 0" if numeric else f"{cell} IS NOT NULL")
        return " AND ".join(tests)


def _group_by(names: list[str]) -> str:
    return f" GROUP BY {', '.join(names)}" if names else ""
