"""Every fit is charged to one budget, whoever copies the estimator."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sfumato as sf
from sfumato.models import LogisticRegression, ModelBudget, PrivacyLeakError


@pytest.fixture
def small():
    """Return 200 rows of two features and a binary label."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (200, 2))
    return x, (x[:, 0] > 0.5).astype(int)


def model(budget, **options):
    """Return an estimator at ε = 0.5."""
    given = {"epsilon": "0.5", "bounds": (0, 1), "classes": [0, 1], **options}
    return LogisticRegression(budget=budget, **given)


def test_a_fit_is_charged_and_says_what_it_promises(small):
    """The claim is JSON with ε, δ, unit, neighbours and the receipt."""
    budget = ModelBudget("1", dataset="demo")

    fitted = model(budget).fit(*small)

    assert budget.spent == sf.Epsilon("0.5") == fitted.privacy_spent_
    claim = json.loads(json.dumps(fitted.privacy_claim_))
    told = {k: claim[k] for k in ("epsilon", "delta", "unit", "neighbours", "private")}
    assert told == {
        "epsilon": "0.5", "delta": "0", "unit": "row", "neighbours": "add_remove",
        "private": True,
    }  # fmt: skip
    assert claim["receipt"]["dataset"] == "demo"


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2, "backend": "threading"}])
def test_five_folds_cost_five_fits(small, options):
    """5 folds at ε = 0.5 cost 2.5, in a row and in threads."""
    from joblib import parallel_config

    budget = ModelBudget("3", dataset="demo")
    jobs = options.pop("n_jobs", None)

    with parallel_config(options.get("backend", "threading")):
        cross_val_score(model(budget), *small, cv=5, n_jobs=jobs)

    assert budget.spent == sf.Epsilon("2.5")


def test_five_folds_in_processes_cost_five_fits(small, tmp_path):
    """Another process opens the same ledger file."""
    budget = ModelBudget("3", dataset="demo", ledger=tmp_path / "b.ledger")

    cross_val_score(model(budget), *small, cv=5, n_jobs=2)

    assert budget.spent == sf.Epsilon("2.5")


def test_a_budget_in_memory_is_not_sent_to_a_process():
    """It would be two budgets; the error says how to mend it."""
    import pickle

    with pytest.raises(sf.LedgerError, match="ledger="):
        pickle.dumps(ModelBudget("1", dataset="demo"))


def test_bc097_search_is_not_free(small):
    """BC097: 5 folds at 0.5, and a grid of 3 x 5 + 1 fits, are refused at budget 1."""
    for attempt in (
        lambda m: cross_val_score(m, *small, cv=5, error_score="raise"),
        lambda m: GridSearchCV(
            m, {"epsilon": ["0.5"] * 3}, cv=5, error_score="raise"
        ).fit(*small),
    ):
        budget = ModelBudget("1", dataset="demo")
        with pytest.raises(sf.BudgetExceededError):
            attempt(model(budget))
        assert budget.spent == sf.Epsilon("1")  # two fits were made and paid


def test_a_grid_of_sixteen_fits_costs_eight(small):
    """3 values x 5 folds + 1 refit at ε = 0.5."""
    budget = ModelBudget("8", dataset="demo")

    GridSearchCV(model(budget), {"degree": [1, 2, 1]}, cv=5).fit(*small)

    assert budget.spent == sf.Epsilon("8")


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_grid_is_charged_wherever_it_runs(small, tmp_path, backend):
    """2 values x 3 folds + 1 refit at ε = 0.5, by threads and by processes."""
    from joblib import parallel_config

    budget = ModelBudget("5", dataset="demo", ledger=tmp_path / "b.ledger")

    with parallel_config(backend, n_jobs=2):
        GridSearchCV(model(budget), {"degree": [1, 2]}, cv=3).fit(*small)

    assert budget.spent == sf.Epsilon("3.5")


