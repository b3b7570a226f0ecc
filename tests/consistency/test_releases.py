"""Consistent figures of releases: members by name, groups matched, laws known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.account import Threshold
from sfumato.consistency.figures import variance
from sfumato.errors import ArgumentError
from sfumato.release import Figure, Noise, from_json
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


def test_a_release_given_twice_is_refused(session) -> None:
    """A copy has the same noise: variances that take it for another are too small."""
    ask = session.query().select(sf.count(), sf.histogram("age", [0, 40, 100]))
    release, other = ask.release(epsilon="1"), ask.release(epsilon="1")
    copy = from_json(release.to_json())
    constraint = sf.Parts("count", "histogram_age")

    for given in ([release, release], [release, other, copy]):
        with pytest.raises(ArgumentError, match="is given twice") as refused:
            sf.consistent(given, nonnegative=True)
        assert refused.value.hint

    assert len(sf.consistent([release, other], nonnegative=True)) == 6
    assert sf.consistent(release, [constraint]).variances is not None


def test_two_quantiles_of_a_column_are_not_called_one_measurement(session) -> None:
    """They differ in their names alone, and are refused for what they are."""
    told = sf.count(), sf.quantile("age", "0.25"), sf.quantile("age", "0.75")
    release = session.query().select(*told).release(epsilon="1")

    with pytest.raises(ArgumentError, match="but a quantile"):
        sf.consistent(release, nonnegative=True)


@pytest.mark.parametrize(
    "twice",
    [
        lambda name: sf.count(name=name),
        lambda name: sf.sum("age", name=name),
        lambda name: sf.histogram("age", [0, 40, 100], name=name),
        lambda name: sf.crosstab("age", "district", edges=[0, 40, 100], name=name),
    ],
)
def test_one_measurement_under_two_names_is_refused(session, twice) -> None:
    """It was measured once, and both names tell the same noise."""
    release = session.query().select(twice("n"), twice("m")).release(epsilon="1")
    first, second = (
        [f.estimate for f in release if f.name == name] for name in ("n", "m")
    )

    with pytest.raises(ArgumentError, match="one measurement under two names"):
        sf.consistent(release, nonnegative=True)

    assert first == second


def test_other_bins_of_one_column_are_other_measurements(session) -> None:
    """They have noise of their own, and are adjusted together."""
    one, two = (
        sf.histogram("age", [0, 40, 100]),
        sf.histogram("age", [0, 60, 100], name="m"),
    )
    release = session.query().select(one, two).release(epsilon="1")

    assert len(sf.consistent(release, nonnegative=True)) == 4


def test_a_table_of_two_columns_adds_up_to_its_margin(session) -> None:
    """Its cells are counts with noise of their own."""
    table = sf.crosstab("district", "age", other_edges=[0, 40, 100])
    ask = session.query().select(table, sf.histogram("district"))
    release = ask.release(epsilon="1")
    margin = [f for f in release if f.kind == "histogram"]
    cells = [
        [f for f in release if f.kind == "crosstab" and f.bin == m.bin] for m in margin
    ]

    parts = [sf.Parts(m, c) for m, c in zip(margin, cells, strict=True)]
    adjusted = sf.consistent(release, parts)

    frame = adjusted.to_pandas()
    tables = frame[frame["name"] != "histogram_district"].groupby("bin")["consistent"]
    margins = frame[frame["name"] == "histogram_district"].set_index("bin")[
        "consistent"
    ]
    assert tables.sum().to_dict() == pytest.approx(margins.to_dict())
    assert list(frame["other_bin"].dropna()) == [(0.0, 40.0), (40.0, 100.0)] * 4


def test_a_number_of_people_is_the_sum_of_their_groups() -> None:
    """Its noise is that of a count."""
    rows = [{"id": i, "g": "ab"[i % 2]} for i in range(300)]
    unit = sf.Unit("id", max_rows=1, max_groups=1)
    data = sf.Dataset(rows, schema=sf.Schema({"g": sf.Category(["a", "b"])}, unit))
    query = sf.Session(data, budget="9").query()
    whole = query.select(sf.people()).release("1")
    parts = query.group_by("g").select(sf.people()).release("1")

    adjusted = sf.consistent([whole, parts], [sf.Parts(whole["people"], parts.figures)])

    total, *groups = adjusted.values
    assert total == pytest.approx(sum(groups))


def test_what_is_no_sum_is_refused_by_its_kind(session) -> None:
    """The error names it, and says what to do."""
    release = session.query().select(sf.mean("age")).release(epsilon="1")

    with pytest.raises(ArgumentError, match="but a mean") as refused:
        sf.consistent(release, nonnegative=True)

    assert "release of their own" in refused.value.hint
