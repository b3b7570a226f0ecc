"""Plan → one SQL statement whose numbers are sums over people, on any dialect.

Every person's rows are added up per group, weighed down to what the unit's bounds let
count, and the weighed integers are added up over people::

    WITH ug AS (SELECT u, k0, COUNT(*) AS n, COUNT(q0) AS m0, SUM(term) AS s0 …
                FROM (the rows of the question as integers) AS steps GROUP BY u, k0),
         uk AS (SELECT u AS person, COUNT(*) AS k FROM ug GROUP BY u)
    SELECT k0, SUM(s0 * min(m0, R)/m0 * min(k, G)/k) … FROM ug JOIN uk … GROUP BY k0

and, for each histogram, once more with the bins of each person's rows. Where keys are
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

from dataclasses import dataclass
from typing import assert_never, final

from sfumato.declare.unit import Unit
from sfumato.engine import Exact, Integers, Keyed
from sfumato.engine.dialect import Dialect
from sfumato.engine.draw import nth
from sfumato.engine.groups import Groups
from sfumato.engine.physical import Layout
from sfumato.engine.scan import Scan
from sfumato.plan import (
    Aggregate,
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountPeople,
    CountRows,
    CountValues,
    Crossed,
    Level,
    Part,
    Plan,
    SumValues,
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
        self._bins = [b for b in self._scan.axes if self._is_asked(b)]
        self._sums = [
            _Sum(i, self._count(part.aggregate), self._term(part))
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
        bins = {b: [0] * (len(plan.groups) * b.count) for b in self._bins}
        for branch, *row in rows:
            group = groups.place(tuple(row))
            if group is None:
                continue
            place, numbers = row[keys], row[keys + 1 :]
            if int(str(branch)):
                counted = self._bins[int(str(branch)) - 1]
                if place is not None and 0 <= int(str(place)) < counted.count:
                    cell = group * counted.count + int(str(place))
                    bins[counted][cell] += int(str(numbers[0]))
                continue
            for part, number in zip(self._outputs, numbers, strict=False):
                found[part][group] += int(str(number))
        for wanted, cells in zip(plan.parts, found, strict=True):
            if isinstance(wanted.aggregate, Bins | Level):
                self._fill(cells, wanted.aggregate, bins)
        return tuple(map(tuple, found))

    @property
    def _outputs(self) -> list[int]:
        """The parts that the first branch returns, in order."""
        return [one.part for one in self._sums] + self._people

    def _fill(
        self,
        cells: list[int],
        wanted: Bins | Level,
        found: dict[Bins | Level, list[int]],
    ) -> None:
        """Take the counts of bins; those of a tree's nodes from its leaves."""
        leaves: Bins | Level = wanted
        bits = 0
        if isinstance(wanted, Level):
            finest = self._plan.finest(wanted).aggregate
            assert isinstance(finest, Level)  # noqa: S101  `finest` looks for one
            leaves, bits = finest, wanted.bits - finest.bits
        for i, size in enumerate(found[leaves]):
            group, leaf = divmod(i, leaves.count)
            cells[group * wanted.count + (leaf >> bits)] += size

    def _is_asked(self, bins: Bins | Level) -> bool:
        """Tell whether it is a part of its own, and not only what a share is read from."""
        return any(part.aggregate == bins for part in self._plan.parts)

    def _render(self) -> str:
        keys, cte = self._scan.keys, self._dialect.cte
        weights = ""
        if self._is_shared:
            count = "SELECT u AS person, COUNT(*) AS k FROM ug GROUP BY u"
            weights = f", {cte.format(name='uk')} ({count})"
        branches = [self._branch(keys)]
        branches += [self._bin_branch(keys, i) for i, _ in enumerate(self._bins)]
        return (
            f"SELECT * FROM (WITH {cte.format(name='ug')} ({self._kept(keys)}){weights} "
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
        counted += [self._in_bin(i) for i, _ in enumerate(self._bins)]
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
            outputs.append(self._shared(one_person))
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
        """Return the sums over people of one histogram's bins."""
        bins, own = self._bins[place], ["u", *keys]
        b = f"b{self._scan.axes.index(bins)}"
        part = next(p for p in self._plan.parts if p.aggregate == bins)
        rows = self._rows(self._in_bin(place))
        counts = (
            f"SELECT {', '.join(own)}, {b} AS b, COUNT(*) AS c "
            f"FROM ({self._scan.relation()}) AS steps WHERE {self._is_in_bin(place)} "
            f"GROUP BY {', '.join([*own, b])}"
        )
        named = [f"ug.{key} AS {key}" for key in keys]
        inner = [*named, "b", f"{self._weighed('c', rows, part)} AS w"]
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
            f"SELECT {', '.join([*keys, 'b'])}, {total} AS total FROM ({weighed}) AS weighed"
            f"{_group_by([*keys, 'b'])}"
        )
        where = "b"
        if isinstance(bins, Bins) and not bins.edges:
            where = self._scan.terms.place_of(bins.column, "b")
        outputs = [
            f"{place + 1} AS branch", *keys,
            f"{self._dialect.to_int64.format(x=where)} AS place", "total",
            *[self._dialect.null_text] * (len(self._outputs) - 1),
        ]  # fmt: skip
        return f"SELECT {', '.join(outputs)} FROM ({totals}) AS totals"

    def _join(self, person: str) -> str:
        return f" JOIN uk ON {person} = uk.person" if self._is_shared else ""

    def _unit_rows(self, rows: str, part: Part) -> str:
        """Return ``min(m, R)``, in the part's unit: what rows of one each come to."""
        most = self._dialect.integer(self._unit.max_rows)
        one = self._dialect.integer(1 << part.bits)
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

    def _count(self, aggregate: Aggregate) -> str:  # noqa: PLR0911  one for each
        """Return what is not null for the rows that have a term."""
        match aggregate:
            case CountValues(column, among) | CentredSum(column, among=among):
                return self._scan.column_of((column, among))
            case CentredSquare(column, complete=complete, among=among):
                if not complete:
                    return self._scan.column_of((column, among))
                return self._among(among) or "*"
            case SumValues(column, fill=fill):
                return "*" if fill else self._scan.column_of((column, ()))
            case CentredKey(column):
                return f"b{self._scan.axes.index(Bins(column, (), aggregate.count))}"
            case CentredProduct():
                return self._scan.product(aggregate)
            case CountRows() | CountPeople() | Bins() | Level() | Crossed() | Choice():
                return "*"
            case _:
                assert_never(aggregate)

    def _among(self, columns: tuple[str, ...]) -> str:
        """Return what is null where a cell of these columns is missing; or nothing."""
        return self._scan.column_of((columns[0], columns[1:])) if columns else ""

    def _in_bin(self, place: int) -> str:
        return f"CASE WHEN {self._is_in_bin(place)} THEN 1 END"

    def _is_in_bin(self, place: int) -> str:
        bins = self._bins[place]
        b = f"b{self._scan.axes.index(bins)}"
        numeric = isinstance(bins, Level) or bins.edges
        return f"{b} >= 0" if numeric else f"{b} IS NOT NULL"

    def _term(self, part: Part) -> str | None:  # noqa: C901  one for each
        """Return a row's term, null where it has none; none where it is always 1."""
        aggregate, dialect = part.aggregate, self._dialect
        match aggregate:
            case CountRows() | CountValues() | CountPeople():
                return None
            case Bins() | Level() | Crossed() | Choice():
                return None
            case CentredKey(column, place):
                b = f"b{self._scan.axes.index(Bins(column, (), aggregate.count))}"
                is_key = self._scan.terms.equals_any(column, b, [place])
                return f"CASE WHEN {is_key} THEN 1 WHEN {b} IS NOT NULL THEN -1 END"
            case CentredSum(column, among=among):
                q = self._scan.column_of((column, among))
                width = dialect.integer(aggregate.width)
                found = f"({q} - ({width} - {q}))"
            case CentredProduct():
                product = self._scan.product(aggregate)
                found = f"({product} * 2 - {dialect.integer(aggregate.reach)})"
            case CentredSquare(column, among=among):
                q = self._scan.column_of((column, among))
                middle = dialect.integer(aggregate.least + aggregate.most)
                found = f"({self._scan.square(aggregate, q)} * 2 - {middle})"
                if aggregate.complete:
                    found = f"COALESCE({found}, {dialect.integer(-aggregate.reach)})"
                    if among:
                        told = f"{self._among(among)} IS NOT NULL"
                        found = f"CASE WHEN {told} THEN {found} END"
            case SumValues(column, first, _, fill):
                found = self._scan.column_of((column, ()))
                found = f"({found} + {dialect.integer(first)})" if first else found
                if fill:
                    found = f"COALESCE({found}, {dialect.integer(fill)})"
            case _:
                assert_never(aggregate)
        return found if part.bits >= 0 else self._cut(found, -part.bits)

    def _cut(self, x: str, bits: int) -> str:
        """Return a term in units of ``2^bits``, cut towards zero."""
        below = self._dialect.shifted.format(x=f"(-{x})", bits=bits)
        above = self._dialect.shifted.format(x=x, bits=bits)
        return f"CASE WHEN {x} < 0 THEN -{below} ELSE {above} END"


def _group_by(names: list[str]) -> str:
    return f" GROUP BY {', '.join(names)}" if names else ""
