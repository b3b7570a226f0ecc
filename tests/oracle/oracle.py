"""The brute-force sensitivity oracle: exact integers of *all* neighbours of a table.

No statistics are involved. A claim "one unit moves this vector by at most Δ in L1" is
compared with the largest change over every neighbour, through the real engine::

    with World(schema) as world:
        for finding in audit(plan, rows, pool, world.exact):
            assert finding.change <= finding.bound

Under add/remove the neighbours are the table without each of its rows (the tables with
one row more are the same pairs, seen from the other side). Under replace-one they are
the table with each of its rows replaced by each row of a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeAlias

from sfumato.account import Gaussian, Geometric, Selection
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Rows
from sfumato.engine import Exact
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.frames import load_records
from sfumato.noise.joint import box_level
from sfumato.plan import Aggregate, Plan, Step, sensitivity

Row: TypeAlias = Mapping[str, object]
Table: TypeAlias = Sequence[Row]


@dataclass(frozen=True)
class Finding:
    """The largest change over all neighbours of one part or step, and who caused it.

    A part's change is in L1 against its sensitivity. A step's change is the share of
    its charge that the change uses up, against 1: for joint noise the sum over groups
    of the box level of the change.
    """

    aggregate: Aggregate | None
    bound: int
    change: int | Fraction
    neighbour: Table

    @property
    def holds(self) -> bool:
        """Whether the claim covers the change."""
        return self.change <= self.bound


def neighbours(rows: Table, unit: Rows, pool: Iterable[Row]) -> Iterator[Table]:
    """Yield every neighbour of a table."""
    pool = list(pool)
    for i, _ in enumerate(rows):
        before, after = list(rows[:i]), list(rows[i + 1 :])
        if unit.neighbours == "add_remove":
            yield before + after
        else:
            yield from ([*before, other, *after] for other in pool)


def audit(
    plan: Plan, rows: Table, pool: Iterable[Row], exact: Callable[[Plan, Table], Exact]
) -> list[Finding]:
    """Return one finding per part and one per step of the plan."""
    here = exact(plan, rows)
    parts: list[tuple[int, Table]] = [(0, rows)] * len(plan.parts)
    steps: list[tuple[Fraction, Table]] = [(Fraction(0), rows)] * len(plan.steps)
    for other in neighbours(rows, plan.schema.unit, pool):
        there = exact(plan, other)
        moved = [
            [x - y for x, y in zip(a, b, strict=True)]
            for a, b in zip(here, there, strict=True)
        ]
        for i, change in enumerate(moved):
            parts[i] = max(parts[i], (sum(map(abs, change)), other), key=lambda p: p[0])
        for i, step in enumerate(plan.steps):
            used = share(step, [moved[part] for part in step.parts], len(plan.groups))
            steps[i] = max(steps[i], (used, other), key=lambda p: p[0])
    unit, groups = plan.schema.unit, len(plan.groups)
    bounds = [sensitivity(p.aggregate, unit, groups=groups) for p in plan.parts]
    return [
        *(
            Finding(part.aggregate, bound, *worst)
            for part, bound, worst in zip(plan.parts, bounds, parts, strict=True)
        ),
        *(Finding(None, 1, *worst) for worst in steps),
    ]


def share(step: Step, moved: Sequence[Sequence[int]], groups: int) -> Fraction:
    """Return the share of a step's charge that a change of its integers uses up."""
    mechanism = step.mechanism
    if isinstance(mechanism, Selection):
        each = len(moved[0]) // groups
        cells = [moved[0][i : i + each] for i in range(0, len(moved[0]), each)]
        swings = sum(max(*c, 0) - min(*c, 0) for c in cells)
        return swings * mechanism.rate / mechanism.cost.value
    if isinstance(mechanism, Gaussian):
        return sum(x * x for x in moved[0]) / mechanism.squared_sensitivity
    if isinstance(mechanism, Geometric):
        return Fraction(sum(map(abs, moved[0])), mechanism.sensitivity)
    levels = sum(
        box_level(vector, mechanism.bounds, mechanism.resolution)
        for vector in zip(*moved, strict=True)
    )
    return Fraction(levels, mechanism.rows * mechanism.resolution)


class World:
    """One engine whose table can be exchanged, so that neighbours cost little."""

    def __init__(self, schema: Schema) -> None:
        """Open the engine on a table of the public size, or on an empty one."""
        self._schema = schema
        size = schema.unit.size or 0
        self._engine = DuckDBEngine(load_records([{}] * size, schema), schema)

    def exact(self, plan: Plan, rows: Table) -> Exact:
        """Return the integers of another table of the same schema."""
        load_records(rows, self._schema).attach(self._engine._connection)
        return self._engine.run(plan).unseal()

    def __enter__(self) -> Self:
        """Return the world, for ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the engine."""
        self._engine.close()
