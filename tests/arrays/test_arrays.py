"""The array faces keep kind, shape and type, and refuse what has no sound answer."""

from decimal import Decimal
from fractions import Fraction
from math import exp

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.testing import seeded

LAWS = [sf.laplace, sf.geometric]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float64", "float32"])
def test_arrays_keep_shape_and_kind(law, shape, dtype):
    """Floats keep their type; integers become 64-bit integers."""
    if law is sf.geometric and dtype.startswith("float"):
        return
    value = np.ones(shape, dtype)

    result = law(value, 1, 1)

    assert result.shape == shape
    assert result.dtype == (dtype if dtype.startswith("float") else "int64")
    assert np.isfinite(result).all()


def test_scalars_keep_their_type():
    """Python and numpy scalars come back as what they were."""
    assert type(sf.laplace(5, 1, 1)) is int
    assert type(sf.laplace(5.0, 1, 1)) is float
    assert type(sf.laplace(np.float32(5), 1, 1)) is np.float32
    assert type(sf.laplace(np.int16(5), 1, 1)) is np.int64
    assert type(sf.geometric(5, 1, 1)) is int
    assert type(sf.geometric(10**40, 10**30, 1)) is int


@pytest.mark.parametrize("law", LAWS)
def test_series_keep_index_and_name(law):
    """pandas and polars Series come back as such."""
    a = law(pd.Series([1, 2, 3], index=list("xyz"), name="n"), 1, 1)
    b = law(pl.Series("n", [1, 2, 3]), 1, 1)

    assert (list(a.index), a.name, str(a.dtype)) == (["x", "y", "z"], "n", "int64")
    assert (b.name, b.dtype, len(b)) == ("n", pl.Int64, 3)
    assert sf.laplace(pl.Series("f", [1.5]), 1, 1).dtype == pl.Float64


@pytest.mark.parametrize(
    "epsilon", [0, "0", -1, float("nan"), float("inf"), None, "x", True]
)
@pytest.mark.parametrize("law", LAWS)
def test_unusable_epsilons_are_refused(law, epsilon):
    """BC045: no value of ε switches privacy off."""
    with pytest.raises(sf.DeclarationError, match="epsilon"):
        law(5, 1, epsilon)


@pytest.mark.parametrize(
    "sensitivity", [-1, float("nan"), float("inf"), None, "x", 1j, 0]
)
@pytest.mark.parametrize("law", LAWS)
def test_unusable_sensitivities_are_refused(law, sensitivity):
    """Zero, too, unless it is said to be meant."""
    with pytest.raises(sf.ArgumentError, match="sensitivity"):
        law(5, sensitivity, 1)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), np.array([1.0, np.nan]), np.array([np.inf]), 1j,
     np.array([1 + 2j]), np.array([1, "a"], dtype=object), "5", b"5", None, True,
     np.array([True]), [[1], [1, 2]], Fraction(1, 2), Decimal(1), [None, 1], {"a": 1},
     np.array(["2024-01-01"], dtype="datetime64[D]"), pd.Series([1.0, None]),
     pd.Series([1, None], dtype="Int64"), pl.Series([1, None]), pd.Series(["a"]),
     pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})],
    ids=lambda v: f"{type(v).__name__}",
)  # fmt: skip
@pytest.mark.parametrize("law", LAWS)
def test_values_without_a_sound_answer_are_refused(law, value):
    """One message that says what to give instead."""
    with pytest.raises(sf.ArgumentError) as caught:
        law(value, 1, 1)

    assert "give an int" in caught.value.hint or "public rule" in caught.value.hint


def test_a_public_constant_must_be_said_to_be_one():
    """Sensitivity 0 needs the flag; the flag needs sensitivity 0."""
    assert sf.laplace(768, 0, 1, public_constant=True) == 768
    with pytest.raises(sf.ArgumentError, match="without noise"):
        sf.laplace(768, 0, 1)
    with pytest.raises(sf.ArgumentError, match="public constant"):
        sf.laplace(768, 1, 1, public_constant=True)


def test_caching_does_not_confuse_types():
    """True equals 1 for a cache, but is no ε."""
    sf.laplace(5, 1, 1)

    with pytest.raises(sf.DeclarationError):
        sf.laplace(5, 1, True)


def test_integers_never_wrap():
    """Sums beyond 64 bits are clamped; Python integers have no limit."""
    top, bottom = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    ends = np.array([top, bottom] * 500)

    for law in LAWS:
        noisy = law(ends, 1000, 1)

        assert (noisy[::2] > 0).all() and (noisy[1::2] < 0).all()
    assert sf.laplace(np.array([2**64 - 1] * 3, dtype=np.uint64), 10, 1).max() == top
    assert abs(sf.laplace(10**30, 1, 1) - 10**30) < 100


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e-300, 1e-3, 1, 1e6]),
)
def test_any_finite_float_has_a_finite_answer(value, sensitivity):
    """No value raises, overflows or gives NaN."""
    noisy = sf.laplace(value, sensitivity, 1)

    assert type(noisy) is float and np.isfinite(noisy)


