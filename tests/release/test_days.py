"""Bins of days are told as dates, not as numbers of days."""

import re

import sfumato as sf
from sfumato.release.formats import from_json

EDGES = ["2024-01-01", "2024-07-01", "2024-12-31"]
DAYS = [{"seen": "2024-03-01"}] * 40 + [{"seen": "2024-09-01"}] * 90


def release():
    """Return a histogram and a mode of days."""
    schema = sf.Schema({"seen": sf.Date("2024-01-01", "2024-12-31")})
    session = sf.Session(sf.Dataset(DAYS, schema=schema, name="t"), budget="100")
    ask = session.query().select(sf.histogram("seen", EDGES), sf.mode("seen", EDGES))
    return ask.release(epsilon="90")


def test_the_bins_of_days_are_dates_in_every_form_for_readers(tmp_path):
    """They were [19723, 19905)."""
    made = release()
    first, last = "[2024-01-01, 2024-07-01)", "[2024-07-01, 2024-12-31]"
    assert re.search(rf"{re.escape(first)} +40 ", str(made))
    assert re.search(rf"{re.escape(last)} +90 ", str(made))
    most = str(made).split("Most frequent seen")[-1]
    assert most.lstrip().startswith("[2024-07-01, 2024-12-31)")
    for lang in ("en", "zh"):
        made.save(tmp_path / f"{lang}.html", lang=lang)
        page = (tmp_path / f"{lang}.html").read_text(encoding="utf-8")
        assert first in page
        assert "[19723" not in page
        assert "2024−" not in page  # no minus sign within a day


def test_the_numbers_stay_beside_their_unit():
    """A program reads the ends of the bins as before, and now what they count."""
    rows = [f for f in release().figures if f.kind == "histogram"]
    assert [f.bin for f in rows] == [(19723.0, 19905.0), (19905.0, 20088.0)]
    assert {f.unit for f in rows} == {"days since 1970-01-01"}
    read = from_json(release().to_json())
    assert "[2024-01-01, 2024-07-01)" in str(read)
