"""Retries, chunks and renumbering keep each element with its own parameter."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise.attempts import (
    fill_accepted,
    fill_in_order,
    in_chunks,
    moved,
    narrowed,
)
from sfumato.noise.coins import flip
from sfumato.noise.stream import FixedStream


def test_renumbering():
    """Element i of a part is element where[i] of the run."""
    exact, places = Fraction, np.array([7, 3, 9, 1])

    assert [moved(exact, slice(5, 9))(i) for i in range(4)] == [5, 6, 7, 8]
    assert [moved(exact, places)(i) for i in range(4)] == [7, 3, 9, 1]
    assert narrowed(slice(5, 9), slice(1, 3)) == slice(6, 8)
    assert narrowed(places, slice(1, 3)).tolist() == [3, 9]


def identity_but_rejecting_often(rng, seen):
    """Attempt: fill with the number of the element; reject at random."""

    def attempt(out, where):
        out[:] = (
            np.arange(where.start, where.stop) if isinstance(where, slice) else where
        )
        seen.extend(out.tolist())
        return np.flatnonzero(rng.random(len(out)) < 0.6)

    return attempt


@pytest.mark.parametrize("count", [0, 1, 5, 100, 1000])
def test_rejected_elements_are_tried_again_in_place(count):
    """In pieces or whole, element i ends up in position i."""
    rng, seen = np.random.default_rng(0), []
    attempt = identity_but_rejecting_often(rng, seen)

    whole = fill_accepted(count, attempt)
    pieces = fill_accepted(count, lambda o, w: in_chunks(o, w, 64, attempt))

    assert whole.tolist() == pieces.tolist() == list(range(count))
    assert len(seen) >= 2 * count


@pytest.mark.parametrize("chance", [0.05, 0.4, 1.0])
def test_the_first_accepted_are_kept_in_order(chance):
    """Whatever the guess of the chance, the kept attempts are the first accepted."""
    rng, made, count = np.random.default_rng(1), [], 500

    def attempt(out, _):
        out[:] = np.arange(len(made), len(made) + len(out))
        rejected = np.flatnonzero(rng.random(len(out)) < 0.6)
        bad = set(rejected.tolist())
        made.extend(i not in bad for i in range(len(out)))
        return rejected

    kept = fill_in_order(count, chance, 64, attempt).tolist()

    assert len(kept) == count
    assert kept == sorted(set(kept))
    assert all(made[i] for i in kept)


def test_coins_of_later_chunks_use_their_own_exact_rate(monkeypatch):
    """With every coin undecided by floats, the exact rates alone decide."""
    monkeypatch.setattr("sfumato.noise.coins.COIN_ERROR", 2.0)
    count = 9000
    certain = flip(
        np.zeros(count),
        lambda i: Fraction(0 if i % 2 else 10**6),
        FixedStream(1),
    )

    assert certain.tolist() == [bool(i % 2) for i in range(count)]
