"""Expected errors, told before anything is spent."""

import pytest

from sfumato.account import ZCDP
from sfumato.declare.query import Query, count, mean, median, std
from sfumato.declare.query import sum as total
from sfumato.declare.schema import Integer, Real, Schema
from sfumato.plan import expected_errors, make_plan

SCHEMA = Schema({"age": Integer(0, 120), "bmi": Real(10, 70, step=0.1)})


@pytest.mark.parametrize("loss", ["1", ZCDP("0.1")], ids=["epsilon", "rho"])
def test_an_error_that_is_seldom_exceeded_is_above_the_mean_error(loss):
    """Of every kind of figure, and the more so the surer one wants to be."""
    asked = Query().select(
        mean("bmi"), median("age"), std("age"), total("age"), count()
    )
    plan = make_plan(asked, SCHEMA, loss)

    usual, sure = (expected_errors(plan, rows=2000, confidence=c) for c in (0.95, 0.99))

    assert len(usual) == 5
    for one, other in zip(usual, sure, strict=True):
        assert 0 < one.mean_absolute < one.error < other.error, one.name
