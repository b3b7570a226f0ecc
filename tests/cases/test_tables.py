"""Faults reported of other systems, as tables: the exact integers must be right.

Each test is named for its case. Integers stand for statistics: what the noise is added
to is checked here, so that no test depends on a draw.
"""

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.declare.dataset import CSV, Dataset
from sfumato.declare.expr import col
from sfumato.declare.query import Query, count, histogram, mean
from sfumato.declare.query import sum as total
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.engine.inspect import owner_inspection
from sfumato.engine.load import open_engine
from sfumato.errors import DeclarationError, SourceError
from sfumato.plan import make_plan


def integers(source, columns, *statistics, by=()):
    """Return the exact integers of each step of one question."""
    schema = columns if isinstance(columns, Schema) else Schema(columns)
    plan = make_plan(Query().group_by(*by).select(*statistics), schema, 1)
    with open_engine(Dataset(source, schema=schema, name="t")) as engine:
        return engine.run(plan).unseal()


def middle(source, columns, name):
    """Return a column's mean from its centred sum and count, as figures are made."""
    schema = Schema(columns)
    (half_steps,), (values,) = integers(source, schema, mean(name))
    column = schema[name]
    return (column.first + column.last + half_steps / values) / 2 * column.step


def loaders(frame, folder):
    """Yield one table through every loader."""
    arrow = pa.table({name: pa.array(frame[name].tolist()) for name in frame.columns})
    pq.write_table(arrow, folder / "t.parquet")
    frame.to_csv(folder / "t.csv", index=False)
    yield frame
    yield arrow
    yield pl.from_arrow(arrow)
    yield pl.from_arrow(arrow).lazy()
    yield folder / "t.parquet"
    yield str(folder / "t.csv")


def test_bc001_nan_mean():
    """NaN is left out of the sum and of the count; alone it changes nothing."""
    x = pd.DataFrame({"x": [0, 1, 2, 3, 4, math.nan] * 1000})
    twos = pd.DataFrame({"x": [2.0] * 100})
    columns = {"x": Real(0, 4, step=1)}

    assert integers(x, columns, mean("x"), count()) == ((0,), (5000,), (6000,))
    assert middle(x, columns, "x") == 2.0
    with_nan = pd.concat([twos, pd.DataFrame({"x": [math.nan]})])
    assert integers(with_nan, columns, mean("x")) == integers(twos, columns, mean("x"))


@pytest.mark.parametrize(
    ("extra", "added", "bin_"),
    [(math.inf, 100, 9), (-math.inf, 0, 0), (1.7e308, 100, 9), (math.nan, None, None)],
)
def test_bc003_inf_bounds_search(extra, added, bin_, tmp_path):
    """Infinities and huge values are clamped, NaN is missing: in every statistic."""
    columns = {"x": Real(0, 100, step=1)}
    edges = histogram("x", range(0, 101, 10))
    asked = (total("x"), count("x"), edges)
    before = integers(
        pd.DataFrame({"x": [float(i) for i in range(100)]}), columns, *asked
    )

    for source in loaders(
        pd.DataFrame({"x": [*map(float, range(100)), extra]}), tmp_path
    ):
        if math.isinf(extra) and isinstance(source, str):
            continue  # a text "inf" is no numeral, hence missing
        sums, values, bins = integers(source, columns, *asked)
        assert sums[0] - before[0][0] == (added or 0)
        assert values[0] - before[1][0] == (added is not None)
        moved = [i for i in range(10) if bins[i] != before[2][i]]
        assert moved == ([] if bin_ is None else [bin_])


def test_bc005_count_column_vs_rows(tmp_path):
    """Rows, values and the mean over values are three things."""
    frame = pd.DataFrame({"x": [1.0, 2.0, None] * 200})
    columns = {"x": Real(0, 10, step=1)}

    for source in loaders(frame, tmp_path):
        rows, values, *_ = integers(source, columns, count(), count("x"), mean("x"))
        assert (rows, values) == ((600,), (400,))
    assert middle(frame, columns, "x") == 1.5


