"""Releases as Markdown: for a wiki, a pull request, a README."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato.release.asked import title_words
from sfumato.release.promise import interval_words, promise
from sfumato.release.record import Release
from sfumato.release.text import visible
from sfumato.release.tongue import language_asked
from sfumato.release.wording import (
    NOT_PRIVATE,
    Say,
    confidence_words,
    name_words,
    number_words,
    places,
    range_words,
    scale_unit,
)
from sfumato.words import N_, speaker

__all__ = ["to_markdown"]

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&^=-])")


def to_markdown(releases: Sequence[Release], *, lang: str | None = None) -> str:
    """Return a table and the claim for each release.

    Args:
        releases: What to show, all figures.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.
    """
    say = speaker(language_asked(lang))
    return "\n".join(line for release in releases for line in _lines(release, say))


def _lines(release: Release, say: Say) -> list[str]:
    alarm = [] if release.claim.private else [f"**{say(NOT_PRIVATE)}**", ""]
    heads = [
        say(N_("figure")),
        say(N_("for")),
        say(N_("estimate")),
        say(N_("{level} interval"), level=confidence_words(release.confidence)),
        say(N_("unit")),
    ]
    figures = release.figures
    rows = [
        (
            name_words(figure, say),
            place,
            number_words(figure)[0],
            range_words(figure, say),
            scale_unit(figure, say),
        )
        for figure, place in zip(figures, places(figures), strict=True)
    ]
    return [
        f"## {_plain(title_words(release.title, release.question, release.figures, say))}",
        "",
        *alarm,
        _row(heads),
        "| --- | --- | ---: | --- | --- |",
        *map(_row, rows),
        "",
        _plain(promise(release.claim, say)),
        "",
        _plain(" ".join(interval_words(release.claim, say))),
        "",
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is; names may hold any character."""
    return _MARKUP.sub(r"\\\1", visible(text))
