"""Figures of two columns keep both of them in every form."""

import csv
import io
import json

import pandas as pd
import pytest

import sfumato as sf
from sfumato.cli.figures import figure_names
from sfumato.errors import DeclarationError
from sfumato.release import from_json
from sfumato.release.show import to_snippet, to_text

SCHEMA = sf.Schema({
    "Age": sf.Integer(0, 120, unit="years"),
    "Cost": sf.Real(0, 500, step=1, unit="EUR"),
    "Delta": sf.Real(-5, 5, step=1),
    "Sex": sf.Category(["F", "M"]),
})  # fmt: skip
FRAME = pd.DataFrame({
    "Age": [30, 60, 90] * 100, "Cost": [100, 200, 50] * 100, "Delta": [0.0, 1, 2] * 100,
    "Sex": ["F", "M", "M"] * 100,
})  # fmt: skip


def ask(*statistics):
    """Return a question of a session of its own."""
    data = sf.Dataset(FRAME, schema=SCHEMA, name="t")
    return sf.Session(data, budget=100).query().select(*statistics)


@pytest.fixture(scope="module")
def release():
    """One release of a table, a ratio and values near the ends."""
    return ask(
        sf.crosstab("Sex", "Age", other_edges=[0, 50, 120]),
        sf.ratio("Cost", "Age"),
        sf.near_minimum("Age"),
        sf.near_maximum("Age"),
    ).release(100)


def test_json_reads_back_and_only_pairs_have_the_fields_of_pairs(release):
    """A figure of one column is written as before."""
    assert from_json(release.to_json()) == release
    figures = json.loads(release.to_json())["figures"]
    assert figures[0]["other"] == "Age" and figures[0]["other_bin"] == [0, 50]
    assert "other" not in figures[-1] and "other_bin" not in figures[4]


def test_a_terminal_and_a_notebook_name_both_columns(release):
    """The last bin of each axis is closed; the ratio has a unit."""
    text = to_text(release, lang="en")

    assert "Table of Sex by Age" in text
    assert "Sex = F · Age [0, 50)" in text and "Sex = M · Age [50, 120]" in text
    assert "Sum of Cost over sum of Age" in text and "EUR/years" in text
    assert "Near-minimum of Age" in text and "Near-maximum of Age" in text
    assert "Sex = F · Age [0, 50)" in to_snippet(release, lang="en")


def test_a_spreadsheet_has_columns_for_the_second_axis(release):
    """Keys and edges of both axes, and none where there is no second column."""
    rows = list(csv.DictReader(io.StringIO(release.to_csv(), newline="")))

    assert (rows[0]["key"], rows[0]["other_bin_low"], rows[0]["other_bin_high"]) == (
        "F",
        "0",
        "50",
    )
    assert rows[4]["other_column"] == "Age" and rows[4]["other_bin_low"] == ""
    frame = release.to_pandas()
    assert frame["other_bin_low"].dtype == "float64"


def test_figures_are_named_before_they_exist():
    """The plan on the command line uses the same words."""
    assert figure_names(ask(sf.ratio("Cost", "Age")).plan(1).plan) == [
        "Sum of Cost over sum of Age"
    ]


def test_the_page_draws_tables(release, tmp_path):
    """Bars under a heading for each row of the table."""
    release.save(tmp_path / "r.html", lang="en")

    page = (tmp_path / "r.html").read_text()
    assert "Table of Sex by Age" in page and "Age [50, 120]" in page


def test_what_makes_no_sense_is_refused():
    """Before anything is spent, with a way out."""
    for wrong, words in (
        (sf.crosstab("Sex", "Sex"), "twice"),
        (sf.crosstab("Age", "Sex"), "needs public edges"),
        (sf.crosstab("Sex", "Age", edges=[0, 1]), "takes no edges"),
        (sf.ratio("Cost", "Sex"), "no sum"),
        (sf.ratio("Cost", "Delta"), "either sign"),
    ):
        with pytest.raises(DeclarationError, match=words):
            ask(wrong).plan(1)
