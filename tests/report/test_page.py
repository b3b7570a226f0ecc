"""The page: complete, offline, without a script, and true to its terms."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sfumato.account.deployment import DEPLOYMENTS
from sfumato.errors import ArgumentError, MissingExtraError
from sfumato.release import Figure, Noise, Release
from sfumato.release.audited import Rebuilt
from sfumato.release.owner import compare
from sfumato.report import owner_html, to_html
from sfumato.report.rebuilt import rebuilt_svg, standalone
from sfumato.words import speaker

VOID = {"meta", "rect", "path", "br", "img", "link"}


class Page(HTMLParser):
    """The elements of a page, with their texts; unbalanced tags fail."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.stack: list[str] = []
        self.feed(text)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.stack or self.stack[-1] != "style":
            self.texts.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, n, value in self.attributes if n == name]

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@pytest.fixture(params=["en", "zh"])
def lang(request: pytest.FixtureRequest) -> str:
    """Both languages."""
    return str(request.param)


def check_offline(text: str) -> Page:
    """Fail if the page could run or fetch anything."""
    page = Page(text)
    bad = {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image",
           "use", "foreignobject", "audio", "video"}  # fmt: skip
    assert not bad & set(page.tags)
    names = {name for _, name, _ in page.attributes}
    assert not {n for n in names if n.startswith("on")}
    assert not {"src", "srcset", "xlink:href", "xmlns", "background", "data"} & names
    assert all(value.startswith("#") for value in page.values("href"))
    styles = "".join(re.findall(r"<style>.*?</style>", text, re.DOTALL))
    assert "url(" not in styles + "".join(page.values("style"))
    assert "@import" not in styles
    policy = dict(zip(page.values("http-equiv"), page.values("content"), strict=False))
    assert policy["Content-Security-Policy"].startswith("default-src 'none';")
    assert "script" not in policy["Content-Security-Policy"]
    return page


def test_offline(release: Release, lang: str) -> None:
    """No script, no address, a strict policy, the language set."""
    text = to_html([release], lang=lang)

    page = check_offline(text)

    assert "http:" not in text
    assert "https:" not in text
    assert page.values("lang") == [{"en": "en", "zh": "zh-CN"}[lang]]
    assert page.tags["title"] == page.tags["main"] == page.tags["h1"] == 1


def test_every_figure_is_there(release: Release) -> None:
    """Each estimate and interval stands in the table of all figures."""
    page = Page(to_html([release], lang="en"))

    for words in ("768", "756 to 780", "121.9", "118.7 to 125.2", "Ward = 内科 · Sex = M",
                  "Sex = 男", "Outcome = 1 · [80, 100]", "−4", "−13 to 5"):  # fmt: skip
        assert words in page.text


def test_a_table_behind_every_picture(release: Release, lang: str) -> None:
    """Pictures have a description and a table; tables have captions and headings."""
    text = to_html([release], lang=lang)
    charts = re.findall(r'<figure class="chart">.*?</figure>', text, re.DOTALL)

    assert len(charts) == 8
    for chart in charts:
        page = Page(chart)
        assert page.tags["svg"] == page.tags["table"] == page.tags["details"] == 1
        assert len(max(page.values("aria-label"), key=len)) > 30
    whole = Page(text)
    assert whole.tags["table"] == whole.tags["caption"]
    assert whole.values("role").count("img") == whole.tags["svg"]
    assert all(whole.values("aria-label"))
    assert len(set(whole.values("id"))) == len(whole.values("id"))


def test_texts_do_not_run(hostile: tuple[str, Release], lang: str) -> None:
    """Titles, columns, categories, units and notes appear as text and nothing else."""
    text, release = hostile

    for page_text in (
        to_html([release], lang=lang, title=text),
        owner_html([compare(release, [1.0] * len(release))], lang=lang),
    ):
        page = check_offline(page_text)
        assert "<script" not in page_text
        if text.isascii() and text.isprintable():
            assert text in page.text
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e\ud800]", page_text)
        page_text.encode("utf-8")


def test_losses_come_with_their_terms(of_kind: Release, lang: str) -> None:
    """Each section, table and list that prints ε or ρ names unit and neighbours too.

    The table of other deployments has a column of their own units instead.
    """
    unit, relation = {
        "en": ("one row", "add or remove one row"),
        "zh": ("一行", "添加或删除一行"),
    }[lang]

    text = to_html([of_kind], lang=lang)

    blocks = re.findall(
        r'<table(?! class="wide others").*?</table>|<dl.*?</dl>|<header.*?</header>'
        r"|<section.*?</section>|<blockquote.*?</blockquote>",
        text,
        re.DOTALL,
    )
    told = [b for b in blocks if re.search("[ερ]", b)]
    assert len(told) >= 5
    for block in told:
        assert unit in block
        assert relation in block
    assert "None" not in Page(text).text


