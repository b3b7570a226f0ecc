"""Contingency tables: every engine counts what plain Python counts."""

import numpy as np
import pandas as pd
import pytest
from adversary import FLOATS, TEXTS, TIMES
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP, Epsilon
from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, token
from sfumato.declare.unit import Rows, Unit
from sfumato.engine import contingency
from sfumato.engine.contingency import (
    FINE,
    Choose,
    Rate,
    count_tables,
    scores,
)
from sfumato.engine.load import open_engine
from sfumato.engine.tally import count_rows
from sfumato.errors import EngineError
from sfumato.plan.contingency import Coding, TableQuery, noise_of

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


@pytest.mark.parametrize("unit", [Rows(), Unit("who", max_rows=1, max_groups=1)])
def test_a_table_that_is_asked_twice_is_counted_once(unit):
    """It stands in both places as it is; neither holds a row twice."""
    keys = [f"K{i}" for i in range(70)]
    schema = Schema({"code": Category(keys), "x": Integer(0, 1)}, unit)
    long = Coding("code", count=71, missing=70, places=tuple(range(70)))
    coding = Coding("x", count=3, missing=2, edges=(0, 1))
    sets = ((0,), (0,), (0, 1), (1, 0), (0, 1), (1,), (1,))
    query = TableQuery(schema, (long, coding), sets)
    rows = [{"who": i, "code": f"K{i % 3}", "x": i % 2} for i in range(12)]

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


@pytest.mark.parametrize(
    ("rows", "sets", "alone"),
    [
        (8192, contingency.FEW_SETS, True),
        (8193, contingency.SETS, True),
        (122_881, contingency.SETS, False),
    ],
)
def test_small_tables_are_counted_in_little_memory(rows, sets, alone):
    """Each table of a statement takes 2 MB of each thread, so few and one are used."""
    schema = Schema({"n": Integer(0, 3)})
    frame = pd.DataFrame({"n": np.zeros(rows, np.int64)})

    with open_engine(Dataset(frame, schema=schema, name="t")) as engine:
        sql = "SELECT current_setting('threads'), COUNT(*) FROM data"
        threads, count = engine.unprotected(sql)[0]
        found = engine.sets

    assert (found, count) == (sets, rows)
    assert threads == 1 if alone else threads >= 1


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
    unit = Rows()
    moved = scores((near,), choose, unit)[0] - scores((counts,), choose, unit)[0]
    rate = Rate((0,), (told,), None)
    rated = scores((near,), rate, unit)[0] - scores((counts,), rate, unit)[0]

    assert abs(moved) <= FINE * weight
    assert abs(rated) <= FINE


