"""Everything that a page says about a release, as ready words for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.release.loss import amount_words, symbol
from sfumato.release.promise import loss_words, promise
from sfumato.release.record import Figure, Measurement, Release
from sfumato.release.text import visible
from sfumato.release.wording import (
    Say,
    confidence_words,
    last_bins,
    law_words,
    name_words,
    neighbour_words,
    number_words,
    place_words,
    range_words,
    scale_unit,
    unit_words,
)
from sfumato.report.canvas import settings, to_svg
from sfumato.report.cost import Budget, Risks, budget, risks
from sfumato.report.frame import Sheet
from sfumato.report.noise import (
    all_gaussian,
    deviation,
    method,
    noise_words,
    scale_words,
)
from sfumato.report.pictures import Pair, Picture, pictures, signed
from sfumato.report.terms import (
    Other,
    budget_words,
    guarantee,
    many_rows,
    others,
    scenarios,
)
from sfumato.words import N_

__all__ = [
    "Block",
    "Drawing",
    "Line",
    "Step",
    "View",
    "blocks",
    "draw",
    "lines",
    "view",
]

_MOST_CARDS, _MOST_NAMED = 6, 24
_MOST_VALUES = 4_000  # raw integers printed in one page; the JSON file holds all


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table of figures."""

    name: str
    place: str
    estimate: str
    range: str
    unit: str
    noise: str


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one statistic, with the noise that they share."""

    name: str
    noise: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as SVG, with the table behind it."""

    title: str
    svg: str
    blocks: tuple[Block, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Step:
    """One measurement and its noise."""

    name: str
    law: str
    sensitivity: str
    step: str
    scale: str
    deviation: str
    loss: str
    values: tuple[int, ...]
    more: int


@dataclass(frozen=True, slots=True)
class View:
    """One release on a page."""

    title: str
    question: str
    private: bool
    level: str
    cards: tuple[Line, ...]
    more_cards: int
    drawings: tuple[Drawing, ...]
    blocks: tuple[Block, ...]
    promise: str
    unit: str
    neighbours: str
    relation: str
    letter: str
    loss: str
    risks: Risks
    many_rows: str
    others: tuple[Other, ...]
    scenarios: tuple[str, ...]
    budget: Budget
    budget_words: tuple[str, ...]
    guarantee: tuple[str, ...]
    method: tuple[str, ...]
    gaussian: bool
    steps: tuple[Step, ...]
    receipt: tuple[tuple[str, str], ...]
    entry: str
    citation: str


def view(release: Release, say: Say, *, headline: Sequence[str] = ()) -> View:
    """Put a release into words; `headline` names the figures to show first."""
    cards, more_cards = _cards(release, headline, say)
    claim, measured = release.claim, release.measurements
    chances = risks(claim)
    terms = {"unit": unit_words(claim, say), "neighbours": neighbour_words(claim, say)}
    title = visible(release.title or release.question) or say(N_("Release"))
    pairs: list[Pair] = [(figure, None) for figure in release.figures]
    return View(
        title=title,
        question=visible(release.question),
        private=claim.private,
        level=confidence_words(release.confidence),
        cards=cards,
        more_cards=more_cards,
        drawings=tuple(draw(p, say) for p in pictures(pairs, release.confidence, say)),
        blocks=blocks(lines(release.figures, say)),
        promise=promise(claim, say),
        **terms,
        relation=claim.neighbours,
        letter=symbol(claim.measure),
        loss=loss_words(claim, say),
        risks=chances,
        many_rows=many_rows(claim, say),
        others=others(say),
        scenarios=scenarios(say),
        budget=budget(claim),
        budget_words=budget_words(claim, chances, terms, say),
        guarantee=guarantee(claim, say),
        method=method(measured, say),
        gaussian=all_gaussian(measured),
        steps=_steps(measured, say),
        receipt=_receipt(release, say),
        entry=claim.receipt.head,
        citation=_citation(release, title, say),
    )


def draw(picture: Picture, say: Say) -> Drawing:
    """Draw a picture into SVG and put its numbers into a table."""
    with settings():
        sheet = Sheet()
        picture.draw(sheet)
        svg = to_svg(sheet.close(), label=picture.alt(say))
    figures = [figure for figure, _ in picture.pairs]
    return Drawing(picture.title, svg, blocks(lines(figures, say)), picture.left_out)


def lines(figures: Sequence[Figure], say: Say) -> tuple[Line, ...]:
    """Return figures as rows of a table."""
    last = last_bins(figures)
    return tuple(_line(f, say, ends) for f, ends in zip(figures, last, strict=True))


def _line(figure: Figure, say: Say, ends: tuple[bool, bool] = (False, False)) -> Line:
    return Line(
        name_words(figure, say),
        place_words(figure, last=ends[0], other_last=ends[1]),
        signed(number_words(figure)[0]),
        signed(range_words(figure, say)),
        scale_unit(figure),
        noise_words(figure.noise, say),
    )


def blocks(rows: Sequence[Line]) -> tuple[Block, ...]:
    """Gather the rows of each statistic, in the order of the release."""
    found: dict[str, list[Line]] = {}
    for line in rows:
        found.setdefault(line.name, []).append(line)
    return tuple(
        Block(name, "; ".join(dict.fromkeys(x.noise for x in run)), tuple(run))
        for name, run in found.items()
    )


def _cards(
    release: Release, headline: Sequence[str], say: Say
) -> tuple[tuple[Line, ...], int]:
    """Choose the headline: the named figures, else single ones, else the first groups.

    Returns:
        The cards, and how many figures of that choice had no room.
    """
    chosen = [f for name in headline for f in release.figures if f.name == name]
    plain = [f for f in release.figures if f.bin is None or f.kind == "mode"]
    shown = chosen or [f for f in plain if not f.group] or plain
    most = _MOST_NAMED if chosen else _MOST_CARDS
    return lines(shown[:most], say), max(0, len(shown) - most)


def _steps(measurements: Sequence[Measurement], say: Say) -> tuple[Step, ...]:
    room = _MOST_VALUES
    found = []
    for measured in measurements:
        noise, shown = measured.noise, measured.values[:room]
        room -= len(shown)
        step = Step(
            visible(measured.name),
            law_words(noise, say),
            f"{measured.sensitivity:g}",
            f"{noise.step:g}",
            scale_words(noise),
            deviation(noise),
            amount_words(noise.loss),
            shown,
            len(measured.values) - len(shown),
        )
        found.append(step)
    return tuple(found)


def _receipt(release: Release, say: Say) -> tuple[tuple[str, str], ...]:
    receipt, letter = release.claim.receipt, symbol(release.claim.measure)
    paid, spent, cap = (
        f"{letter} = {amount_words(text)}"
        for text in (receipt.cost, receipt.spent, receipt.cap)
    )
    lines = (
        (say(N_("dataset")), visible(receipt.dataset)),
        (say(N_("debit number")), str(receipt.sequence)),
        (say(N_("time of the debit (UTC)")), visible(receipt.time)),
        (say(N_("paid")), paid),
        (say(N_("spent after it")), spent),
        (say(N_("budget")), cap),
        (say(N_("plan (SHA-256)")), visible(receipt.plan)),
        (say(N_("entry in the ledger (SHA-256)")), visible(receipt.head)),
    )
    return tuple((name, value) for name, value in lines if value)


def _citation(release: Release, title: str, say: Say) -> str:
    receipt = release.claim.receipt
    if not release.claim.private:
        return say(N_("Do not cite: this release was made with a test seed."))
    return say(
        N_(
            "“{title}”. Differentially private figures, release {sequence} of the "
            "dataset {dataset}, {date}. {promise}. Made with sfumato."
        ),
        title=title,
        sequence=receipt.sequence,
        dataset=visible(receipt.dataset),
        date=visible(receipt.time[:10]),
        promise=promise(release.claim, say),
    )
