"""The laws that the noise of steps is held against: checked by sums of their own."""

from fractions import Fraction
from itertools import product
from math import exp

import pytest

import sfumato as sf
from sfumato.account import ZCDP
from sfumato.audit.laws import below_geometric, below_levels, below_whole, fits
from sfumato.declare import query as ask
from sfumato.gate import draws_for_audit
from sfumato.noise.joint import box_level
from sfumato.plan import make_plan
from sfumato.secret import Secret


def test_joint_noise_is_summed_right():
    """κ's law by enumerating every point of two small boxes."""
    bounds, scale, resolution = [1, 3], 2.0, 4
    below = below_levels(bounds, scale, resolution)

    points = product(range(-40, 41), range(-120, 121))
    levels = [box_level(p, bounds, resolution) for p in points]
    whole = sum(exp(-k / scale) for k in levels)

    for x in (0, 1, 2, 5, 9, 20, 60):
        part = sum(exp(-k / scale) for k in levels if k < x)
        assert below(x) == pytest.approx(part / whole, abs=1e-12)


def test_single_laws_are_summed_right():
    """Two-sided geometric by its mass; normal by symmetry; wide joint noise is left."""
    mass = [exp(-abs(k) / 3) for k in range(-200, 201)]
    for x in (-5, 0, 1, 7):
        assert below_geometric(3.0)(x) == pytest.approx(
            sum(mass[: 200 + x]) / sum(mass)
        )
    assert below_whole(5.0)(1) == pytest.approx(1 - below_whole(5.0)(0))
    assert below_levels([1], 1e9, 1) is None


QUESTION = ask.Query().group_by("b").select(
    ask.mean("x"), ask.count(), ask.histogram("x", [0, 1, 9]),
)  # fmt: skip
SCHEMA = sf.Schema({"x": sf.Integer(0, 9), "b": sf.Boolean()})


@pytest.mark.parametrize("loss", [1, ZCDP("0.1")], ids=["pure", "rho"])
def test_noise_as_the_gate_draws_it_has_its_law(loss):
    """Every step of a plan, at a risk of 1e-9 each."""
    plan = make_plan(QUESTION, SCHEMA, loss)

    found = list(fits(plan, _noise(plan), risk=1e-9))

    assert len(found) == len(plan.steps)
    assert not any(law.fit.alarm for law in found)


def test_a_scale_of_another_step_is_found():
    """The gate draws with the plan's scales; a plan of five times the noise is another."""
    plan = make_plan(QUESTION, SCHEMA, 1)
    other = make_plan(QUESTION, SCHEMA, Fraction(1, 5))

    found = list(fits(plan, _noise(other), risk=1e-9))

    assert any(law.fit.alarm for law in found)


def _noise(plan):
    zeros = Secret(tuple((0,) * part.cells for part in plan.parts))
    return draws_for_audit(plan, zeros, 3000)
