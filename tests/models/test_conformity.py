"""scikit-learn's own checks, without a single expected failure.

They need facts to be read from rows and many fits, so they run on request of a leak and
under a budget in a file, which also shows that budgets survive pickling. Each fit draws
the same noise, as an estimator with a fixed random_state does: one check compares fits.
"""

import atexit
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import sfumato as sf
from sfumato import models
from sfumato.models import ModelBudget
from sfumato.models.estimator import PrivateEstimator
from sfumato.testing import seeded

FOLDER = Path(tempfile.mkdtemp())
LEDGER = FOLDER / "checks.ledger"
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def every_estimator():
    """Return one instance per estimator and currency."""

    def pays(delta=0):
        names.append(f"checks-{len(names)}")
        budget = ModelBudget(sf.ZCDP("1e6"), dataset=names[-1], ledger=LEDGER)
        return {"epsilon": "2000", "delta": delta, "budget": budget, "on_leak": "warn"}

    names = []
    return [
        models.LogisticRegression(**pays()),
        models.LogisticRegression(**pays("1e-5")),
        models.LinearRegression(**pays()),
        models.LinearRegression(**pays("1e-5")),
        models.AdditiveClassifier(**pays("1e-5")),
        models.GaussianNB(**pays()),
        models.KMeans(3, **pays()),
        models.PCA(**pays()),
        models.StandardScaler(**pays()),
        models.DecisionTreeClassifier(**pays()),
        models.RandomForestClassifier(n_estimators=3, **pays()),
    ]


def every_check():
    """Return each estimator with each of scikit-learn's checks, and none marked."""
    pairs = [p for e in every_estimator() for p in estimator_checks_generator(e)]
    names = [getattr(c, "func", c).__name__ for _, c in pairs]
    kinds = [f"{type(e).__name__}-{i}" for i, (e, _) in enumerate(pairs)]
    return [
        pytest.param(*pair, id=f"{kind}-{name}")
        for pair, kind, name in zip(pairs, kinds, names, strict=True)
    ]


@pytest.fixture
def same_noise(monkeypatch):
    """Give every fit the same noise."""
    fit = PrivateEstimator._fit

    def repeated(self, *data):
        with seeded(1):
            return fit(self, *data)

    monkeypatch.setattr(PrivateEstimator, "_fit", repeated)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("same_noise")
@pytest.mark.parametrize(("estimator", "check"), every_check())
def test_it_is_a_scikit_learn_estimator(estimator, check):
    """Every check of the installed scikit-learn passes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
