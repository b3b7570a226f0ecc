"""Thresholds of unknown keys: exact probabilities of every outcome, no simulation."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.account import ZCDP, Epsilon, Threshold, charge
from sfumato.account.precise import normal_tail
from sfumato.errors import DeclarationError

DIGITS = 60
SLACK = Decimal(10) ** -(DIGITS - 20)
HIDDEN = None  # the outcome "this key is not shown"


def decimal(value):
    """Return a fraction as a decimal."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def law(threshold, shift=0, reach=None):
    """Return P(shift + Z = v) for each v of a geometric law, to 60 digits."""
    with localcontext(prec=DIGITS):
        a = (-1 / decimal(threshold.scale)).exp()
        k = reach or threshold.reach or int(200 * threshold.scale)
        whole = 1 + a - 2 * a ** (k + 1) if threshold.reach else 1 + a
        mass = {z: (1 - a) / whole * a ** abs(z) for z in range(-k, k + 1)}
        return {shift + z: p for z, p in mass.items()}


def outcomes(threshold, count, *, least=None, reach=None):
    """Return the probability of every outcome for a key of that count."""
    if not count:
        return {HIDDEN: Decimal(1)}
    least = threshold.least if least is None else least
    with localcontext(prec=DIGITS):
        noisy = law(threshold, count, reach)
        seen = {v: p for v, p in noisy.items() if v >= least}
        return {**seen, HIDDEN: 1 - sum(seen.values(), Decimal(0))}


def excess(p, q, epsilon):
    """Return Σ max(0, P(o) - e^ε·Q(o)): the δ between two laws, exactly."""
    with localcontext(prec=DIGITS):
        factor = decimal(Fraction(epsilon)).exp()
        return sum(
            max(Decimal(0), mass - factor * q.get(o, Decimal(0)))
            for o, mass in p.items()
        )


def worst(threshold, epsilon, most, **planted):
    """Return the largest δ over all neighbouring counts, both ways."""
    found = Decimal(0)
    for n in range(most):
        p, q = (outcomes(threshold, m, **planted) for m in (n, n + 1))
        found = max(found, excess(p, q, epsilon), excess(q, p, epsilon))
    return found


CHARGES = [
    ("1", "1e-6"),
    ("0.5", "0.02"),
    ("2", "1e-9"),
    ("0.1", "1e-3"),
    ("5", "1e-4"),
]


@pytest.mark.parametrize(("epsilon", "delta"), CHARGES)
@pytest.mark.parametrize("name", ["truncated_geometric", "geometric"])
def test_one_row_moves_every_outcome_within_the_claim(name, epsilon, delta):
    """(ε, δ)-DP by enumeration: every count up to where nothing changes any more."""
    t = Threshold(Epsilon(epsilon, delta), law=name)
    claim = decimal(t.cost.delta)

    assert worst(t, epsilon, 2 * t.least + 2) <= claim + SLACK


@pytest.mark.parametrize(("epsilon", "delta"), CHARGES)
def test_a_threshold_lower_by_one_breaks_the_claim(epsilon, delta):
    """Planted: off by one. The claim is tight for both geometric laws."""
    exact = Epsilon(epsilon, delta)
    for name in ("truncated_geometric", "geometric"):
        t = Threshold(exact, law=name)
        assert worst(t, epsilon, 3, least=t.least - 1) > decimal(exact.delta)
    t = Threshold(exact)
    nearer = worst(t, epsilon, 2 * t.least, least=t.reach, reach=t.reach - 1)
    assert nearer > decimal(exact.delta)


@pytest.mark.parametrize(("epsilon", "delta"), CHARGES)
def test_a_rare_key_that_is_not_thresholded_breaks_the_claim(epsilon, delta):
    """Planted: a key with any noisy count is shown, as when the keys were declared."""
    t = Threshold(Epsilon(epsilon, delta))

    assert worst(t, epsilon, 2, least=-t.reach) > Decimal("0.9")


@pytest.mark.parametrize("name", ["truncated_geometric", "geometric"])
def test_a_replaced_row_moves_two_keys_within_the_claim(name):
    """One row leaves a key and enters another: both keys together, by enumeration."""
    epsilon, delta = "1", "1e-3"
    new = 1 if name == "geometric" else 2
    t = Threshold(Epsilon(epsilon, delta), keys=2, new=new, law=name)

    with localcontext(prec=DIGITS):
        for a, b in ((1, 0), (1, 1), (2, 0), (30, 0), (40, 40), (t.least, 1)):
            laws = [outcomes(t, n) for n in (a, b, a - 1, b + 1)]
            p, q = (
                {(x, y): laws[i][x] * laws[j][y] for x in laws[i] for y in laws[j]}
                for i, j in ((0, 1), (2, 3))
            )
            both = max(excess(p, q, epsilon), excess(q, p, epsilon))
            assert both <= decimal(t.cost.delta) + SLACK


@pytest.mark.parametrize("keys", [1, 2, 5])
@pytest.mark.parametrize(
    ("rho", "delta"), [("0.1", "1e-6"), ("0.005", "1e-9"), ("2", "1e-3")]
)
def test_the_gaussian_threshold_fails_with_its_delta(keys, rho, delta):
    """P(1 + Z >= least) <= δ/new by enclosed normal tails, and one lower is too much."""
    t = Threshold(ZCDP(rho, delta), keys=keys)
    each = t.cost.delta / t.new

    half = Fraction(1, 2)
    assert normal_tail((t.least - 1 - half) / t.scale).high <= each
    assert normal_tail((t.least - 2 - half) / t.scale).low > each
    assert t.scale**2 >= keys / (2 * t.cost.value)


