"""Rounded reals equal the integer reference, and are total."""

import math
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import PATTERNS, Extension, Scripted, uniform_words, words_near

from sfumato.errors import ArgumentError
from sfumato.noise import exact, real, rounded_gaussian, rounded_laplace
from sfumato.noise.exact import LazyUniform
from sfumato.noise.filters import neglog, scratch
from sfumato.noise.grid import Places, finish_one, grid_plan, place_one
from sfumato.noise.stream import FixedStream
from sfumato.noise.whole import whole_gaussian, whole_laplace

F = Fraction
CASES = [
    (F(1, 3), None), (F(10), F(1)), (F(7, 5), F(1, 8)), (F(1, 900), F(1)),
    (F(10**6, 7), None), (F(3, 2), F(1, 2**29)), (F(5e-324), None), (F(1e300), None),
]  # fmt: skip


def some_values(scale, count):
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, count) * float(scale) * rng.choice([1, 40, 2**20], count)
    values[:8] = (
        0.0,
        -0.0,
        5e-324,
        -1e-300,
        float(scale),
        -float(scale),
        1e308,
        -1e308,
    )
    return values


@pytest.mark.parametrize(("scale", "grid"), CASES, ids=str)
def test_laplace_equals_the_reference(scale, grid):
    """Same words, same steps, for vectors and for one value."""
    plan = grid_plan(scale, grid)
    values, words = some_values(scale, 300), uniform_words(300, 1)
    places = Places.of(values, plan.power)

    for pattern in PATTERNS:
        steps = real._laplace_steps(places, plan, Scripted([words], pattern=pattern))
        for i, word in enumerate(words.tolist()):
            uniform = LazyUniform(Extension(pattern), word >> 1, 63)
            rest = offset(values[i], plan.power, int(places.whole[i]))
            expected = exact.rounded_step(uniform, word & 1, rest, plan.steps)
            assert steps[i] == expected
            one = real.laplace_one(
                float(values[i]), plan, Scripted(words=[word], pattern=pattern)
            )
            assert one == expected + int(places.whole[i])


class Blocks(Scripted):
    """Serves given blocks of bits one after the other."""

    def __init__(self, arrays, blocks):
        super().__init__(arrays)
        self._blocks = list(blocks)

    def bits(self, count):
        assert count == 64
        return self._blocks.pop(0)


def test_the_bits_that_a_coin_has_read_also_round():
    """One uniform, read once: its further bits decide the coin and then the floor."""
    getcontext().prec = 60
    word, first, later = 9 << 60, 1 << 62, 3 << 62
    size = -(Decimal(word + 1) / 2**64).ln()
    coin = int((-((size - 1) ** 2) / 2).exp() * 2**64) - 1
    rest = F(Decimal("0.5") - size)
    places = Places(np.zeros(1), 0.0, np.array([float(rest)]), lambda _: rest)
    arrays = [np.full(12, word, np.uint64), np.full(12, coin, np.uint64)]
    plan = grid_plan(F(1), F(1))

    for bits, step in ((first, 1), (later, 0)):
        blocks = [bits, 0, *[later if bits == first else first] * 40]
        assert real._gaussian_steps(places, plan, Blocks(arrays, blocks)) == [step]


def clamped(value, power):
    """Return value / g, NaN as zero, clamped at 2**1023 steps and at the floats."""
    if isinstance(value, float) and math.isnan(value):
        return F(0)
    if isinstance(value, float) and math.isinf(value):
        value = math.copysign(sys.float_info.max, value)
    limit = F(2) ** (1023 + min(power, 0))
    value = F(value)
    if power <= 0 or not isinstance(value, float):
        value = min(max(value, -limit), limit) if power <= 0 else value
    return value / F(2) ** power


def offset(value, power, whole):
    return clamped(float(value), power) - whole


@pytest.mark.parametrize("negative", [0, 1])
@pytest.mark.parametrize(("scale", "grid"), [(F(2), F(1)), (F(1, 3), None)])
def test_words_next_to_a_step(scale, grid, negative):
    """Words within three units of a change of the floor, decided by the definition."""
    plan = grid_plan(scale, grid)
    for rest in (F(0), F(1, 4), F(1, 2), F(-1, 2), F(-5, 16)):
        sign = -1 if negative else 1
        n = [sign * k for k in (1, 2, 3, 7, 20)]
        gaps = [sign * (k - rest - F(1, 2)) / plan.steps for k in n]
        words = [v << 1 | negative for v in words_near([g for g in gaps if g > 0])]
        places = Places(
            np.zeros(len(words)),
            0.0,
            np.full(len(words), float(rest)),
            lambda _, rest=rest: rest,
        )
        array = np.array(words, np.uint64)
        for pattern in PATTERNS:
            steps = real._laplace_steps(
                places, plan, Scripted([array], pattern=pattern)
            )
            for word, step in zip(words, steps.tolist(), strict=True):
                uniform = LazyUniform(Extension(pattern), word >> 1, 63)
                assert step == exact.rounded_step(uniform, negative, rest, plan.steps)


