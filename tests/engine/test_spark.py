"""Spark returns the integers of the specification, and no cell makes it raise."""

import math
import sys
import threading
import warnings
from dataclasses import replace
from decimal import Decimal

import adversary as a
import formulas as f
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sparks
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset, Spark
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine import spark as module
from sfumato.engine.cell import number
from sfumato.engine.compiled import statement
from sfumato.engine.inspect import owner_inspection
from sfumato.engine.load import open_engine
from sfumato.errors import EngineError, MissingExtraError, SourceError
from sfumato.plan import make_plan

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

WHOLE = st.one_of(a.INTEGERS, st.integers(-(2**63), 2**63 - 1))


def whole(bits):
    """Return integers of a width, often the outermost ones."""
    half = 1 << bits - 1
    return st.one_of(
        st.integers(-3, 12), st.integers(-half, half - 1), st.sampled_from([-half, half - 1])
    )  # fmt: skip


CELLS = {
    "double": a.FLOATS,
    "float": st.one_of(st.sampled_from([math.inf, -math.inf, math.nan, 2.5, -0.0, 1e-45]), st.floats(width=32)),
    "tinyint": whole(8), "smallint": whole(16), "int": whole(32), "bigint": whole(64),
    "decimal(9,2)": st.decimals(-12, 12, places=2),
    "decimal(38,4)": st.one_of(st.decimals(-(10**30), 10**30, places=4), st.integers(-3, 12).map(lambda i: Decimal(i).quantize(Decimal("0.0001")))),
    "decimal(20,0)": st.one_of(whole(64), st.integers(10**19, 10**20 - 1)).map(Decimal),
    "decimal(38,38)": st.decimals(0, "0.5", places=38),
    "string": st.one_of(a.NUMERALS, a.TEXTS),
    "boolean": st.booleans(),
    "void": st.none(),
}  # fmt: skip


def frame(session, rows, kinds):
    """Return a DataFrame of these rows and types."""
    from pyspark.sql import types as t

    simple = {
        "double": t.DoubleType(), "float": t.FloatType(), "tinyint": t.ByteType(),
        "smallint": t.ShortType(), "int": t.IntegerType(), "bigint": t.LongType(),
        "string": t.StringType(), "boolean": t.BooleanType(), "void": t.NullType(),
    }  # fmt: skip

    def of(kind):
        if kind.startswith("decimal"):
            return t.DecimalType(*map(int, kind[8:-1].split(",")))
        return simple[kind]

    fields = [t.StructField(n, of(kind), nullable=True) for n, kind in kinds.items()]
    cells = [tuple(row[n] for n in kinds) for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return session.createDataFrame(cells, t.StructType(fields))


def answer(plan, source):
    """Return the integers of a source."""
    return open_engine(Dataset(source, schema=plan.table, name="t")).run(plan).unseal()


@pytest.fixture(scope="module")
def sail():
    """The fast stand-in for Spark."""
    return sparks.sail()


@pytest.fixture(scope="module")
def spark():
    """Spark itself."""
    return sparks.spark()


def agree(session, data, plan):
    """Compare one random table of random types."""
    kinds = {n: data.draw(st.sampled_from(sorted(CELLS))) for n in a.NAMES}
    row = st.fixed_dictionaries(
        {n: st.one_of(st.none(), CELLS[k]) for n, k in kinds.items()}
    )
    rows = data.draw(st.lists(row, max_size=10))

    assert answer(plan, frame(session, rows, kinds)) == a.expected(plan, rows)


@settings(max_examples=a.times(100), deadline=None)
@given(st.data(), a.plans())
def test_every_plan_and_every_type_on_sail(sail, data, plan):
    """Random plans over a table whose columns are of random types."""
    agree(sail, data, plan)


@settings(max_examples=a.times(8), deadline=None)
@given(st.data(), a.plans(), st.booleans())
def test_every_plan_and_every_type_on_spark(spark, data, plan, ansi):
    """The same on Spark, in ANSI mode and without."""
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())

    agree(spark, data, plan)


HALF_WAY = format(Decimal(2) ** -1075, "f")


