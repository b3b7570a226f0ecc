"""Pictures: honest scales, the right kind for the figures, no font needed."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace
from math import ceil, exp, fsum, sqrt
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP, epsilon_at, odds
from sfumato.account.meaning import upper_percent
from sfumato.amount import exact
from sfumato.release import Figure, Noise, Release
from sfumato.report import plot
from sfumato.report.canvas import ems, fit, to_svg, wrap
from sfumato.report.canvas import settings as drawing
from sfumato.report.cost import budget, risks
from sfumato.report.frame import Sheet, ticks
from sfumato.report.histogram import is_even
from sfumato.report.noise import deviation, scale_words
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
    names = ("非常非常长的统计量名称，用来检查左边距是否足够", "w" * 900)
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


def test_long_labels_can_be_read(release: Release) -> None:
    """Names, groups and legends stand whole, in lines below one another."""
    name = "感染性疾病与发热门诊综合病区东院三层的住院人数"
    group = {"ward": "a ward whose name is longer than a line of labels"}
    single = replace(release.figures[0], name=name)
    several = [
        replace(release.figures[2], name="m", group=group | {"g": i}) for i in range(2)
    ]
    bins = [
        replace(f, name="h", column="Age", group={"g": name[i:]}, bin=(0.0, 9.0))
        for i, f in enumerate(several)
    ]

    drawings = drawn(replace(release, figures=(single, *several, *bins)))
    texts = re.findall(">([^<]+)</text>", "".join(map(svg, drawings.values())))

    for words in (name, *group.values(), *(f.group["g"] for f in bins)):
        assert words.replace(" ", "") in "".join(texts).replace(" ", "")
    assert not any("…" in text for text in texts)


def test_days_stand_on_an_axis_of_days(release: Release) -> None:
    """They were numbers from 0, the first of January 1970."""
    day = replace(release.figures[2], kind="median", name="median_x", column="x", group={},
                  estimate=19877.0, low=19870.0, high=19884.0, unit="days since 1970-01-01")  # fmt: skip
    groups = tuple(replace(day, group={"g": i}) for i in range(2))

    for figures in ((day,), groups):
        text = svg(*drawn(replace(release, figures=figures)).values())
        assert len(re.findall(">2024-0[56]-[0-9]{2}<", text)) > 2 * len(figures)
        assert not re.search(r">1\d,\d{3}<", text)


@settings(deadline=None)
@given(st.text(max_size=200), st.floats(2, 30), st.integers(1, 4))
def test_wrap(text: str, most: float, lines: int) -> None:
    """No line is wider than asked, and nothing but blanks is lost before the ellipsis."""
    found = wrap(text, most, lines)

    assert 1 <= len(found) <= lines
    assert all(ems(line) <= max(most, 1.0) for line in found)
    kept = "".join("".join(found).split())
    whole = "".join(text.split())
    assert kept == whole or whole.startswith(kept.removesuffix("…"))


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
def test_risk(release: Release, epsilon: str, of_100: int, first: str) -> None:
    """Beliefs are bounds and rounded up."""
    found = risks(replace(release.claim, loss=epsilon, epsilon=epsilon))

    assert found.this.of_100 == of_100
    assert found.this.beliefs[0][1] == first


def test_risks_of_a_rho(release: Release) -> None:
    """Guesses and power are those of ρ, ε and beliefs those at the budget's δ."""
    receipt = replace(release.claim.receipt, cost="0.01", spent="0.02", cap="0.1")
    claim = replace(
        release.claim, measure="zcdp", loss="0.01", epsilon="1", delta="0.00001",
        receipt=receipt,
    )  # fmt: skip

    found = risks(claim)

    for row, loss in ((found.this, "0.01"), (found.total, "0.02"), (found.cap, "0.1")):
        known = odds(ZCDP(loss), delta="1e-5")
        assert (row.loss, row.of_100) == (loss, known.of_100_with)
        assert (
            0 <= float(row.epsilon) - float(known.epsilon) < 0.001 * float(row.epsilon)
        )
        assert row.power == f"{upper_percent(known.power)}%"
        assert [b for _, b in row.beliefs] == [
            f"{upper_percent(after)}%" for _, after in known.certainty
        ]
    assert (found.delta, found.named) == ("0.00001", True)


