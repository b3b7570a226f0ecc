"""Variances and deviations: right without noise, within their bounds, well covered."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato import Boolean, Integer, Query, Real, Rows, Schema, mean, std, variance
from sfumato.account import GDP, ZCDP
from sfumato.engine.reference import ReferenceEngine
from sfumato.gate import _add_noise
from sfumato.plan import CentredSquare, expected_errors, make_plan
from sfumato.post import intervals, points

COLUMNS = {
    "glucose": Real(0, 250, step=1),
    "bmi": Real(10, 70),
    "age": Integer(0, 120, complete=True),
    "late": Integer(0, 1),
}
AGES = [21 + (i * 37) % 45 for i in range(400)]
ROWS = [
    {"glucose": 60 + 2 * (a % 60), "bmi": 18 + a / 3, "age": a, "late": a % 3 == 0}
    for a in AGES
]
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=400))
ASKED = [f(name) for name in COLUMNS for f in (variance, std)]


def exact(plan, rows):
    """Return the integers of the specification."""
    return ReferenceEngine(rows).run(plan).unseal()


@given(st.integers(2, 2**63 - 1), st.floats(0, 1))
def test_squares_fit_64_bits_and_reach_their_bound(width, share):
    """Whatever the width: products below 2^62, terms within ±reach, both ends reached."""
    one = CentredSquare("x", 0, width)
    q = min(width, int(share * width))
    term = 2 * one.square(2 * q - width) - (one.least + one.most)

    assert (width >> one.trim) ** 2 < 2**62
    assert 0 < one.reach < 2**30 + 1
    assert abs(term) <= one.reach
    assert 2 * one.square(width) - (one.least + one.most) == one.reach
    assert 2 * one.square(width & 1) - (one.least + one.most) == -one.reach


@pytest.mark.parametrize("schema", [ADD, FIXED])
def test_without_noise_the_figures_are_those_of_numpy(schema):
    """Divisor n; a default grid loses less than 2^-27 of the squared half range."""
    plan = make_plan(Query().select(*ASKED), schema, 1)
    values = exact(plan, ROWS)

    for statistic, recipe in plan.answers:
        cells = np.array([float(row[statistic.column]) for row in ROWS])
        truth = cells.var()
        (found,) = points(plan, recipe, values)
        found = found if statistic.name.startswith("variance") else found**2
        column = schema[statistic.column]
        reach = ((column.upper - column.lower) / 2) ** 2
        assert math.isclose(found, truth, abs_tol=max(reach * 2**-27, 1e-12))


def test_a_column_of_two_values_needs_no_squares():
    """The variance of a Boolean follows from its mean, at no further cost."""
    schema = Schema({"b": Boolean(), "z": Integer(0, 1)})
    plan = make_plan(Query().select(variance("b"), mean("b"), std("z")), schema, 1)

    assert not any(isinstance(p.aggregate, CentredSquare) for p in plan.parts)
    rows = [{"b": i < 30, "z": int(i < 30)} for i in range(100)]
    values = exact(plan, rows)
    found = [points(plan, r, values)[0] for r in plan.recipes]
    assert np.allclose(found, [0.21, 0.3, math.sqrt(0.21)])


def test_missing_cells_of_a_complete_column_count_as_its_middle():
    """As in means: the sum of squares and the count speak of the same rows."""
    schema = Schema({"x": Integer(0, 10, complete=True)})
    plan = make_plan(Query().select(variance("x"), mean("x")), schema, 1)
    values = exact(plan, [{"x": 10}, {"x": 0}, {"x": None}, {"x": "n/a"}])

    assert [points(plan, r, values)[0] for r in plan.recipes] == [12.5, 5.0]


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["0.2", "1", ZCDP("0.02"), GDP("0.02")])
def test_intervals_cover_what_they_say(schema, loss):
    """95 % of intervals hold the figure of the clamped data, within simulation error."""
    runs = 600
    plan = make_plan(
        Query().select(variance("glucose"), std("bmi"), std("age")), schema, loss
    )
    values = exact(plan, ROWS)
    truths = [points(plan, r, values)[0] for r in plan.recipes]
    hits = np.zeros(len(truths))
    for _ in range(runs):
        seen = _add_noise(plan, values)
        for i, recipe in enumerate(plan.recipes):
            low, high = intervals(plan, recipe, seen, 0.95)
            hits[i] += low[0] <= truths[i] <= high[0]

    low, high = (
        binom.ppf(q, runs, p) / runs for q, p in ((1e-9, 0.94), (1 - 1e-9, 0.98))
    )
    assert (hits / runs >= low).all()
    assert (hits / runs <= high).all() or loss == "0.2"  # cut at zero: wider there


@pytest.mark.parametrize("loss", ["1", "10", ZCDP("0.1")])
def test_expected_errors_are_those_of_the_noise(loss):
    """Within a factor of two, for data like those that the linearisation supposes."""
    schema = Schema({"x": Real(0, 100, step="0.1")})
    plan = make_plan(Query().select(variance("x"), std("x")), schema, loss)
    rows = [{"x": 100 if i % 10 < 7 else 29.5} for i in range(2000)]
    values = exact(plan, rows)
    for i in range(2):
        (truth,) = points(plan, plan.recipes[i], values)
        errors = [
            abs(points(plan, plan.recipes[i], _add_noise(plan, values))[0] - truth)
            for _ in range(400)
        ]
        said = expected_errors(plan, rows=2000)[i]

        assert 0.5 < np.mean(errors) / said.mean_absolute < 2
        assert 0.5 < np.quantile(errors, 0.95) / said.error < 2


@pytest.mark.parametrize("loss", ["0.5", ZCDP("0.02")])
def test_rare_intervals_reach_further_and_cover(loss):
    """Beyond 99.9 % no draw decides: ends are bounds, and none of 300 fails."""
    plan = make_plan(Query().select(variance("glucose"), std("late")), ADD, loss)
    values = exact(plan, ROWS)
    for recipe in plan.recipes:
        (truth,) = points(plan, recipe, values)
        for _ in range(150):
            seen = _add_noise(plan, values)
            low, high = intervals(plan, recipe, seen, 1 - 1e-12)
            inner = intervals(plan, recipe, seen, 0.95)

            assert low[0] <= inner[0][0] <= inner[1][0] <= high[0]
            assert low[0] <= truth <= high[0]
