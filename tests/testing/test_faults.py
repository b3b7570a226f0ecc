"""Every planted fault is caught; sound things are not accused in two hundred runs."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit import distribution, epsilon_lower_bound, sensitivity
from sfumato.audit.attacks import granularity
from sfumato.audit.laws import below_geometric
from sfumato.declare import query as ask
from sfumato.noise import discrete_laplace, rounded_laplace
from sfumato.testing.faults import all_faults, mechanisms, plans, systems

QUICK = [*mechanisms.faults(), *systems.faults()]


def test_there_are_enough_and_each_has_a_name():
    """At least 25, no name twice, each said in a sentence."""
    faults = all_faults()

    assert len(faults) >= 25
    assert len({fault.name for fault in faults}) == len(faults)
    assert all(fault.about.endswith(".") and fault.by for fault in faults)


@pytest.mark.parametrize("fault", QUICK, ids=lambda f: f.name)
def test_a_broken_mechanism_or_system_is_caught(fault):
    """The audit refutes its claim."""
    caught = fault.hunt()

    assert caught.violated, fault


@pytest.mark.parametrize("fault", plans.faults()[:3], ids=lambda f: f.name)
def test_a_broken_plan_is_caught_by_the_public_oracle(fault):
    """On tables made of declarations; the others are behind the slow marker."""
    assert fault.hunt().violated


@pytest.mark.slow
@pytest.mark.parametrize("fault", plans.faults()[3:], ids=lambda f: f.name)
def test_every_broken_plan_is_caught_by_the_public_oracle(fault):
    """All of them."""
    assert fault.hunt().violated


@pytest.mark.slow
@pytest.mark.parametrize("run", range(200))
def test_no_false_alarm(run):
    """200 clean runs at a risk of 1e-9 for each test; the oracle takes no risk at all."""
    schema = sf.Schema({"x": sf.Real(0, 9, step=1), "b": sf.Boolean()})
    query = ask.Query().group_by("b").select(ask.mean("x"), ask.count())

    found = [
        epsilon_lower_bound(
            lambda d: sf.geometric(len(d), 1, 1), [1, 2], [1], claimed=1, draws=2000
        ).violated,
        granularity(
            lambda x, n: rounded_laplace(np.full(n, x), 1), claimed=1, draws=4000
        ).violated,
        distribution(
            lambda n: discrete_laplace(10, n), below_geometric(10.0), draws=20_000
        ).alarm,
        sensitivity(query, schema, tables=3, pool=1).violated,
    ]

    assert not any(found), run