def test_bc067_no_draw_is_infinite():
    """A vector of zeros at ε 0.001, 1 and 20: finite, tails as theory says."""
    n = 10**6
    for epsilon in ("0.001", "1", "20"):
        noisy = sf.geometric(np.zeros(n, np.int64), 1, epsilon)
        a = exp(-float(epsilon))

        zero = (1 - a) / (1 + a)
        assert (
            abs((noisy == 0).mean() - zero) < 7 * (zero * (1 - zero) / n) ** 0.5 + 1e-9
        )
        assert abs(noisy).max() < 45 / float(epsilon)


def test_the_scale_is_the_one_that_was_paid_for():
    """Mean |noise| of a million draws is b within 7 standard errors."""
    n, b = 10**6, 2.5
    noise = np.abs(sf.laplace(np.zeros(n), "1.25", "0.5"))

    assert abs(noise.mean() - b) < 7 * b / n**0.5


def test_choose_prefers_the_best_and_names_it():
    """A far better candidate wins; mappings give their key back."""
    assert sf.choose({"a": 0, "b": 10**6}, 1, 1) == "b"
    assert sf.choose([0, 10**6, 0], 1, 1, method="exponential") == 1
    assert sf.choose(np.array([-(2**62), 2**62]), 1, 1) == 1
    assert sf.choose([5], 1, 1) == 0


@pytest.mark.parametrize(
    "call",
    [lambda: sf.choose([], 1, 1), lambda: sf.choose({}, 1, 1),
     lambda: sf.choose([[1, 2]], 1, 1), lambda: sf.choose([1.0, float("nan")], 1, 1),
     lambda: sf.choose(["a"], 1, 1), lambda: sf.choose([1], 0, 1),
     lambda: sf.choose([1], 1, 1, method="argmax"),
     lambda: sf.above_threshold([1.5], 1, 1, 1), lambda: sf.above_threshold([1], 1.5, 1, 1),
     lambda: sf.above_threshold([1], float("nan"), 1, 1),
     lambda: sf.above_threshold([1], 1, "0.5", 1), lambda: sf.above_threshold(5, 1, 1, 1),
     lambda: sf.choose([1, 2], 1, 1, monotone="no")],
)  # fmt: skip
def test_selection_refuses_what_it_cannot_protect(call):
    """Bad scores, methods and sensitivities are refused."""
    with pytest.raises(sf.ArgumentError):
        call()


def test_above_threshold_finds_and_misses():
    """The first far value is found; none is a possible answer."""
    assert sf.above_threshold([0] * 50 + [10**6], 10**5, 1, 1) == 50
    assert sf.above_threshold([0] * 50, 10**6, 1, 1) is None
    assert sf.above_threshold([], 1, 1, 1) is None


def test_a_seed_replays_inside_testing_only():
    """BC093: equal seeds give equal draws, whatever numpy's global state does."""
    before = np.random.get_state()[1].copy()
    with seeded(7):
        one = sf.laplace(np.zeros(100), 1, 1)
    np.random.seed(3)
    with seeded(7):
        two = sf.laplace(np.zeros(100), 1, 1)

    assert (one == two).all()
    np.random.set_state(("MT19937", before, 624, 0, 0.0))
    assert (sf.laplace(np.zeros(100), 1, 1) != one).any()


def test_huge_noise_on_integers_keeps_no_parity():
    """Noise beyond 2^53 is an exact integer: its parity tells nothing about the value."""
    for law in LAWS:
        draws = [law(0, 10**30, 1) % 2 for _ in range(200)]
        array = law(np.zeros(200, np.int64), 10**17, 1) % 2

        assert 40 < sum(draws) < 160
        assert 40 < array.sum() < 160


def test_gaussian_keeps_kind_and_has_its_scale():
    """σ = Δ/√2ρ for floats and integers; (ε, δ) by the exact curve."""
    n = 10**5
    for value in (np.zeros(n), np.zeros(n, np.int64)):
        noisy = sf.gaussian(value, 3, "0.02")
        assert noisy.dtype == value.dtype
        assert abs(noisy.std() - 15) < 7 * 15 / (2 * n) ** 0.5 + 0.01
    pair = sf.gaussian(np.zeros(n), 5, epsilon=1, delta="1e-5")
    assert abs(pair.std() - 18.653) < 7 * 18.653 / (2 * n) ** 0.5
    assert type(sf.gaussian(5, 1, 1)) is int and type(sf.gaussian(5.0, 1, 1)) is float
    assert sf.gaussian(7, 0, 1, public_constant=True) == 7


@pytest.mark.parametrize(
    "loss",
    [{}, {"rho": 1, "epsilon": 1, "delta": "1e-6"}, {"epsilon": 1}, {"delta": "1e-6"},
     {"rho": 1, "delta": "1e-6"}, {"epsilon": 1, "delta": 0}, {"rho": 0},
     {"epsilon": 1, "delta": 2}],
)  # fmt: skip
def test_gaussian_wants_one_loss(loss):
    """Either ρ, or both ε and δ > 0."""
    with pytest.raises((sf.ArgumentError, sf.DeclarationError)):
        sf.gaussian(5, 1, **loss)


