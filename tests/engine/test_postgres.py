"""PostgreSQL returns the integers of the specification, and no cell makes it raise."""

import math
import sys
import threading
from dataclasses import replace
from decimal import Decimal

import adversary as a
import days
import formulas as f
import pytest
from cluster import running
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset, Postgres
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine import postgres
from sfumato.engine.cell import number
from sfumato.engine.inspect import owner_inspection
from sfumato.engine.load import open_engine
from sfumato.errors import EngineError, MissingExtraError, SourceError
from sfumato.plan import make_plan

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")


class Server:
    """A database whose one table the tests exchange."""

    def __init__(self, url):
        self.url = url
        self.db = psycopg.connect(url, autocommit=True)

    def source(self, rows, types, name='ta"b.le'):
        """Make a table of these rows and return its address."""
        table = psycopg.sql.Identifier("public", name)
        columns = psycopg.sql.SQL(", ").join(
            psycopg.sql.SQL("{} " + kind).format(psycopg.sql.Identifier(n))
            for n, kind in types.items()
        )
        self.db.execute(
            psycopg.sql.SQL("DROP TABLE IF EXISTS {t}; CREATE TABLE {t} ({c})").format(
                t=table, c=columns
            )
        )
        if rows:
            with self.db.cursor() as cursor:
                marks = psycopg.sql.SQL(", ").join(
                    psycopg.sql.SQL("%s::" + kind) for kind in types.values()
                )
                cursor.executemany(
                    psycopg.sql.SQL("INSERT INTO {} VALUES ({})").format(table, marks),
                    [[row[n] for n in types] for row in rows],
                )
        return Postgres(self.url, name)

    def answer(self, plan, rows, types):
        """Return what PostgreSQL says of the rows."""
        return answer(plan, self.source(rows, types))


def answer(plan, source):
    """Return the integers of a source."""
    return open_engine(Dataset(source, schema=plan.table)).run(plan).unseal()


@pytest.fixture(scope="module")
def server():
    """A private server for this module."""
    with running() as url:
        one = Server(url)
        yield one
        one.db.close()


CLEAN = a.TEXTS.filter(lambda t: "\0" not in t and t.isprintable() | ("\n" in t))
CELLS = {
    "double precision": a.FLOATS,
    "real": st.one_of(st.sampled_from([math.inf, -math.inf, math.nan, 2.5, -0.0, 1e-45]), st.floats(width=32)),
    "smallint": st.one_of(st.integers(-3, 12), st.integers(-(2**15), 2**15 - 1)),
    "integer": st.one_of(st.integers(-3, 12), st.integers(-(2**31), 2**31 - 1)),
    "bigint": st.one_of(a.INTEGERS, st.integers(-(2**63), 2**63 - 1)),
    "numeric": st.one_of(
        st.integers(-3, 12).map(Decimal), st.decimals(-12, 12, places=2),
        st.decimals(allow_infinity=False, allow_nan=True).filter(lambda d: d.is_nan() or abs(d.adjusted()) < 9000).map(lambda d: Decimal("NaN") if d.is_nan() else d),
        st.sampled_from([Decimal(t) for t in ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "-1e-400", "5e-324", "2.0", "1e308", "0.0", "2.4703282292062327e-324", "2.4703282292062328e-324", "1.797693134862315807e308", "1.797693134862315808e308")]),
    ),
    "text": st.one_of(a.NUMERALS, CLEAN),
    "varchar(9)": st.text("0123456789.eE+- ", max_size=9),
    "boolean": st.booleans(),
}  # fmt: skip
NUMBER = ["double precision", "real", "smallint", "integer", "bigint", "numeric", "text", "varchar(9)", "boolean"]  # fmt: skip


@settings(max_examples=a.times(150), deadline=None)
@given(st.data(), a.plans())
def test_every_plan_and_every_type(server, data, plan):
    """Random plans over a table whose columns are of random types."""
    kinds = {n: data.draw(st.sampled_from(NUMBER)) for n in a.NAMES}
    row = st.fixed_dictionaries(
        {n: st.one_of(st.none(), CELLS[k]) for n, k in kinds.items()}
    )
    rows = data.draw(st.lists(row, max_size=10))

    assert server.answer(plan, rows, kinds) == a.expected(plan, rows)


TYPES = dict.fromkeys(a.NUMBERS, "double precision") | dict.fromkeys(a.KEYS, "text") | {a.FLAG: "boolean"}  # fmt: skip


