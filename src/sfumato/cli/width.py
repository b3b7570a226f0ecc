"""Text by terminal columns: a Chinese character takes two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining, east_asian_width

__all__ = ["columns", "definitions", "pad", "wrap"]

_WORD = re.compile(r"\S+|\s+")
_NOT_FIRST = "，。；：、！？）》」』】”’…,.;:!?)]}"  # closes what stands before it
_NOT_LAST = "（《「『【“‘([{"


def columns(text: str) -> int:
    """Return how many terminal columns a text takes.

    Examples:
        >>> columns("Age"), columns("年龄")
        (3, 4)
    """
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text with spaces to `width` columns, on the left when `right`."""
    space = " " * (width - columns(text))
    return space + text if right else text + space


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns.

    Lines break at spaces and between Chinese characters, never before a closing or
    after an opening mark.

    Examples:
        >>> wrap("noise hides one row", 10)
        ['noise', 'hides one', 'row']
        >>> wrap("噪声掩盖一行，仅此而已。", 12)
        ['噪声掩盖一', '行，仅此而', '已。']
    """
    lines, line = [], ""
    for piece in _pieces(text):
        if line and columns((line + piece).rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def definitions(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """Lay out terms on the left and their wrapped explanations on the right."""
    left = min(max((columns(term) for term, _ in rows), default=0), 28)
    for term, text in rows:
        lines = wrap(text, max(20, width - left - 4)) or [""]
        if columns(term) > left:
            yield f"  {term}"
        else:
            yield f"  {pad(term, left)}  {lines.pop(0)}".rstrip()
        yield from (f"  {'':{left}}  {line}" for line in lines)


def _pieces(text: str) -> Iterator[str]:
    """Iterate over the smallest parts of a text that must stay on one line."""
    piece = ""
    for word in _WORD.findall(text):
        for char in word:
            if piece and _may_break(piece[-1], char):
                yield piece
                piece = ""
            piece += char
    if piece:
        yield piece


def _may_break(before: str, after: str) -> bool:
    if after.isspace() or after in _NOT_FIRST or before in _NOT_LAST:
        return False
    return before.isspace() or _is_wide(before) or _is_wide(after)


def _is_wide(char: str) -> bool:
    return east_asian_width(char) in "WF"
