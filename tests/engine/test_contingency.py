"""Contingency tables: every engine counts what plain Python counts."""

import numpy as np
import pandas as pd
import pytest
from adversary import FLOATS, TEXTS, TIMES
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.engine.contingency import (
    FINE,
    Choose,
    Rate,
    count_rows,
    count_tables,
    scores,
)
from sfumato.engine.load import open_engine
from sfumato.errors import EngineError
from sfumato.plan.contingency import Coding, TableQuery

SCHEMA = Schema(
    {
        "x": Real(0, 10, step=0.5, missing=999),
        "n": Integer(-3, 12),
        "key": Category(["a", "A", 2, "é"]),
        "flag": Boolean(),
    }
)
CODINGS = (
    Coding("x", count=4, missing=3, edges=(0, 3, 10)),
    Coding("n", count=3, missing=1, edges=(-3, 0, 4)),
    Coding("key", count=3, missing=2, places=(0, 1, 1, 0)),
    Coding("flag", count=3, missing=2, places=(0, 1)),
)
SETS = ((0,), (2,), (0, 1), (3, 2), (0, 1, 2), (0, 1, 2, 3))
QUERY = TableQuery(SCHEMA, CODINGS, SETS)

ROW = st.fixed_dictionaries(
    {
        "x": FLOATS,
        "n": st.one_of(st.none(), FLOATS),
        "key": st.one_of(st.none(), TEXTS),
        "flag": st.sampled_from([True, False, None, "1", "no"]),
    }
)


@settings(max_examples=40 * TIMES, deadline=None)
@given(st.lists(ROW, max_size=12))
def test_the_engine_counts_what_plain_python_counts(rows):
    """Whatever the cells, every row is in exactly one cell of each table, the same one."""
    frame = pd.DataFrame(rows, columns=list(SCHEMA), dtype=object)

    with open_engine(Dataset(frame, schema=SCHEMA, name="t")) as engine:
        found = count_tables(engine, QUERY).unseal()

    for told, right in zip(found, count_rows(rows, QUERY).unseal(), strict=True):
        assert told.tolist() == right.tolist()
        assert told.sum() == len(rows)


def test_a_long_list_of_keys_is_counted_by_its_keys():
    """Ten thousand keys on their own, with spellings and undeclared cells."""
    keys = [f"K{i}" for i in range(10_000)]
    schema = Schema({"code": Category([*keys, 7]), "x": Integer(0, 1)})
    fine = Coding("code", count=10_002, missing=10_001, places=tuple(range(10_001)))
    other = Coding("x", count=3, missing=2, edges=(0, 1))
    query = TableQuery(schema, (fine, other), ((0,), (1,)))
    rows = [{"code": c, "x": 1} for c in ("K3", "K3", "k3", "7.0", None, "K9999")]

    with open_engine(Dataset(rows, schema=schema, name="t")) as engine:
        found = count_tables(engine, query).unseal()

    for told, right in zip(found, count_rows(rows, query).unseal(), strict=True):
        assert told.tolist() == right.tolist()


def test_many_tables_need_several_statements():
    """The tables of all statements are put together."""
    names = [f"c{i}" for i in range(14)]
    schema = Schema({n: Integer(0, 3) for n in names})
    codings = tuple(Coding(n, count=5, missing=4, edges=(0, 1, 2, 3)) for n in names)
    pairs = tuple((a, b) for a in range(14) for b in range(a))
    query = TableQuery(schema, codings, pairs)
    rows = [{n: (i * (k + 3) // 7) % 5 for k, n in enumerate(names)} for i in range(50)]

    with open_engine(Dataset(rows, schema=schema, name="t")) as engine:
        found = count_tables(engine, query).unseal()

    for told, right in zip(found, count_rows(rows, query).unseal(), strict=True):
        assert told.tolist() == right.tolist()


def test_what_fails_says_one_fixed_text():
    """The words of a database could quote a cell."""

    class Broken:
        layout, dialect = None, None

    with pytest.raises(EngineError) as caught:
        count_tables(Broken(), QUERY)

    assert caught.value.__context__ is None


@settings(max_examples=200 * TIMES, deadline=None)
@given(st.data())
def test_one_row_moves_a_score_by_at_most_its_weight(data):
    """Whatever the counts and the predictions: 1024 times the weight, never more."""
    cells = data.draw(st.integers(1, 6))
    big = st.integers(-(2**40), 2**40)
    counts = np.array(data.draw(st.lists(big, min_size=cells, max_size=cells)))
    told = np.array(data.draw(st.lists(big, min_size=cells, max_size=cells)))
    weight, penalty = data.draw(st.integers(1, 1024)), data.draw(big)
    near = counts.copy()
    near[data.draw(st.integers(0, cells - 1))] += 1

    choose = Choose((0,), (told,), (weight,), (penalty,), None)
    moved = scores((near,), choose)[0] - scores((counts,), choose)[0]
    rate = Rate((0,), (told,), None)
    rated = scores((near,), rate)[0] - scores((counts,), rate)[0]

    assert abs(moved) <= FINE * weight
    assert abs(rated) <= FINE
