"""Text columns and unknown keys: every loader and database agree with the specification."""

from __future__ import annotations

import adversary as a
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cluster import running
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.account import ZCDP, Epsilon
from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset, Postgres
from sfumato.declare.expr import col
from sfumato.declare.schema import Category, Integer, Schema, Text, token
from sfumato.declare.unit import Unit
from sfumato.engine import Keyed
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import DeclarationError, SourceError
from sfumato.plan import make_plan

SCHEMA = Schema({
    "city": Text(longest=6), "g": Category(["a", 2]), "x": Integer(-2, 9, missing=5),
})  # fmt: skip
NFC, NFD = "\u00e9", "e\u0301"
CITIES = [
    "Bonn", "bonn", "Bonn ", " Bonn", "", " ", NFC, NFD, "2", "2.0", "02", "2.00", "true",
    "Köln", "北京", "🤦🏼\u200d♂️", "123456", "1234567", "ſ", "s", "ß", "ẞ", "İ", "ı", "O'B", '"',
    "-0.0", "-0", "%", "\\", "a\nb", "None", "nan", "rest", "\u00a0", "\ufeff", "ﬁ", "fi",
]  # fmt: skip
TEXTS = st.one_of(
    st.none(), st.sampled_from(CITIES), st.text(max_size=7).filter(lambda t: "\0" not in t)
)  # fmt: skip
GROUPS = st.sampled_from(["a", "2", "b", None])
NUMBERS = st.sampled_from([-3, 0, 4, 5, 9, 99, None])


@st.composite
def questions(draw):
    """Questions about a text column: unknown or listed keys, filters, other rows."""
    kind = draw(st.sampled_from(["unknown", "pair", "listed", "listed pair", "filter"]))
    other = draw(st.sampled_from([None, "rest"]))
    few = st.lists(
        st.sampled_from(CITIES[:18]), min_size=1, max_size=4, unique_by=token
    )
    match kind:
        case "unknown":
            query = ask.Query().group_by("city", other=other)
        case "pair":
            query = ask.Query().group_by("g", "city", other=other)
        case "listed":
            keys = [k for k in draw(few) if len(k) <= 6] or ["Bonn"]
            query = ask.Query().group_by("city", keys=keys, other=other)
        case "listed pair":
            pairs = [("Bonn", "a"), (NFC, 2), ("", "a"), ("2", 2)]
            query = ask.Query().group_by("city", "g", keys=pairs, other=other)
        case _:
            query = ask.Query().group_by("g")
    condition = draw(st.sampled_from([
        None, col("city") == "2", col("city") != "Bonn", col("city").is_missing(),
        col("city").is_in([NFC, "", "1234567", "北京"]), ~(col("city") == "\ud800"),
        (col("city") == 2) | (col("x") > 0),
    ]))  # fmt: skip
    if condition is not None:
        query = query.where(condition)
    statistics = draw(st.lists(
        st.sampled_from([ask.count(), ask.count("city"), ask.mean("x"), ask.histogram("g"),
                         ask.sum("x"), ask.median("x"), ask.proportion("g", 2)]),
        min_size=1, max_size=3))  # fmt: skip
    query = query.select(*statistics)
    unknown = kind in ("unknown", "pair")
    loss = draw(st.sampled_from([Epsilon("1", "1e-6"), ZCDP("0.1", "1e-6")]))
    return make_plan(
        query, SCHEMA, loss if unknown else type(loss).from_units(loss.units)
    )


def rows(cities=TEXTS):
    """Lists of rows, often with equal ones among them."""
    row = st.fixed_dictionaries({"city": cities, "g": GROUPS, "x": NUMBERS})
    return st.lists(row, max_size=10)


def expected(plan, table):
    """Return what the specification says."""
    return ReferenceEngine(table).run(plan).unseal()


def answer(plan, source):
    """Return what DuckDB says."""
    with open_engine(Dataset(source, schema=plan.schema, name="t")) as engine:
        return engine.run(plan).unseal()


