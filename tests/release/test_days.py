"""Bins of days are told as dates, not as numbers of days."""

import re

import sfumato as sf
from sfumato.cli.figures import figure_units
from sfumato.release.formats import from_json

EDGES = ["2024-01-01", "2024-07-01", "2024-12-31"]
DAYS = [
    {"seen": day, "seen_too": day, "old": True}
    for day in ["2024-03-01"] * 40 + ["2024-09-01"] * 90
]


def release():
    """Return a histogram, a mode and a table of days."""
    days = sf.Date("2024-01-01", "2024-12-31")
    schema = sf.Schema({"seen": days, "seen_too": days, "old": sf.Boolean()})
    session = sf.Session(sf.Dataset(DAYS, schema=schema, name="t"), budget="1000")
    ask = session.query().select(
        sf.histogram("seen", EDGES),
        sf.mode("seen", EDGES),
        sf.crosstab("seen", "seen_too", edges=EDGES, other_edges=EDGES),
        sf.crosstab("old", "seen", other_edges=EDGES),
    )
    return ask.release(epsilon="900")


def test_the_bins_of_days_are_dates_in_every_form_for_readers(tmp_path):
    """They were [19723, 19905)."""
    made = release()
    first, last = "[2024-01-01, 2024-07-01)", "[2024-07-01, 2024-12-31]"
    assert re.search(rf"{re.escape(first)} +40 ", str(made))
    assert re.search(rf"{re.escape(last)} +90 ", str(made))
    most = str(made).split("Most frequent seen")[-1]
    assert most.lstrip().startswith(last)
    assert f"seen {first} · seen_too {last}" in str(made)
    assert re.search(rf"old = true · seen {re.escape(last)} +90 ", str(made))
    for lang in ("en", "zh"):
        made.save(tmp_path / f"{lang}.html", lang=lang)
        page = (tmp_path / f"{lang}.html").read_text(encoding="utf-8")
        assert first in page
        assert not re.search(r"\[19\d\d\d[,)]", page)
        assert "2024-12-31)" not in page  # also where a picture is described
        assert "2024−" not in page  # no minus sign within a day


def test_the_numbers_stay_beside_their_unit():
    """A program reads the ends of the bins as before, and now what they count."""
    made = release()
    rows = [f for f in made.figures if f.kind == "histogram"]
    assert [f.bin for f in rows] == [(19723.0, 19905.0), (19905.0, 20088.0)]
    assert {f.unit for f in rows} == {"days since 1970-01-01"}
    assert {f.other_unit for f in made.figures if f.other} == {"days since 1970-01-01"}
    assert from_json(made.to_json()) == made
    assert made.to_pandas()["other_unit"].to_list()[:3] == ["", "", ""]


def test_only_the_last_bin_of_a_mode_is_closed():
    """Its right end belongs to the bin, as in a histogram, and to no other bin."""
    rows = [{"x": x, "y": x} for x in [1] * 9 + [8] * 90]
    schema = sf.Schema({"x": sf.Integer(0, 9), "y": sf.Integer(0, 9)})
    session = sf.Session(sf.Dataset(rows, schema=schema, name="t"), budget="1000")
    ask = session.query().select(sf.mode("x", [0, 5, 9]), sf.mode("y", [0, 8, 9, 10]))
    told = str(ask.release(epsilon="900"))
    assert "[5, 9]" in told
    assert "[8, 9)" in told


def test_the_error_of_a_day_is_in_days():
    """Not in days since 1970: it is a distance of two days."""
    days = sf.Date("2024-01-01", "2024-12-31")
    data = sf.Dataset(DAYS, schema=sf.Schema({"seen": days}), name="t")
    ask = sf.Session(data, budget="1").query().select(sf.median("seen"))
    assert figure_units(ask.plan("1").plan) == ["days"]
