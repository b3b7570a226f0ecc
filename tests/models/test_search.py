"""A private search: one price, whatever is tried."""

from collections import Counter
from math import log

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

import sfumato as sf
from sfumato.models import (
    AdditiveClassifier,
    LinearRegression,
    LogisticRegression,
    ModelBudget,
    PrivateSearchCV,
)
from sfumato.models.search import _stopping_time
from sfumato.testing import seeded


@pytest.fixture
def ring():
    """Return rows whose label a line cannot tell, and squares can."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (3000, 1))
    return x, (np.abs(x[:, 0]) < 0.5).astype(int)


def search(budget, method, **options):
    """Return a search between a line and squares."""
    model = LogisticRegression(bounds=(-1, 1), classes=[0, 1])
    return PrivateSearchCV(
        model, {"degree": [1, 2]}, epsilon="20", budget=budget, method=method, **options
    )


@pytest.mark.parametrize("method", ["stop", "choose"])
def test_a_search_costs_what_it_says_and_finds_the_better(ring, method):
    """One debit of ε; squares are found where there is signal; seeded, so repeatable."""
    budget = ModelBudget("20", dataset="demo")
    with seeded(4):
        found = search(budget, method).fit(*ring)

    assert budget.left.units == 0
    assert found.best_params_ == {"degree": 2}
    assert found.score(*ring) > 0.7
    assert found.best_estimator_.privacy_claim_ == found.privacy_claim_
    assert found.privacy_claim_["private"] is False  # seeded


def test_each_trial_is_private_at_its_share(ring, monkeypatch):
    """stop: ε/2 for fit and score; choose: ε/m for each fit."""
    seen = []
    original = LogisticRegression._fit

    def noted(self, *data):
        seen.append(str(self.epsilon))
        return original(self, *data)

    monkeypatch.setattr(LogisticRegression, "_fit", noted)
    for method in ("stop", "choose"):
        search(ModelBudget("20"), method).fit(*ring)
        assert set(seen) == {"10"}
        if method == "choose":
            assert len(seen) == 2
        seen.clear()


def test_parts_are_disjoint_and_one_row_moves_one_score(ring):
    """A row is fitted or scored, never both; its score lies in [0, 1] steps."""
    from sfumato.models.search import _FINE, _Parts

    x, y = ring
    part = _Parts(x, y, None, 0.75, 1)
    model = LogisticRegression(
        "1", budget=ModelBudget("1"), bounds=(-1, 1), classes=[0, 1]
    ).fit(x, y)

    assert not set(part.fitting) & set(part.scoring)
    assert len(part.fitting) + len(part.scoring) == len(y)
    whole = part.score(model)
    for dropped in (0, 1, 2):
        part.scoring = np.delete(part.scoring, dropped)
        assert 0 <= whole - part.score(model) <= _FINE
        whole = part.score(model)


def test_the_stopping_time_has_its_law():
    """P(K = k) ∝ (1 - γ)^k / k; chi square over 4000 repeatable draws, p > 1e-9."""
    with seeded(1):
        drawn = [_stopping_time(6) for _ in range(4000)]

    steps = next(s for s in range(2, 999) if (s - 1) / log(s) >= 6)
    q = 1 - 1 / steps
    masses = np.array([q**k / k / log(steps) for k in range(1, 9)])
    seen = Counter(drawn)
    counts = [seen[k] for k in range(1, 9)]
    expected = 4000 * np.array([*masses, 1 - masses.sum()])
    assert stats.chisquare([*counts, 4000 - sum(counts)], expected).pvalue > 1e-9
    assert np.mean(drawn) == pytest.approx(6, abs=1)


def test_the_best_of_private_trials_stays_private():
    """The exact output law for two tables: the worst ratio is at most 2ε, and above ε."""
    rng, epsilon, steps, worst = np.random.default_rng(0), 0.5, 19, 0.0
    q = 1 - 1 / steps
    for _ in range(300):
        p = rng.dirichlet(np.ones(6) * 0.3)
        other = p * np.exp(rng.choice([-epsilon, epsilon], 6))
        other /= other.sum()
        gap = np.abs(np.log(np.maximum(other, 1e-300) / np.maximum(p, 1e-300))).max()

        def best(mass):
            below = np.cumsum(mass)
            f = -np.log1p(-q * np.minimum(below, 1)) / np.log(steps)  # E[x^K]
            return np.diff(np.r_[0, f])

        ratio = np.abs(np.log(best(other) / best(p)))[
            np.minimum(p, other) > 1e-12
        ].max()
        assert ratio <= 2 * gap + 1e-9
        worst = max(worst, ratio / gap)
    assert worst > 1


def test_a_regression_is_searched(rho_budget):
    """Scores of numbers: one minus the squared error over the range."""
    x = np.linspace(0, 1, 2000).reshape(-1, 1)
    found = PrivateSearchCV(
        LinearRegression(bounds=(0, 1), y_bounds=(0, 1)),
        [{"ridge": [0.0]}, {"ridge": [1e6]}],
        epsilon="20", budget=rho_budget, method="choose",
    ).fit(x, x[:, 0])  # fmt: skip

    assert found.best_params_ == {"ridge": 0.0}


def test_persons_are_searched_as_persons(ring):
    """All rows of a person fall on one side; the claim says person."""
    x, y = ring
    model = AdditiveClassifier(bounds=(-1, 1), classes=[0, 1], rows_per_person=2)
    found = PrivateSearchCV(
        model, {"order": [1, 2]}, epsilon="9", budget=ModelBudget("9")
    ).fit(x, y, privacy_ids=np.arange(3000) // 2)

    assert found.privacy_claim_["unit"] == "person"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"param_grid": {}}, "no settings"),
        ({"param_grid": {"epsilon": [1]}}, "settings of privacy"),
        ({"param_grid": {"degree": [1, 7]}}, "degree"),
        ({"method": "grid"}, "method"),
        ({"fit_share": 1}, "fit_share"),
        ({"trials": 0}, "trials"),
        ({"epsilon": None}, "epsilon"),
        ({"estimator": LogisticRegression(delta="1e-5")}, "delta=0"),
        ({"estimator": 3}, "estimator"),
        ({"estimator": LogisticRegression(classes=[0, 1])}, "bounds"),
    ],
)
def test_bad_arguments_cost_nothing(ring, options, text):
    """Every setting is checked before anything is spent."""
    budget = ModelBudget("20", dataset="demo")
    model = search(budget, "stop").set_params(**options)

    with pytest.raises((sf.DeclarationError, ValueError), match=text):
        model.fit(*ring)

    assert budget.spent.units == 0


def test_a_search_is_cloned_with_its_budget():
    """Clones share the budget, like every estimator."""
    budget = ModelBudget("1")

    assert clone(search(budget, "stop")).budget is budget


@pytest.mark.parametrize("method", ["stop", "choose"])
def test_a_table_of_one_row_raises_no_error(method) -> None:
    """Coins may leave nothing to fit on; an error would tell how few rows there are."""
    for _ in range(30):
        budget = ModelBudget("2")
        search = PrivateSearchCV(
            LogisticRegression(bounds=(-1, 1), classes=[0, 1]),
            {"degree": [1, 2]},
            epsilon="2",
            budget=budget,
            method=method,
            fit_share=0.5,
        )
        search.fit(np.zeros((1, 2)), np.zeros(1, int))
        assert budget.left.units == 0


def test_settings_of_privacy_are_refused_before_anything_is_spent(ring):
    """Rows per person bound what a person adds: they are no setting to be searched."""
    budget = ModelBudget("20")
    model = LogisticRegression(bounds=(-1, 1), classes=[0, 1], rows_per_person=2)
    ids = np.arange(len(ring[1])) // 2
    for grid in (
        {"rows_per_person": [1, None]},
        [{"degree": [1]}, {"rows_per_person": [9]}],
    ):
        tried = PrivateSearchCV(model, grid, epsilon="1", budget=budget)
        with pytest.raises(sf.DeclarationError, match="settings of privacy"):
            tried.fit(*ring, privacy_ids=ids)

    assert budget.left == sf.Epsilon("20")


@pytest.mark.parametrize(
    ("method", "epsilon"),
    [("stop", "0.000000000001"), ("choose", "0.000000000001")],
)
def test_a_loss_too_small_to_be_split_costs_nothing(ring, method, epsilon):
    """It is refused beforehand: after the debit an error would be all that was bought."""
    budget = ModelBudget("20")
    tried = search(budget, method).set_params(epsilon=epsilon)

    with pytest.raises(sf.DeclarationError, match="too small"):
        tried.fit(*ring)

    assert budget.left == sf.Epsilon("20")


@pytest.mark.parametrize("odd", ["abc", None, [], float("nan"), float("inf")])
def test_no_target_can_raise_an_error(odd):
    """Whatever stands there: one row may not decide whether a search fails."""
    x = np.linspace(-1, 1, 40).reshape(-1, 1)
    y = x[:, 0].astype(object)
    y[3] = odd
    model = LinearRegression(bounds=(-1, 1), y_bounds=(-1, 1))

    found = PrivateSearchCV(
        model, {"ridge": [0.0, 1.0]}, epsilon="4", budget=ModelBudget("4"),
        fit_share=0.001,
    ).fit(x, y)  # fmt: skip

    assert found.best_params_["ridge"] in (0.0, 1.0)


def test_persons_that_are_not_those_of_the_rows_cost_nothing(ring):
    """Refused before the debit."""
    budget = ModelBudget("20")
    asked = search(budget, "stop")
    asked.estimator.rows_per_person = 1

    with pytest.raises(sf.DeclarationError, match="one entry per row"):
        asked.fit(*ring, privacy_ids=np.arange(50))

    assert budget.spent.units == 0
