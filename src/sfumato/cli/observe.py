"""For the owner: what the cells of each column look like. NOT PRIVATE."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from sfumato.amount import exact
from sfumato.declare.calendar import day_of_text
from sfumato.errors import SourceError
from sfumato.words import N_

__all__ = ["observe"]

_MOST_KEYS = 12


def observe(
    path: Path, *, encoding: str, separator: str, say: Callable[..., str]
) -> dict[str, str]:
    """Return, per column, its type and, where they are few, its keys.

    Formal guarantee: none. What is returned was read from the rows; it is shown to the
    owner as comments and no declaration is made from it. Bounds are never returned.

    Args:
        path: The table.
        encoding: Its encoding.
        separator: The sign between its cells.
        say: Says a text in the reader's language.

    Raises:
        SourceError: The table cannot be read.
    """
    try:
        with path.open(encoding=encoding, errors="replace", newline="") as lines:
            rows = csv.reader(lines, delimiter=separator)
            names = next(rows, [])
            seen = [_Seen() for _ in names]
            for row in rows:
                for column, cell in zip(seen, row, strict=False):
                    column.add(cell)
    except (OSError, csv.Error, ValueError) as error:
        raise SourceError(
            N_("{path} cannot be read: {reason}"),
            hint=N_("leave --read-values out: the header is enough"),
            path=str(path),
            reason=getattr(error, "strerror", None) or type(error).__name__,
        ) from None
    names[:1] = [name.removeprefix("\ufeff") for name in names[:1]]
    return {name: column.words(say) for name, column in zip(names, seen, strict=True)}


class _Seen:
    """What was seen of one column."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._numbers = self._wholes = self._days = self._texts = 0

    def add(self, cell: str) -> None:
        text = cell.strip()
        if not text:
            return
        number = exact(text)
        self._numbers += number is not None
        self._wholes += number is not None and number.denominator == 1
        is_day = number is None and day_of_text(text) is not None
        self._days += is_day
        self._texts += number is None and not is_day
        if len(self._keys) <= _MOST_KEYS:
            self._keys[cell] = None

    def words(self, say: Callable[..., str]) -> str:
        """Say it in one line: these are comments in a file, so they are short."""
        kinds = [
            say(text, count=count)
            for count, text in (
                (self._wholes, N_("whole numbers: {count}")),
                (self._numbers - self._wholes, N_("decimals: {count}")),
                (self._days, N_("days such as 2024-02-29: {count}")),
                (self._texts, N_("texts: {count}")),
            )
            if count
        ]
        line = say(N_(", ")).join(kinds) or say(N_("no value"))
        if 0 < len(self._keys) <= _MOST_KEYS:
            keys = say(N_(", ")).join(map(repr, self._keys))
            line = say(N_("{line}; keys: {keys}"), line=line, keys=keys)
        return line
