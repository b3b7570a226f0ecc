"""Unknown keys of people with many rows: what one person can do to keys and figures."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import SLACK, charged, lost

from sfumato.account import ZCDP, Epsilon
from sfumato.audit.sensitivity import World, neighbours
from sfumato.declare import query as ask
from sfumato.declare.schema import Category, Integer, Schema, Text
from sfumato.declare.unit import Unit
from sfumato.engine import people, reference
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import DeclarationError
from sfumato.plan import allocate, make_plan
from sfumato.plan.term import sensitivity, squared_sensitivity

COLUMNS = {"city": Text(longest=4), "g": Category(["a", "b"]), "x": Integer(0, 9)}
SIZE = 3
R, G = 2, 2
ADD = Unit("who", max_rows=R, max_groups=G)
REPLACE = Unit("who", max_rows=R, max_groups=G, neighbours="replace_one", size=SIZE)
ALL = (
    ask.people(), ask.count(), ask.sum("x"), ask.mean("x"), ask.variance("x"),
    ask.histogram("x", [0, 3, 9]), ask.proportion("g", "a"), ask.median("x"),
)  # fmt: skip
MANY = 1000  # groups: more than two people can be in


def row(who, city, x=1, g="a"):
    """Return one row."""
    return {"who": who, "city": city, "g": g, "x": x}


def plan_of(loss, unit=ADD, statistics=(ask.people(),), by=("city",), **options):
    """Return a plan that groups people by an unknown key."""
    query = ask.Query().group_by(*by, **options).select(*statistics)
    return make_plan(query, Schema(COLUMNS, unit=unit), loss)


SURE = Epsilon("6", "1e-2")
POOL = [[], [row(0, "r")], [row(0, "r"), row(0, "s")], [row(0, c) for c in "rst"], [row(0, None)]]  # fmt: skip
TABLES = [
    [row(1, "r")],
    [row(1, c) for c in "rs"],
    [row(1, c) for c in "rst"] * 2,
    [row(1, "r"), row(1, "s"), row(2, "r"), row(None, "t")],
    [row(i, "r") for i in range(3)] + [row(1, "s")],
]


def worst(unit, loss=SURE, tables=TABLES, engine=None):
    """Return the largest δ over all neighbours, and the δ that is charged."""
    plan, found = plan_of(loss, unit), Decimal(0)
    exact = engine or (lambda p, rows: ReferenceEngine(rows).run(p).unseal())
    for rows in tables:
        here = exact(plan, rows)
        for other in neighbours(rows, unit, POOL):
            found = max(found, lost(plan, here, exact(plan, other)))
    return found, charged(plan)


def test_no_person_shows_keys_beyond_the_charge() -> None:
    """(ε, δ) of the whole path on the database: she has three keys, and two count."""
    with World(Schema(COLUMNS, unit=ADD)) as world:
        found, paid = worst(ADD, engine=lambda p, r: world.exact(p, r).unseal())

    assert Decimal(0) < found <= paid + SLACK


def test_a_replaced_person_shows_no_keys_beyond_the_charge() -> None:
    """She leaves two keys, and another enters two others."""
    two = [[row(1, "r"), row(1, "s"), row(2, "t"), row(3, "t")]]

    found, paid = worst(REPLACE, Epsilon("12", "5e-2"), two)

    assert Decimal(0) < found <= paid + SLACK


IDS = st.sampled_from([1, "1.0", 2, 3.0, "x", "", None])
CITIES = st.sampled_from(
    ["r", "s", "t", "é", "e\u0301", "", "7", "7.0", None, "too long"]
)
ROW = st.builds(row, IDS, CITIES, st.sampled_from([0, 9, 4, None, 99]), st.sampled_from(["a", "b", None]))  # fmt: skip


def by_group(held, part):
    """Return the cells of each group of one part."""
    width = len(held.integers[part]) // max(1, len(held.groups))
    cells = held.integers[part]
    return {g: cells[i * width : (i + 1) * width] for i, g in enumerate(held.groups)}


def moved(here, there, part):
    """Return how far each cell of each group of a part lies apart, in two tables."""
    one, two = by_group(here, part), by_group(there, part)
    found = {}
    for group in one.keys() | two.keys():
        size = len(one.get(group) or two[group])
        ends = (one.get(group, (0,) * size), two.get(group, (0,) * size))
        found[group] = [abs(a - b) for a, b in zip(*ends, strict=True)]
    return {group: cells for group, cells in found.items() if any(cells)}


def holds(plan, rows, pool=()):
    """Tell whether every neighbour stays within the bounds in L0, L1 and L2."""
    unit = plan.schema.unit
    sides = 2 if unit.neighbours == "replace_one" else 1
    here = ReferenceEngine(rows).run(plan).unseal()
    for other in neighbours(rows, unit, pool):
        there = ReferenceEngine(other).run(plan).unseal()
        for i, part in enumerate(plan.parts):
            found = moved(here, there, i)
            cells = [x for several in found.values() for x in several]
            exact = i == plan.selecting
            most = sensitivity(part.aggregate, unit, groups=MANY)
            square = squared_sensitivity(part.aggregate, unit, groups=MANY)
            if exact:  # whole people
                most = square = sides * unit.max_groups
            fits = len(found) <= sides * unit.max_groups
            if not fits or sum(cells) > most or sum(x * x for x in cells) > square:
                return False
    return True


@settings(max_examples=25, deadline=None)
@given(st.lists(ROW, max_size=10), st.sampled_from([("city",), ("g", "city")]))
def test_nobody_moves_more_groups_or_more_in_them_than_is_claimed(rows, by) -> None:
    """L0, L1 and L2 of every part, over every person of random tables."""
    for loss in (Epsilon("1", "1e-6"), ZCDP("1", "1e-6")):
        assert holds(plan_of(loss, statistics=ALL, by=by), rows)


@settings(max_examples=15, deadline=None)
@given(st.lists(ROW, max_size=10), st.sampled_from([("city",), ("g", "city")]))
def test_the_database_gives_the_integers_of_the_specification(rows, by) -> None:
    """The same groups of the same people are chosen."""
    plan = plan_of(Epsilon("1", "1e-6"), statistics=ALL, by=by)

    with World(plan.schema) as world:
        assert world.exact(plan, rows).unseal() == ReferenceEngine(rows).run(plan).unseal()  # fmt: skip


def test_the_bounds_are_reached() -> None:
    """A person with many extreme rows in many keys moves two keys by all she may."""
    plan = plan_of(Epsilon("1", "1e-6"), statistics=(ask.people(), ask.count(), ask.sum("x")))  # fmt: skip
    rows = [row(1, city, 9) for city in "rstuv" for _ in range(7)]
    here = ReferenceEngine(rows).run(plan).unseal()

    assert len(here.groups) == G
    for i, part in enumerate(plan.parts):
        most = sensitivity(part.aggregate, ADD, groups=MANY)
        assert sum(here.integers[i]) == (G if i == plan.selecting else most)


def test_every_key_has_a_chance() -> None:
    """Which keys of a person count differs from person to person and question to question."""
    rows = [row(who, city) for who in range(200) for city in "rstuvw"]
    chosen = []
    for statistics in ((ask.people(),), (ask.count(),)):
        plan = plan_of(SURE, statistics=statistics)
        held = ReferenceEngine(rows).run(plan).unseal()
        chosen.append(Counter(dict(zip(held.groups, held.integers[plan.selecting], strict=True))))  # fmt: skip

    assert all(sum(one.values()) == 200 * G for one in chosen)
    assert all(30 < n < 110 for one in chosen for n in one.values())  # 66.7 on average
    assert chosen[0] != chosen[1]


def test_a_group_of_all_others_is_refused() -> None:
    """Two hidden keys of one person would meet in it: L2 would not hold."""
    with pytest.raises(DeclarationError, match="all other rows"):
        plan_of(SURE, other="rest")


# Planted faults: each is found by one of the tests above.


def all_groups(patch):
    """Every group of a person counts, however many they are."""
    patch.setattr(
        reference, "_of_people",
        lambda plan, unit, keys, groups: reference.Keyed(
            keys, reference._sums(plan, unit, reference._persons(unit, groups))
        ),
    )  # fmt: skip


def threshold_of_one_key(patch):
    """The threshold is that of a unit with one key."""
    true = allocate.Threshold
    patch.setattr(allocate, "Threshold", lambda loss, keys, new: true(loss))


def test_a_threshold_for_one_key_is_found(monkeypatch) -> None:
    """Two keys come forth by one person, each with the whole δ."""
    loss = Epsilon("2", "2e-2")  # so that the cut law uses most of its δ
    found, paid = worst(ADD, loss, TABLES[:3])
    assert found <= paid + SLACK

    threshold_of_one_key(monkeypatch)
    found, paid = worst(ADD, loss, TABLES[:3])

    assert found > paid + SLACK


def test_groups_that_are_not_chosen_are_found(monkeypatch) -> None:
    """Planted in the reference: all of her groups count."""
    rows = [row(1, city, 9) for city in "rstuv"]
    plan = plan_of(Epsilon("1", "1e-6"), statistics=ALL)
    assert holds(plan, rows)

    all_groups(monkeypatch)

    assert not holds(plan, rows)


def test_a_choice_that_the_database_forgets_is_found(monkeypatch) -> None:
    """Planted in the statement: every group of a person is the first one."""
    monkeypatch.setattr(people, "nth", lambda *_: "1")
    plan = plan_of(Epsilon("1", "1e-6"))
    rows = [row(1, city) for city in "rstuv"]

    with World(plan.schema) as world:
        assert world.exact(plan, rows).unseal() != ReferenceEngine(rows).run(plan).unseal()  # fmt: skip
