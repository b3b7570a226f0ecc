"""Synthetic tables of people with several rows, and of days."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.ledger import show
from sfumato.plan.contingency import FINE
from sfumato.synth import Synthesis, Synthesizer
from sfumato.testing import seeded

FIRST, LAST = dt.date(2020, 1, 1), dt.date(2022, 12, 31)
COLUMNS = {
    "day": sf.Date(FIRST, LAST, missing="2020-01-01"),
    "sex": sf.Category(["F", "M"]),
    "x": sf.Real(0, 10, step=0.5),
}


def visits(people=400):
    """Return one to five visits of each person; women come in 2020, men later."""
    rng = np.random.default_rng(0)
    rows = []
    for person in range(people):
        woman = person % 2
        for _ in range(int(rng.integers(1, 6))):
            day = FIRST + dt.timedelta(
                days=int(rng.integers(1, 366)) + 366 * (1 - woman)
            )
            rows.append({"who": f"P{person}", "day": day, "sex": "MF"[woman],
                         "x": float(rng.normal(5, 1))})  # fmt: skip
    return rows


def dataset(unit=None, rows=None):
    """Return it as a dataset."""
    return sf.Dataset(
        visits() if rows is None else rows, schema=sf.Schema(COLUMNS, unit), name="v"
    )


@pytest.mark.parametrize("method", ["adaptive", "oneshot", "independent"])
@pytest.mark.parametrize("budget", [sf.Epsilon("5"), sf.ApproxDP("5", "1e-6")], ids=str)
def test_people_with_several_rows(method, budget, tmp_path):
    """The claim names the person and her bounds; the ledger too; all is spent."""
    unit, ledger = sf.Unit("who", max_rows=3, max_groups=1), tmp_path / "l.ledger"

    made = Synthesizer(method).fit(dataset(unit), budget=budget, ledger=ledger)

    claim = made.release.claim
    assert (claim.unit, claim.bounds.column, claim.bounds.max_rows) == (
        "person",
        "who",
        3,
    )
    assert "one person" in str(made.release)
    assert made.sample(10).names == tuple(COLUMNS)
    assert sf.Session(dataset(unit), budget, ledger=ledger).left.units == 0
    assert show(ledger)
    for table in made.release.tables:
        assert table.noise.step == 1 / FINE


def test_noise_grows_with_the_rows_of_a_person():
    """Three rows of hers: three times the noise, as a row's table would have."""
    scales = []
    for unit in (sf.Rows(), sf.Unit("who", max_rows=3, max_groups=1)):
        plan = Synthesizer().plan(dataset(unit), budget=sf.Epsilon("1"))
        scales.append(plan.expected(rows=10**6)[0].error)

    assert scales[1] / scales[0] == pytest.approx(3, rel=0.01)


def test_counts_are_of_weighed_rows():
    """Forty rows of one person count as three; her neighbours' as they are."""
    rows = [{"who": "a", "day": LAST, "sex": "F", "x": 1.0}] * 40
    rows += [{"who": f"b{i}", "day": LAST, "sex": "M", "x": 1.0} for i in range(500)]
    rows += [{"who": None, "day": LAST, "sex": "M", "x": 1.0}] * 300
    unit = sf.Unit("who", max_rows=3, max_groups=1)

    with seeded(1):
        made = Synthesizer("independent", complete=True).fit(
            dataset(unit, rows), budget=sf.Epsilon("300")
        )

    assert made.release.total == pytest.approx(503, abs=2)
    assert made.marginal("sex")[0] == pytest.approx(3 / 503, abs=0.003)


def test_a_public_number_of_people_is_no_number_of_rows():
    """Under replace-one their number is public; that of the rows is estimated."""
    unit = sf.Unit("who", max_rows=5, max_groups=1, neighbours="replace_one", size=400)

    made = Synthesizer().fit(dataset(unit), budget=sf.Epsilon("20"))

    assert made.release.total == pytest.approx(len(visits()), rel=0.1)
    assert made.release.claim.size == 400


def test_days_stay_days(tmp_path):
    """Of declared bounds, in every form; dependence on days is kept."""
    with seeded(2):
        made = Synthesizer().fit(dataset(), budget=sf.Epsilon("30"))
    table = made.sample(500, seed=1)

    known = [d for d in table["day"] if d is not None]
    assert {type(d) for d in known} == {dt.date}
    assert FIRST <= min(known) <= max(known) <= LAST
    assert table.to_pandas()["day"].dtype.kind == "M"
    assert table.to_pandas()["day"].isna().sum() == 500 - len(known)
    assert str(table.to_polars()["day"].dtype) == "Date"
    assert known[0].isoformat() in table.to_csv()
    women = [d.year for d, s in zip(table["day"], table["sex"]) if s == "F" and d]
    assert np.mean(np.array(women) == 2020) > 0.9
    assert made.release.columns[0].kind == "date"
    assert made.release.columns[0].labels[0].startswith("2020-01-01")
    made.save(tmp_path / "m.synth")
    assert (
        Synthesis.load(tmp_path / "m.synth").sample(9, seed=1).to_csv()
        == made.sample(9, seed=1).to_csv()
    )


def test_conditions_on_days():
    """As dates or as texts; forbidden and chosen; what is no day is refused."""
    rule = {"day": (dt.date(2020, 3, 1), dt.date(2020, 3, 31)), "sex": "F"}
    made = Synthesizer(forbid=[rule]).fit(dataset(), budget=sf.Epsilon("5"))

    for row in made.sample(2000).rows():
        march = row["day"] is not None and (row["day"].year, row["day"].month) == (
            2020,
            3,
        )
        assert not (march and row["sex"] == "F")
    for row in made.sample(50, where={"day": ("2021-01-01", "2021-06-30")}).rows():
        assert dt.date(2020, 11, 1) < row["day"] < dt.date(2021, 9, 1)
    with pytest.raises(sf.DeclarationError, match="no range") as caught:
        made.sample(5, where={"day": "yesterday"})
    assert "2024-02-29" in caught.value.hint


def test_a_saved_table_of_people_is_read_back(tmp_path):
    """Unit, days and record."""
    unit = sf.Unit("who", max_rows=3, max_groups=1, missing=("NA",))
    made = Synthesizer(forbid=[{"day": LAST, "sex": "F"}]).fit(
        dataset(unit), budget=sf.Epsilon("5")
    )

    made.save(tmp_path / "m.synth")
    read = Synthesis.load(tmp_path / "m.synth")

    assert read.release == made.release
    assert read.made.schema == made.made.schema
    assert read.made.options == made.made.options


def test_the_owner_compares_days_too():
    """Distances and means of days, as numbers of days."""
    from sfumato.synth.quality import owner_quality

    frame = pd.DataFrame(visits())
    table = sf.Dataset(frame, schema=sf.Schema(COLUMNS), name="v")
    made = Synthesizer().fit(table, budget=sf.Epsilon("30"))

    found = owner_quality(made, table)

    (day,) = [c for c in found.columns if c.name == "day"]
    assert day.distance < 0.2
    assert 18262 <= day.made_mean <= 19357
