"""Unknown keys through a session: what is refused, charged, shown and never told."""

import logging
import traceback
from fractions import Fraction

import pandas as pd
import pytest

import sfumato as sf
from sfumato import (
    ZCDP,
    ApproxDP,
    BudgetExceededError,
    Category,
    Dataset,
    DeclarationError,
    EngineError,
    Epsilon,
    Real,
    Rows,
    Schema,
    Session,
    Text,
    col,
    count,
    histogram,
    mean,
    proportion,
)
from sfumato import sum as total
from sfumato.account import GDP
from sfumato.release import from_json

SECRET = "Saint-Rareté"
RARELY = "1e-10"  # how often the secret may be shown, and a test fail by luck
FRAME = pd.DataFrame({
    "city": ["Big"] * 1000 + ["Middle"] * 400 + [SECRET] + [None] * 5,
    "x": [1.0] * 1406,
})  # fmt: skip
SCHEMA = Schema({"city": Text(), "x": Real(0, 10, step=1), "sex": Category(["F"])})
TABLE = FRAME.assign(sex="F")


def session(budget, frame=TABLE, schema=SCHEMA, **rest):
    """Open a session on the table."""
    return Session(Dataset(frame, schema=schema, name="t"), budget=budget, **rest)


BUDGETS = [
    (Epsilon("1", "1e-5"), {"epsilon": "0.5"}, Epsilon("0.5", RARELY)),
    (ZCDP("0.2", "1e-5"), {"rho": "0.1"}, ZCDP("0.1", RARELY)),
    (ApproxDP("3", "2e-5", threshold_delta="1e-5"), {"rho": "0.05"}, ZCDP("0.05", RARELY)),
]  # fmt: skip


@pytest.mark.parametrize(("budget", "spent", "cost"), BUDGETS)
def test_large_groups_are_shown_and_both_parts_are_charged(budget, spent, cost):
    """From 2·reach + 1 rows on for certain; Gaussian noise of 30 has probability 1e-15."""
    desk = session(budget)
    ask = desk.query().group_by("city").select(count(), mean("x"))

    plan = ask.plan(**spent, delta=RARELY)
    made = plan.release()

    assert plan.cost == cost == desk.spent
    assert desk.left == budget.cap - cost
    assert plan.visible() < 100 and f"{plan.visible()} rows is shown with 95 %" in str(
        plan
    )
    names = [dict(f.group) for f in made if f.name == "count"]
    assert names == [{"city": "Big"}, {"city": "Middle"}]
    assert abs(made.find("count", city="Big").estimate - 1000) < 150
    assert made.measurements[0].threshold == plan.plan.threshold.least
    assert from_json(made.to_json()) == made
    assert f"noisy count is {plan.plan.threshold.least} or more" in str(made)
    assert SECRET not in made.to_json() + str(made) + made.to_csv() + repr(made)


def test_the_claim_names_the_delta():
    """ε with its own δ; ρ at the δ of the budget, with what the threshold spent of it."""
    pure = session(Epsilon("1", "1e-5")).query().group_by("city").select(count())
    claim = pure.release("0.5", delta="1e-6").claim
    assert (claim.epsilon, claim.delta) == ("0.5", "0.000001")
    assert "ε = 0.25, δ = 0.000001" in str(pure.release("0.25", delta="1e-6"))

    budget = ApproxDP("3", "2e-5", threshold_delta="1e-5")
    ask = session(budget).query().group_by("city").select(count())
    claim = ask.release(rho="0.05", delta="1e-6").claim
    assert claim.delta == "0.00002" and 0 < float(claim.epsilon) < 3
    assert claim.loss == "0.05 + delta 0.000001"


NO_DELTA = [Epsilon("1"), ZCDP("1"), ApproxDP("1", "1e-6"), GDP("1"),
            ApproxDP("1", "1e-6", gaussian_only=True)]  # fmt: skip


@pytest.mark.parametrize("budget", NO_DELTA, ids=repr)
@pytest.mark.parametrize("delta", [None, "1e-7"])
def test_a_budget_without_a_delta_is_refused_and_another_is_named(
    budget, delta, tmp_path
):
    """Before anything is spent, with the budgets that would do."""
    desk = session(budget, ledger=tmp_path / "a.ledger")
    amount = {"epsilon": "0.5"} if budget.measure == "epsilon" else {"rho": "0.01"}

    with pytest.raises(DeclarationError) as refused:
        desk.query().group_by("city").select(count()).release(**amount, delta=delta)

    assert 'Epsilon("1", "1e-6")' in refused.value.hint
    assert "threshold_delta" in refused.value.hint
    assert desk.left == budget.cap


