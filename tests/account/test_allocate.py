"""Splits: the sum is the cap exactly, shares follow the rule, targets are met."""

from fractions import Fraction
from functools import reduce
from itertools import islice, pairwise, permutations
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import (
    GDP,
    ZCDP,
    Epsilon,
    Gaussian,
    Geometric,
    Laplace,
    Term,
    Wish,
    charge,
    equal,
    geometric,
    needed,
    open_ended,
    optimal,
    targets,
    weighted,
)
from sfumato.errors import DeclarationError

UNITS = st.integers(10**9, 10**15)
TOTALS = st.one_of(
    st.builds(Epsilon.from_units, UNITS),
    st.builds(ZCDP.from_units, UNITS),
    st.builds(GDP.from_units, UNITS),
)
TERMS = st.lists(
    st.tuples(st.integers(1, 1000), st.fractions("1/100", 100)), min_size=1, max_size=6
)


def whole(shares):
    return sum(share.units for share in shares)


@given(TOTALS, st.integers(1, 60), st.fractions("1/2", "99/100"))
def test_splits_sum_to_the_cap(total, parts, ratio):
    """Equal, weighted and geometric: no unit too many, none lost."""
    assert whole(equal(total, parts)) == total.units
    assert whole(weighted(total, range(1, parts + 1))) == total.units
    if parts < 20:
        shares = geometric(total, parts, ratio=ratio)
        assert whole(shares) == total.units
        assert all(abs(b.units - a.units * ratio) <= 2 for a, b in pairwise(shares))


@settings(deadline=None, max_examples=40)
@given(TOTALS, TERMS)
def test_the_optimum_sums_to_the_cap_and_is_one(total, pairs):
    """No shift of a thousandth between two figures lowers the weighted variance."""
    terms = [Term.of(s, w) for s, w in pairs]
    shares = optimal(total, terms)
    assert whole(shares) == total.units

    power = 2 if isinstance(total, Epsilon) else 1
    units = [share.units for share in shares]

    def loss(values):
        return sum(
            float(t.weight * t.square) / v**power
            for t, v in zip(terms, values, strict=True)
        )

    for i, j in permutations(range(len(units)), 2):
        moved = list(units)
        shift = min(units[i], units[j]) // 1000
        moved[i], moved[j] = moved[i] - shift, moved[j] + shift
        assert loss(units) <= loss(moved) * (1 + 1e-9)


def test_the_folklore_split_overspends_and_ours_does_not():
    """ε·0.8^i for five figures is 3.36 ε; normalised it is ε."""
    folklore = sum(Fraction(8, 10) ** i for i in range(5))

    assert float(folklore) == pytest.approx(3.3616)
    assert whole(geometric(Epsilon(1), 5)) == Epsilon(1).units


@given(TOTALS, st.fractions("1/10", "99/100"))
def test_the_open_split_never_exceeds_the_cap(total, ratio):
    """However many are taken, something is left, until a share is below one unit."""
    spent = 0
    for share in islice(open_ended(total, ratio=ratio), 5000):
        assert share.units > 0
        spent += share.units
        assert spent < total.units


def test_the_open_split_lasts():
    """Over a hundred questions from 1 at the usual ratio."""
    shares = list(open_ended(Epsilon(1)))

    assert len(shares) > 100
    assert shares[:2] == [Epsilon("0.2"), Epsilon("0.16")]
    assert Epsilon(1).units - whole(shares) < 10


def test_bc051_internal_splits_are_exact():
    """ρ = 0.1 and ε = 1 in three steps over 1 to 50 columns: the sums are the request."""
    for columns in range(1, 51):
        for total in (ZCDP("0.1"), Epsilon(1), ZCDP("0.1", "1e-9")):
            shares = total.split([1, columns, Fraction(columns, 3)])
            inner = [s for share in shares for s in share.split([1] * columns)]
            rest = total
            for part in inner:
                rest = rest - part
            assert rest.units == 0
            assert getattr(rest, "delta_units", 0) == 0


