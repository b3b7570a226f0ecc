"""Headline cards, both intervals in every picture, and what releases of a page share."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sfumato.release import Figure, Person, Release
from sfumato.release.markdown import to_markdown
from sfumato.report import to_html
from sfumato.report.closing import closings
from sfumato.report.frame import Sheet
from sfumato.report.pictures import pictures
from sfumato.report.view import view
from sfumato.words import speaker

SAY = speaker("en")
DOTS = tuple(118.0 + 0.4 * i for i in range(20))


@pytest.fixture
def sampled(release: Release) -> Release:
    """The release, each figure with an interval of noise and sampling, means with dots."""
    figures = tuple(
        replace(
            figure,
            sampling=(figure.low - 7.0, figure.high + 7.0),
            dots=DOTS if figure.kind == "mean" else (),
        )
        for figure in release.figures
    )
    return replace(release, figures=figures)


def test_both_intervals_are_drawn_and_told(sampled: Release) -> None:
    """Every picture has a line for each of both; the tables have both in words."""
    pairs = [(figure, None) for figure in sampled.figures]

    for picture in pictures(pairs, 0.95, SAY):
        sheet = Sheet()
        picture.draw(sheet)
        panes = sheet.close().axes
        drawn = {
            tuple(data)
            for pane in panes
            for line in pane.lines
            for data in (line.get_xdata()[:2], line.get_ydata()[:2])
        }
        texts = {text.get_text() for pane in panes for text in pane.texts}
        assert {"noise only", "noise and sampling"} <= texts
        if "scale from zero" in picture.title:
            continue  # in shares of each scale
        for figure, _ in picture.pairs:
            assert figure.sampling in drawn
            assert (figure.low, figure.high) in drawn

    page = to_html([sampled], lang="en")
    for words in ("95% interval, noise and sampling", "118.7 to 125.2", "111 to 133"):
        assert words in page


def test_one_interval_where_none_is_known(release: Release) -> None:
    """Without the second interval nothing speaks of it."""
    page = to_html([release], lang="en")

    assert "noise and sampling" not in page
    assert "larger population" not in page


def test_twenty_dots(sampled: Release) -> None:
    """A card has twenty dots, in stacks that do not overlap, and says where half lie."""
    page = to_html([sampled], lang="en")

    (plot,) = re.findall(r'<svg class="dotplot".*?</svg>', page)
    places = re.findall(r"M([\d.]+) ([\d.]+)h0", plot)
    assert len(places) == len(set(places)) == 20
    assert all(0 < float(x) < 200 and 0 < float(y) < 56 for x, y in places)
    assert "half of them 120.0 to 123.6" in plot


def test_dots_of_a_figure_that_is_nearly_sure(sampled: Release) -> None:
    """Equal dots stand in one stack that fits; a figure that is sure has none."""
    figure = sampled.figures[1]
    near = replace(figure, dots=(120.0, *(121.0,) * 18, 122.0))
    sure = replace(figure, name="sure", dots=(121.0,) * 20)

    page = to_html([replace(sampled, figures=(near, sure))], lang="en")

    (plot,) = re.findall(r'<svg class="dotplot".*?</svg>', page)
    heights = [float(y) for _, y in re.findall(r"M([\d.]+) ([\d.]+)h0", plot)]
    assert min(heights) > 0
    assert len(heights) == 20


def test_asked_in_words(release: Release) -> None:
    """Statistics, groups and filters stand in words, above and below."""
    question = "mean_Age, sum_BMI by Outcome where Age == 3"
    asked = replace(release, question=question, figures=release.figures[2:4])
    page = to_html([asked], lang="en")

    words = "Mean of Age, Sum of BMI, for each Outcome; where Age == 3"
    assert page.count(words) == 2
    assert " by Outcome where" not in page


def test_releases_share_odds_and_budget(release: Release) -> None:
    """Two releases of one budget: odds of both together, a part of the bar for each."""
    paid = release.claim.receipt
    later = replace(
        release,
        title="Second",
        claim=replace(
            release.claim,
            loss="0.2",
            epsilon="0.2",
            receipt=replace(paid, sequence=4, cost="0.2", spent="1"),
        ),
    )
    both = [release, later]

    (shared,) = closings(both, [view(r, SAY) for r in both], SAY)
    page = to_html(both, lang="en")

    assert shared.risks.this.loss == "0.7"
    assert [s.cost for s in shared.slices] == ["ε = 0.5", "ε = 0.2"]
    assert [(s.start, s.share) for s in shared.slices] == [(15, 25), (40, 10)]
    assert (shared.budget.before, shared.budget.left) == ("ε = 0.3", "ε = 1")
    assert page.count("What this means for one person</h2>") == 1
    assert "Second: ε = 0.2" in page


def test_other_terms_are_told_apart(release: Release) -> None:
    """Releases of another unit or budget have their own odds and bar."""
    other = replace(
        release, claim=replace(release.claim, neighbours="replace_one", size=768)
    )

    page = to_html([release, other], lang="en")

    assert page.count("What this means for one person</h2>") == 2


def test_the_project_file_is_printed(release: Release) -> None:
    """Whoever reads the page can ask again; the file is text and does not run."""
    text = 'title = "<script>alert(1)</script>"\n[budget]\nepsilon = "0.5"\n'

    page = to_html([release], lang="en", project=text)

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "epsilon = &#34;0.5&#34;" in page
    assert "To do it again" not in to_html([release], lang="en")


def test_a_page_of_1600_figures(release: Release) -> None:
    """A release of many groups is a page that still opens: made in time, below 2 MB."""
    import time

    many = tuple(
        Figure(
            f"s{i % 4}", "count", None, {"Ward": i // 4}, i, i - 9.0, i + 9.0,
            release.figures[0].noise, sampling=(i - 20.0, i + 20.0),
        )
        for i in range(1600)
    )  # fmt: skip

    begun = time.process_time()
    page = to_html([replace(release, figures=many)], lang="en")
    took = time.process_time() - begun

    assert len(page.encode()) < 2_000_000
    assert took < 5


def test_a_release_twice_on_a_page_does_not_hide_the_others(release: Release) -> None:
    """It is paid once, and what stands beside it is paid as well."""
    paid = release.claim.receipt
    receipt = replace(paid, sequence=4, cost="0.2", spent="1")
    claim = replace(release.claim, loss="0.2", epsilon="0.2", receipt=receipt)
    pages = [release, release, replace(release, claim=claim)]

    (shared,) = closings(pages, [view(r, SAY) for r in pages], SAY)

    assert shared.risks.this.loss == "0.7"
    assert [s.cost for s in shared.slices] == ["ε = 0.5", "ε = 0.2"]


def test_two_ledgers_that_number_alike_are_added(release: Release) -> None:
    """Debit 3 of one file and debit 3 of another are two losses of the same rows."""
    receipt = replace(release.claim.receipt, cost="0.6", spent="0.6", head="f0" * 32)
    other = replace(release.claim, loss="0.6", epsilon="0.6", receipt=receipt)
    pages = [release, replace(release, claim=other)]

    (shared,) = closings(pages, [view(r, SAY) for r in pages], SAY)

    assert shared.risks.this.loss == shared.risks.total.loss == "1.1"
    assert [s.cost for s in shared.slices] == ["ε = 0.5", "ε = 0.6"]


@pytest.mark.parametrize(
    ("neighbours", "size", "words"),
    [
        ("add_remove", None, "one has all rows of one person more than the other"),
        ("replace_one", 50, "differ in the rows of one person"),
    ],
)
def test_a_page_about_persons_speaks_of_persons(
    release: Release, neighbours: str, size: int | None, words: str
) -> None:
    """Nothing on it says that rows are what is protected, nor counts a person's rows."""
    terms = {"unit": "person", "bounds": Person("id", 3, 2)}
    claim = replace(release.claim, neighbours=neighbours, size=size, **terms)

    page = to_html([replace(release, claim=claim)], lang="en")

    assert words in page
    assert "all rows of everybody else" in page
    assert "for one person with all rows together" in page
    for wrong in (
        "one row per person",
        "every other row",
        "one row more",
        "person's row;",
    ):
        assert wrong not in page


def test_a_part_of_a_histogram_is_not_closed(release: Release) -> None:
    """Headline and pictures show some bins only: the last one shown stays half-open."""
    figures = tuple(
        Figure("h", "histogram", "x", {}, i, i - 1.0, i + 1.0, bin=(float(i), i + 1.0))
        for i in range(80)
    )

    page = view(replace(release, figures=figures), SAY, headline=["h"])

    assert page.cards[-1].line.place == "[23, 24)"
    assert page.blocks[0].lines[-1].place == "[79, 80]"


def test_what_of_a_person_does_not_count_is_said(release: Release) -> None:
    """An interval that leaves out the table's own count must not be taken for its."""
    terms = {"unit": "person", "bounds": Person("id", 3, 2)}
    person = replace(release, claim=replace(release.claim, **terms))
    words = "rows count only up to 3 in a group, her groups only up to 2: counts"

    assert to_html([person], lang="en").count(words) == 2  # the cards, counts and sums
    assert words in str(person)
    assert words in to_markdown([person], lang="en")
    assert "count only up to" not in to_html([release], lang="en") + str(release)
