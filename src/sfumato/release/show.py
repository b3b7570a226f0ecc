"""A release on a terminal and in a notebook cell: no library, no file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sfumato.release.asked import release_words, title_words
from sfumato.release.promise import hidden_words, interval_words, promise
from sfumato.release.record import Figure, Release
from sfumato.release.text import columns, pad, visible
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

__all__ = ["to_snippet", "to_text"]

_MOST = 200  # rows on a screen; the formats hold all

_NUMBERS = frozenset({2})  # the columns that are aligned on the right


def to_text(release: Release, *, lang: str | None = None) -> str:
    """Return an aligned plain text table with the claim.

    Args:
        release: What to show.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.
    """
    say = speaker(language_asked(lang))
    lines = [] if release.claim.private else [f"*** {say(NOT_PRIVATE)} ***", ""]
    head = (
        title_words(release.title, release.question, release.figures, say),
        release_words(release.question, release.figures, say),
    )
    lines += [t for t in dict.fromkeys(head) if t]
    table = [_heads(release, say), *_rows(release, say)]
    used = [i for i in range(len(table[0])) if any(row[i] for row in table[1:])]
    widths = {i: max(columns(row[i]) for row in table) for i in used}
    lines += [""] if used else []
    for row in table if used else []:
        cells = (pad(row[i], widths[i], right=i in _NUMBERS) for i in used)
        lines.append("  ".join(cells).rstrip())
    lines += ["", *_foot(release, say)]
    return "\n".join(lines).lstrip("\n")


def to_snippet(release: Release, *, lang: str | None = None) -> str:
    """Return a compact HTML table with the claim, for a notebook's output cell."""
    say = speaker(language_asked(lang))
    heads, *rows = _heads(release, say), *_rows(release, say)
    used = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    head = "".join(_tag("th", heads[i], i) for i in used)
    body = "".join(
        "<tr>" + "".join(_tag("td", row[i], i) for i in used) + "</tr>" for row in rows
    )
    alarm = "" if release.claim.private else _alarm(say)
    title = escape(title_words(release.title, release.question, release.figures, say))
    foot = "<br>".join(map(escape, _foot(release, say)))
    return (
        f'<div class="sfumato-release">{alarm}<table>'
        f'<caption style="text-align:left;font-weight:600">{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<p style="font-size:smaller;opacity:.8">{foot}</p></div>'
    )


def _alarm(say: Say) -> str:
    style = "background:#b3261e;color:#fff;font-weight:700;padding:.4em .8em"
    return f'<p role="alert" style="{style}">{escape(say(NOT_PRIVATE))}</p>'


def _tag(name: str, text: str, place: int) -> str:
    side = "right" if place in _NUMBERS else "left"
    scope = ' scope="col"' if name == "th" else ""
    return f'<{name}{scope} style="text-align:{side}">{escape(text)}</{name}>'


def _heads(release: Release, say: Say) -> list[str]:
    level = confidence_words(release.confidence)
    return [
        say(N_("figure")),
        say(N_("for")),
        say(N_("estimate")),
        say(N_("{level} interval"), level=level),
        say(N_("unit")),
    ]


def _rows(release: Release, say: Say) -> list[list[str]]:
    shown = release.figures[:_MOST]
    told = zip(shown, places(shown, release.figures), strict=True)
    return [_row(figure, place, say) for figure, place in told]


def _row(figure: Figure, place: str, say: Say) -> list[str]:
    return [
        name_words(figure, say),
        place,
        number_words(figure)[0],
        range_words(figure, say),
        scale_unit(figure, say),
    ]


def _foot(release: Release, say: Say) -> Sequence[str]:
    receipt = release.claim.receipt
    more = len(release) - _MOST
    lines = [say(N_("… and 1 more figure"))] if more == 1 else []
    if more > 1:
        lines = [say(N_("… and {count} more figures"), count=more)]
    if not release.claim.private:
        lines.append(say(NOT_PRIVATE))
    return [
        *lines,
        *hidden_words(release, say),
        promise(release.claim, say),
        say(
            N_("debit {sequence} of the budget of {dataset}"),
            sequence=receipt.sequence,
            dataset=visible(receipt.dataset),
        ),
        *interval_words(release.claim, say),
    ]
