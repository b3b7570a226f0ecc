"""Joins, unions and figures per person: no unit moves a step by more than is claimed."""

import math

import adversary as a
import pytest
import related as r
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP, KNorm
from sfumato.audit.hostile import TABLE
from sfumato.audit.sensitivity import World, compare, sensitivity
from sfumato.declare import query as ask
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.plan import make_plan
from sfumato.testing.faults.related import (  # fmt: skip
    FIGURES,
    PEOPLE,
    REPLACED,
    SITES,
    faults,
    largest,
)
from sfumato.testing.faults.related import ROWS as SINGLE

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


SIZE = 3
PUBLIC = st.builds(
    lambda r, g: Unit("who", max_rows=r, max_groups=g, neighbours="replace_one", size=SIZE),
    st.integers(1, 3), st.integers(1, 3),
)  # fmt: skip


@settings(max_examples=a.times(6), deadline=None, derandomize=True)
@given(
    r.questions(PUBLIC, other=False),
    st.lists(ROW, max_size=6),
    st.lists(st.lists(ROW, min_size=1, max_size=4), max_size=3),
)
def test_replacing_any_person(plan, rows, pool):
    """Random nodes over each other: a person's rows become those of any other person."""
    people = [{**row, "who": i % SIZE} for i, row in enumerate(rows)]
    people += [{"who": i} for i in range(SIZE)]
    with World(plan.table) as world:
        for finding in compare(plan, people, pool, world.exact):
            assert finding.holds, finding


QUESTIONS = {
    "public table": (Looked(Part(), ("g",), SITES), "v", SINGLE),
    "public table of people": (Looked(Part(), ("g",), SITES), "v", PEOPLE),
    "union": (United((Part(), Part())), "x", SINGLE),
    "union of people": (United((Part(), Part())), "x", PEOPLE),
    "pairs": (Joined(Part(), Part(), "o_", 3, 2), "o_x", PEOPLE),
    "figures": (PerPerson(Part(), FIGURES), "n", PEOPLE),
    "pairs, one replaced": (Joined(Part(), Part(), "o_", 3, 2), "o_x", REPLACED),
    "union, one replaced": (United((Part(), Part())), "x", REPLACED),
    "figures, one replaced": (PerPerson(Part(), FIGURES), "most", REPLACED),
}


@pytest.mark.parametrize("loss", ["1", ZCDP("0.1")], ids=["epsilon", "rho"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_bound_is_reached_and_never_passed(name, loss):
    """The audit for users: some unit uses up a whole step, none more."""
    base, column, schema = QUESTIONS[name]

    found = largest(base, ask.sum(column), schema, loss)

    assert all(one.holds for one in found), found
    assert any(one.aggregate is None and one.change == 1 for one in found), found


@pytest.mark.parametrize("tables", [3, 5])
def test_a_row_in_another_group_of_each_table(tables):
    """Joint noise rounds up in each group that a person has a part of her rows in."""
    names = [None, *(f"t{i}" for i in range(1, tables))]
    schema = Schema({"x": Integer(0, 7), "g": Category([*"abcde"])})
    parts = tuple(Part(n and Other(n, schema)) for n in names)
    figures = (ask.count(), ask.mean("x"))
    plan = make_plan(
        Query().of(United(parts)).group_by("g").select(*figures), schema, 1
    )
    rows = [
        {"x": 7, "g": g, **({TABLE: n} if n else {})}
        for g, n in zip("abcde", names, strict=False)
    ]

    assert isinstance(plan.steps[0].mechanism, KNorm)
    with World(plan.table, r.others_of(plan)) as world:
        for finding in compare(plan, rows, (), world.exact):
            assert finding.holds, finding


@pytest.mark.parametrize("schema", [SINGLE, PEOPLE], ids=["rows", "people"])
def test_the_audit_for_users_knows_other_tables(schema):
    """`sensitivity` makes rows of all tables, and lets a unit leave all of them."""
    both = United((Part(), Part(Other(r.LABS, schema))))

    found = sensitivity(Query().of(both).select(ask.count()), schema, tables=8)

    assert not found.violated, str(found)
    assert found.pairs > 0


@pytest.mark.parametrize("fault", faults(), ids=lambda f: f.name)
def test_every_planted_fault_is_caught(fault):
    """Each fault makes some unit move a step by more than its charge covers."""
    assert fault.hunt().violated