@settings(max_examples=a.times(60), deadline=None)
@given(st.text("0123456789.eE+- \t\n\r\v\f", max_size=14) | a.NUMERALS)
@example(None)
@example("1e99999999999999999999")
@example("-1e99999999999999999999")
@example("0.0e99999999999999999999")
@example("1e-99999999999999999999")
@example("2.4703282292062327208e-324")
@example("2.4703282292062327209e-324")
@example("1.7976931348623158079e308")
@example("1.797693134862315808e308")
@example("9" * 4000)
@example("1" + "0" * 20_000 + ".5e-20000")
@example("0" * 20_000 + "5")
@example(HALF_WAY)
@example(HALF_WAY + "0" * 400 + "1")
@example("7\u00a0")
@example("7\u2028")
@example("7\x85")
@example("\u0665")
@example("Infinity")
@example("NaN")
@example("1d")
@example("0x1p3")
@example("1e5e5")
def test_a_text_is_the_number_that_the_rule_says(sail, text):
    """Which texts are numbers, and which double each one is; none raises."""
    the_same_number(sail, [text])


def test_texts_are_the_same_numbers_on_spark(spark):
    """The same on Spark, all texts in one table."""
    texts = [
        "1e400", "-1e400", "0e999", "2.4703282292062327208e-324", "2.4703282292062327209e-324",
        "1.7976931348623158079e308", "1.797693134862315808e308", HALF_WAY, HALF_WAY + "0" * 400 + "1",
        "7\u00a0", "7\u2028", "7\x85", "\u0665", "Infinity", "NaN", "1d", "1f", "0x1p3", " 5.", "\t7\n", "",
        "9" * 4000, "1" + "0" * 2000 + ".5e-2000", "1e99999999999999999999",
    ]  # fmt: skip
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        the_same_number(spark, texts)


def the_same_number(session, texts):
    """Compare a column of texts with the rule, by filters and by sums."""
    schema = Schema({"x": Real("-1e50", "1e50"), "y": Real(0, 1)})
    rows = [{"x": text, "y": text} for text in texts]
    numbers = {number(text) for text in texts} - {None}
    exact = [x for x in numbers if math.isfinite(x)]
    condition = (
        col("x").is_missing()
        | (col("x") > 1e308)
        | (col("x") < -1e308)
        | col("x").is_in(exact)
    )
    query = ask.Query().where(condition).select(ask.count(), ask.count("x"), ask.sum("x"), ask.sum("y"))  # fmt: skip
    plan = make_plan(query, schema, 1)

    found = answer(plan, frame(session, rows, {"x": "string", "y": "string"}))

    assert found == a.expected(plan, rows)


def test_sums_beyond_64_bits_are_exact(sail, spark):
    """A thousand of the largest values that a declaration allows, in both modes."""
    far = 2**62 - 2**10
    schema = Schema({"x": Real(-far, far, step=1)})
    rows = [{"x": math.inf}] * 1000
    plan = make_plan(ask.Query().select(ask.sum("x"), ask.mean("x")), schema, 1)

    spark.conf.set("spark.sql.ansi.enabled", "false")
    for session in (sail, spark):
        found = answer(plan, frame(session, rows, {"x": "float"}))
        assert found == a.expected(plan, rows)
        assert max(abs(i) for part in found for i in part) > 2**70


def test_the_guard_of_sums_is_needed(sail, monkeypatch):
    """A planted fault: a plain sum wraps, without a word."""
    plain = replace(module.SPARK, wide_sum_text="CAST(COALESCE(SUM({x}), 0) AS STRING)")
    far = 2**62 - 2**10
    schema = Schema({"x": Real(-far, far, step=1)})
    rows = [{"x": math.inf}] * 5
    plan = make_plan(ask.Query().select(ask.mean("x")), schema, 1)

    monkeypatch.setattr(module, "SPARK", plain)

    assert answer(plan, frame(sail, rows, {"x": "float"})) != a.expected(plan, rows)


TEXTS = [
    "a\\", "b' OR TRUE --", "\\' --", "${spark.app.name}", "${env:HOME}", "{x}", "a\0b", "男", "\n", '"', "`", "%s",
]  # fmt: skip


@pytest.mark.parametrize("engine", ["sail", "spark"])
def test_any_text_can_be_a_key(engine, request):
    """Quotes, backslashes, variables and NULs reach Spark as bytes."""
    session = request.getfixturevalue(engine)
    schema = Schema({"g": Category(TEXTS)})
    rows = [{"g": text} for text in [*TEXTS, "a", "b", "", None]]
    query = ask.Query().where(col("g") != TEXTS[2]).group_by("g").select(ask.count())
    plan = make_plan(query, schema, 1)

    odd = {"spark.sql.parser.escapedStringLiterals": "true", "spark.sql.caseSensitive": "true",
           "spark.sql.ansi.enforceReservedKeywords": "true", "spark.sql.ansi.doubleQuotedIdentifiers": "true"}  # fmt: skip
    for name, value in odd.items() if engine == "spark" else ():
        session.conf.set(name, value)
    try:
        assert answer(plan, frame(session, rows, {"g": "string"})) == a.expected(
            plan, rows
        )
    finally:
        for name in odd if engine == "spark" else ():
            session.conf.unset(name)


