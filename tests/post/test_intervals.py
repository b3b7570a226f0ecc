"""Figures are unbiased or clamped as promised; intervals hold as often as they say."""

import numpy as np
import pytest
from scipy.stats import binom

from sfumato import (
    Category,
    Dataset,
    Integer,
    Query,
    Real,
    Rows,
    Schema,
    count,
    histogram,
    mean,
    std,
    variance,
)
from sfumato import (
    sum as total,
)
from sfumato.account import GDP, ZCDP
from sfumato.engine.load import open_engine
from sfumato.gate import _add_noise
from sfumato.noise.stream import FixedStream, replaced
from sfumato.plan import CentredSum, make_plan
from sfumato.post import intervals, points
from sfumato.post.interval import ranges
from sfumato.post.noise import noise_draws, noise_error

COLUMNS = {
    "glucose": Real(0, 250, step=1),
    "age": Integer(0, 120, complete=True),
    "outcome": Category([0, 1]),
}
ADD = Schema(COLUMNS)
FIXED = Schema(COLUMNS, unit=Rows(neighbours="replace_one", size=768))
RUNS = 3000


def noisy(plan, exact):
    """Add each step's own noise, as the gate does."""
    return _add_noise(plan, exact)


def coverage(plan, exact, runs=RUNS, level=0.95):
    """Return how often the interval of each statistic held the truth."""
    recipes = plan.recipes
    truths = [points(plan, r, exact) for r in recipes]
    hits = np.zeros(len(recipes))
    for _ in range(runs):
        seen = noisy(plan, exact)
        for i, recipe in enumerate(recipes):
            low, high = intervals(plan, recipe, seen, level)
            hits[i] += low[0] <= truths[i][0] <= high[0]
    return hits / runs


@pytest.mark.parametrize("epsilon", ["0.1", "1", ZCDP("0.05"), GDP("0.05")])
def test_intervals_of_one_noise_term_cover_what_they_say(epsilon):
    """Counts, bins and sums: at least 95 %, by the exact quantile of their law."""
    plan = make_plan(
        Query().select(count(), histogram("outcome"), total("glucose")), ADD, epsilon
    )
    exact = [[768], [500, 268], [92_000]]

    floor = binom.ppf(1e-9, RUNS, 0.95) / RUNS
    assert (coverage(plan, exact) >= floor).all()


@pytest.mark.parametrize("schema", [ADD, FIXED])
@pytest.mark.parametrize("epsilon", ["0.2", "1", ZCDP("0.02"), GDP("0.02")])
def test_intervals_of_ratios_cover_what_they_say(schema, epsilon):
    """Means and sums of two noise terms: 95 % within simulation error."""
    plan = make_plan(
        Query().select(mean("glucose"), mean("age"), total("age")), schema, epsilon
    )
    sums = {"glucose": 2 * 91_000 - 250 * 760, "age": 2 * 25_500 - 120 * 768}
    rows = {"glucose": 760, "": 768}
    exact = [
        [sums[p.aggregate.column]]
        if isinstance(p.aggregate, CentredSum)
        else [rows[getattr(p.aggregate, "column", "")]]
        for p in plan.parts
    ]

    found = coverage(plan, exact, runs=1000)

    low, high = (
        binom.ppf(q, 1000, p) / 1000 for q, p in ((1e-9, 0.945), (1 - 1e-9, 0.97))
    )
    assert (found >= low).all() and (found <= high).all()


@pytest.mark.parametrize("loss", ["0.1", ZCDP("0.0002"), GDP("0.0002")])
@pytest.mark.parametrize("rows", [[60] * 3, [0, 120] * 5], ids=["equal", "apart"])
@pytest.mark.parametrize("public", [True, False], ids=["public", "private"])
def test_spreads_of_few_rows_cover_what_they_say(rows, loss, public):
    """Also where noise may move the mean beyond its bounds."""
    unit = Rows(neighbours="replace_one", size=len(rows)) if public else Rows()
    schema = Schema({"age": Integer(0, 120, complete=True)}, unit=unit)
    plan = make_plan(Query().select(variance("age"), std("age")), schema, loss)
    with open_engine(Dataset([{"age": x} for x in rows], schema=schema)) as engine:
        exact = engine.run(plan).unseal()

    found = coverage(plan, exact, runs=400)

    assert (found >= binom.ppf(1e-9, 400, 0.945) / 400).all()
    values = noisy(plan, exact)
    low, high = ranges(plan, plan.recipes[0], values, (0.95, 0.5))
    assert (low[0] <= low[1]).all() and (high[1] <= high[0]).all()


def test_bc075_means_stay_within_their_bounds_whatever_the_noise():
    """BC059, BC075: even without rows the mean and its interval lie in the bounds."""
    plan = make_plan(Query().select(mean("age")).group_by("outcome"), ADD, "0.01")
    for _ in range(300):
        seen = noisy(plan, [[0, 0]] * len(plan.parts))
        mean_ = points(plan, plan.recipes[0], seen)
        low, high = intervals(plan, plan.recipes[0], seen, 0.95)

        assert ((low >= 0) & (low <= high) & (high <= 120)).all()
        assert ((mean_ >= 0) & (mean_ <= 120)).all()


