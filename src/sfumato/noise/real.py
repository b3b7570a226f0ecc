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

import numpy as np

from sfumato.noise.arrays import Bools, Floats, Ints, Words
from sfumato.noise.attempts import (
    NONE,
    Where,
    fill_accepted,
    in_chunks,
    moved,
)
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
_FAR = 1 << 62


def laplace(places: Places, plan: GridPlan, stream: Stream) -> Ints:
    """Return ``floor(x/g + 1/2 + L/g)`` for each place, L exact Laplace."""
    return _each_chunk(places, plan, stream, _laplace_chunk)


def gaussian(places: Places, plan: GridPlan, stream: Stream) -> Ints:
    """Return ``floor(x/g + 1/2 + Z/g)`` for each place, Z exact normal."""
    return _each_chunk(places, plan, stream, _gaussian_chunk)


_Chunk = Callable[[Ints, Places, GridPlan, Stream], Ints]


def _each_chunk(places: Places, plan: GridPlan, stream: Stream, chunk: _Chunk) -> Ints:
    def attempt(out: Ints, where: Where) -> Ints:
        here = _part(places, where)

        def one(part_out: Ints, part: Where) -> Ints:
            return chunk(part_out, _part(here, part), plan, stream)

        return in_chunks(out, CHUNK, one)

    steps = fill_accepted(len(places.rest), attempt)
    steps += places.whole
    return steps


def _part(places: Places, where: Where) -> Places:
    return Places(places.whole[where], places.rest[where], moved(places.exact, where))


def _laplace_chunk(out: Ints, places: Places, plan: GridPlan, stream: Stream) -> Ints:
    work = scratch()
    words = stream.fill(work.words[: len(out)])
    middle = np.bitwise_or(words, np.uint64(1), out=work.more_words[: len(out)])
    size = neglog(middle, work)
    unsure = _round(out, words, size, places, plan)
    for i in np.flatnonzero(unsure).tolist():
        uniform = LazyUniform(stream, int(words[i]) >> 1, 63)
        out[i] = _exact_step(uniform, int(words[i]), places.exact(i), plan)
    return NONE


def _exact_step(
    uniform: LazyUniform, word: int, offset: Fraction, plan: GridPlan
) -> int:
    step = rounded_step(uniform, word & 1, offset, plan.steps)
    return min(max(step, -_FAR), _FAR)


def _round(
    out: Ints, words: Words, size: Floats, places: Places, plan: GridPlan
) -> Bools:
    """Put floor(rest + 1/2 +- factor * size) into `out`; return where it is unsure.

    The last bit of a word is the sign of its noise.
    """
    sign = words << np.uint64(63)
    np.bitwise_xor(sign, size.view(np.uint64), out=sign)
    value = sign.view(np.float64)
    value *= plan.factor
    value += places.rest
    value += 0.5
    whole = np.floor(value)
    np.copyto(out, whole, casting="unsafe")
    value -= whole
    value -= 0.5
    np.abs(value, out=value)
    unsure: Bools = value > 0.5 - plan.margin
    unsure |= words < np.uint64(SMALLEST_WORD)
    return unsure


def _gaussian_chunk(out: Ints, places: Places, plan: GridPlan, stream: Stream) -> Ints:
    """Attempt one half-normal for each place; return the rejected positions."""
    work = scratch()
    m = len(out)
    words, coins = stream.fill(work.words[:m]), stream.words(m)
    middle = np.bitwise_or(words, np.uint64(1), out=work.more_words[:m])
    size = neglog(middle, work)
    kept, read = _half_normals(words, coins, size, stream)
    unsure = _round(out, words, size, places, plan) & kept
    unsure[list(read)] = True
    for i in np.flatnonzero(unsure & kept).tolist():
        uniform = read.get(i) or LazyUniform(stream, int(words[i]) >> 1, 63)
        out[i] = _exact_step(uniform, int(words[i]), places.exact(i), plan)
    return np.flatnonzero(~kept)


def _half_normals(
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
