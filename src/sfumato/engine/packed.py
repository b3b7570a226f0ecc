"""Keys and bins as one small integer, where a database counts by such an integer faster.

A hash table of ten thousands of groups is most of the work of a histogram by group. DuckDB
keeps groups of 16-bit integers in a plain array instead. So keys become places among the
declared ones, in one look-up per cell; places and bins become one number; and the rows of
the statement are read back as if they had named the keys. The integers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import final

from sfumato.declare.schema import Text as Unlisted
from sfumato.engine.dialect import Dialect
from sfumato.engine.scan import Scan
from sfumato.plan import Level, Plan

__all__ = ["Packed", "packed"]

_FEWEST, _MOST = 256, 1 << 16  # cells: a hash table of fewer is as quick
_OUTPUTS = 8  # of a statement: the array has a place of them for each possible number


@final
class Packed:
    """One 16-bit number for the keys and the bins of a row.

    Attributes:
        codes: For each grouping column its place among the keys as SQL, null for none.
        sql: The number, over columns ``k0`` … that hold places and ``b0`` … of bins; null
            for a row without a group.
    """

    def __init__(
        self,
        codes: Sequence[tuple[str, tuple[object, ...]]],
        bins: Sequence[int],
        dialect: Dialect,
    ) -> None:
        """Make the number: the last bin is its lowest digit.

        Args:
            codes: For each grouping column the SQL of its place, and a raw cell of each.
            bins: For each axis how many bins it has.
            dialect: The primitives.
        """
        self.codes = tuple(sql for sql, _ in codes)
        self._keys = list(product(*(raws for _, raws in codes)))
        self._bins = list(product(*(_cells(count) for count in bins)))
        sizes = [len(raws) for _, raws in codes] + [count + 2 for count in bins]
        digits = [f"k{i}" for i, _ in enumerate(codes)]
        digits += [f"COALESCE(b{i} + 1, {n + 1})" for i, n in enumerate(bins)]
        number, *rest = digits
        for size, digit in zip(sizes[1:], rest, strict=True):
            number = f"({number}) * {size} + {digit}"
        self.sql = dialect.packed.format(x=f"{number} - {_MOST // 2}")

    def rows(self, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
        """Return the rows of the statement with raw keys and bins instead of the number."""
        keys, bins = self._keys, self._bins
        each = len(bins)
        for row in rows:
            if row[0] is not None:
                key, place = divmod(int(str(row[0])) + _MOST // 2, each)
                yield keys[key] + bins[place] + row[1:]


def _cells(count: int) -> tuple[int | None, ...]:
    """Return what a bin can be: outside the edges, one of them, or missing."""
    return (-1, *range(count), None)


def packed(plan: Plan, scan: Scan, dialect: Dialect) -> Packed | None:
    """Return how rows are counted by one number; none where that is not worth it."""
    if not dialect.packed or len(scan.sets) > 1 or plan.query.other is not None:
        return None
    if not plan.query.keys or not all(
        isinstance(a, Level) or a.edges for a in scan.axes
    ):
        return None
    outputs = 1 + 3 * len(scan.sums) + 2 * len(scan.products) + len(scan.counted)
    sizes = [axis.count + 2 for axis in scan.axes]
    for _, column in plan.grouping.columns:
        if isinstance(column, Unlisted):
            return None
        sizes.append(len(column.values))
    if outputs > _OUTPUTS or not _FEWEST < prod(sizes) <= _MOST:
        return None
    codes = [scan.groups.code(name) for name in plan.query.keys]
    if any(code is None for code in codes):
        return None
    known = [code for code in codes if code is not None]
    return Packed(known, [axis.count for axis in scan.axes], dialect)
