"""No person moves a step by more than its sensitivity, and some person reaches it."""

import math

import adversary as a
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP, Gaussian, KNorm
from sfumato.audit.sensitivity import World, compare
from sfumato.declare import query as ask
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Unit
from sfumato.plan import (
    Bins,
    CentredKey,
    CentredSquare,
    CentredSum,
    CountPeople,
    CountRows,
    CountValues,
    Level,
    SumValues,
    make_plan,
)

SIZE = 2
IDS = st.sampled_from([1, "1.0", 2, "x", "", None, math.nan])
EXTREMES = st.sampled_from([
    math.inf, -math.inf, math.nan, None, 1e308, -1e308, 2**62, 0, 0.5, 999, "0.1", "n/a", 10, -10,
])  # fmt: skip
LABELS = st.sampled_from(["a", "A", "2", 2, "é", "yes", "no", True, None, "x", 0, 1])
ROW = a.a_row(EXTREMES, LABELS, LABELS)
ROWS = st.lists(st.builds(lambda row, who: {**row, "who": who}, ROW, IDS), max_size=9)


def units(**given):
    """Units of all small bounds."""
    return st.builds(
        lambda r, g: Unit("who", max_rows=r, max_groups=g, **given),
        st.integers(1, 3),
        st.integers(1, 3),
    )


def check(plan, rows, pool):
    """Audit a plan and assert that every claim holds."""
    with World(plan.schema) as world:
        for finding in compare(plan, rows, pool, world.exact):
            assert finding.holds, finding


@settings(max_examples=a.times(40), deadline=None)
@given(a.plans(units()), ROWS)
def test_removing_any_person(plan, rows):
    """Add/remove: over random questions, tables and every person."""
    check(plan, rows, ())


@settings(max_examples=a.times(25), deadline=None)
@given(
    a.plans(units(neighbours="replace_one", size=SIZE)),
    ROWS,
    st.lists(st.lists(ROW, min_size=1, max_size=5), max_size=3),
)
def test_replacing_any_person_by_any_other(plan, rows, pool):
    """Replace-one: over random questions, tables, every person and a pool of people."""
    two = [{**row, "who": i % SIZE} for i, row in enumerate(rows)]
    two += [{"who": i} for i in range(SIZE)]

    check(plan, two, pool)


COLUMNS = {
    "low": Real(-10, 5, step=1, missing=999),
    "fine": Real(-10, 5, missing=999),
    "wide": Integer(-(2**61), 2**61),
    "full": Integer(10, 20, complete=True),
    "g": Category(["a", "b", "c"]),
    "b": Boolean(),
}  # fmt: skip
VALUES = ((-math.inf, 10), (math.inf, 20), (-3, 15), (None, None))


def person(*rows):
    """Return rows of one person: low and full, and groups."""
    return [
        {"low": low, "fine": low, "wide": low and low * 2.0**62, "full": full, "g": g, "b": b}
        for (low, full), g, b in rows
    ]  # fmt: skip


def everywhere(value, times, groups):
    """Return a person with so many equal rows in each of these groups."""
    places = ("a", True), ("b", False), ("c", True)
    return person(*((value, *place) for place in places[:groups] for _ in range(times)))


PEOPLE = [
    *(everywhere(v, n, n) for v in VALUES[:2] for n in (1, 2, 3)),
    *(everywhere(v, 3, 1) for v in VALUES[:2]),
    *(everywhere(v, 2, 3)[2:] for v in VALUES[:2]),  # in the last two groups
    *(everywhere(v, 2, 3)[4:] for v in VALUES[:2]),  # in the last group
    everywhere(VALUES[2], 2, 2),
    everywhere(VALUES[3], 3, 3),
    [],  # someone whose rows are all filtered out
]
R, G = 2, 2
ADD = Unit("who", max_rows=R, max_groups=G)
REPLACE = Unit("who", max_rows=R, max_groups=G, neighbours="replace_one", size=SIZE)
TABLES = [
    [{**row, "who": i} for i, one in enumerate((each, PEOPLE[1])) for row in one]
    for each in PEOPLE
]
F = 2**20

