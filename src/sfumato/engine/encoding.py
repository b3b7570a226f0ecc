"""Encodings of private text: none may have a state that one row could leave behind."""

from __future__ import annotations

import codecs

from sfumato.errors import SourceError
from sfumato.words import N_

__all__ = ["BINARY", "check_encoding"]

# Parquet, what is zipped (.xlsx), old Excel, gzip, SQLite, PDF.
BINARY = (b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"SQLite", b"%PDF")

_STATEFUL = ("iso2022", "hz", "utf_7", "unicode_escape", "raw_unicode_escape",
             "punycode", "idna")  # fmt: skip


def check_encoding(encoding: str) -> None:
    """Refuse a known encoding in which a row may change how later ones are read.

    Raises:
        SourceError: It has a state that lasts beyond a line.
        LookupError: It is unknown.

    Examples:
        >>> check_encoding("utf-8")
        >>> check_encoding("utf-7")
        Traceback (most recent call last):
        sfumato.errors.SourceError: [SF104] 'utf-7' has a state that lasts beyond a line
          hint: one row could change how all others are read: write the file again in utf-8
    """
    if codecs.lookup(encoding).name.replace("-", "_").startswith(_STATEFUL):
        raise SourceError(
            N_("{encoding} has a state that lasts beyond a line"),
            hint=N_(
                "one row could change how all others are read: write the file again in "
                "utf-8"
            ),
            encoding=repr(encoding),
        )
