"""Histograms over one axis of equal bins: columns from zero, error bars, order kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isclose

from sfumato.report.canvas import ems, fit
from sfumato.report.frame import (
    GAP,
    HEAD,
    MUTED_SMALL,
    SIZE,
    SMALL,
    THICK,
    WIDTH,
    Frame,
    Heads,
    Mark,
    Sheet,
    brief,
    legend,
    ticks,
)
from sfumato.report.palette import EDGES, FILLS, GRID, INK, MUTED, TRUTH

__all__ = ["Panel", "histogram", "is_even"]

_TALL, _LOW, _FOOT = 210.0, 96.0, 44.0  # pixels: one panel, several, axis of bins
_CROWDED = 7.0  # pixels; narrower columns have no outline and no caps
_CAP = 3.0  # half width of an error bar's end


@dataclass(frozen=True, slots=True)
class Panel:
    """One small histogram: for each hue its marks, one per bin."""

    title: str
    series: tuple[tuple[Mark, ...], ...]


def is_even(edges: Sequence[float]) -> bool:
    """Tell whether all bins have one width, so that heights may stand for areas."""
    widths = [right - left for left, right in pairwise(edges)]
    return all(isclose(w, widths[0], rel_tol=1e-6) for w in widths)


def histogram(
    sheet: Sheet, panels: Sequence[Panel], edges: Sequence[float], heads: Heads
) -> None:
    """Draw panels under each other, on one axis of bins and one scale of counts."""
    marks = [m for p in panels for series in p.series for m in series]
    low = min(0.0, *(m.reach[0] for m in marks))
    high = 1.04 * max(0.0, *(m.reach[1] for m in marks)) or 1.0
    levels = ticks(low, high, 5)
    left = SMALL * max(ems(brief(t)) for t in levels) + GAP
    each = _TALL if len(panels) == 1 else _LOW
    gap = 1.3 * HEAD if panels[0].title else 0.0
    _heads(sheet, heads)
    for i, panel in enumerate(panels):
        top = heads.height + gap + i * (each + gap)
        frame = sheet.place(left, top, WIDTH - left - 10, each)
        frame.axes.set_xlim(edges[0], edges[-1])
        frame.axes.set_ylim(low, high)
        _panel(frame, panel, edges, levels)
        if i == len(panels) - 1:
            _bins(frame, edges, heads)
    sheet.end(heads.height + len(panels) * (each + gap) + _FOOT)


def _heads(sheet: Sheet, heads: Heads) -> None:
    line = sheet.place(0, heads.height - HEAD, WIDTH, HEAD)
    line.label(0, 0.5, heads.axis, **MUTED_SMALL)
    if heads.height > HEAD:
        legend(sheet, heads)


def _panel(
    frame: Frame, panel: Panel, edges: Sequence[float], levels: Sequence[float]
) -> None:
    for level in levels:
        colour = MUTED if level == 0 else GRID
        frame.line([edges[0], edges[-1]], [level, level], colour, 1.0, zorder=0.5)
        frame.label(-6, level, brief(level), ha="right", **MUTED_SMALL)
    if panel.title:
        unit = frame.axes.get_ylim()[1] - frame.axes.get_ylim()[0]
        above = frame.axes.get_ylim()[1] + unit * 0.5 * HEAD / frame.height
        frame.label(0, above, fit(panel.title, frame.width / SIZE), fontsize=SIZE)
    count = len(panel.series)
    for i, series in enumerate(panel.series):
        for (left, right), mark in zip(pairwise(edges), series, strict=True):
            inset = 0.0 if count == 1 else 0.08 * (right - left)
            width = (right - left - 2 * inset) / count
            _column(frame, left + inset + i * width, width, mark)
        if count == 1:
            _outline(frame, edges, series)


def _column(frame: Frame, left: float, width: float, mark: Mark) -> None:
    axes, middle = frame.axes, left + width / 2
    pixel = (axes.get_xlim()[1] - axes.get_xlim()[0]) / frame.width
    crowded = width < _CROWDED * pixel
    axes.bar(
        left, mark.estimate, width=width, align="edge", color=FILLS[mark.hue],
        edgecolor=EDGES[mark.hue], linewidth=0.0 if crowded else 0.8, clip_on=False,
    )  # fmt: skip
    ends = (mark.low, mark.high)
    if mark.wide is not None:
        frame.line([middle, middle], mark.wide, INK, 0.7 if crowded else 1.0)
        frame.line([middle, middle], ends, INK, 2.0 if crowded else THICK - 1)
        return
    if mark.low == mark.high:
        return
    if crowded:
        frame.line([middle, middle], ends, INK, 0.7)
    else:
        cap = min(_CAP * pixel, 0.3 * width)
        frame.whisker(ends, middle, cap, INK, 1.2, upright=True)


def _outline(frame: Frame, edges: Sequence[float], series: Sequence[Mark]) -> None:
    """Draw the true histogram as one stepped line over the released columns."""
    truths = [m.truth for m in series if m.truth is not None]
    if len(truths) < len(series):
        return
    xs = [x for pair in pairwise(edges) for x in pair]
    ys = [t for truth in truths for t in (truth, truth)]
    frame.line(xs, ys, TRUTH, 2.0, solid_joinstyle="miter")


def _bins(frame: Frame, edges: Sequence[float], heads: Heads) -> None:
    """Write the edges below the last panel, as many as there is room for."""
    low, high = frame.axes.get_ylim()
    pixel = (high - low) / frame.height
    room = frame.width / (len(edges) - 1)
    widest = SMALL * max(ems(brief(e)) for e in edges) + GAP
    span = edges[-1] - edges[0]
    for edge in edges[:: max(1, ceil(widest / room))]:
        x = (edge - edges[0]) / span * frame.width
        frame.line([edge, edge], [low, low - 4 * pixel], MUTED, 0.8)
        frame.label(x, low - 13 * pixel, brief(edge), ha="center", **MUTED_SMALL)
    middle = {"ha": "center", "fontsize": SIZE}
    across = fit(heads.across, frame.width / SIZE)
    frame.label(frame.width / 2, low - 33 * pixel, across, **middle)
