"""People and text keys on PostgreSQL, Sail and Spark: the integers of the specification."""

from __future__ import annotations

import warnings
from decimal import Decimal

import adversary as a
import numpy as np
import pytest
import sparks
from cluster import running
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.audit.sensitivity import compare
from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset, Postgres
from sfumato.declare.expr import col
from sfumato.declare.schema import Category, Integer, Schema, Text
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.plan import make_plan

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

UNKNOWN, SURE = Epsilon("1", "1e-6"), Epsilon("1")
UNITS = [
    Unit("who", max_rows=2, max_groups=2), Unit("who", max_rows=1, max_groups=1, missing="x"),
    Unit("who", max_rows=3, max_groups=5), Rows(),
]  # fmt: skip
ALL = ask.Query().select(
    ask.people(), ask.count(), ask.sum("x"), ask.variance("x"), ask.histogram("x", [0, 3, 9]),
    ask.median("x"), ask.proportion("g", "a"), ask.histogram("g"),
)  # fmt: skip
QUESTIONS = [
    (ALL.group_by("city"), UNKNOWN),
    (ALL.group_by("g", "city"), UNKNOWN),
    (ALL.group_by("city").where((col("x") > 1) & (col("city") != "é")), UNKNOWN),
    (
        ALL.group_by("g").where(
            col("city").starts_with("e") | ~col("city").starts_with("O'B")
        ),
        SURE,
    ),
    (
        ALL.group_by("g").where(
            ~col("city").starts_with("7") & ~col("city").starts_with("")
        ),
        SURE,
    ),
    (ALL.group_by("city", keys=["r", "é", "7", "O'Brien\\"]), SURE),
    (ALL.group_by("city", "g", keys=[("r", "a"), ("", "b")], other="rest"), SURE),
    (ALL.group_by("g"), SURE),
    (ALL, SURE),
]
CITIES = st.sampled_from(["r", "s", "R", "é", "e\u0301", "", " r", "7", "7.0", "O'Brien\\", "張", "far too long", None])  # fmt: skip
IDS = {
    "text": st.sampled_from(
        ["1", "1.0", "2", "x", "é", "", None, "O'B", "M\ufffdr", "\ufffd"]
    ),
    "bigint": st.sampled_from([1, 2, 2**53 + 1, -(2**63), None]),
    "double": st.sampled_from([1.0, 2.0, 0.5, 2.0**53, -3.0, None]),
    "real": st.sampled_from(
        [*map(np.float32, (1, 0.5, 2**24, -(2**24), 2**24 - 1)), None]
    ),
    "boolean": st.sampled_from([True, False, None]),
}
PLANS = st.builds(
    lambda unit, asked: make_plan(
        asked[0],
        Schema({"city": Text(longest=8), "g": Category(["a", "b"]), "x": Integer(0, 9)}, unit=unit),
        asked[1],
    ),
    st.sampled_from(UNITS),
    st.sampled_from(QUESTIONS),
)  # fmt: skip


@st.composite
def tables(draw):
    """Return the type of the identifiers and a few rows."""
    kind = draw(st.sampled_from(sorted(IDS)))
    row = st.fixed_dictionaries({
        "who": IDS[kind], "city": CITIES, "g": st.sampled_from(["a", "b", "c", None]),
        "x": st.sampled_from([0, 3, 9, 99, -1, None]),
    })  # fmt: skip
    return kind, draw(st.lists(row, max_size=10))


def written(rows):
    """Return the cells of each row, as drivers take them."""
    names = ("who", "city", "g", "x")
    for row in rows:
        yield [float(c) if isinstance(c, np.floating) else c for c in map(row.get, names)]  # fmt: skip


def answer(plan, source):
    """Return the integers of a source."""
    return open_engine(Dataset(source, schema=plan.table, name="t")).run(plan)


class InPostgres:
    """A server whose one table is exchanged."""

    def __init__(self, url):
        import psycopg

        self.url, self.db = url, psycopg.connect(url, autocommit=True)

    def exact(self, plan, rows, kind):
        """Return what the database says of the rows."""
        kind = {"double": "double precision"}.get(kind, kind)
        self.db.execute(
            "DROP TABLE IF EXISTS t; "
            f"CREATE TABLE t (who {kind}, city text, g varchar(9), x numeric)".encode()
        )
        for cells in written(rows):
            self.db.execute(
                f"INSERT INTO t VALUES (%s::{kind}, %s, %s, %s)".encode(), cells
            )
        return answer(plan, Postgres(self.url, "t"))


