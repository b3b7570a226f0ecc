"""People with many rows: every engine and loader returns the integers of the specification."""

import math
import uuid
from decimal import Decimal

import adversary as a
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare import query as ask
from sfumato.declare.dataset import CSV, Dataset
from sfumato.declare.schema import Category, Integer, Real, Schema
from sfumato.declare.unit import Unit
from sfumato.engine.load import open_engine
from sfumato.plan import make_plan

WHO = "who"
IDS = st.sampled_from([
    1, 2, "2", "2.0", 2.0, True, None, math.nan, "", "a", "A", "é", "e\u0301", "张伟", "NA", -1,
    2**53, 2**53 + 1, 2**63, 2.0**53, 0.5, math.inf, Decimal(2), np.int64(1), "a\0b", b"x",
    uuid.UUID(int=7), str(uuid.UUID(int=7)), 10**40, "0", -0.0, "\ud800", "\ufffd", "M\ufffdr",
    np.float32(2), np.float32(2**24), np.float16(2**11), np.float16(2), np.longdouble(2),
])  # fmt: skip
BOUNDS = st.builds(
    lambda r, g, m: Unit(WHO, max_rows=r, max_groups=g, missing=m),
    st.sampled_from([1, 2, 3, 7, 1000]),
    st.sampled_from([1, 2, 3, 50]),
    st.sampled_from([(), ("NA",), (-1, "a")]),
)


def crowds(*cells, ids=None, most=24):
    """Rows of a few people, several of them with many rows."""
    few = st.lists(IDS if ids is None else ids, min_size=1, max_size=5)
    rows = st.lists(
        st.tuples(st.integers(0, 4), a.a_row(*cells)), min_size=0, max_size=most
    )
    return st.builds(
        lambda who, many: [{**row, WHO: who[i % len(who)]} for i, row in many],
        few,
        rows,
    )


@settings(max_examples=a.times(80), deadline=None)
@given(a.plans(BOUNDS), crowds())
def test_any_python_objects(plan, rows):
    """Cells and identifiers of any kind, row by row and as a pandas table of objects."""
    expected = a.expected(plan, rows)

    assert a.answer(plan, rows) == expected
    columns = {n: [row[n] for row in rows] for n in (*a.NAMES, WHO)}
    frame = pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in columns.items()})
    assert a.answer(plan, frame) == expected


MAYBE_FLOAT = st.one_of(st.none(), a.FLOATS)
MAYBE_TEXT = st.one_of(st.none(), a.TEXTS)
KINDS = {
    "int64": (pa.int64(), st.sampled_from([None, 1, 2, 2**53, 2**53 + 1, -(2**63), -1])),
    "uint64": (pa.uint64(), st.sampled_from([None, 1, 2**63, 2**64 - 1])),
    "double": (pa.float64(), st.sampled_from([None, math.nan, 1.0, -0.0, 0.0, 0.5, 2.0**53, -1.0])),
    "float": (pa.float32(), st.sampled_from([None, *map(np.float32, (math.nan, 1, 0.5, 2**24, -(2**24), 2**24 - 1))])),
    "text": (pa.string(), st.sampled_from([None, "", " ", "1", "1.0", "01", "張", "张", "é", "e\u0301", "NA"])),
    "decimal": (pa.decimal128(38, 1), st.sampled_from([None, Decimal("1.0"), Decimal("1.5"), Decimal(10**30)])),
    "bool": (pa.bool_(), st.sampled_from([None, True, False])),
    "null": (pa.null(), st.none()),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=a.times(8), deadline=None)
@given(data=st.data(), plan=a.plans(BOUNDS))
def test_typed_identifiers(tmp_path_factory, kind, data, plan):
    """Identifiers of each machine type, through every library and Parquet."""
    stored, ids = KINDS[kind]
    rows = data.draw(crowds(MAYBE_FLOAT, MAYBE_TEXT, MAYBE_TEXT, ids=ids))
    types = dict.fromkeys(a.NUMBERS, pa.float64()) | dict.fromkeys(
        (*a.KEYS, a.FLAG), pa.string()
    )
    types[WHO] = stored
    table = pa.table({n: pa.array([r[n] for r in rows], t) for n, t in types.items()})
    expected = a.expected(plan, rows)

    assert a.answer(plan, table) == expected
    assert a.answer(plan, a.to_polars(table)) == expected
    assert a.answer(plan, a.to_polars(table).lazy()) == expected
    frame = table.to_pandas(integer_object_nulls=True)
    assert a.answer(plan, frame) == expected
    assert a.answer(plan, table.to_pandas(types_mapper=pd.ArrowDtype)) == expected
    path = tmp_path_factory.mktemp("people") / "t.parquet"
    assert a.answer(plan, a.write_parquet(path, table)) == expected


