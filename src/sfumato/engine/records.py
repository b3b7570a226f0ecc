"""Records of delimited text: which lines and cells are one, by one total rule.

A cell that starts with a quote ends at the next quote that is not doubled, if the
separator or the end of the line follows it; line breaks inside belong to the cell. Where
that does not hold, the quote is an ordinary character, so that a stray one changes cells
of its own line only. What a proper writer wrote is therefore read as it was meant, however
long a cell is: of a record that is longer than is kept, the rest is passed over up to its
own end, and never read as records of others.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, TypeAlias, final

from sfumato.engine.cell import UNREAD
from sfumato.engine.lines import LONGEST, Lines

__all__ = ["Quoted", "split_lines"]

_State: TypeAlias = Literal["start", "plain", "inside", "quote", "stray"]
"""Where in a record a text ends: at the start of a cell, in one without quotes, inside of
quotes, behind a quote that ends the cell unless another follows, or behind one that ends
none."""


def split_lines(
    lines: Iterable[str], separator: str, whole: Lines | None = None
) -> Iterator[list[str]]:
    r"""Yield the cells of each record; total, see the module's rule.

    Args:
        lines: The lines, each with its end.
        separator: What stands between cells.
        whole: Where the lines come from, if some of them may be cut.

    Examples:
        >>> list(split_lines(['1,"a""b"\n', '2,"c\n', 'd"\n', '3,"e\n', '4,"f"\n'], ","))
        [['1', 'a"b'], ['2', 'c\nd'], ['3', '"e'], ['4', 'f']]
    """
    reader = Quoted(separator, whole)
    source, ahead = iter(lines), reader.ahead
    while (line := ahead.popleft() if ahead else next(source, None)) is not None:
        text = line.rstrip("\r\n")
        if whole is not None and whole.is_cut and not ahead:
            yield reader.cut(line[:-1], whole)
        elif '"' in text:
            yield reader.cells(line, source)
        elif text:
            yield text.split(separator)


@final
class Quoted:
    """Splits a line that has a quote, looking ahead for the end of a long cell."""

    def __init__(self, separator: str, whole: Lines | None = None) -> None:
        """Look ahead at nothing yet."""
        mark = re.escape(separator)
        inside = r'[^"]*+(?:""[^"]*+)*+'
        self.ahead: deque[str] = deque()
        self._passed = ""
        self._separator, self._whole = separator, whole
        self._closed = re.compile(rf'"({inside})"(?={mark}|\Z)')
        self._inner = re.compile(rf'"({inside})"(?={mark})')
        self._open = re.compile(rf'"{inside}\Z')
        self._unclear = re.compile(rf'"{inside}"?\Z')
        self._closing = re.compile(rf'{inside}"(?={mark}|[\r\n]*\Z)')
        self._junk = re.compile(rf'{inside}"')

    def cells(self, line: str, source: Iterator[str]) -> list[str]:
        """Return the cells of a record that begins with this line."""
        cells: list[str] = []
        at = 0
        text = line.rstrip("\r\n")
        while True:
            found = None
            if text.startswith('"', at):
                found = self._closed.match(text, at)
                if found is None and self._open.match(text, at):
                    rest = self._rest(source)
                    if rest is None:
                        kept = line[at + 1 :] + self._passed
                        return [*cells, kept[:LONGEST] + UNREAD]
                    line += rest
                    text = line.rstrip("\r\n")
                    found = self._closed.match(text, at)
            if found:
                cells.append(found[1].replace('""', '"'))
                end = found.end()
            else:
                end = text.find(self._separator, at)
                end = len(text) if end < 0 else end
                cells.append(text[at:end])
            if end == len(text):
                return cells
            at = end + 1

    def cut(self, text: str, lines: Lines) -> list[str]:
        """Return the cells of a record whose first line was cut, and pass over the rest."""
        cells: list[str] = []
        at = 0
        while True:
            if found := self._inner.match(text, at):
                cells.append(found[1].replace('""', '"'))
                at = found.end() + 1
                continue
            if self._unclear.match(text, at) and self._ends(lines, text[at:], "start"):
                return [*cells, text[at:] + UNREAD]
            end = text.find(self._separator, at)
            if end < 0:
                break
            cells.append(text[at:end])
            at = end + 1
        self._ends(lines, "", "plain" if at < len(text) else "start")
        return [*cells, text[at:] + UNREAD]

    def _rest(self, source: Iterator[str]) -> str | None:
        """Return the lines that end an open cell properly, or nothing.

        A line is looked at once: a search ends at the next line that has a quote, or
        finds none in as much as is held, and then no line of that begins another one.
        None where there are more than are kept, and they were passed over.
        """
        length = seen = 0
        while True:
            if seen == len(self.ahead):
                line = next(source, None)
                if line is None:
                    return ""
                self.ahead.append(line)
            line, seen = self.ahead[seen], seen + 1
            length += len(line)
            if length > LONGEST or self._is_cut(seen):
                self._passed = "".join(self.ahead)
                if self._whole is not None and self._ends(self._whole, "", "inside"):
                    return None
                return ""
            if self._closing.match(line):
                return "".join(self.ahead.popleft() for _ in range(seen))
            if self._junk.match(line):
                return ""

    def _is_cut(self, seen: int) -> bool:
        """Tell whether the line that was seen last is one that was cut."""
        cut = self._whole is not None and self._whole.is_cut
        return cut and seen == len(self.ahead)

    def _ends(self, lines: Lines, text: str, state: _State) -> bool:
        """Pass over a record up to its end; if it has none, over nothing and tell so."""
        mark, held = lines.mark(), tuple(self.ahead)
        pieces = chain([text] if text else [], self._held(lines), lines.onward())
        if _is_ended(pieces, self._separator, lines.ends, state):
            return True
        lines.back(mark)
        self.ahead.clear()
        self.ahead.extend(held)
        return False

    def _held(self, lines: Lines) -> Iterator[str]:
        """Yield the lines that were looked at; of one that was cut what is known of it."""
        while self.ahead:
            line = self.ahead.popleft()
            yield line[:-1] if lines.is_cut and not self.ahead else line


def _is_ended(pieces: Iterable[str], separator: str, ends: str, state: _State) -> bool:
    """Read pieces up to the end of a record, which ends a piece; false if it never ends.

    A quoted cell does not end where something else than a separator follows its quote,
    or where the text ends.
    """
    for piece in pieces:
        at = 0
        while at < len(piece):
            state, at = _step(piece, at, separator, state)
            if state == "stray":
                return False
        if state != "inside" and piece[-1] in ends:
            return True
    return state != "inside"


def _step(piece: str, at: int, separator: str, state: _State) -> tuple[_State, int]:
    """Return the state at a later place of a piece, and the place."""
    sign = piece[at]
    if state == "inside":
        after = piece.find('"', at) + 1
        return ("quote", after) if after else ("inside", len(piece))
    if state == "quote":
        if sign in "\r\n" and not piece[at:].strip("\r\n"):
            return "quote", len(piece)
        signs: dict[str, _State] = {'"': "inside", separator: "start"}
        return signs.get(sign, "stray"), at + 1
    if state == "start" and sign == '"':
        return "inside", at + 1
    after = piece.find(separator, at) + 1
    if after:
        return "start", after
    return "plain", len(piece)
