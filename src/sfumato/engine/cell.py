"""How one cell is read: the single rule that every engine follows.

Every function here is total: it has an answer for each Python object, and none of them
raises or looks at another row. The rule in words is ``docs/missing-values.md``.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from math import floor, inf, isnan
from numbers import Rational, Real
from uuid import UUID

from sfumato.declare.calendar import EPOCH, Date, day_of_text
from sfumato.declare.numeral import numeral
from sfumato.declare.schema import Boolean, Category, Number, Text, token
from sfumato.declare.unit import Identifier

__all__ = [
    "DIGITS",
    "UNREAD",
    "Day",
    "as_double",
    "clamped",
    "constant",
    "day",
    "grid_number",
    "identity",
    "key_index",
    "number",
    "plain",
    "text_key",
]


_NOT_A_TIME = -(1 << 63)
_WEST = dt.timezone(dt.timedelta(hours=-2))

DIGITS = {"float16": 11, "float32": 24, "float64": 53}
"""Binary digits of a float's significand: below 2 to their number in size each whole
number is a float of its own (IEEE 754-2019, table 3.5: the precision p)."""

UNREAD = "\ufffd"
"""What stands where something could not be read: undecodable bytes, for one. It is the
same whatever stood there, so that texts with it are not known apart."""


def plain(cell: object) -> object:
    """Unwrap a numpy scalar to the Python value that it holds.

    Examples:
        >>> import numpy as np
        >>> plain(np.int64(2)), plain(np.bool_(True)), plain("2")
        (2, True, '2')
    """
    if type(cell).__module__ != "numpy":
        return cell
    if type(cell).__name__ in ("datetime64", "timedelta64"):
        return None  # unwrapped, nanoseconds would be an integer
    unwrap = getattr(cell, "item", None)
    try:
        return cell if unwrap is None else unwrap()
    except Exception:  # noqa: BLE001  an array inside a cell is no number and no text
        return None


def as_double(value: float | Decimal) -> float:
    """Return the nearest double; beyond the largest one, the infinity of that sign.

    Examples:
        >>> as_double(-(10**400)), as_double(2**53 + 1)
        (-inf, 9007199254740992.0)
    """
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def number(cell: object, missing: tuple[float, ...] = ()) -> float | None:
    """Read a cell of a number column; none when it is missing.

    Args:
        cell: Any object. Text counts when, without blanks around it, it is a plain
            decimal numeral in ASCII digits.
        missing: The declared codes, compared as doubles.

    Examples:
        >>> number(" 1.5e2 "), number(True), number(float("-inf"))
        (150.0, 1.0, -inf)
        >>> [number(x) for x in ("1,234", "1_000", "１２", "n/a", "", "inf", None)]
        [None, None, None, None, None, None, None]
        >>> number("0.0", missing=(0.0,)) is None
        True
    """
    cell = plain(cell)
    value: float | None = None
    if isinstance(cell, int | float):
        value = as_double(cell)
    elif isinstance(cell, str):
        value = numeral(cell)
    elif isinstance(cell, Decimal) and not cell.is_nan():
        value = as_double(cell)
    return None if value is None or isnan(value) or value in missing else value


class Day(float):
    """A day number that was computed; other numbers are no days."""

    __slots__ = ()


def day(cell: object, missing: tuple[float, ...] = ()) -> float | None:
    """Read a cell of a column of days, as days since 1970-01-01; none when missing.

    Examples:
        >>> day("2024-03-01"), day(dt.datetime(1970, 1, 1, 23, tzinfo=_WEST)), day(19783)
        (19783.0, 1.0, None)
    """
    value = _day(cell)
    return None if value is None or value in missing else value


def _day(cell: object) -> float | None:
    if isinstance(cell, str):
        number = day_of_text(cell)
        return None if number is None else float(number)
    if isinstance(cell, Day):
        return float(cell)
    if type(cell).__module__ == "numpy" and type(cell).__name__ == "datetime64":
        days = cell.astype("datetime64[D]").astype("int64")  # type: ignore[attr-defined]
        return None if int(days) == _NOT_A_TIME else float(days)
    if not isinstance(cell, dt.date) or cell != cell:  # noqa: PLR0124  NaT is a date
        return None
    number = cell.toordinal() - EPOCH
    zone = cell.utcoffset() if isinstance(cell, dt.datetime) else None
    if zone is None:
        return float(number)
    assert isinstance(cell, dt.datetime)  # noqa: S101  only they have a zone
    time = dt.timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond)  # fmt: skip
    return float(number + (time - zone) // dt.timedelta(days=1))


def constant(value: object, column: Number) -> float:
    """Return a constant that a number column is compared with, as its cells are read."""
    if isinstance(column, Date):
        read = day(value)
        assert read is not None  # noqa: S101  the plan checked it
        return read
    return as_double(value)  # type: ignore[arg-type]  # the plan checked it


def clamped(value: float, column: Number) -> float:
    """Return the value moved into the column's bounds."""
    if value <= column.lower:
        return column.lower
    return min(column.upper, value)


