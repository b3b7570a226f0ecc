"""The canonical text of a key, a category or an identifier: one rule for all of them."""

from __future__ import annotations

import re

from sfumato.amount import exact

__all__ = ["token"]

_WHOLE = re.compile(r"(-?[0-9]+)\.0+")
_BEYOND_KEYS = 10**400  # Python refuses to write out longer integers


def token(value: object) -> str | None:
    """Return the canonical text of a key or cell; none when it can be no key.

    Examples:
        >>> token(2.0), token("2.0"), token("007"), token(True), token(0.5)
        ('2', '2', '007', 'true', None)
    """
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        return whole[1] if whole else value
    if isinstance(value, bool):
        return str(value).lower()
    number = exact(value)
    if number is None or number.denominator != 1 or abs(number) >= _BEYOND_KEYS:
        return None
    return str(int(number))
