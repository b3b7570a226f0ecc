"""Opening a dataset: what is refused, when, and in which words."""

import math
import tempfile
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.declare.dataset import Dataset
from sfumato.declare.query import Query, count, histogram, mean
from sfumato.declare.query import sum as total
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine import storage
from sfumato.engine.inspect import owner_inspection
from sfumato.engine.load import open_engine
from sfumato.errors import DeclarationError, EngineError, SourceError
from sfumato.plan import make_plan

SCHEMA = Schema({"x": Real(0, 10, step=1), "g": Category(["a", "b"])})


def integers(source, *statistics, schema=SCHEMA, by=()):
    """Return the exact integers of one question."""
    plan = make_plan(Query().group_by(*by).select(*statistics), schema, 1)
    with open_engine(Dataset(source, schema=schema, name="t")) as engine:
        return engine.run(plan).unseal()


def refusal(source, schema=SCHEMA):
    """Return the text of the refusal to open a source."""
    with pytest.raises(SourceError) as error:
        open_engine(Dataset(source, schema=schema, name="t"))
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return str(error.value)


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("write", ["pyarrow", "polars", "float32", "one value"])
def test_nan_hidden_by_parquet_statistics(write, copied, tmp_path, monkeypatch):
    """Statistics of a Parquet file leave NaN out; the scan must not trust them."""
    if not copied:
        monkeypatch.setattr(storage, "_SMALL", 0)
    cells = (
        [1.0, 2.0, math.nan, 3.0] * 3 if write != "one value" else [1.0, math.nan] * 6
    )
    schema = Schema({"x": Real(0, 4, step=1), "k": Category([1, 2, 3])})
    kind = pa.float32() if write == "float32" else pa.float64()
    table = pa.table({"x": pa.array(cells, kind), "k": pa.array(cells, kind)})
    file = tmp_path / "t.parquet"
    if write == "polars":
        pl.from_arrow(table).write_parquet(file)
    else:
        pq.write_table(table, file, row_group_size=4)

    asked = (
        count("x"),
        total("x"),
        count("k"),
        histogram("k"),
        histogram("x", [0, 2, 4]),
    )

    assert integers(file, *asked, schema=schema) == integers(
        table.to_pandas(), *asked, schema=schema
    )


def test_a_small_file_is_read_once(tmp_path, monkeypatch):
    """A file of few cells is not needed again; a large one is, and it alone."""
    file, other = tmp_path / "t.parquet", tmp_path / "other.parquet"
    for path in (file, other):
        pq.write_table(pa.table({"x": [1.0, 2.0], "g": ["a", "b"]}), path)
    plan = make_plan(Query().select(count(), total("x")), SCHEMA, 1)

    small = open_engine(Dataset(file, schema=SCHEMA))
    monkeypatch.setattr(storage, "_SMALL", 0)
    large = open_engine(Dataset(file, schema=SCHEMA))
    with pytest.raises(duckdb.Error):
        large.unprotected(f"SELECT * FROM read_parquet('{other}')")
    assert large.run(plan).unseal() == ((2,), (3,))
    file.unlink()

    assert small.run(plan).unseal() == ((2,), (3,))
    with pytest.raises(duckdb.Error):
        small.unprotected(f"SELECT * FROM read_parquet('{other}')")
    with pytest.raises(EngineError):
        large.run(plan)


def test_parquet_folder_and_pattern(tmp_path):
    """All files of a folder, or of a pattern, are one table."""
    for i in range(3):
        pq.write_table(
            pa.table({"x": [float(i)], "g": ["a"]}), tmp_path / f"p{i}.parquet"
        )

    for source in (tmp_path, str(tmp_path / "p*.parquet")):
        assert integers(source, count(), total("x")) == ((3,), (3,))


def test_parquet_files_must_agree(tmp_path):
    """Files of another layout are refused, not merged by guess."""
    pq.write_table(pa.table({"x": [1.0], "g": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"g": ["a"], "x": [1.0]}), tmp_path / "2.parquet")

    assert "have different columns" in refusal(tmp_path)


