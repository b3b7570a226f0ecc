"""The brute-force oracle: exact integers of *all* neighbours of small hostile tables.

No statistics are involved. A claim "one unit moves this vector by at most Δ" is
compared with the largest change over every neighbour, through the real plan and the
real engine, up to the integers that noise would be added to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from types import MappingProxyType
from typing import Any, TypeAlias, final

from sfumato.account import Gaussian, Geometric, Loss, Selection, Threshold
from sfumato.amount import Amount
from sfumato.audit.hostile import Row, Table, hostile_rows, hostile_tables, shared_out
from sfumato.audit.people import other_people, other_rows, units_of
from sfumato.audit.world import TABLE, World
from sfumato.declare.query import Query
from sfumato.declare.schema import Schema
from sfumato.declare.unit import PrivacyUnit, Rows, Unit, rows_only
from sfumato.engine import Exact
from sfumato.errors import ArgumentError, EngineError
from sfumato.gate import difference_for_audit
from sfumato.noise.joint import box_level
from sfumato.plan import (
    Aggregate,
    Plan,
    Step,
    make_plan,
    reach,
    squared_sensitivity,
)
from sfumato.plan import (
    sensitivity as claimed_change,
)
from sfumato.plan.relate import others_in
from sfumato.secret import Secret
from sfumato.words import N_

__all__ = [
    "Change",
    "Exactly",
    "Sensitivity",
    "World",
    "compare",
    "neighbours",
    "sensitivity",
    "share",
    "small_schema",
]

Exactly: TypeAlias = "Callable[[Plan, Table], Secret[Exact]]"
"""Computes a plan's sealed integers of the given rows, on some engine."""

_SEVERAL = 2  # groups, where their number is private
_SMALL = 3  # rows of a table under replace-one, where their number does not matter


@final
@dataclass(frozen=True, slots=True)
class Change:
    """The largest change over all neighbours of one part or step, and who caused it.

    Attributes:
        aggregate: What was measured; none for a step, whose change is the share of its
            charge that is used up, against 1.
        bound: The claimed L1 change.
        change: The largest L1 change seen.
        neighbour: The neighbouring table that caused it; a made-up one.
        cells: The largest number of cells that changed (L0), and what is claimed.
        squares: The largest squared L2 change, and what is claimed.
        largest: The largest change of one cell (L∞), and what is claimed.
    """

    aggregate: Aggregate | None
    bound: int
    change: int | Fraction
    neighbour: Table
    cells: tuple[int, int] = (0, 0)
    squares: tuple[int, int] = (0, 0)
    largest: tuple[int, int] = (0, 0)

    @property
    def holds(self) -> bool:
        """Whether the claim covers the change, in every norm."""
        pairs = (self.cells, self.squares, self.largest)
        return self.change <= self.bound and all(a <= b for a, b in pairs)

    def __str__(self) -> str:
        """Say it in one line."""
        what = "a step's charge" if self.aggregate is None else str(self.aggregate)
        verdict = "holds" if self.holds else "VIOLATED"
        more = ""
        if self.aggregate is not None:
            more = (
                f", L0 {self.cells[0]} of {self.cells[1]}, "
                f"L2 {sqrt(self.squares[0]):.4g} of {sqrt(self.squares[1]):.4g}, "
                f"L∞ {self.largest[0]} of {self.largest[1]}"
            )
        return f"{what}: L1 {self.change} of {self.bound}{more}: {verdict}"


