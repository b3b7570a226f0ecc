"""Parts of a day as SQL, in whole numbers: no database's calendar is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, final

from sfumato.engine.dialect import Dialect
from sfumato.plan.kinds import FIRST_DAY, LAST_DAY

__all__ = ["Bind", "Slot", "date_part"]


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """A bound value: its SQL, and the layer from which on it can be used.

    A text is the place of its token in `words`, a number otherwise.
    """

    sql: str
    level: int
    words: tuple[str, ...] | None = None
    constant: float | None = None


class Bind(Protocol):
    """Makes an expression over other slots a column of the next layer."""

    def __call__(self, sql: str, uses: Iterable[Slot]) -> Slot:
        """Bind it."""
        ...


def date_part(bind: Bind, dialect: Dialect, part: str, day: Slot) -> Slot:
    """Bind the year, month, day or weekday of a day number.

    Theorem (Hinnant, ``civil_from_days``). Counted from 0000-03-01, where leap days end
    years, the parts follow from five divisions of whole numbers of at least 0. Doubles
    divide such numbers below 2^53 so exactly that ``floor`` gives the quotient: what
    lacks to the next whole number is at least one part of the divisor.
    """

    def number(value: float) -> str:
        return dialect.constant(value)

    def over(x: Slot, divisor: int) -> Slot:
        quotient = f"{x.sql} / {number(divisor)}"
        whole = dialect.to_double.format(x=dialect.floor.format(x=quotient))
        return bind(whole, [x])

    first, last = number(FIRST_DAY), number(LAST_DAY)
    known = bind(f"CASE WHEN {day.sql} >= {first} AND {day.sql} <= {last} THEN {day.sql} END", [day])  # fmt: skip
    if part == "weekday":
        z = bind(f"{known.sql} - {first}", [known])  # 0001-01-01 was a Monday
        week = over(z, 7)
        return bind(f"{z.sql} - {week.sql} * {number(7)} + {number(1)}", [z, week])
    z = bind(f"{known.sql} + {number(719_468)}", [known])
    era = over(z, 146_097)
    doe = bind(f"{z.sql} - {era.sql} * {number(146_097)}", [z, era])
    a, b, c = over(doe, 1460), over(doe, 36_524), over(doe, 146_096)
    days = bind(f"{doe.sql} - {a.sql} + {b.sql} - {c.sql}", [doe, a, b, c])
    yoe = over(days, 365)
    four, hundred = over(yoe, 4), over(yoe, 100)
    doy = bind(
        f"{doe.sql} - ({number(365)} * {yoe.sql} + {four.sql} - {hundred.sql})",
        [doe, yoe, four, hundred],
    )
    mp = over(bind(f"{number(5)} * {doy.sql} + {number(2)}", [doy]), 153)
    if part == "day":
        start = over(bind(f"{number(153)} * {mp.sql} + {number(2)}", [mp]), 5)
        return bind(f"{doy.sql} - {start.sql} + {number(1)}", [doy, start])
    late = f"{mp.sql} >= {number(10)}"
    if part == "month":
        return bind(f"CASE WHEN {late} THEN {mp.sql} - {number(9)} ELSE {mp.sql} + {number(3)} END", [mp])  # fmt: skip
    year = f"{yoe.sql} + {era.sql} * {number(400)}"
    return bind(f"CASE WHEN {late} THEN {year} + {number(1)} ELSE {year} END", [yoe, era, mp])  # fmt: skip