def test_parquet_beside_nested_columns(tmp_path):
    """Nested columns that nobody declared do not shift the others."""
    table = pa.table({
        "s": [{"x": 9.0, "g": "b"}], "l": [[1, 2]], "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "x": [4.0], "g": ["a"],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")

    assert integers(tmp_path / "t.parquet", total("x"), histogram("g")) == (
        (4,),
        (1, 0),
    )


def test_parquet_text_that_is_not_unicode(tmp_path):
    """Damage is found when the file is opened, before anything is spent."""
    cells = pa.array([b"a", b"\xff\xfe"], pa.binary())
    text = pa.StringArray.from_buffers(2, cells.buffers()[1], cells.buffers()[2])
    pq.write_table(pa.table({"x": [1.0, 2.0], "g": text}), tmp_path / "t.parquet")

    assert "damaged" in refusal(tmp_path / "t.parquet")


def test_arrow_text_that_is_not_unicode():
    """In an Arrow table such a cell is no key, and no error."""
    cells = pa.array([b"a", b"\xff\xfe", b"2.0\xff"], pa.binary())
    text = pa.StringArray.from_buffers(3, cells.buffers()[1], cells.buffers()[2])
    table = pa.table({"x": [1.0, 2.0, 3.0], "g": text})
    schema = Schema({"x": Real(0, 10, step=1), "g": Category(["a", "2"])})

    found = integers(table, count(), histogram("g"), by=("g",), schema=schema)

    assert found[0] == (1, 0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.xlsx", b"PK\x03\x04", "neither CSV nor Parquet"),
        ("t.csv", b"PK\x03\x04rest", "is not a text file"),
        ("t.csv", b"PAR1rest", "is not a text file"),
        ("t.csv", b"\x1f\x8b\x08", "is not a text file"),
        ("t.parquet", b"", "not readable Parquet"),
        ("t.parquet", b"PAR1" + bytes(100) + b"PAR1", "not readable Parquet"),
        ("t.parquet", b"x,g\n1,a\n", "not readable Parquet"),
        ("t", b"x,g\n1,a\n", "neither CSV nor Parquet"),
    ],
)
def test_files_of_another_kind(name, content, said, tmp_path):
    """A file that is not what it seems is refused in one line."""
    (tmp_path / name).write_bytes(content)

    assert said in refusal(tmp_path / name)


def test_paths_that_lead_nowhere(tmp_path):
    """No file, an empty folder, a pattern without a match, a name with a mark."""
    assert "there is no file" in refusal(tmp_path / "none.csv")
    assert "no Parquet files" in refusal(tmp_path)
    assert "no Parquet files" in refusal(str(tmp_path / "*.parquet"))
    assert "there is no file" in refusal("postgresql://host/base")
    pq.write_table(pa.table({"x": [1.0], "g": ["a"]}), tmp_path / "a[1].parquet")
    assert "contains *, ? or [" in refusal(tmp_path / "a[1].parquet")


@pytest.mark.parametrize("source", [42, None, [1], {"x": [1]}, np.zeros((2, 2))])
def test_objects_that_are_no_tables(source):
    """The refusal names the type and no content."""
    assert f"of type {type(source).__name__}" in refusal(source)


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.date32(), pa.timestamp("us"), pa.time64("us"), pa.duration("s"),
             pa.list_(pa.int64()), pa.struct([("a", pa.int64())])], ids=str,
)  # fmt: skip
def test_types_that_are_neither_numbers_nor_keys(kind, tmp_path):
    """Refused by type when opened, through every loader."""
    table = pa.table({"x": pa.array([None, None], kind), "g": ["a", "b"]})
    pq.write_table(table, tmp_path / "t.parquet")

    for source in (table, pl.from_arrow(table)):
        assert "column 'x' is stored as" in refusal(source)
    if not pa.types.is_duration(kind):  # Parquet has no such type and stores integers
        assert "column 'x' is stored as" in refusal(tmp_path / "t.parquet")
    assert "column 'x' is stored as" in refusal(
        table.to_pandas(types_mapper=pd.ArrowDtype)
    )


