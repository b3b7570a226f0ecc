"""Lines of a text file within a stated length, however the file was made.

A line is read up to `LONGEST` characters; what follows, up to its end, is ignored, and
U+FFFD says that it was there: a cell that was cut is no identifier, whoever shares its
beginning. So a file of one endless line needs no more memory than one of many, and a long
line changes its own row only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Protocol, TypeAlias, final

from sfumato.engine.cell import UNREAD

__all__ = ["LONGEST", "Lines"]

LONGEST = 1 << 20  # characters of a line, and of a quoted cell over several
_USUAL = 1 << 10  # characters of a line that are not counted as heavy
_MOST_LINES = 20_000  # held as text at one time
_MOST_HEAVY = 1 << 24  # characters of heavy lines held at one time


class _Reader(Protocol):
    def readline(self, size: int, /) -> str: ...
    def tell(self) -> int: ...
    def seek(self, place: int, /) -> object: ...


Mark: TypeAlias = "tuple[int, str, bool]"


@final
class Lines:
    r"""The lines of an open text file, each with its end, none above `LONGEST`.

    What a line is cut off from is read by whoever asks for it next: `onward`, or, unseen,
    the next line.

    Attributes:
        ends: The characters at which lines end.
        heavy: Characters read so far in lines, and in rows of many lines, above a
            thousand.
        is_cut: Whether the last line was cut and the rest of it is still unread.

    Examples:
        >>> import io
        >>> long = Lines(io.StringIO("a" * (LONGEST + 5) + "\nb\n", newline=""))
        >>> [len(line) for line in long], long.heavy
        ([1048576, 2], 1048576)
    """

    __slots__ = ("_file", "_light", "_pending", "ends", "heavy", "is_cut")

    def __init__(self, file: _Reader, ends: str = "\r\n") -> None:
        """Read nothing yet.

        Args:
            file: The text.
            ends: The characters at which its lines end.
        """
        self._file, self.ends = file, ends
        self.heavy = self._light = 0
        self._pending, self.is_cut = "", False

    def __iter__(self) -> Iterator[str]:
        """Yield each line, or what is kept of it."""
        while line := self._file.readline(LONGEST):
            if len(line) > _USUAL:
                self.heavy += len(line)
            else:
                self._light += len(line)
            if len(line) < LONGEST or line[-1] in self.ends:
                yield line
                continue
            rest = self._file.readline(LONGEST)
            if not rest.strip("\r\n"):
                yield line + rest
                continue
            self._pending, self.is_cut = line[-1] + rest, True
            yield line[:-1] + UNREAD
            deque(self._tail(), maxlen=0)

    def _tail(self) -> Iterator[str]:
        """Yield what the last line was cut off from, its last kept character too."""
        while self.is_cut:
            piece = self._pending
            ended = piece[-1] in self.ends
            self._pending = "" if ended else self._file.readline(LONGEST)
            self.is_cut = bool(self._pending)
            yield piece

    def onward(self) -> Iterator[str]:
        """Yield all that follows, in pieces: the rest of a line that was cut, then lines."""
        yield from self._tail()
        yield from iter(partial(self._file.readline, LONGEST), "")

    def mark(self) -> Mark:
        """Return where reading stands."""
        return self._file.tell(), self._pending, self.is_cut

    def back(self, mark: Mark) -> None:
        """Go back there."""
        place, self._pending, self.is_cut = mark
        self._file.seek(place)

    def batches(self, rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
        """Yield rows made of these lines, as many at a time as little memory holds."""
        batch: list[list[str]] = []
        start, light = self.heavy, self._light
        for row in rows:
            batch.append(row)
            if self._light - light > _USUAL:
                self.heavy += self._light - light
            light = self._light
            if len(batch) == _MOST_LINES or self.heavy - start > _MOST_HEAVY:
                yield batch
                batch, start = [], self.heavy
        if batch:
            yield batch
