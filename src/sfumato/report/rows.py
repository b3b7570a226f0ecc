"""Pictures that read like a table: a label, a mark with its interval, the number.

*Strips* show figures of different kinds, each on its own scale; *dots* and *bars* show
figures of one kind on a common one. Bars start at zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sfumato.release.wording import day_words
from sfumato.report.canvas import ems, wrap
from sfumato.report.frame import (
    GAP,
    HEAD,
    MUTED_SMALL,
    SIZE,
    THICK,
    THIN,
    WIDTH,
    Frame,
    Heads,
    Mark,
    Sheet,
    brief,
    legend,
    ticks,
)
from sfumato.report.palette import EDGES, FILLS, GRID, INK, MUTED, POINT, TRUTH

__all__ = ["bars", "dots", "strips"]

_LABEL = 18.0  # ems of a line of a label
_HEADING = 50.0
_LINES, _LINE = 4, 15.0  # lines that a label may have, and pixels of each
_NARROWEST = 180.0  # pixels of the scale
_STRIP, _ROW, _AXIS = 44.0, 23.0, 26.0
_INSET = 20.0  # between labels and scale
Place = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class _Layout:
    """A frame with a column of labels on its left and two of words on its right.

    One unit of its height is a row of one line; rows whose labels are longer are higher.
    """

    frame: Frame
    left: float
    value_at: float
    range_at: float
    rows: tuple[tuple[float, float], ...]
    line: float

    def names(self, item: Mark | str, y: float) -> None:
        """Write a heading, or the label of a mark, around the line y."""
        style = {"color": MUTED} if isinstance(item, str) else {}
        lines = _lines(item)
        for i, text in enumerate(lines):
            at = y + (i - (len(lines) - 1) / 2) * self.line
            self.frame.label(-self.left, at, text, **style)

    def words(self, mark: Mark, y: float) -> None:
        """Write a mark's label, estimate and interval around the line y."""
        self.names(mark, y)
        label = self.frame.label
        label(self.value_at, y, mark.value, ha="right", weight="bold")
        label(self.range_at, y, mark.range, color=MUTED)


def _lines(item: Mark | str) -> list[str]:
    if isinstance(item, str):
        return wrap(item, _HEADING, _LINES)
    return wrap(item.label, _LABEL, _LINES)


def _rows(items: Sequence[Mark | str], line: float) -> Iterator[tuple[float, float]]:
    """Yield where each row begins and ends: the more lines, the higher."""
    end = 0.0
    for item in items:
        begin, end = end, end + 1 + line * (len(_lines(item)) - 1)
        yield begin, end


def _layout(
    sheet: Sheet, items: Sequence[Mark | str], heads: Heads, row: float, foot: float
) -> _Layout:
    marks = [item for item in items if isinstance(item, Mark)]
    widths = [ems(line) for m in marks for line in _lines(m)]
    left = SIZE * max(widths, default=0) + _INSET
    value = 1.2 * SIZE * max(ems(t) for t in [heads.value, *(m.value for m in marks)])
    range_ = SIZE * max(ems(t) for t in [heads.range, *(m.range for m in marks)])
    width = max(WIDTH - left - value - range_ - 3 * GAP, _NARROWEST)
    across = left + width + value + range_ + 3 * GAP
    rows = tuple(_rows(items, _LINE / row))
    units = rows[-1][1] if rows else 0.0
    body = row * units
    frame = sheet.place(left, heads.height, width, body)
    frame.axes.set_ylim(units, 0)
    frame.axes.set_xlim(0, 1)
    value_at, range_at = width + GAP + value, width + 2 * GAP + value
    layout = _Layout(frame, left, value_at, range_at, rows, _LINE / row)
    above = -HEAD / 2 / row
    frame.label(-left, above, heads.axis, **MUTED_SMALL)
    frame.label(layout.value_at, above, heads.value, ha="right", **MUTED_SMALL)
    frame.label(layout.range_at, above, heads.range, **MUTED_SMALL)
    if heads.height > HEAD:
        legend(sheet, heads)
    sheet.end(heads.height + body + foot, across)
    return layout


def strips(sheet: Sheet, marks: Sequence[Mark], heads: Heads) -> None:
    """Draw figures of different kinds, each on its own scale that starts at zero.

    The shorter the bar beside the way from zero to the dot, the less the noise matters.
    """
    layout = _layout(sheet, marks, heads, _STRIP, 4.0)
    for (begin, end), mark in zip(layout.rows, marks, strict=True):
        top = (begin + end - 1) / 2
        _strip(layout.frame, top, mark)
        layout.words(mark, top + 0.4)


def _strip(frame: Frame, top: float, mark: Mark) -> None:
    low, high = min(0.0, mark.reach[0]), 1.03 * max(0.0, mark.reach[1])
    if mark.days:  # which have no zero
        low, high = _limits([mark], zero=False)
    span = (high - low) or 1.0
    base = top + 0.62

    def share(value: float) -> float:
        return (value - low) / span

    frame.line([0, 1], [base, base], GRID, 1.0)
    for tick, words in _ticks(low, high, 4, days=mark.days):
        frame.line([share(tick)] * 2, [base - 0.05, base + 0.05], MUTED, 0.8)
        style = {**MUTED_SMALL, "fontsize": 9.0, "ha": "center"}
        frame.label(share(tick) * frame.width, base + 0.2, words, **style)
    _interval(frame, mark, top + 0.4, 0.12, share)