class InSpark:
    """A session of Spark's dialect."""

    def __init__(self, session):
        self.session = session

    def exact(self, plan, rows, kind):
        """Return what the cluster says of the rows."""
        kind = {"text": "string", "real": "float", "numeric": "decimal(38,1)"}.get(
            kind, kind
        )
        cells = [*map(tuple, written(rows))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = self.session.createDataFrame(
                cells, f"who {kind}, city string, g string, x int"
            )
        return answer(plan, frame)


@pytest.fixture(scope="module")
def postgres():
    """A private server for this module."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url:
        one = InPostgres(url)
        yield one
        one.db.close()


@pytest.fixture(scope="module")
def sail():
    """The fast stand-in for Spark."""
    return InSpark(sparks.sail())


@pytest.fixture(scope="module")
def spark():
    """Spark itself."""
    return InSpark(sparks.spark())


def agree(engine, plan, table):
    """Compare with the reference."""
    kind, rows = table

    assert engine.exact(plan, rows, kind).unseal() == ReferenceEngine(rows).run(plan).unseal()  # fmt: skip


@settings(max_examples=a.times(25), deadline=None)
@given(PLANS, tables())
def test_people_and_text_keys_on_postgres(postgres, plan, table) -> None:
    """Bounds, weights, chosen groups and texts, for identifiers of every type."""
    agree(postgres, plan, table)


@settings(max_examples=a.times(12), deadline=None)
@given(PLANS, tables())
def test_people_and_text_keys_on_sail(sail, plan, table) -> None:
    """The same in Spark's dialect."""
    agree(sail, plan, table)


@settings(max_examples=a.times(2), deadline=None)
@given(PLANS, tables())
def test_people_and_text_keys_on_spark(spark, plan, table) -> None:
    """The same on Spark."""
    agree(spark, plan, table)


KNOWN = PLANS.filter(lambda plan: plan.selecting is None)


@settings(max_examples=a.times(5), deadline=None)
@given(KNOWN, tables())
def test_no_person_moves_a_step_beyond_its_claim_on_postgres(postgres, plan, table):
    """The sensitivity oracle, over every person of random tables."""
    kind, rows = table
    for finding in compare(plan, rows, (), lambda p, r: postgres.exact(p, r, kind)):
        assert finding.holds, finding


@settings(max_examples=a.times(3), deadline=None)
@given(KNOWN, tables())
def test_no_person_moves_a_step_beyond_its_claim_on_sail(sail, plan, table):
    """The same in Spark's dialect."""
    kind, rows = table
    for finding in compare(plan, rows, (), lambda p, r: sail.exact(p, r, kind)):
        assert finding.holds, finding


MERGED = {
    "text": ["M\ufffdr", "\ufffd", "x\ufffd", "x", "x", "y"],
    "real": [*map(np.float32, (2**24, 2**24 + 2, -(2**24), 3, 3, 4))],
    "double": [2.0**53, -(2.0**53), 0.5, 3.0, 3.0, 4.0],
    "numeric": [
        *map(Decimal, (10**36, 10**36 + 1, 10**36 + 1)),
        Decimal("0.5"),
        None,
        None,
    ],
}


@pytest.mark.parametrize("engine", ["postgres", "sail", pytest.param("spark", marks=pytest.mark.slow)])  # fmt: skip
@pytest.mark.parametrize("kind", MERGED)
def test_merged_identifiers_are_nobody_in_databases(request, engine, kind):
    """Floats of 32 bits from 2^24 on, texts that hold U+FFFD: of six rows, two people."""
    held = request.getfixturevalue(engine)
    schema = Schema({"x": Integer(0, 9), "city": Text(longest=8), "g": Category(["a"])}, unit=Unit("who", max_rows=2, max_groups=1))  # fmt: skip
    plan = make_plan(ask.Query().select(ask.people(), ask.sum("x")), schema, SURE)
    rows = [{"who": who, "city": "r", "g": "a", "x": 3} for who in MERGED[kind]]

    assert held.exact(plan, rows, kind).unseal()[0] == (2 << 20,)
    agree(held, plan, (kind, rows))
