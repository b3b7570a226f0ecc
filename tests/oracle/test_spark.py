"""The sensitivity oracle on Spark's dialect: no neighbour moves a step beyond its claim."""

import math

import adversary as a
import pytest
import sparks
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.audit.engines import on_spark
from sfumato.audit.sensitivity import compare, sensitivity
from sfumato.declare import query as ask
from sfumato.declare.calendar import Date
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.spark import SparkEngine
from sfumato.plan import make_plan

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

SIZE = 2
ADD, REPLACE = Rows(), Rows(neighbours="replace_one", size=SIZE)
KINDS = {a.NUMBERS[0]: "DOUBLE", a.NUMBERS[1]: "STRING", a.KEYS[0]: "STRING",
         a.KEYS[1]: "BIGINT", a.FLAG: "BOOLEAN"}  # fmt: skip
ROW = st.fixed_dictionaries({
    a.NUMBERS[0]: st.sampled_from([math.inf, -math.inf, math.nan, None, 1e308, 5e-324, 0.5, 999.0, 10.0]),
    a.NUMBERS[1]: st.sampled_from(["1e400", "-1e400", "n/a", None, "0.1", "1e-400", "7", "999"]),
    a.KEYS[0]: st.sampled_from(["a", "A", "2", "2.0", "é", "x", None]),
    a.KEYS[1]: st.sampled_from([0, 1, 2, None]),
    a.FLAG: st.sampled_from([True, False, None]),
})  # fmt: skip


@pytest.fixture(scope="module")
def world():
    """Tables of Sail, the fast stand-in for Spark, made of literals."""
    session = sparks.sail()

    def exact(kinds):
        def of(plan, rows):
            lines = [
                "(" + ", ".join(f"CAST({_literal(row.get(n))} AS {k})" for n, k in kinds.items()) + ")"
                for row in rows
            ]  # fmt: skip
            nothing = (
                "(" + ", ".join(f"CAST(NULL AS {k})" for k in kinds.values()) + ")"
            )
            frame = session.sql(f"SELECT * FROM VALUES {', '.join(lines or [nothing])}")
            frame = frame.toDF(*kinds) if rows else frame.toDF(*kinds).limit(0)
            return SparkEngine(frame, plan.table).run(plan)

        return of

    return exact


def _literal(cell):
    if cell is None:
        return "NULL"
    return str(cell).upper() if isinstance(cell, bool) else f"'{cell}'"


@settings(max_examples=a.times(20), deadline=None)
@given(a.plans(st.just(ADD)), st.lists(ROW, max_size=3))
def test_removing_any_row(world, plan, rows):
    """Add/remove: over random questions and tables."""
    for finding in compare(plan, rows, (), world(KINDS)):
        assert finding.holds, finding


@settings(max_examples=a.times(8), deadline=None)
@given(a.plans(st.just(REPLACE)), st.lists(ROW, min_size=SIZE, max_size=SIZE), st.lists(ROW, max_size=1))  # fmt: skip
def test_replacing_any_row_by_any_other(world, plan, rows, pool):
    """Replace-one: over random questions, tables and a pool of rows."""
    for finding in compare(plan, rows, [*pool, *rows], world(KINDS)):
        assert finding.holds, finding


COLUMNS = {
    "low": Real(-10, 5, step=1, missing=999),
    "full": Integer(10, 20, complete=True),
    "g": Category(["a", "b"]),
}  # fmt: skip
ROWS = [
    {"low": low, "full": full, "g": g}
    for low, full in ((-math.inf, "-1e308"), (math.inf, "1e308"), (None, None))
    for g in ("a", None)
]
REACHED = [
    (ADD, (), ask.count(), 1), (REPLACE, ("g",), ask.count(), 2), (ADD, ("g",), ask.sum("low"), 10),
    (REPLACE, (), ask.sum("low"), 15), (ADD, (), ask.histogram("g"), 1),
]  # fmt: skip


@pytest.mark.parametrize(("unit", "keys", "statistic", "bound"), REACHED)
def test_each_bound_is_reached(world, unit, keys, statistic, bound):
    """The claimed sensitivity is the true one on this engine too."""
    schema = Schema(COLUMNS, unit=unit)
    plan = make_plan(ask.Query().group_by(*keys).select(statistic), schema, Epsilon(1))
    exact = world({"low": "DOUBLE", "full": "STRING", "g": "STRING"})
    pool = [*ROWS, {"low": 0.0, "full": "10", "g": "b"}]

    found = [f for row in ROWS[::2] for f in compare(plan, [row, ROWS[0]], pool, exact)]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is not None) == bound
    assert max(f.change for f in found if f.aggregate is None) == 1


@pytest.mark.parametrize(
    "unit",
    [ADD, Unit("who", max_rows=2, max_groups=2)],
    ids=["rows", "people"],
)
def test_the_public_oracle_runs_on_this_engine(unit):
    """`audit.sensitivity` with `on_spark`, over a column of every kind."""
    schema = Schema(
        {
            "x": Real(-10, 5, step=1, missing=3),
            "day": Date("2000-01-01", "2030-12-31"),
            "flag": Boolean(),
            "g": Category(["a", 2, "é", "it's"]),
        },
        unit=unit,
    )
    query = (
        ask.Query().group_by("g").select(ask.count(), ask.mean("x"), ask.mean("day"))
    )

    found = sensitivity(
        query, schema, exact=on_spark(sparks.sail()), typed=True, tables=4, pool=2
    )

    assert not found.violated and not found.failures and found.pairs > 3
