"""Bytes of a project file → TOML values; decimals stay as they were written."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from sfumato.errors import ProjectError
from sfumato.words import N_

__all__ = ["read_toml"]

_LARGEST = 4 << 20  # bytes; a project file is a few kilobytes
_AT = re.compile(r" \(at line (\d+), column \d+\)$")
_WIDE = re.compile(r"[\u2018\u2019\u201c\u201d\u3000-\u3002\uff01-\uff5e]")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'|#.*""")
_SLIPS = (
    (r"overwrite|twice|redefine", N_("the same name stands twice; keep one of them")),
    (r"Invalid value", N_('write texts in quotes: type = "real"')),
    (
        r"Unescaped|Illegal character|escape|hex value",
        N_("in Windows paths write / or use single quotes: 'C:\\data.csv'"),
    ),
    (r"Unterminated|Expected '\"'|Expected \"'\"", N_("a closing quote is missing")),
    (r"Invalid initial|Expected '='|bare key", N_(
        'put names with blanks, signs or Chinese letters in quotes: [columns."血糖"]'
    )),
)  # fmt: skip


def read_toml(path: Path) -> dict[str, Any]:
    """Read a project file.

    Raises:
        ProjectError: The file cannot be read, is not UTF-8, or is not TOML; with the
            line where it breaks.
    """
    text = _text(path)
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except tomllib.TOMLDecodeError as error:
        raise _refusal(path, text, str(error)) from None
    except ValueError:  # Python reads no longer whole numbers
        raise _refusal(path, text, "a number of too many digits") from None
    except RecursionError:
        raise _refusal(path, text, "too many nested lists") from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise ProjectError(
                N_("{file} is too large for a project file"),
                hint=N_("name the project file, not the table"),
                file=path.name,
            )
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError) as error:
        if isinstance(error, ProjectError):
            raise
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> ProjectError:
    if isinstance(error, UnicodeDecodeError):
        return ProjectError(
            N_("{file} is not written in UTF-8"),
            hint=N_("save it as UTF-8 in your editor"),
            file=path.name,
        )
    if isinstance(error, FileNotFoundError):
        return ProjectError(
            N_("there is no project file {file}"),
            hint=N_("make one with: sfumato init TABLE"),
            file=str(path),
        )
    reason = getattr(error, "strerror", None) or str(error)
    return ProjectError(
        N_("{file} cannot be read: {reason}"),
        hint=N_("check the path and your right to read the file"),
        file=str(path),
        reason=reason,
    )


def _refusal(path: Path, text: str, reason: str) -> ProjectError:
    at = _AT.search(reason)
    line = int(at[1]) if at else text.count("\n") + 1
    hint = next(
        (hint for pattern, hint in _SLIPS if re.search(pattern, reason)),
        N_("see docs/project-file.md, or begin anew with: sfumato init TABLE"),
    )
    if _WIDE.search(_QUOTED.sub("", text.split("\n")[line - 1])):
        hint = N_(
            "type signs and digits in half width, outside of quotes and as quotes: "
            '" , : = [ ] 1'
        )
    return ProjectError(
        N_("{file}, line {line}: this is not valid TOML ({reason})"),
        hint=hint,
        file=path.name,
        line=line,
        reason=_AT.sub("", reason).removesuffix(" (at end of document)"),
    )


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text.replace("_", ""))
    except InvalidOperation:  # an exponent beyond Decimal's own limits
        return Decimal("nan")
