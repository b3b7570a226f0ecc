"""An engine on made-up tables, which are exchanged at little cost."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self, final

from sfumato.audit.hostile import TABLE, Table
from sfumato.declare.schema import Schema
from sfumato.declare.unit import Unit
from sfumato.engine import Exact
from sfumato.engine.duckdb import DuckDBEngine
from sfumato.engine.frames import load_records
from sfumato.engine.table import Table as Loaded
from sfumato.plan import Plan
from sfumato.secret import Secret

__all__ = ["TABLE", "World"]


@final
class World:
    """One DuckDB engine whose tables can be exchanged, so that neighbours cost little.

    Rows of another table than the dataset's own have its name under the key `TABLE`.

    Examples:
        >>> from sfumato.audit.sensitivity import compare
        >>> from sfumato.declare.query import Query, count
        >>> from sfumato.declare.schema import Boolean
        >>> from sfumato.plan import make_plan
        >>> schema = Schema({"ill": Boolean()})
        >>> plan = make_plan(Query().select(count()), schema, 1)
        >>> with World(schema) as world:
        ...     for change in compare(plan, [{"ill": True}], (), world.exact):
        ...         assert change.holds
    """

    __slots__ = ("_engine", "_others", "_schema")

    def __init__(
        self, schema: Schema, others: Mapping[str, Schema] = MappingProxyType({})
    ) -> None:
        """Open the engine on a table of the public size, or on an empty one."""
        self._schema, self._others = schema, others
        size, unit = schema.unit.size or 0, schema.unit
        rows = [{unit.column: i} if isinstance(unit, Unit) else {} for i in range(size)]
        loaded = {name: (self._load([], own), own) for name, own in others.items()}
        self._engine = DuckDBEngine(self._load(rows, schema), schema, others=loaded)

    def exact(self, plan: Plan, rows: Table) -> Secret[Exact]:
        """Return the integers of other tables of the same schemas."""
        others = {
            name: self._load([r for r in rows if r.get(TABLE) == name], own)
            for name, own in self._others.items()
        }
        own = [row for row in rows if TABLE not in row]
        self._engine.exchange(self._load(own, self._schema), others)
        return self._engine.run(plan)

    def _load(self, rows: Table, schema: Schema) -> Loaded:
        return load_records(rows, schema)

    def __enter__(self) -> Self:
        """Return the world, for ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the engine."""
        self._engine.close()