def test_odds_and_budget_in_words(release: Release) -> None:
    """The cost is told in odds, and what is left of the budget."""
    text = Page(to_html([release], lang="en")).text

    for words in ("right 50 times of 100", "right about 62 times of 100", "1.64%", "8.25%",
                  "spent before: ε = 0.3", "this release: ε = 0.5", "left: ε = 1.2 of 2"):  # fmt: skip
        assert words in text


LEFT = "left: ρ = 0.05815 of 0.08816"
TOLD = {
    "pure": ("Pure differential privacy", "k times ε", "in ε (one row", "loss, as ε",
             "exp(−|k| / scale)", "terms of every ε"),
    "approximate": (
        "Zero-concentrated", "at most αρ", "Corollary 13", "k² times ρ", LEFT,
        "ε = 2 at δ = 0.000001 (one row", "this release: ρ = 0.006642", "exp(−k² / 2σ²)",
        "spent before: ρ = 0.02336", "discrete Gaussian, σ = 8.67628", "loss, as ρ",
        "sensitivity in steps (L2)", "1.41421", "ρ = 0.006641524356", "ε at δ = 0.000001",
    ),
    "rho": ("Zero-concentrated", "k² times ρ", "in ρ (one row", "this release: ρ = 0.01",
            "ε at δ = 0.000001", "The budget names no δ", LEFT),
    "gaussian": ("Gaussian differential privacy", "μ = √(2ρ)", "Theorem 8", "k² times ρ",
                 "this release: ρ = 0.007702", "rounded to a whole number", LEFT),
    "gaussian_rho": ("Gaussian differential privacy", "The budget names no δ", LEFT,
                     "σ² = sensitivity² / 2ρ", "in ρ (one row"),
}  # fmt: skip
ELSEWHERE = {
    "pure": ("Rényi", "Gaussian differential", "σ", "at δ"),
    "approximate": ("Pure", "Theorem 8", "names no δ", "k times ε", "|k|"),
    "rho": ("Pure", "Hence approximate", "Corollary 13", "times ε"),
    "gaussian": ("Rényi", "Corollary 13", "exp(−k²", "names no δ"),
    "gaussian_rho": ("Rényi", "Hence approximate", "exp(−k²"),
}


def test_every_budget_is_explained(of_kind: Release, kind: str) -> None:
    """Guarantee, odds, bar, noise and receipt speak of the budget's own currency."""
    text = Page(to_html([of_kind], lang="en")).text

    for words in TOLD[kind]:
        assert words in text
    for words in ELSEWHERE[kind]:
        assert words not in text


def test_every_budget_in_chinese(of_kind: Release) -> None:
    """No English sentence is left on a Chinese page."""
    text = Page(to_html([of_kind], lang="zh")).text

    assert not re.search(r"\b(the|and|of|privacy|noise|budget)\b", text)


def test_odds_of_the_smallest_rho(release: Release) -> None:
    """A release that costs nothing of a budget in ρ gains an attacker nothing."""
    receipt = replace(release.claim.receipt, cost="0", spent="0", cap="0.1")
    claim = replace(
        release.claim, measure="zcdp", loss="0", epsilon=None, receipt=receipt
    )

    text = Page(to_html([replace(release, claim=claim)], lang="en")).text

    assert "right about 50 times of 100" in text
    assert "spent before: ρ = 0" in text


def test_receipt_names_the_entry(release: Release) -> None:
    """The receipt holds the hash by which a stranger verifies the ledger."""
    text = Page(to_html([release], lang="en")).text
    bare = replace(release.claim.receipt, head="")
    without = replace(release, claim=replace(release.claim, receipt=bare))

    assert "e1" * 32 in text
    assert "a stranger can verify" in text
    for words in ("entry in the ledger", "a stranger can verify"):
        assert words not in Page(to_html([without], lang="en")).text


def test_deployments_stand_beside(release: Release, lang: str) -> None:
    """Public deployments, each with its unit, are folded away, once for a page."""
    text = to_html([release, release], lang=lang)

    (table,) = re.findall(r'<table class="wide others">.*?</table>', text, re.DOTALL)
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", table)
    assert len(rows) == len(DEPLOYMENTS)
    assert all(len(re.findall(r"<td[^>]*>.+?</td>", row)) == 4 for row in rows)
    assert "0.3 to 0.7" in text or "0.3 至 0.7" in text
    before = text[: text.index(table)]
    assert before.count("<details") == before.count("</details") + 1


def test_replace_one_is_told_apart(release: Release) -> None:
    """Under replace-one the page speaks of contents and of the public size."""
    claim = replace(release.claim, neighbours="replace_one", size=768)

    text = Page(to_html([replace(release, claim=claim)], lang="en")).text

    assert "replace one row of 768, a public number" in text
    assert "two equally likely contents" in text
    assert "the number of rows is public" in text
    assert "itself protected" not in text


def test_free_release(release: Release) -> None:
    """A public, exact number costs nothing and is said to be exact."""
    exact = Figure("count", "count", None, {}, 768, 768, 768)
    receipt = replace(release.claim.receipt, cost="0")
    claim = replace(release.claim, loss="0", epsilon="0", receipt=receipt)

    text = Page(
        to_html([replace(release, figures=(exact,), claim=claim)], lang="en")
    ).text

    assert "public, exact" in text
    assert "right about 50 times of 100" in text