def test_bc007_nan_inf_bounds():
    """NaN and infinite bounds are refused by name; huge ones state the limit or work."""
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    for lower, upper in (
        (0, math.nan),
        (math.nan, 10),
        (math.inf, math.inf),
        (-math.inf, 10),
    ):
        with pytest.raises(
            DeclarationError, match=r"(lower|upper) bound must be a finite"
        ):
            Real(lower, upper)
    with pytest.raises(DeclarationError, match="beyond the largest allowed, 1e50"):
        Real(0, 1e308)

    assert integers(frame, {"x": Real("-1e50", "1e50")}, count("x")) == ((3,),)


def test_bc009_no_bounds():
    """Without bounds there is no column, hence no sum."""
    with pytest.raises(DeclarationError, match="bound"):
        Real()


@pytest.mark.parametrize("upper", [1000, 10**12])
def test_bc013_overflow_guard(upper):
    """A 32-bit column with wide bounds: exact sums, and noise as the bounds imply."""
    frame = pd.DataFrame(
        {"g": list("aabb"), "x": np.array([2, 7, 2, 7], dtype=np.int32)}
    )
    schema = Schema({"g": Category(["a", "b"]), "x": Integer(0, upper)})

    plan = make_plan(Query().group_by("g").select(total("x")), schema, 1)

    assert plan.steps[0].mechanism.sensitivity == upper
    assert integers(frame, schema, total("x"), by=("g",)) == ((9, 9),)


def test_bc015_absent_public_keys(tmp_path):
    """Declared keys have a place each, in declared order, in the data or not."""
    columns = {"g": Category(["a", "b", "c"])}

    for source in loaders(pd.DataFrame({"g": ["a"] * 100}), tmp_path):
        assert integers(source, columns, count(), by=("g",)) == ((100, 0, 0),)
    assert integers([], columns, count(), by=("g",)) == ((0, 0, 0),)


def test_bc017_tiny_table_count():
    """Three rows are counted as three, and none as none."""
    columns = {"x": Real(0, 1)}

    assert integers(pd.DataFrame({"x": [1.0] * 3}), columns, count()) == ((3,),)
    assert integers(pd.DataFrame({"x": []}), columns, count(), mean("x")) == (
        (0,),
        (0,),
        (0,),
    )


ODD = ["capital-gain", "血糖 值", "order", "select", 'a"b', "x.y", "1st", "O'Brien", "%)",
       "age ", "^a.*$", "{x}", "c0", "data", "a\nb", "*", "$1", ";--", "\\"]  # fmt: skip


def test_bc019_odd_names(tmp_path):
    """Every column answers to exactly its header."""
    frame = pd.DataFrame({name: [5 * j] * 500 for j, name in enumerate(ODD)})
    columns = {name: Integer(0, 100) for name in reversed(ODD)}

    for source in loaders(frame, tmp_path):
        sums = integers(source, columns, *(total(name) for name in ODD))
        assert [s for (s,) in sums] == [500 * 5 * j for j, _ in enumerate(ODD)]


def test_bc019_a_column_without_a_name(tmp_path):
    """The empty name is a name, where the library allows it."""
    frame = pd.DataFrame({"a": [1], "": [5]})
    frame.to_csv(tmp_path / "t.csv", index=False)

    for source in (frame, pa.table({"a": [1], "": [5]}), tmp_path / "t.csv"):
        assert integers(source, {"": Integer(0, 9)}, total("")) == ((5,),)


def test_bc021_case_only_difference(tmp_path):
    """Age and age are two columns, through every loader."""
    frame = pd.DataFrame(
        {"Age": [40.0] * 1000, "age": [10.0] * 1000, "age_1": [77.0] * 1000}
    )
    columns = {"age": Real(0, 90, step=1), "Age": Real(0, 90, step=1)}

    for source in loaders(frame, tmp_path):
        assert integers(source, columns, total("Age"), total("age")) == (
            (40_000,),
            (10_000,),
        )


