"""Questions about rows that are made of other rows, at random."""

from __future__ import annotations

import adversary as a
from hypothesis import strategies as st

from sfumato.declare import feature
from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Unit
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan
from sfumato.plan.relate import others_in, part_schema

LABS = "labs"
PUBLIC = (
    ("beds", Real(-5, 5, step="0.5", missing=1)),
    ("region", Category(["N", "S", 2])),
    ("open", Boolean()),
)
CELLS = st.tuples(
    st.sampled_from([None, 0.0, -5.0, 2.5, 1e300]),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, 0, 1]),
)
WHOSE = st.builds(
    lambda r, g: Unit("who", max_rows=r, max_groups=g, missing=("NA",)),
    st.integers(1, 3),
    st.integers(1, 3),
)


@st.composite
def lookups(draw, schema, name):
    """A public table whose keys fit a column, and others that do not."""
    column = schema[name]
    keys = [str(t) for t in getattr(column, "tokens", ())] or ["true", "0", "yes", "a"]
    if isinstance(column, Integer):
        keys = ["0", "1", "2", "-3", "999", "0.5", "x"]
    if isinstance(column, Boolean):
        keys = [column.true[0], column.false[0]]
    chosen = draw(st.lists(st.sampled_from(keys), min_size=1, unique=True, max_size=4))
    rows = tuple(((key,), draw(CELLS)) for key in chosen)
    return Lookup("public", ("key",), PUBLIC, rows)


@st.composite
def parts(draw, schema, base=None):
    """Rows of the main table or of a node, perhaps filtered."""
    condition = draw(st.one_of(st.none(), a.conditions(schema)))
    return Part(base, (), condition)


@st.composite
def features(draw, schema):
    """One figure per person for each column, under the column's own name."""
    found = []
    for name in a.NAMES:
        column, kind = schema[name], draw(st.sampled_from(["count", "first", "last", "max", "min", "sum"]))  # fmt: skip
        by = draw(st.sampled_from(a.NUMBERS))
        if kind in ("first", "last") or isinstance(column, Category):
            one = getattr(feature, "last" if kind == "last" else "first")(name, by=by)
        elif name in a.NUMBERS and kind == "count":
            one = feature.count(draw(st.sampled_from([None, name])), most=3)
        elif name in a.NUMBERS and kind == "sum":
            one = feature.sum(name, Real(-7, 30, step="0.5"))
        else:
            one = (feature.min if kind == "min" else feature.max)(name)
        found.append((name, one))
    return tuple(found)


@st.composite
def bases(draw, schema, others, depth=2):
    """A node over the main table, the other one, or nodes; its schema has all names."""
    people = isinstance(schema.unit, Unit)
    kinds = ["look", "unite"] + ["person", "join"] * people

    def below():
        inner = None
        if depth and draw(st.integers(0, 2)) == 0:
            inner = draw(bases(schema, others, depth - 1))
        elif others and draw(st.booleans()):
            inner = Other(LABS, others[0])
        part = draw(parts(part_schema(Part(inner), schema), inner))
        return part, part_schema(part, schema)

    first, own = below()
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "look":
            able = [n for n in a.NAMES if not isinstance(own[n], Real)]
            name = draw(st.sampled_from(able))
            prefix = "p" * sum(n.endswith("beds") for n in own)
            return Looked(first, (name,), draw(lookups(own, name)), prefix)
        case "unite":
            return United((first, draw(st.sampled_from([first, below()[0]]))))
        case "person":
            return PerPerson(first, draw(features(own)))
        case _:
            second, _ = below()
            prefix = "o" * (1 + max(len(n) for n in own))
            return Joined(first, second, prefix, draw(st.integers(1, 4)))


@st.composite
def questions(draw, unit, *, other=True):
    """Plans about related rows, and the schema of the other table."""
    schema = draw(a.schemas(unit))
    others = (Schema(dict(schema.columns), schema.unit),) if other else ()
    for _ in range(20):
        try:
            base = draw(bases(schema, others))
            inner = part_schema(Part(base), schema)
            query = draw(a.groupings(inner))
            if draw(st.booleans()):
                query = query.where(draw(a.conditions(inner)))
            several = draw(st.lists(a.statistics(inner), min_size=1, max_size=4))
            query = Query(
                keys=query.keys,
                condition=query.condition,
                listed=query.listed,
                other=query.other,
                base=base,
            )
            return make_plan(query.select(*several), schema, 1)
        except DeclarationError:
            simple = [s for s in several if not isinstance(s, ask.Mode | ask.Crosstab)] if "several" in locals() else []  # fmt: skip
            if simple and "query" in locals() and query.base is not None:
                try:
                    return make_plan(query.select(*simple), schema, 1)
                except DeclarationError:
                    continue
    plain = Query().of(United((Part(), Part()))).select(ask.count())
    return make_plan(plain, schema, 1)


def others_of(plan):
    """The schema of each other table that a plan reads."""
    return {one.name: one.schema for one in others_in(plan.query.base)}


def dataset(plan, source, other):
    """The dataset that a plan is about; `other` is the source of its other table."""
    tables = {n: Dataset(other, schema=s) for n, s in others_of(plan).items()}
    return Dataset(source, schema=plan.table, name="t", tables=tables)


def expected(plan, rows, others):
    """What the specification says."""
    held = dict.fromkeys(others_of(plan), others)
    return ReferenceEngine(rows, held).run(plan).unseal()


def answer(plan, source, other):
    """What an engine says, which binds the statement first."""
    with open_engine(dataset(plan, source, other)) as engine:
        engine.prepare(plan)
        return engine.run(plan).unseal()
