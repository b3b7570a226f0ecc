"""Text on a screen: safe to print, and as wide as it looks."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, combining, east_asian_width

__all__ = ["aligned", "columns", "pad", "visible", "whole"]

_NONE = "\ufffe\uffff"  # no characters: XML, hence SVG, may not hold them
_PICTURES = 0x2400  # Unicode's pictures of the control characters 0 to 31


def visible(text: str) -> str:
    r"""Return `text` on one line, with a visible sign for what would act unseen.

    A title or category may hold a terminal escape, a line break or a mark that turns
    the writing direction; shown raw, it could forge the text around it.

    Examples:
        >>> visible("a\nb"), visible("\x1b[2J"), visible("1\u202e2")
        ('a␊b', '␛[2J', '1\\u202e2')
    """
    return "".join(map(_sign, text))


def _sign(char: str) -> str:
    code = ord(char)
    if code < ord(" "):
        return chr(_PICTURES + code)
    hidden = category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} or char in _NONE
    return f"\\u{code:04x}" if hidden else char


def whole(text: str) -> str:
    r"""Return a text that UTF-8 can hold: half a pair of surrogates is spelled out.

    Examples:
        >>> whole("a\ud800"), whole("\U0001f600") == "\U0001f600"
        ('a\\ud800', True)
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def columns(text: str) -> int:
    """Return how many terminal columns `text` takes: two for each Chinese character.

    Examples:
        >>> columns("Age"), columns("年龄")
        (3, 4)
    """
    return sum(
        0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text
    )  # fmt: skip


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill `text` with spaces to `width` terminal columns.

    Examples:
        >>> pad("年龄", 6) + "|", pad("7", 3, right=True)
        ('年龄  |', '  7')
    """
    space = " " * (width - columns(text))
    return space + text if right else text + space


def aligned(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table, its cells as wide as they look.

    Args:
        rows: Cells, every row as long as the first.
        right: Places of the columns that hold numbers.

    Examples:
        >>> aligned([["血糖", "7"], ["n", "12"]], right=[1])
        ['血糖   7', 'n     12']
    """
    widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(
            pad(cell, width, right=i in right)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