def test_threads_cannot_overspend(small):
    """Of six folds at once, a budget of 1 pays for two; the others are refused."""
    from joblib import parallel_config

    budget = ModelBudget("1", dataset="demo")

    with parallel_config("threading", n_jobs=6), pytest.warns(FitFailedWarning):
        scores = cross_val_score(model(budget), *small, cv=6)

    assert budget.spent == sf.Epsilon("1")
    assert np.isfinite(scores).sum() == 2


def test_persons_in_folds_are_charged_as_persons(small):
    """Folds by person with routed privacy_ids: each fit at the person's ε, exactly."""
    import sklearn
    from sklearn.model_selection import GroupKFold, cross_validate

    persons = np.arange(200) // 4
    budget = ModelBudget("3", dataset="demo")
    with sklearn.config_context(enable_metadata_routing=True):
        own = model(budget, rows_per_person=2).set_fit_request(privacy_ids=True)
        done = cross_validate(
            clone(own), *small, cv=GroupKFold(5), return_estimator=True,
            params={"privacy_ids": persons, "groups": persons},
        )  # fmt: skip

    assert budget.spent == sf.Epsilon("2.5")
    claims = [fitted.privacy_claim_ for fitted in done["estimator"]]
    assert {(c["unit"], c["rows"], c["epsilon"]) for c in claims} == {("person", 2, "0.5")}  # fmt: skip


def test_clones_and_pipelines_share_the_budget(small):
    """A clone keeps the very budget; a pipeline charges like its last step."""
    budget = ModelBudget("1", dataset="demo")
    own = model(budget)

    assert clone(own).budget is budget
    make_pipeline(FunctionTransformer(), own).fit(*small)

    assert budget.spent == sf.Epsilon("0.5")


def test_a_session_pays(small):
    """Models and releases of one dataset spend from one ledger."""
    x, y = small
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y})
    schema = sf.Schema(
        {"a": sf.Real(0, 1), "b": sf.Real(0, 1), "y": sf.Category([0, 1])}
    )
    session = sf.Session(sf.Dataset(table, schema=schema, name="demo"), budget="1")

    fitted = LogisticRegression("0.5", budget=session, schema=schema).fit(
        table[["a", "b"]], table["y"]
    )

    assert (session.left, list(fitted.classes_)) == (sf.Epsilon("0.5"), [0, 1])


def test_gaussian_noise_is_charged_in_rho(small):
    """With δ the charge is ρ = μ²/2 of the exact curve; a pure budget refuses it."""
    budget = ModelBudget(sf.ApproxDP("1", "1e-5", gaussian_only=True), dataset="demo")
    other = ModelBudget("1", dataset="demo")

    fitted = model(budget, delta="1e-5").fit(*small)

    share = sf.ApproxDP("0.5", "1e-5", gaussian_only=True).cap
    assert budget.spent == fitted.privacy_spent_ == share
    with pytest.raises(sf.DeclarationError, match="Gaussian"):
        model(other, delta="1e-5").fit(*small)
    assert other.spent.units == 0


def test_pure_noise_may_be_paid_in_rho(small):
    """Under a zCDP budget HOP costs ε·tanh(ε/2)."""
    budget = ModelBudget(sf.ZCDP("1"), dataset="demo")

    model(budget).fit(*small)

    assert float(budget.spent.value) == pytest.approx(0.5 * np.tanh(0.25), abs=1e-11)


