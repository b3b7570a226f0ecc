"""Where in a project file something is wrong, and errors that say so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from sfumato.errors import ProjectError, SfumatoError

__all__ = ["PlacedError", "place_of", "placed", "shown"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@final
class PlacedError(ProjectError):
    """An error of a lower floor, with the file and place that it comes from.

    Its fact and hint stay the inner error's own, so they translate as they do there.
    """

    def __init__(self, inner: SfumatoError, place: str) -> None:
        """Put `place` before what `inner` says."""
        super().__init__("{place}", hint="{place}", place=place)
        self._inner, self._place = inner, place

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by parts."""
        return PlacedError, (self._inner, self._place)

    def say(self, lang: str) -> tuple[str, str]:
        """Return the fact with its place, and the hint."""
        fact, hint = self._inner.say(lang)
        return f"{self._place}: {fact}", hint


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Give the errors of a block their place in the file.

    Examples:
        >>> from sfumato.account import Epsilon
        >>> with placed("project.toml: budget.epsilon"):
        ...     Epsilon(0)
        Traceback (most recent call last):
        sfumato.project.place.PlacedError: [SF103] project.toml: budget.epsilon: epsilon must be greater than 0, got 0
          hint: write a decimal such as "0.5"; no value switches privacy off
    """
    try:
        yield
    except PlacedError:
        raise
    except SfumatoError as error:
        raise PlacedError(error, place) from None


def place_of(*keys: str | int) -> str:
    """Write a path as TOML does: keys with odd characters in quotes.

    Entries of lists are counted from 1, as people do.

    Examples:
        >>> place_of("columns", "血糖 值", "upper"), place_of("statistics", 0, "mean")
        ('columns."血糖 值".upper', 'statistics[1].mean')
    """
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key + 1}]"
        else:
            bare = _BARE.fullmatch(key)
            quoted = json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")
            text += "." + (key if bare else quoted)
    return text.removeprefix(".")


def shown(value: object) -> str:
    """Write a value as it stands in the file, shortened.

    Examples:
        >>> shown(0.5), shown(True), shown("1,5"), shown([1, 2, 3, 4])
        ('0.5', 'true', '"1,5"', '[1, 2, 3, …]')
    """
    if isinstance(value, bool | str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        text = "{…}"
    elif isinstance(value, list):
        text = f"[{', '.join(map(shown, value[:3]))}{', …' if len(value) > 3 else ''}]"  # noqa: PLR2004  three show the kind
    else:
        text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004  one line