@pytest.mark.parametrize("alpha", [1.01, 2, 8, 64])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_the_geometric_law_is_approximately_concentrated(alpha, epsilon):
    """Rényi divergences, given that neither end was drawn, are at most α·ρ."""
    t = Threshold(Epsilon(epsilon, "1e-4"))
    rho = float(charge(t, "zcdp").value)
    here, there = law(t), law(t, 1)
    both = here.keys() & there.keys()

    for p, q in ((here, there), (there, here)):
        kept = float(sum(p[v] for v in both)), float(sum(q[v] for v in both))
        assert min(kept) >= 1 - 1e-4
        with localcontext(prec=DIGITS):
            order = Decimal(alpha)
            terms = sum(((p[v] / q[v]).ln() * (order - 1)).exp() * p[v] for v in both)
            scaled = terms / Decimal(kept[0]) ** order * Decimal(kept[1]) ** (order - 1)
            assert float(scaled.ln()) / (alpha - 1) <= alpha * rho * (1 + 1e-9)


def test_both_parts_are_charged():
    """δ is in the cost, whatever the currency."""
    assert charge(Threshold(Epsilon("1", "1e-6")), "epsilon") == Epsilon("1", "1e-6")
    assert charge(Threshold(ZCDP("0.1", "1e-6")), "zcdp") == ZCDP("0.1", "1e-6")
    found = charge(Threshold(Epsilon("1", "1e-6")), "zcdp")
    assert found == ZCDP("0.462117157261", "1e-6")
    for wrong, measure in ((Threshold(ZCDP("1", "1e-6")), "epsilon"), (Threshold(Epsilon("1", "1e-6")), "gdp")):  # fmt: skip
        with pytest.raises(DeclarationError):
            charge(wrong, measure)


def optimal(count, epsilon, delta):
    """Return the most likely that any (ε, δ)-DP mechanism shows a key (Thm 1 there)."""
    p = 0.0
    for _ in range(count):
        p = min(exp(epsilon) * p + delta, 1 - exp(-epsilon) * (1 - p - delta), 1.0)
    return p


PUBLISHED = [
    (0.5, 0.02, 1, 0.02), (0.5, 0.02, 6, 0.588404845), (0.5, 0.02, 8, 0.86807080625),
    (0.5, 0.02, 15, 1.0), (1e-20, 0.02, 6, 0.12), (1e-20, 0.02, 40, 0.8),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "delta", "count", "known"), PUBLISHED)
def test_the_optimum_is_the_published_one(epsilon, delta, count, known):
    """Google's table of keep probabilities, which the next test measures us by."""
    assert isclose(optimal(count, epsilon, delta), known, abs_tol=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), CHARGES)
def test_no_mechanism_shows_more_than_two_rows_earlier(epsilon, delta):
    """Ours never exceeds the optimum; rounding the reach costs two rows at most."""
    t = Threshold(Epsilon(epsilon, delta))
    for n in range(1, 2 * t.least + 3):
        best = optimal(n, float(epsilon), float(delta))
        assert t.shown(n) <= best * (1 + 1e-9)
        assert t.shown(n + 2) >= best * (1 - 1e-9)


LAPLACE = [
    (log(3), 1e-8, 17.1363), (log(3), 0.5, 1.0), (0.5, 0.02, 7.43775164974),
    (log(3), 2.0894334e-18, 37.3),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "delta", "known"), LAPLACE)
def test_the_geometric_threshold_is_the_laplace_threshold_in_whole_numbers(epsilon, delta, known):  # fmt: skip
    """Google's and PipelineDP's thresholds, rounded up, with at most one step more."""
    t = Threshold(Epsilon(epsilon, delta), law="geometric")

    assert known - 0.05 <= t.least <= known + 2
    # the Laplace threshold itself, from its formula
    assert abs(1 + log(1 / (2 * delta)) / epsilon - known) < 0.2


def test_four_groups_per_person_need_pipelinedps_threshold():
    """ε 1.5, δ 1e-5, four groups: Laplace 33.5495 there; here whole numbers."""
    laplace = Threshold(Epsilon("1.5", "1e-5"), keys=4, law="geometric")
    assert 33.5495 <= laplace.least <= 36
    assert Threshold(Epsilon("1.5", "1e-5"), keys=4).least <= laplace.least


@given(
    st.integers(1, 10**13), st.integers(1, 10**17), st.integers(1, 4),
    st.sampled_from(["truncated_geometric", "geometric", "gaussian"]),
)  # fmt: skip
def test_every_charge_has_a_threshold(units, delta, keys, name):
    """From noise without end to none: a count of 1 passes with δ at most, floats agree."""
    kind = ZCDP if name == "gaussian" else Epsilon
    t = Threshold(kind.from_units(units, delta), keys=keys, law=name)

    assert t.least >= 1 and t.reach >= 0
    assert t.shown(0) == 0
    assert t.shown(1) <= float(t.cost.delta / t.keys) * (1 + 1e-6)
    visible = t.visible(0.95)
    assert t.shown(visible) >= 0.95 > t.shown(visible - 1)
    if t.reach:
        assert t.shown(2 * t.reach + 1) == 1.0


def test_what_has_no_delta_has_no_threshold():
    """Pure losses and Gaussian budgets cannot show unknown keys."""
    for cost in (Epsilon("1"), ZCDP("0.1")):
        with pytest.raises(DeclarationError, match="unknown keys cost a delta"):
            Threshold(cost)
    with pytest.raises(DeclarationError, match="no cost in epsilon"):
        Threshold(Epsilon("1", "1e-6"), law="gaussian")
    with pytest.raises(DeclarationError, match="no cost in rho"):
        Threshold(ZCDP("1", "1e-6"), law="geometric")
