"""The gate's purse: what a receipt paid for is shared out, never exceeded, to the unit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import GDP, ZCDP, Epsilon, Gaussian, Geometric, charge
from sfumato.declare.schema import Boolean, Schema
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.contingency import FINE, Choose, Measure, Rate
from sfumato.errors import DeclarationError, SfumatoError
from sfumato.gate import Purse
from sfumato.plan.contingency import TablePlan, choice_of, noise_of
from sfumato.release import Receipt
from sfumato.release.once import grant
from sfumato.secret import Secret
from sfumato.synth.search import split
from sfumato.testing import seeded

ADD, REPLACE = Rows(), Rows(neighbours="replace_one", size=9)
PEOPLE = Unit("who", max_rows=3, max_groups=1)
LOSSES = (Epsilon("1"), ZCDP("0.1"), GDP("0.1"))


def paid(loss, unit=ADD):
    """Return a purse with that loss in it."""
    plan = TablePlan("t", Schema({"x": Boolean()}, unit), (), loss)
    text = str(loss)
    return Purse(plan, grant(Receipt("t", 1, text, text, text, plan.digest, "now")))


def tables(*counts):
    """Return sealed tables."""
    return Secret(tuple(np.array(c, np.int64) for c in counts))


def test_only_its_own_receipt_opens_it():
    """Another plan, or another price, is refused."""
    plan = TablePlan("t", Schema({"x": Boolean()}), (), Epsilon("1"))
    dear = TablePlan("t", Schema({"x": Boolean()}), (), Epsilon("2"))
    receipt = grant(Receipt("t", 1, "1", "1", "1", plan.digest, "now"))

    with pytest.raises(SfumatoError, match="does not pay"):
        Purse(dear, receipt)
    with pytest.raises(SfumatoError, match="does not pay"):
        Purse(plan, Receipt("t", 1, "2", "2", "2", plan.digest, "now"))
    assert Purse(plan, receipt).left == Epsilon("1")
    with pytest.raises(SfumatoError, match="used already"):
        Purse(plan, receipt)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(deadline=None, max_examples=30)
@given(weights=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40))
def test_shares_empty_it_to_the_unit(loss, weights):
    """Whatever the weights: the last unit is spent, and one unit more is refused."""
    purse = paid(loss)
    shares = split(loss, weights)

    purse.measure(tables([1, 2]), Measure((0,) * len(shares), shares))

    assert sum(s.units for s in shares) == loss.units
    assert purse.left.units == 0
    with pytest.raises(SfumatoError, match="was to be taken"):
        purse.measure(tables([1]), Measure((0,), (type(loss).from_units(1),)))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    "unit", [ADD, REPLACE, PEOPLE], ids=["add", "replace", "people"]
)
@settings(deadline=None, max_examples=50)
@given(units=st.integers(10**6, 10**12))
def test_what_a_share_buys_costs_at_most_the_share(loss, unit, units):
    """The ledger's own price list, for noise and for choices."""
    share = type(loss).from_units(units)

    for noise in (noise_of(share, unit), noise_of(share, unit, tables=7, size=FINE)):
        assert charge(noise, loss.measure).units <= units
    if not isinstance(loss, GDP):
        choice = choice_of(share, unit, size=FINE)
        assert charge(choice, loss.measure).units <= units
        dearer = choice_of(type(loss).from_units(units + 1), unit, size=FINE)
        assert dearer.cost >= choice.cost


def test_noise_fits_the_neighbour_relation():
    """Replacing a row moves two cells by one each; one score by two."""
    assert noise_of(Epsilon("1"), ADD) == Geometric(1, "1")
    assert noise_of(Epsilon("1"), REPLACE) == Geometric(2, "1")
    assert noise_of(ZCDP("0.5"), ADD) == Gaussian(1, "0.5", law="discrete")
    assert noise_of(ZCDP("0.5"), REPLACE).squared_sensitivity == 2
    assert (
        noise_of(ZCDP("0.5"), ADD, tables=6, size=FINE).squared_sensitivity
        == 6 * FINE**2
    )
    assert (
        noise_of(ZCDP("0.5"), REPLACE, tables=6, size=FINE).squared_sensitivity
        == 24 * FINE**2
    )
    assert noise_of(Epsilon("1"), PEOPLE) == Geometric(3 * FINE, "1")
    assert noise_of(ZCDP("0.5"), PEOPLE).squared_sensitivity == (3 * FINE) ** 2
    assert (
        noise_of(ZCDP("0.5"), PEOPLE, tables=6, size=FINE).squared_sensitivity
        == 6 * (3 * FINE) ** 2
    )
    assert choice_of(Epsilon("1"), PEOPLE, size=FINE).rate == Fraction(1, 6 * FINE)
    assert noise_of(GDP("0.5"), ADD).law == "whole"
    assert choice_of(Epsilon("1"), ADD, size=FINE).rate == Fraction(1, 2 * FINE)
    assert choice_of(Epsilon("1"), REPLACE, size=FINE).rate == Fraction(1, 4 * FINE)
    with pytest.raises(DeclarationError, match="cannot pay for a private choice"):
        choice_of(GDP("1"), ADD, size=1)


def test_answers_are_integers_and_seeds_are_told():
    """No float stands between counts and noise; a seed marks all that follows."""
    purse = paid(ZCDP("10"))

    (noisy,) = purse.measure(tables([5, 0, 7]), Measure((0,), (ZCDP("1"),)))
    rated = purse.rate(tables([5, 0]), Rate((0,), (np.array([0, 0]),), ZCDP("1")))

    assert {type(n) for n in (*noisy, *rated)} == {int}
    assert purse.secure
    with seeded(1):
        purse.measure(tables([5]), Measure((0,), (ZCDP("1"),)))
    assert not purse.secure


@pytest.mark.parametrize("loss", [Epsilon("10"), ZCDP("10")], ids=str)
def test_the_worst_prediction_is_chosen(loss):
    """A candidate that is off by a thousand rows beats one that is right.

    At this price the rate is 5 (ε) or 4.4 (ρ) per row, so the other is chosen with a
    probability below e^-1000.
    """
    right, wrong = np.array([500, 500]) * FINE, np.array([0, 1000]) * FINE
    asked = Choose((0, 1), (right, wrong), (1, 1), (0, 0), loss)

    assert paid(loss).choose(tables([500, 500], [500, 500]), asked) == 1


def test_a_score_counts_by_its_weight_and_the_dearest_sets_the_rate():
    """The rate follows from the largest weight, so no score moves by more."""
    calm = choice_of(Epsilon("1"), ADD, size=FINE * 3)

    assert calm.rate == Fraction(1, 6 * FINE)
