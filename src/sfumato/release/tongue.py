"""The language that a caller asks for, or an error that says which there are."""

from __future__ import annotations

from sfumato.errors import ArgumentError, quoted
from sfumato.words import LANGUAGES, N_, language

__all__ = ["language_asked"]


def language_asked(lang: str | None) -> str:
    """Return the language to speak: the asked one, else that of the locale.

    Args:
        lang: ``"en"`` or ``"zh"``, or one with a region, as in ``"zh-CN"``; none for the
            locale's.

    Raises:
        ArgumentError: It is another language. Nothing was read or spent.

    Examples:
        >>> language_asked("zh-CN")
        'zh'
        >>> language_asked("fr")
        Traceback (most recent call last):
        sfumato.errors.ArgumentError: [SF102] unknown language 'fr'
          hint: write en or zh
    """
    if lang is None:
        return language()
    short = str(lang).strip().lower().replace("_", "-").split("-")[0]
    if short not in LANGUAGES:
        raise ArgumentError(
            N_("unknown language {value}"),
            hint=N_("write {languages}"),
            value=quoted(lang),
            languages=" or ".join(LANGUAGES),
        )
    return short
