"""A line on a terminal about a long fit or test: silent when it is short, or nobody looks.

It is shown to whoever runs it, holds the rows and could time it anyway; nothing of
it is kept. A search names no number of trials, for its guarantee needs that to be secret.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from multiprocessing import current_process
from typing import TextIO, final

from sfumato.words import N_, language, speaker

__all__ = ["TESTING", "tick", "watching"]

_FITTING = N_("fitting {name}: {share} %")
TESTING = N_("testing {name}: {share} %")
_PATIENCE = 2.0  # seconds without a word
_PAUSE = 0.2  # seconds between two words


@final
class _Meter:
    """One line that is written over and over, and removed at the end."""

    def __init__(
        self,
        name: str,
        total: int | None,
        telling: str,
        clock: Callable[[], float],
        screen: TextIO,
    ) -> None:
        self._name, self._total, self._telling = name, total, telling
        self._clock, self._screen = clock, screen
        self._began = clock()
        self._next = self._began + _PATIENCE
        self._done = self._shown = 0
        self._say = speaker(language(None))

    def tick(self) -> None:
        """Count one step, and tell if it is time."""
        self._done += 1
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _PAUSE
        if self._total:
            share = min(100 * self._done // self._total, 99)
            told = self._say(self._telling, name=self._name, share=share)
        else:
            text = N_("fitting {name}: {seconds} s so far")
            told = self._say(text, name=self._name, seconds=int(now - self._began))
        self._write(told)

    def clear(self) -> None:
        """Remove the line, if there is one."""
        if self._shown:
            self._write(" " * 2 * self._shown + "\r")  # some signs are two columns wide

    def _write(self, told: str) -> None:
        padded = told.ljust(self._shown)
        self._shown = len(told)
        # A terminal that goes away must not end a fit that is paid.
        with suppress(OSError, ValueError):
            self._screen.write(f"\r{padded}")
            self._screen.flush()


_SILENT = object()
_NOW: ContextVar[object] = ContextVar("_NOW", default=None)


@contextmanager
def watching(
    name: str,
    total: int | None = None,
    *,
    telling: str = _FITTING,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Tell of the steps inside on the terminal of the errors, if it is one.

    What is watched inside what is watched says nothing of its own; nor do threads and
    processes that share the terminal.

    Args:
        name: What is fitted or tested.
        total: How many times `tick` will be called, where that is public; else seconds
            are shown.
        telling: The text, where `total` is known.
        clock: Where the time comes from.
    """
    if _NOW.get() is not None:
        yield
        return
    meter = _Meter(name, total, telling, clock, sys.stderr) if _is_seen() else None
    token = _NOW.set(meter or _SILENT)
    try:
        yield
    finally:
        _NOW.reset(token)
        if meter is not None:
            meter.clear()


def tick() -> None:
    """Count one step of whatever is watched."""
    meter = _NOW.get()
    if isinstance(meter, _Meter):
        meter.tick()


def _is_seen() -> bool:
    """Tell whether somebody looks: a terminal, and this process and thread its only user."""
    alone = threading.current_thread() is threading.main_thread()
    with suppress(AttributeError, ValueError):  # no stream, or a closed one
        return alone and current_process().name == "MainProcess" and sys.stderr.isatty()
    return False
