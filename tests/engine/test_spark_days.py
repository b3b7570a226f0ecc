"""Days and moments in Spark's dialect are the days of the specification."""

import datetime as dt
import warnings

import adversary as a
import days
import pytest
import sparks
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.dataset import Dataset
from sfumato.engine.load import open_engine

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

WIDE = st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 28))
ZONES = st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=14)), dt.timezone(-dt.timedelta(hours=12))])  # fmt: skip
EDGES = st.sampled_from([
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1970, 1, 1), dt.datetime(2000, 2, 29),
    dt.datetime(1999, 12, 31, 23, 59, 59), dt.datetime(1900, 3, 1), dt.datetime(1582, 10, 10),
])  # fmt: skip
CELLS = {
    "date": days.DAYS,
    "timestamp_ntz": EDGES | WIDE,
    "timestamp": st.builds(
        lambda moment, zone: moment.replace(tzinfo=zone), EDGES | WIDE, ZONES
    ),
}


@pytest.fixture(scope="module")
def sail():
    """The fast stand-in for Spark."""
    return sparks.sail()


@pytest.fixture(scope="module")
def spark():
    """Spark itself."""
    return sparks.spark()


def agree(session, data, plan):
    """Compare one table of one type."""
    kind = data.draw(st.sampled_from(sorted(CELLS)))
    rows = data.draw(st.lists(days.row(st.none() | CELLS[kind]), max_size=6))
    cells = [tuple(row[n] for n in "dek") for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = session.createDataFrame(cells, f"d {kind}, e {kind}, k string")
    engine = open_engine(Dataset(frame, schema=plan.table, name="t"))

    assert engine.run(plan).unseal() == a.expected(plan, rows)


@settings(max_examples=a.times(25), deadline=None)
@given(st.data(), days.plans())
def test_days_on_sail(sail, data, plan):
    """Whatever the session's zone is, a moment with a zone is its day in UTC."""
    sail.conf.set("spark.sql.session.timeZone", data.draw(st.sampled_from(["UTC", "Asia/Tokyo", "America/New_York"])))  # fmt: skip

    agree(sail, data, plan)


@settings(max_examples=a.times(3), deadline=None)
@given(st.data(), days.plans())
def test_days_on_spark(spark, data, plan):
    """The same on Spark."""
    agree(spark, data, plan)