def typed(table, city=pa.string()):
    """Return an Arrow table."""
    kinds = {"city": city, "g": pa.string(), "x": pa.int64()}
    return pa.table({n: pa.array([r[n] for r in table], kinds[n]) for n in kinds})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for files that examples overwrite."""
    return tmp_path_factory.mktemp("texts")


@settings(max_examples=a.times(40), deadline=None)
@given(questions(), rows())
def test_texts_through_every_loader(folder, plan, table):
    """Frames, Arrow, Parquet and CSV; the empty cell of a text file is missing."""
    wanted = expected(plan, table)
    arrow = typed(table)

    assert answer(plan, table) == wanted
    assert answer(plan, arrow) == wanted
    assert answer(plan, pl.from_arrow(arrow)) == wanted
    assert answer(plan, arrow.to_pandas()) == wanted
    assert answer(plan, arrow.to_pandas().convert_dtypes()) == wanted
    objects = pd.DataFrame({n: pd.Series([r[n] for r in table], dtype=object) for n in SCHEMA})  # fmt: skip
    assert answer(plan, objects) == wanted
    assert answer(plan, a.write_parquet(folder / "t.parquet", arrow)) == wanted
    filled = [{n: v if v != "" else None for n, v in r.items()} for r in table]
    arrow_csv = objects.replace("", None)
    arrow_csv.to_csv(folder / "t.csv", index=False)
    assert answer(plan, folder / "t.csv") == expected(plan, filled)


MACHINE = [
    (pa.int8(), st.sampled_from([0, 2, -2, 127, None])),
    (pa.int64(), st.sampled_from([0, 2, 123456, 1234567, -(2**63), None])),
    (pa.uint64(), st.sampled_from([0, 2, 2**64 - 1, None])),
    (pa.bool_(), st.sampled_from([True, False, None])),
    (pa.decimal128(12, 2), st.sampled_from([a.Decimal("2.00"), a.Decimal("2.50"), None])),
    (pa.decimal128(38, 0), st.sampled_from([a.Decimal(2), a.Decimal(10**30), None])),
    (pa.null(), st.none()),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "cells"), MACHINE, ids=lambda v: str(v)[:16])
@settings(max_examples=a.times(6), deadline=None)
@given(data=st.data(), plan=questions())
def test_whole_numbers_and_truth_values_are_texts(folder, kind, cells, data, plan):
    """A key of a machine type is its digits, or true and false."""
    table = data.draw(rows(cells))
    wanted = expected(plan, table)
    arrow = typed(table, kind)

    assert answer(plan, table) == wanted
    assert answer(plan, arrow) == wanted
    assert answer(plan, pl.from_arrow(arrow)) == wanted
    assert answer(plan, a.write_parquet(folder / "n.parquet", arrow)) == wanted


@settings(max_examples=a.times(20), deadline=None)
@given(questions(), rows(a.OBJECTS))
def test_objects_of_any_kind(plan, table):
    """No object can raise: not one with a lone surrogate, no fraction, no date."""
    assert answer(plan, table) == expected(plan, table)


@st.composite
def crowds(draw):
    """Listed keys of a text column, asked about people, and rows of a few people."""
    kind = draw(st.sampled_from(["listed", "pair", "crossed"]))
    other = draw(st.sampled_from([None, "rest"]))
    keys = [k for k in draw(st.lists(
        st.sampled_from(CITIES[:18]), min_size=1, max_size=3, unique_by=token
    )) if len(k) <= 6] or ["Bonn"]  # fmt: skip
    query = ask.Query().group_by("city", keys=keys, other=other)
    if kind == "crossed":
        query = query.group_by("g")
    elif kind == "pair":
        pairs = [("Bonn", "a"), (NFC, 2), ("", "a"), ("2", 2)]
        query = ask.Query().group_by("city", "g", keys=pairs, other=other)
    condition = draw(st.sampled_from([
        None, col("city") != "Bonn", col("city").is_in([NFC, "", "2"])
    ]))  # fmt: skip
    query = query if condition is None else query.where(condition)
    query = query.select(*draw(st.lists(
        st.sampled_from([ask.count(), ask.people(), ask.mean("x"), ask.sum("x"),
                         ask.histogram("g"), ask.median("x"), ask.count("city")]),
        min_size=1, max_size=3, unique=True)))  # fmt: skip
    unit = Unit(
        "who",
        max_rows=draw(st.sampled_from([1, 2, 50])),
        max_groups=draw(st.sampled_from([1, 2, 50])),
    )
    plan = make_plan(query, Schema(dict(SCHEMA.columns), unit=unit), Epsilon("1"))
    cities = st.one_of(st.sampled_from([*keys, "Bonn", NFC, "2"]), TEXTS)
    return plan, [
        {**row, "who": draw(st.sampled_from(["1", "2", "3", None]))}
        for row in draw(rows(cities))
    ]


@settings(max_examples=a.times(40), deadline=None)
@given(crowds())
def test_listed_texts_of_people(folder, asked):
    """A person's groups are those of the listed keys, however they are spelled."""
    plan, table = asked
    wanted = expected(plan, table)
    people = pa.array([row["who"] for row in table], pa.string())
    arrow = typed(table).append_column("who", people)

    assert answer(plan, table) == wanted
    assert answer(plan, arrow) == wanted
    assert answer(plan, pl.from_arrow(arrow)) == wanted
    assert answer(plan, a.write_parquet(folder / "p.parquet", arrow)) == wanted


