"""Columns of days: one reading for every source, no database's calendar, no error."""

import datetime as dt

import adversary as a
import days as d
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare import query as ask
from sfumato.declare.calendar import Date, day_number, day_of_text
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Schema
from sfumato.engine.cell import day
from sfumato.errors import DeclarationError, SourceError
from sfumato.plan import make_plan


@settings(max_examples=a.times(60), deadline=None)
@given(
    d.plans(), st.lists(d.row(st.one_of(d.DAYS, d.MOMENTS, d.TEXTS, d.ODD)), max_size=8)
)
def test_any_python_objects(plan, rows):
    """Days, moments, texts and oddities, row by row and as a pandas table of objects."""
    expected = a.expected(plan, rows)

    assert a.answer(plan, rows) == expected
    frame = pd.DataFrame({n: pd.Series([r[n] for r in rows], dtype=object) for n in "dek"})  # fmt: skip
    assert a.answer(plan, frame) == expected


KINDS = [
    (pa.date32(), d.DAYS),
    (pa.timestamp("s"), st.datetimes()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("ns"), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2260, 1, 1))),
    (pa.timestamp("us", tz="UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    (pa.string(), d.TEXTS),
    (pa.null(), st.none()),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "cells"), KINDS, ids=lambda v: str(v)[:16])
@settings(max_examples=a.times(8), deadline=None)
@given(data=st.data(), plan=d.plans())
def test_typed_tables(tmp_path_factory, kind, cells, data, plan):
    """Every storage of days gives the integers of the specification."""
    rows = data.draw(st.lists(d.row(st.none() | cells), max_size=6))
    types = {"d": kind, "e": kind, "k": pa.string()}
    table = pa.table({n: pa.array([r[n] for r in rows], t) for n, t in types.items()})
    expected = a.expected(plan, rows)
    file = tmp_path_factory.mktemp("days") / "d.parquet"
    pq.write_table(table, file)

    assert a.answer(plan, table) == expected
    assert a.answer(plan, pl.from_arrow(table)) == expected
    assert a.answer(plan, file) == expected
    if kind not in (pa.null(), pa.date32(), pa.string(), pa.timestamp("s")):
        assert a.answer(plan, table.to_pandas()) == expected


def test_text_files(tmp_path):
    """A CSV file is read by the same rule."""
    rows = [{"d": t, "e": "2024-03-01", "k": "x"} for t in ("2024-02-29", "2024-02-30", "", "9999-12-31")]  # fmt: skip
    (tmp_path / "d.csv").write_text("d,e,k\n" + "".join(f"{r['d']},{r['e']},{r['k']}\n" for r in rows))  # fmt: skip
    schema = Schema({"d": Date("2000-01-01", "2030-12-31"), "e": Date("2000-01-01", "2030-12-31"), "k": Category(["x"])})  # fmt: skip
    query = ask.Query().derive("y", col("d").year()).group_by("y")
    plan = make_plan(query.select(ask.count(), ask.median("d")), schema, 1)

    assert a.answer(plan, tmp_path / "d.csv") == a.expected(plan, rows)


@given(d.DAYS)
def test_a_text_is_the_day_that_it_names(one):
    """Day numbers are those of Python's calendar."""
    assert day_of_text(str(one)) == day_number(one) == day(one)


@pytest.mark.parametrize(
    "source",
    [pa.table({"d": [1.0]}), pa.table({"d": [1]}), pl.DataFrame({"d": [1]}),
     pd.DataFrame({"d": [1]}), pd.DataFrame({"d": [True]}), pa.table({"d": [dt.time(1)]}),
     pd.DataFrame({"d": pd.to_timedelta([1], unit="D")}), pd.DataFrame({"d": [1]}, dtype="Int64")],
    ids=lambda s: type(s).__module__,
)  # fmt: skip
def test_numbers_are_no_days(source):
    """20240301 and 45352 could be many days: a typed column of them is refused."""
    plan = make_plan(ask.Query().select(ask.count("d")), Schema({"d": Date("2000-01-01", "2030-01-01")}), 1)  # fmt: skip

    with pytest.raises(SourceError, match="column 'd' is stored as"):
        a.answer(plan, source)


def test_wrong_declarations_and_questions():
    """Bounds, constants and statistics that are no days are refused."""
    for wrong in (("2024-02-30", "2025-01-01"), (None, "2025-01-01"), (1, 2), ("2025-01-01", "2024-01-01"), (dt.datetime(2024, 1, 1), "2025-01-01")):  # fmt: skip
        with pytest.raises(DeclarationError):
            Date(*wrong)
    schema = Schema({"d": Date("2000-01-01", "2030-01-01"), "b": Boolean()})
    for query in (
        ask.Query().select(ask.sum("d")),
        ask.Query().where(col("d") > 3).select(ask.count()),
        ask.Query().where(col("d") == "2024-02-30").select(ask.count()),
        ask.Query().where((col("d") - col("d")).year() > 3).select(ask.count()),
        ask.Query().derive("x", col("d") + 1, Integer(0, 1)).select(ask.count()),
        ask.Query().derive("x", col("d") - 1, Integer(0, 1)).select(ask.count()),
        ask.Query().derive("x", col("d")).select(ask.count()),
        ask.Query().derive("x", col("d"), Integer(0, 1)).select(ask.count()),
        ask.Query()
        .derive("x", 3, Date("2000-01-01", "2030-01-01"))
        .select(ask.count()),
    ):
        with pytest.raises(DeclarationError):
            make_plan(query, schema, 1)
