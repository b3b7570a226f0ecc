"""Markdown, Excel, Parquet and data packages hold every figure, and nothing that runs."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import openpyxl
import pyarrow.parquet
import pytest
from frictionless import Package, system
from markdown_it import MarkdownIt

import sfumato as sf
from sfumato.release import Figure, Release
from sfumato.release.markdown import to_markdown
from sfumato.release.package import to_package
from sfumato.release.parquet import to_parquet
from sfumato.release.workbook import to_workbook

HOSTILE = [
    "=1+1",
    "<b>|bold|</b>",
    "a|b\n# c",
    "\x00\x1b[2J",
    "年龄",
    "*_`[x](y)",
    "$\\alpha$",
]


@pytest.fixture
def hostile(release: Release) -> Release:
    """A release whose keys, units and title hold what other programs act on."""
    figures = tuple(
        Figure("count", "count", None, {text: text}, i, i - 1, i + 1, unit=text)
        for i, text in enumerate(HOSTILE)
    )
    return replace(release, figures=figures, title=HOSTILE[1])


@pytest.mark.parametrize("ending", ["md", "xlsx", "parquet", "zip"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_save_by_ending(release, seeded, tmp_path: Path, ending, lang) -> None:
    """Each ending writes one whole file, for private and unprivate releases."""
    for one in (release, seeded):
        one.save(tmp_path / f"release.{ending}", lang=lang)

    assert [p.name for p in tmp_path.iterdir()] == [f"release.{ending}"]


def test_parquet_reads_back(release) -> None:
    """Every column of the CSV form is there with its type; claims are in the metadata."""
    table = pyarrow.parquet.read_table(io.BytesIO(to_parquet([release, release])))

    frame = release.to_pandas()
    assert table.column_names == list(frame.columns)
    assert table["estimate"].to_pylist() == [f.estimate for f in release.figures] * 2
    assert str(table.schema.field("Outcome").type) == "int64"
    claims = json.loads(table.schema.metadata[b"sfumato.claims"])
    assert [c["receipt"]["sequence"] for c in claims] == [3, 3]


def test_excel_runs_nothing(hostile) -> None:
    """Every text is a text, whatever it starts with; all three sheets are there."""
    book = openpyxl.load_workbook(io.BytesIO(to_workbook([hostile])))

    assert book.sheetnames == ["figures", "claims", "measurements"]
    cells = [c for sheet in book for row in sheet.iter_rows() for c in row]
    assert "=1+1" in [c.value for c in cells]
    assert not [c for c in cells if c.data_type == "f"]


def test_excel_keeps_numbers(release) -> None:
    """Estimates are numbers, raw values are all there, a huge one stays exact."""
    raw = replace(release.measurements[0], values=(2**60 + 1, -3))
    release = replace(release, measurements=(raw,))

    book = openpyxl.load_workbook(io.BytesIO(to_workbook([release])))

    rows = list(book["figures"].iter_rows(values_only=True))
    place = rows[0].index("estimate")
    assert [r[place] for r in rows[1:]] == [f.estimate for f in release.figures]
    values = [r[-1] for r in book["measurements"].iter_rows(values_only=True)][1:]
    assert values == [str(2**60 + 1), -3]


def test_markdown_shows_names_as_they_are(hostile) -> None:
    """No key can open a tag, a link, a heading or another column."""
    parser = MarkdownIt("commonmark").enable("table")
    html = parser.render(to_markdown([hostile], lang="en"))

    assert html.count("<tr>") == len(HOSTILE) + 1
    assert html.count("<h") == html.count("<h2>") == 1
    assert "<b>" not in html and "<a" not in html and "<em>" not in html
    assert html.count("<td") == 5 * len(HOSTILE)


def test_markdown_says_the_terms_in_both_languages(release, seeded) -> None:
    """The promise stands below the table; a seeded release is marked."""
    english, chinese = (to_markdown([release], lang=lang) for lang in ("en", "zh"))

    assert "ε" in english and "ε" in chinese
    assert "估计" in chinese and "estimate" in english
    assert "NOT PRIVATE" in to_markdown([seeded], lang="en")


def test_a_data_package_is_valid(release, hostile, tmp_path: Path) -> None:
    """The reference implementation of the standard finds no fault in it."""
    for i, one in enumerate((release, hostile)):
        folder = tmp_path / str(i)
        with zipfile.ZipFile(io.BytesIO(to_package([one], lang="en"))) as archive:
            archive.extractall(folder)
        with system.use_context(trusted=True):
            report = Package(folder / "datapackage.json").validate()
        assert report.valid, report.flatten()
        about = json.loads((folder / "datapackage.json").read_text())
        assert about["sfumato:claims"][0]["receipt"]["head"]
    assert to_package([release], lang="en") == to_package([release], lang="en")


@pytest.mark.parametrize(
    ("make", "library"),
    [(to_workbook, "openpyxl"), (to_parquet, "pyarrow")],
)
def test_a_missing_library_is_named(release, monkeypatch, make, library) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(sf.MissingExtraError, match=library):
        make([release])
