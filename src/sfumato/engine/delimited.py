"""Delimited text: every line is read by one total rule, and none can stop the reading.

A cell that starts with a quote ends at the next quote that is not doubled, if the
separator or the end of the line follows it; line breaks inside belong to the cell.
Where that does not hold, the quote is an ordinary character, so that a stray one
changes cells of its own line only. Empty lines are skipped; cells that a line lacks are
missing; cells beyond the header are ignored; undecodable bytes become U+FFFD. What lies
beyond a million characters of a line is ignored (`sfumato.engine.lines`).
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import _lru_cache_wrapper, lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Any, final

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.dataset import CSV
from sfumato.declare.schema import Integer, Real, Schema, Stored
from sfumato.declare.unit import Identifier
from sfumato.engine.columns import Array, cell_reader, of_arrays, pack
from sfumato.engine.lines import LONGEST, Lines
from sfumato.engine.room import Room
from sfumato.engine.table import Table, declared_positions
from sfumato.errors import SourceError
from sfumato.words import N_

__all__ = ["load_csv", "split_lines"]

_REMEMBERED = 1 << 16  # distinct texts per column whose reading is kept
_ENCODINGS = ("utf-8", "gb18030", "utf-16", "big5", "shift_jis", "euc_kr", "cp1252")
_SEPARATORS = (",", ";", "\t", "|")
_BINARY = (b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"SQLite", b"%PDF")


def load_csv(source: CSV, schema: Schema, *, memory: str | None = None) -> Table:
    """Read the declared columns into memory: numbers as doubles, keys as places.

    Args:
        source: The file and how it is written.
        schema: The declarations.
        memory: The most that the columns may take; default: what the engine may use.

    Raises:
        SourceError: The file cannot be read, has no header, or lacks a column (then the
            hint names the encodings or separators under which the header has it), or
            its columns need more memory.
    """
    _check_format(source)
    _check_file(source)
    try:
        with Path(source.path).open(
            encoding=source.encoding, errors="replace", newline=""
        ) as file:
            lines = Lines(file)
            each = iter(lines)
            first = next(each, "").removeprefix("\ufeff")
            _check_length(source, first)
            rows = split_lines(chain([first], each), source.separator)
            header = next(rows) if first.strip("\r\n") else []
            positions = _positions(source, schema, header)
            room = Room(memory, str(source.path))
            arrays = _read(
                lines.batches(rows), positions, source, schema, (lines, room)
            )
    except (OSError, UnicodeError):
        pass
    else:
        return of_arrays(arrays, ["text"] * len(arrays))
    raise SourceError(  # without a context: a decoder's words may quote a cell
        N_("{path} cannot be read as {encoding} text"),
        hint=N_('name the encoding it was written in: CSV(..., encoding="gb18030")'),
        path=repr(str(source.path)),
        encoding=source.encoding,
    )


def split_lines(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    r"""Yield the cells of each record; total, see the module's rule.

    Examples:
        >>> list(split_lines(['1,"a""b"\n', '2,"c\n', 'd"\n', '3,"e\n', '4,"f"\n'], ","))
        [['1', 'a"b'], ['2', 'c\nd'], ['3', '"e'], ['4', 'f']]
    """
    reader = _Quoted(separator)
    source, ahead = iter(lines), reader.ahead
    while (line := ahead.popleft() if ahead else next(source, None)) is not None:
        text = line.rstrip("\r\n")
        if '"' in text:
            yield reader.cells(line, source)
        elif text:
            yield text.split(separator)


@final
class _Quoted:
    """Splits a line that has a quote, looking ahead for the end of a long cell."""

    def __init__(self, separator: str) -> None:
        mark = re.escape(separator)
        inside = r'[^"]*+(?:""[^"]*+)*+'
        self.ahead: deque[str] = deque()
        self._separator = separator
        self._closed = re.compile(rf'"({inside})"(?={mark}|\Z)')
        self._open = re.compile(rf'"{inside}\Z')
        self._closing = re.compile(rf'{inside}"(?={mark}|[\r\n]*\Z)')
        self._junk = re.compile(rf'{inside}"')

    def cells(self, line: str, source: Iterator[str]) -> list[str]:
        cells, at = [], 0
        text = line.rstrip("\r\n")
        while True:
            found = None
            if text.startswith('"', at):
                found = self._closed.match(text, at)
                if found is None and self._open.match(text, at):
                    line += self._rest(source)
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

    def _rest(self, source: Iterator[str]) -> str:
        """Return the lines that end an open cell properly, or nothing.

        A line is looked at once: a search ends at the next line that has a quote, or
        finds none in as much as is held, and then no line of that begins another one.
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
            if length > LONGEST:
                return ""
            if self._closing.match(line):
                return "".join(self.ahead.popleft() for _ in range(seen))
            if self._junk.match(line):
                return ""


