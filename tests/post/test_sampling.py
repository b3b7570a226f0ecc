"""Intervals of noise and sampling hold the population's figure as often as they say."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.testing import seeded

GROUPS, ROWS, TABLES = 300, 200, 5
VALUES = np.array([5, 10, 20, 30, 90])
SHARES = np.array([0.35, 0.3, 0.2, 0.1, 0.05])
MEAN = float(VALUES @ SHARES)
VARIANCE = float((VALUES - MEAN) ** 2 @ SHARES)
KEYS = list(range(GROUPS))
ASKED = (
    sf.count(),
    sf.sum("x"),
    sf.mean("x"),
    sf.proportion("sex", "F"),
    sf.std("x"),
    sf.variance("x"),
    sf.quantile("x", "0.5"),
    sf.histogram("x", [0, 15, 100]),
)
TRUTH = {
    "count": ROWS,
    "sum_x": ROWS * MEAN,
    "mean_x": MEAN,
    "proportion_sex_F": 0.3,
    "std_x": VARIANCE**0.5,
    "variance_x": VARIANCE,
    "quantile_0.5_x": 10.0,
    "histogram_x": (0.65 * ROWS, 0.35 * ROWS),
}
SPEND = [{"epsilon": "20"}, {"epsilon": "3"}, {"rho": "3"}]


def columns():
    return {
        "x": sf.Integer(0, 100, complete=True),
        "sex": sf.Category(["F", "M"]),
        "g": sf.Category(KEYS),
    }


def sample(rng, *, fixed):
    """Draw a table of many groups: each is a sample of its own."""
    sizes = np.full(GROUPS, ROWS) if fixed else rng.poisson(ROWS, GROUPS)
    n = int(sizes.sum())
    return pd.DataFrame(
        {
            "x": rng.choice(VALUES, n, p=SHARES),
            "sex": rng.choice(["F", "M"], n, p=[0.3, 0.7]),
            "g": np.repeat(KEYS, sizes),
        }
    )


def held(spend, seed, lower=None, tables=TABLES):
    """Return, per figure, how often each of both intervals held the population's.

    With a lower bound the number of all rows is public, and whose group a row is in is
    drawn.
    """
    rng = np.random.default_rng(seed)
    both: dict[str, list[tuple[bool, bool]]] = {}
    schema = sf.Schema(columns())
    if lower is not None:
        unit = sf.Rows(neighbours="replace_one", size=GROUPS * ROWS)
        bounded = {"x": sf.Integer(lower, 100, complete=True)}
        schema = sf.Schema({**columns(), **bounded}, unit=unit)
    for _ in range(tables):
        table = sample(rng, fixed=lower is not None)
        if lower is not None:
            table["g"] = rng.choice(KEYS, len(table))
        data = sf.Dataset(table, schema=schema)
        session = sf.Session(data, budget=sf.ZCDP(9) if "rho" in spend else 99)
        for figure in (
            session.query().group_by("g").select(*ASKED).plan(**spend).release()
        ):
            truth = TRUTH[figure.name]
            name = figure.name
            if isinstance(truth, tuple):
                place = 0 if figure.bin[0] == 0 else 1
                truth, name = truth[place], f"{name}_{place}"
            low, high = figure.sampling
            both.setdefault(name, []).append(
                (low <= truth <= high, figure.low <= truth <= figure.high)
            )
    return {name: np.mean(found, axis=0) for name, found in both.items()}


@pytest.mark.parametrize("spend", SPEND, ids=str)
def test_the_populations_figure_is_held(spend):
    """95 % or more of 1,500 samples each; the noise alone would not be enough."""
    found = held(spend, seed=4)

    runs = GROUPS * TABLES
    least = binom.ppf(1e-9, runs, 0.945) / runs
    assert set(found) >= {"count", "mean_x", "histogram_x_0"}
    for name, (wide, narrow) in found.items():
        assert wide >= least, (name, wide)
        assert narrow <= wide
    if spend == SPEND[0]:  # little noise: the planted fault, sampling left out
        assert found["mean_x"][1] < least
        assert found["count"][1] < least


@pytest.mark.parametrize("lower", [5, 0, -20])
def test_the_populations_sum_is_held_where_the_number_of_rows_is_public(lower):
    """A row of another group adds nothing to a sum, whatever the bounds: it varies."""
    found = held({"epsilon": "40"}, seed=5, lower=lower, tables=2)

    runs = GROUPS * 2
    least = binom.ppf(1e-9, runs, 0.945) / runs
    for name in ("count", "sum_x"):
        assert found[name][0] >= least, name
        assert found[name][1] < least


@pytest.mark.parametrize("bounds", [(0, 100), (5, 100), (-100, -5), (-20, 30)])
@pytest.mark.parametrize("size", [None, 4])
def test_sums_are_cut_to_what_can_be(bounds, size):
    """By public bounds and a public number of rows; both intervals hold the figure."""
    low, high = bounds
    unit = sf.Rows(neighbours="replace_one", size=size) if size else sf.Rows()
    rows = [{"x": x, "g": "a"} for x in (low, high, low, high)]
    for complete in (True, False):
        columns = {
            "x": sf.Integer(low, high, complete=complete),
            "g": sf.Category(["a", "b"]),
        }
        data = sf.Dataset(rows, schema=sf.Schema(columns, unit=unit), name="t")
        query = sf.Session(data, budget="1000").query()
        for asked in (query, query.where(sf.col("g") == "a"), query.group_by("g")):
            for more in ((), (sf.mean("x"),)):
                with seeded(3):
                    release = asked.select(sf.sum("x"), *more).release("0.1")
                for figure in (f for f in release if f.kind == "sum"):
                    every = complete and asked is query
                    a, b = (low, high) if every else (min(low, 0), max(high, 0))
                    least = size * a if size else 0 if low >= 0 else -np.inf
                    most = size * b if size else 0 if high <= 0 else np.inf
                    first, last = figure.sampling or figure.interval
                    assert first <= figure.low <= figure.estimate <= figure.high <= last
                    assert first >= min(least, figure.estimate)
                    assert last <= max(most, figure.estimate)


def test_a_public_number_of_rows():
    """Shares of a public number of rows: binomial, not Poisson; the number is exact."""
    rng = np.random.default_rng(5)
    schema = sf.Schema(columns(), unit=sf.Rows(neighbours="replace_one", size=60_000))
    session = sf.Session(sf.Dataset(sample(rng, fixed=True), schema=schema), budget=99)
    asked = (sf.count(), sf.count("x", name="n"), sf.sum("x"), sf.mean("x"), sf.proportion("sex", "F"))  # fmt: skip

    release = session.query().select(*asked, sf.histogram("sex")).plan(epsilon=9).release()  # fmt: skip

    assert release["count"].sampling is None
    assert release["mean_x"].sampling[0] < MEAN < release["mean_x"].sampling[1]
    low, high = next(f for f in release if f.name == "histogram_sex").sampling
    half = 1.96 * (60_000 * 0.3 * 0.7) ** 0.5
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


def test_the_wider_interval_contains_the_narrower():
    """On any figure, also of an empty group or one without rows, within public bounds."""
    rng = np.random.default_rng(6)
    data = sf.Dataset(sample(rng, fixed=False).query("g < 290"), schema=sf.Schema(columns()))  # fmt: skip
    session = sf.Session(data, budget=99)

    release = session.query().group_by("g").select(*ASKED).plan(epsilon="0.5").release()

    for figure in release:
        low, high = figure.sampling
        assert low <= figure.low <= figure.high <= high
        if figure.name == "mean_x":
            assert 0 <= low <= high <= 100


def test_figures_that_tell_nothing_of_it_have_none():
    """Ratios, correlations, modes; and whatever is about people with several rows."""
    rng = np.random.default_rng(7)
    table = sample(rng, fixed=False)
    asked = (sf.ratio("x", "y"), sf.correlation("x", "y"), sf.mode("sex"))
    schema = sf.Schema(columns() | {"y": sf.Integer(1, 9, complete=True)})
    session = sf.Session(sf.Dataset(table.assign(y=3), schema=schema), budget=99)
    of_people = sf.Schema(columns(), unit=sf.Unit("id", max_rows=2, max_groups=1))
    people = sf.Session(
        sf.Dataset(table.assign(id=table.index // 2), schema=of_people), budget=99
    )

    rows = session.query().select(*asked).plan(epsilon=9).release()
    told = people.query().select(sf.mean("x"), sf.count()).plan(epsilon=9).release()

    assert all(f.sampling is None for f in (*rows, *told))
