"""Computed values are the same integers on every engine, and no cell can make one raise."""

import adversary as a
import formulas as f
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.expr import col
from sfumato.declare.query import Query, count, histogram
from sfumato.declare.schema import Category, Integer, Real, Schema
from sfumato.engine.source import Source
from sfumato.plan import make_plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for files that examples overwrite."""
    return tmp_path_factory.mktemp("tables")


@settings(max_examples=a.times(60), deadline=None, suppress_health_check=f.SLOW)
@given(f.plans(), a.tables())
def test_any_python_objects(plan, rows):
    """Random expressions over cells of any kind, row by row and as a pandas table."""
    expected = a.expected(plan, rows)

    assert a.answer(plan, rows) == expected
    frame = pd.DataFrame(
        {n: pd.Series(v, dtype=object) for n, v in a.columns(rows).items()}
    )
    assert a.answer(plan, frame) == expected


@settings(max_examples=a.times(12), deadline=None, suppress_health_check=f.SLOW)
@given(
    f.plans(), a.tables(st.none() | a.FLOATS, st.none() | a.TEXTS, st.none() | st.booleans())
)  # fmt: skip
def test_typed_frames_and_files(folder, plan, rows):
    """Floats, texts and truth values as Arrow, polars and Parquet hold them."""
    import pyarrow as pa

    types = dict.fromkeys(a.NUMBERS, pa.float64()) | dict.fromkeys(a.KEYS, pa.string()) | {a.FLAG: pa.bool_()}  # fmt: skip
    expected = a.expected(plan, rows)
    table = a.typed_arrow(rows, types)

    assert a.answer(plan, table) == expected
    assert a.answer(plan, a.to_polars(table)) == expected
    assert a.answer(plan, a.write_parquet(folder / "t.parquet", table)) == expected


def test_planted_faults_are_seen(monkeypatch):
    """Without settling, or with texts coded in another order, the integers differ."""
    schema = Schema({"x": Real(-9, 9, step=1), "g": Category(["b", "a", " a"])})
    query = (
        Query()
        .derive("d", col("x") * col("x") / (col("x") * col("x")), Integer(0, 9))
        .derive("h", col("g").strip())
    )
    plan = make_plan(query.select(count("d"), histogram("h")), schema, 1)
    rows = [{"x": 1e308, "g": " a"}, {"x": 1e-308, "g": "b"}, {"x": 2.0, "g": "a"}]
    expected = a.expected(plan, rows)
    assert a.answer(plan, rows) == expected == ((2,), (1, 2))

    with monkeypatch.context() as patch:
        patch.setattr(Source, "_settled", lambda self, x, uses: self.bind(x, uses))
        assert a.answer(plan, rows) != expected
    with monkeypatch.context() as patch:
        patch.setattr(Source, "_any", lambda self, slot, places: f"{slot.sql} >= 0")
        assert a.answer(plan, rows) != expected