# how far one person can move the integers: in L1, in terms, and how fine these are
REACHED = [
    (CountRows, ADD, (), ask.count(), R, F),
    (CountRows, ADD, ("g",), ask.count(), R * G, F),
    (CountRows, REPLACE, (), ask.count(), R, F),
    (CountRows, REPLACE, ("g",), ask.count(), 3 * R, F),
    (CountPeople, ADD, (), ask.people(), 1, F),
    (CountPeople, ADD, ("g",), ask.people(), G, F),
    (CountPeople, REPLACE, ("g",), ask.people(), 3, F),
    (CountValues, ADD, ("g",), ask.count("low"), R * G, F),
    (CountValues, REPLACE, (), ask.count("low"), R, F),
    (SumValues, ADD, ("g",), ask.sum("low"), 10 * R * G, 2**16),
    (SumValues, ADD, (), ask.sum("wide"), (2**61 >> 31) * R, 1),
    (SumValues, REPLACE, (), ask.sum("low"), 15 * R, 2**16),
    (SumValues, REPLACE, ("g",), ask.sum("full"), (20 + 2 * 20) * R, 2**15),
    (CentredSum, ADD, (), ask.mean("low"), 15 * R, 2**16),
    (CentredSum, ADD, ("g",), ask.mean("wide"), (2**62 >> 32) * R * G, 1),
    (CentredSum, REPLACE, ("g",), ask.mean("full"), 2 * 10 * R * G, 2**16),
    (CentredSquare, ADD, ("g",), ask.variance("low"), 224 * R * G, 2**12),
    (CentredSquare, REPLACE, ("g",), ask.std("low"), 2 * 224 * R * G, 2**12),
    (CentredKey, ADD, ("g",), ask.proportion("b", False), R * G, F),
    (CentredKey, REPLACE, (), ask.proportion("g", "a"), 2 * R, F),
    (Level, ADD, ("g",), ask.median("fine"), R * G, F),
    (Level, REPLACE, (), ask.median("low"), 2 * R, F),
    (Bins, ADD, ("g",), ask.histogram("low", [-10, 0, 5]), R * G, F),
    (Bins, REPLACE, ("g",), ask.histogram("low", [-10, 0, 5]), 2 * R * G, F),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "unit", "keys", "statistic", "bound", "fine"), REACHED
)
def test_each_bound_is_reached(kind, unit, keys, statistic, bound, fine):
    """The claimed sensitivity is the true one: no smaller one would do."""
    schema = Schema(COLUMNS, unit=unit)
    plan = make_plan(ask.Query().group_by(*keys).select(statistic), schema, 1)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, PEOPLE, world.exact)]

    claims = [f for f in found if isinstance(f.aggregate, kind)]
    assert all(f.holds for f in found)
    assert {f.bound for f in claims} == {bound * fine}
    assert max(f.change for f in claims) == bound * fine


JOINT = [(ADD, ()), (ADD, ("b",)), (REPLACE, ()), (REPLACE, ("b",))]


@pytest.mark.parametrize(("unit", "keys"), JOINT)
def test_joint_steps_use_their_whole_charge_and_no_more(unit, keys):
    """Means, a sum and counts together: one person uses exactly what was paid."""
    schema = Schema(COLUMNS, unit=unit)
    wanted = (
        ask.mean("low"),
        ask.mean("full"),
        ask.sum("low"),
        ask.count(),
        ask.people(),
    )
    plan = make_plan(ask.Query().group_by(*keys).select(*wanted), schema, 1)
    assert any(isinstance(s.mechanism, KNorm) for s in plan.steps)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, PEOPLE, world.exact)]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is None) == 1


def test_a_little_in_many_groups_stays_within_a_joint_step():
    """Parts of a weight are rounded up in each group, and the scale allows for it."""
    columns = {"g": Category(range(40)), "x": Integer(0, 100)}
    schema = Schema(columns, unit=Unit("who", max_rows=2, max_groups=3))
    query = ask.Query().group_by("g").select(ask.mean("x"), ask.count(), ask.sum("x"))
    plan = make_plan(query, schema, 1)
    assert any(isinstance(s.mechanism, KNorm) for s in plan.steps)
    used = []

    with World(schema) as world:
        for met in range(1, 41):
            rows = [{"g": i, "x": 100, "who": 1} for i in range(met) for _ in range(2)]
            found = compare(plan, rows, (), world.exact)
            assert all(f.holds for f in found), (met, found)
            used += [f.change for f in found if f.aggregate is None]

    assert 0.98 < max(used) <= 1


@pytest.mark.parametrize(("unit", "keys"), [(ADD, ("g",)), (REPLACE, ()), (REPLACE, ("g",))])  # fmt: skip
def test_gaussian_steps_use_their_whole_charge_and_no_more(unit, keys):
    """Under a budget of ρ: squared L2 changes reach the claim of some step, never more."""
    schema = Schema(COLUMNS, unit=unit)
    wanted = (ask.mean("low"), ask.sum("full"), ask.count(), ask.people(),
              ask.histogram("full", [10, 15, 20]), ask.median("fine"))  # fmt: skip
    plan = make_plan(ask.Query().group_by(*keys).select(*wanted), schema, ZCDP("0.1"))
    assert all(isinstance(s.mechanism, Gaussian) for s in plan.steps)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, PEOPLE, world.exact)]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is None) == 1
