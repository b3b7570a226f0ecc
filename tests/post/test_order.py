"""The numbers at some ranks are those of a sorted row, whatever the numbers are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.post.order import _FEWEST, _PLACES, of_ranks

RANKS = np.array([[0, 200, 1023], [_FEWEST, 4000, 4999]])


def rows(kind, seed=0):
    """Return rows of 5,000 numbers."""
    draws = np.random.default_rng(seed)
    far = draws.standard_cauchy(size=(3, 5000))
    return {
        "normal": draws.normal(size=(3, 5000)),
        "far": far,
        "clipped": np.clip(far, -1, 1),
        "whole": np.round(far),
        "two": np.where(far > 0, 1e300, -1e300),
        "same": np.full((3, 5000), 4.25),
        "huge": far * 1e308,
        "denormal": np.abs(far) * 5e-320,
        "far from zero": 1e15 + draws.normal(size=(3, 5000)),
        "infinite": np.where(far > 9, np.inf, far),
        "few": far[:, : _FEWEST - 1],
    }[kind]


@pytest.mark.parametrize("kind", ["normal", "far", "clipped", "whole", "two", "same", "huge",
                                  "denormal", "far from zero", "infinite", "few"])  # fmt: skip
@pytest.mark.parametrize("ranks", [0, 7, RANKS])
def test_the_numbers_are_those_of_sorting(kind, ranks):
    """Every rank, every spread, bit for bit."""
    with np.errstate(over="ignore"):
        given_rows = rows(kind)
    wanted = np.minimum(ranks, given_rows.shape[1] - 1)

    found = of_ranks(given_rows, wanted)

    assert found.shape == (*np.shape(ranks), 3)
    sorted_rows = np.moveaxis(np.sort(given_rows, axis=1)[:, wanted], 0, -1)
    assert np.array_equal(found, sorted_rows)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9),
    st.lists(st.integers(0, _PLACES * 2 - 1), min_size=1, max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_few_numbers_again_and_again(numbers, ranks, seed):
    """Ties, edges of places, and ranges that overflow."""
    row = np.random.default_rng(seed).choice(numbers, size=_PLACES * 2)

    found = of_ranks(row[None, :], np.array(ranks))

    assert np.array_equal(found[:, 0], np.sort(row)[ranks])
