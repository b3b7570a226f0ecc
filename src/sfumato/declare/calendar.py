"""Columns of days, and which texts are days: one rule for cells and constants."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from sfumato.declare.schema import Integer
from sfumato.errors import DeclarationError, quoted
from sfumato.words import N_

__all__ = ["DAYS", "EPOCH", "Date", "day_number", "day_of_text"]

DAYS = "days since 1970-01-01"  # the unit of a column of days
EPOCH = dt.date(1970, 1, 1).toordinal()
_BLANK = " \t\n\r\v\f"
_DAY = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?)?",
    re.ASCII,
)


def day_number(day: dt.date) -> int:
    """Return the days from 1970-01-01 to a day of the proleptic Gregorian calendar."""
    return day.toordinal() - EPOCH


def day_of_text(text: str) -> int | None:
    """Return the day number of ``YYYY-MM-DD``; a time behind it is left out.

    Any other text is none: days that no calendar has, years beyond four digits, and
    times with a zone, which can lie on two days.

    Examples:
        >>> day_of_text("1970-01-02"), day_of_text(" 2024-02-29 23:59 ")
        (1, 19782)
        >>> [day_of_text(t) for t in ("2024-02-30", "1/2/2024", "0000-01-01", "２024-01-01")]
        [None, None, None, None]
    """
    found = _DAY.fullmatch(text.strip(_BLANK))
    if found is None:
        return None
    year, month, day = map(int, found.groups())
    try:
        return day_number(dt.date(year, month, day))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, init=False)
class Date(Integer):
    """A column of days with public bounds; its numbers are days since 1970-01-01.

    Moments count as the day that they lie on: those with a time zone as the day in UTC,
    all others as written. A text must be ``YYYY-MM-DD``, with or without a time.

    Args:
        first: First day kept, a `datetime.date` or ``"YYYY-MM-DD"``; earlier days are
            clamped to it.
        last: Last day kept; later ones are clamped.
        missing: Days that mean "no value", such as ``"1900-01-01"``.
        complete: True when every row has a value (see `Real`).

    Raises:
        DeclarationError: A bound is no day, or they are out of order.

    Examples:
        >>> Date("2000-01-01", "2030-12-31").width
        11322
        >>> Date("2000-01-01", "2030-02-30")
        Traceback (most recent call last):
        sfumato.errors.DeclarationError: [SF101] '2030-02-30' is no day
          hint: write it as "2024-02-29"
    """

    def __init__(self, first: object = None, last: object = None, *,
                 missing: object = (), complete: bool = False) -> None:  # fmt: skip
        """Check the declaration once."""
        codes = missing if isinstance(missing, tuple | list | set) else (missing,)
        days = tuple(map(_read, codes))
        self._fill((_read(first), _read(last), None), 1, days, complete, DAYS)

    @property
    def years(self) -> tuple[int, int]:
        """The years of the first and the last day."""
        first, last = (
            dt.date.fromordinal(int(bound) + EPOCH)
            for bound in (self.lower, self.upper)
        )
        return first.year, last.year


def _read(day: object) -> int:
    if isinstance(day, dt.date) and not isinstance(day, dt.datetime):
        return day_number(day)
    number = day_of_text(day) if isinstance(day, str) else None
    if number is None:
        raise DeclarationError(
            N_("{day} is no day"),
            hint=N_('write it as "2024-02-29"'),
            day=quoted(day),
        )
    return number
