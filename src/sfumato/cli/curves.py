"""Errors against a loss, as one small picture: SVG written by hand, no library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from errno import ENOENT
from html import escape
from math import log10
from pathlib import Path
from typing import final

from sfumato.cli.table import number
from sfumato.errors import ProjectError
from sfumato.release.files import write
from sfumato.report.canvas import wrap
from sfumato.words import N_

__all__ = ["Curve", "draw", "refuse_picture", "save_picture"]

_WIDE, _HIGH, _LEFT, _TOP = 330, 190, 56, 34
_RIGHT, _FOOT = 14, 34
_SIZE, _ABOVE = 12, 14  # of a panel's title
_INK, _MUTED, _LINE, _WISH = "#1c2630", "#5a6672", "#1f4e86", "#b3261e"


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One figure: its error at each loss.

    Attributes:
        title: What the figure is, with its unit.
        points: Pairs of a loss and an error, by growing loss; both above 0.
        wish: The error wished, if there is one.
    """

    title: str
    points: tuple[tuple[float, float], ...]
    wish: float | None


def refuse_picture(path: Path | None, *, force: bool) -> None:
    """Refuse a place for a picture before the work is done.

    Raises:
        ProjectError: A file is there and not to be overwritten, or there is no folder.
    """
    if path is None:
        return
    if os.path.lexists(path) and not force:
        raise ProjectError(
            N_("{path} exists already"),
            hint=N_("choose another file with --picture, or overwrite: --force"),
            path=str(path),
        )
    if not path.parent.is_dir():
        raise _unwritable(path, os.strerror(ENOENT))


def save_picture(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Write a picture.

    Raises:
        ProjectError: It cannot be written.
    """
    try:
        write(path, text, mode=mode)
    except (OSError, ValueError) as error:
        raise _unwritable(
            path, getattr(error, "strerror", None) or str(error)
        ) from None


def _unwritable(path: Path, reason: str) -> ProjectError:
    return ProjectError(
        N_("{path} cannot be written: {reason}"),
        hint=N_("choose another file with --picture"),
        path=str(path),
        reason=reason,
    )


def draw(curves: Sequence[Curve], title: str, axis: str) -> str:
    """Return an SVG picture with one panel per figure, on logarithmic scales.

    Args:
        curves: The figures.
        title: Title of the picture.
        axis: What the horizontal axes show.
    """
    rows = -(-len(curves) // 2)
    width, height = 2 * _WIDE, 40 + rows * _HIGH
    body = [_text(_LEFT, 24, title, size=15, weight="bold")]
    for i, curve in enumerate(curves):
        x, y = (i % 2) * _WIDE, 40 + (i // 2) * _HIGH
        body.append(f'<g transform="translate({x},{y})">{_panel(curve, axis)}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}" '
        'font-family="sans-serif">'
        f'<rect width="{width}" height="{height}" fill="#fdfdfc"/>{"".join(body)}</svg>\n'
    )


def _panel(curve: Curve, axis: str) -> str:
    xs = [log10(x) for x, _ in curve.points]
    ys = [log10(y) for _, y in curve.points]
    if curve.wish is not None:
        ys.append(log10(curve.wish))
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - left) / ((right - left) or 1)
        up = (y - low) / ((high - low) or 1)
        return (
            _LEFT + across * (_WIDE - _LEFT - _RIGHT),
            _HIGH - _FOOT - up * (_HIGH - _FOOT - _TOP),
        )

    line = " ".join(
        "{:.1f},{:.1f}".format(*place(log10(x), log10(y))) for x, y in curve.points
    )
    title = wrap(curve.title, (_WIDE - _LEFT) / _SIZE, 2)
    above = enumerate(reversed(title))
    parts = [
        *(_text(_LEFT, 24 - i * _ABOVE, line, size=_SIZE) for i, line in above),
        f'<polyline points="{line}" fill="none" stroke="{_LINE}" stroke-width="1.8"/>',
    ]
    for x, y in curve.points:
        cx, cy = place(log10(x), log10(y))
        parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="2.4" fill="{_LINE}"/>')
    for x, _ in (curve.points[0], curve.points[-1]):
        cx, _ = place(log10(x), low)
        parts.append(_text(cx, _HIGH - 18, f"{x:g}", anchor="middle", color=_MUTED))
    middle = (_LEFT + _WIDE - _RIGHT) / 2
    parts.append(_text(middle, _HIGH - 18, axis, anchor="middle", color=_MUTED))
    for y in (low, high):
        _, cy = place(left, y)
        parts.append(
            _text(_LEFT - 8, cy + 4, number(10**y), anchor="end", color=_MUTED)
        )
    if curve.wish is not None:
        _, cy = place(left, log10(curve.wish))
        parts.append(
            f'<line x1="{_LEFT}" y1="{cy:.1f}" x2="{_WIDE - _RIGHT}" y2="{cy:.1f}" '
            f'stroke="{_WISH}" stroke-dasharray="4 3"/>'
        )
    return "".join(parts)


def _text(  # noqa: PLR0913  the attributes of a text
    x: float,
    y: float,
    text: str,
    *,
    size: int = 11,
    anchor: str = "start",
    color: str = _INK,
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{color}" font-weight="{weight}">{escape(text)}</text>'
    )
