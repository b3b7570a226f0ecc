"""What can be used once: a paid receipt, and what a paid first step has found.

One debit pays for one draw of noise. Two draws under one receipt would be two releases
for one price: their mean has less noise than the plan says. So the ledger puts into each
receipt it makes a right to one release, and the gate takes it out. The right belongs to
the object and to the process. A copy, a receipt read from a file and one that a fork has
duplicated prove what was paid, as ever, and open nothing.
"""

from __future__ import annotations

import os
from typing import TypeVar

from sfumato.errors import SfumatoError
from sfumato.words import N_

__all__ = ["Once", "grant", "take"]

T = TypeVar("T", bound="Once")


class Once:
    """Something that may hold a right to be used; equality and copies ignore it."""

    __slots__ = ("_right",)

    _right: list[int]


def grant(thing: T) -> T:
    """Put the right in. The ledger grants it to a new receipt, the gate to a first step.

    Examples:
        >>> thing = grant(Once())
        >>> take(thing)
        >>> take(thing)
        Traceback (most recent call last):
        sfumato.errors.SfumatoError: [SF000] the receipt was used already, or is a copy
          hint: one debit pays for one release; ask again, which debits again
    """
    object.__setattr__(thing, "_right", [os.getpid()])
    return thing


def take(thing: Once) -> None:
    """Take the right out; of two threads one gets it.

    Raises:
        SfumatoError: There is none, or another process has it.
    """
    right = getattr(thing, "_right", [])
    try:
        holder = right.pop()  # one step: no other thread comes between
    except IndexError:
        holder = None
    if holder != os.getpid():
        raise SfumatoError(
            N_("the receipt was used already, or is a copy"),
            hint=N_("one debit pays for one release; ask again, which debits again"),
        )