@settings(max_examples=a.times(60), deadline=None)
@given(a.plans(), a.tables(st.none() | a.FLOATS, st.none() | CLEAN, st.none() | st.booleans()))  # fmt: skip
def test_the_usual_types(server, plan, rows):
    """Doubles, texts and truth values."""
    assert server.answer(plan, rows, TYPES) == a.expected(plan, rows)


@settings(max_examples=a.times(120), deadline=None, suppress_health_check=f.SLOW)
@given(f.plans(), a.tables(st.none() | a.FLOATS, st.none() | CLEAN, st.none() | st.booleans()))  # fmt: skip
def test_computed_values(server, plan, rows):
    """Random expressions; PostgreSQL raises where a double over- or underflows."""
    assert server.answer(plan, rows, TYPES) == a.expected(plan, rows)


@settings(max_examples=a.times(60), deadline=None)
@given(a.plans(), a.tables(st.none() | a.NUMERALS, st.none() | CLEAN, st.none() | CLEAN))  # fmt: skip
def test_everything_as_text(server, plan, rows):
    """Numerals, nearly numerals and keys in text columns."""
    kinds = dict.fromkeys(a.NAMES, "text")

    assert server.answer(plan, rows, kinds) == a.expected(plan, rows)


BIG = st.sampled_from(["infinity", "-infinity", "0044-03-15 BC", "4713-01-01 BC", "294276-12-31", "10000-01-01"])  # fmt: skip
DAY_CELLS = {
    "date": days.DAYS | BIG | st.just("5874897-12-31"),
    "timestamp": st.datetimes() | BIG,
    "timestamptz": days.MOMENTS | BIG,
    "text": days.TEXTS.filter(lambda t: t.isprintable() or "\t" in t),
}


@settings(max_examples=a.times(60), deadline=None)
@given(st.data(), days.plans())
def test_days(server, data, plan):
    """Days, moments and texts; far and infinite ones clamp, and none raises."""
    kind = data.draw(st.sampled_from(list(DAY_CELLS)))
    rows = data.draw(st.lists(days.row(st.none() | DAY_CELLS[kind]), max_size=6))
    kinds = {"d": kind, "e": kind, "k": "text"}

    found = server.answer(plan, rows, kinds)

    if not any(isinstance(r[n], str) for r in rows for n in "de") or kind == "text":
        assert found == a.expected(plan, rows)


HALF_WAY = format(Decimal(2**53 + 1), "f") + "." + "0" * 700  # ties to even


@settings(max_examples=a.times(200), deadline=None)
@example(None)
@given(st.text("0123456789.eE+- \t\n\r\v\f", max_size=14) | a.NUMERALS)
@example("1e99999999999999999999")
@example("-1e99999999999999999999")
@example("0.0e99999999999999999999")
@example("1e-99999999999999999999")
@example("1e" + "0" * 500 + "5")
@example("0." + "0" * 320 + "24703282292062327208")
@example("0." + "0" * 323 + "24703282292062327209")
@example("2.4703282292062327208e-324")
@example("2.4703282292062327209e-324")
@example("1.7976931348623158079e308")
@example("1.797693134862315808e308")
@example("9" * 4000)
@example("9" * 300_000)
@example("0." + "0" * 300_000 + "7e300001")
@example("1" + "0" * 20_000 + ".5e-20000")
@example("." + "0" * 20_000 + "1")
@example("0" * 200_000 + "5")
@example("1." + "0" * 20_000 + "1")
@example(HALF_WAY)
@example(HALF_WAY + "0" * 400 + "1")
@example("-" + HALF_WAY + "0" * 400 + "1")
@example(" " * 4000 + "7")
@example("." + "0" * 3999)
@example("0." + "1" * 3990 + "e9999")
@example("1" * 3990 + "e-9999")
@example("7\u00a0")
@example("\u0665")
@example("Infinity")
@example("NaN")
@example("1e5e5")
@example("--1")
def test_a_text_is_the_number_that_the_rule_says(server, text):
    """Which texts are numbers, and which double each one is; none raises."""
    schema = Schema({"x": Real("-1e50", "1e50"), "y": Real(0, 1)})
    rows = [{"x": text, "y": text}]
    exact = number(text)
    filters = [col("x").is_missing(), col("x") > 1e308, col("x") < -1e308]
    filters += [col("x") == exact] if exact is not None and math.isfinite(exact) else []

    for condition in filters:
        query = ask.Query().where(condition).select(ask.count(), ask.sum("x"), ask.sum("y"))  # fmt: skip
        plan = make_plan(query, schema, 1)
        kinds = {"x": "text", "y": "text"}
        assert server.answer(plan, rows, kinds) == a.expected(plan, rows), condition


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [(0, 250, 1), (0, "1e-9", None), (0, "1e-300", None), ("-1e50", "1e50", None),
     ("-1e-20", 10, 3), (-1, 1, "1e-15")],
)  # fmt: skip
def test_no_quotient_underflows(server, lower, upper, step):
    """Denormals and tiny numbers divided by steps of every size."""
    schema = Schema({"x": Real(lower, upper, step=step)})
    tiny = [5e-324, -5e-324, 2.2e-308, -1e-310, 1e-290, 1e-20, -1e-20, 1e-17, -0.0]
    tiny += [column * sign * 2.0**-k for column in (schema["x"].step,) for sign in (1, -1)
             for k in (1, 2, 53, 54, 55, 59, 60, 61, 1000)]  # fmt: skip
    plan = make_plan(ask.Query().select(ask.sum("x"), ask.mean("x")), schema, 1)

    for x in tiny:
        rows = [{"x": x}]
        found = server.answer(plan, rows, {"x": "double precision"})
        assert found == a.expected(plan, rows), x


