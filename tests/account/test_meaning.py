"""Odds of every loss; the table of deployments holds what was read and no more."""

from itertools import pairwise
from statistics import NormalDist

import pytest

from sfumato.account import GDP, ZCDP, ApproxDP, Epsilon, odds
from sfumato.account.deployment import DEPLOYMENTS, SCENARIOS


@pytest.mark.parametrize(
    ("epsilon", "factor", "half", "power", "advantage"),
    [("0.1", 1.11, 0.525, 0.055, 0.050), ("0.3", 1.35, 0.574, 0.067, 0.149),
     ("0.5", 1.65, 0.622, 0.082, 0.245), ("0.6", 1.82, 0.646, 0.091, 0.291),
     ("1", 2.72, 0.731, 0.136, 0.462), ("2", 7.39, 0.881, 0.369, 0.762),
     ("5", 148.41, 0.993, 0.994, 0.987)],
)  # fmt: skip
def test_worst_cases_of_pure_losses(epsilon, factor, half, power, advantage):
    """The published worst cases, to the digits printed."""
    o = Epsilon(epsilon).explain()

    assert round(o.factor, 2) == factor
    assert round(o.certainty[2][1], 3) == half
    assert round(o.power, 3) == power
    assert round(o.advantage, 3) == advantage
    assert o.delta == 0
    assert o == odds(epsilon)


def test_delta_is_counted_in():
    """(ε, δ): TV ≤ (e^ε - 1 + 2δ)/(e^ε + 1), power ≤ e^ε·α + δ."""
    with pytest.warns(UserWarning, match="delta"):
        budget = ApproxDP(1, "0.01")
    o, bare = budget.explain(), odds(1)

    assert o.advantage == pytest.approx(bare.advantage + 0.02 / (2.718281828 + 1))
    assert o.power == pytest.approx(bare.power + 0.01)
    assert o.delta == 0.01
    assert o.factor == bare.factor


def test_gaussian_losses_are_exact_and_below_zcdp():
    """μ-GDP has its own curve; ρ alone is told by the least over all pairs."""
    exact, loose = GDP("0.02").explain(), ZCDP("0.02").explain()
    law = NormalDist()

    assert exact.power == pytest.approx(law.cdf(law.inv_cdf(0.05) + 0.2))
    assert exact.advantage == pytest.approx(2 * law.cdf(0.1) - 1)
    assert exact.power < loose.power < 2 * exact.power
    assert exact.advantage < loose.advantage < 3 * exact.advantage
    assert exact.epsilon < loose.epsilon
    assert odds(ZCDP("0.02"), gaussian=True) == exact


def test_more_loss_means_better_attacks():
    """Every measure is monotone in every currency, and stays within its range."""
    for kind in (Epsilon, ZCDP, GDP):
        told = [odds(kind(x)) for x in ("0.01", "0.1", "1", "10", "500")]
        for one, two in pairwise(told):
            assert one.power <= two.power <= 1
            assert one.advantage <= two.advantage <= 1
            assert one.factor < two.factor
            assert 50 <= one.of_100_with <= two.of_100_with <= 100


def test_deployments_name_their_unit():
    """Sorted by ε, each read in a source; nothing from memory is in the table."""
    assert [
        float(d.epsilon_to) for d in DEPLOYMENTS if d.epsilon == d.epsilon_to
    ] == sorted(float(d.epsilon_to) for d in DEPLOYMENTS if d.epsilon == d.epsilon_to)
    names = " ".join(d.name for d in DEPLOYMENTS)
    for absent in ("mobility", "Wikimedia", "Microsoft"):
        assert absent not in names
    assert sum(d.unit is None for d in DEPLOYMENTS) == 1
    assert all(d.source in ("primary", "secondary") for d in DEPLOYMENTS)


READ = """
Facebook one: 0.45 1e-5 | Facebook all: 1.453 - | symptoms: 1.68 - | health data: 2 -
vaccination: 2.19 1e-5 | emoji: 4 - | lookup hints: 8 - | Israel: 9.98 0
QuickType: 16 - | AWS: 20 - | Census*: 19.61 1e-10 | LinkedIn: 34.9 7e-9 | Sandbox: 64 -
"""


def test_deployments_have_the_figures_that_were_read():
    """Each ε and δ as in the source that was read; told by others where starred."""
    rows = [row for line in READ.strip().splitlines() for row in line.split(" | ")]
    assert len(rows) == len(DEPLOYMENTS)
    for row, found in zip(rows, DEPLOYMENTS, strict=True):
        name, _, figures = row.partition(": ")
        epsilon, delta = figures.split()
        assert name.rstrip("*").split()[0] in found.name
        assert found.epsilon_to == epsilon
        assert found.delta == (None if delta == "-" else delta)
        assert found.source == ("secondary" if "*" in name else "primary")


def test_scenarios_are_the_tutorials():
    """Research 0.3 to 0.7, real-time 0.1 to 0.3, features 0.5 to 1."""
    assert [(str(s.low), str(s.high)) for s in SCENARIOS] == [
        ("0.3", "0.7"), ("0.1", "0.3"), ("0.5", "1")
    ]  # fmt: skip
