"""Joins of an Ibis expression: the same nodes as those of SQL, or a refusal.

A chain of joins must be of the dataset's tables as they are: with a public table on its
whole key, inner or left, or with a private table of the same people on the person alone,
inner (``docs/joins.md``). Nothing is run through Ibis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from sfumato.declare.ibis_node import kind_of, opened, refuse
from sfumato.declare.lookup import Lookup
from sfumato.declare.relation import Base, Joined, Looked, Other, Part
from sfumato.declare.schema import Schema
from sfumato.declare.sqltree import Scope
from sfumato.errors import DeclarationError, nearest
from sfumato.words import N_

__all__ = ["TABLES", "Rows", "Tables", "read_rows"]

TABLES: Final = ("UnboundTable", "DatabaseTable", "InMemoryTable")
Tables: TypeAlias = "Mapping[str, Schema | Lookup]"

_JOINS = N_(
    "join tables of the dataset as they are: visits.join(sites, key) or "
    "visits.left_join(sites, key) with a public table on its whole key, "
    "visits.join(labs, visits.patient_id == labs.id) of private tables on the person; "
    "filter afterwards"
)


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a node of the tree stands for.

    Attributes:
        node: The node.
        names: What the question calls its columns, where that differs.
        base: Where the rows come from; none is the dataset's own table.
        person: The column that says whose a row is, or none.
    """

    node: Any
    names: Mapping[str, str]
    base: Base | None = None
    person: str | None = None


def read_rows(node: Any, table: str, tables: Tables) -> Rows:
    """Read a table of the dataset, or a chain of joins of such.

    Raises:
        DeclarationError: It is of an unknown table, or holds any other join.
    """
    if kind_of(node) == "JoinChain":
        return _Chain(table, tables).read(node)
    name, found = _table(node, table, tables)
    return Rows(node, {}, _own(name, found, table).base, _whose(found))


@final
class _Chain:
    """Reads one chain; references to its tables are known by their numbers."""

    def __init__(self, table: str, tables: Tables) -> None:
        self._table, self._tables = table, tables
        self._names: dict[int, str] = {}
        self._scope = Scope({}, {})

    def read(self, node: Any) -> Rows:
        first, rest, values = opened(node, "JoinChain", "first", "rest", "values", hint=_JOINS)  # fmt: skip
        name, found = self._met(first)
        base = _own(name, found, self._table).base
        person = _whose(found)
        self._scope = Scope({name: {n: n for n in found}}, {name: person})
        for link in rest:
            base = self._joined(base, link)
        names = {out: self._called(value, person) for out, value in values.items()}
        return Rows(node, names, base, person)

    def _met(self, reference: Any) -> tuple[str, Any]:
        parent, number = opened(reference, "JoinReference", "parent", "identifier", hint=_JOINS)  # fmt: skip
        name, found = _table(parent, self._table, self._tables)
        if name in self._names.values():
            refuse(repr(name), N_("each table can be joined once"))
        if not self._names and isinstance(found, Lookup):
            refuse(repr(name), N_("it is public; begin with a private table, and join it"))  # fmt: skip
        self._names[number] = name
        return name, found

    def _joined(self, base: Base | None, link: Any) -> Base:
        how, reference, predicates = opened(link, "JoinLink", "how", "table", "predicates", hint=_JOINS)  # fmt: skip
        name, found = self._met(reference)
        pairs = list(self._pairs(predicates, name))
        if how not in ("inner", "left") or (how == "left" and isinstance(found, Schema)):  # fmt: skip
            refuse(f"{how} join", _JOINS)
        if isinstance(found, Lookup):
            keys = {right: left for left, right in pairs}
            if set(keys) != set(found.key) or len(pairs) != len(found.key):
                refuse("join", _JOINS)
            on = tuple(self._column(*keys[key]) for key in found.key)
            prefix = self._scope.add(name, [n for n, _ in found.columns], None)
            return Looked(Part(base), on, found, prefix, how == "inner")
        person = _whose(found)
        ((where, left), right), *more = pairs or [(("", ""), "")]
        if more or person is None or right != person or self._scope.persons.get(where) != left:  # fmt: skip
            refuse("join", _JOINS)
        prefix = self._scope.add(name, list(found), person)
        return Joined(Part(base), _own(name, found, self._table), prefix)

    def _pairs(
        self, predicates: Any, name: str
    ) -> Iterator[tuple[tuple[str, str], str]]:
        """Yield a column of the rows so far, with its table, and one of the table."""
        for one in predicates:
            sides = opened(one, "Equals", "left", "right", hint=_JOINS)
            left, right = map(self._field, sides)
            if left[0] == name:
                left, right = right, left
            if right[0] != name or left[0] == name:
                refuse("join", _JOINS)
            yield left, right[1]

    def _field(self, node: Any) -> tuple[str, str]:
        """Return the table and the column of a field."""
        reference, column = opened(node, "Field", "rel", "name", hint=_JOINS)
        _, number = opened(reference, "JoinReference", "parent", "identifier", hint=_JOINS)  # fmt: skip
        if number not in self._names:
            refuse(repr(str(column)), _JOINS)
        return self._names[number], str(column)

    def _called(self, value: Any, person: str | None) -> str:
        """Return what the question calls a column of the chain."""
        table, column = self._field(value)
        if person is not None and self._scope.persons.get(table) == column:
            return person  # that of the first table: rows meet where they are equal
        return self._column(table, column)

    def _column(self, table: str, column: str) -> str:
        """Return the name of a declared column; of no such one that no column has."""
        return self._scope.columns[table].get(column, f"{table}.{column}")


def _table(node: Any, table: str, tables: Tables) -> tuple[str, Any]:
    """Return the name and the declaration of a table of the dataset."""
    if kind_of(node) not in TABLES:
        refuse(kind_of(node), _JOINS)
    name = str(node.name)
    if name in tables:
        return name, tables[name]
    if len(tables) > 1:
        raise DeclarationError(
            N_("the dataset has no table {name}"),
            hint=N_("did you mean {near}?"),
            name=repr(name),
            near=nearest(name, tables),
        )
    raise DeclarationError(
        N_("the expression asks of the table {name}, and this is {table}"),
        hint=N_("write ibis.table(…, name={table})"),
        name=repr(name),
        table=repr(table),
    )


def _own(name: str, found: Schema | Lookup, table: str) -> Part:
    """Return the rows of a private table as they are."""
    if isinstance(found, Lookup):
        refuse(repr(name), N_("it is public; begin with a private table, and join it"))
    return Part() if name == table else Part(Other(name, found))


def _whose(found: Schema | Lookup) -> str | None:
    return None if isinstance(found, Lookup) else getattr(found.unit, "column", None)
