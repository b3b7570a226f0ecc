"""Computed values are the same integers on every engine, and no cell can make one raise."""

import adversary as a
import formulas as f
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


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
