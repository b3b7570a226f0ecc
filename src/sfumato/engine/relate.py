"""The rows of a question that are made of other rows, as one relation in SQL.

Each node is one SELECT over the nodes below, whose columns are ``c0``, ``c1``, … as those
of a loaded table are (`Layout`); so all that stands above reads it like a table. No cell
can make a node raise, and none looks at rows of two units together:

* a public table stands in the statement as constants, and its keys are different after
  both sides are read (`sfumato.plan.matched`), so a row finds one public row at most;
* two private tables are joined on identifiers alone, and rows of nobody are left out, as
  are all of a person with more than `sfumato.plan.relate.MOST_PAIRS` pairs. None of hers is
  made before: rows meet by ``k``, which is her identifier if her pairs are few, and null
  else. It needs the counts of both sides, so no planner can put the counts after the pairs;
* figures about a person group by her identifier and by nothing else; sums are of whole
  numbers in [0, 2^30], of which 2^33 rows fit 64 bits.
"""

# ruff: noqa: S608  nothing that a user wrote is in the text, bar quoted constants

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Final, TypeAlias, assert_never, final

from sfumato.declare.feature import Feature
from sfumato.declare.lookup import Cell
from sfumato.declare.relation import (
    Base,
    Joined,
    Looked,
    Other,
    Part,
    PerPerson,
    United,
    parts_of,
)
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, Text
from sfumato.declare.unit import Unit
from sfumato.engine.dialect import Dialect
from sfumato.engine.feature import Figures
from sfumato.engine.physical import (
    Floating,
    Layout,
    Nothing,
    Physical,
    Places,
    Scaled,
    Truth,
    Whole,
)
from sfumato.engine.physical import Text as TextStored
from sfumato.engine.source import Source
from sfumato.engine.terms import Terms
from sfumato.plan import relate as planned
from sfumato.plan.matched import Place, matched
from sfumato.plan.relate import part_schema, relation_schema

__all__ = ["NO_OTHERS", "Others", "Relation", "related"]


@final
@dataclass(frozen=True, slots=True)
class Relation:
    """Something to read rows from.

    Attributes:
        sql: The name of a loaded table, or a SELECT in brackets.
        layout: How its columns are stored, in the order of ``schema.stored``.
        schema: Of a loaded table: how it is declared.
    """

    sql: str
    layout: Layout
    schema: Schema | None = None


Others: TypeAlias = "Mapping[str, Relation]"
"""The other private tables of a dataset, by name."""

NO_OTHERS: Final[Others] = MappingProxyType({})


def related(
    base: Base, schema: Schema, layout: Layout, dialect: Dialect, others: Others
) -> Relation:
    """Return a node as a relation; `schema` and `layout` are of the dataset's own table."""
    return _Maker(schema, layout, dialect, others).node(base)


