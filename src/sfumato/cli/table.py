"""Aligned tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from sfumato.cli.width import columns, pad
from sfumato.release.text import visible

__all__ = ["number", "table"]

_THOUSAND, _LONG = 1e3, 1e12


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> list[str]:
    r"""Return the lines of a table, a cell on one each; those in `right` hold numbers.

    Examples:
        >>> print("\n".join(table(["列", "n"], [["血糖", "7"]], right=[1])))
          列    n
          血糖  7
    """
    grid = [list(map(visible, row)) for row in (heads, *rows)]
    widths = [max(columns(row[i]) for row in grid) for i in range(len(heads))]
    return [
        "  "
        + "  ".join(
            pad(cell, width, right=i in right)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in grid
    ]


def number(value: float) -> str:
    """Write a number with three digits that matter.

    Examples:
        >>> number(12345.6), number(12.3456), number(0.00123456), number(3.2e19)
        ('12,346', '12.3', '0.00123', '3.2e+19')
        >>> number(float("inf"))
        '∞'
    """
    if value == inf:
        return "∞"
    return f"{value:,.0f}" if _THOUSAND <= abs(value) < _LONG else f"{value:.3g}"