def test_half_normal_coins_equal_the_reference():
    """Coins within three units of ``exp(-(E-1)^2/2)`` and random ones."""
    base = uniform_words(60, 2) | np.uint64(1 << 50)
    size = neglog(base | np.uint64(1), scratch()).tolist()
    pairs = [
        (w, c)
        for w, c in zip(base.tolist(), uniform_words(60, 5).tolist(), strict=True)
    ]
    for word, e in zip(base.tolist(), size, strict=True):
        pairs += [(word, c) for c in words_near([F((e - 1) ** 2 / 2)], 64)]
        pairs += [(word, int(math.exp(-((e - 1) ** 2) / 2) * 2**64) >> 20 << 20)]
    words = np.array([w for w, _ in pairs], np.uint64)
    coins = np.array([c for _, c in pairs], np.uint64)

    for pattern in PATTERNS:
        sizes = neglog(words | np.uint64(1), scratch())
        kept, read = real._accept(words, coins, sizes, Extension(pattern))
        for i, (word, coin) in enumerate(pairs):
            first = LazyUniform(Extension(pattern), word >> 1, 63)
            second = LazyUniform(Extension(pattern), coin, 64)
            assert kept[i] == exact.half_normal_accepts(first, second)
        assert set(read) >= {i for i, w in enumerate(words.tolist()) if w < 2**46}


@pytest.mark.parametrize(("scale", "grid"), CASES, ids=str)
def test_gaussian_equals_the_reference(scale, grid):
    """A replayed run: kept words in order, each rounded by the reference."""
    plan = grid_plan(scale, grid)
    values = some_values(scale, 200)
    places = Places.of(values, plan.power)
    steps = real._gaussian_steps(places, plan, FixedStream(5)).tolist()

    tries = int(200 / 0.76 + 3 * math.sqrt(200)) + 8
    replay, bits = FixedStream(5), FixedStream(6)
    words, coins = replay.words(tries).tolist(), replay.words(tries).tolist()
    found = []
    for word, coin in zip(words, coins, strict=True):
        first = LazyUniform(bits, word >> 1, 63)
        if exact.half_normal_accepts(first, LazyUniform(bits, coin, 64)):
            i = len(found)
            if i == 200:
                break
            rest = offset(values[i], plan.power, int(places.whole[i]))
            found.append(exact.rounded_step(first, word & 1, rest, plan.steps))
    assert steps == found
    one = real.gaussian_one(
        0.0, plan, Scripted(words=list(chain(*zip(words, coins, strict=True))))
    )
    first_word = words[next(i for i in range(9) if kept_by(words[i], coins[i], bits))]
    uniform = LazyUniform(bits, first_word >> 1, 63)
    assert one == exact.rounded_step(uniform, first_word & 1, F(0), plan.steps)


def kept_by(word, coin, bits):
    first, second = LazyUniform(bits, word >> 1, 63), LazyUniform(bits, coin, 64)
    return exact.half_normal_accepts(first, second)


def test_half_normals_read_further_keep_their_place():
    """A uniform that a coin has read further is the one that is rounded."""
    word, plain = 9 << 60, 11 << 60
    chance = math.exp(-((-math.log(word / 2**64) - 1) ** 2) / 2)
    near = int(chance * 2**64) - 2**20
    words = np.array([word, plain, 3 << 40, plain, word] * 6, np.uint64)
    coins = np.array([near, 1 << 60, 1 << 63, 2**64 - 1, near] * 6, np.uint64)
    stream = Scripted([words, coins], pattern=PATTERNS[2])

    kept, _, read = real._half_normals(10, stream)

    assert kept.tolist() == [
        word,
        plain,
        word,
        word,
        plain,
        word,
        word,
        plain,
        word,
        word,
    ]
    assert sorted(read) == [0, 2, 3, 5, 6, 8, 9]
    assert {u.prefix >> (u.length - 63) << 1 for u in read.values()} == {word}


