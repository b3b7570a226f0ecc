"""What an owner sees beside a release about people is in rows and people, not in integers."""

import numpy as np

import sfumato as sf
from sfumato.audit.whole import ReleaseAudit, race
from sfumato.engine.load import open_engine
from sfumato.engine.owned import owner_rows
from sfumato.gate import compare_for_owner, rehearse
from sfumato.plan import make_plan

ROWS = [{"g": "ab"[i % 2], "x": i, "who": i // 2} for i in range(10)]
SCHEMA = sf.Schema(
    {"g": sf.Category(["a", "b"]), "x": sf.Integer(0, 10)},
    unit=sf.Unit("who", max_rows=2, max_groups=2),
)


def test_rehearsed_figures_of_people_are_in_terms():
    """Five people with a row in each of two groups; noise of a large loss is small."""
    query = sf.Query().group_by("g").select(sf.count(), sf.people(), sf.sum("x"))
    plan = make_plan(query, SCHEMA, 10**6)
    with open_engine(sf.Dataset(ROWS, schema=SCHEMA, name="t")) as engine:
        exact = engine.run(plan)

    found = rehearse(plan, exact, 3)

    assert found.truths.tolist() == [5, 5, 5, 5, 20, 25]
    assert np.abs(found.estimates - found.truths).max() < 0.01


def test_the_true_figures_of_people_are_in_terms():
    """As the released ones are."""
    data = sf.Dataset(ROWS, schema=SCHEMA, name="t")
    session = sf.Session(data, budget=sf.Epsilon(10**6))
    query = sf.Query().group_by("g").select(sf.count(), sf.sum("x"))
    released = session.ask(query).release(10**6)
    plan = make_plan(query, SCHEMA, 10**6)
    with open_engine(data) as engine:
        made = compare_for_owner(plan, engine.run(plan), released)

    assert [row.truth for row in made.rows] == [5, 5, 20, 25]


def test_an_audit_covers_unknown_keys():
    """Sensitivity, noise and which keys are shown, and the race for a budget with a δ."""
    schema, loss = sf.Schema({"city": sf.Text()}), sf.Epsilon("1", "1e-6")
    query = sf.Query().group_by("city").select(sf.count())
    audit = ReleaseAudit("cities", query, schema, loss, draws=10, tables=1)

    checks = [check for stage in audit.checks() for check in stage]

    assert [check.kind for check in checks] == ["sensitivity", "noise", "keys"]
    assert not any(check.violated for check in checks)
    assert audit.skipped == []
    assert not race("r", query, schema, loss).violated


def test_an_owners_rows_leave_texts_without_keys_out():
    """Their values are not declared, so they have no places; the rest is read."""
    schema = sf.Schema({"city": sf.Text(), "x": sf.Integer(0, 10)})
    rows = [{"city": "Bonn", "x": 3}, {"city": None, "x": 99}]
    with open_engine(sf.Dataset(rows, schema=schema, name="t")) as engine:
        found = owner_rows(engine, schema)

    assert {name: list(cells) for name, cells in found.items()} == {"x": [3, 10]}
