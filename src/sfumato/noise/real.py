"""Noise for real values: the exactly rounded continuous Laplace and Gaussian.

``M(x) = g * floor(x/g + 1/2 + noise/g)`` with exact continuous noise and a public grid
step g. M is a function of ``x + noise`` and of public numbers, so it is exactly as
private as the ideal mechanism on the reals: the grid adds nothing to the sensitivity,
in any dimension. Theorem and proof: ``docs/proofs/rounded-reals.md``.

A standard exponential is ``E = -ln U``; a standard half-normal is E given
``U2 < exp(-(E-1)**2/2)`` (von Neumann). As in `sfumato.noise.lazy`, floats only filter:
where they cannot tell the floor or the coin, integers finish the same U.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.noise.arrays import Bools, Floats, Words
from sfumato.noise.exact import LazyUniform, half_normal_accepts, rounded_step
from sfumato.noise.filters import (
    CHUNK,
    COIN_ERROR,
    SMALLEST_WORD,
    expneg,
    expneg_one,
    neglog,
    neglog_one,
    scratch,
)
from sfumato.noise.grid import GridPlan, Places, place_one
from sfumato.noise.stream import Stream

__all__ = ["gaussian", "gaussian_one", "laplace", "laplace_one"]

_WORD = 2.0**-64
_FAR = 1 << 51
_CHANCE = 0.76


def laplace(values: NDArray[Any], plan: GridPlan, stream: Stream) -> Floats:
    """Return ``g * floor(x/g + 1/2 + L/g)`` for each value, L exact Laplace.

    Args:
        values: Floats or integers, shape ``(n,)``.
        plan: The scale and the grid.
        stream: Source of random bits.
    """
    return _each_chunk(values, plan, stream, _laplace_steps)


def gaussian(values: NDArray[Any], plan: GridPlan, stream: Stream) -> Floats:
    """Return ``g * floor(x/g + 1/2 + Z/g)`` for each value, Z exact normal."""
    return _each_chunk(values, plan, stream, _gaussian_steps)


_Steps: TypeAlias = Callable[[Places, GridPlan, Stream], Floats]


def _each_chunk(
    values: NDArray[Any], plan: GridPlan, stream: Stream, noisy_rest: _Steps
) -> Floats:
    out = np.empty(len(values))
    for start in range(0, len(values), CHUNK):
        part = slice(start, start + CHUNK)
        places = Places.of(values[part], plan.power)
        out[part] = places.finish(noisy_rest(places, plan, stream), plan.power)
    return out


def _laplace_steps(places: Places, plan: GridPlan, stream: Stream) -> Floats:
    work = scratch()
    m = len(places.rest)
    words = stream.fill(work.words[:m])
    middle = np.bitwise_or(words, np.uint64(1), out=work.more_words[:m])
    steps, unsure = _round(words, neglog(middle, work), places, plan)
    for i in np.flatnonzero(unsure).tolist():
        uniform = LazyUniform(stream, int(words[i]) >> 1, 63)
        steps[i] = _exact_step(uniform, int(words[i]), places.exact(i), plan)
    return steps


def _exact_step(
    uniform: LazyUniform, word: int, offset: Fraction, plan: GridPlan
) -> int:
    step = rounded_step(uniform, word & 1, offset, plan.steps)
    return min(max(step, -_FAR), _FAR)


def _round(
    words: Words, size: Floats, places: Places, plan: GridPlan
) -> tuple[Floats, Bools]:
    """Return floor(rest + 1/2 +- factor * size), and where that is unsure.

    The last bit of a word is the sign of its noise.
    """
    sign = words << np.uint64(63)
    np.bitwise_xor(sign, size.view(np.uint64), out=sign)
    value = sign.view(np.float64)
    value *= plan.factor
    value += places.rest
    value += 0.5
    whole = np.floor(value)
    value -= whole
    value -= 0.5
    np.abs(value, out=value)
    unsure: Bools = value > 0.5 - plan.margin
    unsure |= words < np.uint64(SMALLEST_WORD)
    return whole, unsure


def _gaussian_steps(places: Places, plan: GridPlan, stream: Stream) -> Floats:
    words, size, read = _half_normals(len(places.rest), stream)
    steps, unsure = _round(words, size, places, plan)
    for i in np.flatnonzero(unsure).tolist():
        uniform = read.get(i) or LazyUniform(stream, int(words[i]) >> 1, 63)
        steps[i] = _exact_step(uniform, int(words[i]), places.exact(i), plan)
    return steps


def _half_normals(
    count: int, stream: Stream
) -> tuple[Words, Floats, Mapping[int, LazyUniform]]:
    """Return words with their half-normals, and the uniforms that were read further.

    As in `attempts.fill_in_order`, the first `count` accepted attempts are kept.
    """
    parts: list[tuple[Words, Floats]] = []
    read: dict[int, LazyUniform] = {}
    done = 0
    while done < count:
        missing = count - done
        tries = min(int(missing / _CHANCE + 3 * sqrt(missing)) + 8, CHUNK)
        words, coins = stream.words(tries), stream.words(tries)
        size = neglog(words | np.uint64(1), scratch())
        kept, read_here = _accept(words, coins, size, stream)
        index = np.flatnonzero(kept)[:missing]
        for i in read_here.keys() & set(index.tolist() if read_here else ()):
            read[done + int(np.searchsorted(index, i))] = read_here[i]
        parts.append((words[index], size[index]))
        done += len(index)
    if len(parts) == 1:
        return *parts[0], read
    words, size = (np.concatenate(p) for p in zip(*parts, strict=True))
    return words, size, read


def _accept(
    words: Words, coins: Words, size: Floats, stream: Stream
) -> tuple[Bools, Mapping[int, LazyUniform]]:
    """Return which exponentials are kept, and the uniforms that were read further."""
    gap = size - 1.0
    gap *= gap
    gap *= 0.5
    above = coins.astype(np.float64)
    above *= _WORD
    above -= expneg(gap)
    kept: Bools = above < 0
    np.abs(above, out=above)
    unsure = (above < COIN_ERROR) | (words < np.uint64(SMALLEST_WORD))
    read = {}
    for i in np.flatnonzero(unsure).tolist():
        read[i] = LazyUniform(stream, int(words[i]) >> 1, 63)
        coin = LazyUniform(stream, int(coins[i]), 64)
        kept[i] = half_normal_accepts(read[i], coin)
    return kept, read


def laplace_one(value: float | Fraction, plan: GridPlan, stream: Stream) -> int:
    """Return ``floor(x/g + 1/2 + L/g)`` for one value, L exact Laplace."""
    whole, rest, clean = place_one(value, plan.power)
    word = stream.word()
    step = _filtered_step(word, neglog_one(word | 1), rest, plan)
    if step is None:
        uniform = LazyUniform(stream, word >> 1, 63)
        step = _exact_step(uniform, word, _offset(clean, plan, whole), plan)
    return whole + step


def _offset(clean: float | Fraction, plan: GridPlan, whole: int) -> Fraction:
    return Fraction(clean) / Fraction(2) ** plan.power - whole


def _filtered_step(word: int, size: float, rest: float, plan: GridPlan) -> int | None:
    """Return the floor that `_round` computes, or None where it is unsure."""
    noise = -size if word & 1 else size
    value = noise * plan.factor + rest + 0.5
    step = int(value // 1.0)
    if word >= SMALLEST_WORD and plan.margin < value - step < 1.0 - plan.margin:
        return step
    return None


def gaussian_one(value: float | Fraction, plan: GridPlan, stream: Stream) -> int:
    """Return ``floor(x/g + 1/2 + Z/g)`` for one value, Z exact normal."""
    whole, rest, clean = place_one(value, plan.power)
    while True:
        word, coin = stream.word(), stream.word()
        size = neglog_one(word | 1)
        above = coin * _WORD - expneg_one(0.5 * (size - 1.0) ** 2)
        if word >= SMALLEST_WORD and abs(above) > COIN_ERROR:
            if above > 0:
                continue
            step = _filtered_step(word, size, rest, plan)
            if step is not None:
                return whole + step
            uniform = LazyUniform(stream, word >> 1, 63)
        else:
            uniform = LazyUniform(stream, word >> 1, 63)
            if not half_normal_accepts(uniform, LazyUniform(stream, coin, 64)):
                continue
        offset = _offset(clean, plan, whole)
        return whole + _exact_step(uniform, word, offset, plan)
