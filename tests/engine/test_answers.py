"""One question is rendered, read and bound once, and its rows are read each time."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from sfumato.declare.dataset import Dataset
from sfumato.declare.expr import col
from sfumato.declare.query import Query, count, mean
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.engine import answer, storage
from sfumato.engine import duckdb as embedded
from sfumato.engine.frames import load_pandas
from sfumato.engine.load import open_engine
from sfumato.errors import SourceError
from sfumato.plan import make_plan

SCHEMA = Schema({"x": Real(0, 10, step=1), "n": Integer(0, 9)})
FRAME = pd.DataFrame({"x": [1.0, 2.0, np.nan], "n": [1, 2, 3]})


def asked(low):
    """Return the plan of a question."""
    query = Query().where(col("n") >= low).select(count(), mean("x"))
    return make_plan(query, SCHEMA, 1)


@pytest.fixture
def engine():
    """Open a small table."""
    with open_engine(Dataset(FRAME, schema=SCHEMA)) as opened:
        yield opened


def test_a_plan_is_rendered_once_to_be_bound_and_run(engine, monkeypatch):
    """A plan never changes, so neither does its statement; another plan has another."""
    made, render = [], answer.statement
    monkeypatch.setattr(answer, "statement", lambda *a: made.append(1) or render(*a))
    one, other = asked(1), asked(3)

    for plan in (one, other):
        engine.prepare(plan)
        engine.run(plan)
        engine.run(plan)

    assert len(made) == 2
    assert engine.run(one).unseal()[0] == (3,)
    assert engine.run(other).unseal()[0] == (1,)


def test_a_statement_that_was_read_sees_the_rows_of_now(engine):
    """What is kept is the text's structure: no row, no plan of the database."""
    plan = asked(0)
    engine.prepare(plan)
    first = engine.run(plan).unseal()
    longer = pd.DataFrame({"x": [4.0] * 5000, "n": [5] * 5000})

    engine.exchange(load_pandas(longer, SCHEMA))

    assert first[0] == (3,)
    assert engine.run(plan).unseal()[0] == (5000,)


def test_statements_are_remembered_up_to_a_number(engine):
    """Many questions take no more room than some; the oldest is read again."""
    for low in range(embedded._REMEMBERED + 20):
        engine.prepare(asked(low / 16))

    assert len(engine._known) == embedded._REMEMBERED
    engine.prepare(asked(0))
    assert engine.run(asked(0)).unseal()[0] == (3,)


def test_binding_runs_nothing_and_a_fault_is_found(engine, monkeypatch):
    """Before the debit no row is read; what the database cannot bind is refused there."""
    ran = []

    class Watched:
        def __init__(self, inner):
            self._inner = inner

        def execute(self, *args):
            ran.append(args)
            return self._inner.execute(*args)

        def __getattr__(self, name):
            return getattr(self._inner, name)

    monkeypatch.setattr(engine, "_connection", Watched(engine._connection))
    engine.prepare(asked(2))
    assert ran == []

    engine._connection.execute("ALTER TABLE data RENAME TO lost")
    with pytest.raises(SourceError, match="nothing was spent"):
        engine.prepare(asked(1))


@pytest.mark.parametrize("more", [0, 1])
def test_few_rows_are_read_by_one_thread(more):
    """To wake a second one costs more than it reads; many rows have all threads."""
    rows = embedded._ONE_READER + more
    frame = pd.DataFrame({"x": np.zeros(rows), "n": np.zeros(rows, dtype=int)})
    asked_for = "SELECT current_setting('threads')"
    ((most,),) = duckdb.connect().execute(asked_for).fetchall()

    with open_engine(Dataset(frame, schema=SCHEMA)) as opened:
        ((used,),) = opened.unprotected(asked_for)

    assert used == (most if more else 1)


def test_few_cells_are_held_as_they_were_opened(monkeypatch):
    """A small frame is copied; a large one is read where it lies."""
    frames = [FRAME.copy(), FRAME.copy()]
    small = open_engine(Dataset(frames[0], schema=SCHEMA))
    monkeypatch.setattr(storage, "_FEW", 0)
    large = open_engine(Dataset(frames[1], schema=SCHEMA))
    kinds = "SELECT table_type FROM information_schema.tables WHERE table_name = 'data'"

    assert small.unprotected(kinds) == [("LOCAL TEMPORARY",)]
    assert large.unprotected(kinds) == [("VIEW",)]
    for frame in frames:
        frame.loc[:, "n"] = 0
    assert small.run(asked(1)).unseal()[0] == (3,)
    small.close()
    large.close()