def test_a_delta_without_unknown_keys_is_refused():
    """Nothing would be bought with it."""
    desk = session(Epsilon("1", "1e-5"))

    for ask in (desk.query(), desk.query().group_by("city", keys=["Big"]), desk.query().group_by("sex")):  # fmt: skip
        with pytest.raises(
            DeclarationError, match="nothing in the question costs a delta"
        ):
            ask.select(count()).release("0.5", delta="1e-6")
    assert desk.left == Epsilon("1", "1e-5")


def test_the_ledger_refuses_a_delta_that_is_not_left():
    """δ is a currency like ε: three releases of 4e-6 do not fit 1e-5."""
    desk = session(Epsilon("100", "1e-5"))
    ask = desk.query().group_by("city").select(count())
    for _ in range(2):
        ask.release("1", delta="4e-6")

    with pytest.raises(BudgetExceededError):
        ask.release("1", delta="4e-6")
    assert desk.left == Epsilon("98", "2e-6")
    assert desk.profile().epsilon("8e-6") == pytest.approx(2, rel=1e-6)
    assert desk.profile().epsilon("7e-6") == float("inf")


def test_a_text_column_with_listed_keys_costs_no_delta():
    """The keys are public, so they appear in any case, absent ones too."""
    desk = session(Epsilon("1"))
    ask = desk.query().group_by("city", keys=["Nowhere", "Big"], other="elsewhere")

    made = ask.select(count()).release("1")

    assert [f.group["city"] for f in made] == ["Nowhere", "Big", "elsewhere"]
    assert abs(made.find("count", city="elsewhere").estimate - 406) < 40
    assert desk.left == Epsilon.from_units(0)


def test_hidden_rows_have_a_group_on_request():
    """Rows of keys that are not shown, and rows without a key."""
    desk = session(Epsilon("10", "1e-5"))
    ask = desk.query().group_by("city", other="elsewhere").select(count(), total("x"))

    made = ask.release("5", delta=RARELY)

    names = [f.group["city"] for f in made if f.name == "count"]
    assert names == ["Big", "Middle", "elsewhere"]
    assert abs(made.find("count", city="elsewhere").estimate - 6) < 30


def test_the_name_of_other_rows_is_no_key():
    """A cell that is called so is one of the others: no question fails by its data."""
    desk = session(Epsilon("10", "1e-5"))
    ask = desk.query().group_by("city", other="Middle").select(count())

    made = ask.release("5", delta=RARELY)

    assert [f.group["city"] for f in made] == ["Big", "Middle"]
    assert abs(made.find("count", city="Middle").estimate - 406) < 30


REFUSED = [
    (("city",), [7], "7 is no text, and the keys of 'city' are texts.*nearest key is '7'"),
    (("city",), ["a" * 101], "longer than the 100 characters of a key"),
    (("city",), ["2", "2.0"], "the key '2.0' of city is listed twice"),
    (("city",), [None], "None cannot be a key"),
    (("x",), None, "column 'x' cannot group"),
    (("City",), None, "did you mean 'city'"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "keys", "said"), REFUSED)
def test_what_is_no_key_is_refused(columns, keys, said):
    """By fact and hint, before anything is spent."""
    desk = session(Epsilon("1", "1e-5"))

    with pytest.raises(DeclarationError, match="(?s)" + said):
        desk.query().group_by(*columns, keys=keys).select(count()).release(
            1, delta="1e-6"
        )
    assert desk.left == Epsilon("1", "1e-5")


@pytest.mark.parametrize(
    "statistic", [mean("city"), histogram("city"), proportion("city", "Big")]
)
def test_a_text_column_has_no_statistics_but_counts(statistic):
    """Its keys are not declared, so nothing is spread over them."""
    with pytest.raises(DeclarationError, match="'city'"):
        session(Epsilon("1")).query().select(statistic).plan(1)
    assert session(Epsilon("1")).query().select(count("city")).plan(1).cost == Epsilon(
        1
    )
    with pytest.raises(DeclarationError, match="cannot be compared"):
        session(Epsilon("1")).query().where(col("city") < "a").select(count()).plan(1)


