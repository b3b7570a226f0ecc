"""The header line of a text table: names only; no byte beyond it is looked at."""

from __future__ import annotations

import codecs
import csv
import os
import re
from codecs import IncrementalDecoder
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sfumato.engine.table import NO_NAME
from sfumato.errors import SourceError, closest
from sfumato.words import N_

__all__ = ["SEPARATORS", "check_header", "read_header", "used_separator"]

SEPARATORS = (",", ";", "\t", "|")
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
    line = _first_line(Path(path), encoding)
    names = next(csv.reader([line], delimiter=separator), [])
    if not names:
        raise SourceError(
            N_("{path} has no header line"),
            hint=N_("its first line must name the columns"),
            path=str(path),
        )
    return names


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
    return max(SEPARATORS, key=_first_line(Path(path), encoding).count)


def _first_line(path: Path, encoding: str) -> str:
    try:
        decoder = codecs.getincrementaldecoder(
            "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
        )()
        with path.open("rb") as file:
            return _decode_line(file.read, decoder)
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


def _decode_line(read: Callable[[int], bytes], decoder: IncrementalDecoder) -> str:
    """Decode byte by byte up to the first line break outside quotes."""
    text = ""
    for _ in range(_LONGEST):
        byte = read(1)
        text += decoder.decode(byte, final=not byte)
        if not byte or (text.endswith(("\n", "\r")) and text.count('"') % 2 == 0):
            break
    if text.count('"') % 2:  # a stray quote: what follows the first line are rows
        text = re.split("[\r\n]", text, maxsplit=1)[0]
    return text.rstrip("\r\n")
