"""Data that would make a database raise, and questions that must cost nothing.

Each table is asked on DuckDB and, where it is installed, on PostgreSQL; both must give
the integers of the specification. The expected integers are stated as well, so that no
fault can hide in what the three have in common.
"""

import datetime as dt
import math

import pandas as pd
import pytest
from cluster import running

import sfumato as sf
from sfumato.declare.dataset import Dataset, Postgres
from sfumato.declare.expr import Term, col, value_of
from sfumato.declare.query import Query, count, mean, median
from sfumato.declare.query import sum as total
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import DeclarationError, EngineError
from sfumato.plan import make_plan

KINDS = {float: "double precision", int: "bigint", str: "text", bool: "boolean",
         dt.date: "date", dt.datetime: "timestamptz"}  # fmt: skip


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def ask(request):
    """Return a function that asks one database, and compares with the specification."""
    if request.param == "duckdb":
        yield lambda rows, plan: checked(rows, plan, pd.DataFrame(rows, dtype=object))
        return
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url, psycopg.connect(url, autocommit=True) as db:

        def asked(rows, plan):
            names = list(rows[0])
            kinds = [KINDS[type(next(r[n] for r in rows if r[n] is not None))] for n in names]  # fmt: skip
            db.execute("DROP TABLE IF EXISTS t")
            columns = ", ".join(f'"{n}" {k}' for n, k in zip(names, kinds))
            db.execute(f"CREATE TABLE t ({columns})")
            marks = ", ".join(f"%s::{kind}" for kind in kinds)
            with db.cursor() as cursor:
                cursor.executemany(f"INSERT INTO t VALUES ({marks})", [list(r.values()) for r in rows])  # fmt: skip
            return checked(rows, plan, Postgres(url, "t"))

        yield asked


def checked(rows, plan, source):
    """Return a database's integers, which must be those of the specification."""
    with open_engine(Dataset(source, schema=plan.table, name="t")) as engine:
        found = engine.run(plan).unseal()
    assert found == ReferenceEngine(rows).run(plan).unseal()
    return found


def derived(value, declared, *statistics, **columns):
    """Return the plan of one derived column."""
    query = Query().derive("d", value, declared)
    asked = statistics or (total("d"), count("d"))
    return make_plan(query.select(*asked), Schema(columns), 1)


X = Real(-10, 10, step=1)


def test_a_product_overflows(ask):
    """Products beyond doubles are clamped, not raised, on PostgreSQL too."""
    rows = [{"x": x} for x in (1e308, -1e308, 1e200, math.inf, 2.0)]
    plan = derived(col("x") ** 8, Real(0, 300, step=1), x=X)

    assert ask(rows, plan) == ((4 * 300 + 256,), (5,))


def test_a_product_underflows(ask):
    """Products below doubles are zero; PostgreSQL would raise "underflow"."""
    rows = [{"x": x} for x in (5e-324, -5e-324, 1e-200, 1e-40, -0.0)]
    plan = derived(col("x") * col("x"), Real(-1, 1, step="0.5"), x=X)

    assert ask(rows, plan) == ((0,), (5,))


def test_a_quotient_overflows_and_underflows(ask):
    """Whatever is divided by whatever."""
    rows = [{"x": x, "y": y} for x in (1e308, 5e-324, 3.0) for y in (5e-324, 1e308, -0.5)]  # fmt: skip
    plan = derived(col("x") / col("y"), Integer(-9, 9), x=X, y=X)

    # 5e-324 counts as 0 and 1e308 as 1e50: three rows divide by zero.
    assert ask(rows, plan) == ((1 - 9 + 0 + 0 + 0 - 6,), (6,))


def test_division_by_zero_is_missing(ask):
    """By 0, by -0, by what becomes 0, and 0 by 0."""
    rows = [{"x": x, "y": y} for x, y in ((1.0, 0.0), (1.0, -0.0), (0.0, 0.0), (1.0, 1e-60), (6.0, 3.0), (1.0, None))]  # fmt: skip
    plan = derived(col("x") / col("y"), Integer(0, 9), x=X, y=X)

    assert ask(rows, plan) == ((2,), (1,))


def test_a_bad_cast_is_missing(ask):
    """Texts that are no numbers, and numbers beyond doubles."""
    keys = ["7", "1e400", "-1e400", "n/a", "", "1,5", "0x10", " 3 ", "NaN", "inf"]
    rows = [{"k": key} for key in keys]
    plan = derived(col("k").to_number(), Integer(0, 9), k=Category(keys))

    assert ask(rows, plan) == ((7 + 9 + 0 + 3,), (4,))


