"""Modes, tables and private bounds of people with many rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.audit.sensitivity import World, compare
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan
from sfumato.testing import seeded

UNIT = sf.Unit("who", max_rows=2, max_groups=1)


def session(columns, rows, budget="1000"):
    """Open a table of people."""
    schema = sf.Schema(columns, unit=UNIT)
    return sf.Session(sf.Dataset(rows, schema=schema, name="t"), budget=budget)


def test_a_mode_counts_people_and_not_rows() -> None:
    """One person with a thousand rows does not outvote three hundred."""
    rows = [{"who": i, "g": "many people"} for i in range(300)]
    rows += [{"who": -1, "g": "one person"}] * 1000
    opened = session({"g": sf.Category(["one person", "many people"])}, rows)

    release = opened.query().select(sf.mode("g")).release("2")

    assert release["mode_g"].bin == "many people"
    assert -60 < release["mode_g"].low < 0  # in rows, not in their fractions
    expected = opened.query().select(sf.mode("g")).plan("2").expected()[0]
    assert expected.error == pytest.approx(-release["mode_g"].low, rel=0.01)


def test_a_table_of_two_columns_counts_at_most_two_rows_of_each() -> None:
    """Three equal rows of 100 people are 200."""
    rows = [{"who": i, "g": "ab"[i % 2], "h": i % 4 < 2} for i in range(100)] * 3
    opened = session({"g": sf.Category(["a", "b"]), "h": sf.Boolean()}, rows)

    release = opened.query().select(sf.crosstab("g", "h")).release("50")

    found = {(f.bin, f.other_bin): f.estimate for f in release}
    assert len(found) == 4
    assert all(abs(count - 50) < 2 for count in found.values())


def test_private_bounds_are_found_of_people() -> None:
    """Both steps are for a person; the counts of ranges are read in rows."""
    column = sf.Real(bounds=sf.private_bounds("0.99", within=(0, 10**6)), step=1)
    rows = [{"who": i % 500, "x": 100 + i % 50} for i in range(2000)]
    opened = session({"x": column}, rows)
    ask = opened.query().select(sf.mean("x"))

    with seeded(5):
        release = ask.release("2")

    low, high = map(
        float, release.question.split("clipped to [")[1].rstrip("]").split(", ")
    )
    assert 60 <= low <= 128 <= high <= 512
    assert abs(release["mean_x"].estimate - 124.5) < 10
    assert str(opened.spent) == "2"


CUT = (sf.people_cut(), sf.rows_cut(), sf.people(), sf.count())
ROWS = st.lists(
    st.builds(
        lambda who, g: {"who": who, "g": g},
        st.sampled_from([1, 2, 3, None]),
        st.sampled_from(["a", "b", "c", None]),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_what_is_cut_is_bounded_and_agrees(rows, most, groups, by) -> None:
    """The database and the specification, and over every person the claimed bounds."""
    unit = sf.Unit("who", max_rows=most, max_groups=groups)
    schema = sf.Schema({"g": sf.Category(["a", "b", "c"])}, unit=unit)
    query = sf.Query().select(*CUT)
    plan = make_plan(query.group_by("g") if by else query, schema, 1)

    with World(schema) as world:
        found = world.exact(plan, rows).unseal()
        assert found == ReferenceEngine(rows).run(plan).unseal()
        for finding in compare(plan, rows, (), world.exact):
            assert finding.holds, finding


def test_how_much_the_bounds_cut_is_a_paid_figure() -> None:
    """Of 100 people 30 have 5 rows and 2 count fully; 10 are in two groups instead of one."""
    rows = [{"who": i, "g": "a"} for i in range(100) for _ in range(5 if i < 30 else 1)]
    opened = session({"g": sf.Category(["a", "b"])}, rows)

    plan = opened.query().select(sf.people_cut(), sf.rows_cut()).plan("200")
    release = plan.release()

    assert [e.name for e in plan.expected()] == ["people_cut", "rows_cut"]
    assert str(release).startswith("People cut, Rows cut")
    assert abs(release["people_cut"].estimate - 30) < 1
    assert abs(release["rows_cut"].estimate - 60) < 2  # of 90, at most as many again
    assert str(opened.spent) == "200"

    moved = [*rows, *({"who": i, "g": "b"} for i in range(90, 100))]
    opened = session({"g": sf.Category(["a", "b"])}, moved)
    by = opened.query().group_by("g").select(sf.people_cut()).release("200")
    assert abs(by.find("people_cut", g="a").estimate - 35) < 1  # ten of them in halves
    assert abs(by.find("people_cut", g="b").estimate - 5) < 1


def test_where_nothing_is_cut_or_keys_are_unknown_it_is_refused() -> None:
    """Nothing is spent."""
    opened = sf.Session(
        sf.Dataset([{"t": "a"}], schema=sf.Schema({"t": sf.Text()}), name="t"),
        budget=sf.Epsilon("1", "1e-6"),
    )
    with pytest.raises(DeclarationError, match="no bound cuts"):
        opened.query().select(sf.people_cut()).release("1")
    people = sf.Session(
        sf.Dataset(
            [{"t": "a", "who": 1}], schema=sf.Schema({"t": sf.Text()}, unit=UNIT)
        ),
        budget=sf.Epsilon("1", "1e-6"),
    )
    with pytest.raises(DeclarationError, match="unknown keys"):
        people.query().group_by("t").select(sf.rows_cut()).release("1", delta="1e-6")
    assert str(opened.spent) == str(people.spent) == "0"
