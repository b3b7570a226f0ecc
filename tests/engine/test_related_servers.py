"""PostgreSQL, Sail and Spark return the specification's integers of joined tables too."""

import adversary as a
import pyarrow as pa
import pytest
import related as r
import sparks
from cluster import running
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.declare import feature
from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset, Postgres, Spark
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, Text
from sfumato.declare.unit import Unit
from sfumato.engine.load import open_engine
from sfumato.errors import SourceError
from sfumato.plan import make_plan

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

CLEAN = st.none() | a.TEXTS.filter(lambda t: "\0" not in t and t.isprintable())
TYPED = a.a_row(st.none() | a.FLOATS, CLEAN, st.none() | st.booleans())
CROWD = st.lists(
    st.builds(
        lambda row, who: {**row, "who": who},
        TYPED,
        st.sampled_from([1, 2, 3, None]),
    ),
    max_size=7,
)
TYPES = dict.fromkeys(a.NUMBERS, "double precision") | dict.fromkeys(a.KEYS, "text")
TYPES |= {a.FLAG: "boolean"}


@pytest.fixture(scope="module")
def server():
    """A private server of PostgreSQL with two tables, `t` and `labs`."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url, psycopg.connect(url, autocommit=True) as db:
        yield url, db, psycopg.sql


def fill(server, name, rows, whose):
    """Make a table of these rows; identifiers are of the type `whose`."""
    url, db, sql = server
    types = {**TYPES, "who": whose}
    table = sql.Identifier("public", name)
    columns = [sql.SQL("{} " + t).format(sql.Identifier(n)) for n, t in types.items()]
    make = "DROP TABLE IF EXISTS {t}; CREATE TABLE {t} ({c})"
    db.execute(sql.SQL(make).format(t=table, c=sql.SQL(", ").join(columns)))
    for row in rows:
        marks = sql.SQL(", ").join(sql.SQL("%s::" + t) for t in types.values())
        cells = [row[n] for n in types]
        db.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(table, marks), cells)
    return Postgres(url, name)


@settings(max_examples=a.times(25), deadline=None, derandomize=True)
@given(r.questions(r.WHOSE), CROWD, CROWD, st.sampled_from(["integer", "bigint", "text", "double precision"]))  # fmt: skip
def test_postgres(server, plan, rows, others, whose):
    """Random nodes over two tables, whose identifiers may be of different types."""
    sources = fill(server, "t", rows, "integer"), fill(server, r.LABS, others, whose)

    assert r.answer(plan, *sources) == r.expected(plan, rows, others)


WHO = Unit("who", max_rows=3, max_groups=2)
VISITS = Schema(
    {
        "x": Real(0, 10, step="0.1", missing=9),
        "day": Integer(0, 1000),
        "site": Category(["A", "B", 3]),
        "ill": Boolean(),
        "note": Text(),
    },
    unit=WHO,
)
LABS = Schema({"y": Integer(-5, 5), "kind": Category(["p", "q"])}, unit=Unit("id", max_rows=1, max_groups=1))  # fmt: skip
SITES = Lookup(
    "sites",
    ("site",),
    (("beds", Integer(0, 500)), ("region", Category(["N", "S"])), ("open", Boolean())),
    ((("A",), (100.0, 0, 1)), (("3",), (None, 1, 0)), (("Z",), (7.0, 1, 1))),
)
NOTES = Lookup("notes", ("k",), (("v", Real(0, 1)),), ((("n",), (0.5,)), (("O'x\\",), (1.0,))))  # fmt: skip
FEATURES = (
    ("n", feature.count(most=5)), ("worst", feature.max("x")), ("least", feature.min("x")),
    ("first", feature.first("x", by="day")), ("home", feature.last("site", by="day")),
    ("paid", feature.sum("x", Real(0, 100))), ("ever", feature.max("ill")),
)  # fmt: skip
LAB = Part(Other("labs", LABS))
QUESTIONS = {
    "unknown keys of pairs": Query().of(Joined(Part(), LAB, "", 4, 1)).group_by("note").select(ask.count(), ask.people(), ask.mean("y")),
    "unknown keys of both": Query().of(United((Part(), Part()))).group_by("note").select(ask.count(), ask.mean("x")),
    "figures": Query().of(PerPerson(Part(), FEATURES)).group_by("home", other="-").select(ask.mean("worst"), ask.sum("first"), ask.sum("paid"), ask.sum("n"), ask.mean("ever"), ask.median("least")),
    "site": Query().of(Looked(Part(), ("site",), SITES)).group_by("region").select(ask.mean("beds"), ask.count(), ask.mean("open")),
    "note": Query().of(Looked(Part(), ("note",), NOTES, "", True)).select(ask.sum("v"), ask.count()),
    "truth": Query().of(Looked(Part(), ("ill", "day"), Lookup("t", ("a", "b"), (("w", Boolean()),), ((("true", "3"), (1,)), (("false", "3"), (0,)))))).select(ask.count("w"), ask.mean("w")),
    "labs": Query().of(Joined(Part(), LAB, "", 4, 2)).group_by("kind").select(ask.mean("y"), ask.mean("x"), ask.people(), ask.histogram("site")),
    "figures of labs": Query().of(Joined(Part(), Part(PerPerson(LAB, (("top", feature.max("y")),))))).where(a.col("top") > 0).select(ask.mean("x"), ask.count()),
    "twice": Query().of(United((Part(), Part(None, (), Query().where(a.col("x") > 3).condition)))).select(ask.count(), ask.mean("x")),
    "other": Query().of(Other("labs", LABS)).select(ask.count(), ask.sum("y")),
}  # fmt: skip
ROWS = [
    dict(zip(("who", *VISITS), row, strict=True))
    for row in (
        (1, 2.25, 5, "A", True, "n"), (1, 7.0, 3, "B", False, "O'x\\"), (1, 4.0, 3, "A", None, "n"),
        (2, 9.0, 1, "3.0", False, "x"), (2, None, None, "?", False, None), (None, 8.0, 1, "A", True, "n"),
        (3, 99.0, 8, "A", True, "n"), (3, -0.0, 3, "3", True, ""), (4, 5.5, 3, None, False, "n"),
    )
]  # fmt: skip
OTHERS = [{"id": i, "y": y, "kind": k} for i, y, k in (("1", 3, "p"), ("3.0", -9, "q"), ("3", 4, "p"), (None, 1, "p"), ("", 2, "q"), ("7", 5, "q"), ("1", None, "p"))]  # fmt: skip
COLUMNS = {"who": pa.int64(), "x": pa.float64(), "day": pa.int64(), "site": pa.string(), "ill": pa.bool_(), "note": pa.string()}  # fmt: skip
OTHER = {"id": pa.string(), "y": pa.int64(), "kind": pa.string()}


def the_dataset(first, second):
    """The two tables, at some place."""
    return Dataset(first, schema=VISITS, name="t", tables={"labs": Dataset(second, schema=LABS)})  # fmt: skip


def of(name):
    """The plan of a question, and what the specification says."""
    from sfumato.engine.reference import ReferenceEngine

    loss = Epsilon("1", "1e-6") if "note" in QUESTIONS[name].keys else Epsilon(1)
    plan = make_plan(QUESTIONS[name], VISITS, loss)
    return plan, ReferenceEngine(ROWS, {"labs": OTHERS}).run(plan).unseal()


@pytest.mark.parametrize("name", QUESTIONS)
def test_duckdb(name):
    """The fixed questions, on the embedded engine."""
    plan, expected = of(name)

    with open_engine(the_dataset(ROWS, OTHERS)) as engine:
        assert engine.run(plan).unseal() == expected


@pytest.fixture(scope="module")
def filled(server):
    """The same tables in PostgreSQL."""
    url, db, _ = server
    db.execute("CREATE TABLE visits (who int, x float8, day int, site text, ill bool, note text)")  # fmt: skip
    db.execute("CREATE TABLE lab (id text, y int, kind text)")
    for row in ROWS:
        db.execute("INSERT INTO visits VALUES (%s, %s, %s, %s, %s, %s)", list(row.values()))  # fmt: skip
    for row in OTHERS:
        db.execute("INSERT INTO lab VALUES (%s, %s, %s)", list(row.values()))
    return the_dataset(Postgres(url, "visits"), Postgres(url, "lab"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_fixed_questions_on_postgres(filled, name):
    """Each kind of node, bound and run."""
    plan, expected = of(name)

    engine = open_engine(filled)
    engine.prepare(plan)

    assert engine.run(plan).unseal() == expected


def test_tables_of_two_databases_are_refused():
    """Private tables of one dataset are asked by one statement, so they lie together."""
    apart = the_dataset(Postgres("postgresql://a/b", "t"), OTHERS)

    with pytest.raises(SourceError, match="lie in different places"):
        open_engine(apart)


def on_spark(session, name):
    """Compare one question on frames and on named tables."""
    plan, expected = of(name)
    frames = [
        session.createDataFrame(
            pa.Table.from_pylist(rows, pa.schema(columns))
            .to_pandas(types_mapper=None)
            .astype(object)
            .where(lambda f: f.notna(), None),
            schema,
        )
        for rows, columns, schema in (
            (
                ROWS,
                COLUMNS,
                "who bigint, x double, day bigint, site string, ill boolean, note string",
            ),
            (OTHERS, OTHER, "id string, y bigint, kind string"),
        )
    ]

    found = open_engine(the_dataset(*frames)).run(plan).unseal()

    assert found == expected


@pytest.mark.parametrize("name", QUESTIONS)
def test_sail(name):
    """Each kind of node in Spark's dialect, on its fast stand-in."""
    on_spark(sparks.sail(), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_spark(name):
    """The same on Spark itself."""
    on_spark(sparks.spark(), name)


def test_named_tables_of_spark_are_of_one_session():
    """Two addresses are two places."""
    apart = the_dataset(Spark("t", "sc://a:1"), Spark("labs", "sc://b:1"))

    with pytest.raises(SourceError, match="lie in different places"):
        open_engine(apart)
