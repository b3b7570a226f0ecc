"""Delimited text: every line is read by one total rule, and none can stop the reading.

Which lines are one record is said in `sfumato.engine.records`. Empty lines are skipped;
cells that a line lacks are missing; cells beyond the header are ignored; undecodable bytes
become U+FFFD. What lies beyond a million characters of a record is ignored
(`sfumato.engine.lines`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import _lru_cache_wrapper, lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.declare.calendar import Date
from sfumato.declare.dataset import CSV
from sfumato.declare.schema import Integer, Real, Schema, Stored
from sfumato.declare.unit import Identifier
from sfumato.engine.columns import Array, cell_reader, of_arrays, pack
from sfumato.engine.encoding import BINARY, check_encoding
from sfumato.engine.lines import LONGEST, Lines
from sfumato.engine.records import Quoted, split_lines
from sfumato.engine.room import Room
from sfumato.engine.table import Table, declared_positions
from sfumato.errors import SourceError
from sfumato.words import N_

__all__ = ["load_csv"]

_REMEMBERED = 1 << 16  # distinct texts per column whose reading is kept
_ENCODINGS = ("utf-8", "gb18030", "utf-16", "big5", "shift_jis", "euc_kr", "cp1252")
_SEPARATORS = (",", ";", "\t", "|")


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
        ends = _ends(source)
        with Path(source.path).open(
            encoding=source.encoding, errors="replace", newline=ends
        ) as file:
            lines = Lines(file, ends)
            each = iter(lines)
            first = next(each, "").removeprefix("\ufeff")
            _check_length(source, first)
            rows = split_lines(chain([first], each), source.separator, lines)
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


def _ends(source: CSV) -> str:
    """Return the character at which lines end: that at which the header does.

    Otherwise a carriage return in a cell, which some writers do not quote, would make
    rows of one. A line break inside of a quoted name ends no line.
    """
    with Path(source.path).open(
        encoding=source.encoding, errors="replace", newline=""
    ) as file:
        read: list[str] = []
        lines = _noted(Lines(file), read)
        header = Quoted(source.separator)
        header.cells(next(lines, "").removeprefix("\ufeff"), lines)
        last = "".join(read[: len(read) - len(header.ahead)])
        after = header.ahead[0] if header.ahead else next(lines, "")
        # Written as text once more on Windows, a file has its lines end with \r\r\n.
        return "\r" if last.endswith("\r") and after != "\r\n" else "\n"


def _noted(lines: Lines, read: list[str]) -> Iterator[str]:
    """Yield lines, each noted when it is asked for."""
    for line in lines:
        read.append(line)
        yield line


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
    check_encoding(source.encoding)


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
    if head.startswith(BINARY):
        raise SourceError(
            N_("{path} is not a text file"),
            hint=N_("save it as CSV; a spreadsheet program can export that"),
            path=repr(str(source.path)),
        )
