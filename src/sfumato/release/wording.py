"""Figures and terms in words: the one wording for terminal, notebook and page."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import ceil, floor, isfinite, log10

from sfumato.release.record import Bin, Claim, Figure, Noise
from sfumato.release.text import visible
from sfumato.words import N_

__all__ = ["NOT_PRIVATE", "Say", "bin_words", "confidence_words", "day_words", "exact_words",
           "group_words", "is_day", "last_bins", "law_words", "measure_words", "name_words", "neighbour_words", "number_words",
           "place_words", "places", "range_words", "scale_unit", "unit_words", "value_words"]  # fmt: skip

Say = Callable[..., str]

NOT_PRIVATE = N_("NOT PRIVATE: made with a test seed; never publish it")

_NAMES = {
    "count": N_("Number of rows"),
    "people": N_("Number of people"),
    "people_cut": N_("People cut"),
    "rows_cut": N_("Rows cut"),
    "count_": N_("Rows with a value in {column}"),
    "sum_": N_("Sum of {column}"),
    "mean_": N_("Mean of {column}"),
    "proportion_": N_("Share of {column}"),
    "variance_": N_("Variance of {column}"),
    "std_": N_("Standard deviation of {column}"),
    "median_": N_("Median of {column}"),
    "histogram_": N_("Histogram of {column}"),
    "mode_": N_("Most frequent {column}"),
    "near_minimum_": N_("Near-minimum of {column}"),
    "near_maximum_": N_("Near-maximum of {column}"),
}
_CUTS = {("people", "people_cut"), ("count", "rows_cut")}
_PAIRS = {
    "crosstab": N_("Table of {column} by {other}"),
    "ratio": N_("Sum of {column} over sum of {other}"),
    "covariance": N_("Covariance of {column} and {other}"),
    "correlation": N_("Correlation of {column} and {other}"),
}
_MATRICES = {
    "covariance": N_("Covariance matrix"),
    "correlation": N_("Correlation matrix"),
}
_DAY_UNIT = "days since 1970-01-01"
_SINCE = N_("days since 1970-01-01")
_SPELT = {
    "rows": N_("rows"),
    "years": N_("years"),
    "months": N_("months"),
    "weeks": N_("weeks"),
    "days": N_("days"),
    "hours": N_("hours"),
    "minutes": N_("minutes"),
}
_WORD = re.compile(rf"\b({'|'.join(_SPELT)})\b", re.ASCII)
_OLD = N_("years of age")
_AGE = re.compile(r"(?:(?<![A-Za-z])(?:age|AGE)|Age)(?![a-z])|年龄")
_DAYS = ("mean", "median", "quantile")
_EPOCH = dt.date(1970, 1, 1).toordinal()
_UNITS = {"row": N_("one row"), "person": N_("one person")}
_BOUNDED = N_(
    "one person (all rows with one {column}; rows of hers that count fully: {max_rows} "
    "in a group; groups: {max_groups}; more rows count less each)"
)
_NEIGHBOURS = {
    ("row", "add_remove"): N_("add or remove one row"),
    ("row", "replace_one"): N_("replace one row of {size}, a public number"),
    ("person", "add_remove"): N_("add or remove one person with all rows"),
    ("person", "replace_one"): N_(
        "replace all rows of one person, of {size} people, a public number"
    ),
}
_LAWS = {
    "geometric": N_("two-sided geometric"),
    "truncated_geometric": N_("two-sided geometric, cut off"),
    "k_norm": N_("joint noise of {joint} measurements"),
    "discrete_gaussian": N_("discrete Gaussian"),
    "gaussian": N_("Gaussian, rounded to whole numbers"),
    "permute_and_flip": N_("choice by permute-and-flip"),
    "exponential": N_("choice by the exponential mechanism"),
}

_COUNTED = frozenset(
    {"count", "people", "histogram", "proportion", "crosstab", "correlation", "mode"}
)

_LONG = 1e15  # from here on, scientific notation reads better
_FINE = 9  # decimals, likewise
_DIGITS = 2  # significant digits of an interval's half-width


def name_words(figure: Figure, say: Say) -> str:
    """Return the statistic in words, or the name that the asker gave it."""
    column = figure.column
    key = figure.kind if column is None else f"{figure.kind}_"
    default = key if column is None else f"{key}{column}"
    if column is not None and (told := _told(figure, column, say)):
        return visible(told)
    if (figure.kind, figure.name) in _CUTS and column is None:
        return say(_NAMES[figure.name])
    if figure.name != default or key not in _NAMES:
        return visible(figure.name)
    return say(_NAMES[key], column=visible(column)) if column else say(_NAMES[key])


def _told(figure: Figure, column: str, say: Say) -> str:
    """Return the words for a name that holds a level or a key; none for other names."""
    if figure.other is not None:
        return _told_pair(figure, column, say)
    if figure.kind == "quantile":
        return _told_quantile(figure, column, say)
    before = f"proportion_{column}_"
    if figure.kind == "proportion" and figure.name.startswith(before):
        key = figure.name.removeprefix(before)
        return say(N_("Share of {key} in {column}"), key=key, column=column)
    return ""


def _told_quantile(figure: Figure, column: str, say: Say) -> str:
    before, after = "quantile_", f"_{column}"
    level = figure.name.removeprefix(before).removesuffix(after)
    if figure.name == f"{before}{level}{after}":
        return say(N_("Quantile {level} of {column}"), level=level, column=column)
    key = figure.name.removesuffix(column)
    known = _NAMES.get(key) if figure.name == f"{key}{column}" else None
    return say(known, column=column) if known else ""


def _told_pair(figure: Figure, column: str, say: Say) -> str:
    known = _PAIRS.get(figure.kind)
    if known is not None and not _is_entry(figure):
        named = figure.name == f"{figure.kind}_{column}_{figure.other}"
        return say(known, column=column, other=figure.other) if named else ""
    of_many = figure.name.startswith(f"{figure.kind}_")
    return say(_MATRICES[figure.kind]) if of_many else ""


def _is_entry(figure: Figure) -> bool:
    """Tell whether its name does not say of which columns it is."""
    pair = f"{figure.kind}_{figure.column}_{figure.other}"
    return figure.kind in _MATRICES and figure.name != pair


def group_words(figure: Figure) -> str:
    """Return the group that the figure holds for, such as ``Outcome = 1``."""
    pairs = (f"{k} = {exact_words(v)}" for k, v in figure.group.items())
    return visible(" · ".join(pairs))


def bin_words(figure: Figure, *, last: bool = False) -> str:
    """Return the figure's bin, such as ``[100, 120)``; the last bin is closed."""
    return _bin(figure.bin, figure.unit, last=last or figure.closed)


