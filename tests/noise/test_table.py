"""The table samplers against an independent distribution function in decimals."""

from bisect import bisect_left, bisect_right
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scripted import PATTERNS, Extension, Scripted, uniform_words

from sfumato.noise import table as module
from sfumato.noise.exact import LazyUniform
from sfumato.noise.table import OPEN, Law, table

getcontext().prec = 120
F = Fraction

LAWS = [
    Law.laplace(F(1, 10**6)),
    Law.laplace(F(1, 2)),
    Law.laplace(F(1)),
    Law.laplace(F(10)),
    Law.laplace(F(127)),
    Law.laplace(F(1000, 7)),
    Law.laplace(F(2**40)),
    Law.laplace(F(2**54 - 1)),
    Law.gaussian(F(1, 10**6)),
    Law.gaussian(F(1, 4)),
    Law.gaussian(F(100)),
    Law.gaussian(F(10**5, 3)),
    Law.gaussian(F(2**80)),
    Law(F(1, 50), F(1, 9)),
]


def weight(law: Law, x: int) -> Decimal:
    exponent = law.quadratic * x * x + law.linear * x
    return (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()


@cache
def true_distribution(law: Law) -> tuple[int, list[Decimal]]:
    """P(bucket <= first + i) by adding decimals, tails below 1e-60 left out."""
    size = 1 << law.bucket_bits()
    right, left = [], []
    for side, offset in ((right, 0), (left, 1)):
        j = 0
        while True:
            w = weight(law, j * size + offset)
            if w < Decimal(10) ** -60:
                break
            side.append(w)
            j += 1
    weights = left[::-1] + right
    total, sums, so_far = sum(weights), [], Decimal(0)
    for w in weights:
        so_far += w
        sums.append(so_far / total)
    return -len(left), sums


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_thresholds_are_exact(law):
    """Each threshold is floor(2**64 P(bucket <= b))."""
    made = table(law)
    first, sums = true_distribution(law)

    for i, threshold in enumerate(made.thresholds.tolist()):
        at = i + made.first - first
        true = sums[at] if 0 <= at < len(sums) else Decimal(at >= 0)
        floor = min(int(true * 2**64), 2**64 - 1)
        assert threshold == floor


@pytest.mark.parametrize("extra", [0, 3, 24])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_error_bound_of_the_distribution_holds(law, extra):
    """Values lie within their bound, about 2**-extra of the last wanted bit."""
    first, sums = true_distribution(law)
    start, values, error, unit = module.distribution(law, law.bucket_bits(), 64, extra)

    scale = Decimal(2) ** (64 + unit)
    wrong = []
    for i, value in enumerate(values):
        at = i + start - first
        true = sums[at] if 0 <= at < len(sums) else Decimal(at >= 0)
        wrong.append(abs(true * scale - value))
    assert max(wrong) <= error
    assert error <= 16 * Decimal(2) ** (unit - extra)
    if len(values) > 4:
        assert max(wrong) > error / 2**24


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_cells_are_exact(law):
    """All 65536 cells: a bucket where it is certain; open where a step lies inside."""
    made = table(law)
    first, sums = true_distribution(law)
    steps = [int(s * 2**100) for s in sums]
    cells = made.cells.tolist()

    for j, cell in enumerate(cells):
        low = bisect_right(steps, j << 84)
        high = bisect_left(steps, (j + 1) << 84)
        if cell != OPEN:
            assert low == high
            assert cell == first + low
        elif not law.quadratic or not made.bits:
            assert low != high or high >= len(steps) - 1


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_sure_coins_are_sure(law):
    """Below `unsure`, a coin is below every acceptance of every decided cell."""
    made = table(law)
    if not made.bits:
        return
    size = 1 << made.bits
    decided = np.unique(made.cells[made.cells != OPEN]).tolist()
    coin = Decimal(int(made.unsure) >> 48) / 2**16

    for bucket in decided:
        start = bucket * size if bucket >= 0 else ~bucket * size + 1
        worst = law.exponent(start, size - 1)
        accept = (-Decimal(worst.numerator) / Decimal(worst.denominator)).exp()
        assert coin <= accept
    assert coin > Decimal("0.9")


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_equal_the_definition(law):
    """Values and rejections from given words, by `locate` and exact coins."""
    made, count = table(law), 400
    rng = np.random.default_rng(4)
    prefixes = rng.integers(0, 2**16, count).astype(np.uint16)
    opened = np.flatnonzero(made.cells == OPEN)
    prefixes[::4] = opened[rng.integers(0, len(opened), len(prefixes[::4]))]
    words = uniform_words(count, 3)
    words[::3] |= np.uint64(0xFFFF << 48)

    for pattern in PATTERNS:
        arrays = [prefixes, words] if made.bits else [prefixes]
        out = np.empty(count, np.int64)
        rejected = set(
            module._attempt(made, out, Scripted(arrays, pattern=pattern)).tolist()
        )
        for i in range(count):
            value, kept = one(made, int(prefixes[i]), int(words[i]), pattern)
            assert (i not in rejected) == kept
            if kept:
                assert out[i] == value


def one(made, prefix, word, pattern):
    """Return the value of one attempt and whether it is kept."""
    bits = Extension(pattern)
    uniform = LazyUniform(bits, prefix << 48 | bits.bits(48), 64)
    bucket = locate_by_decimals(made, uniform.prefix, pattern)
    if not made.bits:
        return bucket, True
    size = 1 << made.bits
    place = word & (size - 1)
    start = bucket * size if bucket >= 0 else ~bucket * size + 1
    step = place if bucket >= 0 else size - 1 - place
    rate = made.law.exponent(start, step)
    coin = LazyUniform(bits, word >> 48 << 48 | bits.bits(48), 64)
    return bucket * size + place, coin.below_exp(rate.numerator, rate.denominator)


def locate_by_decimals(made, prefix, pattern):
    first, sums = true_distribution(made.law)
    value = Decimal(prefix << 192 | Extension(pattern).bits(192)) / Decimal(2**256)
    return first + bisect_right(sums, value)


@pytest.mark.parametrize("law", LAWS[1:5] + LAWS[9:11], ids=str)
def test_ties_read_on(law):
    """A word equal to a threshold is decided by the bits that follow it."""
    made = table(law)
    middle = [
        i for i, c in enumerate(made.thresholds.tolist()) if 2**40 < c < 2**64 - 2**40
    ]
    some = middle[:: max(1, len(middle) // 12)]
    words = made.thresholds[some]
    prefixes = (words >> np.uint64(48)).astype(np.uint16)
    rest = words << np.uint64(16)

    for pattern in PATTERNS:
        buckets = module._resolve(made, prefixes, Scripted([rest], pattern=pattern))
        expected = [locate_by_decimals(made, int(w), pattern) for w in words]
        assert buckets.tolist() == expected


def test_the_ends_of_the_unit_interval():
    """The smallest and largest words give finite, extreme buckets."""
    made = table(Law.laplace(F(1)))
    ends = np.array([0, 0xFFFF], np.uint16)
    rest = np.array([0, 2**64 - 1], np.uint64)

    low = module._resolve(made, ends, Scripted([rest], pattern=PATTERNS[2]))
    high = module._resolve(
        made, ends[::-1], Scripted([rest[::-1]], pattern=PATTERNS[2])
    )

    assert low[0] == high[1] <= -44
    assert low[1] == high[0] >= 44


def test_locate_agrees_with_itself_at_other_precisions():
    """More known bits never change a bucket that fewer bits have settled."""
    law = Law.gaussian(F(7, 3))
    for prefix in uniform_words(60, 2).tolist():
        few = module.locate(law, 0, LazyUniform(Extension(0), prefix, 64))
        many = module.locate(law, 0, LazyUniform(Extension(0), prefix << 128, 192))
        assert few == many
