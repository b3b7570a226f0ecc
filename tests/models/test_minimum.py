"""A certified minimum: the stated distance holds for every table."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.models import minimum as room
from sfumato.models.door import UNIT, lattice
from sfumato.models.losses import Huber, Logistic
from sfumato.models.minimum import Problem, minimum

FINE, LOGISTIC = 1 << 40, Logistic()


def problem(n, q, seed, ridge=1.0, tilt=1.0, wide=1.0, loss=LOGISTIC):
    """Return a random objective."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, q)) * wide
    rows /= np.maximum(1 + 2.0**-30, np.linalg.norm(rows, axis=1, keepdims=True))
    signs = np.where(rows @ rng.normal(size=q) > 0, 1.0, -1.0)
    drawn = np.round(rng.normal(size=q) * tilt * FINE) / FINE
    return Problem(lattice(rows), signs, UNIT, ridge, drawn, np.zeros(q), loss)


@pytest.mark.parametrize("n", [0, 1, 2, 50, 3000])
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 600.0])
@pytest.mark.parametrize("loss", [LOGISTIC, Huber()], ids=["logistic", "huber"])
def test_the_point_is_as_near_as_it_says(n, ridge, loss):
    """Compared with the minimum that sixty digits find, to a thousandth of the bound."""
    case = problem(n, 4, seed=n, ridge=ridge, loss=loss)

    steps, within = minimum(case, 768, FINE, Fraction(FINE))

    exact = room._refined(case, np.array(steps) / FINE, 1e-14)
    away = sum((Fraction(s, FINE) - Fraction(x)) ** 2 for s, x in zip(steps, exact))
    assert away <= within**2


def test_where_floats_fail_decimals_finish(monkeypatch):
    """A start that Newton spoils is mended: the bound holds all the same."""
    case = problem(30, 3, seed=1)
    monkeypatch.setattr(room, "_newton", lambda p, t: np.array([np.inf, 0.0, np.nan]))

    steps, within = minimum(case, 768, FINE, Fraction(FINE))

    monkeypatch.undo()
    best, _ = minimum(case, 768, FINE, Fraction(FINE))
    away = sum(Fraction(a - b, FINE) ** 2 for a, b in zip(steps, best))
    assert away <= (2 * within) ** 2


def test_the_bound_is_public():
    """It depends on the ridge, the width and a public guess of the rows; on no row."""
    _, first = minimum(problem(10, 4, seed=1), 500, FINE, Fraction(FINE))
    _, second = minimum(problem(400, 4, seed=2), 500, FINE, Fraction(FINE))

    assert first == second


def test_the_certificate_covers_the_exact_gradient():
    """The certified length is above the true one, and near it."""
    case = problem(5000, 6, seed=3)
    w = np.random.default_rng(0).normal(size=6)

    true = np.linalg.norm(room._exact_gradient(case, [room.Decimal(x) for x in w]))

    assert true <= case.certified(w) <= true + 1e-6


def test_the_certificate_grows_with_the_rows_and_not_faster(monkeypatch):
    """Else the floats of a large table would never be good enough for its tolerance."""
    small, large = problem(1000, 3, seed=1), problem(60_000, 3, seed=1)
    monkeypatch.setattr(room, "_CHUNK", 2)  # as many chunks as 250 million rows have

    def doubt(case):
        w = case.start
        gradient = np.linalg.norm(case.slopes(w)[0])
        return case.certified(w) - gradient

    assert 0 < doubt(large) < 200 * doubt(small)


def test_a_score_beyond_all_decimals_has_a_slope():
    """exp would overflow, and one far row would decide whether a fit fails."""
    far = room.Decimal(10) ** 7

    assert LOGISTIC.exact(far, 1.0) == 0
    assert LOGISTIC.exact(-far, 1.0) == room.Decimal("-0.5")
