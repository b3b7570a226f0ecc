"""Which texts are numbers: one rule for cells, keys and constants."""

from __future__ import annotations

import re

__all__ = ["numeral"]

_BLANK = " \t\n\r\v\f"
_NUMERAL = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII
)


def numeral(text: str) -> float | None:
    """Return the double nearest to a plain decimal numeral; none if it is none.

    Examples:
        >>> numeral(" 1.5e2 "), numeral("1e400"), numeral("1,234"), numeral("inf")
        (150.0, inf, None, None)
    """
    plain = text.strip(_BLANK)
    return float(plain) if _NUMERAL.fullmatch(plain) else None