def test_bc023_internal_name_clash(tmp_path):
    """A user's names never meet internal ones."""
    names = ["col1", "col0", "count", "n", "index", "level_0", "__row_key", "noise", "c1",
             "c0", "source", "cell", "place", "q0", "k0", "file"]  # fmt: skip
    frame = pd.DataFrame({name: [j] * 100 for j, name in enumerate(names)})
    columns = {name: Integer(0, 100) for name in names} | {"col0": Category([0, 1])}

    for source in loaders(frame, tmp_path):
        asked = [total(name) for name in names if name != "col0"]
        sums = integers(source, columns, *asked, count(), by=("col0",))
        constants = [j for j, name in enumerate(names) if name != "col0"]
        assert sums == (*((0, 100 * j) for j in constants), (0, 100))


def test_bc025_bool_with_missing(tmp_path):
    """The type of a truth value comes from its declaration alone."""
    cells = [True, False, None] * 100
    texts = {True: "true", False: "false", None: ""}
    yes = {True: "yes", False: "no", None: ""}
    for name, words in (
        ("true", texts),
        ("one", {True: 1, False: 0, None: ""}),
        ("yes", yes),
    ):
        pd.DataFrame({"b": [words[c] for c in cells]}).to_csv(tmp_path / f"{name}.csv")
    same = [
        pd.DataFrame({"b": pd.Series(cells, dtype=object)}),
        pd.DataFrame({"b": pd.Series(cells, dtype="boolean")}),
        pd.DataFrame({"b": [1.0, 0.0, None] * 100}),
        pl.DataFrame({"b": cells}),
        tmp_path / "true.csv",
        tmp_path / "one.csv",
    ]
    asked = (count(), mean("b"))

    for source in same:
        found = integers(source, {"b": Boolean()}, *asked, by=("b",))
        assert found[0] == (100, 100)
    mapped = {"b": Boolean(true="yes", false="no")}
    assert integers(tmp_path / "yes.csv", mapped, histogram("b")) == ((100, 100),)
    # Without a mapping the words are no truth values: missing, and the owner can see it.
    schema = Schema({"b": Boolean()})
    with open_engine(Dataset(tmp_path / "yes.csv", schema=schema)) as engine:
        assert owner_inspection(engine, schema)[0].missing == 300


def test_bc027_int64_overflow(tmp_path):
    """Sums leave 64 bits without wrapping."""
    frame = pd.DataFrame({"x": [2**62] * 3})
    columns = {"x": Real(0, 2**62, step=2)}

    for source in loaders(frame, tmp_path):
        assert integers(source, columns, total("x")) == ((3 * 2**61,),)
    wide = {"x": Real(-(2**62 - 2**10), 2**62 - 2**10, step=1)}
    assert integers(frame, wide, mean("x"))[0] == (3 * 2 * (2**62 - 2**10),)


@pytest.mark.parametrize(
    "extra", ["2300-01-01", "0001-01-01", "2024-02-30", "", "9999-12-31"]
)
def test_bc029_extreme_dates(extra, tmp_path):
    """Dates as text are keys like any other; no date can stop the counting."""
    rows = ["2024-03-01"] * 100
    columns = {"d": Category(["2024-03-01", "2024-03-02"])}

    for source in loaders(pd.DataFrame({"d": [*rows, extra]}), tmp_path):
        assert integers(source, columns, count(), by=("d",)) == ((100, 0),)


def test_bc029_a_date_column_is_refused_when_it_is_opened(tmp_path):
    """A typed date is neither number nor key: refused by type, whatever the dates."""
    days = [dt.date(2024, 3, 1), dt.date(9999, 12, 31), None]
    arrow = pa.table({"d": days})
    pq.write_table(arrow, tmp_path / "d.parquet")

    for source in (arrow, pl.from_arrow(arrow), tmp_path / "d.parquet"):
        for column in (Integer(0, 1), Category(["2024-03-01"]), Boolean()):
            with pytest.raises(
                SourceError, match=r"column 'd' is stored as (DATE|date)"
            ):
                integers(source, {"d": column}, count())
    moments = pd.DataFrame({"d": pd.to_datetime(["2024-03-01", None])})
    with pytest.raises(SourceError, match="stored as datetime64"):
        integers(moments, {"d": Integer(0, 1)}, count())


