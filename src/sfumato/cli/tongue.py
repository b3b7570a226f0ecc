"""Which language this command line speaks: --lang, SFUMATO_LANG, or the locale."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise

from sfumato.release.text import visible
from sfumato.words import LANGUAGES, language, speaker

__all__ = ["asked_language", "read_language", "report_language", "say", "spoken",
           "tongue"]  # fmt: skip

_SPOKEN: ContextVar[str] = ContextVar("spoken", default="en")
_WORDS: ContextVar[Sequence[str]] = ContextVar("words", default=())


def tongue() -> str:
    """Return the language of the running command."""
    return _SPOKEN.get()


def say(text: str, /, **facts: object) -> str:
    """Say a text in the language of the running command; no fact can act on a terminal."""
    speak: Callable[..., str] = speaker(tongue())
    shown = {n: visible(v) if isinstance(v, str) else v for n, v in facts.items()}
    return speak(text, **shown)


def read_language(value: str) -> str | None:
    """Read a language as people write it; none when it is not spoken here.

    Examples:
        >>> read_language("zh-CN"), read_language("EN"), read_language("fr")
        ('zh', 'en', None)
    """
    short = value.strip().lower().replace("_", "-").split("-")[0]
    return short if short in LANGUAGES else None


def asked_language(words: Sequence[str]) -> str | None:
    """Return the language that the command line or SFUMATO_LANG asks for.

    It is read before anything else, so that help and errors speak it too.
    """
    found = os.environ.get("SFUMATO_LANG", "")
    for word, following in pairwise([*words, ""]):
        if word == "--lang":
            found = following
        elif word.startswith("--lang="):
            found = word.removeprefix("--lang=")
    return read_language(found)


@contextmanager
def spoken(words: Sequence[str]) -> Iterator[None]:
    """Speak the right language inside a ``with`` block."""
    token = _SPOKEN.set(asked_language(words) or language())
    before = _WORDS.set(words)
    try:
        yield
    finally:
        _WORDS.reset(before)
        _SPOKEN.reset(token)


def report_language(declared: str | None) -> str:
    """Return the language of reports: asked for, else the project's, else spoken."""
    asked = asked_language(_WORDS.get())
    return asked or declared or tongue()