def test_nan_and_infinities(ask):
    """NaN is missing, infinities are the largest numbers; no difference gives NaN."""
    rows = [{"x": x} for x in (math.nan, math.inf, -math.inf, 1.0, None)]
    plan = derived(col("x") - col("x"), Integer(-9, 9), x=X)
    above = make_plan(Query().where(col("x") * 0 == 0).select(count()), Schema({"x": X}), 1)  # fmt: skip

    assert ask(rows, plan) == ((0,), (3,))
    assert ask(rows, above) == ((3,),)


def test_sums_beyond_64_bits(ask):
    """Three times 2^62, and products of such numbers."""
    rows = [{"n": 2**62}] * 3
    plan = derived(col("n") * 2, Real(0, 2**62, step=2), n=Integer(0, 2**61))

    assert ask(rows, plan) == ((3 * 2**61,), (3,))


def test_denormals_and_signed_zeros_cannot_be_told_apart(ask):
    """They are all zero, so nothing depends on how a machine treats them."""
    rows = [{"x": x} for x in (5e-324, -5e-324, 0.0, -0.0, 1e-310)]
    plan = derived(1 / (col("x") + 0), Integer(-9, 9), x=X)

    assert ask(rows, plan) == ((0,), (0,))


def test_half_way_values_round_up(ask):
    """floor(y + 1/2), and not to even: -2.5, -0.5, 0.5, 1.5, 2.5."""
    rows = [{"x": x} for x in (-2.5, -0.5, 0.5, 1.5, 2.5)]
    plan = derived(col("x") * 1, Integer(-10, 10), x=X)

    assert ask(rows, plan) == ((-2 + 0 + 1 + 2 + 3,), (5,))


def test_whole_numbers_above_2_to_the_53(ask):
    """As keys they are told apart digit by digit; as numbers they are doubles."""
    rows = [{"id": 2**53}, {"id": 2**53 + 1}, {"id": 2**53 + 1}]
    schema = Schema({"id": Category([2**53, 2**53 + 1])})
    plan = make_plan(Query().group_by("id").select(count()), schema, 1)
    numbers = derived(col("id") - 2**53, Integer(0, 9), id=Integer(0, 2**60))

    assert ask(rows, plan) == ((1, 2),)
    assert ask(rows, numbers) == ((0,), (3,))


def test_time_zones(ask):
    """A moment with a zone is the day in UTC, whatever the session's zone."""
    east, west = (dt.timezone(dt.timedelta(hours=h)) for h in (14, -12))
    rows = [
        {"d": dt.datetime(2024, 3, 1, 3, tzinfo=east)},  # February in UTC
        {"d": dt.datetime(2024, 2, 29, 23, tzinfo=west)},  # March in UTC
        {"d": dt.datetime(2024, 3, 1, 12, tzinfo=dt.UTC)},
    ]
    plan = make_plan(
        Query().derive("m", col("d").month(), Category([2, 3])).group_by("m").select(count()),
        Schema({"d": sf.Date("2024-01-01", "2024-12-31")}), 1,
    )  # fmt: skip

    assert ask(rows, plan) == ((1, 2),)


def test_far_dates(ask):
    """Far days clamp in a median and are in no year's group; none raises."""
    days = [dt.date(2024, 3, 1)] * 3 + [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2300, 1, 1), None]  # fmt: skip
    schema = Schema({"d": sf.Date("2000-01-01", "2030-12-31")})
    query = Query().derive("y", col("d").year()).group_by("y")
    plan = make_plan(query.select(count(), median("d")), schema, 1)

    rows, *_ = ask([{"d": d} for d in days], plan)

    assert (sum(rows), rows[24], len(rows)) == (3, 3, 31)


@pytest.mark.parametrize("extra", ["2300-01-01", "0001-01-01", "2024-02-30", "", "9999-12-31"])  # fmt: skip
def test_bc029_extreme_dates_as_texts(ask, extra):
    """Count by year and median: a far date or one that is none changes no other group."""
    schema = Schema({"d": sf.Date("2000-01-01", "2030-12-31")})
    query = Query().derive("year", col("d").year()).group_by("year")
    plan = make_plan(query.select(count()), schema, 1)

    (rows,) = ask([{"d": "2024-03-01"}] * 100 + [{"d": extra}], plan)

    assert rows[24] == sum(rows) == 100


def test_bc063_codes_of_bins_come_from_the_declared_edges(ask):
    """The sum of bin places: one row moves it by its own place only."""
    place = col("x").cut([0, 1, 3], ["0", "1"]).to_number()
    plan = derived(place, None, x=Real(0, 3))

    assert ask([{"x": 0.5}] * 100, plan) == ((0,), (100,))
    assert ask([{"x": 2.0}] + [{"x": 0.5}] * 100, plan) == ((1,), (101,))


