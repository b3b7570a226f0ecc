"""Amounts are exact: parsed as written, added as integers, never rounded in binary."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.account import PICO, Epsilon, apportion
from sfumato.amount import exact
from sfumato.errors import DeclarationError

POSITIVE = st.integers(1, 10**15)


@given(st.decimals("0.000001", "1000", places=9))
def test_a_number_means_what_it_prints(value):
    """0.1 as float, text, Decimal or Fraction is the same amount."""
    text = format(value, "f")

    amounts = {Epsilon(x) for x in (text, value, Fraction(value), float(value))}

    assert amounts == {Epsilon(text)}


@given(POSITIVE, st.lists(st.fractions("1/1000", 1000), min_size=1, max_size=30))
def test_shares_sum_to_the_whole(units, weights):
    """Apportionment neither creates nor loses a unit and misses no ideal by one."""
    shares = apportion(units, weights)

    whole = sum(weights)
    assert sum(shares) == units
    assert all(abs(s - w * units / whole) < 1 for s, w in zip(shares, weights))


@given(POSITIVE, POSITIVE)
def test_addition_and_text_are_exact(a, b):
    """Text reads back to the same amount; sums are sums of units."""
    x, y = Epsilon.from_units(a), Epsilon.from_units(b)

    assert Epsilon(str(x)) == x
    assert (x + y).units == a + b
    assert (x + y) - y == x


def test_ten_tenths_are_one():
    """The sum that floats get wrong."""
    total = Epsilon.from_units(0)
    for _ in range(10):
        total = total + Epsilon(0.1)

    assert total == Epsilon(1)


@pytest.mark.parametrize(
    "value",
    [0, "0", -1, "-0.5", None, True, float("nan"), float("inf"), "inf", "nan", "",
     "ten", "1e-13", "0.0000000000001", [1], 1j, b"1", "1/0", "1e999999999",
     Decimal("NaN"), Decimal("Infinity"), "1" * 500],
)  # fmt: skip
def test_unusable_amounts_are_refused(value):
    """No value of epsilon switches privacy off; the message says what is wrong."""
    with pytest.raises(DeclarationError, match="epsilon"):
        Epsilon(value)


def test_digits_beyond_the_smallest_amount_are_cut_off():
    """Never more is spent than was written."""
    assert Epsilon(Fraction(1, 3)).units == 333_333_333_333
    assert Epsilon("0.1234567890129999").units == 123_456_789_012


def test_a_split_that_starves_a_share_is_refused():
    """Every measurement needs at least one unit."""
    with pytest.raises(DeclarationError, match="split into 2 parts"):
        Epsilon("1e-12").split([1, 1])


def test_amounts_are_frozen_and_travel():
    """Frozen, hashable, comparable, copyable, picklable."""
    half = Epsilon("0.5")

    with pytest.raises(AttributeError):
        half.units = PICO
    assert pickle.loads(pickle.dumps(half)) == copy.deepcopy(half) == half
    assert half < Epsilon(1) and len({half, Epsilon(".5")}) == 1


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_reading_numbers_is_total(value):
    """Every float is read by its repr or refused; none raises."""
    number = exact(value)

    finite = value == value and abs(value) != float("inf")
    assert (number is not None) == finite
    assert number is None or number == Fraction(repr(value))