@pytest.mark.usefixtures("spark")
def test_nan_hidden_by_parquet_statistics(tmp_path):
    """Statistics of a Parquet file leave NaN out; a filter must not trust them."""
    cells = [1.0, 2.0, math.nan, 3.0] * 3
    kind = pa.float64()
    table = pa.table({"x": pa.array(cells, kind), "k": pa.array(cells, kind)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=4)
    schema = Schema({"x": Real(0, 4, step=1), "k": Category([1, 2, 3])})
    asked = (ask.count(), ask.count("x"), ask.sum("x"), ask.histogram("k"), ask.histogram("x", [0, 2, 4]))  # fmt: skip
    for condition in (col("x") > 2, col("x").is_missing(), ~(col("x") > 2)):
        plan = make_plan(ask.Query().where(condition).select(*asked), schema, 1)

        found = answer(plan, Spark(f"parquet.`{tmp_path / 't.parquet'}`"))

        assert found == a.expected(plan, [{"x": x, "k": x} for x in cells])


SCHEMA = Schema({"x": Integer(0, 10), "g": Category(["a", "2"])})
KINDS = {"x": "int", "g": "string"}
ROWS = [{"x": 1, "g": "a"}, {"x": 2, "g": "2"}]
PLAN = make_plan(ask.Query().group_by("g").select(ask.count(), ask.sum("x")), SCHEMA, 1)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("SELECT 1 AS x", "no column 'g'"),
        ("SELECT 1 AS x, 'a' AS G", "no column 'g'"),
        ("SELECT 1 AS x, 'a' AS g, 'b' AS g", "2 columns called 'g'"),
        ("SELECT DATE'2024-01-01' AS x, 'a' AS g", "'x' is stored as date"),
        ("SELECT 1 AS x, TIMESTAMP'2024-01-01 00:00:00' AS g", "'g' is stored as timestamp"),
        ("SELECT array(1) AS x, 'a' AS g", "'x' is stored as array<int>"),
        ("SELECT 1 AS x, X'61' AS g", "'g' is stored as binary"),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_is_refused_at_open(sail, tmp_path, statement, text):
    """Missing columns and types without numbers or keys; no ledger is left behind."""
    path = tmp_path / "a.ledger"

    with pytest.raises(SourceError, match=text):
        sf.Session(Dataset(sail.sql(statement), schema=SCHEMA), 1, ledger=path)

    assert not path.exists()


def test_names_in_capitals_and_with_dots(spark):
    """Columns are found by their exact names, although Spark merges cases."""
    schema = Schema({"Key": Category(["a"]), "key": Category(["b"]), "a.b`": Boolean()})
    rows = [{"Key": "a", "key": "b", "a.b`": True}, {"Key": "b", "key": "b", "a.b`": None}]  # fmt: skip
    wanted = ask.count("Key"), ask.count("key"), ask.count("a.b`")
    plan = make_plan(ask.Query().select(*wanted), schema, 1)
    kinds = {"Key": "string", "key": "string", "a.b`": "boolean"}

    assert answer(plan, frame(spark, rows, kinds)) == a.expected(plan, rows)


def test_nothing_is_left_in_the_session(spark):
    """No view, no setting; the session goes on."""
    before = spark.sql("SET").collect()

    assert answer(PLAN, frame(spark, ROWS, KINDS)) == ((1, 1), (1, 2))

    assert spark.catalog.listTables() == []
    assert spark.sql("SET").collect() == before


def test_padding_of_fixed_width_text_is_no_text(spark):
    """A cell of char(n) is its text without the blanks that fill it up."""
    spark.sql("CREATE TABLE padded (g CHAR(4)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('F'), ('M'), ('F'), ('x'), (NULL)")
        schema = Schema({"g": Category(["F", "M"])})
        plan = make_plan(ask.Query().group_by("g").select(ask.count()), schema, 1)

        assert answer(plan, Spark("padded")) == ((2, 1),)
    finally:
        spark.sql("DROP TABLE padded")


@pytest.mark.parametrize("source", [Spark("nothing.here"), Spark("a b"), Spark("x; DROP TABLE y")])  # fmt: skip
@pytest.mark.usefixtures("spark")
def test_what_cannot_be_opened_has_one_text(source):
    """Neither an address nor Spark's words are shown."""
    with pytest.raises(SourceError, match="cannot be opened") as error:
        open_engine(Dataset(source, schema=SCHEMA))

    assert error.value.__cause__ is None
    assert error.value.__context__ is None
    assert "token" not in repr(Spark("t", "sc://h;token=token"))


def test_a_failure_has_one_text_and_no_cause(spark):
    """A frame that raises on a cell, and quotes it, says nothing of it to the analyst."""
    bad = spark.sql("SELECT CAST(raise_error(g) AS INT) AS x, g FROM VALUES ('s3cr3t-cell') AS t(g)")  # fmt: skip

    with pytest.raises(EngineError) as failure:
        open_engine(Dataset(bad, schema=SCHEMA)).run(PLAN)

    assert str(failure.value) == str(EngineError())
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


def test_a_public_size_is_checked_when_opened_and_at_each_scan(sail):
    """Under replace-one the number of rows is part of the declarations."""
    unit = Rows(neighbours="replace_one", size=2)
    schema = Schema(dict(SCHEMA.columns), unit=unit)
    plan = make_plan(ask.Query().select(ask.count(), ask.sum("x")), schema, 1)
    frame(sail, ROWS, KINDS).createOrReplaceTempView("sized")
    one = open_engine(Dataset(sail.table("sized"), schema=schema))
    assert one.run(plan).unseal() == a.expected(plan, ROWS)

    other = Schema(dict(SCHEMA.columns), unit=Rows(neighbours="replace_one", size=3))

    with pytest.raises(SourceError, match="public number of rows"):
        open_engine(Dataset(sail.table("sized"), schema=other))
    one._frame = frame(sail, ROWS * 2, KINDS)
    with pytest.raises(EngineError):
        one.run(plan)
    sail.catalog.dropTempView("sized")


def test_threads_share_an_engine(sail):
    """Each statement has a view of its own."""
    schema = Schema({"x": Integer(0, 100)})
    rows = [{"x": i} for i in range(100)]
    one = open_engine(Dataset(frame(sail, rows, {"x": "int"}), schema=schema))
    plans = [make_plan(ask.Query().where(col("x") < i).select(ask.count()), schema, 1) for i in range(8)]  # fmt: skip
    found = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: one.run(plans[i]).unseal()}))
        for i in range(8)
    ]  # fmt: skip

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {i: ((i,),) for i in range(8)}


