"""Marks, and a sheet to draw them on, laid out in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

from sfumato.release.libraries import need
from sfumato.report.canvas import ems, fit, wrap
from sfumato.report.palette import FILLS, INK, MUTED, POINT, TRUTH

__all__ = ["GAP", "HEAD", "MUTED_SMALL", "SIZE", "SMALL", "THICK", "THIN", "WIDTH", "Frame", "Heads",
           "Mark", "Sheet", "brief", "legend", "ticks"]  # fmt: skip

WIDTH = 640.0
SIZE, SMALL = 12.0, 10.5  # of letters
GAP, HEAD = 12.0, 22.0  # between columns of text; height of a line of headings
THICK, THIN = 5.0, 1.3  # of the interval of the noise, and of noise and sampling
_SAMPLE = 26.0  # pixels of a line in a legend
_LONGEST = 45.0  # ems of a legend's entry
_LINES = 4  # of a text below one another
_BIG = 1e6
_DPI = 110  # of a picture shown by itself; pages scale it


@dataclass(frozen=True, slots=True)
class Mark:
    """One figure to draw: its numbers, and the same in words.

    Attributes:
        label: What it is.
        estimate: Where the mark stands.
        low: Lower end of the interval; equal to `high` for none.
        high: Upper end.
        value: The estimate in words.
        range: The interval in words.
        hue: Which of the three fills.
        truth: The true value, in the owner's pictures only.
        wide: The interval of noise and sampling, where it is known.
        days: Whether its numbers are days of the calendar.
    """

    label: str
    estimate: float
    low: float
    high: float
    value: str = ""
    range: str = ""
    hue: int = 0
    truth: float | None = None
    wide: tuple[float, float] | None = None
    days: bool = False

    @property
    def reach(self) -> tuple[float, float]:
        """Smallest and largest number to be shown."""
        known = [self.estimate, self.low, self.high]
        known += [] if self.truth is None else [self.truth]
        known += self.wide or ()
        return min(known), max(known)


@dataclass(frozen=True, slots=True)
class Heads:
    """Words around a picture.

    Attributes:
        value: Heading of the estimates.
        range: Heading of the intervals.
        axis: What the value axis shows, with its unit.
        across: What the other axis shows (histograms only).
        truth: Legend of the true values; empty without them.
        hues: Legend of the fills; empty when there is one.
        noise: Legend of the thick interval; empty when all have one interval.
        wide: Legend of the thin one.
    """

    value: str = ""
    range: str = ""
    axis: str = ""
    across: str = ""
    truth: str = ""
    hues: tuple[str, ...] = ()
    noise: str = ""
    wide: str = ""

    @property
    def height(self) -> float:
        """Pixels that headings and legend need above the picture."""
        return HEAD * (1 + len(_legend_lines(self)))


@dataclass(frozen=True, slots=True)
class Frame:
    """One pair of axes whose size in pixels is known."""

    axes: Any
    width: float
    height: float

    def label(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write at x pixels from the axes' left edge, y in data."""
        style = {"fontsize": SIZE, "color": INK, "va": "center", **style}
        where = self.axes.get_yaxis_transform()
        self.axes.text(x / self.width, y, text, transform=where, **style)

    def line(self, xs: Any, ys: Any, colour: str, width: float, **style: Any) -> None:
        """Draw a line in data coordinates."""
        style = {"solid_capstyle": "butt", "clip_on": False, **style}
        self.axes.plot(xs, ys, color=colour, linewidth=width, **style)

    def whisker(self, ends: tuple[float, float], at: float, cap: float,
                colour: str, width: float, *, upright: bool = False) -> None:  # fmt: skip
        """Draw an error bar with its caps as one path: fewer objects, faster pages."""
        low, high = ends
        along = [low, high, nan, low, low, nan, high, high]
        across = [at, at, nan, at - cap, at + cap, nan, at - cap, at + cap]
        xs, ys = (across, along) if upright else (along, across)
        self.line(xs, ys, colour, width)

    def dot(self, x: float, y: float, colour: str, size: float) -> None:
        """Draw a disc of that many pixels, whatever the scales are."""
        (left, right), (low, high) = self.axes.get_xlim(), self.axes.get_ylim()
        across = size * abs(right - left) / self.width
        down = size * abs(high - low) / self.height
        ellipse = need("matplotlib.patches").Ellipse
        disc = ellipse((x, y), across, down, facecolor=colour, linewidth=0, zorder=3)
        disc.set_clip_on(False)
        self.axes.add_artist(disc)


