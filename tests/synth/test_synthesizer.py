"""From table to synthetic table: types, bounds, budget, refusals, files."""

import json
import math
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.ledger import show
from sfumato.report.synthetic import synthetic_html
from sfumato.synth import Synthesis, Synthesizer
from sfumato.synth.quality import portrait
from sfumato.testing import seeded

BUDGETS = (sf.Epsilon("3"), sf.ZCDP("0.3"), sf.ApproxDP("3", "1e-6"))
SCHEMA = sf.Schema(
    {
        "Age": sf.Integer(18, 90, missing=-1),
        "BMI": sf.Real(12, 70, step=0.1),
        "Sex": sf.Category(["F", "M"]),
        "Code": sf.Category([0, 1, 2]),
        "Ill": sf.Boolean(),
    }
)


def people(rows=2000, seed=0):
    """Return a made-up table with dependence, missing cells and odd cells."""
    rng = np.random.default_rng(seed)
    age = rng.integers(10, 99, rows)
    ill = rng.random(rows) < age / 120
    bmi = np.where(
        rng.random(rows) < 0.1, np.nan, 20 + 10 * ill + rng.normal(size=rows)
    )
    sex = np.where(rng.random(rows) < 0.5, "F", "M").astype(object)
    sex[::50] = "?"
    return pd.DataFrame(
        {"Age": np.where(rng.random(rows) < 0.1, -1, age), "BMI": bmi, "Sex": sex,
         "Code": rng.integers(0, 3, rows), "Ill": ill}
    )  # fmt: skip


def dataset(frame=None, schema=SCHEMA):
    """Return it as a dataset."""
    return sf.Dataset(people() if frame is None else frame, schema=schema, name="p")


@pytest.mark.parametrize("method", ["adaptive", "oneshot", "independent"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_rows_have_the_declared_names_types_bounds_and_order(method, budget):
    """Every method under every currency; missing is null, never a code."""
    made = Synthesizer(method).fit(dataset(), budget=budget)

    table = made.sample(500)

    assert table.names == tuple(SCHEMA)
    assert len(table) == 500
    for age in table["Age"]:
        assert age is None or (type(age) is int and 18 <= age <= 90)
    for bmi in table["BMI"]:
        assert bmi is None or (12 <= bmi <= 70 and round(bmi, 1) == bmi)
    assert set(table["Sex"]) <= {"F", "M", None}
    assert {type(c) for c in table["Code"]} <= {int, type(None)}
    assert set(table["Ill"]) <= {True, False, None}
    frame = table.to_pandas()
    assert str(frame["Age"].dtype) == "Int64"
    assert frame["Age"].isna().sum() == table["Age"].count(None)


@pytest.mark.parametrize("method", ["adaptive", "oneshot", "independent"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_budget_is_spent_to_the_unit(method, budget, tmp_path):
    """The ledger's charge, and the sum of what the tables cost, is the whole cap."""
    ledger = tmp_path / "l.ledger"

    made = Synthesizer(method).fit(dataset(), budget=budget, ledger=ledger)

    loss = type(budget.cap)
    tables = sum(loss(t.noise.loss).units for t in made.release.tables)
    assert sf.Session(dataset(), budget, ledger=ledger).left.units == 0
    assert made.release.claim.loss == str(budget.cap)
    if method == "independent":
        assert tables == budget.cap.units
    else:  # a tenth pays for the choices
        assert tables / budget.cap.units == pytest.approx(0.9, abs=1e-6)


def test_a_gaussian_budget_buys_one_round_but_no_private_choice():
    """The exact Gaussian curve has no price for a choice among candidates."""
    budget = sf.ApproxDP("3", "1e-6", gaussian_only=True)
    session = sf.Session(dataset(), budget)

    with pytest.raises(sf.DeclarationError, match="cannot pay for a private choice"):
        Synthesizer().fit(session, "1")
    assert session.left == budget.cap

    made = Synthesizer("oneshot").fit(session, "3")
    assert made.release.claim.measure == "gdp"
    assert {t.noise.law for t in made.release.tables} == {"gaussian"}


def test_the_debit_comes_before_the_data():
    """When the engine fails, the charge stands and nothing is told."""
    session = sf.Session(dataset(), sf.Epsilon("1"))
    session.desk.engine.close()

    with pytest.raises(sf.EngineError):
        Synthesizer().fit(session, "0.5")

    assert session.left == sf.Epsilon("0.5")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "gan"}, "unknown method"),
        ({"cells": 1}, "cells must be"),
        ({"ways": 4}, "ways must be"),
        ({"columns": ["Agee"]}, "unknown column"),
        ({"complete": ["Agee"]}, "unknown column"),
        ({"forbid": [{"Sex": "X", "Ill": True}]}, "no declared key"),
        ({"forbid": [{"Age": (50, 40)}]}, "no range"),
        ({"forbid": [{"Age": "old"}]}, "no range"),
        ({"forbid": [{}]}, "forbidden combination"),
        ({"forbid": [{"Ill": [True, False, None]}]}, "every combination"),
        ({"columns": ["Sex"], "forbid": [{"Age": 40}]}, "not made"),
        ({"marginals": [()]}, "1 to 4"),
        ({"marginals": [("Age", "Age")]}, "1 to 4"),
        ({"weights": {"Age": 0}}, "0.001 to 1000"),
        ({"weights": {"Agee": 1}}, "unknown column"),
        ({"surrogates": ["Age"]}, "surrogate"),
    ],
    ids=str,
)  # fmt: skip
def test_a_refusal_spends_nothing_and_has_a_hint(settings, words):
    """Whatever is wrong with the settings is said before the debit."""
    session = sf.Session(dataset(), sf.Epsilon("1"))

    with pytest.raises(sf.DeclarationError, match=words) as caught:
        Synthesizer(**settings).fit(session, "1")

    assert caught.value.hint
    assert session.spent.units == 0