def test_no_key_reaches_an_error_or_a_log(monkeypatch, caplog):
    """After the debit each failure has one text, and nobody hears of cells unasked."""
    from sfumato import gate, question

    def tell(_, exact, *__, **___):
        raise ValueError(repr(exact.unseal().groups))

    monkeypatch.setattr(question, "release", tell)
    desk = session(Epsilon("1", "1e-5"))
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineError) as failed:
        desk.query().group_by("city").select(count()).release("0.5", delta="1e-6")

    told = "".join(traceback.format_exception(failed.value)) + caplog.text
    assert SECRET not in told and failed.value.__context__ is None
    assert desk.left == Epsilon("0.5", "9e-6")
    assert SECRET not in repr(desk) + str(desk.describe()) + repr(
        gate.Keyed(((SECRET,),), ())
    )


def test_the_owner_sees_the_truth_of_the_shown_keys():
    """Hidden keys are not in the comparison either: it is about the release."""
    desk = session(Epsilon("10", "1e-5"))
    plan = (
        desk.query()
        .group_by("city", other="rest")
        .select(count(), mean("x"))
        .plan("5", delta=RARELY)
    )

    made = plan.release()
    compared = plan.compare_for_owner(made)

    truths = [round(pair.truth) for pair in compared.rows[:3]]
    assert truths == [1000, 400, 6]


def test_bc081_rare_key_threshold():
    """Big always appears, Rare with δ at most; the plan says how many rows a key needs."""
    plan = (
        session(Epsilon("1", "1e-6"))
        .query()
        .group_by("city")
        .select(count())
        .plan(1, delta="1e-6")
    )
    threshold = plan.plan.threshold

    assert threshold.shown(1000) == 1.0 and threshold.shown(1) <= 1e-6
    assert plan.visible() == 17 and threshold.least == 15  # Laplace: 14.1


def test_replace_one_counts_two_keys():
    """The number of rows is public, and a row can leave one key for another."""
    schema = Schema({"city": Text()}, unit=Rows(neighbours="replace_one", size=1406))
    desk = session(Epsilon("1", "1e-5"), FRAME[["city"]], schema)
    plan = desk.query().group_by("city").select(count()).plan(1, delta=RARELY)

    assert plan.plan.threshold.keys == 2 and plan.plan.threshold.scale == 2
    assert [f.group["city"] for f in plan.release()] == ["Big", "Middle"]


def test_a_synthetic_table_needs_known_values():
    """A text column cannot be made; without it the others can be."""
    from sfumato.synth.grids import grids

    with pytest.raises(DeclarationError, match="'city' has no declared keys"):
        grids(SCHEMA, ["city", "x"], cells=4)
    assert len(grids(SCHEMA, ["x"], cells=4)) == 1


def test_unknown_keys_of_people_are_paid_planned_and_told() -> None:
    """The threshold is of people, the δ is in the ledger, and rare keys are hidden."""
    unit = sf.Unit("who", max_rows=2, max_groups=3)
    schema = sf.Schema({"city": sf.Text(), "x": sf.Integer(0, 10)}, unit=unit)
    rows = [
        {"who": i, "city": c, "x": 5} for i in range(400) for c in ("Bonn", "Ulm", "é")
    ] + [{"who": 1, "city": f"rare {i}", "x": 5} for i in range(50)]
    session = sf.Session(
        sf.Dataset(rows, schema=schema), budget=sf.Epsilon("6", "1e-6")
    )
    ask = session.query().group_by("city").select(sf.count(), sf.people(), sf.mean("x"))

    plan = ask.plan("5", delta="1e-10")
    release = plan.release()

    assert plan.visible(0.95) == plan.plan.threshold.visible(0.95)
    assert "keys that one person alone has, with 1e-10" in str(plan)
    assert (session.spent.value, session.spent.delta) == (5, Fraction(1, 10**10))
    assert {f.group["city"] for f in release} == {"Bonn", "Ulm", "é"}
    people = release.find("people", city="Bonn")
    assert abs(people.estimate - 400) < 60
    assert float(release.claim.delta) == 1e-10