@final
class _Maker:
    """Renders nodes over the tables of one dataset."""

    def __init__(
        self, schema: Schema, layout: Layout, dialect: Dialect, others: Others
    ) -> None:
        self._schema, self._layout = schema, layout
        self._dialect, self._others = dialect, others
        self._sides = count()

    def node(self, base: Base) -> Relation:
        match base:
            case Other(name):
                return self._others[name]
            case Looked():
                return self._looked(base)
            case Joined():
                return self._joined(base)
            case United():
                return self._united(base)
            case PerPerson():
                return self._per_person(base)
            case _:
                assert_never(base)

    def _rows(self, part: Part) -> tuple[Relation, Schema]:
        """Return the rows of a part, with its computed columns as stored ones."""
        below = Relation("data", self._layout)
        own = self._schema
        if part.base is not None:
            below, own = self.node(part.base), relation_schema(part.base, self._schema)
        schema = part_schema(part, self._schema)
        if not part.derived and part.condition is None:
            return below, schema
        source = Source(part, schema, below.layout, self._dialect, below.sql)
        stored = [source.terms.stored(name) for name, _ in schema.stored]
        outputs = ", ".join(f"{cell} AS c{i}" for i, (cell, _) in enumerate(stored))
        where = "" if source.condition is None else f" WHERE {source.condition}"
        assert len(below.layout) == len(own.stored)  # noqa: S101  so that c0, c1 … agree
        sql = f"(SELECT {outputs} FROM {source.sql}{where}{self._dialect.fence})"
        return Relation(sql, tuple(physical for _, physical in stored)), schema

    def _terms(self, rows: Relation, schema: Schema) -> Terms:
        return Terms(schema, rows.layout, self._dialect)

    def _looked(self, base: Looked) -> Relation:
        rows, schema = self._rows(base.rows)
        terms = self._terms(rows, schema)
        keys = [self._key(terms, schema, name) for name in base.on]
        cells = [f"c{i}" for i, _ in enumerate(rows.layout)]
        inner = ", ".join([*cells, *(f"{k} AS k{i}" for i, k in enumerate(keys))])
        columns = base.table.columns
        added = [f"p.v{i}" for i, _ in enumerate(columns)]
        outer = [f"l.{cell}" for cell in cells]
        # The unit's column is the last one, and stays so.
        end = len(outer) - isinstance(schema.unit, Unit)
        named = [*outer[:end], *added, *outer[end:]]
        outputs = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(named))
        met = " AND ".join(f"l.k{i} = p.k{i}" for i, _ in enumerate(keys))
        kind = "JOIN" if base.found_only else "LEFT JOIN"
        sql = (
            f"(SELECT {outputs} FROM (SELECT {inner} FROM {rows.sql} AS data"
            f"{self._dialect.fence}) AS l {kind} {self._constants(base, schema)} ON {met})"
        )
        stored = tuple(_stored(column) for _, column in columns)
        return Relation(sql, (*rows.layout[:end], *stored, *rows.layout[end:]))

    def _key(self, terms: Terms, schema: Schema, name: str) -> str:
        match schema[name]:
            case Category():
                return terms.coded(name)
            case Boolean():
                return terms.truth(name)
            case Text():
                return terms.key(name)
            case _:
                return terms.number(name)

    def _constants(self, base: Looked, schema: Schema) -> str:
        """Return the public table that private rows can find, as constants."""
        kinds = [schema[name] for name in base.on]
        columns = base.table.columns
        names = [f"k{i}" for i, _ in enumerate(kinds)]
        names += [f"v{i}" for i, _ in enumerate(columns)]
        rows = []
        for one in matched(base, schema):
            keys = [self._place(k, isinstance(c, Boolean)) for k, c in zip(one.key, kinds, strict=True)]  # fmt: skip
            if None in keys:
                continue  # a text that no cell of this database can hold
            cells = [self._cell(x, _stored(c)) for x, (_, c) in zip(one.cells, columns, strict=True)]  # fmt: skip
            rows.append([*map(str, keys), *cells])
        if not rows:
            rows = [["NULL", *(self._cell(None, _stored(c)) for _, c in columns)]]
        return self._dialect.rows(rows, "p", names)

    def _place(self, key: Place, truth: bool) -> str | None:
        if isinstance(key, str):
            return self._dialect.string(key)
        if truth:
            return "TRUE" if key else "FALSE"
        if isinstance(key, float):
            return self._dialect.constant(key)
        return self._dialect.integer(key)

    def _cell(self, cell: Cell, stored: Physical) -> str:
        zero = self._dialect.integer(0)
        match stored:
            case Floating():
                return self._dialect.null_double if cell is None else self._dialect.constant(cell)  # fmt: skip
            case Truth():
                return "NULLIF(TRUE, TRUE)" if cell is None else "TRUE" if cell else "FALSE"  # fmt: skip
            case _:
                return f"NULLIF({zero}, {zero})" if cell is None else self._dialect.integer(int(cell))  # fmt: skip

    def _joined(self, base: Joined) -> Relation:
        both = [self._rows(base.rows), self._rows(base.other)]
        stored = [rows.layout[-1] for rows, _ in both]
        texts = not (all(map(_is_whole, stored)) or stored[0] == stored[1])
        # What is named is used twice; some databases compute it twice: the shorter side.
        marks = "lr" if _nodes(base.rows) >= _nodes(base.other) else "rl"
        sides = dict(zip(marks, both, strict=True))
        left, right = (self._side(*sides[mark], texts=texts) for mark in "lr")
        first, second = (rows.layout[:-1] for rows, _ in both)
        cells = [f"l.c{i} AS c{i}" for i, _ in enumerate(sides["l"][0].layout[:-1])]
        named = [f"{marks[0]}.c{i}" for i, _ in enumerate(first)]
        named += [f"{marks[1]}.c{i}" for i, _ in enumerate(second)]
        outputs = ", ".join(f"{x} AS c{i}" for i, x in enumerate([*named, "l.u"]))
        pairs = " * ".join(self._dialect.to_double.format(x=n) for n in ("l.n", "m.n"))
        few = f"{pairs} <= {self._dialect.constant(float(planned.MOST_PAIRS))}"
        kept = ", ".join([*cells, "l.u AS u", f"CASE WHEN {few} THEN l.u END AS k"])
        counted = f"SELECT side.*, COUNT(*) OVER (PARTITION BY u) AS n FROM ({left}) AS side"  # fmt: skip
        side = f"side{next(self._sides)}"  # Spark wants another name at each depth
        sql = (
            f"(WITH {self._dialect.cte.format(name=side)} ({right}) SELECT {outputs} FROM "
            f"(SELECT {kept} FROM ({counted}) AS l JOIN (SELECT u, COUNT(*) AS n FROM "
            f"{side} GROUP BY u) AS m ON l.u = m.u) AS l JOIN {side} AS r ON l.k = r.u)"
        )
        return Relation(sql, (*first, *second, _known(stored[0], texts=texts)))

    def _side(self, rows: Relation, schema: Schema, *, texts: bool) -> str:
        """Return the rows of somebody, with her identifier as ``u``."""
        whose = self._whose(self._terms(rows, schema), rows.layout[-1], texts=texts)
        cells = [f"c{i}" for i, _ in enumerate(rows.layout[:-1])]
        return (
            f"SELECT {', '.join([*cells, f'{whose} AS u'])} FROM {rows.sql} AS data "
            f"WHERE ({whose}) IS NOT NULL{self._dialect.fence}"
        )

    def _whose(self, terms: Terms, stored: Physical, *, texts: bool) -> str:
        """Return the identifier, as a text where the two tables store it differently."""
        whose = terms.identity()
        if not texts or isinstance(stored, TextStored):
            return whose
        match stored:
            case Whole() | Floating():
                return self._dialect.int_to_text.format(x=f"({whose})")
            case Truth():
                yes, no = self._dialect.string("true"), self._dialect.string("false")
                return f"CASE WHEN {whose} THEN {yes} WHEN NOT {whose} THEN {no} END"
            case Nothing():
                return self._dialect.null_text
            case _:
                msg = "a loader numbered the identifiers of one table"
                raise TypeError(msg)

    def _united(self, base: United) -> Relation:
        several = [self._rows(part) for part in base.parts]
        layouts = [rows.layout for rows, _ in several]
        same = [len(set(column)) == 1 for column in zip(*layouts, strict=True)]
        schema = several[0][1]
        texts = isinstance(schema.unit, Unit) and not (
            same[-1] or all(_is_whole(layout[-1]) for layout in layouts)
        )
        # Each table has codes of its own for nobody, and its rows are read by these.
        codes = {own.unit.missing for _, own in several if isinstance(own.unit, Unit)}
        same[-1] = same[-1] and len(codes) <= 1
        selects, layout = [], []
        for rows, own in several:
            columns = list(self._alike(rows, own, same, texts=texts))
            outputs = ", ".join(
                f"{cell} AS c{i}" for i, (cell, _) in enumerate(columns)
            )
            selects.append(f"SELECT {outputs} FROM {rows.sql} AS data")
            layout = [stored for _, stored in columns]
        return Relation(f"({' UNION ALL '.join(selects)})", tuple(layout))

    def _alike(
        self, rows: Relation, schema: Schema, same: list[bool], *, texts: bool
    ) -> Iterator[tuple[str, Physical]]:
        """Yield a table's columns in a form that all the united tables share."""
        terms = self._terms(rows, schema)
        for i, ((name, column), stored) in enumerate(
            zip(schema.stored, rows.layout, strict=True)
        ):
            if same[i]:
                yield f"c{i}", stored
                continue
            match column:
                case Real() | Integer():
                    yield terms.number(name), Floating()
                case Boolean() if column == Boolean():
                    yield terms.truth(name), Truth()
                case Category() | Boolean():
                    yield self._dialect.to_int64.format(x=terms.coded(name)), Places()
                case Text():
                    yield terms.key(name), TextStored()
                case _:
                    yield self._whose(terms, stored, texts=texts), _known(stored, texts=texts)  # fmt: skip

    def _per_person(self, base: PerPerson) -> Relation:
        rows, schema = self._rows(base.rows)
        figures = Figures(schema, rows.layout, self._dialect, _features(base))
        return Relation(
            f"({figures.select(rows.sql)})",
            (*figures.layout, _known(rows.layout[-1], texts=False)),
        )


def _nodes(part: Part) -> int:
    """Count the nodes that rows are made by; a table is none."""
    if part.base is None or isinstance(part.base, Other):
        return 0
    return 1 + sum(map(_nodes, parts_of(part.base)))


def _features(base: PerPerson) -> list[Feature]:
    return [feature for _, feature in base.features]


def _stored(column: object) -> Physical:
    """Return how a column of a public table stands in the statement."""
    if isinstance(column, Real | Integer):
        return Floating()
    return Truth() if column == Boolean() else Places()  # other words are none of SQL's


def _is_whole(stored: Physical) -> bool:
    return isinstance(stored, Whole | Floating | Scaled)


def _known(stored: Physical, *, texts: bool) -> Physical:
    """Return how an identifier is stored once it was read."""
    if texts or isinstance(stored, TextStored):
        return TextStored(canonical=True)
    return Whole() if _is_whole(stored) else stored
