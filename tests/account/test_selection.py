"""What a private choice may miss, told beforehand."""

from math import exp

import pytest

from sfumato.account import Selection


@pytest.mark.parametrize("candidates", [2, 3, 50, 1000])
@pytest.mark.parametrize("epsilon", ["0.01", "0.5"])
def test_the_shortfall_of_an_exponential_choice_holds(candidates, epsilon):
    """The worst case: all others lie as far below the best as is said not to happen."""
    law = Selection(1, epsilon, law="exponential", monotone=True)

    missed = law.shortfall(candidates, 0.95)
    others = (candidates - 1) * exp(-float(law.rate) * (missed + 1))

    assert others / (1 + others) <= 0.05
    others *= exp(2 * float(law.rate) + 0.5)  # two units and a half less: no bound
    assert others / (1 + others) > 0.05


def test_permute_and_flip_misses_less():
    """Half of the chance of each other candidate: a known share of a unit of rate."""
    flip, plain = (
        Selection(1, "0.01", law=law, monotone=True)
        for law in ("permute_and_flip", "exponential")
    )

    assert flip.shortfall(100, 0.9) < plain.shortfall(100, 0.9)
    assert flip.mean_shortfall(100) < plain.mean_shortfall(100)
    assert flip.shortfall(1, 0.9) == plain.shortfall(1, 0.9) == 0
    assert flip.mean_shortfall(1) == 0
