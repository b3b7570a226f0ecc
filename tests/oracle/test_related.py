"""Joins, unions and figures per person: no unit moves a step by more than is claimed."""

import math
from dataclasses import replace

import adversary as a
import pytest
import related as r
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP
from sfumato.audit.hostile import TABLE
from sfumato.audit.sensitivity import World, compare, sensitivity
from sfumato.declare import feature, lookup
from sfumato.declare import query as ask
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.feature import Figures
from sfumato.engine.relate import _Maker
from sfumato.plan import make_plan, matched
from sfumato.plan import relate as planned

EXTREMES = st.sampled_from(
    [math.inf, -math.inf, None, 1e308, -1e308, 0, 0.5, 999, 10, -10]
)
LABELS = st.sampled_from(["a", "A", "2", 2, "é", "yes", "no", True, None, "x", 0, 1])
ROW = a.a_row(EXTREMES, LABELS, LABELS)
FEW = st.lists(ROW, max_size=4)
IDS = st.sampled_from([1, 2, "2", None, "NA"])
CROWD = st.lists(st.builds(lambda row, who: {**row, "who": who}, ROW, IDS), max_size=6)


def check_all(plan, rows, others):
    """Audit a plan on tables and assert that every claim holds."""
    both = [*rows, *({**row, TABLE: r.LABS} for row in others)]
    with World(plan.table, r.others_of(plan)) as world:
        both = both if r.others_of(plan) else rows
        for finding in compare(plan, both, (), world.exact):
            assert finding.holds, finding


@settings(max_examples=a.times(6), deadline=None, derandomize=True)
@given(r.questions(r.WHOSE), CROWD, CROWD)
def test_removing_any_person(plan, rows, others):
    """Random nodes over each other: all rows of a person leave all tables."""
    check_all(plan, rows, others)


@settings(max_examples=a.times(6), deadline=None, derandomize=True)
@given(r.questions(st.just(Rows())), FEW, FEW)
def test_removing_any_row(plan, rows, others):
    """Random nodes where each row is a unit, and a person has one in each table."""
    check_all(plan, rows, others)


SCHEMA = Schema({"x": Integer(0, 7), "g": Category(["a", "b", "c"])})
PEOPLE = Schema(dict(SCHEMA.columns), unit=Unit("who", max_rows=2, max_groups=1))
ROWS = [
    {"who": who, "x": x, "g": g}
    for who, several in {
        1: [(7, "a")] * 3,
        2: [(0, "b"), (0, "c"), (0, "a")],
        3: [(7, "b"), (0, "c")],
        None: [(7, "a"), (0, "b")],
    }.items()
    for x, g in several
]
"""Three people at the ends of the range, with one row and with many, and nobody's rows."""


def worst(base, statistic, schema, loss="1"):
    """Return the largest changes over all units of the table, and of parts of it."""
    plan = make_plan(Query().of(base).select(statistic), schema, loss)
    with World(plan.table) as world:
        return [
            finding
            for rows in (ROWS, ROWS[:6], ROWS[3:], ROWS[2:4], ROWS[:1], ROWS[-3:])
            for finding in compare(plan, rows, (), world.exact)
        ]


SITES = (("v", Integer(0, 7)), ("h", Category(["p", "q"])))
SITE = Lookup("t", ("k",), SITES, ((("a",), (7.0, 0)), (("b",), (0.0, 1))))
FIGURES = (("most", feature.max("x")), ("n", feature.count(most=3)))
QUESTIONS = {
    "public table": (Looked(Part(), ("g",), SITE), "v", SCHEMA),
    "public table of people": (Looked(Part(), ("g",), SITE), "v", PEOPLE),
    "union": (United((Part(), Part())), "x", SCHEMA),
    "union of people": (United((Part(), Part())), "x", PEOPLE),
    "pairs": (Joined(Part(), Part(), "o_", 3, 2), "o_x", PEOPLE),
    "figures": (PerPerson(Part(), FIGURES), "n", PEOPLE),
}


@pytest.mark.parametrize("loss", ["1", ZCDP("0.1")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_bound_is_reached_and_never_passed(name, loss):
    """The audit for users: some unit uses up a whole step, none more."""
    base, column, schema = QUESTIONS[name]

    found = worst(base, ask.sum(column), schema, loss)

    assert all(one.holds for one in found), found
    assert any(one.aggregate is None and one.change == 1 for one in found), found


@pytest.mark.parametrize("schema", [SCHEMA, PEOPLE], ids=["rows", "people"])
def test_the_audit_for_users_knows_other_tables(schema):
    """`sensitivity` makes rows of all tables, and lets a unit leave all of them."""
    both = United((Part(), Part(Other(r.LABS, schema))))

    found = sensitivity(Query().of(both).select(ask.count()), schema, tables=8)

    assert not found.violated, str(found)
    assert found.pairs > 0


def keys_not_checked(swap):
    """A private row finds two public rows."""
    swap(lookup, "check_keys", lambda *_: None)
    swap(matched, "check_keys", lambda *_: None)


def stability_of_a_union_forgotten(swap):
    """A person with a row in each table is protected as one row."""
    swap(planned, "stability", lambda base: 1)


def pairs_across_people(swap):
    """Rows of all people meet."""
    joined = _Maker._joined

    def crossed(self, base):
        found = joined(self, base)
        return replace(found, sql=found.sql.replace("ON l.u = r.u", "ON l.u <> r.u OR TRUE"))  # fmt: skip

    swap(_Maker, "_joined", crossed)


def a_person_in_many_rows(swap):
    """Figures are grouped by more than the person."""
    select = Figures.select
    swap(Figures, "select", lambda self, rows: select(self, rows) + ", x0")


def figures_by_the_rows_of_all(swap):
    """The last row is looked for among everybody's."""
    swap(Figures, "_end", lambda self, i, one: f"MAX(o{i}) OVER () AS f{i}")


def people_kept_as_given(swap):
    """A table of figures is taken for one of rows that are units, before it is one."""
    swap(planned, "is_one_row", lambda base: True)


TWICE = ((("a",), (7.0, 0)), (("a",), (7.0, 0)))
LAST = (("end", feature.last("x", by="x")),)
PLANTED = {
    keys_not_checked: lambda: (
        Looked(Part(), ("g",), Lookup("t", ("k",), SITES, TWICE)),
        ask.count("v"),
        SCHEMA,
    ),
    stability_of_a_union_forgotten: lambda: (
        United((Part(), Part())),
        ask.sum("x"),
        SCHEMA,
    ),
    pairs_across_people: lambda: (
        Joined(Part(), Part(), "o_", 4, 1),
        ask.sum("o_x"),
        PEOPLE,
    ),
    a_person_in_many_rows: lambda: (PerPerson(Part(), FIGURES), ask.count(), PEOPLE),
    figures_by_the_rows_of_all: lambda: (PerPerson(Part(), LAST), ask.mean("end"), PEOPLE),
    people_kept_as_given: lambda: (United((Part(), Part())), ask.count(), PEOPLE),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED, ids=lambda f: f.__name__)
def test_every_planted_fault_is_caught(monkeypatch, fault):
    """Each fault makes some unit move a step by more than its charge covers."""
    fault(monkeypatch.setattr)
    base, statistic, schema = PLANTED[fault]()

    assert not all(one.holds for one in worst(base, statistic, schema))
