"""Losses in ρ and δ, and budgets: exact, of one currency, converted once."""

import copy
import pickle
import warnings
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.account import (
    GDP,
    PICO,
    ZCDP,
    ApproxDP,
    Epsilon,
    LargeDeltaWarning,
    budget,
    charge,
    epsilon_at,
    loss_text,
    read_loss,
    rho,
)
from sfumato.account.loss import ATTO
from sfumato.errors import DeclarationError

UNITS = st.integers(1, 10**15)
DELTAS = st.integers(0, 10**17)
LOSSES = st.one_of(
    st.builds(Epsilon.from_units, UNITS),
    st.builds(ZCDP.from_units, UNITS, DELTAS),
    st.builds(GDP.from_units, UNITS),
)


@given(LOSSES)
def test_a_loss_reads_back_from_its_text(loss):
    """Text, with or without the currency, and the constructor call are exact."""
    assert read_loss(loss_text(loss)) == loss
    assert type(loss)(str(loss)) == loss
    assert eval(repr(loss), {"Epsilon": Epsilon, "ZCDP": ZCDP, "GDP": GDP}) == loss
    assert pickle.loads(pickle.dumps(loss)) == copy.copy(loss) == loss


@given(LOSSES, LOSSES)
def test_losses_of_one_currency_add_and_of_two_do_not(a, b):
    """Sums are sums of units; a mixed sum is a TypeError, not a number."""
    if type(a) is not type(b):
        with pytest.raises(TypeError):
            a + b
        with pytest.raises(TypeError):
            a - b
        assert a != b
        return

    whole = a + b

    assert whole.units == a.units + b.units
    assert whole - b == a
    assert a.fits(whole) and b.fits(whole)


@given(
    st.builds(ZCDP.from_units, UNITS, DELTAS), st.builds(ZCDP.from_units, UNITS, DELTAS)
)
def test_rho_and_delta_must_both_fit(a, b):
    """The order of approximate losses is partial: each part counts."""
    both = a.units <= b.units and a.delta_units <= b.delta_units

    assert (a <= b) == a.fits(b) == both
    assert (a < b) == (both and a != b)