def patients(ids, **extra):
    """Return a schema, a plan that counts rows and people, and rows of these people."""
    schema = Schema(
        {"x": Integer(0, 9)}, unit=Unit(WHO, max_rows=1, max_groups=1, **extra)
    )
    plan = make_plan(ask.Query().select(ask.count(), ask.people()), schema, 1)
    return plan, [{"x": 1, WHO: one} for one in ids]


@pytest.mark.parametrize(
    "frame",
    [
        lambda rows: rows,
        pd.DataFrame,
        lambda rows: pd.DataFrame(rows).convert_dtypes(),
        lambda rows: pl.DataFrame(rows, schema={"x": pl.Int64, WHO: pl.String}),
        lambda rows: pa.Table.from_pylist(rows),
    ],
)
def test_bc085_nobodys_rows_are_left_out_however_they_are_spelled(frame):
    """51 patients and 50 rows of nobody are 51 rows of 51 people, in every loader."""
    nobody = [None, "", "NA"] * 17
    plan, rows = patients([*map(str, range(1, 52)), *nobody[:50]], missing="NA")

    assert a.answer(plan, frame(rows)) == ((51 << 20,), (51 << 20,))


def test_bc085_nobodys_rows_in_a_text_file(tmp_path):
    """The same in a CSV file, where an empty cell is the empty text."""
    plan, rows = patients(
        [*map(str, range(1, 52)), *[None, "", "NA"] * 16, None, "NA"], missing="NA"
    )
    path = tmp_path / "p.csv"
    path.write_text(
        "x,who\n" + "".join(f"1,{r[WHO] or ''}\n" for r in rows), encoding="utf-8"
    )

    assert a.answer(plan, CSV(path)) == ((51 << 20,), (51 << 20,))


def test_identifiers_beyond_2_53_are_told_apart():
    """Neighbours beyond what a float holds are two people; as floats they are nobody."""
    ids = [2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2]
    plan, rows = patients(ids)
    array = np.array(ids, dtype=np.int64)

    assert a.answer(plan, pd.DataFrame({"x": 1, WHO: array})) == ((4 << 20,),) * 2
    assert a.answer(plan, rows) == ((4 << 20,),) * 2
    assert (
        a.answer(plan, pd.DataFrame({"x": 1, WHO: array.astype(float)})) == ((0,),) * 2
    )


