"""Streams that serve chosen words first and a constant pattern of bits afterwards."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.noise.bounds import exp_bounds
from sfumato.noise.stream import Stream

PATTERNS = (1, (1 << 64) - 2, 0xA5C3_96F0_1234_9ABD)


class Scripted(Stream):
    """Serves `arrays` to the first calls of `fill`; every later bit is a pattern."""

    def __init__(self, arrays=(), words=(), pattern: int = 0) -> None:
        super().__init__()
        self._arrays, self._words = list(arrays), list(words)
        self._pattern = pattern

    def fill(self, out):
        if self._arrays:
            out[:] = self._arrays.pop(0)[: len(out)]
        else:
            out[:] = self._pattern >> (64 - 8 * out.itemsize)
        return out

    def word(self) -> int:
        return self._words.pop(0) if self._words else self._pattern

    def bits(self, count: int) -> int:
        value = 0
        for _ in range(-(-count // 64)):
            value = value << 64 | self._pattern
        return value >> (-count % 64)


class Extension(Scripted):
    """Serves the pattern alone: for the integer reference on the same bits."""

    def __init__(self, pattern: int) -> None:
        super().__init__(pattern=pattern)


def words_near(exponents: list[Fraction], bits: int = 63) -> list[int]:
    """Return words whose uniforms lie next to ``exp(-q)`` for each exponent q."""
    found = []
    for q in exponents:
        edge, _ = exp_bounds(q.numerator, q.denominator, bits)
        around = range(edge - 3, edge + 4)
        found += [word for word in around if 0 <= word < 1 << bits]
    return found


def uniform_words(count: int, seed: int) -> np.ndarray:
    """Return ordinary words, with a few tiny ones for the integer paths."""
    words = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)
    words[: count // 50] >>= np.uint64(30)
    words[:4] = (0, 1, 2, 3)
    return words