def _bin(place: Bin, unit: str, *, last: bool) -> str:
    if not isinstance(place, tuple):
        return "" if place is None else visible(exact_words(place))
    left, right = map(day_words if unit == _DAY_UNIT else exact_words, place)
    return f"[{left}, {right}{']' if last else ')'}"


def last_bins(
    figures: Sequence[Figure], among: Sequence[Figure] = ()
) -> tuple[tuple[bool, bool], ...]:
    """Tell of each figure whether its bins are the last ones, which are closed.

    Args:
        figures: In the order of their release.
        among: All figures of it, where these are only some.

    Returns:
        For each figure: is `bin` the last of its statistic, and is `other_bin`.
    """
    last = {f.name: (f.bin, f.other_bin) for f in among or figures}
    return tuple(
        (f.bin == last[f.name][0], f.other_bin == last[f.name][1]) for f in figures
    )


def places(figures: Sequence[Figure], among: Sequence[Figure] = ()) -> tuple[str, ...]:
    """Return group and bins of each figure; `among` are all figures of their release."""
    last = last_bins(figures, among)
    return tuple(
        place_words(figure, last=ends[0], other_last=ends[1])
        for figure, ends in zip(figures, last, strict=True)
    )


def place_words(figure: Figure, *, last: bool = False, other_last: bool = False) -> str:
    """Return group and bins."""
    if figure.kind == "mode":
        return group_words(figure)
    if _is_entry(figure):
        pair = f"{visible(figure.column or '')} × {visible(figure.other or '')}"
        return " · ".join(part for part in (group_words(figure), pair) if part)
    first, other = bin_words(figure, last=last), figure.other
    if other is not None or not isinstance(figure.bin, tuple):
        first = _placed(figure.column, figure.bin, first)
    second = _bin(figure.other_bin, figure.other_unit, last=other_last)
    bins = first, _placed(other, figure.other_bin, second)
    return " · ".join(part for part in (group_words(figure), *bins) if part)