def dots(sheet: Sheet, items: Sequence[Mark | str], heads: Heads) -> None:
    """Draw figures of one kind as dots with intervals; the scale need not hold zero.

    Args:
        sheet: Where to.
        items: Marks, and texts as headings between them.
        heads: Words around the picture.
    """
    _scaled(sheet, items, heads, zero=False)


def bars(sheet: Sheet, items: Sequence[Mark | str], heads: Heads) -> None:
    """Draw figures of one kind as bars from zero with error bars; see `dots`."""
    _scaled(sheet, items, heads, zero=True)


def _scaled(
    sheet: Sheet, items: Sequence[Mark | str], heads: Heads, *, zero: bool
) -> None:
    layout = _layout(sheet, items, heads, _ROW, _AXIS)
    marks = [item for item in items if isinstance(item, Mark)]
    placed = list(zip(layout.rows, items, strict=True))
    spans = [span for span, item in placed if isinstance(item, Mark)]
    days = any(mark.days for mark in marks)
    _scale(layout.frame, _limits(marks, zero=zero), spans, zero=zero, days=days)
    for (begin, end), item in placed:
        y = (begin + end) / 2
        if isinstance(item, str):
            layout.names(item, y)
            continue
        if zero:
            _bar(layout.frame, item, y)
        else:
            _interval(layout.frame, item, y, 0.22, float)
        layout.words(item, y)


def _ticks(
    low: float, high: float, most: int, *, days: bool
) -> list[tuple[float, str]]:
    """Return round numbers with their words; of days whole ones, as dates."""
    found = ticks(low, high, most)
    if days:
        return [(tick, day_words(tick)) for tick in found if tick.is_integer()]
    return [(tick, brief(tick)) for tick in found]


def _limits(marks: Sequence[Mark], *, zero: bool) -> tuple[float, float]:
    low = min((m.reach[0] for m in marks), default=0.0)
    high = max((m.reach[1] for m in marks), default=1.0)
    room = 0.0 if zero else 0.06 * (high - low)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low - room, high + room)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _scale(
    frame: Frame,
    limits: tuple[float, float],
    spans: Sequence[tuple[float, float]],
    *,
    zero: bool,
    days: bool,
) -> None:
    """Draw the grid beside the marks, not through the headings, and the axis below."""
    low, high = limits
    frame.axes.set_xlim(low, high)
    bottom = frame.axes.get_ylim()[0]
    row = frame.height / bottom
    for tick, words in _ticks(low, high, 5, days=days):
        colour = MUTED if zero and tick == 0 else GRID
        for top, end in _joined(spans):
            frame.line([tick, tick], [top, end], colour, 1.0, zorder=0.5)
        x = (tick - low) / (high - low) * frame.width
        frame.label(x, bottom + 12 / row, words, ha="center", **MUTED_SMALL)


def _joined(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for top, end in spans:
        if joined and joined[-1][1] == top:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((top, end))
    return joined


def _interval(frame: Frame, mark: Mark, y: float, half: float, share: Place) -> None:
    """Draw the interval, its ends, the dot and, for the owner, the truth."""
    x = share(mark.estimate)
    if mark.wide is not None:
        ends = share(mark.wide[0]), share(mark.wide[1])
        frame.whisker(ends, y, 0.6 * half, POINT, THIN)
    if mark.low < mark.high:
        low, high = share(mark.low), share(mark.high)
        frame.line([low, high], [y, y], FILLS[0], THICK + 2)
        if mark.wide is None:
            frame.whisker((low, high), y, half, POINT, THIN)
        else:
            frame.line([low, high], [y, y], POINT, THIN)
    frame.dot(x, y, POINT, 7.5)
    _truth(frame, mark, y, 1.7 * half, share)


def _bar(frame: Frame, mark: Mark, y: float) -> None:
    frame.axes.barh(
        y, mark.estimate, height=0.62, color=FILLS[mark.hue],
        edgecolor=EDGES[mark.hue], linewidth=0.8, clip_on=False,
    )  # fmt: skip
    if mark.wide is not None:
        frame.whisker(mark.wide, y, 0.13, INK, 1.0)
        frame.line([mark.low, mark.high], [y, y], INK, THICK - 1)
    elif mark.low < mark.high:
        frame.whisker((mark.low, mark.high), y, 0.15, INK, 1.2)
    _truth(frame, mark, y, 0.42, float)


def _truth(frame: Frame, mark: Mark, y: float, half: float, share: Place) -> None:
    if mark.truth is not None:
        x = share(mark.truth)
        frame.line([x, x], [y - half, y + half], TRUTH, 2.2, zorder=4)