def test_bc031_mixed_type_column(tmp_path):
    """Numbers and texts in one column: one rule, the same from every source."""
    numbers = pd.DataFrame({"x": pd.Series([110] * 767 + ["n/a"], dtype=object)})
    codes = [1, "1", "A7", 2.0, None] * 50
    numbers.to_csv(tmp_path / "x.csv")
    mixed = pd.DataFrame({"code": pd.Series(codes, dtype=object)})
    mixed.to_csv(tmp_path / "code.csv")
    pq.write_table(pa.table({"code": [None if c is None else str(c) for c in codes]}), tmp_path / "code.parquet")  # fmt: skip

    for source in (numbers, tmp_path / "x.csv"):
        found = integers(source, {"x": Integer(0, 200)}, total("x"), count("x"))
        assert found == ((767 * 110,), (767,))
    for source in (mixed, tmp_path / "code.csv", tmp_path / "code.parquet"):
        keys = {"code": Category([1, "A7", 2])}
        assert integers(source, keys, count(), by=("code",)) == ((100, 50, 50),)


def test_bc033_text_count(tmp_path):
    """Texts are counted like anything else."""
    columns = {"x": Category(["A", "B", "C"])}

    for source in loaders(pd.DataFrame({"x": list("ABC") * 100}), tmp_path):
        assert integers(source, columns, count(), histogram("x")) == (
            (300,),
            (100,) * 3,
        )


def test_bc035_key_type_mismatch(tmp_path):
    """0, "0" and 0.0 are one key, in the declaration and in the cells."""
    frame = pd.DataFrame({"g": [0] * 200 + [1] * 100})

    for keys in (["0", "1"], [0, 1], [0.0, 1.0]):
        for source in loaders(frame, tmp_path):
            assert integers(source, {"g": Category(keys)}, count(), by=("g",)) == (
                (200, 100),
            )
    with pytest.raises(DeclarationError, match="not a text or a whole number"):
        Category([True, False])


def test_bc037_coded_gaps(tmp_path):
    """Only the declared codes are keys, whether or not they occur."""
    columns = {"code": Category([1, 2, 4, 999])}
    frame = pd.DataFrame({"code": [1, 2, 4, 999, 3] * 100})

    for source in loaders(frame, tmp_path):
        assert integers(source, columns, count(), by=("code",)) == ((100,) * 4,)
    rest = frame[frame.code != 999]
    assert integers(rest, columns, histogram("code")) == ((100, 100, 100, 0),)


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "utf-16", "utf-8-sig"])
def test_bc039_gbk_csv(encoding, tmp_path):
    """Any Python codec when declared; otherwise a refusal that suggests one."""
    lines = [
        "编号,血糖,性别",
        *(f"{i},{100 + i % 3},{'男女'[i % 2]}" for i in range(99)),
    ]
    file = tmp_path / "t.csv"
    file.write_bytes("\r\n".join(lines).encode(encoding))
    columns = {"血糖": Integer(0, 200), "性别": Category(["男", "女"])}
    asked = (total("血糖"), histogram("性别"))

    assert integers(CSV(file, encoding), columns, *asked) == ((101 * 99,), (50, 49))
    for wrong in ("latin-1", "utf-8"):
        if encoding == "utf-8-sig" and wrong == "utf-8":
            continue
        with pytest.raises(SourceError, match="no column '血糖'") as refusal:
            integers(CSV(file, wrong), columns, *asked)
        near = {"gbk": "gb18030", "utf-8-sig": "utf-8"}.get(encoding, encoding)
        assert f"encoding='{near}'" in refusal.value.hint


def test_bc041_thousands_separator(tmp_path):
    """Separators count when declared; otherwise such cells are missing, not wrong."""

    def asked(cells, **format_):
        file = tmp_path / "t.csv"
        file.write_text("x\n" + "".join(f'"{c}"\n' for c in cells), encoding="utf-8")
        columns = {"x": Real(0, 2000, step="0.5")}
        return integers(CSV(file, **format_), columns, total("x"), count("x"))

    mixed = ["1,234"] * 500 + ["98"] * 500
    assert asked(mixed, thousands=",") == ((2 * 666 * 1000,), (1000,))
    assert asked(mixed) == ((2 * 98 * 500,), (500,))
    assert asked(["1.234,50"], separator=";", decimal=",", thousands=".") == (
        (2469,),
        (1,),
    )
    assert asked(["1.234,50"]) == ((0,), (0,))
    assert asked([" 110 "]) == ((220,), (1,))
    assert asked(["１２"]) == ((0,), (0,))
    frame = pd.DataFrame({"x": mixed})
    assert integers(frame, {"x": Real(0, 2000, step=1)}, count("x")) == ((500,),)


