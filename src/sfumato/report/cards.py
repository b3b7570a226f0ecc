"""Headline cards: a number, its intervals, and twenty dots that show how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.release.record import Figure, Release
from sfumato.release.wording import Say, number_words, range_words
from sfumato.report.pictures import signed
from sfumato.report.table import Line, lines
from sfumato.words import N_

__all__ = ["Card", "cards"]

_MOST_CARDS, _MOST_NAMED = 8, 24
_WIDTH, _HEIGHT, _BASE = 200.0, 56.0, 48.0  # of a dot plot in its own units
_INSET, _DOT, _ROOM = 30.0, 10.5, 46.0
_HALF = slice(5, 15)  # the middle ten of twenty


@dataclass(frozen=True, slots=True)
class Card:
    """One headline figure.

    Attributes:
        line: Its name, numbers and intervals in words.
        dots: The dot plot as a path; empty where the release has no dots.
        size: Diameter of a dot.
        half: Where half of the dots lie, in words.
        label: What the dot plot shows, for those who do not see it.
    """

    line: Line
    dots: str = ""
    size: float = 0.0
    half: str = ""
    label: str = ""


def cards(
    release: Release, headline: Sequence[str], say: Say
) -> tuple[tuple[Card, ...], int]:
    """Choose the headline: the named figures, else single ones, else the first groups.

    Returns:
        The cards, and how many figures of that choice had no room.
    """
    chosen = [f for name in headline for f in release.figures if f.name == name]
    plain = [f for f in release.figures if f.bin is None or f.kind == "mode"]
    shown = chosen or [f for f in plain if not f.group] or plain
    most = _MOST_NAMED if chosen else _MOST_CARDS
    few = shown[:most]
    made = (
        _card(f, x, say)
        for f, x in zip(few, lines(few, say, release.figures), strict=True)
    )
    return tuple(made), max(0, len(shown) - most)


def _card(figure: Figure, line: Line, say: Say) -> Card:
    if not figure.dots or figure.dots[0] == figure.dots[-1]:
        return Card(line)
    middle = figure.dots[_HALF]
    _, low, high = map(signed, number_words(_within(figure, middle[0], middle[-1])))
    half = say(N_("{low} to {high}"), low=low, high=high)
    label = say(
        N_(
            "{name}: twenty equally likely places of the figure without noise, {range}; "
            "half of them {half}"
        ),
        name=line.name,
        range=signed(range_words(figure, say)),
        half=half,
    )
    path, size = _stacks(figure.dots)
    return Card(line, path, size, half, label)


def _within(figure: Figure, low: float, high: float) -> Figure:
    return replace(figure, low=low, high=high)


def _stacks(dots: Sequence[float]) -> tuple[str, float]:
    """Stack dots that would touch (Wilkinson 1999), as a path of round points."""
    low, high = dots[0], dots[-1]
    scale = (_WIDTH - 2 * _INSET) / (high - low)
    places = [_INSET + (dot - low) * scale for dot in dots]
    stacks: list[list[float]] = []
    for place in places:
        if stacks and place - stacks[-1][0] < _DOT:
            stacks[-1].append(place)
        else:
            stacks.append([place])
    size = min(_DOT, _ROOM / max(map(len, stacks)))
    path = "".join(
        f"M{sum(stack) / len(stack):.1f} {_BASE - (i + 0.5) * size - 1:.1f}h0"
        for stack in stacks
        for i in range(len(stack))
    )
    return path, round(0.9 * size, 2)
