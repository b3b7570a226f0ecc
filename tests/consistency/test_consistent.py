"""Consistent figures: optimal, exact in their sums, honest in their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import sfumato as sf
from sfumato.consistency import Between, Monotone, Parts, Total, consistent
from sfumato.consistency.adjust import _reach

SEED = 20261130


def dense(values, variances, matrix, right):
    """Gauss-Markov by textbook matrices."""
    v = np.diag(variances)
    gain = v @ matrix.T @ np.linalg.pinv(matrix @ v @ matrix.T)
    return values - gain @ (matrix @ values - right), np.diag(v - gain @ matrix @ v)


def two_levels():
    """A nation (6), two provinces (4, 5), their districts (0, 1 and 2, 3)."""
    sums = [Parts(4, [0, 1]), Parts(5, [2, 3]), Parts(6, [4, 5])]
    rows = np.array(
        [[1, 1, 0, 0, -1, 0, 0], [0, 0, 1, 1, 0, -1, 0], [0, 0, 0, 0, 1, 1, -1]], float
    )
    return sums, rows


def two_way(rows=3, columns=4):
    """Cells, row sums, column sums, all."""
    places = np.arange(rows * columns).reshape(rows, columns)
    n = rows * columns
    sums = [Parts(n + i, places[i]) for i in range(rows)]
    sums += [Parts(n + rows + j, places[:, j]) for j in range(columns)]
    return [*sums, Parts(n + rows + columns, n + np.arange(rows))]


def test_tutorial_case_is_the_even_share_of_the_gap() -> None:
    """Under one total and equal variances each figure moves by the same amount."""
    adjusted = consistent([52.0, 31.0, 20.0], total=100)

    assert adjusted.values == pytest.approx([51, 30, 19])
    assert adjusted.raw == pytest.approx([52, 31, 20])
    assert adjusted.low is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e4, 1e4), min_size=7, max_size=7),
    st.lists(st.floats(0.01, 1e4), min_size=7, max_size=7),
)
def test_a_tree_in_closed_form_is_gauss_markov(values, variances) -> None:
    """The two passes give the estimate and the variances of the dense formula."""
    sums, rows = two_levels()

    adjusted = consistent(values, sums, variances=variances)

    best, errors = dense(np.array(values), np.array(variances), rows, np.zeros(3))
    assert adjusted.values == pytest.approx(best, abs=1e-6, rel=1e-6)
    assert adjusted.variances == pytest.approx(errors, abs=1e-6, rel=1e-5)


def test_overlapping_sums_are_gauss_markov_too() -> None:
    """A two-way table with margins, where each cell is part of two sums."""
    rng = np.random.default_rng(SEED)
    sums = two_way()
    values, variances = rng.normal(50, 20, 20), rng.uniform(1, 9, 20)
    rows = np.zeros((8, 20))
    for i, one in enumerate(sums):
        rows[i, np.asarray(one.parts)] = 1
        rows[i, one.whole] = -1

    adjusted = consistent(values, sums, variances=variances)

    best, errors = dense(values, variances, rows, np.zeros(8))
    assert adjusted.values == pytest.approx(best)
    assert adjusted.variances == pytest.approx(errors)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(-20, 60), min_size=4, max_size=4),
    st.lists(st.floats(0.5, 20), min_size=4, max_size=4),
)
def test_inequalities_reach_the_least_distance(values, variances) -> None:
    """No feasible direction leads nearer: the projection theorem, by a linear programme."""
    y, v = np.array(values), np.array(variances)
    constraints = [Total(50), Between(0, 40), Monotone("falling", [0, 1, 2])]

    found = consistent(y, constraints, variances=v).values

    slope = (y - found) / v
    furthest = linprog(
        -slope,
        A_ub=[[-1, 1, 0, 0], [0, -1, 1, 0]],
        b_ub=[0, 0],
        A_eq=[[1, 1, 1, 1]],
        b_eq=[50],
        bounds=[(0, 40)] * 4,
    )
    assert -furthest.fun - slope @ found <= 1e-4 * (1 + np.abs(slope).max())
    assert found.sum() == pytest.approx(50, abs=1e-4)
    assert (found >= 0).all() and (found <= 40).all()
    assert found[0] >= found[1] - 1e-5 and found[1] >= found[2] - 1e-5


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-5, 30), min_size=7, max_size=7))
def test_whole_numbers_of_a_tree_agree(values) -> None:
    """Rounded figures are the figures rounded down or up, and their sums are exact."""
    sums, rows = two_levels()
    real = consistent(values, sums)

    whole = consistent(values, sums, integers=True).values

    assert (whole == np.round(whole)).all()
    assert (rows @ whole == 0).all()
    assert (np.abs(whole - real.values) < 1 + 1e-6).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_whole_numbers_of_a_table_agree(seed) -> None:
    """Cells and margins of a two-way table stay within one of the figures."""
    values = np.random.default_rng(seed).normal(3, 4, 20)
    sums = two_way()
    real = consistent(values, sums, nonnegative=True)

    whole = consistent(values, sums, nonnegative=True, integers=True).values

    assert (whole == np.round(whole)).all() and (whole >= 0).all()
    for one in sums:
        assert whole[np.asarray(one.parts)].sum() == whole[one.whole]
    assert (np.abs(whole - real.values) < 1 + 1e-4).all()


def test_an_exact_figure_does_not_move() -> None:
    """A figure of variance 0 is public; the others give way."""
    adjusted = consistent([100, 60, 50], [Parts(0, [1, 2])], variances=[0, 4, 4])

    assert adjusted.values == pytest.approx([100, 55, 45])
    assert adjusted.low[0] == adjusted.high[0] == 100


def test_contradictions_are_named_and_minimal() -> None:
    """The error names the conflicting constraints and no innocent one."""
    constraints = [
        Between(0, 10, [0, 1]),
        Total(7, [2]),
        Total(25, [0, 1]),
        Between(-50, 50),
    ]

    with pytest.raises(sf.ArgumentError) as caught:
        consistent([1.0, 2.0, 3.0], constraints)

    text = str(caught.value)
    assert "Total(25" in text and "Between(0, 10" in text
    assert "Total(7" not in text and "-50" not in text


def test_two_totals_of_the_same_figures_contradict() -> None:
    """Equations alone can contradict each other."""
    with pytest.raises(sf.ArgumentError, match="cannot all hold"):
        consistent([1.0, 2.0], [Total(3), Total(4)])


def test_exact_figures_can_contradict_a_tree() -> None:
    """Public figures that do not add up are refused, not averaged."""
    with pytest.raises(sf.ArgumentError, match="cannot all hold"):
        consistent([10, 4, 5], [Parts(0, [1, 2])], variances=[0, 0, 0])


@pytest.mark.parametrize(
    ("noisy", "given_", "text"),
    [
        ([], {"total": 1}, "at least one number"),
        ([[1.0]], {"total": 1}, "one dimension"),
        ([1.0, math.nan], {"total": 1}, "finite"),
        (["a"], {"total": 1}, "finite"),
        ([1.0], {}, "no constraint"),
        ([1.0], {"total": math.nan}, "must be a number"),
        ([1.0], {"total": 1, "variances": -1}, "never negative"),
        ([1.0], {"total": 1, "variances": [1, 2]}, "one for each figure"),
        ([1.0], {"constraints": [Total(1, [1])]}, "places from 0 to 0"),
        ([1.0], {"constraints": [Total(1, ["x"])]}, "places from 0 to 0"),
        ([1.0], {"constraints": ["sum"]}, "is no constraint"),
        ([1.0, 2.0], {"constraints": [Parts([0, 1], [0])]}, "one figure"),
        ([1.0], {"total": 1, "confidence": 1}, "between 0 and 1"),
    ],
)
def test_bad_input_is_refused(noisy, given_, text) -> None:
    """Each wrong argument gets one clear error."""
    with pytest.raises(sf.ArgumentError, match=text):
        consistent(noisy, given_.pop("constraints", ()), **given_)


@pytest.mark.parametrize(
    "make",
    [lambda: Between(2, 1), lambda: Between(math.nan), lambda: Monotone("up")],
)
def test_bad_constraints_are_refused(make) -> None:
    """A constraint that says nothing sensible cannot be made."""
    with pytest.raises(sf.ArgumentError):
        make()


def test_adjusting_lowers_the_error_and_intervals_cover() -> None:
    """Paired over 500 draws, each hierarchy gains, and 95 % intervals hold."""
    rng = np.random.default_rng(SEED)
    leaves = rng.poisson(3, 64).astype(float)
    middle = leaves.reshape(8, 8).sum(axis=1)
    truth = np.r_[leaves, middle, middle.sum()]
    sums = [Parts(64 + i, np.arange(8 * i, 8 * i + 8)) for i in range(8)]
    sums += [Parts(72, np.arange(64, 72))]

    before, after, bounded, held = [], [], [], []
    for _ in range(500):
        noisy = truth + rng.laplace(0, 2, len(truth))
        plain = consistent(noisy, sums, variances=8.0)
        positive = consistent(noisy, sums, variances=8.0, nonnegative=True)
        before.append(((noisy - truth) ** 2).mean())
        after.append(((plain.values - truth) ** 2).mean())
        bounded.append(((positive.values - truth) ** 2).mean())
        held.append(((plain.low <= truth) & (truth <= plain.high)).mean())

    assert np.mean(after) < np.mean(before) * 0.95
    assert np.mean(bounded) < np.mean(after) * 0.9
    # 36,500 intervals at 95 %: 10 standard errors even if a draw's were one.
    assert 0.94 < np.mean(held) < 0.975


def test_no_sum_of_two_laplaces_is_wider_than_the_reach() -> None:
    """P(|aX + bY| > t) at unit variance stays below what one Laplace has, at 80 % to 99.9 %."""
    for confidence in (0.8, 0.9, 0.95, 0.99, 0.999):
        t = _reach(confidence)
        for share in np.linspace(0.001, 0.499, 97):
            b, c = math.sqrt((1 - share) / 2), math.sqrt(share / 2)
            beyond = (b**2 * math.exp(-t / b) - c**2 * math.exp(-t / c)) / (b**2 - c**2)
            assert beyond <= 1 - confidence + 1e-9


def test_the_tutorials_step():
    """`consistency_adjustment(noisy, sum=…)` is least squares under a total."""
    noisy = [52.3, 31.1, 20.6]

    made = sf.consistency_adjustment(noisy, sum=100)
    whole = sf.consistency_adjustment(noisy, sum=100, integers=True, nonnegative=True)

    assert made.values == pytest.approx(np.array(noisy) - 4 / 3)
    assert list(made.raw) == noisy
    assert whole.values.sum() == 100
    assert (whole.values % 1 == 0).all()