@pytest.mark.parametrize(
    "cells",
    [
        np.array([1 + 2j, 0]), pd.to_datetime(["2024-01-01", None]), pd.to_timedelta([1, 2]),
        pd.period_range("2024", periods=2, freq="D"), pd.interval_range(0, 2),
        pd.to_datetime(["2024-01-01", None]).tz_localize("UTC"),
    ],
    ids=lambda c: str(c.dtype),
)  # fmt: skip
def test_pandas_types_that_are_neither_numbers_nor_keys(cells):
    """Complex numbers, times and intervals are refused by type."""
    assert "column 'x' is stored as" in refusal(
        pd.DataFrame({"x": cells, "g": ["a", "b"]})
    )


@pytest.mark.parametrize(
    "cells",
    [
        np.array([1, 2, 3], dtype=">f8"), np.array([1, 2, 3], dtype=">i2"),
        np.array([1, 2, 3], dtype="f2"), np.array([1, 2, 3], dtype=np.longdouble),
        np.asfortranarray(np.array([[1.0, 9], [2, 9], [3, 9]]))[:, 0], np.arange(3.0, 0, -1),
        np.arange(6.0)[1:4], pd.array([1, 2, 3], dtype="Int8"),
        pd.array([1.0, 2, 3], dtype="Float32"), pd.arrays.SparseArray([1.0, 2, 3]),
        pd.Categorical([3, 1, 2]), pd.array(["1", "2", "3"], dtype="string"),
        [True, 2, "3"],
    ],
    ids=lambda c: str(getattr(c, "dtype", "object")),
)  # fmt: skip
def test_pandas_storage_of_numbers(cells):
    """Byte orders, widths, strides, masks, sparse, categories, text: the same sum."""
    frame = pd.DataFrame({"x": cells, "g": "a"})

    assert integers(frame, total("x"), count("x")) == ((6,), (3,))


def test_a_duplicated_name_is_refused():
    """It must be clear which column is meant; an undeclared pair does not matter."""
    frame = pd.DataFrame([[1.0, 2.0, "a"]], columns=["x", "x", "g"])
    other = pd.DataFrame([[1.0, "a", 0, 0]], columns=["x", "g", "y", "y"])

    assert "2 columns called 'x'" in refusal(frame)
    assert "2 columns called 'x'" in refusal(
        pa.table([[1.0], [2.0], ["a"]], names=["x", "x", "g"])
    )
    assert integers(other, count()) == ((1,),)


def test_a_missing_name_is_refused_with_the_nearest():
    """The hint names the nearest column of the table."""
    frame = pd.DataFrame({"X": [1.0], "g": ["a"], "glucose": [1.0]})

    assert "no column 'x'" in refusal(frame)
    schema = Schema({"Glucose": Real(0, 250)})
    assert "did you mean 'glucose'?" in refusal(frame, schema)


def test_a_lazy_frame_that_fails_is_refused():
    """An error of the owner's own computation is told without its words."""
    lazy = pl.LazyFrame({"x": ["secret"], "g": ["a"]}).with_columns(
        pl.col("x").cast(pl.Float64, strict=True)
    )

    assert "secret" not in refusal(lazy)


def test_the_public_number_of_rows_is_checked():
    """Under replace-one the declared size must be true; the true one is not told."""
    frame = pd.DataFrame({"x": [1.0] * 41, "g": ["a"] * 41})
    unit = Rows(neighbours="replace_one", size=42)
    schema = Schema({"x": Real(0, 10, step=1), "g": Category(["a"])}, unit=unit)

    said = refusal(frame, schema)
    assert "public number of rows, 42" in said
    assert "41" not in said
    assert integers(frame[:0], count(), schema=SCHEMA) == ((0,),)
    with open_engine(Dataset(pd.concat([frame, frame[:1]]), schema=schema)) as engine:
        plan = make_plan(Query().select(count(), mean("x")), schema, 1)
        assert engine.run(plan).unseal() == ((42 * (2 * 1 - 10),), (42,))


def test_what_the_owner_may_see(tmp_path):
    """Exact counts of missing and clamped cells, per declared column."""
    frame = pd.DataFrame(
        {"x": [1.0, -1, 11, math.inf, None, 99], "g": ["a", "b", "c", None, "A", "a"]}
    )
    schema = Schema({"g": Category(["a", "b"]), "x": Integer(0, 10, missing=99)})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")

    for source in (frame, tmp_path / "t.parquet"):
        with open_engine(Dataset(source, schema=schema)) as engine:
            g, x = owner_inspection(engine, schema)
        assert (g.rows, g.missing, g.below, g.above) == (6, 3, 0, 0)
        assert (x.rows, x.missing, x.below, x.above) == (6, 2, 1, 2)
        assert (x.declared, g.declared) == ("Integer", "Category")


