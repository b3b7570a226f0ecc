"""The oracle for people can fail: faults of contribution bounds, planted one at a time."""

from dataclasses import replace

import pytest

from sfumato.account import ZCDP, Epsilon, KNorm
from sfumato.audit.sensitivity import World, compare
from sfumato.declare import query as ask
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.declare.unit import Unit
from sfumato.engine import duckdb
from sfumato.engine.people import PeopleStatement
from sfumato.engine.terms import Terms
from sfumato.plan import allocate, make_plan, reach, sensitivity, squared_sensitivity

COLUMNS = {"x": Integer(0, 7), "g": Category(range(9))}
ADD = Unit("who", max_rows=2, max_groups=3)
REPLACE = Unit("who", max_rows=2, max_groups=2, neighbours="replace_one", size=2)
PEOPLE = [
    [{"x": x, "g": g} for g in groups for _ in range(times)]
    for x in (0, 7, None)
    for groups in (range(1), range(5), range(7), range(6, 9))
    for times in (1, 3)
]


def rows_taken_for_people(monkeypatch):
    """A person counted once per row."""
    persons = PeopleStatement._persons

    def ungrouped(self, keys):
        return persons(self, keys).rsplit(" GROUP BY ", 1)[0]

    monkeypatch.setattr(PeopleStatement, "_persons", ungrouped)


def max_groups_forgotten_in_the_statement(monkeypatch):
    """Each of a person's groups counts fully."""
    monkeypatch.setattr(PeopleStatement, "_shared", lambda self, size: size)


def max_groups_forgotten_in_the_plan(monkeypatch):
    """Noise for one group of a person although several count."""

    def narrow(wide):
        return lambda aggregate, unit, groups: wide(aggregate, unit, groups=1)

    monkeypatch.setattr(allocate, "sensitivity", narrow(sensitivity))
    monkeypatch.setattr(allocate, "squared_sensitivity", narrow(squared_sensitivity))


def max_rows_forgotten(monkeypatch):
    """All of a person's rows in a group count fully."""
    monkeypatch.setattr(PeopleStatement, "_weighed", lambda self, size, rows, part: f"({size} * {1 << part.bits})")  # fmt: skip


def rows_beyond_without_an_end(monkeypatch):
    """Of rows beyond the bound all count, and not at most as many again."""
    monkeypatch.setattr(PeopleStatement, "_unit_rows", lambda self, rows, part: f"{rows} * {1 << part.bits}")  # fmt: skip


def quotients_rounded_up(monkeypatch):
    """Weights rounded to the next integer: in k groups they add up to more than G."""
    up = replace(duckdb.DUCKDB, divided="((({x}) + ({y}) - 1) // ({y}))")
    monkeypatch.setattr(duckdb, "DUCKDB", up)


def signs_rounded_down(monkeypatch):
    """Quotients floored instead of cut: a negative sum gets larger in size."""
    weighed = PeopleStatement._weighed

    def floored(self, size, rows, part):
        up = weighed(self, size, rows, part)
        return f"CASE WHEN {size[3:]} < 0 THEN {up} + 1 ELSE {up} END"

    monkeypatch.setattr(PeopleStatement, "_weighed", floored)


def one_person_split_in_two(monkeypatch):
    """Spellings of one identifier taken for two people."""
    monkeypatch.setattr(Terms, "identity", lambda self: "c2 || CAST(c0 % 2 AS VARCHAR)")


def spread_forgotten(monkeypatch):
    """Joint noise as if κ were not rounded up in each of many groups."""
    monkeypatch.setattr(
        allocate, "KNorm", lambda bounds, cost, rows, spread: KNorm(bounds, cost, rows=rows)
    )  # fmt: skip


def a_new_person_has_the_groups_of_the_old(monkeypatch):
    """A person who is replaced leaves her groups, and another enters others."""

    def narrow(aggregate, unit, groups):
        return reach(aggregate, unit) * min(unit.max_groups, groups)

    monkeypatch.setattr(allocate, "sensitivity", narrow)


FAULTS = [
    (rows_taken_for_people, ADD, (), ask.people()),
    (max_groups_forgotten_in_the_statement, ADD, ("g",), ask.count()),
    (max_groups_forgotten_in_the_statement, ADD, ("g",), ask.median("x")),
    (max_groups_forgotten_in_the_plan, ADD, ("g",), ask.count()),
    (max_rows_forgotten, ADD, ("g",), ask.sum("x")),
    (rows_beyond_without_an_end, ADD, ("g",), ask.rows_cut()),
    (max_groups_forgotten_in_the_statement, ADD, ("g",), ask.people_cut()),
    (max_rows_forgotten, ADD, (), ask.histogram("x", [0, 4, 7])),
    (quotients_rounded_up, ADD, ("g",), ask.people()),
    (signs_rounded_down, ADD, (), ask.mean("x")),
    (one_person_split_in_two, ADD, (), ask.count()),
    (spread_forgotten, ADD, ("g",), ask.mean("x")),
    (a_new_person_has_the_groups_of_the_old, REPLACE, ("g",), ask.people()),
]  # fmt: skip


def all_claims_hold(unit, keys, statistic):
    """Audit one question on tables of two adversarial people."""
    schema = Schema(COLUMNS, unit=unit)
    query = ask.Query().group_by(*keys).select(statistic)
    return all(_holds(make_plan(query, schema, loss)) for loss in (Epsilon(1), ZCDP(1)))


def _holds(plan):
    mixed = [{"x": i % 8, "g": 0} for i in range(8)]
    with World(plan.schema) as world:
        return all(
            finding.holds
            for one in (*PEOPLE, mixed)
            for finding in compare(
                plan,
                [{**row, "who": i} for i, two in enumerate((one, PEOPLE[3])) for row in two],
                PEOPLE[-3:],
                world.exact,
            )
        )  # fmt: skip


@pytest.mark.parametrize(("fault", "unit", "keys", "statistic"), FAULTS, ids=lambda v: getattr(v, "__name__", ""))  # fmt: skip
def test_a_planted_fault_is_found(monkeypatch, fault, unit, keys, statistic):
    """The question passes as it is, and fails with the fault."""
    assert all_claims_hold(unit, keys, statistic)

    fault(monkeypatch)

    assert not all_claims_hold(unit, keys, statistic)
