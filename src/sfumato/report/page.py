"""Releases → one HTML file that asks the network for nothing and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.release.libraries import need
from sfumato.release.record import Release
from sfumato.release.text import visible
from sfumato.release.tongue import language_asked
from sfumato.release.wording import NOT_PRIVATE
from sfumato.report.closing import closings
from sfumato.report.palette import DARK, LIGHT, variables
from sfumato.report.view import view
from sfumato.words import N_, speaker

__all__ = ["render", "to_html"]

_TEMPLATES = Path(__file__).parent / "templates"
_TAGS = {"en": "en", "zh": "zh-CN"}


def to_html(
    releases: Sequence[Release],
    *,
    lang: str | None = None,
    title: str | None = None,
    headline: Sequence[str] = (),
    project: str = "",
) -> str:
    """Return a page that shows releases: one file, offline, no script.

    Args:
        releases: In the order of the page.
        lang: ``"en"`` or ``"zh"``; default: the language of the locale.
        title: Of the page; default: that of the only release, or a general one.
        headline: Names of the figures to show first; default: the first single ones.
        project: The text of the project file that asked, to be printed for whoever wants
            to ask again; none for a question from Python.

    Raises:
        MissingExtraError: matplotlib or Jinja2 is not installed.
    """
    tongue = language_asked(lang)
    say = speaker(tongue)
    views = [view(release, say, headline=headline) for release in releases]
    if title is None:
        title = views[0].title if len(views) == 1 else say(N_("Private figures"))
    alarm = "" if all(v.private for v in views) else say(NOT_PRIVATE)
    text = "\n".join(map(visible, project.splitlines()))
    facts = {"title": visible(title), "views": views, "alarm": alarm, "project": text}
    shared = closings(releases, views, say)
    return render("release.html", tongue, shared=shared, **facts)


def render(name: str, lang: str, **facts: Any) -> str:
    """Fill a template; every value is escaped."""
    words = {"say": speaker(lang), "N_": N_, "tag": _TAGS[lang]}
    themes = {"light": variables(LIGHT), "dark": variables(DARK)}
    page: str = _environment().get_template(name).render(words | themes | facts)
    return page


@lru_cache(maxsize=1)
def _environment() -> Any:
    jinja2 = need("jinja2")
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["soft"] = _soft
    return made


def _soft(text: str) -> Any:
    """Escape a name, and let a long one break before capitals and after underscores."""
    safe = str(need("markupsafe").escape(text))
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=_)", "<wbr>", safe)
    return need("markupsafe").Markup(parts)
