"""Faults of statistics reported of other systems: each test is named for its case."""

import math

import pytest
from repeated import noisy_runs

from sfumato.declare.query import Query, median, std, variance
from sfumato.declare.schema import Category, Real, Schema
from sfumato.post import intervals, points


def test_bc069_std_nan():
    """A deviation lies in [0, range/2], in an empty group too, and is never NaN."""
    schema = Schema({"x": Real(0, 10), "g": Category(["full", "empty"])})
    rows = [{"x": 5.0, "g": "full"}] * 30
    query = Query().group_by("g").select(std("x"), variance("x"))

    for plan, seen in noisy_runs(rows, schema, query, "0.1", 300):
        for recipe, most in zip(plan.recipes, (5, 25), strict=True):
            estimates = points(plan, recipe, seen)
            low, high = intervals(plan, recipe, seen, 0.95)
            for numbers in (estimates, low, high):
                assert all(math.isfinite(n) and 0 <= n <= most for n in numbers)
            assert (low <= high).all()


@pytest.mark.parametrize("zeros", [1491, 1492])
def test_bc071_quantile_crash_threshold(zeros):
    """Ties leave no gap to choose from, and no count of rows is an error."""
    schema = Schema({"x": Real(0, 1)})
    rows = [{"x": 0.0}] * zeros + [{"x": 1.0}]

    found = [
        points(plan, plan.recipes[0], seen)[0]
        for plan, seen in noisy_runs(rows, schema, Query().select(median("x")), 1, 200)
    ]

    assert len(found) == 200
    assert max(found) <= 0.1  # the case asks for 90 % of them