def test_memory_is_predicted_and_bounded():
    """Sixty wide columns do not fit 50 MB: said with the figures, before the debit."""
    schema = sf.Schema({f"c{i}": sf.Integer(0, 98) for i in range(60)})
    table = sf.Dataset([{f"c{i}": 1 for i in range(60)}], schema=schema, name="wide")
    session = sf.Session(table, sf.Epsilon("1"))

    with pytest.raises(sf.DeclarationError, match="MB"):
        Synthesizer(cells=99, memory=50).fit(session, "1")

    assert session.spent.units == 0


def test_too_large_a_price_is_refused_by_the_ledger():
    """Nothing is read and nothing spent."""
    session = sf.Session(dataset(), sf.Epsilon("1"))

    with pytest.raises(sf.BudgetExceededError):
        Synthesizer().fit(session, "1.000000000001")
    with pytest.raises(sf.DeclarationError, match="epsilon or rho"):
        Synthesizer().fit(session)
    with pytest.raises(sf.DeclarationError, match="session, or a dataset"):
        Synthesizer().fit(dataset())
    with pytest.raises(sf.DeclarationError, match="too little"):
        Synthesizer().fit(session, "0.000000000001")

    assert session.spent.units == 0


def test_forbidden_combinations_never_appear():
    """Keys, ranges and missing values, although the noise would make some."""
    rules = [
        {"Sex": "M", "Ill": True},
        {"Age": (60, 90), "Code": [1, 2]},
        {"BMI": None, "Code": 0},
    ]
    made = Synthesizer(forbid=rules).fit(dataset(), budget=sf.Epsilon("2"))

    for row in made.sample(5000).rows():
        assert not (row["Sex"] == "M" and row["Ill"] is True)
        assert not (
            row["Age"] is not None and row["Age"] >= 60 and row["Code"] in (1, 2)
        )
        assert not (row["BMI"] is None and row["Code"] == 0)


def test_conditional_rows_meet_their_conditions():
    """A value, a range, a list, and missing."""
    made = Synthesizer().fit(dataset(), budget=sf.Epsilon("2"))

    for row in made.sample(500, where={"Ill": True, "Age": (40, 50)}).rows():
        assert row["Ill"] is True
        assert 38 <= row["Age"] <= 52  # to the nearest cell: three years at most
    assert set(made.sample(200, where={"Sex": None})["Sex"]) == {None}
    assert set(made.sample(200, where={"Code": [0, 2]})["Code"]) == {0, 2}
    with pytest.raises(sf.DeclarationError, match="unknown column"):
        made.sample(5, where={"Name": "x"})


