"""A budget pays for losses about one unit: a fit of another is refused."""

import json
import pickle

import numpy as np
import pytest

import sfumato as sf
from sfumato import models
from sfumato.errors import DeclarationError
from sfumato.ledger import Declared, export, show

ROWS = [{"id": i % 50, "x": i % 10} for i in range(200)]
ROW, SAME = sf.Rows(), sf.Rows(neighbours="replace_one", size=200)
FEW = sf.Unit("id", max_rows=3, max_groups=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.ledger"


def session(path, unit):
    schema = sf.Schema({"x": sf.Integer(0, 9)}, unit=unit)
    return sf.Session(
        sf.Dataset(ROWS, schema=schema, name="d"), budget="3", ledger=path
    )


X, Y = np.arange(60).reshape(30, 2) / 60, np.arange(30) % 2
PEOPLE = np.arange(30) // 3


def fit(budget, **options):
    persons = options.pop("privacy_ids", None)
    few = {} if persons is None else {"rows_per_person": 3}
    model = models.LogisticRegression(
        epsilon=1, budget=budget, bounds=(0, 1), classes=[0, 1], **few, **options
    )
    return model.fit(X, Y, privacy_ids=persons)


def opened(path):
    return json.loads(next(export(path)))["body"]["unit"]


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        (None, "row, add_remove"),
        (SAME, "row, replace_one"),
        (FEW, "person by 'id', add_remove"),
        (Declared("row, replace_one"), "row, replace_one"),
    ],
)
def test_a_budget_of_models_records_a_unit_always(path, declared, told):
    """Also where nobody says it: then it is a row, added or removed."""
    budget = models.ModelBudget("3", dataset="d", ledger=path, declared=declared)

    again = pickle.loads(pickle.dumps(budget))

    assert opened(path) == budget._ledger.unit == again._ledger.unit == told


OTHERS = [
    (ROW, {"privacy_ids": PEOPLE}),
    (ROW, {"neighbours": "replace_one"}),
    (SAME, {}),
    (FEW, {}),
    (FEW, {"privacy_ids": PEOPLE, "neighbours": "replace_one"}),
]


@pytest.mark.parametrize(("unit", "options"), OTHERS)
@pytest.mark.parametrize("kind", ["session", "file", "recorded", "memory"])
def test_a_fit_that_protects_something_else_is_refused(path, unit, options, kind):
    """ε of a row bounds nothing of a person, and half of a replaced row's loss."""
    if kind == "session":
        budget = session(path, unit)
    elif kind == "memory":
        budget = models.ModelBudget("3", declared=unit)
    else:
        if kind == "recorded":
            session(path, unit)
        told = unit if kind == "file" else None
        budget = models.ModelBudget("3", dataset="d", ledger=path, declared=told)

    with pytest.raises(
        DeclarationError, match=r"the budget protects a .*, this fit a "
    ) as refused:
        fit(budget, **options)

    assert refused.value.hint
    assert budget.left == sf.Epsilon("3")


@pytest.mark.parametrize(
    ("unit", "options"),
    [
        (ROW, {}),
        (SAME, {"neighbours": "replace_one"}),
        (FEW, {"privacy_ids": PEOPLE}),
    ],
)
def test_a_fit_of_the_budgets_unit_goes_on(path, unit, options):
    """A session's, a recorded one, or, in memory, the first fit's."""
    first = session(path, unit)
    recorded = models.ModelBudget("3", dataset="d", ledger=path)
    memory = models.ModelBudget("3")

    for budget in (first, recorded, memory):
        fit(budget, **options)

    assert recorded.spent == sf.Epsilon("2")
    other = {} if options else {"neighbours": "replace_one"}
    with pytest.raises(DeclarationError, match="the budget protects a"):
        fit(memory, **other)


def test_a_test_and_a_search_protect_the_budgets_unit_too():
    """Whatever pays from a budget says whom it is about."""
    budget = models.ModelBudget("9", declared=FEW)
    model = fit(budget, privacy_ids=PEOPLE)
    plain = models.LogisticRegression(bounds=(0, 1), classes=[0, 1])
    search = models.PrivateSearchCV(plain, {"degree": [1, 2]}, epsilon=1, budget=budget)

    for act in (
        lambda: models.evaluate(model, X, Y, epsilon=1, budget=budget),
        lambda: search.fit(X, Y),
    ):
        with pytest.raises(DeclarationError, match="the budget protects a"):
            act()

    assert budget.spent == sf.Epsilon("1")


def test_what_is_no_unit_is_refused(path):
    """Before a ledger is made."""
    with pytest.raises(DeclarationError, match="the unit of a budget is"):
        models.ModelBudget("3", ledger=path, declared="person")

    assert not path.exists()


def test_planted_fault_pays_for_rows_from_the_budget_of_people(path, monkeypatch):
    """Without the check ε per row is charged as if it were per person."""
    monkeypatch.setattr("sfumato.models.budget._check_unit", lambda *_: None)

    fit(session(path, FEW))

    assert show(path).budgets[0].spent == sf.Epsilon("1").units
