"""From rows to release: what is really added to what covers every neighbour, in full.

The oracle of sensitivities trusts the gate. Here the samplers are replaced by markers
that remember their law and the integer that they were added to; so the exact worst
likelihood ratio of a whole release follows from what the gate did, not from the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace

import adversary as a
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import gate
from sfumato.account import Epsilon
from sfumato.audit.sensitivity import neighbours
from sfumato.declare import query as ask
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine.reference import ReferenceEngine
from sfumato.ledger import Ledger
from sfumato.plan import make_plan

SIZE = 2
UNITS = [Rows(), Rows(neighbours="replace_one", size=SIZE)]


@dataclass(eq=False)
class Draw:
    """One call of a sampler: its law, and the private integers that it was added to."""

    scale: Fraction
    bounds: tuple[int, ...] = (1,)
    resolution: int = 1
    held: dict[int, int] = field(default_factory=dict)

    def level(self, other: Draw) -> int:
        """Return κ of the distance to the same draw on another table."""
        assert self.held.keys() == other.held.keys() == set(range(len(self.bounds)))
        return max(
            -(-abs(self.held[i] - other.held[i]) * self.resolution // b)
            for i, b in enumerate(self.bounds)
        )


@dataclass(eq=False)
class Choosing:
    """One call of a selection: its rate, and the private scores that it saw.

    Only gaps between scores matter, so the loss is at most the rate times the largest
    rise of a score plus the largest fall.
    """

    rate: Fraction
    scores: tuple[int, ...]

    def loss(self, other: Choosing) -> Fraction:
        """Return the loss against the same call on another table."""
        assert self.rate == other.rate
        moved = [x - y for x, y in zip(self.scores, other.scores, strict=True)]
        return self.rate * (max(*moved, 0) - min(*moved, 0))


@dataclass
class Mark:
    """One coordinate of a draw; adding it to an integer tells the draw, once."""

    draw: Draw
    place: int = 0

    def __radd__(self, value: int) -> int:
        assert type(value) is int and self.place not in self.draw.held, "used twice"
        self.draw.held[self.place] = value
        return value


class Samplers:
    """Takes the place of `sfumato.noise` in the gate."""

    def __init__(self):
        self.drawn = []

    def default(self):
        return SimpleNamespace(secure=True)

    def one(self, *law):
        self.drawn.append(Draw(*law))
        return self.drawn[-1]

    def permute_and_flip(self, scores, rate):
        """Remember the scores; the choice itself is any."""
        self.drawn.append(Choosing(Fraction(rate), tuple(scores)))
        return 0

    def discrete_laplace(self, scale, size=None):
        if size is None:
            return Mark(self.one(scale))
        return np.array([Mark(self.one(scale)) for _ in range(size)], object)

    def box_noise(self, bounds, scale, resolution):
        drawn = self.one(scale, tuple(bounds), resolution)
        return tuple(Mark(drawn, i) for i, _ in enumerate(bounds))


def draws(plan, rows):
    """Return every draw of a release and the private integers it protects."""
    receipt = Ledger(None, dataset="t", cap=Epsilon(999)).debit(
        plan.cost, plan=plan.digest
    )
    samplers = Samplers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "noise", samplers)
        made = gate.release(plan, ReferenceEngine(rows).run(plan), receipt)
    integers = sum(len(m.values) for m in made.measurements)
    seen = [len(d.held) if isinstance(d, Draw) else 1 for d in samplers.drawn]
    assert integers == sum(seen), "an integer went bare"
    return samplers.drawn


def loss(plan, rows, other):
    """Return the largest log-likelihood ratio between the releases of two tables."""
    here, there = draws(plan, rows), draws(plan, other)
    return sum(
        (
            x.level(y) / x.scale if isinstance(x, Draw) else x.loss(y)
            for x, y in zip(here, there, strict=True)
        ),
        Fraction(0),
    )


@settings(max_examples=a.times(40), deadline=None)
@given(st.data(), st.sampled_from(UNITS))
def test_no_release_loses_more_than_its_claim(data, unit):
    """Random questions and tables, every neighbour, all steps together."""
    plan = data.draw(a.plans(st.just(unit)))
    least = 0 if unit.size is None else SIZE
    rows = data.draw(st.lists(a.a_row(), min_size=least, max_size=unit.size or 3))
    pool = [*data.draw(st.lists(a.a_row(), max_size=2)), *rows]

    for other in neighbours(rows, unit, pool):
        assert loss(plan, rows, other) <= plan.cost.value


COLUMNS = {
    "x": Real(-10, 5, step=1),
    "y": Integer(0, 1),
    "b": Boolean(),
    "g": Category(["a", "b"]),
}  # fmt: skip
LOW = {"x": -99, "y": 1, "b": True, "g": "a"}
HIGH = {"x": 99, "y": 0, "b": False, "g": "b"}
ASKED = [
    ask.count(), ask.count("b"), ask.mean("x"), ask.sum("y"), ask.mean("b"),
    ask.histogram("g"), ask.histogram("x", [-10, 0, 5]), ask.histogram("b"),
    ask.mode("g"), ask.crosstab("g", "b"), ask.covariance("x", "b"), ask.ratio("y", "b"),
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=lambda u: u.neighbours)
@pytest.mark.parametrize("keys", [(), ("g",), ("g", "b")])
@pytest.mark.parametrize("epsilon", ["1", "1e-9", "400"])
def test_a_release_of_many_figures_uses_its_whole_charge(unit, keys, epsilon):
    """Alone, joint and huge noise together: the worst neighbour loses nearly all of ε."""
    plan = make_plan(
        ask.Query().group_by(*keys).select(*ASKED), Schema(COLUMNS, unit=unit), epsilon
    )
    tables = [[row, LOW] for row in (LOW, HIGH)]

    found = [
        loss(plan, rows, other)
        for rows in tables
        for other in neighbours(rows, unit, [LOW, HIGH])
    ]

    assert max(found) <= plan.cost.value
    assert max(found) > plan.cost.value / 2


def test_equal_laws_are_drawn_apart():
    """Two histograms of one scale, and two groups of one step, share no draw."""
    plan = make_plan(
        ask.Query().select(ask.histogram("g"), ask.histogram("b")), Schema(COLUMNS), 1
    )
    assert len({s.mechanism for s in plan.steps}) == 1 < len(plan.steps)

    assert len(draws(plan, [LOW])) == 4
