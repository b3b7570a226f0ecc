"""The header line of a text table: names only.

No byte beyond it is looked at, unless it ends within quotes: then the lines after it are
searched for the end of the name, and forgotten if there is none.
"""

from __future__ import annotations

import codecs
import os
import re
from codecs import IncrementalDecoder
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeVar

from sfumato.amount import exact
from sfumato.engine.encoding import BINARY, check_encoding
from sfumato.engine.table import NO_NAME
from sfumato.errors import SourceError, closest
from sfumato.words import N_

__all__ = [
    "SEPARATORS",
    "check_header",
    "read_header",
    "refuse_names",
    "refuse_row",
    "used_separator",
]

Found = TypeVar("Found")

SEPARATORS = (",", ";", "\t", "|")
_JSON = re.compile(r"""\s*(\[\s*)*\{\s*("[^"]*"|\w+)\s*:|\s*[\[{]\s*$|\s*\[\s*["\[]""")
_LONGEST = 1 << 20  # bytes; a header that does not end before is no header


def read_header(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", separator: str = ","
) -> list[str]:
    """Return the column names of a text table.

    Args:
        path: The table.
        encoding: Its encoding.
        separator: The sign between cells.

    Raises:
        SourceError: The file cannot be read, is empty, or its header does not decode.
    """
    names = _opened(Path(path), encoding, lambda lines: _names(lines, separator))
    if not names:
        raise SourceError(
            N_("{path} has no header line"),
            hint=N_("its first line must name the columns"),
            path=str(path),
        )
    return names


def refuse_names(names: list[str], path: Path) -> None:
    """Refuse a first line that cannot name columns, whatever else is asked.

    Raises:
        SourceError: Two names are the same, or it is the beginning of JSON.
    """
    if _JSON.match(",".join(names)):
        raise SourceError(
            N_("{path} is JSON and no text table"),
            hint=N_("save it as CSV, with a first line that names the columns"),
            path=path.name,
        )
    for name, times in Counter(names).items():
        if times > 1:
            raise SourceError(
                N_("{path} has two columns called {name}"),
                hint=N_("rename one of them in the table"),
                path=path.name,
                name=repr(name),
            )


def refuse_row(names: list[str], path: Path) -> None:
    """Refuse a first line that looks like a row; it quotes nothing of it.

    Raises:
        SourceError: One of the names is a number.
    """
    numbers = sum(exact(name.strip()) is not None for name in names)
    if numbers:
        raise SourceError(
            N_("the first line of {path} looks like a row: {numbers} of {names} names "
               "are numbers"),
            hint=N_("write the names of the columns into the first line; if these are "
                    "the names, say --header"),
            path=path.name,
            numbers=numbers,
            names=len(names),
        )  # fmt: skip


def check_header(declared: list[str], header: list[str], path: Path) -> None:
    """Refuse declared columns that the table lacks or has twice.

    Raises:
        SourceError: With the nearest name in the header.
    """
    counted = Counter(header)
    for name in declared:
        if counted[name] == 1:
            continue
        near = closest(name, header)
        fact = N_("{path} has no column {name}")
        hint = N_("its header has {near}; names must agree to the letter")
        hint = hint if near else NO_NAME
        if counted[name]:
            fact = N_("{path} has two columns called {name}")
            hint = N_("rename one of them in the table")
        raise SourceError(fact, hint=hint, path=path.name, name=repr(name), near=near)


def used_separator(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> str:
    """Return the separator that a table's header line shows most often.

    Raises:
        SourceError: As for `read_header`.
    """
    first = _opened(Path(path), encoding, lambda lines: next(lines, ""))
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", first).count)


def _names(lines: Iterator[str], separator: str) -> list[str]:
    """Read the first record by the one rule of all records (`split_lines`)."""
    first = next(lines, "")
    if '"' not in first:
        text = first.rstrip("\r\n")
        return text.split(separator) if text else []
    from sfumato.engine.records import split_lines  # it loads numpy

    return next(split_lines(chain([first], lines), separator), [])


def _opened(path: Path, encoding: str, ask: Callable[[Iterator[str]], Found]) -> Found:
    """Return what `ask` says of the lines of a file."""
    try:
        decoder = _decoder(encoding)
        with path.open("rb") as file:
            if file.peek(8).startswith(BINARY):
                raise _no_text(path)
            return ask(_lines(file.read, decoder))
    except UnicodeError:
        raise SourceError(
            N_("the header of {path} is not written in {encoding}"),
            hint=N_("declare its encoding; Chinese tables are often gb18030"),
            path=str(path),
            encoding=encoding,
        ) from None
    except LookupError:
        raise SourceError(
            N_("unknown encoding {encoding}"),
            hint=N_("write utf-8, gb18030 or utf-16"),
            encoding=repr(encoding),
        ) from None
    except (OSError, ValueError) as error:
        raise SourceError(
            N_("{path} cannot be read: {reason}"),
            hint=N_("check the path and your right to read the file"),
            path=str(path),
            reason=getattr(error, "strerror", None) or str(error),
        ) from None


def _no_text(path: Path) -> SourceError:
    return SourceError(
        N_("{path} is not a text file"),
        hint=N_("save it as CSV; a spreadsheet program can export that"),
        path=repr(str(path)),
    )


def _decoder(encoding: str) -> IncrementalDecoder:
    if not codecs.lookup(encoding)._is_text_encoding:  # noqa: SLF001  as open() asks
        raise LookupError
    check_encoding(encoding)
    return codecs.getincrementaldecoder(encoding)()


def _lines(read: Callable[[int], bytes], decoder: IncrementalDecoder) -> Iterator[str]:
    """Decode byte by byte, so that no byte is read before its line is asked for.

    Lines after the first are asked for only where a quote is open at the end of the
    first; what does not decode in them is replaced, because rows have no say.
    """
    text, started = "", False
    for _ in range(_LONGEST):
        byte = read(1)
        text += decoder.decode(byte, final=not byte)
        if text and not started:
            text, started = text.removeprefix("\ufeff"), True
        if not byte or text.endswith(("\n", "\r")):
            yield text
            text, decoder.errors = "", "replace"
        if not byte:
            return
