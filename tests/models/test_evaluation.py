"""A private test: one noisy table, charged once; and the owner's exact one, marked."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import binom
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import sfumato as sf
from sfumato.models import (
    LogisticRegression,
    ModelBudget,
    evaluate,
    evaluate_for_owner,
)
from sfumato.models.door import counts
from sfumato.models.evaluation import Evaluation, _auc, _cells
from sfumato.models.price import read_price


@pytest.fixture
def fitted(pima, public, budget):
    """Return a model and its test rows."""
    x, x_test, y, y_test = train_test_split(*pima, test_size=0.4, random_state=1)
    return LogisticRegression("3", budget=budget, **public).fit(x, y), x_test, y_test


def test_one_charge_gives_every_figure(fitted):
    """AUC, confusion, accuracy and calibration from one debit, near the exact ones."""
    model, x, y = fitted
    budget = ModelBudget("8", dataset="test")

    test = evaluate(model, x, y, epsilon="8", budget=budget)

    exact = roc_auc_score(y, model.decision_function(x))
    assert budget.left.units == 0
    assert test.auc == pytest.approx(exact, abs=0.05)
    low, high = test.auc_interval()
    assert low <= test.auc <= high
    assert test.confusion.shape == (2, 2)
    assert test.accuracy == pytest.approx((model.predict(x) == y).mean(), abs=0.05)
    assert len(test.calibration) == 20
    shares = [c.share for c in test.calibration if c.share is not None]
    assert all(0 <= s <= 1 for s in shares)
    assert test.claim["epsilon"] == "8"


@pytest.mark.parametrize(("rows", "epsilon"), [(20, "0.5"), (60, "1"), (400, "0.5")])
def test_the_interval_of_an_auc_holds_as_often_as_it_says(rows, epsilon):
    """Also where noise makes most of the cells, and where few rows are tested."""
    place = np.arange(rows) * 20 // rows
    exact = np.zeros((2, 20), np.int64)
    np.add.at(exact, ((np.arange(rows) % 4 + place > 12).astype(int), place), 1)
    share = read_price(epsilon, 0, "add_remove").share()
    claim, edges = {"neighbours": "add_remove"}, tuple(np.linspace(0, 1, 21))

    held = 0
    for _ in range(200):
        cells = counts(exact, share)
        low, high = Evaluation(
            ("a", "b"), cells, edges, float(epsilon), claim
        ).auc_interval()
        held += low <= _auc(exact) <= high

    assert held >= binom.ppf(1e-9, 200, 0.94)


def test_a_row_adds_one_to_one_cell(fitted):
    """The exact table changes by one in one cell when a row goes; two when it changes."""
    model, x, y = fitted
    whole = _cells(model, x, y, 20, None)

    assert np.abs(whole - _cells(model, x[1:], y[1:], 20, None)).sum() == 1
    other = y.copy()
    other[0] = 1 - y[0]
    assert np.abs(whole - _cells(model, x, other, 20, None)).sum() == 2


def test_the_noise_is_that_of_the_charge(fitted, monkeypatch):
    """The cells get geometric noise of scale 1/ε; 2/ε where a row is replaced."""
    from sfumato.models import evaluation

    model, x, y = fitted
    seen = []
    monkeypatch.setattr(
        evaluation, "counts", lambda c, s: seen.append(s) or counts(c, s)
    )
    for neighbours in ("add_remove", "replace_one"):
        evaluate(
            model, x, y, epsilon="0.5", budget=ModelBudget("1"), neighbours=neighbours
        )

    assert [(str(s.epsilon), s.changes) for s in seen] == [("0.5", 1), ("0.5", 2)]


def test_several_classes_have_a_confusion(rho_budget):
    """No AUC, and an error that says so; the confusion is classes by classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    x = rng.normal(size=(900, 2)) * 0.1 + np.array([[-0.5, 0], [0.5, 0], [0, 0.6]])[y]
    model = LogisticRegression(
        "9", "1e-5", budget=rho_budget, bounds=(-1, 1), classes=[0, 1, 2]
    ).fit(x, y)

    test = evaluate(model, x, y, epsilon="1", budget=rho_budget)

    assert test.confusion.shape == (3, 3)
    assert test.accuracy > 0.6
    for figure in ("auc", "calibration"):
        with pytest.raises(sf.DeclarationError, match="two classes"):
            getattr(test, figure)


def test_persons_count_as_persons(fitted):
    """Rows per person divide ε, and the claim says person."""
    model, x, y = fitted
    test = evaluate(
        model, x, y, epsilon="1", budget=ModelBudget("1"),
        privacy_ids=np.arange(len(y)) // 2, rows_per_person=2,
    )  # fmt: skip

    assert (test.claim["unit"], test.epsilon) == ("person", 0.5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"bins": 3}, "bins"),
        ({"bins": 10**12}, "bins"),
        ({"neighbours": "x"}, "neighbour"),
    ],
)
def test_bad_arguments_cost_nothing(fitted, options, text):
    """Refused before anything is spent."""
    model, x, y = fitted
    budget = ModelBudget("1", dataset="test")

    with pytest.raises(sf.DeclarationError, match=text):
        evaluate(model, x, y, **{"epsilon": "1", "budget": budget, **options})

    assert budget.spent.units == 0


def test_the_owner_sees_exact_figures_that_are_marked(fitted):
    """Every text of them says first that it is not private."""
    model, x, y = fitted

    own = evaluate_for_owner(model, x, y)

    assert own.auc == roc_auc_score(y, model.decision_function(x))
    assert str(own).startswith("FOR THE OWNER'S EYES, NOT PRIVATE") and repr(
        own
    ) == str(own)
    assert own.cells.sum() == len(y)


@pytest.mark.parametrize("ids", [[7], [7, 8]], ids=len)
def test_persons_that_are_not_those_of_the_rows_cost_nothing(fitted, ids):
    """One person would else stand for all rows, and be promised one of them."""
    model, x, y = fitted
    budget = ModelBudget("1")

    with pytest.raises(sf.DeclarationError, match="one entry per row"):
        evaluate(
            model, x, y, epsilon="1", budget=budget,
            privacy_ids=ids, rows_per_person=1,
        )  # fmt: skip

    assert budget.spent.units == 0


def test_a_table_that_no_model_reads_costs_nothing(fitted):
    """Sparse, or with a cell that is a list: refused as a fit refuses it."""
    model, x, y = fitted
    budget, odd = ModelBudget("1"), x.astype(object)
    odd[5, 1] = [1]

    for table in (odd, csr_matrix(x)):
        with pytest.raises(TypeError):
            evaluate(model, table, y, epsilon="1", budget=budget)

    assert budget.spent.units == 0


def test_the_owners_accuracy_knows_labels_as_texts(fitted):
    """As the private test does."""
    model, x, y = fitted

    found = evaluate_for_owner(model, x, y.astype(str))

    assert found.accuracy == evaluate_for_owner(model, x, y).accuracy > 0
