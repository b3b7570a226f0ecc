"""The Pima table with clinical bounds, as arrays."""

import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

CLINICAL = ([0, 50, 40, 5, 0, 15, 0, 20], [15, 200, 120, 60, 400, 50, 1.5, 80])
CODES = [None, 0, 0, 0, 0, 0, None, None]


@pytest.fixture(scope="session")
def pima():
    """Return features and labels."""
    with (files("sfumato") / "data" / "diabetes.csv").open() as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return table[:, :8], table[:, 8].astype(int)


@pytest.fixture
def public():
    """Return the public facts of the Pima table, as arguments."""
    return {"bounds": CLINICAL, "missing": CODES, "classes": [0, 1]}


@pytest.fixture
def budget():
    """Return a budget in memory that is large enough for a test."""
    from sfumato.models import ModelBudget

    return ModelBudget("1000000", dataset="pima")


@pytest.fixture
def rho_budget():
    """Return a budget in ρ that is large enough for a test."""
    import sfumato as sf
    from sfumato.models import ModelBudget

    return ModelBudget(sf.ZCDP("1000000"), dataset="pima")
