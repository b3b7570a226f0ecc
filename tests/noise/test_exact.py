"""The integer reference: every path of its bits, exact masses, no statistics."""

import math
from fractions import Fraction

import pytest
from paths import masses

from sfumato.noise import exact
from sfumato.noise.bounds import exp_bounds
from sfumato.noise.exact import LazyUniform
from sfumato.noise.stream import FixedStream

F = Fraction


def check(found, hidden, true, least_seen=0.97):
    """Every output's true mass lies between what was found and that plus the rest."""
    assert hidden < 1 - least_seen
    assert sum(found.values()) + hidden == 1
    for value, mass in found.items():
        assert mass <= true(value) * (1 + F(1, 10**12))
        assert true(value) <= (mass + hidden) * (1 + F(1, 10**12))


def of_attempts(mass):
    """Leave rejected attempts out of the comparison; None is their output."""
    return lambda x: mass(x) if x is not None else 1 - sum(map(mass, range(-80, 81)))


@pytest.mark.parametrize("rate", [F(1, 7), F(1), F(5, 2)])
def test_bernoulli_exp(rate):
    """Heads has mass exp(-rate)."""
    found, hidden = masses(lambda s: exact.bernoulli_exp(s, rate), 2.0**-30)

    check(found, hidden, lambda h: F(math.exp(-rate) if h else -math.expm1(-rate)))


def test_bernoulli_exp_at_many_rates():
    """Heads has mass exp(-rate) to within 2**-28, for sixty rates."""
    for k in range(1, 180, 3):
        rate = F(k, 97)
        found, hidden = masses(lambda s, r=rate: exact.bernoulli_exp(s, r), 2.0**-28)
        check(
            found, hidden, lambda h, r=rate: heads_mass(r) if h else 1 - heads_mass(r)
        )


def heads_mass(rate):
    low, _ = exp_bounds(rate.numerator, rate.denominator, 100)
    return F(low, 1 << 100)


@pytest.mark.parametrize("bound", [1, 2, 5, 8, 13])
def test_uniform_below(bound):
    """Each index has mass 1/bound."""
    found, hidden = masses(lambda s: exact.uniform_below(s, bound), 2.0**-20)

    assert set(found) == set(range(bound))
    check(found, hidden, lambda _: F(1, bound))


@pytest.mark.parametrize("scale", [F(1, 2), F(1), F(7, 3)])
def test_geometric(scale):
    """P(G = k) = exp(-k/t) (1 - exp(-1/t))."""
    found, hidden = masses(lambda s: exact.geometric(LazyUniform(s), scale), 2.0**-14)

    first = -math.expm1(-1 / scale)
    check(found, hidden, lambda k: F(first * math.exp(-k / scale)))


@pytest.mark.parametrize(
    ("scale", "split"), [(F(1, 3), 0), (F(1), 0), (F(5, 2), 0), (F(2), 1), (F(3), 2)]
)
def test_discrete_laplace(scale, split):
    """One attempt gives x with mass c exp(-|x|/t), with and without low bits apart."""
    found, hidden = masses(lambda s: exact._laplace_attempt(s, scale, split), 2.0**-14)

    c = -math.expm1(-(2**split) / scale) / 2**split / 2
    mass = of_attempts(lambda x: F(c * math.exp(-abs(x) / scale)))
    assert {-1, 0, 1} <= set(found)
    check(found, hidden, mass, 0.95)


@pytest.mark.parametrize("variance", [F(1, 4), F(1), F(9, 2)])
def test_discrete_gaussian(variance):
    """One attempt gives x with mass c exp(-x^2 / 2v), c the same for all x."""
    found, hidden = masses(lambda s: exact._gaussian_attempt(s, variance), 2.0**-15)

    scale = exact.proposal_scale(variance)
    c = -math.expm1(-1 / scale) / 2 * math.exp(-float(variance) / (2 * scale**2))
    mass = of_attempts(lambda x: F(c * math.exp(-(x**2) / (2 * float(variance)))))
    assert {-1, 0, 1} <= set(found)
    check(found, hidden, mass, 0.9)


@pytest.mark.parametrize(
    ("offset", "scale"), [(F(0), F(1)), (F(1, 2), F(1, 2)), (F(-7, 10), F(3, 2))]
)
def test_rounded_laplace(offset, scale):
    """P(n) = P(n <= offset + 1/2 + L < n + 1), L continuous Laplace."""

    def below(x):
        x = float((x - F(1, 2) - offset) / scale)
        return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)

    found, hidden = masses(lambda s: exact.rounded_laplace(s, offset, scale), 2.0**-14)

    check(found, hidden, lambda n: F(below(n + 1) - below(n)))


@pytest.mark.parametrize(
    ("offset", "scale"), [(F(0), F(1)), (F(1, 2), F(1, 2)), (F(-7, 10), F(3, 2))]
)
def test_rounded_gaussian(offset, scale):
    """P(n) = P(n <= offset + 1/2 + Z < n + 1), Z normal."""

    def below(x):
        return 0.5 * math.erfc(-float((x - F(1, 2) - offset) / scale) / math.sqrt(2))

    found, hidden = masses(
        lambda s: exact._rounded_gaussian_attempt(s, offset, scale), 2.0**-14
    )

    accepted = math.sqrt(math.pi / (2 * math.e))
    mass = of_attempts(lambda n: F(accepted * (below(n + 1) - below(n))))
    check(found, hidden, mass, 0.9)


def test_rejected_attempts_are_repeated():
    """The loops return the first value that is not None."""
    draws = [exact.discrete_gaussian(FixedStream(i), F(1)) for i in range(40)]
    draws += [exact.discrete_laplace(FixedStream(i), F(1)) for i in range(40)]
    draws += [exact.rounded_gaussian(FixedStream(i), F(0), F(1)) for i in range(40)]

    assert None not in draws
    assert len(set(draws)) > 4


@pytest.mark.parametrize("guess", [-(10**9), -1, 0, 13, 14, 15, 10**9])
def test_largest_does_not_depend_on_the_guess(guess):
    """Any start finds the same integer."""
    assert exact.largest(lambda n: n <= 14, guess) == 14
