"""Exact density ratios of objective perturbation at adversarial canaries.

For w, a table D has the density ``ν(b_D(w)) · det(∇²F_D(w))`` with b_D(w) the tilt
that makes w the minimum. The ratio between neighbours is computed, not estimated.
"""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from sfumato.account import Epsilon
from sfumato.models.door import UNIT, lattice
from sfumato.models.hop import Settings, Tilt
from sfumato.models.losses import Huber, Logistic
from sfumato.models.minimum import Problem, minimum
from sfumato.models.price import Pure


def log_density(rows, signs, w, tilt, loss, *, noise=1.0, free_constant=False):
    """Return the log density of w, up to a constant that tables share."""
    zeros = np.zeros_like(w)
    problem = Problem(rows, signs, UNIT, tilt.ridge, zeros, zeros, loss)
    gradient, bend = problem.slopes(w)
    if free_constant:  # planted fault: the constant column is hardly penalised
        gradient[-1] -= tilt.ridge * (1 - 1e-6) * w[-1]
        bend[-1, -1] -= tilt.ridge * (1 - 1e-6)
    scale = noise * tilt.shift.changes / 2 / float(tilt.shift.epsilon.value)
    return -np.linalg.norm(gradient) / scale + np.linalg.slogdet(bend)[1]


def worst_ratio(epsilon, changes, seed=1, trials=400, loss=None, **faults):
    """Return the largest |log ratio| over canaries, and what was promised."""
    rng = np.random.default_rng(seed)
    loss = loss or Logistic()
    tilt = Tilt.of(Pure(Epsilon(epsilon), changes), Settings(), loss.curve)
    promised = float((tilt.shift.epsilon + tilt.bend).value)
    scale = 1 / 2 / float(tilt.shift.epsilon.value)
    worst = 0.0
    for trial in range(trials):
        q, n = int(rng.integers(2, 5)), int(rng.integers(0, 12))
        rows = rng.normal(size=(n + 2, q))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 2.0**-30)
        if trial % 3 == 0:
            rows[: n + 1] = rows[0] * rng.choice([-1, 1], (n + 1, 1))
        signs = rng.choice([-1.0, 1.0], n + 2)
        whole = lattice(rows)
        base = slice(0, n)
        first = np.r_[0:n, n]  # with the canary
        other = np.r_[0:n, n + 1] if changes == 2 else np.r_[base]
        reach = 10.0 ** rng.uniform(-3, 4)
        w = rows[n] * signs[n] * rng.choice([-1.0, 1.0]) * reach
        w = w + rng.normal(size=q) * rng.choice([0, 1e-3, 1]) * scale / tilt.ridge
        a, b = (
            log_density(whole[i], signs[i], w, tilt, loss, **faults)
            for i in (first, other)
        )
        worst = max(worst, abs(a - b))
    return worst, promised


@pytest.mark.parametrize("epsilon", ["0.1", "0.3", "1", "3", "20"])
@pytest.mark.parametrize("changes", [1, 2])
@pytest.mark.parametrize("loss", [Logistic(), Huber()], ids=["logistic", "huber"])
def test_no_canary_exceeds_the_promise_and_some_come_near(epsilon, changes, loss):
    """|log ratio| <= shift + bend, exactly; the bound is nearly attained."""
    worst, promised = worst_ratio(epsilon, changes, loss=loss)

    assert worst <= promised * (1 + 1e-9)
    assert worst > promised * (0.8 if changes == 1 else 0.6)


def test_planted_fault_half_the_noise_is_caught():
    """Half the noise doubles the ratio of a canary."""
    worst, promised = worst_ratio("1", 1, noise=0.5)

    assert worst > 1.5 * promised


def test_planted_fault_a_free_intercept_is_caught():
    """Without its penalty the constant column gives the determinant away."""
    worst, promised = worst_ratio("1", 1, free_constant=True)

    assert worst > 2 * promised


def test_the_parts_of_epsilon_add_up():
    """Centre + Σ (shift + bend + finish) is ε, to the unit of 1e-12."""
    whole = Pure(Epsilon("0.7"), 1)
    first, rest = Settings().split(whole)
    tilts = [Tilt.of(own, Settings()) for own in rest.split(1, 1, 1)]

    parts = [first.epsilon] + [
        part for t in tilts for part in (t.shift.epsilon, t.bend, t.finish.epsilon)
    ]
    assert sum(p.units for p in parts) == whole.epsilon.units


@pytest.mark.parametrize("epsilon", ["0.01", "1", "10000"])
def test_the_ridge_keeps_the_determinant_in_its_share(epsilon):
    """1 + 1/(4Λ) <= e^j."""
    tilt = Tilt.of(Pure(Epsilon(epsilon), 1), Settings())

    assert log(1 + 1 / (4 * tilt.ridge)) <= float(tilt.bend.value)


@pytest.mark.parametrize("epsilon", ["0.00000001", "0.0001", "1"])
@pytest.mark.parametrize("width", [1, 60])
def test_doubles_hold_the_tilt_as_it_was_drawn(epsilon, width):
    """Else it is off by more than the bound of the distance says, for a small ε.

    Each coordinate is a whole number of steps, of which a double holds all up to 2^53.
    Fails once in 10^43 runs.
    """
    tilt = Tilt.of(Pure(Epsilon(epsilon), 2), Settings())

    grid, drawn = tilt.grid(width), tilt.tilt(width)

    steps = [Fraction(b) * grid for b in drawn.tolist()]
    assert all(s.denominator == 1 and abs(s) <= 1 << 53 for s in steps)
    assert grid == 1 << 40 or epsilon != "1"


def test_the_distance_covers_how_the_tilt_was_rounded():
    """The stated bound is at least what half a step of its grid moves a minimum by."""
    tilt = Tilt.of(Pure(Epsilon("0.00000001"), 1), Settings())
    grid, zeros = tilt.grid(4), np.zeros(4)
    rows = np.zeros((0, 4), np.int32)
    drawn = tilt.tilt(4)
    case = Problem(rows, np.zeros(0), UNIT, tilt.ridge, drawn, zeros, Logistic())

    steps, within = minimum(case, 10, 1 << 40, grid)

    # Without rows the minimum is -b/Λ, for the ideal b within half a step of the drawn.
    ideal = [Fraction(b) + Fraction(1, 2) / grid for b in drawn.tolist()]
    away = [
        Fraction(s, 1 << 40) + b / Fraction(tilt.ridge) for s, b in zip(steps, ideal)
    ]
    assert sum(x**2 for x in away) <= within**2