def test_a_session_and_the_owner_on_spark(sail):
    """From a frame to a release and an inspection."""
    rows = [{"x": i % 30, "g": "a2b"[i % 3]} for i in range(3000)]
    data = Dataset(frame(sail, rows, KINDS), schema=SCHEMA, name="patients")

    release = sf.Session(data, 1).query().group_by("g").select(ask.count()).release("0.5")  # fmt: skip

    # Geometric noise at 0.5: 60 away less often than once in 10^12.
    assert all(abs(f.estimate - 1000) < 60 for f in release.figures)
    column = owner_inspection(open_engine(data), SCHEMA)
    assert (column[1].rows, column[1].missing, column[1].stored) == (3000, 1000, "string")  # fmt: skip
    assert (column[0].above, column[0].below) == (1900, 0)


def test_without_pyspark_the_hint_names_the_extra(monkeypatch):
    """The driver is an optional library."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'sfumato\[spark\]'"):
        open_engine(Dataset(Spark("t"), schema=SCHEMA))


def test_a_stream_is_refused(spark):
    """It has no rows that could be counted."""
    stream = spark.readStream.format("rate").load()

    with pytest.raises(SourceError, match="stream"):
        open_engine(Dataset(stream, schema=Schema({"value": Integer(0, 9)})))


# Sail writes each operand out at each of its uses: its work doubles with every layer.
MOST_LAYERS = 4


@settings(max_examples=a.times(40), deadline=None, suppress_health_check=f.SLOW)
@given(st.data(), f.plans())
def test_computed_values_on_sail(sail, data, plan):
    """Random expressions over columns of random types."""
    assume(statement(plan, "spark").count("SELECT d.*") <= MOST_LAYERS)

    agree(sail, data, plan)


@settings(max_examples=a.times(4), deadline=None, suppress_health_check=f.SLOW)
@given(st.data(), f.plans(), st.booleans())
def test_computed_values_on_spark(spark, data, plan, ansi):
    """The same on Spark, in ANSI mode and without."""
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())

    agree(spark, data, plan)
