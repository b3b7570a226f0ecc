"""Releases as an Excel workbook: figures, claims, and the raw noisy numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from sfumato.errors import ArgumentError
from sfumato.release.libraries import need
from sfumato.release.merged import merge
from sfumato.release.promise import promise
from sfumato.release.record import Release
from sfumato.release.tables import Cell
from sfumato.release.tongue import language_asked
from sfumato.release.wording import NOT_PRIVATE
from sfumato.words import N_, speaker

__all__ = ["to_workbook"]

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")
_MOST_ROWS = 1 << 20
_LONGEST = 32767  # characters of a cell
_EXACT = 1 << 53  # Excel holds numbers as doubles: beyond it a whole number is text


def to_workbook(releases: Sequence[Release], *, lang: str | None = None) -> bytes:
    """Return the bytes of an ``.xlsx`` file with three sheets.

    A text is always a text: one that starts with ``=`` is not run as a formula.

    Args:
        releases: What to write.
        lang: Language of the sheet of claims; default: that of the locale.

    Raises:
        ArgumentError: There are more rows than a sheet holds.
        MissingExtraError: openpyxl is not installed.
    """
    book = need("openpyxl").Workbook(write_only=True)
    table = merge(releases)
    _check("figures", sum(map(len, releases)))
    raw = (len(one.values) for release in releases for one in release.measurements)
    _check("measurements", sum(raw))
    _fill(book, "figures", [list(table), *zip(*table.values(), strict=True)])
    _fill(book, "claims", _claims(releases, lang))
    _fill(book, "measurements", _measurements(releases))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _check(name: str, rows: int) -> None:
    """Refuse more rows below a heading than a sheet holds, before any is written."""
    if rows >= _MOST_ROWS:
        raise ArgumentError(
            N_("a sheet of Excel holds {most} rows, and {name} has more"),
            hint=N_("write .json, .csv or .parquet, which hold any number"),
            most=f"{_MOST_ROWS:,}",
            name=repr(name),
        )


def _claims(releases: Sequence[Release], lang: str | None) -> Iterable[Sequence[Cell]]:
    say = speaker(language_asked(lang))
    yield "title", "question", "promise", "receipt", "status"
    for release in releases:
        status = "private" if release.claim.private else say(NOT_PRIVATE)
        head = release.claim.receipt.head
        said = promise(release.claim, say)
        yield release.title, release.question, said, head, status


def _measurements(releases: Sequence[Release]) -> Iterable[Sequence[Cell]]:
    yield "title", "name", "sensitivity", "law", "scale", "step", "place", "value"
    for release in releases:
        for one in release.measurements:
            noise = one.noise
            about = one.name, one.sensitivity, noise.law, noise.scale, noise.step
            for place, value in enumerate(one.values):
                yield release.title, *about, place, value


def _fill(book: Any, name: str, rows: Iterable[Sequence[Cell]]) -> None:
    sheet = book.create_sheet(name)
    sheet.freeze_panes = "A2"
    for row in rows:
        sheet.append([_cell(sheet, value) for value in row])


def _cell(sheet: Any, value: Cell) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        value = str(value)
    if not isinstance(value, str):
        return value
    text = _ILLEGAL.sub(lambda found: f"\\u{ord(found[0]):04x}", value)[:_LONGEST]
    cell = need("openpyxl.cell").WriteOnlyCell(sheet, text)
    cell.data_type = "s"
    return cell
