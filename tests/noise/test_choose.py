"""Selection: exact gaps, exact laws, no wrap-around."""

import itertools
import math
from fractions import Fraction

import fit
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.errors import ArgumentError
from sfumato.noise import above_threshold, exponential, permute_and_flip
from sfumato.noise.choose import _Gaps
from sfumato.noise.stream import FixedStream, Stream

F = Fraction
RATES = st.one_of(
    st.fractions(F(1, 10**6), 10**6),
    st.integers(-1100, 890).map(lambda k: F(2) ** k),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTS = st.one_of(
    st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1, -(2**63) + 1, 0])
)


def check(gaps, scores, rate):
    """Exact exponents, and floats near enough for the filter of coins."""
    best = max(F(s) for s in scores)
    for i, score in enumerate(scores):
        true = (best - F(score)) * rate
        assert gaps.exact(i) == true
        found = gaps.rates[i]
        assert not math.isnan(found)
        if true > 1000:
            assert found > 999
        else:
            error = abs(F(float(found)) - true)
            assert error <= max(F(1, 2**43), true / 2**44)


@settings(max_examples=400, deadline=None)
@given(st.lists(FLOATS, min_size=1, max_size=4), RATES)
@example([1.7e308, -1.7e308, 0.0, -5e-324], F(1, 2**1020))
def test_gaps_of_floats(scores, rate):
    """All finite floats, all rates: no overflow, no lost gap."""
    check(_Gaps(np.array(scores), rate), scores, rate)
    check(_Gaps(scores, rate), scores, rate)


@settings(max_examples=400, deadline=None)
@given(st.lists(INTS, min_size=1, max_size=4), RATES)
def test_gaps_of_integers(scores, rate):
    """The gap of the extremes of int64 is 2**64 - 1, not -1."""
    check(_Gaps(np.array(scores, np.int64), rate), scores, rate)
    check(_Gaps(scores, rate), scores, rate)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4), RATES)
def test_gaps_of_unsigned_integers(scores, rate):
    """The full range of uint64."""
    check(_Gaps(np.array(scores, np.uint64), rate), scores, rate)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.float16, np.float32])
def test_gaps_of_narrow_types(dtype):
    """Narrow types do not wrap either."""
    scores = np.array([100, 0, 127], dtype)
    check(_Gaps(scores, F(1, 3)), [100, 0, 127], F(1, 3))
    if np.dtype(dtype).kind == "i":
        scores = np.array([-100, 100], dtype)
        check(_Gaps(scores, F(1, 3)), [-100, 100], F(1, 3))


@pytest.mark.parametrize("choose", [permute_and_flip, exponential])
@pytest.mark.parametrize("make", [np.array, list])
def test_no_score_raises(choose, make):
    """NaN is the worst score, infinities are extreme floats; a choice is made."""
    scores = [math.nan, -math.inf, 3.0, math.inf]
    assert choose(make(scores), 1) == 3
    assert choose(make([math.nan, -1e308, 0.0]), 1) == 2
    assert choose(make([math.nan, math.nan]), 1) in (0, 1)
    assert choose(np.array([-(2**63), 2**63 - 1]), 1) == 1
    assert choose([-(10**400), 10**400], F(1, 10**3)) == 1


SCORES = [0, 0, 1, 3.5, 2]
RATE = F(1, 2)


def weights():
    return np.exp((np.array(SCORES) - max(SCORES)) * float(RATE))


def permute_and_flip_law() -> np.ndarray:
    """Enumerate the orders of the literal algorithm."""
    w, law = weights(), np.zeros(len(SCORES))
    for order in itertools.permutations(range(len(SCORES))):
        left = 1.0
        for i in order:
            law[i] += left * w[i]
            left *= 1 - w[i]
    return law / math.factorial(len(SCORES))


@pytest.mark.parametrize("make", [np.array, list])
def test_permute_and_flip_law(make):
    """Counts of 12000 choices against all 120 orders (alarm 1e-9)."""
    stream, scores = Stream(), make(SCORES)
    chosen = [permute_and_flip(scores, RATE, stream=stream) for _ in range(12_000)]

    counts = np.bincount(chosen, minlength=5)

    assert not fit.choices(counts, permute_and_flip_law()).alarm
    assert fit.choices(counts, weights() / weights().sum()).alarm


