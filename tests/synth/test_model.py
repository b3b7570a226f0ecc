"""Inference on the junction tree: what brute force over the joint table says."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.errors import DeclarationError
from sfumato.noise import FixedStream
from sfumato.synth.descent import minimise
from sfumato.synth.draw import draw_bins
from sfumato.synth.estimate import Noisy, fit, total_of
from sfumato.synth.model import Model, Potentials
from sfumato.synth.tree import Tree, cells_of

CHAIN = [4, 5, 3, 6]


def summed(joint, axes):
    """Return the table of some columns of a joint table."""
    return joint.sum(axis=tuple(x for x in range(joint.ndim) if x not in axes))


def chain(seed=0):
    """Return the joint table of a Markov chain of four columns."""
    rng = np.random.default_rng(seed)
    steps = [rng.dirichlet(np.ones(b), a) for a, b in zip(CHAIN, CHAIN[1:])]
    return np.einsum("a,ab,bc,cd->abcd", rng.dirichlet(np.ones(CHAIN[0])), *steps)


def told(joint, sets, rows, sigma=1.0):
    """Return exact tables as measurements."""
    return [Noisy(s, summed(joint, s).ravel() * rows, sigma) for s in sets]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_marginals_are_those_of_the_joint_table(data):
    """Random cliques, weights and zeros: every table of up to three columns is right."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=6))
    columns = range(len(sizes))
    wanted = data.draw(
        st.lists(
            st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True).map(
                lambda x: tuple(sorted(x))
            ),
            max_size=6,
        )
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    potentials, joint = Potentials(Tree(sizes, wanted)), np.zeros(sizes)
    for axes in wanted:
        weights = rng.normal(size=int(np.prod([sizes[x] for x in axes])))
        if len(weights) > 2:
            weights[0] = -np.inf
        potentials.add(axes, weights)
        shape = [sizes[x] if x in axes else 1 for x in columns]
        joint = joint + weights.reshape(shape)
    joint = np.exp(joint)
    if not joint.sum():
        with pytest.raises(DeclarationError):
            Model(potentials, 1.0)
        return
    joint /= joint.sum()

    model = Model(potentials, 1.0)

    for k in (1, 2, 3):
        for axes in combinations(columns, k):
            assert model.marginal(axes) == pytest.approx(summed(joint, axes), abs=1e-12)


def test_the_model_of_a_chain_is_the_chain():
    """Three exact pair tables determine the joint table of a Markov chain."""
    joint = chain()
    pairs = [(0, 1), (1, 2), (2, 3)]

    model, _ = fit(CHAIN, told(joint, pairs, 1e4), 1e4, penalty=1e-6, steps=500)

    for axes in combinations(range(4), 2):
        assert np.abs(model.marginal(axes) - summed(joint, axes)).sum() < 2e-4


def test_rows_reproduce_the_model_across_cliques():
    """The fault of mbi 1.1: rows were off by up to .17 for columns of no common clique."""
    joint = chain()
    pairs = [(0, 1), (1, 2), (2, 3)]
    model, _ = fit(CHAIN, told(joint, pairs, 1e4), 1e4, penalty=1e-6, steps=500)
    rows = 200_000

    bins = draw_bins(model, rows, FixedStream(1))

    for a, b in combinations(range(4), 2):
        shape = (CHAIN[a], CHAIN[b])
        seen = np.bincount(bins[a] * shape[1] + bins[b], minlength=np.prod(shape))
        off = np.abs(seen.reshape(shape) / rows - model.marginal((a, b))).sum() / 2
        # Within a clique: one row a cell at most. Across: 30 cells of random dealing.
        assert off < (2e-4 if (a, b) in pairs else 6e-3), (a, b)


def test_cells_get_their_share_to_within_a_row():
    """Systematic rounding: a clique's cells have their expected rows, give or take one."""
    joint = chain(3)
    model, _ = fit(CHAIN, told(joint, [(0, 1)], 1e4), 1e4, penalty=1e-6)

    bins = draw_bins(model, 1000, FixedStream(5))

    seen = np.bincount(bins[0] * 5 + bins[1], minlength=20).reshape(4, 5)
    assert np.abs(seen - 1000 * model.marginal((0, 1))).max() <= 2


