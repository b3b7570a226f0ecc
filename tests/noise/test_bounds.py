"""Integer bounds of exp and ln against the standard library's decimals."""

from decimal import Decimal, getcontext

from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.noise.bounds import exp_bounds, ln_bounds

getcontext().prec = 160

NUMS = st.one_of(st.integers(0, 10**4), st.integers(0, 10**40))
DENS = st.one_of(st.integers(1, 10**4), st.integers(1, 10**40))


@settings(max_examples=300, deadline=None)
@given(NUMS, DENS, st.integers(0, 300))
def test_exp_bounds_hold(num, den, precision):
    """low <= 2**P exp(-num/den) <= high <= low + 2, for all sizes of the exponent."""
    low, high = exp_bounds(num, den, precision)
    quotient = Decimal(num) / Decimal(den)
    true = (-quotient).exp() * 2**precision if quotient < 10**6 else Decimal(0)

    assert 0 <= low <= high <= low + 2
    slack = Decimal(10) ** -40
    assert low <= true * (1 + slack) + slack
    assert true <= high + slack


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.integers(1, 100), st.integers(1, 2**64), st.integers(1, 2**500)),
    st.integers(0, 300),
)
def test_ln_bounds_hold(value, precision):
    """low <= 2**P ln(value) <= high <= low + 2."""
    low, high = ln_bounds(value, precision)
    true = Decimal(value).ln() * 2**precision

    assert 0 <= low <= high <= low + 2
    slack = Decimal(10) ** -40
    assert low - slack <= true <= high + slack


def test_the_exponential_of_zero_is_one():
    """exp(0) is exact, so that a certain coin is certain."""
    assert exp_bounds(0, 7, 64) == (1 << 64, 1 << 64)


def test_no_bound_is_on_the_wrong_side_by_what_was_dropped():
    """Just below 1 the lower bound is below it: errors are taken off and not added."""
    for precision in (0, 1, 64, 200):
        for spare in (10, 40, 60, 62, 80):
            low, high = exp_bounds(1, 1 << (precision + spare), precision)

            assert low < 1 << precision <= high
