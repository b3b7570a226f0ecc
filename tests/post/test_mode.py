"""Modes: chosen by exact selection, paid to the unit, short by no more than is said."""

from collections import Counter
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato import Category, Integer, Query, Rows, Schema, mode
from sfumato.account import GDP, ZCDP, Selection, charge, describe
from sfumato.account.descriptor import read_descriptors
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import DeclarationError
from sfumato.gate import _add_noise
from sfumato.plan import expected_errors, make_plan
from sfumato.post import intervals, lacking

COLUMNS = {
    "g": Category(["a", "b", "c", "d"]),
    "x": Integer(0, 9),
    "k": Category([0, 1]),
}
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=60))
ROWS = [{"g": "aaaabbbcc?"[i % 10], "x": i % 7, "k": i % 2} for i in range(60)]


def plan_of(schema, loss, *keys):
    """Return the plan of a mode, by groups or not."""
    return make_plan(Query().group_by(*keys).select(mode("g")), schema, loss)


@pytest.mark.parametrize(
    ("schema", "rate"), [(ADD, Fraction(1, 2)), (FIXED, Fraction(1, 4))]
)
def test_the_whole_epsilon_buys_the_rate(schema, rate):
    """Added or removed, a row moves one count one way: rate ε; replaced, rate ε/2."""
    (step,) = plan_of(schema, "0.5").steps

    assert step.mechanism.law == "permute_and_flip"
    assert step.mechanism.rate == rate
    assert str(step.mechanism.cost) == "0.5"


@pytest.mark.parametrize("schema", [ADD, FIXED])
def test_a_budget_of_rho_buys_a_choice_of_bounded_range(schema):
    """ε²/8, not the ε·tanh(ε/2) of a mechanism of which only ε is known."""
    plan = plan_of(schema, ZCDP("0.02"))

    assert plan.steps[0].mechanism.law == "exponential"
    assert str(plan.steps[0].mechanism.cost) == "0.4"
    assert plan.cost == ZCDP("0.02")


def test_a_gaussian_budget_refuses_a_choice():
    """It is accounted for Gaussian noise alone; nothing is spent."""
    with pytest.raises(DeclarationError, match="Gaussian noise only"):
        plan_of(ADD, GDP("0.02"))


def test_a_descriptor_of_a_choice_costs_what_was_charged():
    """Monotone or not, the ledger reads back the same ε."""
    for made in (Selection(1, "0.3", monotone=True), Selection(2, "0.3")):
        assert read_descriptors([describe(made)]).epsilon == Fraction("0.3")


def chances(rate, counts):
    """Return the exact law of permute-and-flip, by all orders of two candidates."""
    best = max(counts)
    heads = [exp(-float(rate) * (best - c)) for c in counts]
    first, second = heads
    return [
        first * (1 - second) + first * second / 2,
        second * (1 - first) + first * second / 2,
    ]


def test_the_choice_follows_its_law_in_each_group():
    """Two keys, two groups: frequencies of 4,000 runs against the exact law (1e-9)."""
    schema = Schema({"g": Category(["a", "b"]), "k": Category([0, 1])})
    plan = make_plan(Query().group_by("k").select(mode("g")), schema, "0.5")
    rows = (
        [{"g": "a", "k": 0}] * 5 + [{"g": "b", "k": 0}] * 3 + [{"g": "b", "k": 1}] * 2
    )
    values = ReferenceEngine(rows).run(plan).unseal()
    runs = 4000

    seen = [_add_noise(plan, values)[0] for _ in range(runs)]

    for group, counts in enumerate(([5, 3], [0, 2])):
        share = chances(Fraction(1, 2), counts)[0]
        found = Counter(s[group] for s in seen)[0]
        low, high = (binom.ppf(q, runs, share) for q in (1e-9, 1 - 1e-9))
        assert low <= found <= high


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["0.5", "2", ZCDP("0.05")])
def test_the_choice_lacks_no_more_than_is_said(schema, loss):
    """In at least 95 % of runs; and on average no more than expected."""
    runs = 400
    plan = plan_of(schema, loss, "k")
    values = ReferenceEngine(ROWS).run(plan).unseal()
    (low, _), (high, _) = intervals(plan, plan.recipes[0], values, 0.95)
    keys = plan.schema["g"].values
    short = np.array([
        lacking(plan, plan.recipes[0], values, [keys[i] for i in _add_noise(plan, values)[0]])
        for _ in range(runs)
    ])  # fmt: skip

    assert high == 0
    assert ((short >= low).mean(axis=0) >= binom.ppf(1e-9, runs, 0.95) / runs).all()
    (said,) = expected_errors(plan)
    assert said.error == -low
    assert (-short.mean(axis=0) <= said.mean_absolute + 1).all()


def test_a_release_tells_the_bin_and_no_count():
    """The key in its place, a bound on what it lacks, and the places as raw integers."""
    import pandas as pd

    data = sf.Dataset(pd.DataFrame(ROWS), schema=ADD, name="t")
    session = sf.Session(data, budget=10)
    ask = session.query().group_by("k").select(mode("g"), mode("x", [0, 5, 9]))
    plan = ask.plan(8)
    release = plan.release()

    first, second, *_ = release
    assert first.bin in "abcd" and first.estimate == 0 and first.high == 0 >= first.low
    assert release.measurements[0].values[0] in range(4)
    assert release.find("mode_x", k=1).bin in [(0.0, 5.0), (5.0, 9.0)]
    assert sf.Release is type(release)
    assert "Most frequent g" in str(release) and "rows fewer" in str(release)
    compared = plan.compare_for_owner(release)
    assert all(row.truth <= 0 for row in compared.rows)
    from sfumato.release import from_json

    assert from_json(release.to_json()) == release


def test_charges_of_choices_are_those_of_the_proof_page():
    """Permute-and-flip has no bounded range, so only the exponential law costs ε²/8."""
    law = Selection(1, "0.4", law="exponential", monotone=True)
    assert charge(law, "zcdp") == ZCDP("0.02")
    assert charge(Selection(1, "0.4", monotone=True), "zcdp") > ZCDP("0.07")