def test_weights_by_hand():
    """One person, 4 rows in one group and 2 in two others: R = 2, G = 2, by hand."""
    columns = {"g": Category(["a", "b", "c", "d"]), "x": Integer(0, 10)}
    schema = Schema(columns, unit=Unit(WHO, max_rows=2, max_groups=2))
    wanted = ask.count(), ask.people(), ask.sum("x")
    plan = make_plan(ask.Query().group_by("g").select(*wanted), schema, 1)
    rows = [{"g": "a", "x": 5, WHO: "z"} for _ in range(4)]
    rows += [{"g": g, "x": 9, WHO: "z"} for g in "bcbc"] + [
        {"g": "?", "x": 9, WHO: "z"}
    ]
    third = 2 * (1 << 20) // 3

    counts, people, sums = a.answer(plan, rows)

    assert people == (third, third, third, 0)
    assert counts == (2 * (2 << 20) // 3, 2 * (2 << 20) // 3, 2 * (2 << 20) // 3, 0)
    assert sums == ((10 << 16) * 2 // 3, (18 << 16) * 2 // 3, (18 << 16) * 2 // 3, 0)


FAULTS = {
    "nobody is somebody": ("identity", lambda self: "COALESCE(c1, 'nobody')"),
    "spellings are people": ("identity", lambda self: "NULLIF(c1, '')"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_in_the_reading_of_identifiers_is_found(monkeypatch, name):
    """Counts of people differ from the specification as soon as the reading is wrong."""
    from sfumato.engine.terms import Terms

    plan, rows = patients(["1", "1.0", "", None, "2"])
    table = pa.Table.from_pylist(rows)
    assert a.answer(plan, table) == a.expected(plan, rows)

    monkeypatch.setattr(Terms, *FAULTS[name])

    assert a.answer(plan, table) != a.expected(plan, rows)


def test_the_public_number_of_people_is_checked():
    """Under replace-one the table must have as many people as declared."""
    from sfumato.errors import SourceError

    plan, rows = patients(["1", "1.0", "", "2"], neighbours="replace_one", size=2)
    other, _ = patients([], neighbours="replace_one", size=3)

    assert len(a.answer(plan, rows)) == 1  # the number of people is public: no part
    with pytest.raises(SourceError, match="public number of people"):
        open_engine(Dataset(rows, schema=other.schema, name="t"))


def test_the_text_of_the_statement():
    """Constants only, two levels, and no weight of groups where nobody can have many."""
    from sfumato.engine.dialect import DUCKDB
    from sfumato.engine.people import PeopleStatement
    from sfumato.engine.physical import Floating, Places, Whole

    schema = Schema({"x": Real(0, 8, step=1), "g": Category(["a", "b"])}, unit=Unit('"; --', max_rows=3, max_groups=1))  # fmt: skip
    plan = make_plan(ask.Query().group_by("g").select(ask.mean("x")), schema, 1)

    sql = PeopleStatement(plan, (Floating(), Places(), Whole()), DUCKDB).sql

    x, (nil, step, half, most) = (
        "CAST(c0 AS DOUBLE)",
        map(DUCKDB.constant, (0, 1, 0.5, 8)),
    )
    scan = (
        f"SELECT u, k0, CAST(floor(x0 / {step} + {half}) AS BIGINT) AS q0 FROM ("
        f"SELECT c2 AS u, c1 AS k0, CASE WHEN {x} >= {nil} AND {x} <= {most}"
        f" THEN {x} WHEN isnan({x}) THEN NULL WHEN {x} < {nil} THEN {nil}"
        f" WHEN {x} > {most} THEN {most} END AS x0"
        " FROM data WHERE (c1 BETWEEN 0 AND 1) AND (c2) IS NOT NULL) AS cells"
    )
    one, three = "CAST('1' AS BIGINT)", "CAST('3' AS BIGINT)"
    size = "(abs(s0) * CAST('131072' AS BIGINT))"
    assert sql == (
        "SELECT * FROM (WITH ug AS MATERIALIZED (SELECT u, k0, COUNT(q0) AS m0, "
        "CAST(COALESCE(SUM((q0 - (CAST('8' AS BIGINT) - q0))), 0) AS BIGINT) AS s0 "
        f"FROM ({scan}) AS steps GROUP BY u, k0), "
        "uk AS MATERIALIZED (SELECT u AS person, COUNT(*) AS k FROM ug GROUP BY u) "
        "SELECT 0 AS branch, k0, CAST(NULL AS BIGINT) AS place, "
        f"CAST(COALESCE(SUM(CASE WHEN s0 < 0 THEN -CASE WHEN k <= {one} THEN w0 ELSE ((w0 * {one}) // k) END"
        f" ELSE CASE WHEN k <= {one} THEN w0 ELSE ((w0 * {one}) // k) END END), 0) AS VARCHAR), "
        f"CAST(COALESCE(SUM(CASE WHEN k <= {one} THEN w1 ELSE ((w1 * {one}) // k) END), 0) AS VARCHAR) "
        f"FROM (SELECT k0, CASE WHEN m0 <= {three} THEN {size} ELSE ({size} // m0) * {three}"
        f" + ((({size} % m0) * {three}) // m0) END AS w0, s0, "
        f"CASE WHEN m0 < {three} THEN m0 ELSE {three} END * CAST('1048576' AS BIGINT) AS w1, k "
        "FROM ug JOIN uk ON ug.u = uk.person) AS weighed GROUP BY k0) AS people"
    )