def test_seeded_release_is_marked(seeded: Release, release: Release) -> None:
    """NOT PRIVATE stands in the title, on a band, and instead of a citation."""
    text = to_html([seeded], lang="en")

    assert "<title>NOT PRIVATE" in text
    assert 'class="band"><p role="alert">NOT PRIVATE' in text
    assert "Do not cite" in text
    assert "gives no protection" in text
    assert "NOT PRIVATE" in to_html([release, seeded], lang="en")
    assert "NOT PRIVATE" not in to_html([release], lang="en")


def test_same_release_same_bytes(release: Release, lang: str) -> None:
    """A page depends on the release alone, not on the clock or the user's style."""
    import matplotlib as mpl

    first = to_html([release], lang=lang)
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30}):
        second = to_html([release], lang=lang)
        assert mpl.rcParams["font.size"] == 30

    assert first == second


def test_no_warning_leaks(release: Release) -> None:
    """Chinese labels need no Chinese font where the page is made."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        to_html([release], lang="zh")


def many(count: int) -> tuple[Figure, ...]:
    noise = (Noise("geometric", "8", 1.0, "0.1"),)
    return tuple(
        Figure(
            f"s{i % 4}", "count", None, {"Ward": f"病区 {i}", "Sex": i % 3},
            i, i - 9.0, i + 9.0, noise,
        )
        for i in range(count)
    )  # fmt: skip


def test_two_hundred_figures(release: Release) -> None:
    """A page of 200 figures stays below 300 KB and is made within 3 s."""
    crowd = replace(release, figures=many(200))
    to_html([release])

    start = time.process_time()
    text = to_html([crowd], lang="zh")
    took = time.process_time() - start

    assert len(text.encode()) < 300_000
    assert took < 3


def test_crowded_pictures_say_what_is_left_out(release: Release) -> None:
    """A picture has room for 60 rows; the table has all."""
    single = [replace(f, name="s") for f in many(100)]

    text = to_html([replace(release, figures=tuple(single))], lang="en")

    assert "40 more figures of this kind are in the table of all figures." in text
    assert text.count("Ward = 病区 99") == 1


def test_empty_release(release: Release) -> None:
    """A release without figures still makes a page."""
    check_offline(to_html([replace(release, figures=(), measurements=())]))
    check_offline(to_html([]))


def test_long_raw_values_are_cut(release: Release) -> None:
    """The page prints the first raw integers and counts the rest."""
    measured = replace(release.measurements[0], values=tuple(range(10_000)))

    text = to_html([replace(release, measurements=(measured,))], lang="en")

    assert "3999 … and 6000 more in the JSON file" in text


@pytest.mark.parametrize("library", ["jinja2", "matplotlib.figure"])
def test_missing_extra(
    release: Release, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra the error names it."""
    from sfumato.report import page

    page._environment.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, library, None)

    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[report\]"'):
        to_html([release])


def test_save_html(release: Release, tmp_path: Path) -> None:
    """`save` writes the page in the language asked for."""
    release.save(tmp_path / "report.html", lang="zh")

    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text == to_html([release], lang="zh")


@pytest.mark.parametrize("form", ["html", "md", "xlsx", "zip", "csv"])
def test_an_unknown_language_is_refused(
    release: Release, form: str, tmp_path: Path
) -> None:
    """One clear error, and no file, where a language is asked for that nobody speaks."""
    with pytest.raises(ArgumentError, match="unknown language 'fr'"):
        release.save(tmp_path / f"report.{form}", lang="fr")

    assert list(tmp_path.iterdir()) == []


def test_a_reconstruction_is_drawn_square_by_square(lang: str) -> None:
    """The truth and each guess of each person; a cross for each wrong one."""
    found = (
        Rebuilt("exact", (0, 1, 1), (0, 1, 1), 12),
        Rebuilt("private", (0, 1, 1), (1, 1, 0), 12, "1"),
    )

    svg = rebuilt_svg(found, speaker(lang))
    alone = standalone(svg)

    assert svg.count("<rect") == 9 and svg.count("<path") == 2
    assert svg.count("fill:var(--fill-1)") == 2 + 2 + 2
    assert "var(" not in alone and alone.startswith('<svg xmlns="http://www.w3.org/')
    assert rebuilt_svg((), speaker(lang)) == ""
    check_offline(f"<html lang='{lang}'><head>{_POLICY}</head>{svg}</html>")


_POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';">'


def test_counts_of_keys_that_may_be_hidden_are_not_called_unbiased_alone(
    release: Release,
) -> None:
    """Only those are shown that noise carried over the threshold."""
    words = "near it, their counts are too large on average"
    kept = replace(release.measurements[0], threshold=9)

    assert words not in to_html([release], lang="en")
    assert words in to_html([replace(release, measurements=(kept,))], lang="en")
