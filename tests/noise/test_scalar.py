"""Single draws equal the integer reference, word for word."""

from fractions import Fraction

import pytest
from scripted import PATTERNS, Extension, Scripted, uniform_words, words_near

from sfumato.noise import exact, lazy, scalar
from sfumato.noise.exact import LazyUniform

F = Fraction
SCALES = [
    F(1, 10**30), F(1, 40), F(1, 3), F(1), F(10), F(10**6, 7), F(2**21 + 5),
    F(2**40), F(2**70), F(10**40, 3),
]  # fmt: skip


class Tape(Scripted):
    """Serves words, then short reads from a list, then a pattern of bits."""

    def __init__(self, words, reads, pattern):
        super().__init__(words=words, pattern=pattern)
        self._reads = list(reads)

    def bits(self, count):
        if self._reads and count != self.grain:
            return self._reads.pop(0)
        return super().bits(count)


def reference(word, low, coin, scale, pattern):
    """Return the value of one attempt, or None if it is rejected."""
    bits, split = Extension(pattern), lazy.split_bits(int(scale))
    magnitude = exact.geometric(LazyUniform(bits, word >> 1, 63), scale / (1 << split))
    if split:
        kept = LazyUniform(bits, coin, 16)
        if not kept.below_exp(low * scale.denominator, scale.numerator):
            return None
    magnitude = magnitude << split | low
    if word & 1:
        return -magnitude if magnitude else None
    return magnitude


def words_for(scale):
    """Ordinary words, tiny ones, and words next to ``exp(-k/t)``."""
    reduced = scale / (1 << lazy.split_bits(int(scale)))
    near = words_near([k / reduced for k in (1, 2, 3, 7, 20) if k / reduced < 40])
    return [v << 1 | (v & 1) for v in near if v] + uniform_words(80, 4).tolist()


def plan_of(scale):
    return scalar.laplace_plan(scale.numerator, scale.denominator)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_discrete_laplace_equals_the_reference(scale, pattern):
    """A rejected attempt goes on to the next word, which is a certain one."""
    split = lazy.split_bits(int(scale))
    last = 1 << 63
    for i, word in enumerate(words_for(scale)):
        low = Extension(PATTERNS[2] * (i + 1) % 2**64).bits(split)
        coin = 0xFFFF if i % 2 else 0x1234
        reads = [low, coin, 5 % (1 << split), 0] if split else []
        found = scalar.discrete_laplace(
            plan_of(scale), Tape([word, last], reads, pattern)
        )
        expected = reference(word, low, coin, scale, pattern)
        if expected is None:
            expected = reference(last, reads[2] if split else 0, 0, scale, pattern)
        assert found == expected


@pytest.mark.parametrize(
    "variance", [F(1, 10**80), F(1, 3), F(10), F(10**9), F(3) ** 900]
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_discrete_gaussian_equals_the_reference(variance, pattern):
    """Coins next to their boundaries; variances beyond double precision."""
    plan, scale = (
        scalar.gaussian_plan(variance.numerator, variance.denominator),
        exact.proposal_scale(variance),
    )
    split = lazy.split_bits(scale)
    for word in uniform_words(40, 7).tolist():
        low = Extension(pattern).bits(split)
        proposal = reference(word, low, 0, F(scale), pattern)
        if proposal is None:
            continue
        gap = (abs(proposal) - variance / scale) ** 2 / (2 * variance)
        coins = [0, 1 << 62, *(words_near([gap], 64) if gap < 40 else [])]
        for coin in coins:
            kept = exact.keeps_proposal(
                LazyUniform(Extension(pattern), coin, 64),
                abs(proposal),
                variance,
                scale,
            )
            tape = Tape([word, coin, END], [low, 0] if split else [], pattern)
            if kept:
                assert scalar.discrete_gaussian(plan, tape) == proposal
            else:
                with pytest.raises(EndOfTapeError):
                    scalar.discrete_gaussian(plan, tape)


class EndOfTapeError(Exception):
    """The sampler asked for a second attempt."""


class End(int):
    """A word that ends the tape when it is used."""

    def __and__(self, _):
        raise EndOfTapeError


END = End()
