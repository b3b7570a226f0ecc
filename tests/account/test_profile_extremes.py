"""The profile at losses from 1e-12 to 20 and δ from 1e-18 to 0.3, by an exact oracle.

Mixtures of Laplace, geometric and worst-case pure mechanisms with no Gaussian among
them: ``e^(-l/2)·P`` of each is a sum of atoms and a box, and boxes are differences of
integrals. So a composition is a finite sum of shifted repeated integrals, of which each
integrates against ``2 sinh`` to a series of positive terms: exact, in 60 digits.
"""

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from math import factorial, inf

import pytest

from sfumato.account import profile as profiles
from sfumato.account.profile import Profile

DELTAS = ("0.3", "0.1", "1e-2", "1e-3", "1e-6", "1e-9", "1e-12", "1e-15", "1e-18")


def decimal(x):
    return Decimal(x.numerator) / x.denominator


def parts(kind, epsilon, steps):
    """Return {(shift, integrals): weight} of one mechanism."""
    e, half = decimal(epsilon), Decimal("0.5")
    if kind == "laplace":
        quarter, scale = half / 2, (-e / 2).exp()
        found = {(epsilon, 0): half, (-epsilon, 0): half,
                 (epsilon, 1): quarter, (-epsilon, 1): -quarter}  # fmt: skip
    else:
        q = (-e / steps).exp()
        scale = (-e / 2).exp() / (1 + q)
        found = {(epsilon, 0): Decimal(1), (-epsilon, 0): Decimal(1)}
        for i in range(1, steps):
            key = (epsilon * (steps - 2 * i) / steps, 0)
            found[key] = found.get(key, 0) + 1 - q
    return {key: weight * scale for key, weight in found.items()}


def compose(mechanisms):
    """Multiply the parts out."""
    total = {(Fraction(0), 0): Decimal(1)}
    for one in mechanisms:
        grown = {}
        for (s, i), a in total.items():
            for (t, j), b in parts(*one).items():
                grown[s + t, i + j] = grown.get((s + t, i + j), 0) + a * b
        total = grown
    return total


def truth(composed, epsilon):
    """Return δ(ε), exactly but for the digits."""
    total = Decimal(0)
    for (shift, integrals), weight in composed.items():
        gap = decimal(shift - epsilon)
        if gap > 0:
            power = (gap / 2) ** (integrals + 1) / factorial(integrals + 1)
            rise, n = power, integrals + 1
            while power > rise * Decimal("1e-60"):
                power *= (gap / 2) ** 2 / ((n + 1) * (n + 2))
                rise, n = rise + power, n + 2
            total += weight * 2 ** (integrals + 1) * rise
    return (decimal(epsilon) / 2).exp() * total


def cases(seed, count):
    """Draw mixtures of up to seven mechanisms, alike in size, of any size."""
    dice = random.Random(seed)
    for _ in range(count):
        size = 10 ** dice.uniform(-11.5, 1)
        mixture = []
        for _ in range(dice.randint(1, 3)):
            epsilon = Fraction(f"{size * 10 ** dice.uniform(-0.5, 0.5):.4g}")
            kind = dice.choice(["laplace", "pure", "geometric"])
            steps = dice.randint(2, 5) if kind == "geometric" else 1
            mixture += [(kind, epsilon, steps)] * dice.randint(1, 2)
        yield mixture, dice.choice(DELTAS)


def entries(mixture):
    written = []
    for kind, epsilon, steps in mixture:
        if kind == "pure":
            written.append({"kind": "randomised_response", "epsilon": str(epsilon)})
        else:
            scale = str(steps / epsilon)
            written.append({"kind": kind, "sensitivity": steps, "scale": scale})
    return written


@pytest.fixture
def longest(monkeypatch):
    """Count the nodes of the longest sum; a run-away search took four million."""
    seen, honest = [0], profiles.Losses.line

    def line(self, c, step, variance):
        found = honest(self, c, step, variance)
        seen.append(len(found.omega))
        return found

    monkeypatch.setattr(profiles.Losses, "line", line)
    return seen


def test_mixtures_of_every_size(longest):
    """truth ≤ ours ≤ truth·(1 + 1e-4), without an endless sum."""
    with localcontext() as context:
        context.prec = 90
        for mixture, delta in cases(4, 80):
            ours = Profile(entries(mixture)).epsilon(delta)
            composed, goal = compose(mixture), Decimal(delta)

            assert truth(composed, Fraction(ours)) <= goal, (mixture, delta)
            if ours:
                less = Fraction(ours) * Fraction(9_999, 10_000)
                assert truth(composed, less) > goal, (mixture, delta)
    assert max(longest) < 2_000_000


def test_planted_noise_too_little_is_caught(monkeypatch):
    """Fault: a search that stops a ten-thousandth too low, or too high."""
    honest = Profile.epsilon
    for factor in (1 - 2e-4, 1 + 2e-4):
        with monkeypatch.context() as patch:
            patch.setattr(
                Profile, "epsilon", lambda self, d, f=factor: honest(self, d) * f
            )
            with pytest.raises(AssertionError):
                test_mixtures_of_every_size([0])


def test_a_delta_below_every_float_is_not_told_as_none():
    """50 answers and one Gaussian one at far more than their sum: small, but not 0."""
    beside = {"kind": "gaussian", "squared_sensitivity": 1, "variance": 10**8}
    profile = Profile([{"kind": "pure", "epsilon": "0.005", "count": 50}, beside])

    assert 0 < profile.delta(1) < 1e-300
    assert profile.epsilon("1e-18") < inf
