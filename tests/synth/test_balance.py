"""Rows that are nearer to their model than chance, and values that lie on a bound."""

from itertools import combinations

import numpy as np
import pytest

import sfumato as sf
from sfumato.noise import FixedStream
from sfumato.synth import Synthesizer, balance, values
from sfumato.synth.balance import balanced_bins
from sfumato.synth.draw import draw_bins
from sfumato.synth.grids import grids, merge
from sfumato.synth.model import Model, Potentials
from sfumato.synth.tree import Tree
from sfumato.synth.values import decode, fine_cells
from sfumato.testing import seeded

SIZES = [3, 4, 2, 5]


def model(seed=0):
    """Return a model of four columns in a chain, one combination forbidden."""
    rng = np.random.default_rng(seed)
    potentials = Potentials(Tree(SIZES, [(0, 1), (1, 2), (2, 3)]))
    for a, b in ((0, 1), (1, 2), (2, 3)):
        weights = rng.normal(size=SIZES[a] * SIZES[b])
        if a == 1:
            weights[3] = -np.inf
        potentials.add((a, b), weights)
    return Model(potentials, 1.0)


def gaps(made, bins):
    """Return the distance of each table of two columns to the model's."""
    found = []
    for a, b in combinations(range(4), 2):
        seen = np.bincount(bins[a] * SIZES[b] + bins[b], minlength=SIZES[a] * SIZES[b])
        told = made.marginal((a, b)).ravel()
        found.append(np.abs(seen / bins.shape[1] - told).sum() / 2)
    return np.array(found)


@pytest.mark.parametrize("rows", [200, 5000])
def test_rows_are_nearer_to_the_model_than_drawn_ones(rows):
    """In every pair, also of columns that no clique holds together; ten draws each."""
    made = model()

    plain = np.mean(
        [gaps(made, draw_bins(made, rows, FixedStream(i))) for i in range(10)], axis=0
    )
    kept = np.mean(
        [gaps(made, balanced_bins(made, rows, FixedStream(i))) for i in range(10)],
        axis=0,
    )

    assert kept.mean() < 0.7 * plain.mean()
    assert kept.max() < plain.max()


def test_every_row_is_a_row_of_the_model():
    """What the model forbids stays forbidden, in any number of rows; one seed, one table."""
    made = model()

    for rows in (0, 1, 3, 1001):
        bins = balanced_bins(made, rows, FixedStream(3))
        assert bins.shape == (4, rows)
        assert not ((bins[1] == 1) & (bins[2] == 1)).any()  # weight 3 is cell (1, 1)
        assert (bins == balanced_bins(made, rows, FixedStream(3))).all()


def test_many_rows_are_drawn_as_they_come(monkeypatch):
    """Beyond a limit of work the rows are those of the plain draw."""
    made = model()
    monkeypatch.setattr(balance, "_MOST_LOOKS", 100)

    bins = balanced_bins(made, 50, FixedStream(1))

    assert (bins == draw_bins(made, 50, FixedStream(1))).all()


def test_blocks_add_up_to_one_table(monkeypatch):
    """What one block lacks the next ones bring: the sum is as near as one block's."""
    made = model()
    monkeypatch.setattr(balance, "_BLOCK", 64)

    kept = np.mean(
        [gaps(made, balanced_bins(made, 1000, FixedStream(i))) for i in range(5)]
    )

    assert kept < 0.01


def test_the_bounds_have_cells_of_their_own():
    """Whatever is moved onto a bound stays apart from what lies beside it."""
    schema = sf.Schema({"x": sf.Integer(0, 900), "few": sf.Integer(0, 5)})

    x, few = grids(schema, ["x", "few"], complete=["x", "few"], cells=32)

    assert x.coding.count == 32
    assert x.coding.edges[:2] == (0, 1)
    assert x.coding.edges[-1] == 900
    assert few.coding.edges == (0, 1, 2, 3, 4, 5)
    assert x.widths.sum() == 901
    assert x.widths[0] == x.widths[-1] == 1


def test_half_the_rows_on_a_bound_stay_there():
    """A code of 0 in half of the rows is 0 in about half of the synthetic ones."""
    schema = sf.Schema({"insulin": sf.Real(0, 900)})
    rows = [{"insulin": 0.0 if i % 2 else 100.0 + i % 300} for i in range(2000)]
    table = sf.Dataset(rows, schema=schema, name="t")

    with seeded(8):
        made = Synthesizer(complete=True).fit(table, budget=sf.Epsilon("2"))
    drawn = np.array(made.sample(2000, seed=1)["insulin"])

    assert abs((drawn == 0).mean() - 0.5) < 0.05
    assert ((drawn > 0) & (drawn < 60)).mean() < 0.05


def test_values_are_spread_evenly_within_a_bin():
    """Of 100 rows of one bin with ten equal cells each cell gets about ten."""
    schema = sf.Schema({"x": sf.Integer(0, 9)})
    (grid,) = grids(schema, ["x"], complete=["x"])
    binning = merge(grid, np.full(10, 10.0), 0.1, 1.0, bins=2, most=64)
    one = merge(grid, np.full(10, 10.0), 0.1, 1e9, bins=2, most=64)

    stream = FixedStream(1)
    cells = fine_cells(one, np.zeros(100, np.int64), stream)
    values = decode(grid, cells, stream)

    assert binning.coding.count > one.coding.count == 1
    assert np.abs(np.bincount(values.cells, minlength=10) - 10).max() <= 1


def test_where_rows_are_few_they_lie_near_the_others():
    """Far out density falls off from the neighbour's; an even column stays even."""
    (grid,) = grids(
        sf.Schema({"x": sf.Integer(0, 640)}), ["x"], complete=["x"], cells=34
    )
    true = np.exp(-np.arange(34) / 4.0)
    falling = merge(grid, 1000 * true, 30.0, 4500.0, bins=4, most=64)
    even = merge(grid, np.full(34, 100.0), 1.0, 3400.0, bins=4, most=64)

    for binning, smooth in ((falling, False), (even, True)):
        held = np.bincount(binning.places, binning.counts)
        parts = values._smooth(binning, held)
        last = [i for i, p in enumerate(binning.places) if p == binning.places[-1]]
        share = parts[last] / np.asarray(grid.widths)[last]
        assert np.bincount(binning.places, parts) == pytest.approx(1)
        assert len(last) > 3
        assert np.ptp(share) < 0.1 * share[0] if smooth else share[0] > 3 * share[-1]
    wide = np.ones(8)
    assert values._falling(wide, 1 / 8) == pytest.approx(1 / 8)
    assert values._falling(wide, 0.5)[0] == pytest.approx(0.39, abs=0.02)
    assert values._falling(wide, 1e9) == pytest.approx([1, *[0] * 7])
