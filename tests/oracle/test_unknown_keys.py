"""Unknown keys from rows to release: every outcome of the gate with its exact probability.

The noise of the threshold is replaced by each of its values in turn, so that what a
release shows has an exact law. Two neighbouring tables must agree up to ε and δ of what
the plan charges; no draw decides whether a test passes.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import SLACK, charged, lost, outcomes

from sfumato import gate
from sfumato.account import ZCDP, Epsilon, Threshold
from sfumato.audit.sensitivity import World, neighbours
from sfumato.declare import query as ask
from sfumato.declare.expr import col
from sfumato.declare.schema import Category, Integer, Schema, Text
from sfumato.declare.unit import Rows
from sfumato.engine import Keyed
from sfumato.engine.chosen import narrowed
from sfumato.engine.reference import ReferenceEngine
from sfumato.engine.render import Statement
from sfumato.plan import lower, make_plan, record
from sfumato.plan.grouping import Grouping
from sfumato.post import figures

COLUMNS = {"city": Text(longest=4), "g": Category(["a", "b"]), "x": Integer(0, 9)}
SIZE = 3
ADD, REPLACE = Rows(), Rows(neighbours="replace_one", size=SIZE)


def row(city, g="a", x=1):
    """Return one row."""
    return {"city": city, "g": g, "x": x}


def plan_of(loss, unit=ADD, *, by=("city",), statistics=(ask.count(),), where=None, other=None):  # fmt: skip
    """Return a plan that groups by an unknown key."""
    query = ask.Query().group_by(*by, other=other).select(*statistics)
    query = query if where is None else query.where(where)
    return make_plan(query, Schema(COLUMNS, unit=unit), loss)


SURE = Epsilon("3", "1e-3")  # few values of noise: pairs of keys can be enumerated
TABLES = [
    [row("r")], [row("r"), row("r")], [row("r"), row("s")], [row(None), row("r")],
    [row("long text"), row("r")], [row("")], [row("r")] * 6, [row("r")] * 5 + [row("s")],
]  # fmt: skip


def worst(plan, tables=TABLES, engine=None):
    """Return the largest δ over all neighbours of some tables."""
    exact = engine or (lambda p, rows: ReferenceEngine(rows).run(p).unseal())
    unit, pool = plan.schema.unit, [row("r"), row("s"), row("t"), row(None)]
    found = Decimal(0)
    for rows in tables:
        here = exact(plan, rows)
        for other in neighbours(rows, unit, pool):
            found = max(found, lost(plan, here, exact(plan, other)))
    return found


def test_no_neighbour_shows_a_key_beyond_the_charge():
    """(ε, δ) of the whole path, on the database: rows, integers, threshold, order."""
    plan = plan_of(SURE)

    with World(plan.schema) as world:
        found = worst(plan, engine=lambda p, r: world.exact(p, r).unseal())

    assert Decimal(0) < found <= charged(plan) + SLACK
    assert charged(plan) == Decimal("0.001")


def test_a_replaced_row_shows_no_key_beyond_the_charge():
    """Under replace-one two keys change at once."""
    plan = plan_of(Epsilon("6", "1e-2"), REPLACE)
    tables = [[row("r"), row("r"), row("s")], [row("r"), row(None), row(None)]]

    assert Decimal(0) < worst(plan, tables) <= charged(plan) + SLACK


@pytest.mark.parametrize("other", [None, "rest"])
def test_two_columns_and_a_filter(other):
    """A pair of a declared and an unknown key, and rows that a filter drops."""
    plan = plan_of(SURE, by=("g", "city"), where=col("x") > 0, other=other)
    tables = [[row("r"), row("r", "b")], [row("r"), row("r", x=0)], [row("r", "c")]]

    assert worst(plan, tables) <= charged(plan) + SLACK


def test_a_gaussian_threshold_shows_a_lone_key_with_its_delta():
    """Under ρ: the key of one row passes with δ at most, and absent keys never."""
    plan = plan_of(ZCDP("0.5", "1e-3"))
    lone = ReferenceEngine([row("r")]).run(plan).unseal()

    found = outcomes(plan, lone)

    seen = sum((m for (groups, _), m in found.items() if groups), Decimal(0))
    assert Decimal(0) < seen <= charged(plan)
    assert outcomes(plan, ReferenceEngine([]).run(plan).unseal()) == {((), ()): 1}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["r", "s", "é", "", None]), max_size=8), st.randoms())
def test_the_order_of_rows_is_no_part_of_a_release(cities, random):
    """Keys come by themselves, whatever order the rows and the engine have."""
    plan = plan_of(SURE, by=("city", "g"))
    table = [row(c, "ab"[i % 2]) for i, c in enumerate(cities)]
    shuffled = list(table)
    random.shuffle(shuffled)

    with World(plan.schema) as world:
        held = world.exact(plan, table).unseal()
        assert held == world.exact(plan, shuffled).unseal()
        assert held == ReferenceEngine(table).run(plan).unseal()

    assert list(held.groups) == sorted(held.groups)
    turned = Keyed(held.groups[::-1], tuple(v[::-1] for v in held.integers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "_draw_threshold", lambda t, n: (t.reach,) * n)
        first, second = gate._release(plan, held), gate._release(plan, turned)
    assert first == second
    assert list(first[0].groups) == sorted(first[0].groups)


STATISTICS = (ask.mean("x"), ask.histogram("g"), ask.median("x"), ask.count("x"))


@pytest.mark.parametrize("other", [None, "rest"])
@pytest.mark.parametrize("loss", [SURE, ZCDP("0.1", "1e-6")], ids=["epsilon", "rho"])
def test_given_the_shown_keys_other_figures_are_those_of_listed_keys(loss, other):
    """What is measured beside the count is what a question with these keys measures."""
    plan = plan_of(loss, statistics=(ask.count(), *STATISTICS), other=other)
    rows = [row("r", "a", i) for i in range(5)] + [
        row("s", "b", 9),
        row(None),
        row("t"),
    ]
    held = ReferenceEngine(rows).run(plan).unseal()

    shown, integers = narrowed(plan, held, [("r",), ("t",)])

    query = ask.Query().group_by("city", keys=["r", "t"], other=other)
    listed = make_plan(query.select(ask.count(), *STATISTICS), plan.schema, 1)
    wanted = dict(zip([p.aggregate for p in listed.parts], ReferenceEngine(rows).run(listed).unseal(), strict=True))  # fmt: skip
    assert shown.groups == listed.groups
    for part, values in zip(shown.parts, integers, strict=True):
        assert values == wanted[part.aggregate]
        assert len(values) == part.cells


@pytest.mark.parametrize("loss", [Epsilon("1", "1e-6"), ZCDP("0.1", "1e-6")])
@pytest.mark.parametrize("rows", [[], [row(None)], [row("r")] * 3])
def test_no_key_is_an_answer_like_any_other(loss, rows):
    """Nothing is raised where nothing is shown: an error would tell that."""
    plan = plan_of(
        loss, statistics=(ask.count(), *STATISTICS, ask.std("x"), ask.sum("x"))
    )
    held = ReferenceEngine(rows).run(plan).unseal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "_draw_threshold", lambda t, n: (-3,) * n)
        shown, noisy = gate._release(plan, held)

    assert shown.groups == ()
    assert all(values == () for values in noisy)
    assert list(figures(shown, noisy, 0.95)) == []


# Planted faults: each of them must be found by one of the tests above.


def lowered(patch, least):
    """Give every threshold another least count."""
    build = Threshold.__init__

    def low(self, *args, **kw):
        build(self, *args, **kw)
        object.__setattr__(self, "least", least(self.least))

    patch.setattr(Threshold, "__init__", low)


def no_threshold(patch):
    """Every key of the table is shown with its noisy count."""
    lowered(patch, lambda _: -99)


def off_by_one(patch):
    """The threshold is the reach itself, not one above."""
    lowered(patch, lambda least: least - 1)


def dropped_by_the_exact_count(patch):
    """Rare keys are dropped by their exact count, and all others shown."""
    true = gate.narrowed

    def exactly(plan, exact, _):
        counts = exact.integers[plan.selecting]
        sure = [g for g, n in zip(exact.groups, counts, strict=True) if n >= 2]
        return true(plan, exact, sure)

    patch.setattr(gate, "narrowed", exactly)


def delta_not_charged(patch):
    """The threshold has its δ, and the ledger never hears of it."""
    charge = record.charge

    def pure(mechanism, measure):
        whole = charge(mechanism, measure)
        return type(whole).from_units(whole.units)

    patch.setattr(record, "charge", pure)


def one_key_although_a_row_is_replaced(patch):
    """A replaced row changes two keys; the noise is for one."""
    select = lower.with_threshold
    patch.setattr(
        lower, "with_threshold",
        lambda steps, part, delta, unit: select(steps, part, delta, ADD),
    )  # fmt: skip


def filter_forgotten_in_the_count(patch):
    """A row that the filter drops still makes its key visible: two rows for one."""
    render = Statement._render
    patch.setattr(
        Statement, "_render",
        lambda self: render(self).replace("FROM data", "FROM data, range(2)"),
    )  # fmt: skip


FAULTS = [
    (no_threshold, ADD), (off_by_one, ADD), (dropped_by_the_exact_count, ADD),
    (delta_not_charged, ADD), (one_key_although_a_row_is_replaced, REPLACE),
    (filter_forgotten_in_the_count, ADD),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "unit"), FAULTS, ids=lambda v: getattr(v, "__name__", ""))  # fmt: skip
def test_a_planted_fault_is_found(monkeypatch, fault, unit):
    """The path holds its claim as it is, and breaks it with the fault."""
    loss = SURE if unit is ADD else Epsilon("6", "1e-2")
    tables = TABLES if unit is ADD else [[row("r")] * 3, [row("r"), row("r"), row("s")]]

    def holds():
        plan = plan_of(loss, unit)
        with World(plan.schema) as world:
            exact = lambda p, r: world.exact(p, r).unseal()  # noqa: E731
            return worst(plan, tables, exact) <= charged(plan) + SLACK

    assert holds()
    fault(monkeypatch)

    assert not holds()


def test_an_engines_order_that_reaches_the_release_is_found(monkeypatch):
    """Planted: the gate takes the keys as they come."""
    plan = plan_of(SURE)
    held = ReferenceEngine([row("s"), row("r")]).run(plan).unseal()
    turned = replace(held, groups=held.groups[::-1])
    monkeypatch.setattr(gate, "_draw_threshold", lambda t, n: (t.reach,) * n)
    assert gate._release(plan, held)[0].groups == gate._release(plan, turned)[0].groups

    monkeypatch.setattr(Grouping, "arranged", lambda _, groups: tuple(groups))

    assert gate._release(plan, held)[0].groups != gate._release(plan, turned)[0].groups


def test_a_key_without_a_row_is_never_shown(monkeypatch):
    """Even if an engine reported one: nothing may tell that it was ever there."""
    plan = plan_of(SURE)
    ghost = Keyed((("r",), ("s",)), ((0, 1),))
    monkeypatch.setattr(gate, "_draw_threshold", lambda t, n: (t.least,) * n)

    shown, _ = gate._release(plan, ghost)

    assert shown.groups == (("s",),)
