"""Vectors of exact coins: heads with probability exactly ``exp(-r)``, r rational.

One 64-bit word each against a filtered exponential; integers where the filter cannot
tell. Rejection sampling and selection both reduce to these coins.
"""

from __future__ import annotations

import numpy as np

from sfumato.noise.arrays import Bools, Floats, Ints, Words
from sfumato.noise.attempts import Exact, Where, fill_accepted, moved
from sfumato.noise.exact import LazyUniform
from sfumato.noise.filters import CHUNK, COIN_ERROR, expneg
from sfumato.noise.stream import Stream

__all__ = ["below_exp", "flip", "uniform_indices"]


def below_exp(words: Words, rates: Floats, exact: Exact, stream: Stream) -> Bools:
    """Decide ``U[i] < exp(-r[i])`` where `words` are the first 64 bits of each U.

    Args:
        words: Shape ``(m,)``.
        rates: Floats near r, shape ``(m,)``, >= 0, right to 2**-43 absolutely or to
            2**-44 relatively; infinity where r > 1000.
        exact: The true r of an index; called for about one element in 2**39.
        stream: Where further bits of an open U come from.

    Returns:
        Exact decisions, shape ``(m,)``.
    """
    gap = words.astype(np.float64)
    gap *= 2.0**-64
    gap -= expneg(rates)
    heads: Bools = gap < 0
    np.abs(gap, out=gap)
    for i in np.flatnonzero(gap < COIN_ERROR).tolist():
        rate = exact(i)
        uniform = LazyUniform(stream, int(words[i]), 64)
        heads[i] = uniform.below_exp(rate.numerator, rate.denominator)
    return heads


def flip(rates: Floats, exact: Exact, stream: Stream) -> Bools:
    """Return heads with probability exactly ``exp(-r[i])``; see `below_exp`."""
    heads = np.empty(len(rates), np.bool_)
    for start in range(0, len(rates), CHUNK):
        part = slice(start, start + CHUNK)
        words = stream.words(len(rates[part]))
        heads[part] = below_exp(words, rates[part], moved(exact, part), stream)
    return heads


def uniform_indices(bound: int, count: int, stream: Stream) -> Ints:
    """Return exact uniform integers in ``[0, bound)``, bound <= 2**63, by rejection."""
    mask = np.uint64((1 << (bound - 1).bit_length()) - 1)

    def attempt(out: Ints, where: Where) -> Ints:  # noqa: ARG001  one common law
        words = stream.fill(out.view(np.uint64))
        np.bitwise_and(words, mask, out=words)
        return np.flatnonzero(words >= np.uint64(bound))

    return fill_accepted(count, attempt)
