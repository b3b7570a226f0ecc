"""Days, moments and questions about them as an adversary would choose them."""

import datetime as dt

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from sfumato.declare import query as ask
from sfumato.declare.calendar import Date
from sfumato.declare.expr import col
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.plan import make_plan

DAYS = st.one_of(
    st.dates(),
    st.dates(dt.date(1999, 12, 1), dt.date(2031, 1, 31)),
    st.sampled_from([dt.date.min, dt.date.max, dt.date(2000, 2, 29), dt.date(1900, 3, 1),
                     dt.date(1970, 1, 1), dt.date(1969, 12, 31)]),
)  # fmt: skip
MOMENTS = st.one_of(
    st.datetimes(),
    st.datetimes(timezones=st.sampled_from(
        [dt.UTC, dt.timezone(dt.timedelta(hours=14)), dt.timezone(-dt.timedelta(hours=12))]
    )),
)  # fmt: skip
TEXTS = st.one_of(
    DAYS.map(str),
    st.sampled_from(["2024-02-30", "2023-02-29", "1900-02-29", "2000-02-29", "2024-13-01", "2024-00-01",
                     "2024-01-00", "2024-01-32", "0000-01-01", "10000-01-01", "", " 2024-03-01\t",
                     "2024-03-01T23:59:59.999", "2024-03-01 00:00", "2024-03-01Z", "2024-3-1",
                     "２024-01-01", "2024-03-01 00:00:00+00", "infinity", "now", "20240301",
                     "2024-03-01 ", "-2024-03-01", "2024-03-01x", "2024-04-31", "9999-12-31"]),
    st.text("0123456789-T: ", max_size=12),
)  # fmt: skip
ODD = st.sampled_from([None, pd.NaT, pd.Timestamp(0), 19783, 19783.0, True, "n/a", b"x",
                       np.datetime64("NaT"), np.datetime64(7, "ns"), np.datetime64("2024-03-01"),
                       dt.time(3), dt.timedelta(3), pd.Timestamp("2024-03-01T23:30", tz="America/New_York")])  # fmt: skip


@st.composite
def plans(draw):
    """Questions about days, their parts and the time between them."""
    first, last = sorted([draw(DAYS), draw(DAYS)])
    if first == last or first.year == last.year:
        first, last = dt.date(2000, 1, 1), dt.date(2030, 12, 31)
    codes = draw(st.sampled_from([(), ("1970-01-01",), (dt.date(2000, 2, 29), "1900-03-01")]))  # fmt: skip
    schema = Schema({
        "d": Date(first, last, missing=codes), "e": Date("1990-01-01", "2030-01-01"),
        "k": Category(["2024-03-01", "x", "2024-02-30"]),
    })  # fmt: skip
    part = draw(st.sampled_from(["year", "month", "day", "weekday"]))
    source = draw(st.sampled_from([col("d"), col("e"), col("k").to_date()]))
    keys = range(2000, 2031) if part == "year" else range(1, 32)
    query = (
        ask.Query()
        .derive("p", getattr(source, part)(), Category(keys))
        .derive("stay", col("e") - col("d"), Integer(-400, 4000))
        .derive("f", col("k").to_date(), Date("2000-01-01", "2030-01-01"))
        .derive("again", col("f").month(), Integer(1, 12))
    )
    if draw(st.booleans()):
        query = query.where(draw(st.sampled_from([
            col("d") >= "2000-03-01", col("d") == dt.date(2000, 2, 29), col("d").is_in(["1970-01-01", "2024-03-01"]),
            col("d") < col("e"), col("d").is_missing(), (col("e") - col("d")) > 3,
            col("k").to_date() != "2024-03-01", col("f").is_in(["2024-03-01"]), ~(col("f") > col("d")),
        ])))  # fmt: skip
    if draw(st.booleans()):
        query = query.group_by("p")
    asked = [ask.count("d"), ask.mean("d"), ask.median("e"), ask.mean("stay"), ask.histogram("p"), ask.mean("again")]  # fmt: skip
    return make_plan(query.select(*asked), schema, 1)


def row(days):
    """A row whose days are of one kind."""
    return st.fixed_dictionaries({"d": days, "e": days, "k": st.sampled_from([None, "x", "2024-03-01", "2024-02-30"])})  # fmt: skip
