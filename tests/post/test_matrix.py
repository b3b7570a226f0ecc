"""Covariances and correlations: those of numpy without noise, matrices, covered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato import (
    Boolean,
    Integer,
    Query,
    Real,
    Rows,
    Schema,
    correlation,
    covariance,
    mean,
    variance,
)
from sfumato.account import GDP, ZCDP
from sfumato.engine.reference import ReferenceEngine
from sfumato.gate import _add_noise
from sfumato.plan import CentredProduct, Scale, expected_errors, make_plan
from sfumato.post import intervals, points
from sfumato.post.figures import matrix

COLUMNS = {
    "glucose": Real(0, 250, step=1),
    "bmi": Real(10, 70),
    "age": Integer(0, 120, complete=True),
    "late": Boolean(),
}
NAMES = tuple(COLUMNS)
AGES = [21 + (i * 37) % 45 for i in range(400)]
ROWS = [
    {
        "glucose": 60 + 2 * (a % 60) if i % 7 else None,
        "bmi": 18 + a / 3 + i % 5 if i % 11 else None,
        "age": a,
        "late": a % 3 == 0,
    }
    for i, a in enumerate(AGES)
]
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=400))
AT_ONCE = 50  # releases with noise of their own that are compared with one bootstrap


def exact(plan, rows=ROWS):
    """Return the integers of the specification."""
    return ReferenceEngine(rows).run(plan).unseal()


def table(*names, rows=ROWS):
    """Return the columns over the rows that have all of them."""
    whole = [r for r in rows if all(r[n] is not None for n in names)]
    return np.array([[float(r[n]) for n in names] for r in whole]).T


@given(st.integers(1, 2**63 - 1), st.integers(1, 2**63 - 1), st.data())
def test_products_fit_64_bits_and_reach_their_bound(width, other, data):
    """Whatever the widths: below 2^62 on the way, terms within ±reach, both reached."""
    one = CentredProduct(Scale("x", 0, width), Scale("y", 0, other))
    q, p = data.draw(st.integers(0, width)), data.draw(st.integers(0, other))

    assert one.one.span < 2**30 and 2 * one.most < 2**61
    assert 0 < one.reach < 2**30
    assert 0 <= one.product(q, p) <= one.reach
    assert one.product(width, other) == one.product(0, 0) == one.reach
    assert one.product(width, 0) == one.product(0, other) == 0


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("names", [NAMES[:2], NAMES[1:3], NAMES[:3], NAMES])
def test_without_noise_the_figures_are_those_of_numpy(schema, names):
    """Divisor n, over rows that have all columns; a fine grid loses below 2^-27."""
    plan = make_plan(Query().select(covariance(*names), correlation(*names)), schema, 1)
    values = exact(plan)
    truth = np.cov(table(*names), bias=True)
    related = np.corrcoef(table(*names))
    places = {n: i for i, n in enumerate(names)}

    for statistic, recipe, wanted in zip(
        plan.query.statistics, plan.recipes, (truth, related)
    ):
        found = points(plan, recipe, values)
        expected = [wanted[places[a], places[b]] for a, b in statistic.pairs]
        assert np.allclose(found, expected, atol=2**-25 * 60 * 120)


def test_a_matrix_shares_its_parts_with_means_of_the_same_rows():
    """Columns declared complete lose no row, so all is measured once."""
    schema = Schema({n: Integer(0, 9, complete=True) for n in "xyz"})
    alone = make_plan(Query().select(covariance(*"xyz")), schema, 1)
    asked = covariance(*"xyz"), correlation(*"xyz"), mean("x"), variance("y")
    shared = make_plan(Query().select(*asked), schema, 1)

    assert len(shared.parts) == len(alone.parts) == 3 + 3 + 3 + 1


@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["0.01", "0.1", "1"]))
def test_a_matrix_can_always_be_one_and_keeps_the_raw_entries(seed, loss):
    """No eigenvalue below 0, entries within their bounds, whatever the noise."""
    names = NAMES
    plan = make_plan(Query().select(covariance(*names), correlation(*names)), ADD, loss)
    seen = _add_noise(plan, exact(plan, ROWS[: seed % 50]))
    limits = np.array([125, 30, 60, 0.5])

    for recipe, related in zip(plan.recipes, (False, True)):
        raw, made = matrix(plan, recipe, seen)
        whole = np.eye(4)
        upper = [(i, j) for i in range(4) for j in range(i + related, 4)]
        for (i, j), entry in zip(upper, made, strict=True):
            whole[i, j] = whole[j, i] = (
                entry if related else entry / limits[i] / limits[j]
            )
        assert np.linalg.eigvalsh(whole)[0] > -1e-8
        assert np.abs(whole).max() <= 1 + 1e-9
        assert raw.shape == made.shape


def test_a_matrix_that_is_one_is_left_alone():
    """With little noise nothing is adjusted."""
    plan = make_plan(Query().select(covariance(*NAMES)), ADD, 1000)
    raw, made = matrix(plan, plan.recipes[0], _add_noise(plan, exact(plan)))

    assert (raw == made).all()


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["0.5", "2", ZCDP("0.05"), GDP("0.05")])
def test_intervals_cover_what_they_say(schema, loss):
    """95 % of intervals hold the figure of the clamped data, within simulation error."""
    covered(schema, loss, runs=150, least=0.93, most=0.99)


@pytest.mark.slow
@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("loss", ["2", "10", ZCDP("0.05"), GDP("1")])
def test_intervals_cover_what_they_say_in_many_runs(schema, loss):
    """Between 94.5 % and 97 %, where noise does not dominate.

    Correlations may be covered more often: outcomes beyond -1 and 1 are cut there, and the
    noise of the deviations below widens what is drawn.
    """
    covered(schema, loss, runs=4000, least=0.945, most=0.97)


def covered(schema, loss, *, runs, least, most):
    """Assert that the share of intervals that hold the truth lies between two."""
    asked = (
        covariance("glucose", "bmi"),
        correlation("age", "bmi"),
        correlation("age", "late"),
    )
    plan = make_plan(Query().select(*asked), schema, loss)
    values = exact(plan)
    truths = [points(plan, r, values)[0] for r in plan.recipes]
    hits = np.zeros(len(truths))
    for _ in range(runs // AT_ONCE):
        seen = _add_noise(plan, [part * AT_ONCE for part in values])
        for i, recipe in enumerate(plan.recipes):
            low, high = intervals(plan, recipe, seen, 0.95)
            assert len(low) == AT_ONCE
            hits[i] += ((low <= truths[i]) & (truths[i] <= high)).sum()

    low, high = (
        binom.ppf(q, runs, p) / runs for q, p in ((1e-9, least), (1 - 1e-9, most))
    )
    assert (hits / runs >= low).all(), hits / runs
    of_covariance = hits[0] / runs
    assert of_covariance <= high or loss == "0.5", hits / runs


@pytest.mark.parametrize("loss", ["1", "10", ZCDP("0.1")])
def test_expected_errors_are_those_of_the_noise(loss):
    """Within a factor of three, for data like those that the linearisation supposes."""
    schema = Schema({"x": Real(0, 100, step="0.1"), "y": Real(0, 50, step="0.1")})
    rows = [{"x": (i * 37) % 1001 / 10, "y": ((i * 37) % 1001 + (i * 91) % 1001) / 40} for i in range(2000)]  # fmt: skip
    plan = make_plan(
        Query().select(covariance("x", "y"), correlation("x", "y")), schema, loss
    )
    values = exact(plan, rows)
    for i in range(2):
        (truth,) = points(plan, plan.recipes[i], values)
        errors = [
            abs(points(plan, plan.recipes[i], _add_noise(plan, values))[0] - truth)
            for _ in range(300)
        ]
        said = expected_errors(plan, rows=2000)[i]

        assert 1 / 3 < np.mean(errors) / said.mean_absolute < 3, (np.mean(errors), said)


@pytest.mark.parametrize("loss", ["1", ZCDP("0.05")])
def test_rare_intervals_hold_all_runs(loss):
    """Beyond 99.9 % the ends are bounds of all terms."""
    asked = (
        covariance("glucose", "bmi"),
        correlation("age", "bmi"),
        covariance(*NAMES[:3]),
    )
    plan = make_plan(Query().select(*asked), ADD, loss)
    values = exact(plan)
    for recipe in plan.recipes:
        truth = points(plan, recipe, values)
        for _ in range(60):
            low, high = intervals(plan, recipe, _add_noise(plan, values), 0.999999)
            assert (low <= truth).all() and (truth <= high).all()


def test_a_column_of_one_value_has_no_correlation():
    """It is told as 0, and its interval says that it could be anything."""
    schema = Schema({"x": Integer(0, 9), "y": Integer(0, 9)})
    plan = make_plan(Query().select(correlation("x", "y")), schema, 1)
    values = exact(plan, [{"x": 4, "y": i % 10} for i in range(50)])

    assert points(plan, plan.recipes[0], values)[0] == 0
