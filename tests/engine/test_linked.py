"""Linked tables: counts of one table with facts of another, of people and of nobody else."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.dataset import Dataset
from sfumato.declare.schema import Boolean, Category, Integer, Schema, token
from sfumato.declare.unit import Unit
from sfumato.engine import duckdb, linked
from sfumato.engine.contingency import count_tables
from sfumato.engine.linked import Heads, Tails, Together
from sfumato.engine.tally import count_rows
from sfumato.plan.contingency import FINE, Coding, TableQuery

LONG = [f"K{i}" for i in range(70)]
HEAD = {"sex": Category(["F", "M"]), "age": Integer(0, 9)}
TAIL = {"ill": Boolean(), "code": Category(LONG)}
SEX = Coding("sex", count=3, missing=2, places=(0, 1))
AGE = Coding("age", count=3, missing=2, edges=(0, 5))
NUMBER = Coding("visits", count=3, missing=1, edges=(0, 1, 2))
ILL = Coding("ill", count=3, missing=2, places=(0, 1))
CODE = Coding("code", count=71, missing=70, places=tuple(range(70)))

WHO = st.sampled_from([None, "", "NA", "a", "b", "c", 7, "7", "7.0"])
PERSON = st.fixed_dictionaries(
    {"who": WHO, "sex": st.sampled_from(["F", "M", None]), "age": st.sampled_from([1, 8, None, 99])}
)  # fmt: skip
VISIT = st.fixed_dictionaries(
    {"who": WHO, "ill": st.booleans(), "code": st.sampled_from(["K0", "K69", "K70", None])}
)  # fmt: skip


def unit(rows):
    """Return the people, of whom so many rows count fully."""
    return Unit("who", max_rows=rows, max_groups=1, missing="NA")


def counted(people, visits, most=2, heads=1):
    """Return the counts of both tables, through the engine."""
    head = Dataset(
        pd.DataFrame(people, columns=["who", *HEAD], dtype=object),
        schema=Schema(HEAD, unit(heads)), name="people",
    )  # fmt: skip
    other = Dataset(
        pd.DataFrame(visits, columns=["who", *TAIL], dtype=object),
        schema=Schema(TAIL, unit(most)), name="visits",
    )  # fmt: skip
    with Together(head, {"visits": other}) as together:
        one = count_tables(Heads(together, {"visits": "visits"}), of_heads(heads))
        two = count_tables(Tails(together, "visits", {"p.sex": "sex"}), of_tails(most))
    return one.unseal(), two.unseal()


def of_heads(rows=1):
    """Return the question about people."""
    schema = Schema({**HEAD, "visits": Integer(0, 2)}, unit(rows))
    return TableQuery(schema, (SEX, AGE, NUMBER), ((0,), (1, 2), (0, 1, 2)))


def of_tails(rows):
    """Return the question about visits, with the sex of whose they are."""
    schema = Schema({**TAIL, "p.sex": HEAD["sex"]}, unit(rows))
    lent = Coding("p.sex", SEX.count, SEX.missing, SEX.edges, SEX.places)
    return TableQuery(schema, (ILL, CODE, lent), ((0,), (1,), (0, 2), (0, 1, 2)))


def joined(people, visits):
    """Return the rows of both tables with all that they borrow, in plain Python."""
    alive = [p for p in people if token(p["who"]) not in (None, "", "NA")]
    numbers = [
        {**p, "visits": sum(token(v["who"]) == token(p["who"]) for v in visits)}
        for p in alive
    ]
    order = {"F": 0, "M": 1, None: 2}
    first = {}
    for p in sorted(alive, key=lambda p: -order[p["sex"]]):
        first[token(p["who"])] = p["sex"]
    told = [{**v, "p.sex": first.get(token(v["who"]))} for v in visits]
    return numbers, told


@settings(max_examples=25, deadline=None)
@given(
    st.lists(PERSON, max_size=8),
    st.lists(VISIT, max_size=12),
    st.sampled_from([1, 2, 5]),
)
def test_tables_are_those_of_the_joined_rows(people, visits, most):
    """Any identifiers, several rows of one person in the head, visits of nobody."""
    heads, tails = counted(people, visits, most)

    numbers, told = joined(people, visits)
    for found, right in (
        (heads, count_rows(numbers, of_heads()).unseal()),
        (tails, count_rows(told, of_tails(most)).unseal()),
    ):
        for one, other in zip(found, right, strict=True):
            assert one.tolist() == other.tolist()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(PERSON, max_size=6),
    st.lists(VISIT, max_size=10),
    st.sampled_from(["a", "7"]),
)
def test_one_person_moves_a_table_by_her_most_rows(people, visits, whom):
    """All her rows in both tables are taken out: one row of the head, two visits."""
    near = [
        [r for r in rows if token(r["who"]) not in (whom, f"{whom}.0")]
        for rows in (people, visits)
    ]

    for tables, others, most in zip(counted(people, visits), counted(*near), (1, 2)):
        for one, other in zip(tables, others, strict=True):
            assert np.abs(one - other).sum() <= FINE * most


def test_a_join_that_multiplies_rows_is_found(monkeypatch):
    """Planted: each visit counts fully, however many there are."""

    def plain(people, cells, count, most):
        del people, most
        return np.bincount(cells, minlength=count) * FINE

    people = [{"who": "a", "sex": "F", "age": 1}]
    visits = [{"who": "a", "ill": True, "code": "K0"}] * 5
    right = counted(people, visits)[1][0].sum()
    monkeypatch.setattr(linked, "weighed", plain)

    assert right == FINE * 2
    with pytest.raises(AssertionError):
        assert counted(people, visits)[1][0].sum() <= FINE * 2


def test_rows_are_read_some_at_a_time_or_all_at_once(monkeypatch):
    """However an engine hands its rows over, the tables are the same."""
    people = [{"who": i, "sex": "FM"[i % 2], "age": i % 10} for i in range(7)]
    visits = [{"who": i % 9, "ill": i % 2 == 0, "code": f"K{i}"} for i in range(20)]
    right = counted(people, visits)

    monkeypatch.setattr(duckdb, "_AT_ONCE", 3)
    some = counted(people, visits)
    monkeypatch.setattr(linked, "DuckDBEngine", int)  # as of a database: all at once
    whole = counted(people, visits)

    for tables in (some, whole):
        for one, other in zip(right, tables, strict=True):
            assert [t.tolist() for t in one] == [t.tolist() for t in other]