@pytest.mark.parametrize("delta", ["0", "0.000001", "0.01"])
def test_risks_count_the_delta_inside(release: Release, delta: str) -> None:
    """All rows are told at one δ, of which a loss's own δ is a part."""
    inside = "0.1 + delta 0.001"
    receipt = replace(release.claim.receipt, cost="0.1", spent=inside, cap=inside)
    claim = replace(
        release.claim, measure="zcdp", loss="0.1", delta=delta, receipt=receipt
    )

    found = risks(claim)

    told = exact(found.delta)
    assert told is not None
    assert told > exact("0.001")  # type: ignore[operator]
    assert found.named == (delta == "0.01")
    for row, loss in ((found.this, ZCDP("0.1")), (found.cap, ZCDP("0.1", "0.001"))):
        bound = epsilon_at(loss, told)
        assert bound is not None
        assert float(row.epsilon) >= float(bound) > 0


def test_budget_parts(release: Release) -> None:
    """The parts of the bar add up exactly."""
    parts = budget(release.claim)

    assert (parts.before, parts.cost, parts.left) == ("ε = 0.3", "ε = 0.5", "ε = 1.2")
    assert (parts.before_share, parts.cost_share) == (15, 25)


def test_budget_parts_are_on_the_safe_side(release: Release) -> None:
    """What is spent is rounded up, what is left down; a δ stands beside each."""
    receipt = replace(
        release.claim.receipt, cost="0.0123456", spent="0.0223456 + delta 0.001",
        cap="0.1 + delta 0.003",
    )  # fmt: skip

    parts = budget(replace(release.claim, measure="zcdp", receipt=receipt))

    assert parts.before == "ρ = 0.01 + δ 0.001"
    assert parts.cost == "ρ = 0.01235"
    assert parts.left == "ρ = 0.07765 + δ 0.002"


def test_deviation() -> None:
    """The law's standard deviation, times the step; √2 · scale when that is large."""
    assert deviation(Noise("geometric", "2", 1.0, "0.5")) == "2.8"
    assert deviation(Noise("geometric", "1000000000", 0.5, "1")) == "707,106,781"
    assert deviation(Noise("geometric", "0", 1.0, "1")) == "0"


@pytest.mark.parametrize("law", ["discrete_gaussian", "gaussian"])
@pytest.mark.parametrize("scale", ["0.05", "0.3", "1", "3.9", "4.1", "1234.5"])
def test_deviation_of_gaussians(law: str, scale: str) -> None:
    """It is that of the law on whole numbers, summed with plain arithmetic."""
    sigma = float(scale)
    reach = range(-ceil(12 * sigma) - 2, ceil(12 * sigma) + 3)
    if law == "gaussian":
        cdf = NormalDist(0, sigma).cdf
        masses = [cdf(k + 0.5) - cdf(k - 0.5) for k in reach]
    else:
        masses = [exp(-k * k / (2 * sigma**2)) for k in reach]
    variance = fsum(k * k * m for k, m in zip(reach, masses)) / fsum(masses)

    shown = deviation(Noise(law, scale, 1.0, "1"))

    assert float(shown.replace(",", "")) == pytest.approx(
        sqrt(variance), rel=6e-3, abs=1e-12
    )


def test_scales_are_short() -> None:
    """A long number is cut on a page; a short one stands as it is."""
    long = "1000000000000/310902698609"
    assert scale_words(Noise("k_norm", long, 1.0, "1")) == "3.21644"
    assert scale_words(Noise("gaussian", "5122.77269465", 1.0, "1")) == "5122.77"
    assert scale_words(Noise("gaussian", "1.5e+15", 1.0, "1")) == "1.5e+15"
    assert scale_words(Noise("gaussian", "10", 1.0, "1")) == "10"