@pytest.mark.parametrize("far", [2**62, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("cells", [1, 3, 2048])
def test_a_score_does_not_wrap_where_the_predictions_are_far(far, cells):
    """Sums beyond 64 bits are exact: one person's row moves them as little as ever."""
    told = np.full(cells, far)
    counts = np.full(cells, 2**33 // cells)
    near = counts.copy()
    near[0] += 1
    asked = Choose((0,), (told,), (1,), (0,), None)

    one, other = (scores((t,), asked, Rows())[0] for t in (counts, near))

    assert abs(one - other) == FINE
    assert abs(one) > 2**51 * cells


UNITS = st.builds(
    lambda rows, neighbours: Unit(
        "who", max_rows=rows, max_groups=1, neighbours=neighbours,
        size=7 if neighbours == "replace_one" else None,
    ),
    st.sampled_from([1, 2, 3, 1000]),
    st.sampled_from(["add_remove", "replace_one"]),
)  # fmt: skip
WHO = st.sampled_from([None, "", "a", "b", "c", 7, 7.0, "7", 0.5])
VISIT = st.fixed_dictionaries(
    {"x": st.sampled_from([None, 0.2, 4.9, 11.0]), "n": st.sampled_from([None, -9, 3]),
     "key": st.sampled_from(["a", "A", "2", "?"]), "flag": st.booleans(), "who": WHO}
)  # fmt: skip


def of_people(unit):
    """Return the question about people."""
    return TableQuery(Schema(dict(SCHEMA.columns), unit), CODINGS, SETS)


@settings(max_examples=25 * TIMES, deadline=None)
@given(st.lists(VISIT, max_size=15), UNITS.filter(lambda u: u.size is None))
def test_the_rows_of_a_person_are_weighed_alike_everywhere(rows, unit):
    """The engine's integers are those of plain Python; nobody's rows are left out."""
    frame = pd.DataFrame(rows, columns=[*SCHEMA, "who"], dtype=object)
    query = of_people(unit)

    with open_engine(Dataset(frame, schema=query.schema, name="t")) as engine:
        found = count_tables(engine, query).unseal()

    for told, right in zip(found, count_rows(rows, query).unseal(), strict=True):
        assert told.tolist() == right.tolist()


@settings(max_examples=100 * TIMES, deadline=None)
@given(st.lists(VISIT, min_size=1, max_size=15), UNITS, st.data())
def test_no_person_moves_a_table_by_more_than_its_noise_is_for(rows, unit, data):
    """All rows of anyone are taken out, or exchanged for any rows of another.

    Integers in 1024ths of a row: L1 and squared L2, as `noise_of` states them.
    """
    query = of_people(unit)
    whom = data.draw(st.sampled_from(["a", "b", "c", "7"]))
    near = [row for row in rows if token(row["who"]) != whom]
    if unit.neighbours == "replace_one":
        near += data.draw(st.lists(VISIT.map(lambda r: {**r, "who": whom}), max_size=9))

    for one, other in zip(
        count_rows(rows, query).unseal(), count_rows(near, query).unseal(), strict=True
    ):
        moved = np.abs(one - other)
        assert moved.sum() <= noise_of(Epsilon("1"), unit).sensitivity
        assert (moved**2).sum() <= noise_of(ZCDP("1"), unit).squared_sensitivity


def test_each_bound_of_a_person_is_reached():
    """So that no noise is wasted: R rows in one cell, against R in another, or none."""
    for neighbours, size in (("add_remove", None), ("replace_one", 7)):
        unit = Unit("who", max_rows=3, max_groups=1, neighbours=neighbours, size=size)
        query = of_people(unit)
        row = {"x": 0.2, "n": 3, "key": "a", "flag": True, "who": "a"}
        near = [] if size is None else [{**row, "key": "2"}] * 9
        one, other = (count_rows(r, query).unseal()[1] for r in ([row] * 5, near))
        assert np.abs(one - other).sum() == noise_of(Epsilon("1"), unit).sensitivity
        assert ((one - other) ** 2).sum() == noise_of(
            ZCDP("1"), unit
        ).squared_sensitivity


@settings(max_examples=100 * TIMES, deadline=None)
@given(st.lists(VISIT, min_size=1, max_size=15), UNITS, st.data())
def test_no_person_moves_a_score_by_more_than_its_rate_is_for(rows, unit, data):
    """1024 times her most rows, twice that where one takes the place of another."""
    query = of_people(unit)
    near = [row for row in rows if token(row["who"]) != "a"]
    if unit.neighbours == "replace_one":
        near += data.draw(st.lists(VISIT.map(lambda r: {**r, "who": "a"}), max_size=9))
    one, other = (count_rows(r, query).unseal() for r in (rows, near))
    told = np.array(
        data.draw(st.lists(st.integers(-9999, 9999), min_size=12, max_size=12))
    )
    asked = Rate((2,), (told,), None)
    assert one[2].size == 12

    moved = scores(one, asked, unit)[0] - scores(other, asked, unit)[0]

    times = 2 if unit.neighbours == "replace_one" else 1
    assert abs(moved) <= FINE * unit.max_rows * times


def test_a_person_whose_rows_all_count_is_found(monkeypatch):
    """Planted: weights of 1 for every row. The tables then move by more than stated."""
    unit = Unit("who", max_rows=3, max_groups=1)
    query = of_people(unit)
    row = {"x": 0.2, "n": 3, "key": "a", "flag": True, "who": "a"}
    monkeypatch.setattr(contingency._Counting, "_weighed", lambda self: "c * 1024")

    frame = pd.DataFrame([row] * 5)
    with open_engine(Dataset(frame, schema=query.schema, name="t")) as engine:
        found = count_tables(engine, query).unseal()

    assert found[0].sum() > noise_of(Epsilon("1"), unit).sensitivity