def test_the_guard_of_quotients_is_needed(server, monkeypatch):
    """A planted fault: without it one small cell makes the statement fail."""
    bare = replace(postgres.POSTGRES, quotient="{x} / {step}")
    schema = Schema({"x": Real(0, 250, step=2)})
    plan = make_plan(ask.Query().select(ask.sum("x")), schema, 1)
    rows, kinds = [{"x": 5e-324}], {"x": "double precision"}
    assert server.answer(plan, rows, kinds) == a.expected(plan, rows)

    monkeypatch.setattr(postgres, "POSTGRES", bare)

    with pytest.raises(EngineError):
        server.answer(plan, rows, kinds)


def test_sums_beyond_64_bits_are_exact(server):
    """A thousand of the largest values that a declaration allows."""
    far = 2**62 - 2**10
    schema = Schema({"x": Real(-far, far, step=1)})
    rows = [{"x": math.inf}] * 1000
    plan = make_plan(ask.Query().select(ask.sum("x"), ask.mean("x")), schema, 1)

    found = server.answer(plan, rows, {"x": "real"})

    assert found == a.expected(plan, rows)
    assert max(abs(i) for part in found for i in part) > 2**70


def test_keys_are_compared_byte_by_byte(server):
    """A collation that merges cases and compositions changes nothing."""
    try:
        server.db.execute(
            "CREATE COLLATION IF NOT EXISTS loose (provider = icu, "
            "locale = 'und-u-ks-level1', deterministic = false)"
        )
    except psycopg.Error:
        pytest.skip("this PostgreSQL was built without ICU")
    keys = ["a", "A", "é", "e\u0301", "2"]
    schema = Schema({"g": Category(keys), "x": Integer(0, 9)})
    rows = [{"g": k, "x": "1"} for k in [*keys, "2.0", "Á", "e"]]
    query = ask.Query().group_by("g").select(ask.count(), ask.sum("x"), ask.histogram("g"))  # fmt: skip
    plan = make_plan(query, schema, 1)

    found = server.answer(plan, rows, {"g": "text COLLATE loose", "x": "text COLLATE loose"})  # fmt: skip

    assert found == a.expected(plan, rows)


def test_padding_of_fixed_width_text_is_no_text(server):
    """A cell of char(n) is its text without the blanks that fill it up."""
    schema = Schema({"g": Category(["F", "M"])})
    plan = make_plan(ask.Query().group_by("g").select(ask.count()), schema, 1)
    rows = [{"g": g} for g in ("F", "M", "F", "x", None)]

    assert server.answer(plan, rows, {"g": "char(4)"}) == ((2, 1),)


SCHEMA = Schema({"x": Integer(0, 10), "g": Category(["a", "2"])})
KINDS = {"x": "integer", "g": "text"}
PLAN = make_plan(ask.Query().group_by("g").select(ask.count(), ask.sum("x")), SCHEMA, 1)


def engine(server, rows=({"x": 1, "g": "a"}, {"x": 2, "g": "2"})):
    """Return an engine on a small table."""
    source = server.source(list(rows), KINDS, "small")
    return open_engine(Dataset(source, schema=SCHEMA))


SECRET = "s3cr3t-cell"
REFUSED = [
    ({"x": "integer"}, "no column 'g'"),
    ({"x": "integer", "G": "text"}, "no column 'g'"),
    ({"x": "date", "g": "text"}, "'x' is stored as date"),
    ({"x": "integer", "g": "timestamp with time zone"}, "'g' is stored as timestamp"),
    ({"x": "integer", "g": "jsonb"}, "'g' is stored as jsonb"),
    ({"x": "integer[]", "g": "text"}, "'x' is stored as integer"),
    ({"x": "integer", "g": "uuid"}, "'g' is stored as uuid"),
    ({"x": "money", "g": "text"}, "'x' is stored as money"),
    ({"x": "interval", "g": "bytea"}, "'x' is stored as interval"),
]