def test_forbidden_cells_have_no_rows():
    """A weight of -inf is a probability of exactly zero."""
    joint, forbidden = chain(), np.zeros((4, 6))
    forbidden[1, 2] = forbidden[3, :5] = -np.inf
    base = [((0, 3), forbidden.ravel())]

    model, _ = fit(CHAIN, told(joint, [(0, 1), (2, 3)], 1e3), 1e3, base=base)
    bins = draw_bins(model, 20_000, FixedStream(2))

    assert model.marginal((0, 3))[np.isneginf(forbidden)].sum() == 0
    assert not np.isneginf(forbidden[bins[0], bins[3]]).any()


def test_evidence_conditions_the_joint_table():
    """The model of the rows with a value is the joint table's slice."""
    joint = chain()
    pairs = [(0, 1), (1, 2), (2, 3)]
    model, _ = fit(CHAIN, told(joint, pairs, 1e4), 1e4, penalty=1e-6, steps=500)

    given_two = model.given([(3, np.arange(6) == 2)])

    slice_ = joint[:, :, :, 2]
    right = slice_.sum(axis=(1, 2)) / slice_.sum()
    assert given_two.marginal((0,)) == pytest.approx(right, abs=1e-4)
    with pytest.raises(DeclarationError):
        model.given([(3, np.zeros(6, bool))])


def test_the_descent_finds_what_scipy_finds():
    """The value at our minimum is that at scipy's, on a badly scaled convex function."""
    rng = np.random.default_rng(0)
    m = rng.normal(size=(60, 40)) * np.logspace(-1, 1, 40)
    b = rng.normal(size=60)

    def function(v):
        z = m @ v - b
        return float(np.logaddexp(z, -z).sum()), m.T @ np.tanh(z)

    ours, calls = minimise(function, np.zeros(40), steps=2000, fall=0)
    theirs = minimize(function, np.zeros(40), jac=True, method="L-BFGS-B",
                      options={"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-15})  # fmt: skip

    assert function(ours)[0] <= theirs.fun * (1 + 1e-6)
    assert calls < 5000


def test_the_residual_is_what_the_docstring_says():
    """At the minimum y - N·p is τ·σ·θ."""
    joint, rows = chain(), 1000.0
    rng = np.random.default_rng(1)
    counts = summed(joint, (0, 1)).ravel() * rows + rng.normal(size=20) * 30
    noisy = [Noisy((0, 1), counts, 30.0)]

    model, theta = fit(CHAIN, noisy, rows, penalty=0.7, steps=500)

    residual = counts - rows * model.marginal((0, 1)).ravel()
    assert residual == pytest.approx(0.7 * 30 * theta[0, 1], abs=0.05)


def test_precise_tables_tell_the_number_of_rows():
    """The total is the mean of sums, weighed by inverse variances."""
    precise = Noisy((0,), np.array([500.0, 500.0]), 1.0)
    vague = Noisy((1,), np.array([0.0, 0.0]), 1000.0)

    assert total_of([precise, vague]) == pytest.approx(1000, rel=1e-5)


def test_a_tree_holds_its_sets_and_knows_its_cells():
    """Each wanted set lies in a clique, and a clique's parent shares its separator."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        sizes = [int(n) for n in rng.integers(1, 6, 9)]
        wanted = [
            tuple(sorted(rng.choice(9, 3, replace=False).tolist())) for _ in range(6)
        ]

        tree = Tree(sizes, wanted)

        assert all(tree.home(axes) is not None for axes in wanted)
        assert tree.cells == cells_of(sizes, wanted)
        for x in range(9):  # the cliques that hold a column hang together
            holders = {j for j, c in enumerate(tree.cliques) if x in c}
            tops = [j for j in holders if tree.parent[j] not in holders]
            assert len(tops) == 1