REFUSED = [
    ({"epsilon": None}, "no epsilon"),
    ({"epsilon": 0}, "greater than 0"),
    ({"bounds": None}, "bounds of the features"),
    ({"classes": None}, "classes are"),
    ({"classes": [1]}, "two classes"),
    ({"bounds": (1, 0)}, "not below"),
    ({"bounds": [1, 2, 3]}, "bounds must be"),
    ({"bounds": {"a": (0, 1)}}, "column names"),
    ({"missing": [0]}, "one per column"),
    ({"neighbours": "both"}, "neighbour relation"),
    ({"solver": "gnm"}, "solver"),
    ({"degree": 3}, "degree"),
    ({"degree": 2.0}, "degree"),
    ({"prior_coef": [[1e9] * 8]}, "prior_coef"),
    ({"epsilon": "0.000000000003"}, "too small to be split"),
    ({"classes": [None, 1]}, "cannot be sorted"),
    ({"prior_coef": [1.0]}, "prior_coef"),
    ({"on_leak": "ignore"}, "on_leak"),
    ({"schema": "schema"}, "must be a Schema"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
def test_what_is_wrong_is_refused_before_anything_is_spent(small, options, text):
    """An error with a hint, and nothing on the ledger."""
    budget = ModelBudget("1", dataset="demo")

    with pytest.raises(sf.DeclarationError, match=text) as caught:
        model(budget, **options).fit(*small)

    assert caught.value.hint
    assert budget.spent.units == 0


def test_without_a_budget_there_is_no_fit(small):
    """A budget has no default."""
    with pytest.raises(sf.DeclarationError, match="paid from a budget"):
        model(None).fit(*small)


def test_leaks_are_refused_or_marked(small):
    """Undeclared facts: an error of its own; on request a model that is NOT PRIVATE."""
    from sfumato.models import PrivacyLeakWarning

    budget = ModelBudget("1", dataset="demo")
    with pytest.raises(PrivacyLeakError):
        model(budget, bounds=None).fit(*small)

    with pytest.warns(PrivacyLeakWarning, match="bounds"):
        fitted = model(budget, bounds=None, on_leak="warn").fit(*small)

    assert fitted.privacy_claim_["private"] is False
    assert fitted.privacy_spent_ == float("inf")


def test_a_seeded_fit_is_marked(small):
    """Under a test seed the claim says NOT PRIVATE, and noise repeats."""
    from sfumato.testing import seeded

    budget, coefs = ModelBudget("1", dataset="demo"), []
    for _ in range(2):
        with seeded(1):
            fitted = model(budget).fit(*small)
        coefs.append(fitted.coef_)

    assert fitted.privacy_claim_["private"] is False
    assert np.array_equal(*coefs)


def test_after_the_debit_an_error_has_one_text(small, monkeypatch):
    """Whatever fails inside, no cell reaches the message; the charge stands."""
    from sfumato.models import logistic

    budget = ModelBudget("1", dataset="demo")

    def fails(*_):
        raise ValueError("patient 7")

    monkeypatch.setattr(logistic, "fit_hop", fails)
    with pytest.raises(sf.EngineError, match="the debit stands") as caught:
        model(budget).fit(*small)

    assert caught.value.__context__ is None
    assert budget.spent == sf.Epsilon("0.5")


def test_the_ledger_is_told_the_loss_of_a_person(small):
    """With several rows per person the descriptor holds ε or ρ of the person, not of a row."""
    x, y = small
    for delta in (0, "1e-5"):
        budget = ModelBudget(sf.ZCDP("5"), dataset="demo")
        fitted = model(budget, delta=delta, rows_per_person=4)
        fitted.fit(x, y, privacy_ids=np.arange(200) // 4)

        told = [json.loads(m.descriptor) for m in budget._ledger.mechanisms()]
        (entry,) = told[0]["mechanisms"]
        if delta:
            rho = (
                Fraction(entry["squared_sensitivity"]) / 2 / Fraction(entry["variance"])
            )
            assert rho == budget.spent.value
        else:
            assert entry == {"kind": "pure", "epsilon": "0.5"}


def test_what_is_told_of_rows_adds_up_to_the_charge(small):
    """The shares of the mechanisms inside sum to ε, and to ρ, exactly."""
    budget = ModelBudget(sf.ZCDP("5"), dataset="demo")
    model(budget).fit(*small)
    model(budget, delta="1e-5").fit(*small)

    first, second = (json.loads(m.descriptor) for m in budget._ledger.mechanisms())
    assert sum(Fraction(e["epsilon"]) for e in first["mechanisms"]) == Fraction(1, 2)
    rho = sum(
        Fraction(e["squared_sensitivity"]) / 2 / Fraction(e["variance"])
        for e in second["mechanisms"]
    )
    assert rho == sf.ApproxDP("0.5", "1e-5", gaussian_only=True).cap.value