@pytest.mark.parametrize(("kinds", "text"), REFUSED)
def test_a_table_that_does_not_fit_is_refused_at_open(server, tmp_path, kinds, text):
    """Missing columns and types without numbers or keys; no ledger is left behind."""
    source, path = server.source([], kinds), tmp_path / "a.ledger"

    with pytest.raises(SourceError, match=text):
        sf.Session(Dataset(source, schema=SCHEMA), budget=1, ledger=path)

    assert not path.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"table": "nothing"}, {"schema": "nothing"}, {"url": "postgresql://owner:s3cr3t-cell@/none?host=/none"},
        {"url": "s3cr3t-cell"}, {"url": "postgresql://[s3cr3t-cell"}, {"table": 'x"; DROP TABLE small; --'},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_opened_has_one_text(server, change):
    """Neither an address nor the driver's words are shown."""
    given_ = {"url": server.url, "table": "small", **change}

    with pytest.raises(SourceError, match="cannot be opened") as error:
        open_engine(Dataset(Postgres(**given_), schema=SCHEMA))

    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__context__ is None
    assert SECRET not in repr(Dataset(Postgres(**given_), schema=SCHEMA).source)


def test_a_right_that_is_missing_shows_at_open(server):
    """A user who may not read the table learns it before anything is spent."""
    server.source([], KINDS, "small")
    server.db.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    source = Postgres(server.url.replace("owner@", "stranger@"), "small")

    with pytest.raises(SourceError, match="cannot be opened"):
        open_engine(Dataset(source, schema=SCHEMA))


def test_a_failure_has_one_text_and_no_cause(server):
    """A view that raises on a cell, and quotes it, says nothing of it to the analyst."""
    server.source([{"x": 1, "g": SECRET}], KINDS, "small")
    server.db.execute("CREATE VIEW bad AS SELECT g::integer AS x, g FROM small")
    try:
        one = open_engine(Dataset(Postgres(server.url, "bad"), schema=SCHEMA))
        with pytest.raises(EngineError) as failure:
            one.run(PLAN)
    finally:
        server.db.execute("DROP VIEW bad")

    assert str(failure.value) == str(EngineError())
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


def test_a_table_that_changes_its_shape_fails(server):
    """The statement fits the types that were seen when the table was opened."""
    one = engine(server)
    assert one.run(PLAN).unseal() == ((1, 1), (1, 2))

    server.db.execute("ALTER TABLE small ALTER x TYPE text")

    with pytest.raises(EngineError):
        one.run(PLAN)


def test_a_statement_that_takes_too_long_is_given_up(server):
    """The time limit is the source's."""
    server.source([{"x": 1, "g": "a"}], KINDS, "small")
    server.db.execute(
        "CREATE OR REPLACE VIEW slow AS SELECT s.x, s.g FROM small s, pg_sleep(20)"
    )
    source = Postgres(server.url, "slow", seconds=1)

    with pytest.raises(EngineError):
        open_engine(Dataset(source, schema=SCHEMA)).run(PLAN)

    server.db.execute("DROP VIEW slow")


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM public.small",
        "CREATE TABLE public.leak AS SELECT 1",
        "SELECT * FROM small",
        "SELECT pg_catalog.setval('public.counter', 7)",
    ],
)
def test_nothing_can_be_written(server, sql):
    """The transaction is read-only, and finds no name outside the catalogue."""
    one = engine(server)
    server.db.execute("CREATE SEQUENCE IF NOT EXISTS counter")

    with one._transaction() as db, pytest.raises(psycopg.Error):
        db.execute(sql)


def test_functions_of_others_are_not_called(server):
    """A function that fits better than the catalogue's own is out of sight."""
    server.db.execute(
        "CREATE OR REPLACE FUNCTION public.floor(double precision) RETURNS double precision"
        " LANGUAGE sql AS 'SELECT 7.0::float8'"
    )
    server.db.execute("ALTER ROLE owner SET search_path = public, pg_catalog")
    try:
        assert engine(server).run(PLAN).unseal() == ((1, 1), (1, 2))
    finally:
        server.db.execute("ALTER ROLE owner RESET search_path")
        server.db.execute("DROP FUNCTION public.floor(double precision)")


