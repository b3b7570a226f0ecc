"""No neighbour moves a step by more than its sensitivity, and some neighbour reaches it."""

import math

import adversary as a
import formulas as f
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP, Gaussian, KNorm
from sfumato.audit.sensitivity import World, compare
from sfumato.declare import query as ask
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.plan import (
    Bins,
    CentredKey,
    CentredProduct,
    CentredSquare,
    CentredSum,
    Choice,
    CountRows,
    CountValues,
    Crossed,
    Level,
    SumValues,
    make_plan,
)

SIZE = 2
ADD, REPLACE = Rows(), Rows(neighbours="replace_one", size=SIZE)

EXTREMES = st.sampled_from([
    math.inf, -math.inf, math.nan, None, 1e308, -1e308, 2**62, -(2**63), 10**400, 0, 0.5, 999,
    "0.1", "n/a", 5e-324, 10, -10, 1e50, -1e50,
])  # fmt: skip
LABELS = st.sampled_from(
    ["a", "A", "2", "2.0", 2, "é", "yes", "no", True, None, "x", 0, 1]
)
ROW = a.a_row(EXTREMES, LABELS, LABELS)


def check(plan, rows, pool):
    """Audit a plan and assert that every claim holds."""
    with World(plan.table) as world:
        for finding in compare(plan, rows, pool, world.exact):
            assert finding.holds, finding


@settings(max_examples=a.times(40), deadline=None)
@given(a.plans(st.just(ADD)), st.lists(ROW, max_size=4))
def test_removing_any_row(plan, rows):
    """Add/remove: over random questions, tables and every row."""
    check(plan, rows, ())


@settings(max_examples=a.times(20), deadline=None, suppress_health_check=f.SLOW)
@given(f.plans(st.just(ADD)), st.lists(ROW, max_size=3))
def test_removing_any_row_under_derived_columns(plan, rows):
    """Add/remove: the bound of a derived column is that of its declaration."""
    check(plan, rows, ())


@settings(max_examples=a.times(25), deadline=None)
@given(a.plans(st.just(REPLACE)), st.data())
def test_replacing_any_row_by_any_other(plan, data):
    """Replace-one: over random questions, tables, every row and a pool of rows."""
    rows = data.draw(st.lists(ROW, min_size=SIZE, max_size=SIZE))

    check(plan, rows, [*data.draw(st.lists(ROW, max_size=4)), *rows])


COLUMNS = {
    "low": Real(-10, 5, step=1, missing=999),
    "fine": Real(-10, 5, missing=999),
    "full": Integer(10, 20, complete=True),
    "g": Category(["a", "b"]),
    "b": Boolean(),
}  # fmt: skip
ROWS = [
    {"low": low, "fine": low, "full": full, "g": g, "b": b}
    for low, full in ((-math.inf, -1e308), (math.inf, 1e308), (None, None), (-3, 15),
                      (math.inf, -1e308))
    for g, b in (("a", True), ("b", False), (None, None))
]  # fmt: skip
TABLES = [[row, ROWS[0]] for row in ROWS[::2]]

