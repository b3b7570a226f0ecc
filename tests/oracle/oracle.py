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
from typing import Self, TypeAlias

from sfumato.declare.schema import Schema
from sfumato.declare.unit import Rows
from sfumato.engine import Exact
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.frames import load_records
from sfumato.plan import Aggregate, Plan

Row: TypeAlias = Mapping[str, object]
Table: TypeAlias = Sequence[Row]


@dataclass(frozen=True)
class Finding:
    """The largest change of one step over all neighbours, and who caused it."""

    aggregate: Aggregate
    bound: int
    change: int
    neighbour: Table

    @property
    def holds(self) -> bool:
        """Whether the claimed sensitivity covers the change."""
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
    """Return one finding per step of the plan."""
    here = exact(plan, rows)
    worst: list[tuple[int, Table]] = [(0, rows)] * len(plan.steps)
    for other in neighbours(rows, plan.schema.unit, pool):
        there = exact(plan, other)
        for i, (a, b) in enumerate(zip(here, there, strict=True)):
            change = sum(abs(x - y) for x, y in zip(a, b, strict=True))
            worst[i] = max(worst[i], (change, other), key=lambda pair: pair[0])
    return [
        Finding(step.aggregate, step.mechanism.sensitivity, change, other)
        for step, (change, other) in zip(plan.steps, worst, strict=True)
    ]


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