@given(LOSSES, st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_shares_sum_to_the_whole(loss, weights):
    """Splitting loses nothing, of ρ or of δ."""
    small = min(loss.units, getattr(loss, "delta_units", 0) or loss.units)
    if small < 1000:
        loss = type(loss).from_units(PICO)

    shares = loss.split(weights)

    whole = shares[0]
    for share in shares[1:]:
        whole = whole + share
    assert whole == loss


@pytest.mark.parametrize(
    ("delta", "outcome"),
    [
        (0, "epsilon"), (None, "epsilon"), ("1e-7", "zcdp"), ("1e-5", "zcdp"),
        (0.01, "warns"), (0.1, "warns"), (1, "refused"), (1.5, "refused"),
        (-1e-9, "refused"), ("nan", "refused"), ("1e-19", "refused"), (True, "refused"),
    ],
)  # fmt: skip
def test_bc047_delta_range(delta, outcome):
    """Outside [0, 1) is refused naming delta and the value; 0 and none are the same."""
    if outcome == "refused":
        with pytest.raises(DeclarationError, match="delta") as caught:
            ApproxDP("1", delta)
        assert str(delta) in caught.value.fact
    elif outcome == "warns":
        with pytest.warns(LargeDeltaWarning, match=f"delta {delta}"):
            assert ApproxDP("1", delta).measure == "zcdp"
    else:
        assert ApproxDP("1", delta).measure == outcome
        assert outcome == "zcdp" or ApproxDP("1", delta).cap == Epsilon("1")


def test_a_small_delta_does_not_warn():
    """1e-4 itself is accepted in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ApproxDP("1", "1e-4")


@pytest.mark.parametrize("epsilon", [0, "0", -1, None, float("nan")])
def test_bc045_no_epsilon_switches_privacy_off(epsilon):
    """Every budget refuses an ε or ρ that is not above 0, naming it."""
    with pytest.raises(DeclarationError, match="epsilon must be"):
        ApproxDP(epsilon, "1e-6")
    with pytest.raises(DeclarationError, match="rho must be"):
        ZCDP(epsilon)
    with pytest.raises(DeclarationError, match="rho must be"):
        GDP(epsilon)


def test_a_hopeless_pair_is_refused():
    """(1e-12, 1e-18) would leave no unit of ρ."""
    with pytest.raises(DeclarationError, match="leaves less than 1e-12"):
        ApproxDP("1e-12", "1e-18")


def test_thresholds_keep_their_part_of_delta():
    """δ for unknown keys is set aside; the conversion has the rest."""
    whole, kept = ApproxDP(1, "1e-6"), ApproxDP(1, "1e-6", threshold_delta="4e-7")

    assert kept.cap.delta == Fraction(4, 10**7)
    assert kept.cap.units == ApproxDP(1, "6e-7").cap.units < whole.cap.units
    assert epsilon_at(kept.cap, "1e-6") <= Epsilon(1)
    with pytest.raises(DeclarationError, match="threshold_delta 1e-6 uses up delta"):
        ApproxDP(1, "1e-6", threshold_delta="1e-6")


def test_a_gaussian_budget_affords_more():
    """The exact curve gives 15 % more at (1, 1e-6), and needs a δ."""
    loose, exact = ApproxDP(1, "1e-6"), ApproxDP(1, "1e-6", gaussian_only=True)

    assert exact.measure == "gdp"
    assert exact.cap.units / loose.cap.units == pytest.approx(1.1502, abs=1e-4)
    with pytest.raises(DeclarationError, match="needs delta"):
        ApproxDP(1, gaussian_only=True)


@given(st.integers(1, 400), st.integers(1, 12))
def test_a_spent_cap_is_worth_the_promise(hundredths, decimals):
    """Spending all of an (ε, δ) budget reports at most ε at δ, and nearly ε."""
    epsilon, delta = Fraction(hundredths, 50), Fraction(1, 10**decimals) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeDeltaWarning)
        for gaussian_only in (False, True):
            cap = ApproxDP(epsilon, delta, gaussian_only=gaussian_only).cap
            told = epsilon_at(cap, delta)

            assert told.value <= epsilon
            assert float(told) >= float(epsilon) * (1 - 1e-6) - 1e-6


def test_bc_budget_decimal_ten_tenths():
    """In every currency ten tenths of a budget of 1 leave exactly nothing."""
    for kind in (Epsilon, ZCDP, GDP):
        left = kind("1")
        for _ in range(10):
            assert kind(0.1).fits(left)
            left = left - kind(0.1)
        assert left.units == 0
        assert not kind("1e-12").fits(left)


def test_what_cannot_be_charged_is_refused():
    """A pure budget takes no Gaussian; a Gaussian budget takes nothing else."""
    from sfumato.account import Gaussian, Laplace

    with pytest.raises(DeclarationError, match="no pure epsilon"):
        charge(Gaussian(1, "0.1"), "epsilon")
    for other in (Laplace(1, 1), Gaussian(1, "0.1", law="discrete"), Epsilon(1)):
        with pytest.raises(DeclarationError, match="continuous Gaussian noise only"):
            charge(other, "gdp")


def check_delta_is_exact():
    """δ is read as written, to the unit of 1e-18."""
    for text in ("1e-6", "0.3", "0.123456789012345671", "7e-9", "1.1e-16", 0.1, 1e-5):
        expected = Fraction(str(text)) * ATTO
        assert rho.read_delta(text) == expected
    third = [ZCDP("1", d) for d in ("1e-7", "2e-7")]
    assert sum(x.delta_units for x in third) == 3 * 10**11


def test_delta_is_exact():
    """0.1 is one tenth, 1e-6 is a millionth."""
    check_delta_is_exact()


def test_planted_delta_in_float_is_caught(monkeypatch):
    """Fault: δ read through a float."""
    monkeypatch.setattr(rho, "read_delta", lambda d: int(float(d or 0) * float(ATTO)))

    with pytest.raises(AssertionError):
        check_delta_is_exact()


def test_budgets_follow_one_protocol():
    """Each budget has a currency, a cap in it and an explanation."""
    budgets: list[budget.Budget] = [
        Epsilon(1), ZCDP("0.1"), GDP("0.1"), ApproxDP(1, "1e-6"), ApproxDP(1),
    ]  # fmt: skip

    for each in budgets:
        assert each.cap.measure == each.measure
        assert each.explain().factor > 1
    assert str(ApproxDP(1, "1e-6")) in repr(ApproxDP(1, "1e-6"))


def test_an_unknown_currency_is_refused():
    """A stored text of another program is not guessed at."""
    with pytest.raises(DeclarationError, match="is not a loss"):
        read_loss("renyi 0.5")
    assert read_loss("zcdp 0") == ZCDP.from_units(0)
    assert epsilon_at(ZCDP.from_units(0), "1e-6") == Epsilon.from_units(0)
    assert epsilon_at(ZCDP("0.1", "1e-6"), "1e-6") is None
