"""The lazy vector samplers equal the integer reference, word for word."""

from fractions import Fraction

import numpy as np
import pytest
from scripted import PATTERNS, Extension, Scripted, uniform_words, words_near

from sfumato.noise import exact, filters, lazy
from sfumato.noise.bounds import exp_bounds
from sfumato.noise.exact import LazyUniform
from sfumato.noise.stream import Stream

F = Fraction
REJECTED = object()
SCALES = [
    F(1, 10**30), F(1, 40), F(0.1), F(1, 3), F(1, 2), F(1), F(10), F(7**9, 11**3),
    F(10**4), F(2**20 - 1), F(2**20), F(2**21 + 5), F(10**9, 7), F(2**40), F(2**54 - 1),
]  # fmt: skip


def reference(word: int, low_word: int, scale: Fraction, pattern: int):
    """Return what one attempt must give, from the pieces of the reference."""
    bits = Extension(pattern)
    split = lazy.split_bits(scale.numerator // scale.denominator)
    uniform = LazyUniform(bits, word >> 1, 63)
    magnitude = exact.geometric(uniform, scale / (1 << split))
    low = low_word & ((1 << split) - 1)
    if split:
        coin = LazyUniform(bits, low_word >> 48, 16)
        if not coin.below_exp(low * scale.denominator, scale.numerator):
            return REJECTED
    magnitude = min(magnitude << split | low, 2**63 - 1)
    if word & 1:
        return -magnitude if magnitude else REJECTED
    return magnitude


def attempt(words, low_words, scales, pattern):
    out = np.empty(len(words), np.int64)
    stream = Scripted([words, low_words], pattern=pattern)
    rejected = lazy._laplace_chunk(out, scales, stream)
    values = out.tolist()
    for i in rejected.tolist():
        values[i] = REJECTED
    return values


def low_words(count):
    """Half of them start with sixteen ones, so that their coin may reject."""
    words = uniform_words(count, 9)
    words[::2] |= np.uint64(0xFFFF << 48)
    words[::8] |= np.uint64((1 << 48) - 1)
    return words


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_common_scale_equals_the_reference(scale):
    """Random words, tiny words, and both values of every decision."""
    words, lows = uniform_words(500, 5), low_words(500)
    scales = lazy.Scales.common(scale)

    for pattern in PATTERNS:
        expected = [
            reference(w, z, scale, pattern)
            for w, z in zip(words.tolist(), lows.tolist(), strict=True)
        ]
        assert attempt(words, lows, scales, pattern) == expected


@pytest.mark.parametrize("scale", [F(1, 3), F(1), F(10), F(1000), F(10**6), F(2**50)])
def test_words_next_to_boundaries(scale):
    """Words within three units of ``exp(-k/t)``: the integers must decide, rightly.

    The expected value is checked against the definition, not against `geometric`.
    """
    split = lazy.split_bits(int(scale))
    reduced = scale / (1 << split)
    steps = [1, 2, 3, 5, 9, 17, 40, 101, 400]
    near = words_near([k / reduced for k in steps] + [F(k, 3) for k in range(1, 30)])
    words = np.array([v << 1 for v in near if v > 0], np.uint64)
    lows = np.zeros(len(words), np.uint64)

    for pattern in PATTERNS:
        values = attempt(words, lows, lazy.Scales.common(scale), pattern)
        for word, value in zip(words.tolist(), values, strict=True):
            bits = word >> 1 << 640 | Extension(pattern).bits(640)
            k = value >> split
            high = exp_bounds(k * reduced.denominator, reduced.numerator, 703)[0]
            low = exp_bounds((k + 1) * reduced.denominator, reduced.numerator, 703)[1]
            assert low <= bits
            assert bits + 1 <= high


def test_each_scale_equals_the_reference():
    """Per-element scales, small and above 2**20, floats and fractions."""
    usable = SCALES[:-1]  # a float splits 2**54 - 1 as 2**54: right, but not the same
    fractions = [usable[i % len(usable)] for i in range(300)]
    floats = np.array([float(f) for f in fractions])
    words, lows = uniform_words(300, 6), low_words(300)

    for given, exact_scales in ((fractions, fractions), (None, list(map(F, floats)))):
        expected = [
            reference(w, z, f, PATTERNS[2])
            for w, z, f in zip(words.tolist(), lows.tolist(), exact_scales, strict=True)
        ]
        scales = lazy.PerElement(floats, given).scales(slice(0, 300))
        assert attempt(words, lows, scales, PATTERNS[2]) == expected


def test_scales_follow_their_elements():
    """Retries and chunks keep each element with its own scale."""
    scales = np.where(np.arange(30_000) % 2 == 0, 1e-3, 2.0**45)

    drawn = lazy.discrete_laplace(len(scales), lazy.PerElement(scales), Stream())

    assert (drawn[::2] == 0).all()
    assert (np.abs(drawn[1::2]) > 2**20).mean() > 0.999


def test_magnitudes_that_do_not_fit_are_clamped():
    """A uniform of three thousand zeros gives the largest 64-bit integer, signed."""
    words = np.array([0, 1], np.uint64)
    out = np.empty(2, np.int64)
    stream = Scripted([words, words], pattern=1)
    stream.bits = lambda count: int(count > 64)
    stream.grain = 3000

    lazy._laplace_chunk(out, lazy.Scales.common(F(2**54 - 1)), stream)

    assert out.tolist() == [2**63 - 1, -(2**63 - 1)]


@pytest.mark.parametrize(
    "variance", [F(1, 10**30), F(1, 4), F(1), F(9, 2), F(10**6), F(2**80, 3)]
)
def test_gaussian_coins_equal_the_reference(variance):
    """Coins next to their boundaries, for common and per-element variances."""
    proposals = [
        0,
        1,
        -1,
        2,
        5,
        int(variance ** F(1, 2)) + 1,
        -int(2 * float(variance) ** 0.5),
    ]
    scale = exact.proposal_scale(variance)
    cases = []
    for y in proposals:
        gap = (abs(y) - variance / scale) ** 2 / (2 * variance)
        cases += [(y, w) for w in words_near([gap], 64)] if gap < 40 else []
        cases += [(y, w) for w in (0, 1, 2**63, 2**64 - 1)]
    values = np.array([y for y, _ in cases], np.int64)
    coins = np.array([w for _, w in cases], np.uint64)

    for pattern in PATTERNS:
        expected = [
            exact.keeps_proposal(
                LazyUniform(Extension(pattern), w, 64), abs(y), variance, scale
            )
            for y, w in cases
        ]
        for variances in (
            lazy.Variances.common(variance),
            lazy.PerElement(
                np.full(len(cases), float(variance)), [variance] * len(cases)
            ).variances(slice(0, len(cases))),
        ):
            kept = gaussian_kept(values, coins, variances, pattern)
            if float(variances.proposals.exact(0)) == scale:
                assert kept == expected


def gaussian_kept(values, coins, variances, pattern):
    """Run one chunk with given proposals; return which are kept."""
    out = np.empty(len(values), np.int64)
    draws = lazy.discrete_laplace
    lazy.discrete_laplace = lambda *_: values.copy()
    try:
        rejected = lazy._gaussian_chunk(
            out, variances, Scripted([coins], pattern=pattern)
        )
    finally:
        lazy.discrete_laplace = draws
    assert (out == values).all()
    kept = np.ones(len(values), bool)
    kept[rejected] = False
    return kept.tolist()


def test_everything_by_integers_is_the_same(monkeypatch):
    """With the filter off every element takes the integer path: same output."""
    words, lows = uniform_words(400, 8), low_words(400)
    for scale in (F(1, 2), F(10), F(2**30)):
        scales = lazy.Scales.common(scale)
        fast = attempt(words, lows, scales, PATTERNS[2])
        with monkeypatch.context() as patch:
            patch.setattr(lazy, "_MARGIN", 1.0)
            slow = attempt(words, lows, scales, PATTERNS[2])
        assert fast == slow


def test_few_words_need_the_integers():
    """The filter decides all but about one word in 2**17 (a fixed bound, 1e-4)."""
    words = np.random.default_rng(1).integers(0, 2**64, 400_000, dtype=np.uint64)
    calls = []
    slow = lazy.geometric
    lazy.geometric = lambda *a: calls.append(1) or slow(*a)
    try:
        for start in range(0, len(words), filters.CHUNK):
            part = words[start : start + filters.CHUNK]
            attempt(part, part, lazy.Scales.common(F(10)), 0)
    finally:
        lazy.geometric = slow

    assert len(calls) < 40