def _placed(column: str | None, place: Bin, words: str) -> str:
    """Return a bin with the name of its column, where that is not plain anyway."""
    sign = " " if isinstance(place, tuple) else " = "
    return f"{visible(column or '')}{sign}{words}" if words else ""


def exact_words(value: str | float | bool) -> str:
    """Return a public value as it was declared.

    Examples:
        >>> exact_words(True), exact_words(0.0), exact_words(1e6), exact_words("F")
        ('true', '0', '1000000', 'F')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _LONG:
        return str(int(value))
    return str(value)


def measure_words(unit: str, say: Say, *columns: str | None) -> str:
    """Return a unit of measurement; of time and of rows in the reader's language.

    Args:
        unit: As it was declared.
        say: Says texts in a language.
        columns: What is measured in it: Chinese has a word of its own for years of age.

    Examples:
        >>> from sfumato.words import speaker
        >>> measure_words("mg/dL", speaker("en")), measure_words("days²", speaker("en"))
        ('mg/dL', 'days²')
    """
    if unit == _DAY_UNIT:
        return say(_SINCE)
    spelt = _SPELT
    if any(_AGE.search(column or "") for column in columns) and say(_OLD) != _OLD:
        spelt = _SPELT | {"years": _OLD}
    return _WORD.sub(lambda found: say(spelt[found[0]]), visible(unit))


def scale_unit(figure: Figure, say: Say) -> str:
    """Return the unit of the estimate: none for counts, whatever their bins are in.

    None for days either, which are shown as dates.
    """
    if figure.kind in _COUNTED or is_day(figure):
        return ""
    return measure_words(figure.unit, say, figure.column, figure.other)


def number_words(figure: Figure) -> tuple[str, str, str]:
    """Return estimate, low and high with the digits that the interval supports.

    The half-width keeps two significant digits; the ends are rounded outwards, so that
    the printed interval covers no less than the exact one.

    Examples:
        >>> number_words(Figure("m", "mean", "x", {}, 120.5666, 118.1534, 123.0012))
        ('120.6', '118.1', '123.1')
        >>> number_words(Figure("n", "count", None, {}, 12345, 12338, 12352))
        ('12,345', '12,338', '12,352')
        >>> days = "days since 1970-01-01"
        >>> number_words(Figure("m", "median", "x", {}, 19877.6, 19861.5, 19884, unit=days))
        ('2024-06-04', '2024-05-18', '2024-06-10')
    """
    if is_day(figure):
        days = round(figure.estimate), floor(figure.low), ceil(figure.high)
        estimate, low, high = (_day(n) for n in days)
        return estimate, low, high
    if figure.kind == "mode":  # the answer is the bin that was chosen
        ends = (figure.low, ROUND_FLOOR), (figure.high, ROUND_CEILING)
        low, high = (_digits(n, 0, way) for n, way in ends)
        return bin_words(figure), low, high
    numbers = (figure.estimate, figure.low, figure.high)
    ways = (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING)
    estimate, low, high = (
        _digits(n, _decimals(figure), way) for n, way in zip(numbers, ways, strict=True)
    )
    return estimate, low, high


def is_day(figure: Figure) -> bool:
    """Tell whether the figure is a day of the calendar."""
    ends = figure.estimate, figure.low, figure.high
    return (
        figure.kind in _DAYS
        and figure.unit == _DAY_UNIT
        and all(isfinite(n) and 0 < n + _EPOCH < dt.date.max.toordinal() for n in ends)
    )


def _day(number: int) -> str:
    return dt.date.fromordinal(number + _EPOCH).isoformat()


def day_words(number: float) -> str:
    """Return the day that begins a bin, or its number where the calendar has none."""
    known = number.is_integer() and 0 < number + _EPOCH < dt.date.max.toordinal()
    return _day(int(number)) if known else exact_words(number)


def value_words(figure: Figure, value: float) -> str:
    """Return another value, such as an error, with the digits of the figure."""
    return _digits(value, _decimals(figure), ROUND_HALF_EVEN)


def _decimals(figure: Figure) -> int | None:
    """Return how many decimals the interval supports; none where they do not help."""
    numbers = (figure.estimate, figure.low, figure.high)
    if max(map(abs, numbers)) >= _LONG or not all(map(isfinite, numbers)):
        return None
    if all(float(n).is_integer() for n in numbers):
        return 0
    half = figure.high / 2 - figure.low / 2
    decimals = _DIGITS - 1 - floor(log10(half)) if half > 0 else _FINE + 1
    return max(0, decimals) if decimals <= _FINE else None


def _digits(number: float, decimals: int | None, way: str) -> str:
    if decimals is None or not abs(number) < _LONG:
        short = Context(prec=6, rounding=way).create_decimal(str(number))
        return f"{float(short):,.6g}"
    rounded = Decimal(str(number)).quantize(Decimal(1).scaleb(-decimals), way)
    text = f"{rounded:,f}"
    return text.lstrip("-") if not rounded else text


def range_words(figure: Figure, say: Say) -> str:
    """Return the interval in words, or that the number is public and exact."""
    if not figure.noise and figure.low == figure.high:
        return say(N_("public, exact"))
    _, low, high = number_words(figure)
    if figure.kind == "mode":
        rows = low.lstrip("-")
        if rows == "1":
            return say(N_("at most 1 row fewer than the most frequent"))
        return say(N_("at most {rows} rows fewer than the most frequent"), rows=rows)
    return say(N_("{low} to {high}"), low=low, high=high)


def confidence_words(confidence: float) -> str:
    """Return a confidence as a percentage.

    Examples:
        >>> confidence_words(0.95), confidence_words(0.999), confidence_words(1 - 1e-9)
        ('95%', '99.9%', '99.9999999%')
    """
    words = f"{100 * confidence:.6g}%"
    # No interval is sure, so none is rounded up to it.
    return (
        words if words != "100%" else f"{(100 * Decimal(str(confidence))).normalize()}%"
    )


def law_words(noise: Noise, say: Say) -> str:
    """Return the law of a noise term in words."""
    known = _LAWS.get(noise.law)
    return say(known, joint=noise.joint) if known else visible(noise.law)


def unit_words(claim: Claim, say: Say) -> str:
    """Return the protected unit in words."""
    bounds = claim.bounds
    if bounds is not None:
        column = visible(bounds.column)
        return say(
            _BOUNDED,
            column=column,
            max_rows=bounds.max_rows,
            max_groups=bounds.max_groups,
        )
    known = _UNITS.get(claim.unit)
    if claim.unit == "row" and claim.tables > 1:
        known = N_("one row in each of {tables} united tables")
    return say(known, tables=claim.tables) if known else visible(claim.unit)


def neighbour_words(claim: Claim, say: Say) -> str:
    """Return the neighbour relation in words."""
    known = _NEIGHBOURS.get((claim.unit, claim.neighbours))
    if claim.unit == "row" and claim.tables > 1:
        known = N_("add or remove up to one row in each of {tables} united tables")
    facts = {"size": claim.size, "tables": claim.tables}
    return say(known, **facts) if known else visible(claim.neighbours)