def test_a_uniform_read_by_its_coin_is_not_read_afresh(monkeypatch):
    """The bits that accepted a half-normal also round it, where they decide the step."""
    plan = grid_plan(F(1), F(1, 1024))
    places = Places.of(np.zeros(1), plan.power)
    edges = words_near([F(1999, 2048)])  # the boundary of steps 999 and 1000

    def step(edge, read):
        words = np.array([edge << 1], np.uint64)
        size = neglog(words | np.uint64(1), scratch()).copy()
        monkeypatch.setattr(real, "_half_normals", lambda *_: (words, size, read))
        return real._gaussian_steps(places, plan, Extension(2**64 - 1))[0]

    def further(edge):
        return {0: LazyUniform(Extension(0), edge << 640, 63 + 640)}

    afresh = [step(edge, {}) for edge in edges]
    read = [step(edge, further(edge)) for edge in edges]

    assert sum(a != b for a, b in zip(afresh, read, strict=True)) == 1
    assert set(read) == {999, 1000}


@settings(max_examples=300, deadline=None)
@given(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-1074, 1000),
)
def test_places_are_exact(value, power):
    """value / g = whole + rest without rounding; clamped at 2**1023 steps."""
    places = Places.of(np.array([value]), power)
    whole, rest, _ = place_one(value, power)

    assert whole == int(places.whole[0])
    assert rest == places.rest[0]
    assert abs(rest) <= 0.5
    assert places.exact(0) + whole == clamped(value, power)
    assert abs(F(rest) - places.exact(0)) <= F(1, 2**1074)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    st.integers(-40, 1000),
)
def test_integers_are_placed_exactly(values, power):
    """64-bit integers beyond 2**53 lose nothing on the way in, and round once after."""
    places = Places.of(np.array(values, np.int64), power)
    out = places.finish(np.arange(len(values), dtype=float), power)

    for i, value in enumerate(values):
        whole = int(places.whole[i]) + int(places.carry[i])
        assert places.exact(i) + whole == F(value) / F(2) ** power
        assert abs(F(float(places.rest[i])) - places.exact(i)) <= F(1, 2**53)
        assert out[i] == float((whole + i) * F(2) ** power)


def test_an_integer_result_is_rounded_once():
    """2**53 + 1, placed in two parts, plus one step is 2**53 + 2, not 2**53."""
    places = Places.of(np.array([2**53 + 1, -(2**53) - 1]), 0)

    assert places.finish(np.array([1.0, -1.0]), 0).tolist() == [
        2.0**53 + 2,
        -(2.0**53) - 2,
    ]


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False)),
    st.integers(-80, 80),
)
def test_python_numbers_are_placed_exactly(value, power):
    """Integers and fractions of any size are placed exactly."""
    whole, rest, clean = place_one(value, power)

    exact_rest = F(clean) / F(2) ** power - whole
    assert exact_rest + whole == clamped(value, power)
    assert abs(F(rest) - exact_rest) <= F(1, 2**53)


@pytest.mark.parametrize("law", [rounded_laplace, rounded_gaussian])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1, F(1, 3), 1e300])
def test_no_value_raises_or_gives_nan_or_infinity(law, scale):
    """NaN, infinities, extremes: a finite float, never -0.0, for arrays and scalars."""
    top = sys.float_info.max
    values = [math.nan, math.inf, -math.inf, top, -top, 5e-324, -0.0, 0.0, 2**62 + 0.0]
    out = [law(np.array(values), scale), law(np.array(values * 5000), scale)]
    out += [[law(v, scale) for v in values], law([*values, 10**400, F(-1, 7)], scale)]
    out += [[law(-(10**400), scale), law(10**400, scale)]]

    for numbers in map(np.asarray, out):
        assert np.isfinite(numbers).all()
        assert not np.signbit(numbers[numbers == 0]).any()


def test_noise_that_rounds_to_nothing_is_plain_zero():
    """On a coarse grid most results are 0.0, and none of them is -0.0."""
    out = rounded_laplace(np.zeros(20_000), F(1, 64), grid=1)

    assert (out == 0).mean() > 0.99
    assert not np.signbit(out[out == 0]).any()


