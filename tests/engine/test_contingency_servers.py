"""PostgreSQL and Spark count contingency tables as plain Python does: rows and people."""

import datetime as dt
import warnings

import pytest
import sparks
from cluster import running
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.declare.calendar import Date
from sfumato.declare.dataset import Dataset, Postgres
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.contingency import count_tables
from sfumato.engine.load import open_engine
from sfumato.engine.tally import count_rows
from sfumato.plan.contingency import Coding, TableQuery

CODES = [f"K{i}" for i in range(80)]
COLUMNS = {
    "x": Real(0, 10, step=0.5, missing=9),
    "n": Integer(-3, 12),
    "key": Category(["a", "A", 2, "é"]),
    "code": Category(CODES),
    "flag": Boolean(),
    "day": Date("2020-01-01", "2020-12-31"),
}
CODINGS = (
    Coding("x", count=4, missing=3, edges=(0, 3, 10)),
    Coding("n", count=3, missing=1, edges=(-3, 0, 4)),
    Coding("key", count=3, missing=2, places=(0, 1, 1, 0)),
    Coding("code", count=81, missing=80, places=tuple(range(80))),
    Coding("flag", count=3, missing=2, places=(0, 1)),
    Coding("day", count=3, missing=2, edges=(18262, 18400)),
)
SETS = ((0,), (3,), (5,), (0, 1), (2, 4), (5, 0), (0, 1, 2), (1, 2, 4, 5))
ROW = st.fixed_dictionaries(
    {
        "x": st.sampled_from([None, float("nan"), float("inf"), -1.0, 0.25, 4.9, 9.0]),
        "n": st.sampled_from([None, -(2**63), -9, 0, 3, 4, 2**63 - 1]),
        "key": st.sampled_from([None, "a", "A", "2", "2.0", "é", "e\u0301", ""]),
        "code": st.sampled_from([None, "K0", "K79", "K80", "k1"]),
        "flag": st.sampled_from([None, True, False]),
        "day": st.sampled_from(
            [None, dt.date(1, 1, 1), dt.date(2020, 5, 18), dt.date(9999, 12, 31)]
        ),
        "who": st.sampled_from([None, "", "a", "b", "7", "7.0", "é"]),
    }
)
UNIT = st.sampled_from(
    [Rows(), Unit("who", max_rows=2, max_groups=1),
     Unit("who", max_rows=3, max_groups=1, missing=("b",))]
)  # fmt: skip
KINDS = {
    "x": "double precision", "n": "bigint", "key": "text", "code": "text",
    "flag": "boolean", "day": "date", "who": "text",
}  # fmt: skip


def agree(source, rows, unit):
    """Compare one table with the specification."""
    query = TableQuery(Schema(COLUMNS, unit), CODINGS, SETS)

    with open_engine(Dataset(source, schema=query.schema, name="t")) as engine:
        found = count_tables(engine, query).unseal()

    for told, right in zip(found, count_rows(rows, query).unseal(), strict=True):
        assert told.tolist() == right.tolist()


@pytest.fixture(scope="module")
def server():
    """A private server for this module."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url, psycopg.connect(url, autocommit=True) as db:
        columns = ", ".join(f"{n} {kind}" for n, kind in KINDS.items())
        db.execute(f"CREATE TABLE visits ({columns})")
        yield url, db


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(ROW, max_size=10), unit=UNIT)
def test_postgresql_counts_as_plain_python_does(server, rows, unit):
    """Any cells, rows or people as units."""
    url, db = server
    db.execute("TRUNCATE visits")
    marks = ", ".join(f"%s::{kind}" for kind in KINDS.values())
    with db.cursor() as cursor:
        if rows:
            cursor.executemany(
                f"INSERT INTO visits VALUES ({marks})",
                [[row[n] for n in KINDS] for row in rows],
            )

    agree(Postgres(url, "visits"), rows, unit)


def frame(session, rows):
    """Return a Spark frame of these rows."""
    kinds = {"double precision": "double", "text": "string"}
    schema = ", ".join(f"{n} {kinds.get(kind, kind)}" for n, kind in KINDS.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return session.createDataFrame(
            [tuple(row[n] for n in KINDS) for row in rows], schema
        )


@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(ROW, max_size=10), unit=UNIT)
def test_spark_connect_counts_as_plain_python_does(rows, unit):
    """Through Sail, which speaks Spark's protocol and dialect."""
    agree(frame(sparks.sail(), rows), rows, unit)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(ROW, max_size=10), unit=UNIT)
def test_spark_itself_counts_as_plain_python_does(rows, unit):
    """A few of the same tables on Spark, which needs Java."""
    agree(frame(sparks.spark(), rows), rows, unit)
