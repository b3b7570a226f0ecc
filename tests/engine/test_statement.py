"""The SQL text, as a reviewer would read it, and the engine around it."""

import logging
import threading

import pandas as pd
import pytest

from sfumato.declare import query as ask
from sfumato.declare.dataset import Dataset
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.engine.catalog import relation, settle
from sfumato.engine.dialect import DUCKDB, POSTGRES
from sfumato.engine.load import open_engine
from sfumato.engine.physical import Floating, Places, Text, Truth, Whole
from sfumato.engine.render import Statement
from sfumato.errors import EngineError
from sfumato.plan import make_plan

SCHEMA = Schema({
    "O'Brien": Real(0, 250, step="0.5", missing=0),
    "Age": Integer(18, 90),
    'g"; DROP': Category(["a'b", "2"]),
    "smoker": Boolean(),
})  # fmt: skip
LAYOUT = (Floating(), Whole(), Text(), Truth())
GOLDEN = {
    "count": (
        ask.Query().select(ask.count()),
        ("SELECT CAST(COUNT(*) AS VARCHAR) FROM ("
        "SELECT 1 AS one FROM (SELECT 1 AS one FROM data) AS cells) AS steps"),
    ),
    "mean": (
        ask.Query().select(ask.mean("Age")),
        ("SELECT CAST(COUNT(*) AS VARCHAR), CAST(COUNT(q0) AS VARCHAR), "
        "CAST(COALESCE(SUM(q0), 0) AS VARCHAR) FROM ("
        "SELECT CAST(floor(x0 / (1.0e0) + (0.5e0)) AS BIGINT)"
        " - CAST('18' AS BIGINT) AS q0 FROM ("
        "SELECT CASE WHEN CAST(c1 AS DOUBLE) >= (18.0e0)"
        " AND CAST(c1 AS DOUBLE) <= (90.0e0) THEN CAST(c1 AS DOUBLE)"
        " WHEN isnan(CAST(c1 AS DOUBLE)) THEN NULL"
        " WHEN CAST(c1 AS DOUBLE) < (18.0e0) THEN (18.0e0)"
        " WHEN CAST(c1 AS DOUBLE) > (90.0e0) THEN (90.0e0) END AS x0"
        " FROM data) AS cells) AS steps"),
    ),
    "group, filter, bins": (
        ask.Query()
        .where((col("O'Brien") > 1) & ~col("smoker").is_missing())
        .group_by('g"; DROP')
        .select(ask.histogram("smoker")),
        ("SELECT k0, b0, CAST(COUNT(*) AS VARCHAR) FROM ("
        "SELECT k0, h0 AS b0 FROM ("
        "SELECT CASE WHEN contains(c2, '.') AND regexp_full_match(c2, '-?[0-9]+[.]0+')"
        " THEN split_part(c2, '.', 1) ELSE c2 END AS k0, "
        "CASE WHEN c3 IN (TRUE) THEN TRUE WHEN c3 IN (FALSE) THEN FALSE END AS h0"
        " FROM data WHERE ("
        "(CASE WHEN CAST(c0 AS DOUBLE) IN ((0.0e0)) OR isnan(CAST(c0 AS DOUBLE))"
        " THEN NULL ELSE CAST(c0 AS DOUBLE) END > (1.0e0))"
        " AND (NOT (NOT COALESCE(c3 IN (FALSE, TRUE), FALSE))))"
        " AND (CASE WHEN contains(c2, '.') AND regexp_full_match(c2, '-?[0-9]+[.]0+')"
        " THEN split_part(c2, '.', 1) ELSE c2 END IN ('a''b', '2'))) AS cells) AS steps"
        " GROUP BY k0, b0"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_the_text_of_a_statement(name):
    """Constants only: no name of a column, no text that is not quoted."""
    query, expected = GOLDEN[name]

    sql = Statement(make_plan(query, SCHEMA, 1), LAYOUT, DUCKDB).sql

    assert sql == expected


def test_the_text_of_a_statement_for_postgresql():
    """The same layers in the words of PostgreSQL; the names are those of the catalogue."""
    schema = Schema({"Age": Integer(18, 90), 'g"; --': Category(["a'b"])})
    plan = make_plan(ask.Query().group_by('g"; --').select(ask.count("Age")), schema, 1)
    columns = [('g"; --', "text", 25), ("Age", "smallint", 21)]
    layout, stored = settle(columns, schema)

    sql = (
        "WITH "
        + relation(columns, schema, 'a"b', "t")
        + " "
        + Statement(plan, layout, POSTGRES).sql
    )

    assert stored == ("smallint", "text")
    assert sql == (
        'WITH data AS NOT MATERIALIZED (SELECT source."Age" AS c0, '
        'CAST(source."g""; --" AS text) COLLATE "C" AS c1 FROM "a""b"."t" AS source OFFSET 0) '
        "SELECT k0, CAST(COUNT(*) AS text), CAST(COUNT(v0) AS text) FROM ("
        "SELECT k0, v0 FROM (SELECT c1 AS k0, "
        "CASE WHEN (CAST(c0 AS double precision) = CAST('NaN' AS double precision))"
        " THEN NULL ELSE CAST(c0 AS double precision) END AS v0 FROM data"
        " WHERE (c1 IN (CAST('a''b' AS text)))) AS cells) AS steps GROUP BY k0"
    )


def test_places_are_tested_as_a_range():
    """Keys numbered without a gap cost two comparisons."""
    schema = Schema({"g": Category([f"k{i}" for i in range(100)])})
    plan = make_plan(ask.Query().group_by("g").select(ask.count()), schema, 1)

    assert "WHERE (c0 BETWEEN 0 AND 99)" in Statement(plan, (Places(),), DUCKDB).sql


def test_a_long_filter_stays_shallow():
    """A chain of many conditions is one list, in SQL and for the database."""
    schema = Schema({"x": Integer(0, 10)})
    condition = col("x") != 11
    for i in range(399):
        condition = condition & (col("x") != 20 + i)
    query = ask.Query().where(condition).select(ask.count())
    rows = [{"x": 1}, {"x": 2}, {"x": 30}, {"x": None}]

    with open_engine(Dataset(rows, schema=schema)) as engine:
        assert engine.run(make_plan(query, schema, 1)).unseal() == ((2,),)


def engine_of(rows=((1, "a"), (2, "2"))):
    """Return an engine on a small table, and a plan for it."""
    schema = Schema({"x": Integer(0, 10), "g": Category(["a", "2"])})
    plan = make_plan(ask.Query().group_by("g").select(ask.sum("x")), schema, 1)
    frame = pd.DataFrame(list(rows), columns=["x", "g"])
    return open_engine(Dataset(frame, schema=schema)), plan


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY data TO 'leak.csv'",
        "ATTACH 'leak.db'",
        "EXPORT DATABASE 'leak'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET disabled_optimizers = ''",
        "SET lock_configuration = false",
        "SELECT * FROM frame",
    ],
)
def test_the_database_is_locked(sql):
    """After loading no file, extension or setting is in reach."""
    import duckdb

    engine, _ = engine_of()
    frame = pd.DataFrame({"x": [1]})

    with pytest.raises(duckdb.Error):
        engine.unprotected(sql)
    assert len(frame) == 1


def test_a_failure_has_one_text_and_no_cause():
    """Whatever fails, nothing of it reaches the analyst."""
    engine, plan = engine_of()
    engine.close()

    with pytest.raises(EngineError) as failure:
        engine.run(plan)

    assert str(failure.value) == str(EngineError())
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


def test_details_reach_only_an_owner_who_listens(caplog, capsys):
    """The log of the engine is silent until a handler is attached to it."""
    engine, plan = engine_of()
    engine.close()
    log, heard = logging.getLogger("sfumato.engine"), []

    with pytest.raises(EngineError):
        engine.run(plan)
    assert (caplog.records, capsys.readouterr()) == ([], ("", ""))

    handler = logging.Handler()
    handler.emit = heard.append
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        with pytest.raises(EngineError):
            engine.run(plan)
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert [r.getMessage() for r in heard] == ["the statement failed"]


def test_a_plan_of_another_schema_fails():
    """Columns are known by position, so the schema must be the very same."""
    engine, _ = engine_of()
    other = Schema({"g": Category(["a", "2"]), "x": Integer(0, 10)})

    with pytest.raises(EngineError):
        engine.run(make_plan(ask.Query().select(ask.count()), other, 1))


def test_threads_share_an_engine():
    """Many threads, one engine: each gets its own plan's integers."""
    schema = Schema({"x": Integer(0, 1000)})
    rows = [{"x": i} for i in range(1000)]
    plans = [
        make_plan(ask.Query().where(col("x") < i).select(ask.count()), schema, 1)
        for i in range(40)
    ]
    found = {}

    def work(i):
        found[i] = engine.run(plans[i]).unseal()

    with open_engine(Dataset(rows, schema=schema)) as engine:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert found == {i: ((i,),) for i in range(40)}


def test_many_cells_are_all_there():
    """A thousand groups times a hundred bins, most of them empty."""
    schema = Schema({"g": Category(range(1000)), "x": Integer(0, 100)})
    query = (
        ask.Query().group_by("g").select(ask.histogram("x", range(101)), ask.sum("x"))
    )
    plan = make_plan(query, schema, 1)
    rows = [{"g": 7, "x": 99}, {"g": "7.0", "x": 100}, {"g": 999, "x": -5}]

    with open_engine(Dataset(rows, schema=schema)) as engine:
        bins, sums = engine.run(plan).unseal()

    assert (len(bins), sum(bins), bins[799], bins[99_900]) == (100_000, 3, 2, 1)
    assert (len(sums), sums[7]) == (1000, 199)


@pytest.mark.parametrize("histograms", [1, 2, 30, 31, 64, 150])
def test_any_number_of_histograms_is_one_statement(histograms):
    """Each histogram gets its own rows, however many a question asks for."""
    names = [f"x{i}" for i in range(histograms)]
    schema = Schema({name: Integer(0, 3) for name in names})
    query = ask.Query().select(*(ask.histogram(n, [0, 1, 2, 3]) for n in names))
    rows = [{n: i % 3 for i, n in enumerate(names)}, {names[-1]: 0}]

    with open_engine(Dataset(rows, schema=schema)) as engine:
        found = engine.run(make_plan(query, schema, 1)).unseal()

    wanted = [[int(i % 3 == place) for place in range(3)] for i in range(histograms)]
    wanted[-1][0] += 1
    assert [list(cells) for cells in found] == wanted


def test_the_public_size_alone_needs_no_scan():
    """A plan without steps has no integers."""
    from sfumato.declare.unit import Rows

    unit = Rows(neighbours="replace_one", size=1)
    schema = Schema({"x": Integer(0, 1)}, unit=unit)
    plan = make_plan(ask.Query().select(ask.count()), schema, 1)

    with open_engine(Dataset([{"x": 1}], schema=schema)) as engine:
        assert engine.run(plan).unseal() == ()
