"""Intervals of noise and sampling hold the population's figure as often as they say."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import sfumato as sf

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


def held(spend, seed):
    """Return, per figure, how often each of both intervals held the population's."""
    rng = np.random.default_rng(seed)
    both: dict[str, list[tuple[bool, bool]]] = {}
    for _ in range(TABLES):
        data = sf.Dataset(sample(rng, fixed=False), schema=sf.Schema(columns()))
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


def test_a_public_number_of_rows():
    """Shares of a public number of rows: binomial, not Poisson; the number is exact."""
    rng = np.random.default_rng(5)
    schema = sf.Schema(columns(), unit=sf.Rows(neighbours="replace_one", size=60_000))
    session = sf.Session(sf.Dataset(sample(rng, fixed=True), schema=schema), budget=99)
    asked = (sf.count(), sf.count("x", name="n"), sf.sum("x"), sf.mean("x"), sf.proportion("sex", "F"))  # fmt: skip

    release = session.query().select(*asked, sf.histogram("sex")).plan(epsilon=9).release()  # fmt: skip

    assert release["count"].sampling is None
    assert release["mean_x"].sampling[0] < MEAN < release["mean_x"].sampling[1]
    low, high = release.find("histogram_sex").sampling
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
