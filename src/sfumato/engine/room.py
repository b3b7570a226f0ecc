"""How much memory a table may take, and the refusal of more."""

from __future__ import annotations

import re
from typing import Any, final

import numpy as np

from sfumato.errors import SourceError
from sfumato.words import N_

__all__ = ["Room", "bytes_of", "most_bytes", "too_large"]

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40, "BYTES": 1,
}  # fmt: skip
_UNASKED = 1 << 26  # bytes that need no question how much there is


def bytes_of(amount: str) -> int:
    """Return an amount of memory in bytes.

    Examples:
        >>> bytes_of("500MB"), bytes_of("1.5 GiB")
        (500000000, 1610612736)
    """
    found = re.fullmatch(r"([0-9.]+) *([A-Za-z]+)", amount)
    assert found is not None  # noqa: S101  `Dataset` and DuckDB write no other
    return int(float(found[1]) * _UNITS[found[2].upper()])


def most_bytes(memory: str | None) -> int:
    """Return the stated amount; without one, what DuckDB would use of this machine."""
    if memory is not None:
        return bytes_of(memory)
    import duckdb

    with duckdb.connect(":memory:") as connection:
        row = connection.execute("SELECT current_setting('memory_limit')").fetchone()
    assert row is not None  # noqa: S101  a setting is one row
    return bytes_of(str(row[0]))


def too_large(path: str) -> SourceError:
    """Return the refusal of a table that needs more memory than it may take."""
    return SourceError(
        N_("{path} needs more memory than it may take"),
        hint=N_(
            "write it as Parquet, which is read in parts, or allow more: "
            'Dataset(..., memory="8GB")'
        ),
        path=repr(path),
    )


@final
class Room:
    """Counts the memory of what was read, and refuses to hold more than is allowed."""

    __slots__ = ("_held", "_memory", "_most", "_path")

    def __init__(self, memory: str | None, path: str) -> None:
        """Nothing is held yet."""
        self._memory, self._path = memory, path
        self._held, self._most = 0, _UNASKED if memory is None else bytes_of(memory)

    def take(self, array: np.ndarray[Any, np.dtype[Any]]) -> None:
        """Count one array more.

        Raises:
            SourceError: There is no room for it.
        """
        texts = array if array.dtype == object else ()
        self.hold(array.nbytes + sum(len(text) for text in texts if text is not None))

    def hold(self, size: int) -> None:
        """Count so many bytes more; raises as `take`."""
        self._held += size
        if self._held > self._most:
            if self._memory is None:
                self._most = most_bytes(None)
            if self._held > self._most:
                raise too_large(self._path)
