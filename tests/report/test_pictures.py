"""Pictures: honest scales, the right kind for the figures, no font needed."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.release import Figure, Noise, Release
from sfumato.report import plot
from sfumato.report.canvas import ems, fit, to_svg
from sfumato.report.canvas import settings as drawing
from sfumato.report.cost import budget, deviation, risk
from sfumato.report.frame import Sheet, ticks
from sfumato.report.histogram import is_even
from sfumato.report.pictures import Picture, pictures
from sfumato.words import speaker

SAY = speaker("en")


def drawn(release: Release) -> dict[str, Picture]:
    pairs = [(figure, None) for figure in release]
    return {p.title: p for p in pictures(pairs, release.confidence, SAY)}


def svg(picture: Picture) -> str:
    with drawing():
        sheet = Sheet()
        picture.draw(sheet)
        return to_svg(sheet.close(), label="x")


def axes(picture: Picture) -> list:  # type: ignore[type-arg]
    with drawing():
        sheet = Sheet()
        picture.draw(sheet)
        return list(sheet.close().axes)


def test_kinds(release: Release) -> None:
    """Singles share strips; each statistic by group and each histogram has its own."""
    found = drawn(release)

    assert {title: p.draw.func.__name__ for title, p in found.items()} == {  # type: ignore[attr-defined]
        "Single figures, each on a scale from zero": "strips",
        "Mean of Age by Outcome": "dots",
        "Sum of BMI by Outcome": "bars",
        "by_bin by Outcome": "histogram",
        "visits by Ward × Sex": "bars",
        "Histogram of Age": "histogram",
        "uneven": "bars",
        "Histogram of Sex": "bars",
    }
    assert sum(len(p.pairs) for p in found.values()) == len(release)


def test_bars_start_at_zero(release: Release) -> None:
    """The scale of bars and columns holds zero, and every bar touches it."""
    for title in ("Sum of BMI by Outcome", "visits by Ward × Sex", "Histogram of Age"):
        for pane in axes(drawn(release)[title]):
            across = "Histogram" not in title
            limits = pane.get_xlim() if across else pane.get_ylim()
            for bar in pane.patches:
                start = bar.get_x() if across else bar.get_y()
                assert start == 0
                assert limits[0] <= 0 <= limits[1]


def test_every_interval_is_drawn(release: Release) -> None:
    """Each figure has a line from low to high in its picture."""
    picture = drawn(release)["Histogram of Age"]

    lines = [
        tuple(line.get_ydata()[:2]) for pane in axes(picture) for line in pane.lines
    ]

    for figure, _ in picture.pairs:
        assert (figure.low, figure.high) in lines


def test_bins_are_in_order_and_on_their_edges(release: Release) -> None:
    """A column stands where its bin is."""
    picture = drawn(release)["Histogram of Age"]

    bars = [bar for pane in axes(picture) for bar in pane.patches]

    assert [(b.get_x(), b.get_x() + b.get_width()) for b in bars] == [
        figure.bin for figure, _ in picture.pairs
    ]


def test_svg_is_plain(release: Release) -> None:
    """Real text, colours as variables, no font, no address, no fixed size."""
    for picture in drawn(release).values():
        text = svg(picture)
        assert "<text" in text
        assert not re.search(
            r"http|font-family|DejaVu|xmlns|<use|<defs|<image| id=", text
        )
        assert not re.search(r"#[0-9a-f]{6}", text)
        assert not re.search(r"<svg[^>]* width=", text)


def test_drawing_needs_no_library_at_import() -> None:
    """Importing the package loads neither matplotlib nor Jinja2."""
    code = (
        "import sys, sfumato.report, sfumato.release;"
        "assert not {'matplotlib', 'jinja2', 'numpy', 'pandas'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_labels_stay_inside(release: Release) -> None:
    """Left labels start inside the picture, however long and in either script."""
    names = ("非常非常长的统计量名称，用来检查左边距是否足够", "w" * 90)
    figures = tuple(replace(release.figures[0], name=name) for name in names)

    text = svg(*drawn(replace(release, figures=figures)).values())

    starts = [
        float(x)
        for x in re.findall(
            r'<text x="([-\d.]+)" y="[^"]*" style="(?![^"]*anchor)', text
        )
    ]
    assert starts
    assert min(starts) >= 0
    assert "…" in text


@settings(deadline=None)
@given(st.text(max_size=60), st.floats(2, 30))
def test_fit(text: str, most: float) -> None:
    """A shortened text is not wider than asked, and begins like the whole."""
    short = fit(text, most)

    assert ems(short) <= max(most, 1.0)
    assert text.startswith(short.removesuffix("…")) or short == text


numbers = st.floats(-1e12, 1e12) | st.sampled_from((0.0, 1e-9, -1e15, 3e300))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(numbers, numbers, numbers).map(sorted), min_size=1, max_size=4),
    st.sampled_from(("count", "mean")),
    st.booleans(),
)
def test_any_numbers_can_be_drawn(
    rows: list[list[float]], kind: str, grouped: bool
) -> None:
    """No release, however odd its numbers, fails to become a picture."""
    figures = tuple(
        Figure("x", kind, None, {"g": i} if grouped else {}, mid, low, high)  # type: ignore[arg-type]
        for i, (low, mid, high) in enumerate(rows)
    )
    bins = tuple(
        Figure("h", "histogram", "c", {}, mid, low, high, bin=(float(i), i + 1.0))
        for i, (low, mid, high) in enumerate(rows)
    )
    pairs = [(figure, None) for figure in figures + bins]

    for picture in pictures(pairs, 0.95, SAY):
        assert "nan" not in svg(picture)
        assert picture.alt(SAY)


def test_dots_are_shapes(release: Release) -> None:
    """A dot is a shape that every backend draws, round whatever the scales are."""
    pane = axes(drawn(release)["Mean of Age by Outcome"])[0]

    discs = [p for p in pane.patches + pane.artists if hasattr(p, "get_center")]
    assert [disc.get_center()[0] for disc in discs] == [31.5, 32.5]
    for disc in discs:
        box = pane.transData.transform([(0, 0), (disc.width, disc.height)])
        across, down = abs(box[1] - box[0])
        assert across == pytest.approx(down)


def test_panels_for_many_groups(release: Release) -> None:
    """Up to three groups share a histogram; more get small ones on one scale."""
    base = release.figures[-1]
    figures = tuple(
        replace(base, name="h", column="Age", group={"g": g}, bin=(float(i), i + 1.0))
        for g in range(5)
        for i in range(3)
    )

    panes = axes(drawn(replace(release, figures=figures))["h by g"])

    with_bars = [pane for pane in panes if pane.patches]
    assert len(with_bars) == 5
    assert len({pane.get_ylim() for pane in with_bars}) == 1


def test_plot(release: Release, seeded: Release) -> None:
    """`plot` returns one matplotlib figure that can be saved, and marks seeded ones."""
    figure = release.plot(lang="en")
    target = io.BytesIO()

    figure.savefig(target, format="svg", metadata={"Date": None})

    texts = [t.get_text() for pane in plot(seeded, lang="en").axes for t in pane.texts]
    assert target.getvalue().startswith(b"<?xml")
    assert any(t.startswith("NOT PRIVATE") for t in texts)
    assert any("neighbours: add or remove one row" in t for t in texts)


def test_dollars_are_not_mathematics(release: Release) -> None:
    """A category called like a broken formula is drawn as it is."""
    odd = replace(release.figures[0], name=r"$\frac{1}{$")

    figure = replace(release, title="$", figures=(odd,)).plot(lang="en")

    figure.savefig(io.BytesIO(), format="png")


def test_even_bins() -> None:
    """Decimal edges count as even in spite of binary rounding."""
    assert is_even([0.1 * i for i in range(8)])
    assert not is_even([0, 10, 50])


def test_ticks_are_round() -> None:
    """Ticks are round numbers inside the scale."""
    assert ticks(0, 768, 4) == [0, 200, 400, 600]


@pytest.mark.parametrize(
    ("epsilon", "of_100", "first"),
    [("0", 50, "1%"), ("0.5", 62, "1.64%"), ("5", 99, "60%"), ("1000", 100, "100%")],
)
def test_risk(epsilon: str, of_100: int, first: str) -> None:
    """Beliefs are bounds and rounded up."""
    found = risk(epsilon)

    assert found.of_100 == of_100
    assert found.beliefs[0][1] == first


def test_budget_parts(release: Release) -> None:
    """The parts of the bar add up exactly."""
    parts = budget(release.claim.receipt)

    assert (parts.before, parts.cost, parts.left) == ("0.3", "0.5", "1.2")
    assert (parts.before_share, parts.cost_share) == (15, 25)


def test_deviation() -> None:
    """The law's standard deviation, times the step; √2 · scale when that is large."""
    assert deviation(Noise("geometric", "2", 1.0, "0.5")) == "2.8"
    assert deviation(Noise("geometric", "1000000000", 0.5, "1")) == "707,106,781"
    assert deviation(Noise("geometric", "0", 1.0, "1")) == "0"
