"""Figures as rows of a table: the numbers behind every picture, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from sfumato.release.record import Figure
from sfumato.release.wording import (
    Say,
    name_words,
    number_words,
    places,
    range_words,
    scale_unit,
)
from sfumato.report.noise import noise_words
from sfumato.report.pictures import signed
from sfumato.words import N_

__all__ = ["Block", "Line", "blocks", "lines"]


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table of figures.

    Attributes:
        name: The statistic.
        place: Group and bin.
        estimate: The number.
        range: The interval of the noise.
        wide: The interval of noise and sampling; a dash where it is not known.
        unit: Of the number.
        noise: Law and scale.
    """

    name: str
    place: str
    estimate: str
    range: str
    wide: str
    unit: str
    noise: str


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one statistic, with the noise that they share."""

    name: str
    noise: str
    lines: tuple[Line, ...]

    @property
    def both(self) -> bool:
        """Whether any row has a second interval."""
        return any(line.wide != _NONE for line in self.lines)


_NONE = "–"


def lines(
    figures: Sequence[Figure], say: Say, among: Sequence[Figure] = ()
) -> tuple[Line, ...]:
    """Return figures as rows of a table; `among` are all figures of their release."""
    told = zip(figures, places(figures, among), strict=True)
    return tuple(_line(figure, place, say) for figure, place in told)


def _line(figure: Figure, place: str, say: Say) -> Line:
    told = number_words(figure)[0]
    return Line(
        name_words(figure, say),
        place,
        told if figure.kind == "mode" and isinstance(figure.bin, str) else signed(told),
        signed(range_words(figure, say)),
        _wide(figure, say),
        scale_unit(figure, say),
        noise_words(figure.noise, say),
    )


def _wide(figure: Figure, say: Say) -> str:
    if figure.sampling is None:
        return _NONE
    low, high = figure.sampling
    if all(float(n).is_integer() for n in (figure.estimate, figure.low, figure.high)):
        low, high = float(floor(low)), float(ceil(high))
    return signed(range_words(replace(figure, low=low, high=high), say))


def blocks(rows: Sequence[Line], say: Say) -> tuple[Block, ...]:
    """Gather the rows of each statistic, in the order of the release."""
    join = say(N_("; ")).join
    found: dict[str, list[Line]] = {}
    for line in rows:
        found.setdefault(line.name, []).append(line)
    return tuple(
        Block(name, join(dict.fromkeys(x.noise for x in run)), tuple(run))
        for name, run in found.items()
    )