def test_what_is_saved_is_read_back(tmp_path):
    """Record, model and rows are the same; nothing is pickled."""
    rules = [{"Age": (18, 20), "Ill": [True, None]}]
    made = Synthesizer(forbid=rules, weights={"Ill": 3}, surrogates=["id"]).fit(
        dataset(), budget=sf.ApproxDP("2", "1e-6")
    )

    made.save(tmp_path / "m.synth")
    read = Synthesis.load(tmp_path / "m.synth")

    assert read.release == made.release
    assert read.made.options == made.made.options
    one, two = made.sample(300, seed=4), read.sample(300, seed=4)
    assert one.to_csv() == two.to_csv()
    assert one["id"][0] == "S000001"
    assert (
        json.loads(made.release.to_json())["claim"]["loss"] == made.release.claim.loss
    )
    (tmp_path / "n.synth").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(sf.ArgumentError, match="no saved synthesis"):
        Synthesis.load(tmp_path / "n.synth")


def test_columns_with_private_bounds_are_saved_too(tmp_path):
    """What was paid for must not be lost because a column has no bounds of its own."""
    wide = {
        "Age": sf.Integer(bounds=sf.private_bounds("0.99", within=(0, 200))),
        "BMI": sf.Real(
            bounds=sf.private_quantiles(0, 0.9, within=(Decimal("0.5"), "99.5")),
            step=0.1,
        ),
        "Sex": sf.Category(["F", "M"]),
    }
    schema = sf.Schema(wide)
    made = Synthesizer(columns=["Age", "BMI"]).fit(
        dataset(schema=schema), budget=sf.Epsilon("2")
    )

    made.save(tmp_path / "m.synth")
    read = Synthesis.load(tmp_path / "m.synth")

    assert read.made.schema == made.made.schema
    assert made.sample(50, seed=1).to_csv() == read.sample(50, seed=1).to_csv()


def test_dependence_and_shares_are_kept():
    """With much budget the table says what the data say.

    ε = 30 for 20,000 rows: the noise of any count is below 40 rows with probability
    1 - 1e-12, so that the shares below are right to a per cent.
    """
    frame = people(20_000)
    made = Synthesizer().fit(dataset(frame), budget=sf.Epsilon("30"))

    ours = made.sample(20_000).to_pandas()

    assert ours["Sex"].isna().mean() == pytest.approx(0.02, abs=0.01)
    assert (ours["Age"].isna()).mean() == pytest.approx(
        (frame["Age"] == -1).mean(), abs=0.01
    )
    gap = ours.groupby("Ill")["BMI"].mean()
    assert gap[True] - gap[False] == pytest.approx(10, abs=1)


def test_a_seed_marks_the_release():
    """NOT PRIVATE is part of the claim."""
    with seeded(3):
        made = Synthesizer("independent").fit(dataset(), budget=sf.Epsilon("1"))

    assert not made.release.claim.private
    assert "NOT PRIVATE" in str(made.release)


def test_chosen_tables_and_three_ways_and_weights():
    """Tables asked for are measured; triples may be chosen; weights steer."""
    frame = people(20_000)
    made = Synthesizer(
        marginals=[("Ill", "Age")], ways=3, weights={("Ill", "BMI"): 50}, rounds=3
    ).fit(dataset(frame), budget=sf.Epsilon("20"))

    measured = [t.columns for t in made.release.tables if len(t.columns) > 1]

    assert ("Age", "Ill") in measured
    assert ("BMI", "Ill") in measured
    assert len(measured) == 4


def test_the_ledger_keeps_the_worst_mechanism(tmp_path):
    """A later report reads the synthesis as any mechanism of its price."""
    ledger = tmp_path / "l.ledger"
    session = sf.Session(dataset(), sf.ZCDP("1"), ledger=ledger)

    Synthesizer().fit(session, rho="0.25")

    assert session.left == sf.ZCDP("0.75")
    assert session.profile().epsilon("1e-6") > 0
    assert show(ledger)


def test_replace_one_keeps_the_public_size():
    """The number of rows is public, so it is not estimated."""
    frame = people(1500)
    unit = sf.Rows(neighbours="replace_one", size=1500)
    schema = sf.Schema(dict(SCHEMA.columns), unit)

    made = Synthesizer().fit(dataset(frame, schema), budget=sf.Epsilon("2"))

    assert made.release.total == 1500
    assert len(made.sample()) == 1500


