"""Every loader and the database return the integers of the specification."""

import math

import adversary as a
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

MAYBE_FLOAT = st.one_of(st.none(), a.FLOATS)
MAYBE_TEXT = st.one_of(st.none(), a.TEXTS)
MAYBE_BOOL = st.one_of(st.none(), st.booleans())
FLOAT_TYPES = dict.fromkeys(a.NUMBERS, pa.float64()) | {
    a.KEYS[0]: pa.string(), a.KEYS[1]: pa.large_string(), a.FLAG: pa.bool_(),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for files that examples overwrite."""
    return tmp_path_factory.mktemp("tables")


@settings(max_examples=a.times(60), deadline=None)
@given(a.plans(), a.tables())
def test_any_python_objects(plan, rows):
    """Cells of any kind, row by row and as a pandas table of objects."""
    expected = a.expected(plan, rows)

    assert a.answer(plan, rows) == expected
    frame = pd.DataFrame(
        {n: pd.Series(v, dtype=object) for n, v in a.columns(rows).items()}
    )
    assert a.answer(plan, frame) == expected


@settings(max_examples=a.times(12), deadline=None)
@given(a.plans(), a.tables(MAYBE_FLOAT, MAYBE_TEXT, MAYBE_BOOL))
def test_typed_frames_and_files(folder, plan, rows):
    """Floats, texts and truth values through every library and Parquet."""
    expected = a.expected(plan, rows)
    table = a.typed_arrow(rows, FLOAT_TYPES)

    assert a.answer(plan, table) == expected
    assert a.answer(plan, a.to_polars(table)) == expected
    assert a.answer(plan, a.to_polars(table).lazy()) == expected
    assert a.answer(plan, table.to_pandas()) == expected
    assert a.answer(plan, table.to_pandas(types_mapper=pd.ArrowDtype)) == expected
    assert a.answer(plan, a.write_parquet(folder / "t.parquet", table)) == expected


@settings(max_examples=a.times(12), deadline=None)
@given(a.plans(), a.tables(st.one_of(st.none(), a.NUMERALS), MAYBE_TEXT, MAYBE_TEXT))
def test_text_tables_and_csv(folder, plan, rows):
    """Everything as text, in text columns and in a CSV file."""
    types = dict.fromkeys(a.NAMES, pa.string())
    table = a.typed_arrow(rows, types)
    expected = a.expected(plan, rows)

    assert a.answer(plan, table) == expected
    assert a.answer(plan, a.to_polars(table)) == expected
    assert a.answer(plan, table.to_pandas()) == expected
    assert a.answer(plan, table.to_pandas().convert_dtypes()) == expected
    assert a.answer(plan, table.to_pandas().astype("category")) == expected
    assert a.answer(plan, a.write_parquet(folder / "s.parquet", table)) == expected
    # The empty cell of a text file is missing; in a frame it is a text.
    filled = [{n: v or None for n, v in row.items()} for row in rows]
    assert a.answer(plan, a.write_csv(folder / "s.csv", filled)) == a.expected(
        plan, filled
    )


WHOLE = [
    (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    (pa.uint8(), st.integers(0, 2**8 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), st.one_of(a.INTEGERS, st.integers(-(2**63), 2**63 - 1))),
    (pa.uint64(), st.one_of(st.integers(0, 12), st.sampled_from([2**64 - 1, 2**62]))),
    (pa.float32(), st.one_of(st.sampled_from([math.inf, -math.inf, math.nan, 2.5, -0.0]), st.floats(width=32))),
    (pa.decimal128(9, 2), st.decimals(-12, 12, places=2)),
    (pa.decimal128(38, 4), st.decimals(-(10**30), 10**30, places=4)),
    (pa.decimal256(50, 1), st.decimals(-(10**40), 10**40, places=1)),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "cells"), WHOLE, ids=lambda v: str(v)[:16])
@settings(max_examples=a.times(4), deadline=None)
@given(data=st.data(), plan=a.plans())
def test_machine_numbers(folder, kind, cells, data, plan):
    """Each machine type as numbers, keys and truth values alike."""
    maybe = st.one_of(st.none(), cells)
    rows = data.draw(a.tables(maybe, maybe, maybe))
    table = a.typed_arrow(rows, dict.fromkeys(a.NAMES, kind))
    expected = a.expected(plan, rows)

    assert a.answer(plan, table) == expected
    if not pa.types.is_decimal256(
        kind
    ):  # polars lacks it, and Parquet readers refuse it
        assert a.answer(plan, a.write_parquet(folder / "n.parquet", table)) == expected
        assert a.answer(plan, a.to_polars(table)) == expected
    if not pa.types.is_decimal(kind):
        # By default pandas makes floats of integers beside nulls, and loses digits.
        frame = table.to_pandas(integer_object_nulls=True)
        assert a.answer(plan, frame) == expected
        assert a.answer(plan, table.to_pandas(types_mapper=pd.ArrowDtype)) == expected


@settings(max_examples=a.times(10), deadline=None)
@given(a.plans(), a.tables(MAYBE_FLOAT, MAYBE_TEXT, MAYBE_BOOL), st.randoms())
def test_the_order_of_rows_is_immaterial(plan, rows, random):
    """Any permutation gives the same integers."""
    shuffled = list(rows)
    random.shuffle(shuffled)

    assert a.answer(plan, shuffled) == a.answer(plan, rows)


def test_polars_types_that_do_not_stream():
    """Categorical, Enum, Int128 and Object columns of polars."""
    rows = [{"x": 2**100, "g": "a"}, {"x": 3, "g": "b"}, {"x": None, "g": None}]
    from sfumato.declare.query import Query, count, histogram, sum  # noqa: A004
    from sfumato.declare.schema import Category, Real, Schema
    from sfumato.plan import make_plan

    schema = Schema({"g": Category(["b", "a"]), "x": Real(0, 10, step=1)})
    plan = make_plan(Query().select(count(), sum("x"), histogram("g")), schema, 1)
    expected = a.expected(plan, rows)
    cells = [r["x"] for r in rows]
    texts = [r["g"] for r in rows]
    for wide in (pl.Series(cells, dtype=pl.Int128), pl.Series(cells, dtype=pl.Object)):
        for kind in (pl.Categorical, pl.Enum(["a", "b", "c"]), pl.Object):
            frame = pl.DataFrame({"x": wide, "g": pl.Series(texts, dtype=kind)})
            assert a.answer(plan, frame) == expected
