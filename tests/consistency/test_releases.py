"""Consistent figures of releases: members by name, groups matched, laws known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.account import Threshold
from sfumato.consistency.figures import variance
from sfumato.release import Figure, Noise
from sfumato.testing import seeded

DISTRICTS = ["a", "b", "c", "d"]


@pytest.fixture
def session(tmp_path):
    table = pd.DataFrame(
        {
            "district": np.repeat(DISTRICTS, [40, 10, 25, 5]),
            "age": np.tile([10, 30, 50, 70], 20),
        }
    )
    schema = sf.Schema({"district": sf.Category(DISTRICTS), "age": sf.Integer(0, 100)})
    dataset = sf.Dataset(table, schema=schema)
    return sf.Session(dataset, budget=sf.Epsilon("10"), ledger=tmp_path / "l.db")


def test_every_group_is_the_sum_of_its_own_bins(session) -> None:
    """A name that stands for many figures is matched group by group."""
    query = session.query().group_by("district")
    ask = query.select(sf.count(), sf.histogram("age", [0, 40, 100]))
    with seeded(1):
        release = ask.release(epsilon="1")

    adjusted = sf.consistent(release, [sf.Parts("count", "histogram_age")])

    frame = adjusted.to_pandas()
    counts = frame[frame["name"] == "count"].set_index("district")["consistent"]
    bins = frame[frame["name"] == "histogram_age"].groupby("district")["consistent"]
    assert counts.to_dict() == pytest.approx(bins.sum().to_dict())
    assert list(frame["raw"]) == [f.estimate for f in release.figures]
    assert not np.allclose(frame["raw"], frame["consistent"])
    assert set(frame["status"]) == {"NOT PRIVATE"}
    assert str(adjusted).startswith("NOT PRIVATE")
    assert (frame["low"] <= frame["consistent"]).all()


def test_a_nation_is_the_sum_of_its_districts(session) -> None:
    """Figures of two releases are tied together; both move."""
    with seeded(2):
        nation = session.query().select(sf.count()).release(epsilon="1")
        parts = session.query().group_by("district").select(sf.count())
        districts = parts.release(epsilon="1")

    adjusted = sf.consistent(
        [nation, districts],
        [sf.Parts(nation["count"], districts.figures)],
        nonnegative=True,
        integers=True,
    )

    assert adjusted.values[0] == adjusted.values[1:].sum()
    assert (adjusted.values == np.round(adjusted.values)).all()


@pytest.mark.parametrize("budget", ["epsilon", "rho"])
def test_variances_are_those_of_the_noise(tmp_path, budget) -> None:
    """The variance read off a figure is the plan's own."""
    table = pd.DataFrame({"age": np.arange(50)})
    dataset = sf.Dataset(table, schema=sf.Schema({"age": sf.Integer(0, 100)}))
    cap = sf.Epsilon("9") if budget == "epsilon" else sf.ZCDP("9")
    session = sf.Session(dataset, budget=cap, ledger=tmp_path / "l.db")
    ask = session.query().select(sf.count(), sf.sum("age"))
    plan = ask.plan(**{budget: "0.5"})

    release = plan.release()

    for figure, (_, recipe) in zip(release.figures, plan.plan.answers):
        expected = float(plan.plan.noise_of(recipe.part).variance) * recipe.step_size**2
        assert variance(figure) == pytest.approx(expected, rel=1e-9)


def test_only_what_a_seed_made_is_marked(session) -> None:
    """Consistent figures of a release with real noise carry no alarm."""
    release = session.query().select(sf.count()).release(epsilon="1")

    adjusted = sf.consistent(release, [sf.Between(0, 1000)])

    assert adjusted.private and "NOT PRIVATE" not in str(adjusted)
    assert "status" not in adjusted.to_pandas()


def test_a_mean_is_refused(session) -> None:
    """Its noise has no one variance."""
    release = session.query().select(sf.mean("age")).release(epsilon="1")

    with pytest.raises(sf.ArgumentError, match="mean_age"):
        sf.consistent(release, total=4)


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (sf.Total(1, "cuont"), "no figure named"),
        (sf.Total(1, 3), "figures or their names"),
        (sf.Parts("count", "count"), "finds no part"),
    ],
)
def test_unknown_members_are_refused(session, constraint, text) -> None:
    """Each wrong member gets one clear error."""
    release = session.query().select(sf.count()).release(epsilon="1")

    with pytest.raises(sf.ArgumentError, match=text):
        sf.consistent(release, [constraint])


def test_a_figure_of_another_release_is_refused(session) -> None:
    """Figures are matched by identity, not by name."""
    first = session.query().select(sf.count()).release(epsilon="1")
    other = session.query().select(sf.count()).release(epsilon="1")

    with pytest.raises(sf.ArgumentError, match="another release"):
        sf.consistent(first, [sf.Total(80, other["count"])])


@pytest.mark.parametrize("law", ["truncated_geometric", "geometric", "gaussian"])
def test_counts_of_unknown_keys_have_the_variance_of_their_law(law) -> None:
    """No less than the noise varies: a geometric law's is twice its squared scale."""
    cost = sf.ZCDP("0.1", "1e-6") if law == "gaussian" else sf.Epsilon("0.1", "1e-6")
    whole = Threshold(cost, law=law)
    noise = Noise(law, str(float(whole.scale)), 1.0, "0.1")
    figure = Figure("n", "count", None, {}, 50, 40, 60, (noise,))

    assert variance(figure) == pytest.approx(float(whole.variance), rel=1e-6)
