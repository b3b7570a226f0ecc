"""What to expect: the same fit on made-up rows, from public and paid figures alone."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.models import LinearRegression, LogisticRegression
from sfumato.models.rehearsal import rehearse
from sfumato.testing import seeded


def fitted(budget, epsilon, **options):
    """Return a classifier of a number and a category."""
    schema = sf.Schema({"a": sf.Real(0, 10), "b": sf.Category(["u", "v", "w"])})
    x = np.array([[1.0, "u"], [9.0, "w"]] * 20, object)
    model = LogisticRegression(
        epsilon, budget=budget, schema=schema, classes=["n", "y"], **options
    )
    return model.fit(x, ["n", "y"] * 20)


def test_at_a_huge_epsilon_the_hope_is_what_is_expected(budget):
    """Nothing but the finite number of rows is between the two."""
    with seeded(1):
        found = rehearse(fitted(budget, "100"), hoped=0.85, rows=3000)

    assert found.middle == pytest.approx(0.85, abs=0.01)
    assert found.low <= found.middle <= found.high and found.rows == 3000


def test_less_epsilon_and_fewer_rows_leave_less(budget):
    """In the order that anybody would expect."""
    with seeded(2):
        rich = rehearse(fitted(budget, "5"), hoped=0.85, rows=2000)
        poor = rehearse(fitted(budget, "0.05"), hoped=0.85, rows=2000)
        few = rehearse(fitted(budget, "5"), hoped=0.85, rows=20)

    assert rich.middle > poor.middle + 0.02 and rich.middle > few.middle + 0.005


def test_a_regression_is_rehearsed_by_r2(rho_budget):
    """R² near the hope at a huge ε."""
    x = np.linspace(0, 1, 50).reshape(-1, 1)
    model = LinearRegression(
        "50", "1e-5", budget=rho_budget, bounds=(0, 1), y_bounds=(0, 1)
    ).fit(x, x[:, 0])

    with seeded(3):
        found = rehearse(model, hoped=0.5, rows=4000)

    assert found.middle == pytest.approx(0.5, abs=0.05)


def test_it_spends_nothing_and_knows_persons(budget):
    """Persons with several rows are rehearsed with their noise; no budget is touched."""
    model = fitted(budget, "1")
    model.privacy_claim_ = {**model.privacy_claim_, "unit": "person", "rows": 3}
    model.rows_per_person = 3
    before = budget.spent

    assert rehearse(model, hoped=0.8, rows=200) is not None
    assert budget.spent == before


@pytest.mark.parametrize("hoped", [0.4, 0.5, 1.0, 82.0])
def test_a_hope_that_is_none_gives_nothing(budget, hoped):
    """An AUC of a coin, or a percentage, cannot be rehearsed."""
    assert rehearse(fitted(budget, "1"), hoped=hoped, rows=100) is None
