"""The front door: types, shapes, refusals, paths, extremes."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ArgumentError
from sfumato.noise import (
    FixedStream,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    integers,
    lazy,
    replaced,
    scalar,
    table,
    uniform_below,
)

F = Fraction
LAWS = [discrete_laplace, discrete_gaussian]


@pytest.mark.parametrize("law", LAWS)
def test_types_and_shapes(law):
    """None gives an int, a size gives int64 of that shape, an array gives its shape."""
    assert type(law(2)) is int
    assert type(law(np.float32(2))) is int
    for size, shape in ((0, (0,)), (5, (5,)), ((2, 3), (2, 3)), ((), ())):
        drawn = law(2.5, size)
        assert drawn.dtype == np.int64
        assert drawn.shape == shape
    assert law(2, np.int64(70_000)).shape == (70_000,)
    assert law(np.full((3, 4), 2.0)).shape == (3, 4)
    assert law(np.full((3, 4), 2.0), (3, 4)).shape == (3, 4)
    assert law([F(1, 3), 2, 0.5]).shape == (3,)
    assert law(np.array([1, 2])).dtype == np.int64
    assert law(np.empty(0)).shape == law([]).shape == (0,)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [None, 5, 100, 70_000])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf, "1", None, 1j])
def test_unusable_parameters_are_refused(law, size, value):
    """Nothing but positive finite numbers."""
    with pytest.raises(ArgumentError, match="positive finite"):
        law(value, size)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_one_unusable_element_is_enough(law, value):
    """Per-element parameters are checked one and all."""
    for values in (np.array([1.0, value]), [1.0, value], [F(1), value]):
        with pytest.raises(ArgumentError):
            law(values)


def test_arrays_have_a_limit_and_single_draws_have_none():
    """From 2**54 on, arrays are refused by the public scale alone."""
    for call in (
        lambda: discrete_laplace(2**54, 5),
        lambda: discrete_laplace(2.0**54, 70_000),
        lambda: discrete_laplace([1, 2**54]),
        lambda: discrete_laplace(np.array([1, 2.0**54])),
        lambda: discrete_gaussian(2**108, 100),
        lambda: discrete_gaussian(np.array([2.0**108])),
    ):
        with pytest.raises(ArgumentError, match=r"2\*\*(54|108)"):
            call()
    big = 10**400
    draws = [discrete_laplace(big) for _ in range(60)]
    draws += [discrete_gaussian(big**2) for _ in range(60)]
    assert 10**397 < max(map(abs, draws)) < 10**403
    assert len({d % 1000 for d in draws}) > 60


def test_sizes_are_checked():
    """Negative sizes and sizes that contradict the array are refused."""
    with pytest.raises(ArgumentError, match="negative"):
        discrete_laplace(1, -1)
    with pytest.raises(ArgumentError, match="shape"):
        discrete_laplace(np.ones(3), 4)


@pytest.mark.parametrize("law", LAWS)
def test_tiny_parameters_give_zeros_fast(law):
    """A vanishing scale is not slow: no draw needs the integers."""
    tiny = F(1, 10**400)
    assert law(tiny) == 0
    for size in (5, 3000, 70_000):
        assert not law(tiny, size).any()
    assert not law(np.full(5000, 5e-324)).any()
    assert not law([tiny] * 50).any()


def test_every_path_is_taken(monkeypatch):
    """Few draws: scalar; one scale and many draws: table; otherwise lazy."""
    taken = []
    for module, name in (
        (scalar, "discrete_laplace"),
        (table, "draw"),
        (lazy, "discrete_laplace"),
    ):
        original = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, m=module, o=original: taken.append(m) or o(*a)
        )

    for size, path in ((None, scalar), (16, scalar), (17, lazy), (65536, table)):
        taken.clear()
        discrete_laplace(3, size)
        assert set(taken) == {path}
    taken.clear()
    discrete_laplace(np.full(100_000, 3.0))
    assert set(taken) == {lazy}


def test_a_replay_does_not_depend_on_history():
    """Building or dropping tables changes no later draw."""
    table.table.cache_clear()
    with replaced(FixedStream(1)):
        cold = discrete_laplace(F(9, 2), 70_000)
    with replaced(FixedStream(1)):
        warm = discrete_laplace(F(9, 2), 70_000)

    assert (cold == warm).all()


def test_ten_million_draws_are_plausible():
    """1e7 draws at scale 1: no overflow, extremes and zeros where they belong."""
    with replaced(FixedStream(2024)):
        drawn = discrete_laplace(1, 10**7)
        again = np.concatenate([discrete_laplace(1, 60_000) for _ in range(20)])

    assert drawn.dtype == np.int64
    assert 12 <= np.abs(drawn).max() <= 30
    assert abs((drawn == 0).mean() - 0.4621) < 0.004621
    assert 9 <= np.abs(again).max() <= 30
    assert abs((again == 0).mean() - 0.4621) < 0.004621


def test_coins_and_indices():
    """Shapes, ranges and certain outcomes of the small laws."""
    assert type(bernoulli_exp(1)) is bool
    assert bernoulli_exp(F(1, 10**400), (50, 2)).all()
    assert not bernoulli_exp(10**400, 3000).any()
    assert abs(bernoulli_exp(F(1, 2), 200_000).mean() - 0.60653) < 0.01
    assert type(uniform_below(6)) is int
    assert uniform_below(10**100) < 10**100
    assert set(uniform_below(6, 1000).tolist()) == set(range(6))
    assert uniform_below(2**63, 100).max() > 2**60
    for bound, size in ((0, None), (-5, 3), (2**63 + 1, 2)):
        with pytest.raises(ArgumentError, match="bound"):
            uniform_below(bound, size)


def test_numbers_reach_the_table_cache_once():
    """int, float and Fraction of one value share a table and a plan."""
    assert integers.MAX_VECTOR_SCALE == 2**54
    table.table.cache_clear()
    for scale in (10, 10.0, F(10), np.float64(10)):
        discrete_laplace(scale, 65_536)

    assert table.table.cache_info().misses == 1


def test_import_is_light():
    """Importing the package loads numpy, and neither scipy nor cryptography."""
    code = (
        "import sys, sfumato.noise; heavy = ('scipy', 'cryptography', 'hypothesis'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert out.stdout.strip() == "[]"