@final
@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What the oracle found about one question.

    Attributes:
        changes: The largest change of each part and of each step of the plan.
        tables: How many tables were tried.
        pairs: How many pairs of neighbours were compared.
        failures: Tables on which the engine failed: a violation, because no row may
            raise an error.
    """

    changes: tuple[Change, ...]
    tables: int
    pairs: int
    failures: tuple[Table, ...] = ()

    @property
    def violated(self) -> bool:
        """Whether some claim is refuted."""
        return bool(self.failures) or not all(c.holds for c in self.changes)

    @property
    def tight(self) -> bool:
        """Whether some neighbour uses up the whole charge of some step."""
        return any(c.aggregate is None and c.change == 1 for c in self.changes)

    def __str__(self) -> str:
        """Say it in one line for each part and step."""
        lines = [f"{self.tables} tables, {self.pairs} pairs of neighbours"]
        lines += [f"the engine failed on {len(self.failures)} tables: VIOLATED"] * bool(
            self.failures
        )
        return "\n".join([*lines, *map(str, self.changes)])


def sensitivity(  # noqa: PLR0913  a question, a table, and how hard to look
    query: Query,
    schema: Schema,
    *,
    loss: Amount | Loss = 1,
    tables: int = 24,
    pool: int = 6,
    exact: Exactly | None = None,
    typed: bool = False,
    progress: Callable[[], object] = lambda: None,
) -> Sensitivity:
    """Look for neighbouring tables that a question tells apart more than it claims.

    Small tables are made from the declarations alone, as an adversary would choose
    them (`sfumato.audit.hostile`). All neighbours of each are formed; the real plan is
    run by the real engine up to the exact integers; and the changes of each part in
    L0, L1, L2 and L∞ are compared with the claims that the noise is scaled by, as is
    each step's charge. No row of a private table is read, and nothing is spent.

    A violation is certain: the neighbour is its proof. That none is found proves the
    claims for the tables that were tried and no others; the theorem that holds for all
    is in ``docs/sensitivity.md``.

    Args:
        query: The question.
        schema: The public facts of the table.
        loss: What the question would spend.
        tables: How many tables to try.
        pool: How many rows a replaced row is replaced by, besides the ends of ranges.
        exact: The engine: computes a plan's sealed integers of given rows. Default:
            DuckDB in memory. For PostgreSQL and Spark write the rows to a table of your
            test database and run `sfumato.engine.postgres.PostgresEngine` or
            `sfumato.engine.spark.SparkEngine` on it.
        typed: Make only cells that typed columns of a database can hold.
        progress: Called after each table.

    Raises:
        DeclarationError: The question does not fit the schema.
        ArgumentError: Fewer than one table is wanted.

    Examples:
        >>> from sfumato.declare.query import count, mean
        >>> from sfumato.declare.schema import Real
        >>> ask = Query().select(count(), mean("glucose"))
        >>> found = sensitivity(ask, Schema({"glucose": Real(0, 250, step=1)}), tables=8)
        >>> found.violated, found.tight
        (False, True)
    """
    if tables < 1:
        raise ArgumentError(
            N_("an audit of sensitivities needs at least one table"),
            hint=N_("write tables=24"),
        )
    if schema.unit.size is not None:
        rows_only(schema.unit)
    small = small_schema(query, schema, loss)
    plan = make_plan(query, small, loss)
    rows, others = every_row(plan, query, pool, typed=typed), others_of(plan)
    tried = made_tables(rows, tables, small.unit, others=others)
    if exact is not None:
        return _search(plan, tried, rows, exact, progress)
    with World(plan.table, others) as world:
        return _search(plan, tried, rows, world.exact, progress)


def made_tables(
    rows: Sequence[Row],
    count: int,
    unit: PrivacyUnit,
    *,
    most: int = 4,
    others: Mapping[str, Schema] = MappingProxyType({}),
) -> list[Table]:
    """Return hostile tables; where a person has many rows, rows that people share."""
    if not isinstance(unit, Unit):
        return list(hostile_tables(rows, count, size=unit.size, most=most))
    tables = hostile_tables(rows, count, size=None, most=2 * most)
    columns = {name: u.column for name, u in units_of(unit, others).items()}
    return [shared_out(table, columns) for table in tables]


def small_schema(query: Query, schema: Schema, loss: Amount | Loss) -> Schema:
    """Return the schema with a small public size, where no claim depends on it."""
    size = schema.unit.size
    if size is None or size <= _SMALL:
        return schema
    unit = Rows(neighbours=schema.unit.neighbours, size=_SMALL)
    small = Schema(dict(schema.columns), unit=unit)
    one, other = (make_plan(query, s, loss) for s in (schema, small))
    same = (one.parts, one.steps) == (other.parts, other.steps)
    return small if same else schema


def _search(
    plan: Plan,
    tried: Sequence[Table],
    rows: Sequence[Row],
    exact: Exactly,
    progress: Callable[[], object],
) -> Sensitivity:
    worst: list[Change] = []
    failures, pairs = [], 0
    for table in tried:
        try:
            found = compare(plan, table, rows, exact)
        except EngineError:
            failures.append(table)
        else:
            worst = [_worse(a, b) for a, b in zip(worst or found, found, strict=True)]
        others = others_of(plan)
        pairs += sum(1 for _ in neighbours(table, plan.table.unit, rows, others))
        progress()
    return Sensitivity(tuple(worst), len(tried), pairs, tuple(failures))


def _worse(one: Change, other: Change) -> Change:
    """Return the larger change, with the largest of every norm."""
    more = one if one.change >= other.change else other
    return Change(
        more.aggregate,
        more.bound,
        more.change,
        more.neighbour,
        max(one.cells, other.cells),
        max(one.squares, other.squares),
        max(one.largest, other.largest),
    )


def neighbours(
    rows: Table,
    unit: PrivacyUnit,
    pool: Iterable[Any],
    others: Mapping[str, Schema] = MappingProxyType({}),
) -> Iterator[Table]:
    """Yield every neighbour of a table.

    Under add/remove these are the table without each of its rows (the tables with one
    row more are the same pairs, seen from the other side). Under replace-one they are
    the table with each of its rows replaced by each row of a pool. Of people all rows
    leave together, from all tables, and the pool is of people.
    """
    pool = list(pool)
    if isinstance(unit, Unit):
        yield from other_people(rows, unit, pool, others)
        return
    if others:  # one person may have a row in each table
        yield from other_rows(rows)
        return
    for i, _ in enumerate(rows):
        before, after = list(rows[:i]), list(rows[i + 1 :])
        if unit.neighbours == "add_remove":
            yield before + after
        else:
            yield from ([*before, other, *after] for other in pool)


def compare(
    plan: Plan, rows: Table, pool: Iterable[Any], exact: Exactly
) -> list[Change]:
    """Return the largest change of each part and of each step among all neighbours.

    Args:
        plan: The question as it would be asked.
        rows: One table.
        pool: The rows that a replaced row is replaced by; of people lists of rows.
        exact: The engine.
    """
    here = exact(plan, rows)
    worst = [_claim(plan, p.aggregate, rows) for p in plan.parts]
    steps = [Change(None, 1, Fraction(0), rows)] * len(plan.steps)
    for other in neighbours(rows, plan.table.unit, pool, others_of(plan)):
        moved = difference_for_audit(plan, here, exact(plan, other))
        for i, vector in enumerate(moved):
            worst[i] = _worse(worst[i], _seen(worst[i], vector, other))
        for i, step in enumerate(plan.steps):
            used = share(plan, step, moved)
            steps[i] = _worse(steps[i], Change(None, 1, used, other))
    return [*worst, *steps]


def every_row(
    plan: Plan, query: Query, count: int, *, typed: bool = False
) -> list[Row]:
    """Return hostile rows of all tables that a plan reads; see `hostile_rows`."""
    rows = hostile_rows(plan.table, query, count, typed=typed)
    for name, own in others_of(plan).items():
        found = hostile_rows(own, query, count, typed=typed)
        rows += [{**row, TABLE: name} for row in found]
    return rows


def others_of(plan: Plan) -> dict[str, Schema]:
    """Return the other private tables that a plan reads."""
    return {one.name: one.schema for one in others_in(plan.query.base)}


def _claim(plan: Plan, aggregate: Aggregate, rows: Table) -> Change:
    """Return the claims about an aggregate, with no change seen yet."""
    unit = plan.schema.unit
    groups = len(plan.groups) if plan.selecting is None else _SEVERAL
    whole = claimed_change(aggregate, unit, groups=groups)
    square = squared_sensitivity(aggregate, unit, groups=groups)
    touched = 1 if unit.neighbours == "add_remove" else 2
    each, cells = reach(aggregate, unit), touched * unit.max_rows
    if isinstance(unit, Unit):  # a little of a person can be in every cell
        cells = next(p.cells for p in plan.parts if p.aggregate == aggregate)
        if plan.selecting is not None:  # those of one group; others are one more
            cells *= touched * unit.max_groups + 1
    return Change(
        aggregate, whole, 0, rows, (0, cells), (0, square),
        (0, min(whole, touched * each)),
    )  # fmt: skip


def _seen(claim: Change, vector: Sequence[int], neighbour: Table) -> Change:
    sizes = [abs(x) for x in vector]
    return Change(
        claim.aggregate,
        claim.bound,
        sum(sizes),
        neighbour,
        (sum(map(bool, sizes)), claim.cells[1]),
        (sum(x * x for x in sizes), claim.squares[1]),
        (max(sizes, default=0), claim.largest[1]),
    )


def share(plan: Plan, step: Step, differing: Sequence[Sequence[int]]) -> Fraction:
    """Return the share of a step's charge that a change of all parts uses up.

    For joint noise it is the sum over groups of the box level of the change; for a
    choice the sum of the largest rise and the largest fall of its scores. The group of
    other rows, beside unknown keys, is a group like any other.
    """
    moved = [differing[part] for part in step.parts]
    mechanism = step.mechanism
    if isinstance(mechanism, Threshold):
        mechanism = mechanism.noise  # what is shown has a test of its own
    if isinstance(mechanism, Selection):
        each = plan.parts[step.parts[0]].cells // (len(plan.groups) or 1)
        cells = [moved[0][i : i + each] for i in range(0, len(moved[0]), each)]
        swings = sum(max(*c, 0) - min(*c, 0) for c in cells)
        return swings * mechanism.rate / mechanism.cost.value
    if isinstance(mechanism, Gaussian):
        return Fraction(sum(x * x for x in moved[0])) / mechanism.squared_sensitivity
    if isinstance(mechanism, Geometric):
        return Fraction(sum(map(abs, moved[0])), mechanism.sensitivity)
    levels = sum(
        box_level(vector, mechanism.bounds, mechanism.resolution)
        for vector in zip(*moved, strict=True)
    )
    return levels / (mechanism.scale * mechanism.cost.value)