def test_bc025_a_share_of_conditions(ask):
    """A condition is a Boolean whose missing cells stay missing."""
    rows = [{"b": True}, {"b": False}, {"b": None}] * 100
    plan = make_plan(
        Query().derive("n", Term(value_of(col("b") == True)).to_number())  # noqa: E712
        .select(mean("n"), count("n"), count()), Schema({"b": Boolean()}), 1,
    )  # fmt: skip

    assert ask(rows, plan) == ((0,), (200,), (300,))


SCHEMA = sf.Schema({
    "x": sf.Real(0, 10), "Age": sf.Integer(0, 120), "age": sf.Integer(0, 9),
    "g": sf.Category(["a", "b"]), "d": sf.Date("2000-01-01", "2030-01-01"),
})  # fmt: skip


@pytest.fixture
def session(tmp_path):
    """A session whose ledger is a file."""
    data = sf.Dataset([{"x": 1.0, "Age": 30, "age": 3, "g": "a"}] * 9, schema=SCHEMA, name="t")  # fmt: skip
    return sf.Session(data, budget="1", ledger=tmp_path / "t.ledger")


REFUSED = {
    "unknown column in a value": (lambda q: q.where(col("y") + 1 > 2), "unknown column 'y'"),
    "unknown column, the nearest name": (lambda q: q.where(col("Agee") * 2 > 2), "did you mean 'Age'"),
    "unknown column in a choice": (lambda q: q.derive("n", sf.when(col("z") > 1).then(1)), "unknown column 'z'"),
    "float group key": (lambda q: q.group_by("x"), "cannot group"),
    "float group key, derived": (lambda q: q.derive("n", col("x").clip(0, 3)).group_by("n"), "cannot group"),
    "day as group key": (lambda q: q.group_by("d"), "cannot group"),
    "name that differs in case only": (lambda q: q.where(col("G") == "a"), "did you mean 'g'"),
    "derived name that differs in case only": (lambda q: q.derive("X", col("x") > 1), "has the name of column 'x'"),
    "overwritten column": (lambda q: q.derive("x", col("x") > 1), "has the name of column 'x'"),
    "constant of another kind": (lambda q: q.where(col("x") + 1 == "a"), "cannot be compared"),
    "key that is not declared": (lambda q: q.where(col("g").lower() == "c"), "cannot be compared with 'c'"),
    "number without bounds": (lambda q: q.derive("n", col("x") / col("Age")), "without public bounds"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_any_spend(session, case):
    """With the nearest name or the cure, and nothing written."""
    make, words = REFUSED[case]

    with pytest.raises(DeclarationError) as refused:
        make(session.query()).select(sf.count()).release("0.1")

    assert words in str(refused.value)
    assert session.spent.units == 0


SQL = {
    "window": "SELECT SUM(x) OVER (PARTITION BY g) FROM t",
    "window in a value": "SELECT SUM(x + SUM(x) OVER ()) FROM t",
    "sub-query": "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t)",
    "sub-query in a value": "SELECT SUM(CLIP(x - (SELECT MIN(x) FROM t), 0, 1)) FROM t",
    "volatile function": "SELECT COUNT(*) FROM t WHERE x < RANDOM()",
    "volatile function in a key": "SELECT COUNT(*) FROM t GROUP BY FLOOR(RANDOM() * 2)",
    "clock": "SELECT COUNT(*) FROM t WHERE d < CURRENT_TIMESTAMP",
    "name that differs in case only": "SELECT COUNT(*) FROM t WHERE X > 1",
    "cells": "SELECT x + 1 FROM t",
    "regular expression": "SELECT COUNT(*) FROM t WHERE g REGEXP '(a+)+$'",
    "file": "SELECT COUNT(*) FROM read_text('/etc/passwd')",
}


@pytest.mark.parametrize("case", SQL)
def test_sql_refused_before_any_spend(session, case):
    """The text never reaches a database, and nothing is spent."""
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")

    with pytest.raises(DeclarationError):
        session.sql(SQL[case]).release("0.1")

    assert session.spent.units == 0


def test_words_of_an_engine_are_scrubbed_and_the_charge_stands(session, monkeypatch):
    """A database's error quotes cells; nobody sees it, and nothing is refunded."""
    plan = session.query().select(sf.count()).plan("0.25")

    def fail(*_):
        message = "invalid input syntax for type integer: 'HIV positive'"
        raise ValueError(message)

    monkeypatch.setattr("sfumato.engine.duckdb.DuckDBEngine.unprotected", fail)
    monkeypatch.setattr("sfumato.engine.duckdb.DuckDBEngine.prepare", lambda *_: None)
    with pytest.raises(EngineError) as failed:
        plan.release()

    assert "HIV" not in str(failed.value) + repr(failed.value.__context__)
    assert str(session.left) == "0.75"