@settings(deadline=None)
@given(
    st.sampled_from(["laplace", "geometric", "gaussian", "whole", "discrete"]),
    st.integers(1, 50),
    st.integers(1, 2000),
    st.sampled_from([None, 0.9, 0.95]),
)
def test_targets_are_met_and_not_more(kind, sensitivity, error, confidence):
    """The loss found gives the error wished; a hundredth less loss does not."""
    wish = Wish(kind, Fraction(sensitivity), Fraction(error), confidence)
    measure = "epsilon" if kind in ("laplace", "geometric") else "zcdp"
    loss = needed(wish, measure)

    def reached(units):
        if kind in ("laplace", "geometric"):
            build = Laplace if kind == "laplace" else Geometric
            noise = build(sensitivity, Epsilon.from_units(units))
        else:
            law = "real" if kind == "gaussian" else kind
            noise = Gaussian(sensitivity, GDP.from_units(units), law=law)
        if confidence is None:
            return float(noise.variance + (1 / 12 if kind == "whole" else 0)) ** 0.5
        return noise.error(confidence)

    assert reached(loss.units) <= error * (1 + 1e-12)
    assert reached(loss.units * 99 // 100) > error or loss.units < 100


def test_targets_name_the_smallest_sufficient_total():
    """What the refusal asks for is enough; a unit less is refused again."""
    wishes = [Wish("laplace", Fraction(1), Fraction(e)) for e in (3, 10, 40)]
    with pytest.raises(DeclarationError, match="these errors need epsilon") as caught:
        targets(Epsilon("0.5"), wishes)
    named = Epsilon(caught.value.fact.split()[4].rstrip(","))

    shares = targets(named, wishes)

    assert whole(shares) == named.units
    with pytest.raises(DeclarationError):
        targets(Epsilon.from_units(named.units - 1), wishes)
    assert targets(Epsilon(1), []) == ()


def test_targets_know_the_currency():
    """A Laplace figure in a ρ budget is charged its ρ; a Gaussian has no ε."""
    wish = Wish("laplace", Fraction(1), Fraction(10), None)

    noise = Laplace(1, needed(wish, "epsilon"))
    assert needed(wish, "zcdp") == charge(noise, "zcdp")
    with pytest.raises(DeclarationError, match="no pure epsilon"):
        targets(Epsilon(1), [Wish("gaussian", Fraction(1), Fraction(1))])
    with pytest.raises(DeclarationError, match="wished error"):
        needed(Wish("laplace", Fraction(1), Fraction(0)), "epsilon")


@pytest.mark.parametrize(
    "split",
    [lambda: equal(Epsilon(1), 0), lambda: equal(Epsilon(1), 2.5),
     lambda: geometric(Epsilon(1), "3"), lambda: equal(Epsilon(1), None),
     lambda: equal(Epsilon(1), True), lambda: weighted(Epsilon(1), [1, 0]),
     lambda: weighted(Epsilon(1), []), lambda: geometric(Epsilon(1), 3, ratio=1),
     lambda: geometric(Epsilon(1), 3, ratio="nan"), lambda: next(open_ended(Epsilon(1), ratio=0)),
     lambda: optimal(Epsilon(1), []), lambda: Term.of(1, 0),
     lambda: equal(Epsilon("1e-12"), 2), lambda: equal(ZCDP("1", "1e-18"), 2)],
)  # fmt: skip
def test_impossible_splits_are_refused(split):
    """No parts, a zero weight, a ratio outside (0, 1), a share below one unit."""
    with pytest.raises(DeclarationError):
        split()


HOSTILE = [1, "1e-300", "1e300", Fraction(1, 3), 0.1, 5e-324, 1.7e308, "7/3",
           Fraction(10**40 + 1, 10**40), 10**30]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(
    st.one_of(TOTALS, st.builds(ZCDP.from_units, UNITS, st.integers(1, 10**17))),
    st.lists(st.tuples(*2 * [st.sampled_from(HOSTILE)]), min_size=1, max_size=9),
    st.sampled_from(["1e-12", "0.999999999999", Fraction(1, 3), "1e-300"]),
)
def test_hostile_weights_sum_to_the_cap_or_are_refused(total, pairs, ratio):
    """Weights that floats cannot hold beside each other: exact, or said to be too small."""
    parts = len(pairs)
    for split in (
        lambda: weighted(total, [w for w, _ in pairs]),
        lambda: optimal(total, [Term.of(s, w) for s, w in pairs]),
        lambda: geometric(total, parts, ratio=ratio),
    ):
        try:
            shares = split()
        except DeclarationError as error:
            assert "too small to be split" in error.fact  # noqa: PT017
            continue
        whole_again = reduce(add, shares)
        assert whole_again == total
        assert min(share.units for share in shares) >= 1
