"""Everything that a page says about a release, as ready words for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.release.asked import release_words, title_words
from sfumato.release.loss import amount_words, symbol
from sfumato.release.noted import measured_words
from sfumato.release.promise import (
    hidden_words,
    loss_words,
    promise,
    uncounted_words,
)
from sfumato.release.record import Figure, Measurement, Release
from sfumato.release.text import visible
from sfumato.release.wording import (
    Say,
    confidence_words,
    law_words,
    neighbour_words,
    unit_words,
)
from sfumato.report.canvas import settings, to_svg
from sfumato.report.cards import Card, cards
from sfumato.report.frame import Sheet
from sfumato.report.noise import all_gaussian, deviation, scale_words
from sfumato.report.pictures import Pair, Picture, pictures
from sfumato.report.table import Block, blocks, lines
from sfumato.words import N_

__all__ = ["Drawing", "Step", "View", "draw", "view"]

_MOST_VALUES = 4_000  # raw integers printed in one page; the JSON file holds all


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
    """One release on a page.

    Attributes:
        title: Its name.
        asked: What was asked, in words, with filters and whose rows.
        private: Whether its noise was real.
        level: Confidence of its intervals.
        cards: Headline figures.
        more_cards: How many had no room there.
        drawings: Its pictures.
        blocks: All figures.
        hidden: What is said of keys that are not shown.
        uncounted: What is said of rows of a person that do not count; empty for none.
        promise: Its loss with all terms.
        unit: The protected unit.
        neighbours: The neighbour relation.
        letter: Of the currency.
        loss: The loss alone.
        gaussian: Whether all its noise is Gaussian.
        steps: Its measurements.
        receipt: Of its debit.
        entry: Hash of the ledger's entry; empty for none.
        citation: How to cite it.
    """

    title: str
    asked: str
    private: bool
    level: str
    cards: tuple[Card, ...]
    more_cards: int
    drawings: tuple[Drawing, ...]
    blocks: tuple[Block, ...]
    hidden: tuple[str, ...]
    uncounted: str
    promise: str
    unit: str
    neighbours: str
    letter: str
    loss: str
    gaussian: bool
    steps: tuple[Step, ...]
    receipt: tuple[tuple[str, str], ...]
    entry: str
    citation: str

    @property
    def both(self) -> bool:
        """Whether any figure has an interval of noise and sampling."""
        return any(block.both for block in self.blocks)


def view(release: Release, say: Say, *, headline: Sequence[str] = ()) -> View:
    """Put a release into words; `headline` names the figures to show first."""
    chosen, more_cards = cards(release, headline, say)
    claim, measured = release.claim, release.measurements
    title = title_words(release.title, release.question, release.figures, say) or say(
        N_("Release")
    )
    pairs: list[Pair] = [(figure, None) for figure in release.figures]
    return View(
        title=title,
        asked=release_words(release.question, release.figures, say),
        private=claim.private,
        level=confidence_words(release.confidence),
        cards=chosen,
        more_cards=more_cards,
        drawings=tuple(
            draw(p, say, release.figures)
            for p in pictures(pairs, release.confidence, say)
        ),
        blocks=blocks(lines(release.figures, say), say),
        hidden=hidden_words(release, say),
        uncounted=uncounted_words(claim, say),
        promise=promise(claim, say),
        unit=unit_words(claim, say),
        neighbours=neighbour_words(claim, say),
        letter=symbol(claim.measure),
        loss=loss_words(claim, say),
        gaussian=all_gaussian(measured),
        steps=_steps(measured, say),
        receipt=_receipt(release, say),
        entry=claim.receipt.head,
        citation=_citation(release, title, say),
    )


def draw(picture: Picture, say: Say, among: Sequence[Figure] = ()) -> Drawing:
    """Draw a picture into SVG and put its numbers into a table.

    Args:
        picture: What to draw.
        say: Says texts in a language.
        among: All figures of the release, where the picture shows some.
    """
    with settings():
        sheet = Sheet()
        picture.draw(sheet)
        svg = to_svg(sheet.close(), label=picture.alt(say, among))
    figures = [figure for figure, _ in picture.pairs]
    return Drawing(
        picture.title, svg, blocks(lines(figures, say, among), say), picture.left_out
    )


def _steps(measurements: Sequence[Measurement], say: Say) -> tuple[Step, ...]:
    room = _MOST_VALUES
    found = []
    for measured in measurements:
        noise, shown = measured.noise, measured.values[:room]
        room -= len(shown)
        step = Step(
            measured_words(measured.name, say),
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
