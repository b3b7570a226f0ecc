"""Tables of two columns and ratios: right without noise, and covered as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from sfumato import (
    Boolean,
    Category,
    Integer,
    Query,
    Real,
    Rows,
    Schema,
    crosstab,
    mean,
    ratio,
)
from sfumato import sum as total
from sfumato.account import ZCDP
from sfumato.engine.reference import ReferenceEngine
from sfumato.gate import _add_noise
from sfumato.plan import expected_errors, make_plan
from sfumato.post import intervals, points

COLUMNS = {
    "cost": Real(0, 500, step=1),
    "days": Integer(0, 30),
    "debt": Real(-50, 0, step=1),
    "sex": Category(["F", "M"]),
    "smoker": Boolean(),
}
ROWS = [
    {
        "cost": (i * 37) % 500,
        "days": (i * 7) % 30 if i % 9 else None,
        "debt": -((i * 11) % 50),
        "sex": "FM?"[i % 3],
        "smoker": [True, False, False, None][i % 4],
    }
    for i in range(600)
]
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=600))
RATIOS = [ratio("cost", "days"), ratio("cost", "debt"), ratio("smoker", "days")]


def exact(plan, rows=ROWS):
    """Return the integers of the specification."""
    return ReferenceEngine(rows).run(plan).unseal()


def test_a_table_counts_rows_that_have_a_bin_in_both_columns():
    """The second column is innermost; bins are half open but for the last."""
    ask = crosstab("days", "sex", edges=[0, 7, 14])
    plan = make_plan(Query().select(ask), ADD, 1)
    rows = [
        {"days": 0, "sex": "F"}, {"days": 7, "sex": "M"}, {"days": 14, "sex": "M"},
        {"days": 15, "sex": "M"}, {"days": 3, "sex": "?"}, {"days": None, "sex": "F"},
    ]  # fmt: skip

    (found,) = [points(plan, r, exact(plan, rows)) for r in plan.recipes]

    assert found.tolist() == [1, 0, 0, 2]


def test_a_table_costs_and_errs_as_one_count_by_two_keys():
    """One row lies in one pair, so the whole ε is for all of them together."""
    tabled = make_plan(Query().select(crosstab("sex", "smoker")), ADD, 1)
    (step,) = tabled.steps
    assert (step.mechanism.sensitivity, str(step.mechanism.cost)) == (1, "1")


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("shared", [(), (mean("cost"), mean("days"))])
def test_a_ratio_is_that_of_its_two_sums(schema, shared):
    """Each sum skips its own missing cells; measured alone or shared with a mean."""
    plan = make_plan(Query().select(*RATIOS, *shared), schema, 1)
    values = exact(plan)
    sums = {
        name: sum(float(r[name]) for r in ROWS if r[name] is not None)
        for name in ("cost", "days", "debt", "smoker")
    }

    found = [points(plan, r, values)[0] for r in plan.recipes[:3]]

    assert np.allclose(found, [sums[s.column] / sums[s.other] for s in RATIOS])


def test_a_ratio_shares_its_sums():
    """Sums asked beside it are measured once."""
    asked = ratio("cost", "days"), total("cost"), total("days")
    plan = make_plan(Query().select(*asked), ADD, 1)

    assert len(plan.parts) == 2


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["0.2", "2", ZCDP("0.02")])
def test_ratios_are_covered_as_they_say(schema, loss):
    """95 % of intervals hold the ratio of the data at hand; errors are as expected."""
    runs = 600
    plan = make_plan(Query().select(*RATIOS), schema, loss)
    values = exact(plan)
    truths = [points(plan, r, values)[0] for r in plan.recipes]
    hits, errors = np.zeros(3), np.zeros(3)
    for _ in range(runs):
        seen = _add_noise(plan, values)
        for i, recipe in enumerate(plan.recipes):
            (low,), (high,) = intervals(plan, recipe, seen, 0.95)
            assert low <= high
            hits[i] += low <= truths[i] <= high
            errors[i] += abs(points(plan, recipe, seen)[0] - truths[i]) / runs

    low, high = (
        binom.ppf(q, runs, p) / runs for q, p in ((1e-9, 0.94), (1 - 1e-9, 0.98))
    )
    assert (hits / runs >= low).all()
    assert (hits / runs <= high).all() or loss == "0.2"
    said = np.array([e.mean_absolute for e in expected_errors(plan, rows=600)])
    assert loss == "0.2" or ((errors < 3 * said).all() and (errors > said / 3).all())


@pytest.mark.parametrize("loss", ["0.5", ZCDP("0.02")])
def test_rare_intervals_of_ratios_hold_all_runs(loss):
    """Beyond 99.9 % the ends are bounds of both sums."""
    plan = make_plan(Query().select(*RATIOS), ADD, loss)
    values = exact(plan)
    for recipe in plan.recipes:
        (truth,) = points(plan, recipe, values)
        for _ in range(100):
            (low,), (high,) = intervals(
                plan, recipe, _add_noise(plan, values), 0.999999
            )
            assert low <= truth <= high


def test_a_sum_below_that_is_lost_in_noise_gives_a_finite_and_honest_interval():
    """No division by zero: the interval says that nothing is known."""
    plan = make_plan(Query().select(ratio("cost", "days")), ADD, "0.001")
    values = exact(plan, ROWS[:3])
    (truth,) = points(plan, plan.recipes[0], values)

    for _ in range(50):
        (low,), (high,) = intervals(
            plan, plan.recipes[0], _add_noise(plan, values), 0.95
        )
        assert np.isfinite([low, high]).all()
        assert low <= truth <= high or high - low > 0
