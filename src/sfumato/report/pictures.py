"""Which picture suits which figures: a release sorted into drawings with their words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any, TypeAlias

from sfumato.declare.calendar import DAYS
from sfumato.release.record import Figure
from sfumato.release.text import visible
from sfumato.release.wording import (
    Say,
    bin_words,
    confidence_words,
    exact_words,
    group_words,
    is_day,
    last_bins,
    measure_words,
    name_words,
    number_words,
    place_words,
    places,
    range_words,
    scale_unit,
)
from sfumato.report.frame import Heads, Mark, Sheet
from sfumato.report.histogram import Panel, histogram, is_even
from sfumato.report.rows import bars, dots, strips
from sfumato.words import N_

__all__ = ["Pair", "Picture", "pictures", "signed"]

Pair: TypeAlias = tuple[Figure, float | None]
"""A figure, and its true value in the owner's pictures."""

_MOST_STRIPS, _MOST_ROWS, _MOST_PANELS = 40, 60, 12
_HUES = 3
_POINTS = frozenset(
    {
        "mean",
        "variance",
        "std",
        "quantile",
        "median",
        "ratio",
        "covariance",
        "correlation",
    }
)  # no bars from 0
_MINUS = re.compile(r"(?:(?<![\w)-])|(?<=\de))-(?=[\d.∞i])")


@dataclass(frozen=True, slots=True)
class Picture:
    """One drawing, made when it is asked for.

    Attributes:
        title: What it shows.
        pairs: The figures in it: the table behind the picture.
        left_out: How many figures of the same kind had no room.
        draw: Draws it on a sheet.
    """

    title: str
    pairs: tuple[Pair, ...]
    left_out: int
    draw: Callable[[Sheet], None]

    def alt(self, say: Say, among: Sequence[Figure] = ()) -> str:
        """Describe the picture for those who do not see it."""
        figures = [figure for figure, _ in self.pairs]
        told = [
            (figure, place or name_words(figure, say))
            for figure, place in zip(figures, places(figures, among), strict=True)
        ]
        (least, least_at), (most, most_at) = (
            pick(told, key=lambda pair: pair[0].estimate) for pick in (min, max)
        )
        if len(figures) == 1:
            text = N_(
                "{title}: one figure with an error bar, {value} ({place}). A table with all "
                "numbers follows."
            )
            value = signed(number_words(least)[0])
            return say(text, title=self.title, value=value, place=least_at)
        return say(
            N_(
                "{title}: {count} figures with error bars, from {least} ({least_at}) "
                "to {most} ({most_at}). A table with all numbers follows."
            ),
            title=self.title,
            count=len(figures),
            least=signed(number_words(least)[0]),
            least_at=least_at,
            most=signed(number_words(most)[0]),
            most_at=most_at,
        )


def signed(number: str) -> str:
    """Set a typographic minus sign before numbers; days and keys keep their hyphens.

    Examples:
        >>> signed("-5 to 1e-07"), signed("[-2, -1)"), signed("2024-06-26"), signed("COVID-19")
        ('−5 to 1e−07', '[−2, −1)', '2024-06-26', 'COVID-19')
    """
    return _MINUS.sub("−", number)