def test_a_plan_tells_errors_and_memory_before_it_is_paid():
    """Nothing is spent; fewer rows make larger errors."""
    session = sf.Session(dataset(), sf.Epsilon("1"))

    plan = Synthesizer().plan(session, "1")

    few, many = plan.expected(rows=100), plan.expected(rows=100_000)
    assert all(a.error >= b.error for a, b in zip(few, many))
    assert plan.warnings(rows=20)
    assert not plan.warnings(rows=100_000)
    assert 0 < plan.megabytes < 500
    assert "Age × Ill" in str(plan) and ": ε 1, at most" in str(plan)
    assert repr(plan).endswith(": ε 1>") and len(repr(plan)) < 60
    assert session.spent.units == 0


def test_the_forms_of_a_table(tmp_path):
    """pandas, polars and CSV hold the same cells; spreadsheets run none."""
    schema = sf.Schema({"=f": sf.Category(["=1+1", "b"]), "n": sf.Integer(0, 5)})
    rows = [{"=f": "=1+1", "n": i % 5} for i in range(500)]
    made = Synthesizer().fit(
        sf.Dataset(rows, schema=schema, name="t"), budget=sf.Epsilon("5")
    )
    table = made.sample(50)

    text = table.to_csv()
    table.save(tmp_path / "t.csv")

    assert table.to_polars()["n"].to_list() == table["n"]
    assert [
        None if v is pd.NA or v != v else v for v in table.to_pandas()["n"]
    ] == table["n"]
    assert all(not line.startswith("=") for line in text.splitlines())
    assert (tmp_path / "t.csv").read_text(encoding="utf-8-sig") == text.replace(
        "\r\n", "\n"
    )
    with pytest.raises(sf.ArgumentError, match=r"written as \.csv"):
        table.save(tmp_path / "t.xlsx")
    with pytest.raises(sf.ArgumentError, match="number of rows"):
        made.sample(-1)
    assert math.isclose(float(made.marginal("n", "=f").sum()), 1)


def test_a_constant_column_stays_constant():
    """One declared key, alone and beside others; no table is wasted on it."""
    schema = sf.Schema({"site": sf.Category(["A"]), "ill": sf.Boolean()})
    rows = [{"site": "A", "ill": i % 2 == 0} for i in range(300)]
    table = sf.Dataset(rows, schema=schema, name="t")

    made = Synthesizer(complete=True).fit(table, budget=sf.Epsilon("1"))

    assert set(made.sample(50)["site"]) == {"A"}
    assert all(len(t.columns) == 1 for t in made.release.tables)


@pytest.mark.parametrize("method", ["adaptive", "oneshot"])
def test_fitting_needs_no_more_memory_than_was_predicted(method):
    """The peak of all allocations while counting, fitting and drawing."""
    schema = sf.Schema({f"c{i}": sf.Integer(0, 19) for i in range(5)})
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 20, (3000, 5)), columns=list(schema))
    table = sf.Dataset(frame, schema=schema, name="t")
    plan = Synthesizer(method, cells=20, bins=20, rounds=3).plan(
        table, budget=sf.ApproxDP("30", "1e-6")
    )

    tracemalloc.start()
    try:
        plan.fit()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= plan.megabytes * 1_000_000


def test_texts_and_names_of_people_are_told_to_be_left_out():
    """In the warnings and on the page; not where new names stand in, or columns are asked."""
    unit = sf.Unit("patient_id", max_rows=2, max_groups=1)
    schema = sf.Schema({"Ill": sf.Boolean(), "street": sf.Text()}, unit)
    rows = [{"patient_id": i, "Ill": i % 2 == 0, "street": "x"} for i in range(500)]
    table = sf.Dataset(rows, schema=schema, name="t")
    budget = sf.Epsilon("20")

    told = Synthesizer().plan(table, budget=budget).warnings(rows=500)
    named = Synthesizer(surrogates=["patient_id", "street"])
    made = named.fit(table, budget=budget)
    plain = Synthesizer().fit(table, budget=budget)
    pages = {
        lang: synthetic_html(plain.release, portrait(plain), lang=lang)
        for lang in ("en", "zh")
    }

    assert len(told) == 1
    assert "'street', 'patient_id'" in told[0]
    (new,) = named.plan(table, budget=budget).warnings(rows=500)
    assert new.startswith("new names")
    assert made.sample(2).names == ("patient_id", "street", "Ill")
    assert "street, patient_id" in pages["en"]
    assert "street、patient_id" in pages["zh"]
    assert (
        "New names that mean nothing stand in: patient_id, street."
        in synthetic_html(made.release, portrait(made), lang="en")
    )
