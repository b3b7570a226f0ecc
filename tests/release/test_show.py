"""A release on a terminal and in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.account import ZCDP
from sfumato.amount import exact
from sfumato.errors import ArgumentError
from sfumato.release import Figure, Release
from sfumato.release.loss import brief
from sfumato.release.show import to_snippet, to_text
from sfumato.release.text import columns
from sfumato.release.wording import number_words, place_words, value_words

Show = Callable[..., str]


def test_text_golden(release: Release) -> None:
    """The table is aligned and ends with the full claim."""
    assert (
        to_text(release, lang="en")
        == """\
Pima
count, mean_Glucose; where Age >= 30

figure            for          estimate  95% interval    unit
Number of rows                      768  756 to 780
Mean of Glucose                   121.9  118.7 to 125.2  mg/dL
Mean of Age       Outcome = 0     31.20  30.90 to 31.50  a
Mean of Age       Outcome = 1     37.10  36.40 to 37.80  a
Histogram of Age  [20, 40)           12  3 to 21
Histogram of Age  [40, 60]           -4  -13 to 5
Histogram of Sex  Sex = 女          400  391 to 409
Histogram of Sex  Sex = M           368  359 to 377

ε = 0.5, δ = 0; protected unit: one row; neighbours: add or remove one row
debit 3 of the budget of pima
The intervals cover the noise only, not the choice of the sample."""
    )


def test_text_in_chinese_is_aligned(release: Release) -> None:
    """Chinese characters count as two columns, so the columns still line up."""
    lines = to_text(release, lang="zh").split("\n")

    table = lines[lines.index("") + 1 : -4]
    ends = {columns(line[: re.search(r"\S+ 至 ", line).start()]) for line in table[1:]}  # type: ignore[union-attr]
    assert len(ends) == 1
    assert "相邻数据集：添加或删除一行" in lines[-3]


def test_str_follows_the_locale(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`print(release)` speaks the language of the locale."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "行数" in str(release)
    assert "行数" in release._repr_html_()

    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert "Number of rows" in str(release)


@pytest.mark.parametrize("show", [to_text, to_snippet])
def test_seeded_release_is_headed(seeded: Release, show: object) -> None:
    """A release under a test seed starts with NOT PRIVATE."""
    text = show(seeded, lang="en")  # type: ignore[operator]

    assert "NOT PRIVATE" in text[:150]
    assert "NOT PRIVATE; with real noise it would be: ε = 0.5" in text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_loss_stands_alone(of_kind: Release, lang: str) -> None:
    """Where ε or ρ is printed, unit and neighbours are in the same line."""
    unit, relation = {
        "en": ("one row", "add or remove one row"),
        "zh": ("一行", "添加或删除一行"),
    }[lang]

    for text in (to_text(of_kind, lang=lang), to_snippet(of_kind, lang=lang)):
        lines = [x for x in re.split(r"\n|<br>|<p", text) if re.search("[ερ]", x)]
        assert lines
        assert all(unit in x and relation in x for x in lines)


PROMISES = {
    "pure": ("ε = 0.5, δ = 0", "ε = 0.5，δ = 0"),
    "approximate": (
        "ε = 0.5, δ = 0.000001 (ρ = 0.006642 zero-concentrated)",
        "ε = 0.5，δ = 0.000001（零集中 ρ = 0.006642）",
    ),
    "rho": ("ρ = 0.01 (zero-concentrated)", "ρ = 0.01（零集中）"),
    "gaussian": (
        "ε = 0.5, δ = 0.000001 (ρ = 0.007702 of Gaussian noise)",
        "ε = 0.5，δ = 0.000001（高斯噪声 ρ = 0.007702）",
    ),
    "gaussian_rho": ("ρ = 0.01 (Gaussian noise)", "ρ = 0.01（高斯噪声）"),
}


@pytest.mark.parametrize("show", [to_text, to_snippet])
def test_promise_of_every_budget(of_kind: Release, kind: str, show: Show) -> None:
    """Each kind of budget is told in its currency, with unit and neighbours."""
    english, chinese = PROMISES[kind]

    text, other = show(of_kind, lang="en"), show(of_kind, lang="zh")

    assert f"{english}; protected unit: one row; neighbours: add or remove" in text
    assert f"{chinese}；保护单位：一行；相邻数据集：添加或删除一行" in other
    assert "None" not in text + other


def test_a_loss_that_can_fail_is_told_whole(of_kind: Release) -> None:
    """The δ inside a ρ is never dropped."""
    loss = "0.01 + delta 0.000000001"
    claim = replace(of_kind.claim, measure="zcdp", loss=loss, epsilon=None)

    text = to_text(replace(of_kind, claim=claim), lang="en")

    assert "ρ = 0.01 + δ 0.000000001 (zero-concentrated); protected unit" in text


@given(st.integers(0, 10**15))
def test_brief_amounts_are_bounds(units: int) -> None:
    """A shortened amount is at most a thousandth off, and on the safe side."""
    loss = ZCDP.from_units(units)

    up, down = exact(brief(loss)), exact(brief(loss, down=True))

    assert up is not None
    assert down is not None
    assert down <= loss.value <= up
    assert up - down <= loss.value / 1000


def test_snippet_escapes(hostile: tuple[str, Release]) -> None:
    """No text of a release becomes markup in a notebook."""
    _, release = hostile

    assert "<script" not in to_snippet(release)


def test_text_forges_nothing(hostile: tuple[str, Release]) -> None:
    """No text of a release moves the cursor or starts a line of its own."""
    text, release = hostile
    plain = replace(release, title="t" * bool(text), question="q" * bool(text))

    shown = to_text(release)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown)
    # title and question are one text here, hence one line
    assert len(shown.split("\n")) == len(to_text(plain).split("\n")) - bool(text)


def test_long_release_is_cut(release: Release) -> None:
    """A screen shows the first figures and how many are left."""
    many = replace(release, figures=release.figures * 100)

    assert "… and 600 more figures" in to_text(many, lang="en")
    assert to_snippet(many).count("<tr>") == 201


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0.0, 0.0, 0.0), ("0", "0", "0")),
        ((-0.3, -2.55, 1.95), ("-0.3", "-2.6", "2.0")),
        ((-0.004, -1.5, 1.5), ("0.0", "-1.5", "1.5")),
        ((1234567.8, 1234000.2, 1235135.4), ("1,234,568", "1,234,000", "1,235,136")),
        ((0.00012345, 0.00012, 0.000127), ("0.0001234", "0.0001200", "0.0001270")),
        ((1e20, 9e19, 1.1e20), ("1e+20", "9e+19", "1.1e+20")),
        ((5.5, 5.5, 5.5), ("5.5", "5.5", "5.5")),
        ((1e-300, 0.0, 5e-324), ("1e-300", "0", "4.94066e-324")),
    ],
)
def test_digits_follow_the_interval(
    numbers: tuple[float, float, float], words: tuple[str, str, str]
) -> None:
    """Two digits of the half-width are kept; interval ends are rounded outwards."""
    assert number_words(Figure("x", "mean", "x", {}, *numbers)) == words


def test_other_values_get_the_same_digits() -> None:
    """An error beside a figure is printed as precisely as the figure."""
    figure = Figure("x", "mean", "x", {}, 5.123, 4.8, 5.4)

    assert value_words(figure, 0.28712) == "0.29"


def test_places() -> None:
    """Group and bin in words; the last bin is closed; keys are shown as declared."""
    figure = Figure("h", "histogram", "Sex", {"a": True, "b": 2}, 1, 0, 2, bin="F")
    bins = replace(figure, column="Age", group={}, bin=(0.5, 10.0))

    assert place_words(figure) == "a = true · b = 2 · Sex = F"
    assert place_words(bins) == "[0.5, 10)"
    assert place_words(bins, last=True) == "[0.5, 10]"


def test_a_seeded_release_says_so_at_a_prompt(
    release: Release, seeded: Release
) -> None:
    """Where Python shows the record itself, its claim is marked; all else is as ever."""
    assert "claim=Claim(NOT PRIVATE, measure='epsilon'" in repr(seeded)
    assert "NOT PRIVATE" not in repr(release)
    assert repr(release.claim).startswith("Claim(measure='epsilon', loss='0.5', ")
    assert repr(release.claim).endswith(", private=True, bounds=None, tables=1)")


def test_days_are_shown_as_dates() -> None:
    """Ends are rounded outwards; a deviation stays a number of days."""
    unit = "days since 1970-01-01"
    day = Figure("m", "quantile", "d", {}, 19877.6, 19861.9, 19884.1, unit=unit)
    spread = replace(day, kind="std", estimate=85.53, low=82.9, high=88.1)

    assert number_words(day) == ("2024-06-04", "2024-05-18", "2024-06-11")
    assert number_words(spread)[0] == "85.5"
    assert number_words(replace(day, high=1e9))[2] == "1,000,000,000"


def test_a_figure_is_found_only_where_one_is_meant(release: Release) -> None:
    """The mean of the first group is not the mean: of several figures none is taken."""
    assert release["count"].estimate == 768
    assert release.find("mean_Age", Outcome=1).estimate == 37.1

    for ask in (
        lambda: release["mean_Age"],
        lambda: release.find("mean_Age", Outcome=2),
        lambda: release.find("mean_Age", Sex=None),
        lambda: release["mean age"],
    ):
        with pytest.raises(KeyError) as caught:
            ask()
        assert isinstance(caught.value, ArgumentError)
        assert "2 figures 'mean_Age'" in str(caught.value) or (
            "called count, mean_Glucose, mean_Age, histogram_Age" in str(caught.value)
        )
