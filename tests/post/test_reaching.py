"""Both intervals of a figure hold the figure, and neither holds less often for it."""

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.post.interval import reaching
from sfumato.testing import seeded

COLUMNS = {
    "x": sf.Integer(0, 90),
    "y": sf.Integer(5, 50),
    "b": sf.Boolean(),
    "g": sf.Category(["a", "b", "c"]),
}
ROWS = [{"x": 7 * i % 91, "y": 5 + i % 40, "b": i % 2 == 0, "g": "a"} for i in range(4)]
ASKED = (
    sf.count(),
    sf.sum("x"),
    sf.mean("x"),
    sf.proportion("b"),
    sf.std("x"),
    sf.histogram("x", [0, 30, 60, 90]),
    sf.crosstab("g", "b"),
    sf.quantile("x", "0.9"),
    sf.ratio("x", "y"),
    sf.correlation("x", "y"),
    sf.mode("g"),
)


@pytest.mark.parametrize("size", [None, 4])
@pytest.mark.parametrize("epsilon", ["0.05", "5"])
def test_every_interval_holds_its_figure(size, epsilon):
    """Of few rows and much noise, which leaves many counts below 0 or above the size."""
    unit = sf.Rows(neighbours="replace_one", size=size) if size else sf.Rows()
    data = sf.Dataset(ROWS, schema=sf.Schema(COLUMNS, unit=unit), name="t")
    query = sf.Session(data, budget="1000").query()

    beyond = 0
    for grouped in (query, query.group_by("g")):
        for asked in ASKED:
            with seeded(7):
                release = grouped.select(asked).release(epsilon)
            for figure in release:
                assert figure.low <= figure.estimate <= figure.high
                if figure.sampling is not None:
                    low, high = figure.sampling
                    assert low <= figure.low <= figure.high <= high
                if figure.kind in ("count", "histogram", "crosstab"):
                    most = size or np.inf
                    beyond += not 0 <= figure.estimate <= most
                    assert all(0 <= dot <= most for dot in figure.dots)
    assert beyond > 0 or epsilon == "5"


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(("lower", "upper", "at"), [(0, "10.6", 11), ("-0.6", 10, -1)])
def test_a_sum_of_values_at_a_bound_off_the_grid_is_held(lower, upper, at, complete):
    """They are counted as the grid's nearest number, which lies outside of the bounds."""
    unit = sf.Rows(neighbours="replace_one", size=40)
    column = sf.Real(lower, upper, step=1, complete=complete)
    rows = [{"x": 11 * at}] * 40
    data = sf.Dataset(rows, schema=sf.Schema({"x": column}, unit=unit), name="t")
    query = sf.Session(data, budget="1000").query().select(sf.sum("x"), sf.mean("x"))

    held = 0
    for seed in range(60):
        with seeded(seed):
            figure = query.release("0.5")["sum_x"]
        held += figure.low <= 40 * at <= figure.high

    assert held >= binom.ppf(1e-9, 60, 0.945)


def test_an_interval_is_only_made_longer():
    """So it holds whatever it held."""
    ends = np.array([0.0, 0.0, 2.0]), np.array([1.0, 5.0, 8.0])

    low, high = reaching(np.array([-3.0, 4.0, 9.0]), ends)

    assert low.tolist() == [-3, 0, 2] and high.tolist() == [1, 5, 9]