@pytest.mark.parametrize("power", [-1074, -1073, -1030, -60, 0, 900, 960, 970, 1000])
def test_results_are_correctly_rounded(power):
    """steps * 2**power to the nearest double, as Python's exact division does."""
    wholes = [0, 1, -1, 2**53, 2**53 + 2, -(2**61), 2**62, 2**70, -(2**1000), 2**1023]
    steps = [0, 1, -1, 3, -4097, 2**51, -(2**51)]
    for step in steps:
        places = Places(np.array(wholes, float), 0.0, np.zeros(len(wholes)), F)
        found = places.finish(np.full(len(wholes), float(step)), power)
        for whole, value in zip(wholes, found.tolist(), strict=True):
            try:
                true = float((whole + step) * F(2) ** power)
            except OverflowError:
                true = math.copysign(sys.float_info.max, whole + step)
            assert value == finish_one(whole + step, power) == true


def test_results_lie_on_the_grid():
    """Every result is a multiple of the public step: 2**-20 of the scale or asked."""
    free = rounded_gaussian(np.linspace(-5, 5, 999), 3)
    asked = rounded_laplace(np.linspace(-5, 5, 999), 3, grid=0.25)

    assert (np.ldexp(free, 19) == np.rint(np.ldexp(free, 19))).all()
    assert (np.ldexp(free, 18) != np.rint(np.ldexp(free, 18))).any()
    assert (asked * 4 == np.rint(asked * 4)).all()


@pytest.mark.parametrize(
    ("scale", "grid", "words"),
    [
        (1, 0.3, "power of two"),
        (1, 2**40, "does not suit"),
        (1, F(1, 2**40), "does not suit"),
        (F(2) ** 1100, None, "double precision"),
        (F(1, 2**1100), None, "double precision"),
        (0, None, "positive"),
        (math.inf, None, "positive"),
        (math.nan, None, "positive"),
        (1, -1.0, "positive"),
    ],
)
def test_unusable_scales_and_grids_are_refused(scale, grid, words):
    """The refusal depends on public numbers alone."""
    with pytest.raises(ArgumentError, match=words):
        rounded_laplace(0.0, scale, grid=grid)


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([1j]), np.zeros(2, "g")])
def test_other_types_are_refused(values):
    """Text, complex numbers and wide floats have no place on the grid."""
    with pytest.raises(ArgumentError, match="real numbers"):
        rounded_laplace(values, 1)


def test_shapes_are_kept():
    """A number gives a float; an array gives an array of its shape, even if empty."""
    assert isinstance(rounded_laplace(np.float64(3), 1), float)
    assert isinstance(rounded_laplace(np.int64(3), 1), float)
    assert rounded_laplace(np.zeros((2, 0)), 1).shape == (2, 0)
    assert rounded_gaussian(np.zeros((2, 3, 4)), 1).shape == (2, 3, 4)
    assert rounded_gaussian([], 1).shape == (0,)


def test_large_values_are_not_clamped():
    """A value 10**13 scales wide, or an integer beyond 2**53, comes out near itself."""
    for value in (1e10, 10**17 + 1, -(10**25), F(10**30, 7)):
        for law in (rounded_laplace, rounded_gaussian):
            one, many = law(value, F(1, 1000)), law([value], F(1, 1000))[0]
            assert abs(one - value) <= abs(float(value)) * 2**-52 + 1
            assert abs(many - value) <= abs(float(value)) * 2**-52 + 1
    big = np.array([2**53 + 1, 2**62 + 3, -(2**63)])
    found = rounded_laplace(big, 1)
    assert (np.abs(found - big.astype(float)) <= 2048).all()
    assert rounded_laplace(np.array([2**64 - 1], np.uint64), 1)[0] == 2.0**64


@pytest.mark.parametrize("draw", [whole_gaussian, whole_laplace])
@pytest.mark.parametrize("power", [-20, -11, -10, 0, 29, 30, 31, 40, 60])
def test_whole_noise_is_drawn_at_every_scale(draw, power):
    """No scale is refused: the gate draws after the debit, when it is too late."""
    scale = Fraction(2) ** power

    drawn = [abs(x) for x in draw(scale, 40)]

    assert all(isinstance(x, int) for x in drawn)
    assert max(drawn) <= 40 * scale + 1  # e^-40 at most
    assert power < 10 or max(drawn) > scale / 100


def test_mixed_lists_with_numpy_scalars_are_total():
    """numpy scalars beside integers are read as the numbers that they hold."""
    noisy = rounded_laplace([1, np.float32("nan"), np.int8(3), 10**400], 1)

    assert noisy.shape == (4,) and np.isfinite(noisy).all()
