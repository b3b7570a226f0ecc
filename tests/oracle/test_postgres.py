"""The sensitivity oracle on PostgreSQL: no neighbour moves a step beyond its claim."""

import math

import adversary as a
import pytest
from cluster import running
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.audit.engines import on_postgres
from sfumato.audit.sensitivity import compare, sensitivity
from sfumato.declare import query as ask
from sfumato.declare.calendar import Date
from sfumato.declare.dataset import Postgres
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.postgres import PostgresEngine
from sfumato.plan import make_plan

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

SIZE = 2
ADD, REPLACE = Rows(), Rows(neighbours="replace_one", size=SIZE)
TYPES = {a.NUMBERS[0]: "double precision", a.NUMBERS[1]: "text", a.KEYS[0]: "text",
         a.KEYS[1]: "numeric", a.FLAG: "boolean"}  # fmt: skip
ROW = st.fixed_dictionaries({
    a.NUMBERS[0]: st.sampled_from([math.inf, -math.inf, math.nan, None, 1e308, 5e-324, 0.5, 999.0, 10.0]),
    a.NUMBERS[1]: st.sampled_from(["1e400", "-1e400", "n/a", None, "0.1", "1e-400", "7", "999"]),
    a.KEYS[0]: st.sampled_from(["a", "A", "2", "2.0", "é", "x", None]),
    a.KEYS[1]: st.sampled_from([0, 1, 2, None]),
    a.FLAG: st.sampled_from([True, False, None]),
})  # fmt: skip


class World:
    """One table in PostgreSQL whose rows are exchanged."""

    def __init__(self, url, types):
        self.url, self.types = url, types
        self.db = psycopg.connect(url, autocommit=True)
        columns = ", ".join('"{}" {}'.format(n.replace('"', '""'), t) for n, t in types.items())  # fmt: skip
        self.db.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t ({columns})".encode())
        self.insert = f"INSERT INTO t VALUES ({', '.join('%s::' + t for t in types.values())})"  # fmt: skip

    def exact(self, plan, rows):
        """Return the integers of another table of the same types."""
        self.db.execute("TRUNCATE t")
        for row in rows:
            self.db.execute(self.insert, [row[n] for n in self.types])
        return PostgresEngine(Postgres(self.url, "t"), plan.schema).run(plan)

    def __enter__(self):
        """Return the world, for ``with``."""
        return self

    def __exit__(self, *_):
        """Close the connection."""
        self.db.close()


@pytest.fixture(scope="module")
def url():
    """A private server for this module."""
    with running() as address:
        yield address


@settings(max_examples=a.times(25), deadline=None)
@given(a.plans(st.just(ADD)), st.lists(ROW, max_size=3))
def test_removing_any_row(url, plan, rows):
    """Add/remove: over random questions and tables."""
    with World(url, TYPES) as world:
        for finding in compare(plan, rows, (), world.exact):
            assert finding.holds, finding


@settings(max_examples=a.times(15), deadline=None)
@given(
    a.plans(st.just(REPLACE)),
    st.lists(ROW, min_size=SIZE, max_size=SIZE),
    st.lists(ROW, max_size=2),
)
def test_replacing_any_row_by_any_other(url, plan, rows, pool):
    """Replace-one: over random questions, tables and a pool of rows."""
    with World(url, TYPES) as world:
        for finding in compare(plan, rows, [*pool, *rows], world.exact):
            assert finding.holds, finding


COLUMNS = {
    "low": Real(-10, 5, step=1, missing=999),
    "full": Integer(10, 20, complete=True),
    "g": Category(["a", "b"]),
}  # fmt: skip
ROWS = [
    {"low": low, "full": full, "g": g}
    for low, full in ((-math.inf, "-1e308"), (math.inf, "1e308"), (None, None))
    for g in ("a", "b", None)
]
REACHED = [
    (ADD, (), ask.count(), 1), (REPLACE, ("g",), ask.count(), 2), (ADD, ("g",), ask.sum("low"), 10),
    (REPLACE, (), ask.sum("low"), 15), (REPLACE, ("g",), ask.sum("full"), 40),
    (ADD, (), ask.histogram("g"), 1), (REPLACE, (), ask.histogram("low", [-10, 0, 5]), 2),
]  # fmt: skip


@pytest.mark.parametrize(("unit", "keys", "statistic", "bound"), REACHED)
def test_each_bound_is_reached(url, unit, keys, statistic, bound):
    """The claimed sensitivity is the true one on this engine too."""
    schema = Schema(COLUMNS, unit=unit)
    plan = make_plan(ask.Query().group_by(*keys).select(statistic), schema, Epsilon(1))
    types = {"low": "double precision", "full": "text", "g": "text"}

    with World(url, types) as world:
        found = [
            finding
            for row in ROWS[::2]
            for finding in compare(plan, [row, ROWS[0]], ROWS, world.exact)
        ]

    assert all(f.holds for f in found)
    assert max(f.change for f in found if f.aggregate is not None) == bound
    assert max(f.change for f in found if f.aggregate is None) == 1


def wide(unit):
    """Return a schema with a column of every kind."""
    return Schema(
        {
            "x": Real(-10, 5, step=1, missing=3),
            "n": Integer(0, 9),
            "day": Date("2000-01-01", "2030-12-31"),
            "flag": Boolean(),
            "g": Category(["a", 2, "é"]),
            'odd "name"': Real(0, 1),
        },
        unit=unit,
    )


@pytest.mark.parametrize(
    "unit",
    [ADD, REPLACE, Unit("who", max_rows=2, max_groups=2)],
    ids=["rows", "replaced", "people"],
)
def test_the_public_oracle_runs_on_this_engine(url, unit):
    """`audit.sensitivity` with `on_postgres`: tight, not violated, and nothing is left."""
    query = (
        ask.Query().group_by("g").select(ask.count(), ask.mean("x"), ask.mean("day"))
    )

    with on_postgres(url) as exact:
        found = sensitivity(
            query, wide(unit), exact=exact, typed=True, tables=6, pool=2
        )

    assert not found.violated and not found.failures and found.pairs > 5
    with psycopg.connect(url) as db:
        left = db.execute("SELECT to_regclass('sfumato_audit')").fetchone()
    assert left == (None,)


def test_the_public_oracle_touches_no_table_of_others(url):
    """A table of that name is left alone."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE TABLE mine (x int)")
        db.execute("INSERT INTO mine VALUES (7)")
        with pytest.raises(psycopg.Error), on_postgres(url, table="mine") as exact:
            sensitivity(ask.Query().select(ask.count()), wide(ADD), exact=exact, typed=True)  # fmt: skip

        assert db.execute("SELECT x FROM mine").fetchall() == [(7,)]
