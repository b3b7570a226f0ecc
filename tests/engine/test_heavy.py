"""A person with very many rows in two tables: her pairs are never made, on any engine."""

import json

import pyarrow as pa
import pytest
import related as r
import sparks
from cluster import running

from sfumato.declare import query as ask
from sfumato.declare.dataset import Postgres
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Other, Part
from sfumato.declare.schema import Integer, Schema
from sfumato.declare.unit import Unit
from sfumato.engine.load import open_engine
from sfumato.engine.statement import statement
from sfumato.plan import make_plan
from sfumato.plan.relate import MOST_PAIRS

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

DUCKDB = ("intermediate_rows", "operator_cardinality")  # as releases call them
MOST, MANY, FEW = 30_000, 5_000, 200  # rows of hers in each table, and of other people
SCHEMA = Schema({"x": Integer(0, 9)}, unit=Unit("who", max_rows=4, max_groups=1))
JOINED = Joined(Part(), Part(Other(r.LABS, SCHEMA)), "l_")
TWICE = Joined(Part(JOINED), Part(Other(r.LABS, SCHEMA)), "m_", 4)


NESTED = Joined(Part(), Part(JOINED), "m_", 4)


def rows_of(many):
    """Columns of a table: her rows, and those of other people."""
    whose = [7] * many + [i % 50 + 8 for i in range(FEW)]
    return {"who": whose, "x": [i % 10 for i in range(many + FEW)]}


def the_plan(base=JOINED):
    """Pairs of two tables, and of these with the second one again."""
    return make_plan(
        Query()
        .of(base)
        .select(ask.count(), ask.sum("m_l_x" if base is NESTED else "l_x")),
        SCHEMA,
        1,
    )


def expected(base, many=MANY):
    """What the specification says."""
    columns = rows_of(many)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]  # fmt: skip
    return r.expected(the_plan(base), rows, rows)


def largest(node, *names):
    """The most rows that an operator of a plan tree let through or threw away."""
    parts = node if isinstance(node, list) else node.values()
    below = [largest(one, *names) for one in parts if isinstance(one, dict | list)]
    own = [int(node.get(name, 0)) for name in names] if isinstance(node, dict) else []
    return max([0, *below, *own])


def made(engine, sql):
    """The most rows that an operator of DuckDB makes."""
    told = engine.unprotected(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
    return largest(json.loads(told[0][1]), *DUCKDB)


@pytest.mark.parametrize(
    ("base", "many"),
    [(JOINED, MOST), (TWICE, MANY), (NESTED, MANY)],
    ids=["once", "twice", "nested"],
)
def test_duckdb(base, many):
    """No operator of the statement yields more rows than there are."""
    assert MANY * MANY > MOST_PAIRS
    table, plan = pa.table(rows_of(many)), the_plan(base)
    with open_engine(r.dataset(plan, table, table)) as engine:
        sql = statement(plan, engine.layout, engine.dialect, engine.others).sql

        assert many <= made(engine, sql) < 3 * many
        assert engine.run(plan).unseal() == expected(base, many)


def test_pairs_that_are_made_first_are_seen():
    """The planted fault: rows meet by the person, however many pairs she has."""
    table, plan = pa.table(rows_of(MANY)), the_plan()
    with open_engine(r.dataset(plan, table, table)) as engine:
        sql = statement(plan, engine.layout, engine.dialect, engine.others).sql

        assert made(engine, sql.replace("ON l.k = r.u", "ON l.u = r.u")) > MOST_PAIRS


def test_postgres():
    """No node of the server's plan yields or throws away more rows than there are."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url, psycopg.connect(url, autocommit=True) as db:
        for name in ("t", r.LABS):
            db.execute(f"CREATE TABLE {name} (who bigint, x bigint)")
            with db.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in zip(*rows_of(MANY).values(), strict=True):
                    copy.write_row(row)
        engine = open_engine(r.dataset(the_plan(), Postgres(url, "t"), Postgres(url, r.LABS)))  # fmt: skip
        sql = statement(the_plan(), engine.layout, engine.dialect, engine.others).sql

        with engine._transaction() as own:
            text = f"EXPLAIN (ANALYZE, FORMAT JSON) {engine._data()}{sql}"
            told = own.execute(text.encode()).fetchone()[0]

        names = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
        assert MANY <= largest(told, *names) < 3 * MANY
        assert engine.run(the_plan()).unseal() == expected(JOINED)


def on_spark(session, many):
    """Compare the integers; Spark would need minutes for all pairs."""
    cells = list(zip(*rows_of(many).values(), strict=True))
    frame = session.createDataFrame(cells, "who bigint, x bigint")
    for base in (JOINED, TWICE, NESTED):
        engine = open_engine(r.dataset(the_plan(base), frame, frame))
        assert engine.run(the_plan(base)).unseal() == expected(base, many)


def test_sail():
    """Spark's dialect, on its fast stand-in."""
    on_spark(sparks.sail(), MANY)


@pytest.mark.slow
def test_spark():
    """Spark itself."""
    on_spark(sparks.spark(), MOST)
