"""The owner's page: true figures beside private ones. Never for publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sfumato.release.asked import release_words, title_words
from sfumato.release.owner import OWNER_ONLY, OwnerComparison, OwnerRow
from sfumato.release.promise import promise
from sfumato.release.tongue import language_asked
from sfumato.release.wording import (
    Say,
    confidence_words,
    name_words,
    places,
    value_words,
)
from sfumato.report.frame import Heads, Mark
from sfumato.report.page import render
from sfumato.report.pictures import Pair, Picture, pictures, signed
from sfumato.report.plot import stack
from sfumato.report.rows import bars
from sfumato.report.table import Line, lines
from sfumato.report.view import Drawing, draw
from sfumato.words import N_, speaker

__all__ = ["owner_html", "owner_pictures", "owner_plot"]

_MOST_ERRORS = 36


@dataclass(frozen=True, slots=True)
class OwnerLine:
    """One row of the owner's table."""

    line: Line
    truth: str
    error: str
    relative: str
    covered: bool


@dataclass(frozen=True, slots=True)
class OwnerView:
    """One comparison, as ready words for the template."""

    title: str
    question: str
    level: str
    promise: str
    covered: int
    count: int
    drawings: tuple[Drawing, ...]
    rows: tuple[OwnerLine, ...]


def owner_html(
    comparisons: Sequence[OwnerComparison], *, lang: str | None = None
) -> str:
    """Return the owner's page, marked on every screen and on every printed page.

    Raises:
        MissingExtraError: matplotlib or Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    views = [_view(c, say) for c in comparisons]
    title = say(N_("Owner's comparison: true and released figures"))
    return render("owner.html", tongue, title=title, views=views, alarm=say(OWNER_ONLY))


def owner_plot(comparison: OwnerComparison, *, lang: str | None = None) -> Any:
    """Return all pictures of a comparison as one matplotlib figure.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    say = speaker(language_asked(lang))
    return stack(
        owner_pictures(comparison, say),
        _title(comparison, say),
        alarm=say(OWNER_ONLY),
        foot=promise(comparison.claim, say),
    )


def owner_pictures(comparison: OwnerComparison, say: Say) -> list[Picture]:
    """Return the pictures of a release with the true values in them, and the errors."""
    pairs: list[Pair] = [(row.figure, row.truth) for row in comparison.rows]
    found = pictures(pairs, comparison.confidence, say)
    errors = _errors(comparison.rows, say)
    return [*found, errors] if errors else found


def _errors(rows: Sequence[OwnerRow], say: Say) -> Picture | None:
    """Draw the relative errors as bars, where the true value is not zero."""
    known = [row for row in rows if row.relative_error is not None]
    shown = known[:_MOST_ERRORS]
    if not shown:
        return None
    told = places([row.figure for row in shown], [row.figure for row in rows])
    marks = [_error_mark(r, place, say) for r, place in zip(shown, told, strict=True)]
    head = Heads(value=say(N_("relative error")))
    return Picture(
        say(N_("Relative error: released against true")),
        tuple((row.figure, row.truth) for row in shown),
        len(known) - len(shown),
        partial(bars, items=marks, heads=head),
    )


def _error_mark(row: OwnerRow, place: str, say: Say) -> Mark:
    percent = 100 * (row.relative_error or 0.0)
    name = name_words(row.figure, say)
    label = f"{name} · {place}" if place else name
    return Mark(label, percent, percent, percent, _percent(percent))


def _percent(percent: float) -> str:
    return f"{percent:.3g}%" if percent < 1000 else f"{percent:,.0f}%"  # noqa: PLR2004


def _view(comparison: OwnerComparison, say: Say) -> OwnerView:
    rows = comparison.rows
    figures = [row.figure for row in rows]
    return OwnerView(
        title=_title(comparison, say),
        question=release_words(comparison.question, figures, say),
        level=confidence_words(comparison.confidence),
        promise=promise(comparison.claim, say),
        covered=comparison.covered,
        count=len(rows),
        drawings=tuple(draw(p, say, figures) for p in owner_pictures(comparison, say)),
        rows=tuple(
            _owner_line(row, line)
            for row, line in zip(rows, lines(figures, say), strict=True)
        ),
    )


def _title(comparison: OwnerComparison, say: Say) -> str:
    figures = [row.figure for row in comparison.rows]
    return title_words(comparison.title, comparison.question, figures, say)


def _owner_line(row: OwnerRow, line: Line) -> OwnerLine:
    share = row.relative_error
    return OwnerLine(
        line,
        signed(value_words(row.figure, row.truth)),
        signed(value_words(row.figure, row.error)),
        "–" if share is None else _percent(100 * share),
        row.covered,
    )
