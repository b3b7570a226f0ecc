"""Attacks by asking, by reconstruction and by distance, against broken and sound targets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.audit.attacks import (
    averaging,
    budget_race,
    differencing,
    membership,
    reconstruct,
    timing,
)

PEOPLE = 64


@pytest.fixture
def session(tmp_path):
    table = pd.DataFrame({"x": np.arange(20)})
    dataset = sf.Dataset(table, schema=sf.Schema({"x": sf.Integer(0, 100)}))
    return sf.Session(dataset, budget=sf.Epsilon("1"), ledger=tmp_path / "l.db")


def test_repetition_that_is_not_charged_is_certified() -> None:
    """Fifty answers at ε = 0.5 under a cap of 1."""
    found = averaging(lambda d: sf.geometric(d, 1, "0.5"), 10, 11, claimed=1)

    assert found.violated, found


def test_a_replayed_answer_gives_nothing_more() -> None:
    """The first answer is given again: its noise does not average out."""

    class Replay:
        def __init__(self):
            self.answer = None

        def __call__(self, data):
            self.answer = sf.geometric(data, 1, 1)
            return self.answer

    def session_mean(data):
        return Replay()(data)

    assert not averaging(session_mean, 10, 11, claimed=1, times=1).violated


def test_differences_with_shared_noise_are_certified() -> None:
    """One seed for two answers: their difference is exact."""
    state = {}

    def whole(rows):
        state["noise"] = sf.geometric(0, 1, "0.5")
        return len(rows) + state["noise"]

    def part(rows):
        return len([r for r in rows if r != 7]) + state["noise"]

    broken = differencing(whole, part, [1, 7], [1], claimed=1)
    sound = differencing(
        lambda rows: sf.geometric(len(rows), 1, "0.5"),
        lambda rows: sf.geometric(len([r for r in rows if r != 7]), 1, "0.5"),
        [1, 7],
        [1],
        claimed=1,
    )

    assert broken.violated and not sound.violated


def test_a_race_gives_what_the_budget_allows(session) -> None:
    """16 threads ask at once; ten answers at 0.1 fit a budget of 1."""
    ask = session.query().select(sf.count())

    given = budget_race(lambda: ask.release(epsilon="0.1"), each=2)

    assert given == 10


def test_exact_sums_give_the_column_away_and_private_ones_do_not() -> None:
    """The reconstruction of Dinur and Nissim, before and after."""
    rng = np.random.default_rng(3)
    secret = rng.integers(0, 2, PEOPLE)
    subsets = rng.integers(0, 2, (4 * PEOPLE, PEOPLE))
    exact = subsets @ secret

    before = reconstruct(subsets, exact, truth=secret)
    rounded = reconstruct(subsets, np.round(exact / 3) * 3, truth=secret)
    private = sf.laplace(exact.astype(float), 4 * PEOPLE, 1)
    after = reconstruct(subsets, private, truth=secret)

    assert before.right == 1
    assert rounded.right > 0.9
    assert after.right < 0.8
    assert reconstruct(subsets, exact).right is None


def test_a_copied_table_gives_its_members_away() -> None:
    """Distance to the closest record: certain for a copy, a coin for fresh rows."""
    rng = np.random.default_rng(4)
    members, others, fresh = (rng.normal(0, 1, (300, 4)) for _ in range(3))

    assert membership(members, members, others).auc == 1
    assert abs(membership(fresh, members, others).auc - 0.5) < 0.15


def test_time_that_follows_the_noise_is_seen() -> None:
    """A loop as long as its noise has a rank correlation near 1."""

    def loop():
        drawn = abs(int(sf.geometric(0, 1, "0.001")))
        for _ in range(drawn):
            pass
        return drawn

    assert timing(loop, draws=3000).correlation > 0.8


@pytest.mark.parametrize(
    "call",
    [
        lambda: reconstruct(np.zeros(3), np.zeros(3)),
        lambda: reconstruct(np.zeros((3, 2)), np.zeros(2)),
        lambda: membership(np.zeros((2, 3)), np.zeros((2, 2)), np.zeros((2, 3))),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call) -> None:
    """One clear error each."""
    with pytest.raises(sf.ArgumentError):
        call()
