"""Repeatable noise, for tests of programs that use sfumato. Never for publication."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.noise.stream import FixedStream, replaced

__all__ = ["seeded"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make all noise inside a ``with`` block repeatable.

    Formal guarantee: none. Who knows the seed can subtract the noise, so every release
    made here is marked NOT PRIVATE, in JSON, CSV, HTML and on the terminal. The mark
    stays with the release for good.

    Args:
        seed: Any integer; the same one gives the same noise.

    Examples:
        >>> import sfumato as sf
        >>> with seeded(7):
        ...     first = sf.laplace(100, sensitivity=1, epsilon="0.5")
        >>> with seeded(7):
        ...     first == sf.laplace(100, sensitivity=1, epsilon="0.5")
        True
    """
    with replaced(FixedStream(seed)):
        yield
