"""The owner's page: both values side by side, and a warning on every page."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from sfumato.release import OwnerComparison, Release, compare
from sfumato.report import owner_html, owner_plot
from sfumato.report.canvas import settings
from sfumato.report.frame import Sheet
from sfumato.report.owner import owner_pictures
from sfumato.words import speaker


@pytest.fixture
def comparison(release: Release) -> OwnerComparison:
    """Truths near the estimates, one far off, one zero."""
    truths = [f.estimate + 2 for f in release]
    truths[0], truths[1] = 70_001, 0.0
    return compare(release, truths)


@pytest.mark.parametrize(
    ("lang", "mark"),
    [
        ("en", "FOR THE OWNER&#39;S EYES, NEVER FOR PUBLICATION"),
        ("zh", "仅供数据所有者查看，严禁公开"),
    ],
)
def test_marked(comparison: OwnerComparison, lang: str, mark: str) -> None:
    """The mark is in the title, on a band that sticks and prints on each page."""
    text = owner_html([comparison], lang=lang)

    assert f"<title>{mark}" in text
    assert f'class="band"><p role="alert">{mark}' in text
    assert re.search(r"\.band\{position:sticky;top:0", text)
    assert re.search(
        r"@media print\{.*\.band\{display:table-header-group", text, re.DOTALL
    )


def test_side_by_side(comparison: OwnerComparison) -> None:
    """True value, released value, error, relative error and coverage per figure."""
    text = owner_html([comparison], lang="en")

    row = next(r for r in re.findall(r"<tr.*?</tr>", text, re.DOTALL) if "70,001" in r)
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
    assert cells == [
        "Number of rows", "70,001", "768", "756 to 780", "−69,233", "98.9%", "no",
    ]  # fmt: skip
    covered = comparison.covered
    assert f"{covered} of {len(comparison.rows)} intervals contain" in text
    assert "protected unit: one row; neighbours: add or remove one row" in text


def test_histograms_are_overlaid(comparison: OwnerComparison) -> None:
    """The true histogram is a stepped line over the released columns."""
    picture = next(
        p
        for p in owner_pictures(comparison, speaker("en"))
        if p.title == "Histogram of Age"
    )
    with settings():
        sheet = Sheet()
        picture.draw(sheet)
        panes = sheet.close().axes

    outline = max(
        (x for pane in panes for x in pane.lines), key=lambda x: len(x.get_xdata())
    )
    truths = [truth for _, truth in picture.pairs]
    assert list(outline.get_ydata()) == [t for truth in truths for t in (truth, truth)]


def test_relative_errors_are_drawn(comparison: OwnerComparison) -> None:
    """The picture of relative errors leaves out figures whose true value is zero."""
    *_, errors = owner_pictures(comparison, speaker("en"))

    assert errors.title == "Relative error: released against true"
    assert len(errors.pairs) + errors.left_out == len(comparison.rows) - 1


def test_plot_is_marked(comparison: OwnerComparison) -> None:
    """The matplotlib figure carries the mark too."""
    texts = [
        t.get_text() for p in owner_plot(comparison, lang="en").axes for t in p.texts
    ]

    assert "FOR THE OWNER'S EYES, NEVER FOR PUBLICATION" in texts
    assert comparison.plot(lang="en").axes


def test_file_is_the_owners(comparison: OwnerComparison, tmp_path: Path) -> None:
    """Only its owner may read the saved page."""
    comparison.save(tmp_path / "owner.html", lang="zh")

    mode = (tmp_path / "owner.html").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