def test_exponential_law():
    """Counts of 12000 choices against softmax, and not against permute-and-flip."""
    stream, scores = Stream(), np.array(SCORES)
    chosen = [exponential(scores, RATE, stream=stream) for _ in range(12_000)]

    counts = np.bincount(chosen, minlength=5)

    assert not fit.choices(counts, weights() / weights().sum()).alarm
    assert fit.choices(counts, permute_and_flip_law()).alarm


def test_many_candidates_of_low_score():
    """A hundred thousand candidates, one far better: it is found at once."""
    scores = np.full(100_000, -1e6)
    scores[31_337] = 0

    assert permute_and_flip(scores, 1) == exponential(scores, 1) == 31_337


def test_above_threshold_is_the_literal_algorithm():
    """On one stream: threshold noise first, then blocks of value noise, >= decides."""
    from sfumato.noise import lazy, scalar

    values = np.arange(-30, 300)
    for seed in range(30):
        found = above_threshold(
            values, 40, threshold_scale=6, value_scale=12, stream=FixedStream(seed)
        )
        replay = FixedStream(seed)
        shift = scalar.discrete_laplace(scalar.laplace_plan(6, 1), replay)
        scales, start, size, expected = lazy.Scales.common(F(12)), 0, 64, None
        while expected is None and start < len(values):
            part = values[start : start + size].tolist()
            noise = lazy.discrete_laplace(len(part), scales, replay).tolist()
            hits = [
                i
                for i, (v, z) in enumerate(zip(part, noise, strict=True))
                if v + z >= 40 + shift
            ]
            expected = start + hits[0] if hits else None
            start, size = start + size, 2 * size
        assert found == expected


def test_above_threshold_law():
    """P(first value is above) = P(v + nu >= T + rho), by summing both laws."""
    stream, hits, n = Stream(), 0, 12_000
    values = np.array([3])
    for _ in range(n):
        found = above_threshold(
            values, 5, threshold_scale=2, value_scale=4, stream=stream
        )
        hits += found == 0

    def mass(t):
        k = np.arange(-400, 401)
        return np.exp(-np.abs(k) / t) * math.tanh(1 / (2 * t))

    joint = np.outer(mass(2), mass(4))
    rho, nu = np.meshgrid(np.arange(-400, 401), np.arange(-400, 401), indexing="ij")
    chance = joint[3 + nu >= 5 + rho].sum()
    assert fit.binomial_p(hits, n, chance) > 1e-9
    assert fit.binomial_p(hits, n, joint[3 + nu > 5 + rho].sum()) < 1e-9


def test_above_threshold_at_the_ends_of_int64():
    """Extreme values and thresholds neither wrap nor raise."""
    low, high = -(2**63), 2**63 - 1
    scales = {"threshold_scale": 1, "value_scale": F(2**54) - 1}
    assert above_threshold([low, high], 0, **scales) == 1
    assert above_threshold([high], low, **scales) == 0
    assert above_threshold([low], high, **scales) is None
    assert above_threshold([], 0, **scales) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: permute_and_flip([], 1),
        lambda: exponential(np.zeros((2, 2)), 1),
        lambda: exponential([1], 0),
        lambda: permute_and_flip([1], F(2) ** 900),
        lambda: permute_and_flip(np.array(["a"]), 1),
        lambda: above_threshold([1.5], 0, threshold_scale=1, value_scale=1),
        lambda: above_threshold([1], 2**70, threshold_scale=1, value_scale=1),
        lambda: above_threshold([1], 0, threshold_scale=1, value_scale=2**54),
        lambda: above_threshold([1], 0, threshold_scale=0, value_scale=1),
    ],
)
def test_unusable_arguments_are_refused(call):
    """Nothing is drawn."""
    with pytest.raises(ArgumentError, match="hint"):
        call()