def grid_number(value: float, column: Number) -> int:
    """Return ``floor(x / step + 1/2)`` of the clamped value, within [first, last].

    Both operations are IEEE 754 double operations, in this order, on every engine.

    Examples:
        >>> from sfumato.declare.schema import Real
        >>> [grid_number(x, Real(0, 10, step=1)) for x in (-1e308, 0.5, 2.5, 1e308)]
        [0, 1, 3, 10]
    """
    if value <= column.lower:
        return column.first
    if value >= column.upper:
        return column.last
    return min(max(floor(value / column.step + 0.5), column.first), column.last)


def text_key(cell: object, column: Text) -> str | None:
    """Return the key that a cell of a text column is; none when it is missing.

    Examples:
        >>> [text_key(c, Text(longest=4)) for c in (" A ", "2.0", 7, 2.5, "", "A" * 5)]
        [' A ', '2', '7', None, '', None]
    """
    raw = plain(cell)
    text = raw if isinstance(raw, str) else token(raw)
    if text is None or len(text) > column.longest:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which no database holds
        return None
    return token(text)


def key_index(cell: object, column: Category | Boolean) -> int | None:
    """Return the place of a cell among the declared keys; none when it is missing.

    Examples:
        >>> key_index(2.0, Category(["A", 2])), key_index("a", Category(["A"]))
        (1, None)
        >>> key_index("yes", Boolean(true="yes", false="no"))
        1
    """
    text = token(plain(cell))
    if isinstance(column, Boolean):
        return 1 if text in column.true else 0 if text in column.false else None
    # Only a text can equal a token, so a missing token finds no place.
    return column.tokens.index(text) if text in column.tokens else None


def identity(cell: object, column: Identifier) -> str | None:
    """Return the canonical text of an identifier; none when it names nobody.

    A float names somebody only if it is a whole number below 2^53 in size, one of 32 bits
    below 2^24 and one of 16 bits below 2^11: beyond, one float stands for several whole
    numbers, and nobody knows whose row it was. So it is with a text in which U+FFFD
    stands for what could not be read.

    Examples:
        >>> ids = Identifier(missing=("-1",))
        >>> [identity(x, ids) for x in (7, 7.0, "7.0", "07", 2**63, "张伟")]
        ['7', '7', '7', '07', '9223372036854775808', '张伟']
        >>> [identity(x, ids) for x in (None, float("nan"), "", -1, 0.5, 2.0**53)]
        [None, None, None, None, None, None]
        >>> import numpy as np
        >>> [identity(x, ids) for x in (np.float32(2**24 - 1), np.float32(2**24), "M\ufffdller")]
        ['16777215', None, None]
    """
    if _is_several(cell):
        return None
    cell = plain(cell)
    if isinstance(cell, UUID):
        cell = str(cell)
    text = token(cell)
    if not text or text in column.missing or UNREAD in text:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which no database holds
        return None
    return text


def _is_several(cell: object) -> bool:
    """Tell whether a binary fraction may stand for more than one whole number."""
    value = plain(cell)
    if isinstance(value, str | Rational) or not isinstance(value, Real):
        return False
    digits = 53  # of wider ones no more: they may have been doubles once
    if type(cell).__module__ == "numpy":
        kind = getattr(getattr(cell, "dtype", None), "name", "")
        digits = DIGITS.get(kind, digits)
    elif not isinstance(value, float):
        return True  # of another library, which may have rounded
    return not abs(float(value)) < 2.0**digits