def test_odd_settings_of_a_user_change_nothing(server):
    """Backslashes, digits of floats and dates as a role may have set them."""
    for name, value in (("standard_conforming_strings", "off"), ("extra_float_digits", "-15"),
                        ("backslash_quote", "on"), ("default_transaction_isolation", "'read committed'")):  # fmt: skip
        server.db.execute(f"ALTER ROLE owner SET {name} = {value}")
    schema = Schema({"g": Category(["a\\", "b' OR TRUE --", "\\' --"]), "f": Category([123456789, 2])})  # fmt: skip
    rows = [{"g": "a\\", "f": 123456789.0}, {"g": "\\' --", "f": 2.0}]
    query = ask.Query().group_by("g", "f").select(ask.count())
    plan = make_plan(query, schema, 1)
    try:
        found = server.answer(plan, rows, {"g": "text", "f": "double precision"})
    finally:
        server.db.execute("ALTER ROLE owner RESET ALL")

    assert found == a.expected(plan, rows)


def test_a_public_size_is_checked_when_opened_and_at_each_scan(server):
    """Under replace-one the number of rows is part of the declarations."""
    unit = Rows(neighbours="replace_one", size=2)
    schema = Schema(dict(SCHEMA.columns), unit=unit)
    plan = make_plan(ask.Query().select(ask.count(), ask.sum("x")), schema, 1)
    rows = [{"x": 1, "g": "a"}, {"x": 2, "g": "2"}]
    one = open_engine(Dataset(server.source(rows, KINDS, "small"), schema=schema))
    assert one.run(plan).unseal() == a.expected(plan, rows)

    server.db.execute("INSERT INTO small VALUES (3, 'a')")

    with pytest.raises(EngineError):
        one.run(plan)
    with pytest.raises(SourceError, match="public number of rows"):
        open_engine(Dataset(Postgres(server.url, "small"), schema=schema))


def test_threads_share_an_engine(server):
    """Each scan has a connection of its own."""
    schema = Schema({"x": Integer(0, 100)})
    rows = [{"x": i} for i in range(100)]
    one = open_engine(Dataset(server.source(rows, {"x": "integer"}, "many"), schema=schema))  # fmt: skip
    plans = [make_plan(ask.Query().where(col("x") < i).select(ask.count()), schema, 1) for i in range(12)]  # fmt: skip
    found = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: one.run(plans[i]).unseal()}))
        for i in range(12)
    ]  # fmt: skip

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {i: ((i,),) for i in range(12)}


def test_views_partitions_and_names_in_capitals(server):
    """Whatever can be selected from can be opened, by its exact name."""
    server.source([{"x": 1, "g": "a"}], KINDS, "Small")
    server.db.execute('CREATE OR REPLACE VIEW "Seen" AS SELECT g, x FROM "Small"')

    assert answer(PLAN, Postgres(server.url, "Seen")) == ((1, 0), (1, 0))
    with pytest.raises(SourceError):
        answer(PLAN, Postgres(server.url, "seen"))
    server.db.execute('DROP VIEW "Seen"')


def test_a_session_and_the_owner_on_postgresql(server):
    """From the address to a release and an inspection."""
    rows = [{"x": i % 30, "g": "a2b"[i % 3]} for i in range(3000)]
    source = server.source(rows, KINDS, "patients")
    data = Dataset(source, schema=SCHEMA)
    session = sf.Session(data, budget=1)

    release = session.query().group_by("g").select(ask.count()).release("0.5")

    # Geometric noise at 0.5: 60 away less often than once in 10^12.
    assert data.name == "patients"
    assert all(abs(f.estimate - 1000) < 60 for f in release.figures)
    column = owner_inspection(open_engine(data), SCHEMA)
    assert (column[1].rows, column[1].missing, column[1].stored) == (3000, 1000, "text")
    assert (column[0].above, column[0].below) == (1900, 0)


def test_without_psycopg_the_hint_names_the_extra(monkeypatch):
    """The driver is an optional library."""
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'sfumato\[postgres\]'"):
        open_engine(Dataset(Postgres("postgresql://x@/y", "t"), schema=SCHEMA))


def test_truth_values_as_numbers(server):
    """Booleans count as 0 and 1 in number columns, and as keys."""
    schema = Schema({"x": Real(0, 1, step=1), "g": Category(["true"]), "b": Boolean()})
    rows = [{"x": v, "g": v, "b": v} for v in (True, False, None, True)]
    wanted = ask.sum("x"), ask.histogram("g"), ask.mean("b"), ask.count("b")
    plan = make_plan(ask.Query().select(*wanted), schema, 1)

    found = server.answer(plan, rows, dict.fromkeys("xgb", "boolean"))

    assert found == a.expected(plan, rows)
