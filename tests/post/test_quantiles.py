"""Quantiles of one tree: consistent, monotone, covered, and right without noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from sfumato import Category, Integer, Query, Real, Rows, Schema, median, quantile
from sfumato.account import ZCDP
from sfumato.engine.reference import ReferenceEngine
from sfumato.gate import _add_noise
from sfumato.plan import expected_errors, make_plan
from sfumato.post import intervals, points
from sfumato.post.ranks import _tail
from sfumato.post.tree import consistent, tree_counts

LEVELS = ["0.1", "0.25", "0.5", "0.75", "0.95"]
COLUMNS = {
    "age": Integer(0, 120),
    "score": Integer(0, 10),
    "glucose": Real(0, 250),
    "g": Category(["a", "b"]),
}
AGES = [20 + (i * i * 7 + i) % 60 for i in range(500)]
ROWS = [{"age": a, "score": a % 11, "glucose": 70 + 1.7 * a, "g": "a"} for a in AGES]
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=500))


def exact(plan, rows=ROWS):
    """Return the integers of the specification."""
    return ReferenceEngine(rows).run(plan).unseal()


NOISY = st.floats(-100, 100)


@given(st.integers(1, 14), st.integers(2, 4), st.data())
def test_consistent_counts_are_the_least_squares_estimate(size, fan, data):
    """Against the normal equations, whatever the shape and the variances."""
    sizes = [size, -(-size // fan), -(-size // fan**2)]
    levels = [
        np.array(data.draw(st.lists(NOISY, min_size=n, max_size=n))) for n in sizes
    ]
    variances = data.draw(st.lists(st.floats(0.5, 9), min_size=3, max_size=3))
    design = np.vstack([
        (np.arange(size) // fan**k == np.arange(n)[:, None]) / variances[k] ** 0.5
        for k, n in enumerate(sizes)
    ])  # fmt: skip
    seen = np.concatenate([y / v**0.5 for y, v in zip(levels, variances)])

    found = consistent(levels, variances, fan)

    assert np.allclose(found, np.linalg.lstsq(design, seen, rcond=None)[0], atol=1e-8)


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("column", ["age", "score", "glucose"])
def test_without_noise_quantiles_are_those_of_numpy(schema, column):
    """The smallest value that enough rows reach: exact on integers, else to a leaf."""
    plan = make_plan(
        Query().select(*(quantile(column, level) for level in LEVELS)), schema, 1
    )
    cells = [float(row[column]) for row in ROWS]
    wanted = np.quantile(cells, [float(x) for x in LEVELS], method="inverted_cdf")

    found = [points(plan, r, exact(plan))[0] for r in plan.recipes]

    leaf = 250 / 128 if column == "glucose" else 0
    assert (np.abs(np.array(found) - wanted) <= leaf).all()


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["0.01", "0.1", "1", ZCDP("0.001")]), st.integers(0, 500))
def test_quantiles_never_cross_nor_leave_their_bounds_or_intervals(loss, rows):
    """Whatever the noise, in an empty group too; each lies in its interval."""
    asked = [quantile("glucose", level) for level in LEVELS]
    plan = make_plan(Query().group_by("g").select(*asked, median("age")), ADD, loss)
    seen = _add_noise(plan, exact(plan, ROWS[:rows]))

    found = [points(plan, r, seen) for r in plan.recipes]

    assert (np.diff(found[:-1], axis=0) >= 0).all()
    for estimates, recipe in zip(found, plan.recipes):
        low, high = intervals(plan, recipe, seen, 0.95)
        assert (low >= 0).all() and (high <= 250).all()
        assert (low <= estimates).all() and (estimates <= high).all()


def test_one_histogram_agrees_with_itself():
    """The counts of all quantiles of a column are the same, noisy or not."""
    plan = make_plan(Query().select(median("age"), quantile("age", "0.9")), ADD, "0.1")
    seen = _add_noise(plan, exact(plan))
    one, two = (tree_counts(plan, r, seen) for r in plan.recipes)

    assert (one == two).all()
    assert abs(one.sum() - 500) < 3000  # 8 nodes of scale 20


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["0.1", "1", ZCDP("0.02")])
def test_intervals_cover_at_least_what_they_say(schema, loss):
    """The quantile of the clamped data is inside 95 times in 100 or more."""
    runs = 500
    plan = make_plan(
        Query().select(
            quantile("glucose", "0.1"), median("age"), quantile("score", "0.95")
        ),
        schema,
        loss,
    )
    values = exact(plan)
    truths = [points(plan, r, values)[0] for r in plan.recipes]
    hits = np.zeros(len(truths))
    for _ in range(runs):
        seen = _add_noise(plan, values)
        for i, recipe in enumerate(plan.recipes):
            low, high = intervals(plan, recipe, seen, 0.95)
            hits[i] += low[0] <= truths[i] <= high[0]

    assert (hits / runs >= binom.ppf(1e-9, runs, 0.94) / runs).all()


@pytest.mark.parametrize("level", ["0.1", "0.5"])
def test_expected_errors_are_those_of_even_data(level):
    """Within a factor of two for rows spread evenly over the bounds."""
    schema = Schema({"x": Real(0, 256, step=1)})
    plan = make_plan(Query().select(quantile("x", level)), schema, 1)
    values = exact(plan, [{"x": 256 * i / 9999} for i in range(10_000)])
    (truth,) = points(plan, plan.recipes[0], values)
    errors = [
        abs(points(plan, plan.recipes[0], _add_noise(plan, values))[0] - truth)
        for _ in range(300)
    ]

    (said,) = expected_errors(plan, rows=10_000)
    assert np.mean(errors) < 2 * said.mean_absolute + 1  # a leaf is one or two wide
    assert np.quantile(errors, 0.95) < 2 * said.error + 1


@pytest.mark.parametrize("loss", ["0.5", ZCDP("0.02")])
def test_rare_intervals_reach_further(loss):
    """Beyond 99.9 % the bound of the tail takes the place of draws."""
    plan = make_plan(
        Query().select(median("age"), quantile("glucose", "0.9")), ADD, loss
    )
    values = exact(plan)
    for recipe in plan.recipes:
        (truth,) = points(plan, recipe, values)
        for _ in range(100):
            seen = _add_noise(plan, values)
            low, high = intervals(plan, recipe, seen, 1 - 1e-12)
            inner = intervals(plan, recipe, seen, 0.95)

            assert low[0] <= inner[0][0] <= inner[1][0] <= high[0]
            assert low[0] <= truth <= high[0]


@pytest.mark.parametrize("failing", [1e-4, 1e-9, 1e-15])
def test_the_tail_bound_is_above_laplace_and_normal_tails(failing):
    """The bound holds for the extreme cases: one Laplace term, and very many terms."""
    assert _tail(failing) > -np.log(failing) / 2**0.5
    assert _tail(failing) > norm.isf(failing / 2)