class Sheet:
    """A matplotlib figure that grows downwards, one picture below the other.

    Boxes are in pixels; they become matplotlib's shares of the figure when its size is
    known, at `close`.
    """

    def __init__(self) -> None:
        """Start with an empty figure."""
        make = need("matplotlib.figure").Figure
        self._figure: Any = make(dpi=_DPI, facecolor="none")
        self._boxes: list[tuple[Any, float, float, float, float]] = []
        self._width, self.top = WIDTH, 0.0

    def place(self, left: float, top: float, width: float, height: float) -> Frame:
        """Put bare axes into a box, measured from the sheet's end and left edge."""
        axes = self._figure.add_axes(
            (0, 0, 1, 1), label=str(len(self._boxes)),
            facecolor="none", xticks=[], yticks=[], frame_on=False,
        )  # fmt: skip
        axes.set_autoscale_on(False)
        self._boxes.append((axes, left, self.top + top, width, height))
        return Frame(axes, width, height)

    def end(self, height: float, width: float = WIDTH) -> None:
        """Close a picture of that size; the next one starts below it."""
        self.top += height
        self._width = max(self._width, width)

    def write(self, text: str, **style: Any) -> None:
        """Write a text below what is there, in lines."""
        most = 0.95 * WIDTH / style.get("fontsize", SIZE)
        for words in wrap(text, most, _LINES):
            line = self.place(0, 0, WIDTH, HEAD)
            line.label(0, 0.5, words, **style)
            self.end(HEAD)

    def close(self, *, margin: float = 0.0) -> Any:
        """Return the figure, cut to what was drawn, with a margin on all sides."""
        width = self._width + 2 * margin
        height = max(self.top, 1.0) + 2 * margin
        self._figure.set_size_inches(width / 72, height / 72)
        for axes, left, top, across, down in self._boxes:
            x, y = (left + margin) / width, 1 - (top + down + margin) / height
            axes.set_position((x, y, across / width, down / height))
        return self._figure


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a legend: a square, or a line of some thickness."""

    text: str
    colour: str
    thickness: float = 0.0

    @property
    def sample(self) -> float:
        """Pixels of the square or the line."""
        return _SAMPLE + 6 if self.thickness else 1.2 * SIZE

    @property
    def width(self) -> float:
        """Pixels of all."""
        return self.sample + SMALL * ems(self.text) + 2 * GAP


def _legend_lines(heads: Heads) -> list[list[_Entry]]:
    """Fill lines with the entries of a legend."""
    fills = list(zip(heads.hues, FILLS, strict=False))
    if heads.truth:
        fills = [*(fills or [(heads.value, FILLS[0])]), (heads.truth, TRUTH)]
    intervals = [(heads.noise, THICK), (heads.wide, THIN)]
    entries = [_Entry(fit(text, _LONGEST), colour) for text, colour in fills]
    entries += [_Entry(fit(t, _LONGEST), POINT, thick) for t, thick in intervals if t]
    lines: list[list[_Entry]] = []
    for entry in entries:
        if not lines or sum(e.width for e in [*lines[-1], entry]) > WIDTH:
            lines.append([])
        lines[-1].append(entry)
    return lines


def legend(sheet: Sheet, heads: Heads) -> None:
    """Write the legend of fills, intervals and true values above a picture."""
    for i, entries in enumerate(_legend_lines(heads)):
        line = sheet.place(0, i * HEAD, WIDTH, HEAD)
        x = 0.0
        for entry in entries:
            if entry.thickness:
                ends = [x / WIDTH, (x + _SAMPLE) / WIDTH]
                line.line(ends, [0.5, 0.5], entry.colour, entry.thickness)
            else:
                line.label(x, 0.5, "■", color=entry.colour)
            line.label(x + entry.sample, 0.5, entry.text, fontsize=SMALL)
            x += entry.width


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers between `low` and `high`."""
    locator = need("matplotlib.ticker").MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])
    found = (float(t) for t in locator.tick_values(low, high))
    slack = 1e-9 * (high - low)
    return [t for t in found if low - slack <= t <= high + slack]


def brief(value: float) -> str:
    """Return a tick's number.

    Examples:
        >>> brief(-2500.0), brief(0.25), brief(3e9)
        ('−2,500', '0.25', '3e+09')
    """
    text = f"{value:,.6g}" if abs(value) < _BIG else f"{value:.3g}"
    return text.replace("-", "−")


MUTED_SMALL: dict[str, Any] = {"fontsize": SMALL, "color": MUTED}