@pytest.fixture(scope="module")
def world():
    """A private server, and a table whose rows are exchanged."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url:
        db = psycopg.connect(url, autocommit=True)
        db.execute("CREATE TABLE t (city text, g text, x bigint)")
        yield url, db
        db.close()


@settings(max_examples=a.times(25), deadline=None)
@given(questions(), rows())
def test_postgresql_agrees(world, plan, table):
    """The same groups, in the same order, with the same integers."""
    url, db = world
    db.execute("TRUNCATE t")
    with db.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO t VALUES (%s, %s, %s)",
            [(r["city"], r["g"], r["x"]) for r in table],
        )

    assert answer(plan, Postgres(url, "t")) == expected(plan, table)


@settings(max_examples=a.times(15), deadline=None)
@given(crowds())
def test_postgresql_agrees_about_people(world, asked):
    """The same of listed texts."""
    plan, table = asked
    url, db = world
    db.execute("DROP TABLE IF EXISTS p")
    db.execute("CREATE TABLE p (city text, g text, x bigint, who text)")
    with db.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO p VALUES (%s, %s, %s, %s)",
            [(r["city"], r["g"], r["x"], r["who"]) for r in table],
        )

    assert answer(plan, Postgres(url, "p")) == expected(plan, table)


@pytest.mark.parametrize("kind", ["integer", "boolean", "numeric", "varchar(9)"])
def test_postgresql_types_agree(world, kind):
    """Keys of every type that holds some."""
    url, db = world
    cells = {"integer": [2, 2, None], "boolean": [True, True, False],
             "numeric": ["2.0", "2.5", "NaN"], "varchar(9)": ["2.0", "2", "1234567"]}[kind]  # fmt: skip
    db.execute(f"DROP TABLE IF EXISTS u; CREATE TABLE u (city {kind}, g text, x int)")
    for cell in cells:
        db.execute(f"INSERT INTO u VALUES (%s::{kind}, 'a', 1)", (cell,))
    plan = make_plan(
        ask.Query().group_by("city").select(ask.count()), SCHEMA, Epsilon("1", "1e-6")
    )
    read = [None if c == "NaN" else a.Decimal(c) if kind == "numeric" else c for c in cells]  # fmt: skip

    wanted = expected(plan, [{"city": c, "g": "a", "x": 1} for c in read])

    assert answer(plan, Postgres(url, "u")) == wanted
    assert len(wanted.groups) in (1, 2)


FLOATS = [
    pd.DataFrame({"city": [1.0, 2.0]}), pd.DataFrame({"city": pd.array([1.0], "Float64")}),
    pd.DataFrame({"city": pd.Series([1.0], dtype="float32")}),
    pa.table({"city": pa.array([1.0])}), pl.DataFrame({"city": [1.0]}),
    pa.table({"city": pa.array([1.0], pa.float16())}),
    pd.DataFrame({"city": pd.array([1.0], "double[pyarrow]")}),
]  # fmt: skip


@pytest.mark.parametrize("source", FLOATS, ids=lambda s: type(s).__module__[:10])
def test_float_keys_are_refused_by_type(source):
    """Whatever the cells are: whether all are whole is private."""
    schema = Schema({"city": Text()})

    with pytest.raises(SourceError, match=r"'city' is stored as .*fractions cannot be"):
        open_engine(Dataset(source, schema=schema, name="t"))


@pytest.mark.parametrize("longest", [0, -1, 1001, 2.0, True, None, "9"])
def test_the_longest_text_is_bounded(longest):
    """A key is shown in releases, so it has an end."""
    with pytest.raises(DeclarationError, match="longest text"):
        Text(longest=longest)


def test_what_differs_is_kept_apart():
    """NFC and NFD, case, blanks, '' and null: by the smallest example."""
    cells = [NFC, NFD, "Bonn", "bonn", "Bonn ", "", None, "2", "2.0", "1234567"]
    table = [{"city": c, "g": "a", "x": 1} for c in cells]
    plan = make_plan(
        ask.Query().group_by("city").select(ask.count()), SCHEMA, Epsilon("1", "1e-6")
    )

    found = answer(plan, table)

    keys = sorted(["", "2", "Bonn", "Bonn ", "bonn", NFC, NFD])
    assert found == Keyed(tuple((k,) for k in keys), ((1, 2, 1, 1, 1, 1, 1),))
    assert "Bonn" not in repr(found) and "Bonn" not in str(found)


PREFIXES = ["", "a", "A", "é", "e", "7", "a\0", "a%", "tr", "'", "\ud800", "x" * 30]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_text_column_is_asked_how_it_begins(prefix):
    """Exactly, by code points; a missing cell is neither."""
    cells = ["é", "e\u0301x", "", "ab", "Ab", None, "7", "7.0", "70", "a\0b", "a%", "a_", 5, True,
             "x" * 200, "\ud800"]  # fmt: skip
    rows = [{"t": cell} for cell in cells]
    schema = sf.Schema({"t": sf.Text(longest=50)})
    begins = sf.col("t").starts_with(prefix)
    engine = open_engine(sf.Dataset(rows, schema=schema))

    for condition in (begins, ~begins, sf.when(begins).then("y").otherwise("n") == "y"):
        plan = make_plan(sf.Query().where(condition).select(sf.count()), schema, 1)
        assert engine.run(plan).unseal() == ReferenceEngine(rows).run(plan).unseal()