REACHED = [
    (CountRows, ADD, (), ask.count(), 1),
    (CountRows, ADD, ("g",), ask.count(), 1),
    (CountRows, REPLACE, ("g",), ask.count(), 2),
    (CountValues, ADD, (), ask.count("low"), 1),
    (CountValues, REPLACE, (), ask.count("low"), 1),
    (CountValues, REPLACE, ("g",), ask.count("b"), 2),
    (SumValues, ADD, (), ask.sum("low"), 10),
    (SumValues, ADD, ("g",), ask.sum("low"), 10),
    (SumValues, ADD, (), ask.sum("full"), 20),
    (SumValues, REPLACE, (), ask.sum("low"), 15),
    (CentredSum, REPLACE, (), ask.sum("full"), 20),
    (SumValues, REPLACE, ("g",), ask.sum("full"), 40),
    (SumValues, ADD, (), ask.sum("b"), 1),
    (CentredSum, ADD, (), ask.mean("low"), 15),
    (CentredSum, ADD, ("g",), ask.mean("full"), 10),
    (CentredSum, REPLACE, (), ask.mean("low"), 30),
    (CentredSum, REPLACE, ("g",), ask.mean("full"), 20),
    (CentredSum, REPLACE, (), ask.mean("b"), 2),
    (CentredSquare, ADD, (), ask.variance("low"), 224),
    (CentredSquare, ADD, ("g",), ask.std("full"), 100),
    (CentredSquare, REPLACE, (), ask.std("low"), 448),
    (CentredSquare, REPLACE, (), ask.variance("full"), 200),
    (CentredSquare, REPLACE, ("g",), ask.variance("low"), 448),
    (CentredKey, ADD, (), ask.proportion("g", "b"), 1),
    (CentredKey, ADD, ("b",), ask.proportion("g", "a"), 1),
    (CentredKey, REPLACE, (), ask.proportion("g", "a"), 2),
    (CentredKey, REPLACE, ("g",), ask.proportion("b", False), 2),
    (CentredSum, REPLACE, (), ask.proportion("b"), 2),
    (Level, ADD, (), ask.median("fine"), 1),
    (Level, ADD, ("g",), ask.quantile("low", "0.9"), 1),
    (Level, REPLACE, (), ask.median("fine"), 2),
    (Level, REPLACE, ("g",), ask.median("full"), 2),
    (Crossed, ADD, (), ask.crosstab("low", "g", edges=[-10, 0, 5]), 1),
    (Crossed, ADD, ("b",), ask.crosstab("g", "low", other_edges=[-10, 0, 5]), 1),
    (Crossed, REPLACE, (), ask.crosstab("g", "b"), 2),
    (Crossed, REPLACE, ("b",), ask.crosstab("g", "b"), 2),
    (CentredProduct, ADD, (), ask.covariance("low", "full"), 300),
    (CentredProduct, ADD, ("g",), ask.correlation("low", "fine"), 943718400),
    (CentredProduct, REPLACE, (), ask.correlation("low", "full"), 600),
    (CentredProduct, REPLACE, ("g",), ask.covariance("b", "low"), 60),
    (CentredSum, REPLACE, (), ask.covariance("full", "b"), (20, 2)),
    (CentredSquare, ADD, (), ask.covariance("low", "full", "b"), (224, 100)),
    (CountValues, ADD, (), ask.covariance("low", "b"), 1),
    (Choice, ADD, (), ask.mode("g"), 1),
    (Choice, ADD, ("b",), ask.mode("low", [-10, 0, 5]), 1),
    (Choice, REPLACE, (), ask.mode("g"), 2),
    (Choice, REPLACE, ("g",), ask.mode("b"), 2),
    (SumValues, ADD, (), ask.ratio("low", "full"), (10, 20)),
    (SumValues, REPLACE, ("g",), ask.ratio("low", "full"), (20, 40)),
    (Bins, ADD, (), ask.histogram("low", [-10, 0, 5]), 1),
    (Bins, ADD, ("g",), ask.histogram("b"), 1),
    (Bins, REPLACE, (), ask.histogram("low", [-10, 0, 5]), 2),
    (Bins, REPLACE, ("b",), ask.histogram("g"), 2),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "unit", "keys", "statistic", "bound"), REACHED)
def test_each_bound_is_reached(kind, unit, keys, statistic, bound):
    """The claimed sensitivity is the true one: no smaller one would do."""
    schema = Schema(COLUMNS, unit=unit)
    plan = make_plan(ask.Query().group_by(*keys).select(statistic), schema, 1)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, ROWS, world.exact)]

    claims = [one for one in found if isinstance(one.aggregate, kind)]
    bounds = set(bound) if isinstance(bound, tuple) else {bound}
    assert {one.bound for one in claims} == bounds
    for aggregate in {one.aggregate for one in claims}:
        mine = [one for one in claims if one.aggregate == aggregate]
        assert max(one.change for one in mine) == mine[0].bound
    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is None) == 1


JOINT = [
    (ADD, ()), (ADD, ("g",)), (REPLACE, ()), (REPLACE, ("g",)), (REPLACE, ("g", "b")),
]  # fmt: skip


@pytest.mark.parametrize(("unit", "keys"), JOINT)
def test_joint_steps_use_their_whole_charge_and_no_more(unit, keys):
    """Several means, a sum and a count together: one row uses exactly what was paid."""
    schema = Schema(COLUMNS, unit=unit)
    wanted = ask.mean("low"), ask.mean("full"), ask.sum("low"), ask.count()
    plan = make_plan(ask.Query().group_by(*keys).select(*wanted), schema, 1)
    assert any(isinstance(s.mechanism, KNorm) for s in plan.steps)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, ROWS, world.exact)]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is None) == 1


@pytest.mark.parametrize(("unit", "keys"), JOINT)
def test_gaussian_steps_use_their_whole_charge_and_no_more(unit, keys):
    """Under a budget of ρ: squared L2 changes reach the claim of some step, never more."""
    schema = Schema(COLUMNS, unit=unit)
    wanted = (ask.mean("low"), ask.sum("full"), ask.count(), ask.histogram("b"),
              ask.histogram("full", [10, 15, 20]))  # fmt: skip
    query = ask.Query().group_by(*(k for k in keys if k != "b")).select(*wanted)
    plan = make_plan(query, schema, ZCDP("0.1"))
    assert all(isinstance(s.mechanism, Gaussian) for s in plan.steps)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, ROWS, world.exact)]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is None) == 1


def test_a_filter_makes_a_replaced_row_come_or_go():
    """Under replace-one a filtered sum moves as far as from 0 to its largest value."""
    schema = Schema(COLUMNS, unit=REPLACE)
    query = ask.Query().where(col("b") == True).select(ask.sum("full"), ask.count())  # noqa: E712
    plan = make_plan(query, schema, 1)

    with World(schema) as world:
        found = [f for rows in TABLES for f in compare(plan, rows, ROWS, world.exact)]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.bound == 20) == 20