@pytest.mark.parametrize(
    "cell", [10**5000, np.datetime64(1, "ns"), np.timedelta64(1, "ns")], ids=type
)
def test_no_cell_of_a_column_of_objects_stops_the_opening(cell):
    """Integers too long to write out and numpy times in nanoseconds are no keys."""
    schema = Schema({"k": Category([1, "a"]), "b": Boolean()})
    rows = [{"k": cell, "b": cell}, {"k": "a", "b": True}]

    found = integers(rows, histogram("k"), histogram("b"), schema=schema)

    assert found == ((0, 1), (0, 1))


def test_times_are_no_numbers():
    """Unwrapped, nanoseconds would be integers; they are missing like all times."""
    rows = [{"x": np.datetime64(1, "ns")}, {"x": np.timedelta64(1, "ns")}, {"x": 3}]

    assert integers(rows, total("x"), count("x"), schema=Schema({"x": Real(0, 10, step=1)})) == ((3,), (1,))  # fmt: skip


def test_no_cell_causes_a_warning():
    """A cell beyond the doubles is clamped like any other, and nothing is said of it."""
    cells = np.array([1, 2, np.finfo(np.longdouble).max], dtype=np.longdouble)
    frame = pd.DataFrame({"x": cells})
    plan = make_plan(
        Query().select(total("x")), schema := Schema({"x": Integer(0, 9)}), 1
    )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with open_engine(Dataset(frame, schema=schema)) as engine:
            assert engine.run(plan).unseal() == ((12,),)


def test_a_limit_of_memory_spills_into_a_folder_of_its_own(tmp_path, monkeypatch):
    """The same integers within little memory; nothing is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = 400_000
    frame = pd.DataFrame({"x": np.arange(rows) % 10.0, "g": ["a", "b"] * (rows // 2)})
    plan = make_plan(Query().group_by("g").select(count(), total("x")), SCHEMA, 1)
    engine = open_engine(Dataset(frame, schema=SCHEMA, memory="60MB"))
    told = dict(engine.unprotected("SELECT name, value FROM duckdb_settings()"))
    (folder,) = tmp_path.iterdir()

    # One group per row, with long keys: more than the limit holds.
    wide = "SELECT COUNT(*), SUM(n) FROM (SELECT COUNT(*) AS n FROM (SELECT *, row_number() OVER () AS r FROM data) GROUP BY repeat('k', 200) || r)"  # fmt: skip
    assert engine.unprotected(wide) == [(rows, rows)]
    assert engine.run(plan).unseal() == ((200_000,) * 2, (800_000, 1_000_000))
    assert told["temp_directory"] == str(folder)
    assert folder.stat().st_mode & 0o077 == 0
    engine.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("memory", ["", "lots", "-1GB", "0MB", "500", "1GB; SET x = 1"])
def test_what_is_no_amount_of_memory_is_refused(memory):
    """The amount goes into a setting, so it is read strictly."""
    with pytest.raises(DeclarationError, match="no amount of memory"):
        Dataset([], schema=SCHEMA, memory=memory)


def test_a_small_table_in_memory_is_copied_when_it_is_opened():
    """What is changed in it afterwards is not seen, as the documentation says."""
    cells = np.ones(1000)
    tables = (
        [{"x": 1} for _ in range(1000)],
        pd.DataFrame({"x": cells}, copy=False),
        pl.DataFrame({"x": pl.Series(cells)}),
    )
    schema = Schema({"x": Integer(0, 9)})
    plan = make_plan(Query().select(total("x")), schema, 1)
    opened = [open_engine(Dataset(table, schema=schema, name="t")) for table in tables]

    cells[:] = 7
    tables[0][:] = [{"x": 7}]

    for engine in opened:
        with engine:
            assert engine.run(plan).unseal() == ((1000,),)
