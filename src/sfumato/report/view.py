"""Everything that a page says about a release, as ready words for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.release.record import Figure, Measurement, Noise, Release
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
    promise,
    range_words,
    scale_unit,
    unit_words,
)
from sfumato.report.canvas import settings, to_svg
from sfumato.report.cost import Budget, Risk, budget, deviation, risk, scale_words
from sfumato.report.frame import Sheet
from sfumato.report.pictures import Pair, Picture, pictures, signed
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

_MOST_CARDS = 6
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
    epsilon: str
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
    drawings: tuple[Drawing, ...]
    blocks: tuple[Block, ...]
    promise: str
    unit: str
    neighbours: str
    relation: str
    epsilon: str
    delta: str
    risk: Risk
    total: Risk
    cap: Risk
    budget: Budget
    steps: tuple[Step, ...]
    receipt: tuple[tuple[str, str], ...]
    citation: str


def view(release: Release, say: Say) -> View:
    """Put a release into words."""
    claim, receipt = release.claim, release.claim.receipt
    title = visible(release.title or release.question) or say(N_("Release"))
    pairs: list[Pair] = [(figure, None) for figure in release.figures]
    return View(
        title=title,
        question=visible(release.question),
        private=claim.private,
        level=confidence_words(release.confidence),
        cards=_cards(release, say),
        drawings=tuple(draw(p, say) for p in pictures(pairs, release.confidence, say)),
        blocks=blocks(lines(release.figures, say)),
        promise=promise(claim, say),
        unit=unit_words(claim, say),
        neighbours=neighbour_words(claim, say),
        relation=claim.neighbours,
        epsilon=claim.epsilon or claim.loss,
        delta=claim.delta,
        risk=risk(claim.epsilon or claim.loss),
        total=risk(receipt.spent),
        cap=risk(receipt.cap),
        budget=budget(receipt),
        steps=_steps(release.measurements, say),
        receipt=_receipt(release, say),
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
    return tuple(_line(f, say, last=i in last) for i, f in enumerate(figures))


def _line(figure: Figure, say: Say, *, last: bool = False) -> Line:
    return Line(
        name_words(figure, say),
        place_words(figure, last=last),
        signed(number_words(figure)[0]),
        signed(range_words(figure, say)),
        scale_unit(figure),
        _noise_words(figure.noise, say),
    )


def _noise_words(terms: Sequence[Noise], say: Say) -> str:
    """Return laws and scales; terms of one law share its name."""
    by_law: dict[str, list[str]] = {}
    for term in terms:
        step = "" if term.step == 1 else f" × {term.step:g}"
        by_law.setdefault(law_words(term, say), []).append(scale_words(term) + step)
    return "; ".join(
        say(N_("{law}, scale {scale}"), law=law, scale=say(N_(" and ")).join(scales))
        for law, scales in by_law.items()
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


def _cards(release: Release, say: Say) -> tuple[Line, ...]:
    """Choose the headline: single figures first, else the first groups."""
    plain = [f for f in release.figures if f.bin is None]
    single = [f for f in plain if not f.group]
    return tuple(_line(f, say) for f in (single or plain)[:_MOST_CARDS])


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
            noise.loss,
            shown,
            len(measured.values) - len(shown),
        )
        found.append(step)
    return tuple(found)


def _receipt(release: Release, say: Say) -> tuple[tuple[str, str], ...]:
    receipt = release.claim.receipt
    return (
        (say(N_("dataset")), visible(receipt.dataset)),
        (say(N_("debit number")), str(receipt.sequence)),
        (say(N_("time of the debit (UTC)")), visible(receipt.time)),
        (say(N_("paid")), f"ε = {receipt.cost}"),
        (say(N_("spent after it")), f"ε = {receipt.spent}"),
        (say(N_("budget")), f"ε = {receipt.cap}"),
        (say(N_("plan (SHA-256)")), visible(receipt.plan)),
    )


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