def test_bc043_bad_byte_row(tmp_path):
    """A wrong byte spoils one cell and nothing else."""
    good = b"name,g,x\n" + b"".join(
        b"n%d,%c,5\n" % (i, b"ab"[i % 2]) for i in range(200)
    )
    (tmp_path / "d.csv").write_bytes(good)
    (tmp_path / "e.csv").write_bytes(good + b"\xff\xfe,a,5\n")
    columns = {"name": Category(["n1"]), "g": Category(["a", "b"]), "x": Integer(0, 10)}
    asked = (count(), total("x"))

    assert integers(tmp_path / "d.csv", columns, *asked, by=("g",)) == (
        (100, 100),
        (500, 500),
    )
    assert integers(tmp_path / "e.csv", columns, *asked, by=("g",)) == (
        (101, 100),
        (505, 500),
    )


def test_bc059_mean_uses_n():
    """The plan is one and the same for every table; the empty one has integers too."""
    columns = {"x": Real(0, 1, step="0.5")}

    assert integers(pd.DataFrame({"x": []}), columns, mean("x")) == ((0,), (0,))
    assert integers(pd.DataFrame({"x": [1.0]}), columns, mean("x")) == ((2,), (1,))


def test_bc063_order_dependent_codes():
    """Bins come from declared edges: a row moves its own bin only, wherever it stands."""
    columns = {"x": Real(0, 3, step=1)}
    half = [0.5] * 100

    for cells, bins in (
        (half, (100, 0)),
        ([2.0, *half], (100, 1)),
        ([*half, 2.0], (100, 1)),
    ):
        frame = pd.DataFrame({"x": cells})
        assert integers(frame, columns, histogram("x", [0, 1, 3])) == (bins,)


def test_bc073_count_bias():
    """Empty groups count zero rows, so that nothing drifts."""
    keys = [f"k{i:02d}" for i in range(1, 51)]

    assert integers(pd.DataFrame({"g": []}), {"g": Category(keys)}, count(), by=("g",)) == ((0,) * 50,)  # fmt: skip


def test_bc077_last_edge(tmp_path):
    """The last bin is closed; an inner edge belongs to the bin that it opens."""
    columns = {"x": Integer(0, 999)}
    edges = [*range(0, 1000, 100), 999]

    for source in loaders(pd.DataFrame({"x": range(1000)}), tmp_path):
        assert integers(source, columns, histogram("x", edges)) == ((100,) * 10,)


def test_filters_read_numbers_before_clamping_and_after_codes(tmp_path):
    """In every loader: 150 is above 120 although it is summed as 120; 999 is missing."""
    frame = pd.DataFrame({"x": [30.0, 150.0, 999.0, -5.0, 120.0]})
    schema = Schema({"x": Real(0, 120, step=1, missing=999)})
    filters = {
        col("x") > 120: (1, 120),
        col("x") < 0: (1, 0),
        col("x") >= 120: (2, 240),
        col("x") == 150: (1, 120),
        col("x") == 999: (0, 0),
        ~(col("x") <= 120): (1, 120),
        col("x").is_in([150, 999, -5]): (2, 120),
        col("x").is_missing(): (1, 0),
        ~col("x").is_missing(): (4, 270),
    }

    for source in loaders(frame, tmp_path):
        with open_engine(Dataset(source, schema=schema, name="t")) as engine:
            for condition, (rows, summed) in filters.items():
                query = Query().where(condition).select(count(), total("x"))
                plan = make_plan(query, schema, 1)

                assert engine.run(plan).unseal() == ((rows,), (summed,)), condition