def test_bc073_counts_are_unbiased():
    """Raw counts may be negative: their mean over empty groups is 0."""
    keys = Schema({"k": Category(range(50))})
    plan = make_plan(Query().select(count()).group_by("k"), keys, 1)
    draws = np.concatenate(
        [points(plan, plan.recipes[0], noisy(plan, [[0] * 50])) for _ in range(200)]
    )

    assert abs(draws.mean()) < 0.1  # 7 standard errors; clamped counts give 0.43
    assert (draws < 0).any()


def test_a_public_size_has_no_error():
    """Under replace-one the count of all rows is exact and so is its interval."""
    plan = make_plan(Query().select(count()), FIXED, 1)

    assert points(plan, plan.recipes[0], []) == [768]
    assert intervals(plan, plan.recipes[0], [], 0.95) == (
        np.array([768.0]),
        np.array([768.0]),
    )


def test_figures_of_exact_integers_are_the_figures():
    """Without noise the recipes give the true mean, sum and count."""
    plan = make_plan(
        Query().select(mean("glucose"), total("glucose"), count("glucose")), ADD, 1
    )
    cells = [100, 140, 90]
    exact = [[sum(2 * c - 250 for c in cells)], [3]]

    values = [float(points(plan, r, exact)[0]) for r in plan.recipes]
    assert values == [110.0, 330.0, 3.0]


@pytest.mark.parametrize("most", [2**50, 2**53, 2**60])
def test_intervals_of_very_wide_columns_end(most):
    """Whole numbers beyond those that floats tell apart: the search comes to an end."""
    wide = Schema({"ns": Integer(0, most)}, unit=Rows())
    plan = make_plan(Query().select(count(), total("ns")), wide, 1)

    low, high = intervals(plan, plan.recipes[1], [[5]] * len(plan.parts), 0.95)

    assert high[0] - low[0] > most / 4


@pytest.mark.parametrize("level", [0.9999, 0.999999, 1 - 2**-53])
def test_rare_intervals_reach_as_far_as_they_say(level):
    """Beyond what the draws tell, means and sums have at least the exact quantile."""
    ask = Query().select(mean("age"), mean("glucose"), total("age"))
    fixed, free = make_plan(ask, FIXED, 1), make_plan(ask, ADD, 1)
    place = fixed.recipes[0].total
    reach = noise_error(fixed, place, level) / 2 / 768

    low, high = intervals(fixed, fixed.recipes[0], [[0]] * len(fixed.parts), level)
    assert low[0] == pytest.approx(max(0, 60 - reach))
    assert high[0] == pytest.approx(min(120, 60 + reach))

    seen = [[10**5]] * len(free.parts)
    for recipe in free.recipes:
        near, far = (intervals(free, recipe, seen, c) for c in (0.99, level))
        assert far[0] < near[0] < near[1] < far[1]


def test_all_figures_share_the_sizes_of_their_box():
    """Draws of one coordinate are fresh, and both coordinates grow with one size."""
    plan = make_plan(Query().select(*(mean(n) for n in ("glucose", "age"))), ADD, 1)
    step = next(s for s in plan.steps if len(s.parts) > 1)

    first, again, other = noise_draws(
        plan, (step.parts[0], step.parts[0], step.parts[1])
    )

    assert not np.array_equal(first, again)
    # independent draws correlate by less than 0.07 but once in a billion times
    assert np.corrcoef(abs(first), abs(other))[0, 1] > 0.07


@pytest.mark.parametrize("schema", [ADD, FIXED], ids=["private size", "public size"])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_an_interval_is_the_same_alone_and_among_others(schema, level):
    """The same noise gives the same ends, of every kind, with or without the dots' levels."""
    asked = [count(), mean("glucose"), variance("age"), std("glucose"), total("age")]
    asked += [histogram("outcome")]
    plan = make_plan(Query().group_by("outcome").select(*asked), schema, "0.5")
    values = [[40.0 + 3 * i for i in range(part.cells)] for part in plan.parts]

    for recipe in plan.recipes:
        with replaced(FixedStream(7)):
            low, high = intervals(plan, recipe, values, level)
        with replaced(FixedStream(7)):
            lows, highs = ranges(plan, recipe, values, (level, 0.15, 0.35, 0.65, 0.85))
        assert lows.shape == highs.shape == (5, len(low))
        assert (lows[0] == low).all()
        assert (highs[0] == high).all()
        nested = np.argsort([level, 0.15, 0.35, 0.65, 0.85])
        assert (np.diff(lows[nested], axis=0) <= 0).all()
        assert (np.diff(highs[nested], axis=0) >= 0).all()
