"""Matrices and modes keep what they say in every form."""

import csv
import io
import json
from dataclasses import replace

import pandas as pd
import pytest

import sfumato as sf
from sfumato.release import Figure, from_json
from sfumato.release.show import to_text
from sfumato.release.wording import name_words, number_words, place_words, range_words
from sfumato.words import speaker

SAY = speaker("en")
SCHEMA = sf.Schema({
    "x": sf.Real(0, 10, step=1, unit="EUR"), "y": sf.Real(0, 10, step=1, unit="d"),
    "z": sf.Real(0, 10, step=1), "g": sf.Category(["F", "M"]),
})  # fmt: skip
FRAME = pd.DataFrame({
    "x": [1.0, 4, 9] * 50, "y": [2.0, 4, 7] * 50, "z": [3.0, 1, 2] * 50, "g": ["F", "M", "M"] * 50,
})  # fmt: skip


@pytest.fixture(scope="module")
def release():
    """A release of matrices and modes, with enough noise to adjust some of them."""
    data = sf.Dataset(FRAME, schema=SCHEMA, name="t")
    session = sf.Session(data, budget=100)
    ask = session.query().select(
        sf.covariance("x", "y", "z"),
        sf.correlation("x", "y", "z"),
        sf.covariance("x", "y"),
        sf.mode("g"),
        sf.mode("x", [0, 5, 10]),
    )
    return ask.release(2)


def test_entries_are_named_by_their_columns(release):
    """The matrix once, its entries by pair; a pair alone by both columns."""
    text = to_text(release, lang="en")

    assert "Covariance matrix" in text and "x × x" in text and "y × z" in text
    assert "Correlation matrix" in text and "Covariance of x and y" in text
    assert "EUR²" in text and "EUR · d" in text
    assert [f.bin is None for f in release] == [True] * 10 + [False] * 2


def test_a_raw_entry_is_kept_where_a_matrix_was_adjusted(release):
    """In JSON, as a column of the table, and read back; absent where nothing changed."""
    first = replace(release.figures[0], raw=12.5)
    other = replace(release, figures=(first, *release.figures[1:]))

    assert json.loads(other.to_json())["figures"][0]["raw"] == 12.5
    assert from_json(other.to_json()) == other
    rows = list(csv.DictReader(io.StringIO(other.to_csv(), newline="")))
    assert rows[0]["raw"] == "12.5" and rows[-1]["raw"] == ""
    assert "raw" not in json.loads(release.to_json())["figures"][-1]


def test_a_mode_is_told_as_its_bin():
    """The key stands where a number would; the interval says what it may lack."""
    mode = Figure("mode_g", "mode", "g", {"k": 1}, 0.0, -3.0, 0.0, bin="F")

    assert name_words(mode, SAY) == "Most frequent g"
    assert number_words(mode)[0] == "F"
    assert place_words(mode) == "k = 1"
    assert range_words(mode, SAY) == "at most 3 rows fewer than the most frequent"


def test_the_page_shows_matrices_and_modes(release, tmp_path):
    """Entries as strips, modes as headlines; and it says how many cards had no room."""
    release.save(tmp_path / "r.html", lang="en")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")

    assert "Covariance matrix" in page and "Most frequent g" in page
    assert "8 of 12 such figures stand here" in page
    assert "choice by permute-and-flip" in page


def test_the_headline_can_be_chosen(release):
    """Named figures stand first, and nothing is said to be left out."""
    from sfumato.report import to_html

    page = to_html([release], lang="en", headline=["mode_g"])
    cards = page.split('<ul class="cards">')[1].split("</ul>")[0]

    assert "Most frequent g" in cards and "Covariance" not in cards
    assert "such figures stand here" not in page


@pytest.mark.parametrize("form", ["md", "xlsx", "parquet", "zip", "csv", "json"])
def test_every_form_can_be_written(release, tmp_path, form):
    """No form trips over a kind that it does not know."""
    release.save(tmp_path / f"r.{form}", lang="zh")

    assert (tmp_path / f"r.{form}").stat().st_size > 100
