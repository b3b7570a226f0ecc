"""The oracle can fail: each classical fault, planted one at a time, is found."""

import math

import pytest

from sfumato.account import ZCDP, Epsilon
from sfumato.audit.sensitivity import World, compare
from sfumato.errors import EngineError
from sfumato.plan import make_plan
from sfumato.testing.faults.plans import PLANTED, question

CELLS = (-math.inf, 0.5, 1.5, 2.5, 3, 1e308, math.inf, math.nan, None, 999)
ROWS = [
    {"x": c, "s": c, "wide": c, "full": c, "g": "ab"[i % 2]}
    for i, c in enumerate(CELLS)
]


def all_claims_hold(planted):
    """Audit one question on every pair of adversarial rows; an error is a breach."""
    query, schema = question(planted)
    return all(_holds(make_plan(query, schema, loss)) for loss in (Epsilon(1), ZCDP(1)))


def _holds(plan):
    with World(plan.table) as world:
        try:
            return all(
                finding.holds
                for row in ROWS
                for finding in compare(plan, [row, ROWS[2]], ROWS, world.exact)
            )
        except EngineError:
            return False


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p[0].__name__)
def test_a_planted_fault_is_found(monkeypatch, planted):
    """The question passes as it is, and fails with the fault."""
    assert all_claims_hold(planted)

    planted[0](monkeypatch.setattr)

    assert not all_claims_hold(planted)
