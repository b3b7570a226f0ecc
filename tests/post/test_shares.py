"""Shares of keys: right without noise, between 0 and 1, covered as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from sfumato import Boolean, Category, Query, Rows, Schema, proportion
from sfumato.account import ZCDP
from sfumato.engine.reference import ReferenceEngine
from sfumato.gate import _add_noise
from sfumato.plan import expected_errors, make_plan
from sfumato.post import intervals, points

COLUMNS = {"sex": Category(["F", "M", "X"]), "smoker": Boolean()}
ROWS = [
    {"sex": "FFMX?"[i % 5], "smoker": [True, False, False, None][i % 4]}
    for i in range(600)
]
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=600))
ASKED = [proportion("sex", "F"), proportion("smoker"), proportion("smoker", False)]


@pytest.mark.parametrize("schema", [ADD, FIXED])
def test_shares_are_of_the_rows_with_a_declared_key(schema):
    """Cells without a declared key are in neither number."""
    plan = make_plan(Query().select(*ASKED), schema, 1)
    values = ReferenceEngine(ROWS).run(plan).unseal()

    found = [points(plan, r, values)[0] for r in plan.recipes]

    assert np.allclose(found, [1 / 2, 1 / 3, 2 / 3])


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["0.1", "1", ZCDP("0.02")])
def test_shares_are_covered_and_lie_between_0_and_1(schema, loss):
    """95 % of intervals hold the share of the data at hand; errors are as expected."""
    runs = 600
    plan = make_plan(Query().select(*ASKED), schema, loss)
    values = ReferenceEngine(ROWS).run(plan).unseal()
    truths = [points(plan, r, values)[0] for r in plan.recipes]
    hits, errors = np.zeros(3), np.zeros(3)
    for _ in range(runs):
        seen = _add_noise(plan, values)
        for i, recipe in enumerate(plan.recipes):
            (low,), (high,) = intervals(plan, recipe, seen, 0.95)
            (found,) = points(plan, recipe, seen)
            assert 0 <= low <= found <= high <= 1
            hits[i] += low <= truths[i] <= high
            errors[i] += abs(found - truths[i]) / runs

    assert (hits / runs >= binom.ppf(1e-9, runs, 0.94) / runs).all()
    said = np.array([e.mean_absolute for e in expected_errors(plan, rows=500)])
    assert (errors < 2 * said).all() and (errors > said / 3).all()
