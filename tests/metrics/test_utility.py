"""Utility by hand and by scipy; owner's eyes are marked; expectations need no data."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, pearsonr, spearmanr, wasserstein_distance

import sfumato as sf

NUMBERS = st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=30)


def test_by_hand() -> None:
    """The tutorials' two figures, and a third whose true value is 0."""
    found = sf.utility([120.0, 70.0, 0.0], [122.0, 69.0, 3.0])

    assert found.mean_absolute_error == pytest.approx(2)
    assert found.root_mean_squared_error == pytest.approx((14 / 3) ** 0.5)
    assert found.relative_error == pytest.approx((2 / 120 + 1 / 70) / 2)
    assert found.largest_error == 3
    assert found.rank_agreement == 1
    assert found.coverage is None and found.wasserstein is None


@given(NUMBERS, st.randoms())
def test_correlations_are_scipys(values, random) -> None:
    """Pearson's and Spearman's, ties included."""
    other = [v + random.choice([-3.0, 0.0, 5.0]) for v in values]

    found = sf.utility(values, other)

    if len(set(values)) > 1 and len(set(other)) > 1:
        assert found.correlation == pytest.approx(pearsonr(values, other)[0], abs=1e-9)
        assert found.rank_agreement == pytest.approx(
            spearmanr(values, other)[0], abs=1e-9
        )
    else:
        assert found.correlation is None


def test_histograms() -> None:
    """Distances of shares; what noise made negative counts as empty."""
    found = sf.utility([10, 10, 0], [-5, 10, 10], histogram=True)

    assert found.total_variation == pytest.approx(0.5)
    assert found.wasserstein == pytest.approx(1.0)


@pytest.mark.parametrize("library", [pd, pl])
def test_tables_of_different_length(library) -> None:
    """A synthetic table is compared column by column with the original."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(0, 1, 300), rng.normal(0.4, 1, 200)
    first = library.DataFrame({"x": x, "z": 2 * x, "c": list("ab" * 150)})
    second = library.DataFrame({"x": y, "z": -y, "c": list("aaab" * 50)})

    found = sf.utility(first, second)

    width = max(x.max(), y.max()) - min(x.min(), y.min())
    wide = max((2 * x).max(), (-y).max()) - min((2 * x).min(), (-y).min())
    expected = [
        wasserstein_distance(x, y) / width,
        wasserstein_distance(2 * x, -y) / wide,
    ]
    gaps = [ks_2samp(x, y).statistic, ks_2samp(2 * x, -y).statistic, 0.25]
    assert found.wasserstein == pytest.approx(np.mean(expected))
    assert found.total_variation == pytest.approx(np.mean(gaps))
    assert found.correlation_error == pytest.approx(2)


def test_an_owner_comparison_knows_its_coverage(tmp_path) -> None:
    """Both sides, intervals included, come with the owner's comparison."""
    table = pd.DataFrame({"age": np.arange(100) % 90})
    dataset = sf.Dataset(table, schema=sf.Schema({"age": sf.Integer(0, 100)}))
    session = sf.Session(dataset, budget=sf.Epsilon("5"), ledger=tmp_path / "l.db")
    plan = session.query().select(sf.count(), sf.mean("age")).plan(epsilon="4")
    comparison = plan.compare_for_owner(plan.release())

    found = sf.utility(comparison)

    assert found.coverage == comparison.covered / 2
    assert found.mean_absolute_error == pytest.approx(comparison.mean_absolute_error)
    with pytest.raises(TypeError):
        pickle.dumps(comparison)


@pytest.mark.parametrize("budget", ["epsilon", "rho"])
def test_what_is_expected_is_what_the_noise_does(tmp_path, budget) -> None:
    """The root mean squared error of a count is the deviation of its noise."""
    table = pd.DataFrame({"age": np.arange(100) % 90})
    dataset = sf.Dataset(table, schema=sf.Schema({"age": sf.Integer(0, 100)}))
    cap = sf.Epsilon("5") if budget == "epsilon" else sf.ZCDP("5")
    session = sf.Session(dataset, budget=cap, ledger=tmp_path / "l.db")
    plan = session.query().select(sf.count(), sf.mean("age")).plan(**{budget: "1"})

    count, mean = sf.expected_utility(plan)

    law = plan.plan.noise_of(plan.plan.recipes[0].part)
    assert count.root_mean_squared_error == pytest.approx(float(law.variance) ** 0.5)
    assert count.mean_absolute_error < count.root_mean_squared_error
    assert mean.root_mean_squared_error is None
    assert mean.largest_error > mean.mean_absolute_error > 0


def test_owner_results_stay_with_the_owner() -> None:
    """They print a mark, hide their values in a repr, and cannot be pickled or copied."""
    found = sf.utility([1.0, 2.0], [1.5, 2.5])

    assert "OWNER" in str(found) and "0.5" in str(found)
    assert "0.5" not in repr(found)
    for carry in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            carry(found)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: sf.utility([1.0], [1.0, 2.0]), "has shape"),
        (lambda: sf.utility([], []), "nothing to compare"),
        (lambda: sf.utility([float("nan")], [1.0]), "original must be finite"),
        (lambda: sf.utility([1.0], ["x"]), "private must be finite"),
        (lambda: sf.utility({"a": [1]}, {"b": [1]}), "differ in their columns"),
        (lambda: sf.utility({"a": [1]}, [1]), "is no table"),
        (lambda: sf.utility({"a": [1]}, {"a": []}), "no rows"),
    ],
)
def test_bad_input_is_refused(call, text) -> None:
    """Each wrong argument gets one clear error."""
    with pytest.raises(sf.ArgumentError, match=text):
        call()
