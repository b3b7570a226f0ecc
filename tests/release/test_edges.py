"""What names, keys and sizes at the edge of a format do to it."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.errors import ArgumentError
from sfumato.release import Figure, Measurement, Release, from_json
from sfumato.release import workbook as sheets
from sfumato.release.package import descriptor
from sfumato.release.show import to_text
from sfumato.release.tables import to_columns
from sfumato.release.wording import last_bins, number_words, range_words
from sfumato.report import to_html
from sfumato.words import speaker

SAY = speaker("en")
OURS = ["raw", "sampling_low", "other_bin_high", "other_key", "max_rows", "low"]


@pytest.mark.parametrize("name", OURS)
def test_a_key_named_as_a_column_of_ours_keeps_its_type(release, name) -> None:
    """Also where this table lacks that column: it would be read as a number."""
    figures = [replace(release.figures[0], group={name: key}) for key in ("a", "b")]
    told = replace(release, figures=tuple(figures))

    assert to_columns(told)[f"group.{name}"] == ["a", "b"]
    assert list(told.to_pandas()[f"group.{name}"]) == ["a", "b"]
    assert told.to_polars()[f"group.{name}"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    "form", ["parquet", "zip", "csv", "xlsx", "html", "md", "json"]
)
def test_half_a_character_stops_no_form(release, tmp_path: Path, form) -> None:
    """A lone surrogate and a noncharacter are spelled out where a format has none."""
    told = replace(
        release,
        title="\ud800",
        figures=(replace(release.figures[2], group={"\ud800\ufffe": "\udfff\uffff"}),),
    )

    told.save(tmp_path / f"r.{form}", lang="en")
    assert told.to_pandas()["title"][0] == told.to_polars()["title"][0] == "\\ud800"

    assert (tmp_path / f"r.{form}").stat().st_size


def test_a_key_with_a_noncharacter_is_drawn(release) -> None:
    """XML has no U+FFFE: a picture with such a label could not be read back."""
    figures = [
        replace(release.figures[2], group={"Ward": key}) for key in ("\ufffe", "b")
    ]

    page = to_html([replace(release, figures=tuple(figures))], lang="en")

    assert "Ward = \\ufffe" in page
    assert "\ufffe" not in page


def test_a_key_on_a_page_keeps_its_hyphen() -> None:
    """Only numbers get a typographic minus; a category is told as it was declared."""
    from sfumato.report.table import lines

    key = Figure("mode_s", "mode", "s", {}, 0, -3, 0, bin="non-smoker")
    bins = replace(key, bin=(-10.0, -5.0))

    assert [line.estimate for line in lines([key, bins], SAY)] == [
        "non-smoker",
        "[−10, −5)",
    ]


@pytest.mark.parametrize(
    ("low", "words"),
    [
        (-1, "at most 1 row fewer than the most frequent"),
        (-1.2, "at most 2 rows fewer than the most frequent"),
        (0, "at most 0 rows fewer than the most frequent"),
    ],
)
def test_the_shortfall_of_a_mode_is_rounded_outwards(release, low, words) -> None:
    """The figure of people may be a fraction; the bound that is told still holds."""
    one = Figure("mode_s", "mode", "s", {}, 0, low, 0, bin="a")
    noisy = replace(one, noise=release.figures[0].noise)

    assert range_words(noisy, SAY) == words


@pytest.mark.parametrize("size", [1e15, 1e-11])
def test_ends_are_rounded_outwards_in_short_too(size) -> None:
    """Six digits of a very large or small number hold no less than the exact interval."""
    low, high = 1.2345678 * size, 1.2345712 * size
    told = number_words(Figure("s", "sum", "x", {}, 1.23457 * size, low, high))

    assert float(told[1]) <= low < high <= float(told[2])


def test_the_last_bin_is_that_of_the_release() -> None:
    """Of figures that a page shows in part, the last one shown is not closed."""
    figures = [
        Figure("h", "histogram", "x", {}, 1, 0, 2, bin=(float(i), i + 1.0))
        for i in range(3)
    ]

    assert [a for a, _ in last_bins(figures[:2], figures)] == [False, False]
    assert [a for a, _ in last_bins(figures)] == [False, False, True]


def test_excel_is_not_given_more_rows_than_it_reads(
    release: Release, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file that Excel cannot open is refused, and nothing is written."""
    monkeypatch.setattr(sheets, "_MOST_ROWS", 4)
    noise = release.figures[0].noise[0]
    few = replace(release, figures=release.figures[:3])
    many = replace(few, measurements=(Measurement("m", 1, noise, (1, 2, 3, 4)),))

    few.save(tmp_path / "few.xlsx")
    with pytest.raises(ArgumentError, match=r"a sheet of Excel holds 4 rows"):
        many.save(tmp_path / "many.xlsx")

    assert not (tmp_path / "many.xlsx").exists()


def test_a_package_is_one_language(release, tmp_path: Path) -> None:
    """Titles of columns are said in the language of the description."""
    release.save(tmp_path / "r.zip", lang="zh")
    held = zipfile.ZipFile(io.BytesIO((tmp_path / "r.zip").read_bytes()))

    about = json.loads(held.read("datapackage.json"))

    assert about == json.loads(json.dumps(descriptor([release], lang="zh")))
    english = {f.get("title") for f in descriptor([release], lang="en")["resources"][0]["schema"]["fields"]}  # fmt: skip
    assert "Estimate with noise" in english


def test_text_shows_what_is_no_character(release) -> None:
    """On a terminal too."""
    assert "\\uffff" in to_text(replace(release, title="\uffff"), lang="en")


@pytest.mark.parametrize(
    ("place", "field", "value", "fact"),
    [
        ("figures", "estimate", 10**400, r"estimate must be a finite number"),
        ("figures", "interval", [0, 10**400], r"interval\[1\] must be a finite number"),
        ("figures", "dots", [1, 2, 3], "dots must be twenty numbers in order"),
        (
            "figures",
            "dots",
            [*range(19, -1, -1)],
            "dots must be twenty numbers in order",
        ),
        ("measurements", "sensitivity", 10**400, "sensitivity must be a finite number"),
    ],
)
def test_a_file_with_numbers_that_no_page_can_hold_is_refused(
    release: Release, place, field, value, fact
) -> None:
    """When it is read, not when it is drawn."""
    document = release.to_dict()
    document[place][0][field] = value

    with pytest.raises(ArgumentError, match=fact):
        from_json(json.dumps(document))


def test_a_file_with_a_scale_that_no_float_holds_is_refused(release: Release) -> None:
    """It is the text of a number, but no page can compute with it."""
    document = release.to_dict()
    document["figures"][0]["noise"][0]["scale"] = "1e400"

    with pytest.raises(ArgumentError, match="scale must be the text of a number"):
        from_json(json.dumps(document))


def test_one_is_not_told_as_many(release: Release) -> None:
    """A single figure beyond those that have room is one figure, in text and on pages."""
    one = replace(release.figures[0], kind="count")
    many = tuple(replace(one, group={"Ward": i}) for i in range(201))

    assert "… and 1 more figure\n" in to_text(replace(release, figures=many), lang="en")
    page = to_html([replace(release, figures=many[:61])], lang="en")
    assert "1 more figure of this kind is in the table" in page
    page = to_html([replace(release, figures=(one,))], lang="en")
    assert "one figure with an error bar, 768 (Number of rows)" in page


def test_no_figure_leaves_no_hole(release: Release) -> None:
    """Where no key is shown, the text has no empty table in it."""
    assert "\n\n\n" not in to_text(replace(release, figures=()), lang="en")