def _gather(pairs: Iterable[Pair], key: Callable[[Figure], Any]) -> list[list[Pair]]:
    """Gather the pairs of one key, in the order of first appearance."""
    found: dict[Any, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(key(pair[0]), []).append(pair)
    return list(found.values())


def _group(figure: Figure) -> Any:
    return tuple(figure.group.items())


def pictures(pairs: Sequence[Pair], confidence: float, say: Say) -> list[Picture]:
    """Sort figures into pictures, in the order of the release.

    Single figures share one picture of strips; a statistic by group gets dots (means)
    or bars (counts, sums); a histogram gets columns, or bars when its bins are
    categories or of several widths.
    """
    pairs = [pair for pair in pairs if pair[0].kind != "mode"]  # no number to draw
    series = _gather(pairs, key=lambda f: (f.name, f.column, f.other))
    singles = [pair for run in series for pair in run if _is_single(pair[0], run)]
    level = confidence_words(confidence)
    owner = any(truth is not None for _, truth in pairs)
    heads = partial(
        Heads,
        value=say(N_("released")) if owner else say(N_("estimate")),
        range=say(N_("{level} interval"), level=level),
        truth=say(N_("true value")) if owner else "",
    )
    if any(figure.sampling for figure, _ in pairs):
        wide = say(N_("noise and sampling"))
        heads = partial(heads, noise=say(N_("noise only")), wide=wide)
    found = [_strips(singles, heads, say)] if singles else []
    for run in series:
        rest = [pair for pair in run if not _is_single(pair[0], run)]
        if rest:
            draw = _by_group if rest[0][0].bin is None else _histogram
            found.append(draw(rest, heads, say))
    return found


def _is_single(figure: Figure, run: Sequence[Pair]) -> bool:
    return figure.bin is None and (len(run) == 1 or not figure.group)


def _mark(pair: Pair, label: str, say: Say, hue: int = 0) -> Mark:
    figure, truth = pair
    value = signed(number_words(figure)[0])
    interval = signed(range_words(figure, say))
    ends = (figure.low, figure.high)
    wide = figure.sampling
    days = is_day(figure)
    return Mark(label, figure.estimate, *ends, value, interval, hue, truth, wide, days)


def _strips(singles: Sequence[Pair], heads: Callable[..., Heads], say: Say) -> Picture:
    shown = singles[:_MOST_STRIPS]
    marks = [_mark(p, _with_unit(p[0], say), say) for p in shown]
    title = N_("Single figures, each on a scale from zero")
    if any(mark.days for mark in marks):
        title = N_("Single figures, each on a scale of its own")
    return Picture(
        say(title),
        tuple(shown),
        len(singles) - len(shown),
        partial(strips, marks=marks, heads=heads()),
    )


def _with_unit(figure: Figure, say: Say) -> str:
    name, unit = name_words(figure, say), scale_unit(figure, say)
    place = place_words(figure)
    name = f"{name} · {place}" if place else name
    return say(N_("{name} ({unit})"), name=name, unit=unit) if unit else name


def _by_group(run: Sequence[Pair], heads: Callable[..., Heads], say: Say) -> Picture:
    shown = tuple(run[:_MOST_ROWS])
    first = run[0][0]
    keys = " × ".join(visible(k) for k in first.group)
    draw = dots if first.kind in _POINTS else bars
    axis = say(N_("rows")) if first.kind == "count" else scale_unit(first, say)
    title = say(N_("{name} by {keys}"), name=name_words(first, say), keys=keys)
    items = _blocks(shown, say)
    return Picture(
        title,
        shown,
        len(run) - len(shown),
        partial(draw, items=items, heads=heads(axis=axis)),
    )


def _blocks(pairs: Sequence[Pair], say: Say) -> list[Mark | str]:
    """Label rows by their last key, under headings of the keys before it.

    Where every row would need a heading of its own, rows carry all their keys instead.
    """
    tones = dict.fromkeys(_inner(figure) for figure, _ in pairs)
    hues = {tone: i for i, tone in enumerate(tones)} if len(tones) <= _HUES else {}
    runs = [list(run) for _, run in groupby(pairs, key=lambda pair: _outer(pair[0]))]
    if len(runs) in {1, len(pairs)}:
        return [_mark(pair, group_words(pair[0]), say) for pair in pairs]
    items: list[Mark | str] = []
    for run in runs:
        items.append(_outer(run[0][0]))
        for pair in run:
            inner = _inner(pair[0])
            items.append(_mark(pair, inner, say, hues.get(inner, 0)))
    return items


def _outer(figure: Figure) -> str:
    return " · ".join(_key(k, v) for k, v in list(figure.group.items())[:-1])


def _inner(figure: Figure) -> str:
    return _key(*list(figure.group.items())[-1])


def _key(name: str, value: str | int | bool) -> str:
    return visible(f"{name} = {exact_words(value)}")


def _histogram(run: Sequence[Pair], heads: Callable[..., Heads], say: Say) -> Picture:
    first = run[0][0]
    if first.other_bin is not None:
        return _table(run, heads, say)
    groups = _gather(run, key=_group)
    edges = () if first.unit == DAYS else _edges(groups)  # days are told as dates
    title = name_words(first, say)
    if first.group:
        keys = " × ".join(visible(k) for k in first.group)
        title = say(N_("{name} by {keys}"), name=title, keys=keys)
    if not edges:
        return _category_bars(title, groups, heads, say)
    shown = groups[:_MOST_PANELS]
    with_truth = run[0][1] is not None
    together = 1 < len(groups) <= _HUES and not with_truth
    panels = _together(shown, say) if together else _apart(shown, say)
    hues = tuple(group_words(g[0][0]) for g in shown) if together else ()
    across = visible(first.column or "")
    if first.unit:
        unit = measure_words(first.unit, say, first.column)
        across = say(N_("{name} ({unit})"), name=across, unit=unit)
    words = heads(axis=say(N_("rows")), across=across, hues=hues)
    return Picture(
        title,
        tuple(p for g in shown for p in g),
        len(run) - sum(map(len, shown)),
        partial(histogram, panels=panels, edges=edges, heads=words),
    )


def _table(run: Sequence[Pair], heads: Callable[..., Heads], say: Say) -> Picture:
    """Draw a table of two columns as bars, under a heading for each of its rows."""
    first = run[0][0]
    title = name_words(first, say)
    if first.group:
        keys = " × ".join(visible(k) for k in first.group)
        title = say(N_("{name} by {keys}"), name=title, keys=keys)
    ends = last_bins([figure for figure, _ in run])
    items: list[Mark | str] = []
    heading = ""
    for pair, (last, other_last) in zip(run[:_MOST_ROWS], ends, strict=False):
        whole = place_words(replace(pair[0], other_bin=None), last=last)
        if whole != heading:
            items.append(heading := whole)
        inner = replace(
            pair[0],
            group={},
            column=pair[0].other,
            bin=pair[0].other_bin,
            unit=pair[0].other_unit,
            other_bin=None,
        )
        items.append(_mark(pair, place_words(inner, last=other_last), say))
    words = heads(axis=say(N_("rows")))
    draw = partial(bars, items=items, heads=words)
    shown = tuple(run[:_MOST_ROWS])
    return Picture(title, shown, len(run) - len(shown), draw)


def _edges(groups: Sequence[Sequence[Pair]]) -> tuple[float, ...]:
    """Return the common edges of even, adjoining bins; none when it has no such."""
    found = set()
    for group in groups:
        bins = [figure.bin for figure, _ in group]
        pairs = [b for b in bins if isinstance(b, tuple)]
        if len(pairs) < len(bins) or any(a[1] != b[0] for a, b in pairwise(pairs)):
            return ()
        found.add((pairs[0][0], *(right for _, right in pairs)))
    edges = found.pop() if len(found) == 1 else ()
    return edges if edges and is_even(edges) else ()


def _together(groups: Iterable[Sequence[Pair]], say: Say) -> list[Panel]:
    series = (
        tuple(_mark(p, "", say, hue) for p in group) for hue, group in enumerate(groups)
    )
    return [Panel("", tuple(series))]


def _apart(groups: Iterable[Sequence[Pair]], say: Say) -> list[Panel]:
    return [
        Panel(group_words(g[0][0]), (tuple(_mark(p, "", say) for p in g),))
        for g in groups
    ]


def _category_bars(
    title: str,
    groups: Sequence[Sequence[Pair]],
    heads: Callable[..., Heads],
    say: Say,
) -> Picture:
    items: list[Mark | str] = []
    shown: list[Pair] = []
    for group in groups:
        room = _MOST_ROWS - len(shown)
        if room and group[0][0].group:
            items.append(group_words(group[0][0]))
        for i, pair in enumerate(group[:room]):
            bin_ = bin_words(pair[0], last=i == len(group) - 1)
            items.append(_mark(pair, bin_, say))
            shown.append(pair)
    left_out = sum(map(len, groups)) - len(shown)
    words = heads(axis=visible(groups[0][0][0].column or ""))
    draw = partial(bars, items=items, heads=words)
    return Picture(title, tuple(shown), left_out, draw)
