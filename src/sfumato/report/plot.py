"""All pictures of a release on one matplotlib figure, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.release.asked import title_words
from sfumato.release.promise import promise
from sfumato.release.record import Release
from sfumato.release.tongue import language_asked
from sfumato.release.wording import NOT_PRIVATE
from sfumato.report.canvas import settings
from sfumato.report.frame import GAP, MUTED_SMALL, SIZE, Sheet
from sfumato.report.palette import PAPER, TRUTH
from sfumato.report.pictures import Picture, pictures
from sfumato.words import speaker

__all__ = ["plot", "stack"]


def plot(release: Release, *, lang: str | None = None) -> Any:
    """Return a matplotlib figure with every picture of a release.

    Args:
        release: What to draw.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    say = speaker(language_asked(lang))
    alarm = "" if release.claim.private else say(NOT_PRIVATE)
    pairs = [(figure, None) for figure in release.figures]
    drawn = pictures(pairs, release.confidence, say)
    title = title_words(release.title, release.question, release.figures, say)
    return stack(drawn, title, alarm=alarm, foot=promise(release.claim, say))


def stack(drawn: Sequence[Picture], title: str, *, alarm: str, foot: str) -> Any:
    """Put pictures under each other, with a title, a warning and the terms."""
    with settings():
        sheet = Sheet()
        if alarm:
            sheet.write(alarm, color=TRUTH, weight="bold")
        sheet.write(title, fontsize=1.3 * SIZE, weight="bold")
        for picture in drawn:
            sheet.end(GAP)
            sheet.write(picture.title, weight="bold")
            picture.draw(sheet)
        sheet.end(GAP)
        sheet.write(foot, **MUTED_SMALL)
        figure = sheet.close(margin=GAP)
        figure.set_facecolor(PAPER)
    return figure
