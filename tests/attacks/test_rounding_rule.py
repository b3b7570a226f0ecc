"""Rounding half to even doubles a distance of one; floor(y + 1/2) does not.

See docs/proofs/rounding-rule.md.
"""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.audit.black_box import compare_draws
from sfumato.audit.outcome import Draws
from sfumato.noise import discrete_laplace, rounded_laplace

DRAWS = 40_000
HALVES = (0.5, 1.5)


def half_even(x):
    return np.rint(x) + discrete_laplace(1, DRAWS)


def half_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x) + discrete_laplace(1, DRAWS)


def half_up(x):
    return np.floor(x + 0.5) + discrete_laplace(1, DRAWS)


def epsilon(mechanism, pair):
    one, other = (Draws({}, {"y": mechanism(x)}, DRAWS) for x in pair)
    found = compare_draws(one, other, claimed=1, delta=0, confidence=1 - 1e-9)
    return found.lower


def test_half_even_and_half_away_break_the_sensitivity():
    """Certified: epsilon well above 1 between values one grid step apart."""
    assert epsilon(half_even, HALVES) > 1.5
    assert epsilon(half_away, (-0.5, 0.5)) > 1.5


def test_half_up_keeps_it():
    """Nothing is certified against floor(y + 1/2), nor against rounded noise."""
    for pair in (HALVES, (-0.5, 0.5)):
        assert epsilon(half_up, pair) <= 1
        assert (
            epsilon(lambda x: rounded_laplace(np.full(DRAWS, x), 1, grid=1), pair) <= 1
        )


@given(st.fractions(-100, 100), st.fractions(-100, 100))
def test_half_up_lemma(a, b):
    """|round a - round b| <= ceil |a - b| for all rationals."""

    def up(y):
        return (y + Fraction(1, 2)).__floor__()

    assert abs(up(a) - up(b)) <= abs(a - b).__ceil__()
