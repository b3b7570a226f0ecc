"""Reproducible noise, for tests only: what is made under a seed is NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.noise import FixedStream, replaced

__all__ = ["seeded"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Replay the same noise for the same seed inside a ``with`` block.

    A release made inside is marked NOT PRIVATE in every form it takes: whoever knows
    the seed can subtract the noise.

    Args:
        seed: Any integer.

    Examples:
        >>> import sfumato as sf
        >>> with seeded(1):
        ...     a = sf.geometric(100, 1, "0.5")
        >>> with seeded(1):
        ...     b = sf.geometric(100, 1, "0.5")
        >>> a == b
        True
    """
    with replaced(FixedStream(seed)):
        yield