MIXED = [
    ([2**53 + 1, 0.5], [2**53 + 2, 0.5]),
    ([2**63 + 1024, -1], [2**63 + 1025, -1]),
    ([[np.uint64(2**63 + 1024)], [np.int64(-1)]], [[np.uint64(2**63 + 1025)], [-1]]),
    ((True, 2**60 + 63, 1.5), (True, 2**60 + 64, 1.5)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), MIXED)
def test_integers_in_a_list_are_not_rounded_before_the_noise(monkeypatch, one, other):
    """What numpy would make doubles moves by 1 as it should, not by 2 to 2048."""
    reached = []
    monkeypatch.setattr(
        "sfumato.noise.rounded_laplace",
        lambda v, scale, grid=None: reached.append(v) or np.zeros(np.shape(v)),
    )
    monkeypatch.setattr(
        "sfumato.arrays.additive.add_integers",
        lambda value, numbers, drawn: reached.append(numbers),
    )
    for value in (one, other):
        sf.laplace(value, 1, 1)

    a, b = (
        np.array(v, object).ravel()
        for v in (reached[len(reached) // 2 - 1], reached[-1])
    )
    assert sum(abs(Fraction(x) - Fraction(y)) for x, y in zip(a, b, strict=True)) == 1


def test_lists_keep_their_kind_whatever_their_size():
    """Integers of any size stay integers; integers beside floats become floats."""
    assert sf.geometric([2**63, -1], 1, 1).dtype == "int64"
    assert sf.laplace([10**400, -1], 1, 1).tolist()[0] == 2**63 - 1
    assert sf.laplace([10**400, 0.5], 1, 1).dtype == "float64"
    assert sf.laplace([[1, 0.5], [2, 3]], 1, 1).shape == (2, 2)
    assert sf.choose([2**63 + 2000, 2**63, -1], 1, 10) == 0
    assert sf.choose({"a": 10**400, "b": 0.5}, 1, 1) == "a"
    with pytest.raises(sf.ArgumentError, match="NaN"):
        sf.laplace([1, float("nan")], 1, 1)
    with pytest.raises(sf.ArgumentError, match="integers"):
        sf.geometric([10**400, 0.5], 1, 1)
    with pytest.raises(sf.ArgumentError):
        sf.above_threshold([2**63, -1], 1, 1, 1)


@pytest.mark.parametrize("scale", [2**-40, 2**-10, 1, 2**29, 2**30, 2**35, 2**45])
def test_integers_take_laplace_noise_of_any_scale(scale):
    """Mean size of the noise on integers is the scale, give or take rounding."""
    drawn = [abs(sf.laplace(0, scale, 1)) for _ in range(200)]
    array = np.abs(sf.laplace(np.zeros(200, np.int64), scale, 1))

    for found in (np.mean(drawn), array.mean()):
        assert abs(found - scale) < 7 * scale / 200**0.5 + (1 if scale < 99 else 0)


@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_narrow_floats_are_clamped_not_infinite(kind):
    """Noise beyond the range of the type gives its largest number, without a warning."""
    top = np.finfo(kind).max
    value = np.full(200, top, kind)

    noisy = sf.laplace(value, float(top), 1)

    assert noisy.dtype == kind and np.isfinite(noisy).all() and (noisy == top).any()
    assert np.isfinite([sf.laplace(value[0], float(top), 1) for _ in range(50)]).all()


@pytest.mark.parametrize("method", ["permute_and_flip", "exponential"])
def test_selection_is_as_sharp_as_was_paid_for(monkeypatch, method):
    """The rate is ε/2Δ, and ε/Δ for scores that move one way (selection.md)."""
    rates = []
    monkeypatch.setattr(f"sfumato.noise.{method}", lambda _, rate: rates.append(rate))

    sf.choose([1, 2], 3, "0.5", method=method)
    sf.choose([1, 2], 3, "0.5", method=method, monotone=True)

    assert rates == [Fraction(1, 12), Fraction(1, 6)]


def test_a_threshold_costs_what_was_paid(monkeypatch):
    """Δ/a + 2Δ/b = ε for the scales a and b of threshold and values (selection.md)."""
    scales = []
    monkeypatch.setattr(
        "sfumato.noise.above_threshold", lambda *_, **laws: scales.append(laws)
    )

    sf.above_threshold([1, 2], 1, 3, "0.5")

    (laws,) = scales
    loss = 3 / laws["threshold_scale"] + 2 * 3 / laws["value_scale"]
    assert loss == Fraction(1, 2)


def test_what_a_mask_hides_is_missing():
    """A masked array holds the hidden cells still; they are neither used nor guessed."""
    with pytest.raises(sf.ArgumentError, match="missing entry"):
        sf.laplace(np.ma.array([1, 10**6], mask=[False, True]), 1, 1)

    assert sf.laplace(np.ma.array([1, 2], mask=[False, False]), 1, 1).shape == (2,)