def _read(
    batches: Iterator[list[list[str]]],
    positions: tuple[int, ...],
    source: CSV,
    schema: Schema,
    watched: tuple[Lines, Room],
) -> list[Array]:
    lines, room = watched
    columns = [column for _, column in schema.stored]
    readers = [_reader(source, column) for column in columns]
    parts: list[list[Array]] = [[pack((), column)] for column in columns]
    heavy = 0
    for batch in batches:
        has_long = lines.heavy > heavy
        if has_long and any(isinstance(c, Identifier) for c in columns):
            room.hold(lines.heavy - heavy)  # each identifier is kept to the end
        heavy = lines.heavy
        for part, place, read, column in zip(
            parts, positions, readers, columns, strict=True
        ):
            cells = (row[place] if place < len(row) else "" for row in batch)
            # Long texts are read, not remembered: there is room for short ones only.
            one = pack(map(read.__wrapped__ if has_long else read, cells), column)
            part.append(one)
            room.take(one)
    return [np.concatenate(parts.pop(0)) for _ in columns]


def _reader(source: CSV, column: Stored) -> _lru_cache_wrapper[Any]:
    """Return the cell reader for text as this file writes it; empty text is missing."""
    read = cell_reader(column)
    plain = source.decimal == "." and source.thousands is None
    if plain or not isinstance(column, Real | Integer) or isinstance(column, Date):
        return lru_cache(_REMEMBERED)(lambda text: read(text or None))
    return lru_cache(_REMEMBERED)(lambda text: read(_numeral(text, source)))


def _numeral(text: str, source: CSV) -> str | None:
    """Return a numeral with a decimal point and no thousands; none if it cannot be one.

    A thousands separator counts only between two digits of the integer part.

    Examples:
        >>> _numeral("1.234,50", CSV("x.csv", decimal=",", thousands="."))
        '1234.50'
        >>> _numeral("1.5", CSV("x.csv", decimal=",")) is None
        True
    """
    whole, mark, part = text.partition(source.decimal)
    if source.thousands:
        between = rf"(?<=[0-9]){re.escape(source.thousands)}(?=[0-9])"
        whole = re.sub(between, "", whole)
    if source.decimal != "." and "." in whole + part:
        return None
    return f"{whole}.{part}" if mark else whole


def _positions(source: CSV, schema: Schema, header: list[str]) -> tuple[int, ...]:
    if not header:
        raise SourceError(
            N_("{path} has no header: its first line must name the columns"),
            hint=N_("write the names of the columns into the first line"),
            path=repr(str(source.path)),
        )
    wanted = {name for name, _ in schema.stored}
    if wanted <= set(header):
        return declared_positions(schema, header)
    with Path(source.path).open("rb") as file:
        head = file.read(1 << 16)
    for encoding, separator in product(_ENCODINGS, _SEPARATORS):
        first = head.decode(encoding, errors="replace").lstrip("\ufeff").splitlines()
        names = next(split_lines(first[:1], separator), [])
        if wanted <= set(names):
            hint = N_(
                "its header has all declared columns when it is opened as "
                "CSV(..., encoding={encoding}, separator={separator})"
            )
            return declared_positions(
                schema, header, hint=hint, encoding=repr(encoding), separator=repr(separator)
            )  # fmt: skip
    return declared_positions(schema, header)


def _check_length(source: CSV, first: str) -> None:
    """Refuse a header that was not read to its end."""
    if len(first) >= LONGEST - 1:
        raise SourceError(
            N_("the first line of {path} is longer than a million characters"),
            hint=N_("the first line must name the columns; is it a text table?"),
            path=repr(str(source.path)),
        )


def _check_format(source: CSV) -> None:
    """Refuse marks that cannot be told apart, and unknown encodings."""
    marks = (source.separator, source.decimal, source.thousands or "'")
    if any(len(m) != 1 or m in '"\r\n+-0123456789eE' for m in marks) or (
        source.decimal == source.thousands
    ):
        raise SourceError(
            N_("separator, decimal and thousands must be single, different characters"),
            hint=N_('write, for example, CSV(..., separator=";", decimal=",")'),
        )
    try:
        known = codecs.lookup(source.encoding)._is_text_encoding  # noqa: SLF001  as open() asks
    except (LookupError, ValueError, TypeError):
        known = False
    if not known:
        raise SourceError(
            N_("unknown text encoding {encoding}"),
            hint=N_('use a Python codec such as "utf-8", "gb18030" or "utf-16"'),
            encoding=repr(source.encoding),
        )


def _check_file(source: CSV) -> None:
    """Refuse what is surely no text file, in one line and with the reason."""
    try:
        with Path(source.path).open("rb") as file:
            head = file.read(8)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise SourceError(
            N_("{path} cannot be opened: {reason}"),
            hint=N_("check the path; it is relative to {folder}"),
            path=repr(str(source.path)),
            reason=reason,
            folder=repr(str(Path.cwd())),
        ) from None
    if head.startswith(_BINARY):
        raise SourceError(
            N_("{path} is not a text file"),
            hint=N_("save it as CSV; a spreadsheet program can export that"),
            path=repr(str(source.path)),
        )
