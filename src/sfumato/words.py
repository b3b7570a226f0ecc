"""The languages of the program: English in the code, Chinese from a gettext catalogue.

Texts are written in English where their facts are and marked with `N_`; they become
another language only when they are shown. Placeholders are named, never positional.

Examples:
    >>> translate(N_("unknown column {name}"), "en").format(name="'bmi'")
    "unknown column 'bmi'"
"""

from __future__ import annotations

import gettext
import locale
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

__all__ = ["LANGUAGES", "N_", "language", "speaker", "translate"]

LANGUAGES = ("en", "zh")
_CATALOGUES = Path(__file__).parent / "locale"


def N_(text: str) -> str:  # noqa: N802  the gettext community's name for this marker
    """Mark a text for translation and return it unchanged."""
    return text


def language(asked: str | None = None) -> str:
    """Return the language to speak: the asked one, else the locale's, else English.

    Examples:
        >>> language("zh-CN"), language("de")
        ('zh', 'en')
    """
    words = asked or next(
        (v for k in ("LC_ALL", "LC_MESSAGES", "LANG") if (v := os.environ.get(k))),
        locale.getlocale()[0] or "",
    )
    return "zh" if words.lower().startswith(("zh", "chinese")) else "en"


@lru_cache(maxsize=len(LANGUAGES))
def _catalogue(lang: str) -> gettext.NullTranslations:
    return gettext.translation("sfumato", _CATALOGUES, [lang], fallback=True)


def translate(text: str, lang: str) -> str:
    """Return `text` in `lang`, or unchanged where the catalogue lacks it."""
    return _catalogue(lang).gettext(text) if text and lang != "en" else text


def speaker(lang: str) -> Callable[..., str]:
    """Return a function that translates a text and fills its named placeholders."""

    def say(text: str, /, **facts: object) -> str:
        return translate(text, lang).format(**facts) if facts else translate(text, lang)

    return say
