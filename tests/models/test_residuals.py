"""A private test of a regression: one charge, four sums of bounded change, honest figures."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import sfumato as sf
from sfumato.models import (
    PCA,
    LinearRegression,
    LogisticRegression,
    ModelBudget,
    evaluate,
    evaluate_regression,
    evaluate_regression_for_owner,
    residuals,
)
from sfumato.models.door import UNIT
from sfumato.testing import seeded


class Fixed:
    """A regression that was fitted elsewhere: it says its first feature."""

    y_bounds_ = (0.0, 10.0)

    def predict(self, x):
        """Return the first feature of each row."""
        return np.asarray(x, float)[:, 0]


class Unbounded:
    """A regression that names no bounds of its target."""

    predict = Fixed.predict


@pytest.fixture
def rows():
    """Return 4,000 rows with a residual of standard deviation 1, and their targets."""
    rng = np.random.default_rng(2)
    x = rng.uniform(1, 9, (4000, 1))
    return x, x[:, 0] + rng.normal(0, 1, 4000)


def test_one_charge_gives_rmse_and_r2(rows, budget):
    """Near the exact figures; the intervals hold them; false alarms below 1 in 10^9."""
    exact = evaluate_regression_for_owner(Fixed(), *rows)

    with seeded(7):
        test = evaluate_regression(Fixed(), *rows, epsilon="1", budget=budget)
        ends = test.rmse_interval(0.999), test.r2_interval(0.999)

    assert budget.spent == sf.Epsilon("1")
    assert test.claim["epsilon"] == "1" and test.claim["unit"] == "row"
    assert test.rmse == pytest.approx(exact.rmse, abs=0.05)
    assert test.r2 == pytest.approx(exact.r2, abs=0.02)
    assert test.rows == pytest.approx(4000, abs=60)
    assert ends[0][0] < exact.rmse < ends[0][1] and ends[1][0] < exact.r2 < ends[1][1]
    assert str(exact).startswith("FOR THE OWNER'S EYES, NOT PRIVATE")


class Recorder:
    """Stands where noise is added, and keeps the exact sums."""

    def __init__(self, monkeypatch):
        self.sums = []
        monkeypatch.setattr(residuals, "noisy", self)

    def __call__(self, sums, share):
        self.sums.append([int(v) for v in sums])
        return np.array([float(v) for v in sums])


ODD = [0.0, 10.0, -1e300, 1e300, np.nan, np.inf, -np.inf, 5.0, 1e-320]


def widest(monkeypatch, budget):
    """Return the largest change of the sums by one row, over their length, squared."""
    worst = Fraction(0)
    record = Recorder(monkeypatch)
    for said in ODD:
        for true in [*ODD, "text", None]:
            x, y = [[3.0], [said]], np.array([4.0, true], object)
            for n in (1, 2):
                evaluate_regression(Fixed(), x[:n], y[:n], epsilon="1", budget=budget)
            first, second = record.sums[-2:]
            square = sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
            worst = max(worst, Fraction(square, UNIT**2))
    return worst


def test_one_row_moves_the_sums_by_their_length_at_most(monkeypatch, budget):
    """Brute force over odd cells and odd predictions; tight at a corner."""
    worst = widest(monkeypatch, budget)

    assert Fraction(9, 10) < worst <= 1


def test_planted_fault_too_short_a_length_is_caught(monkeypatch, budget):
    """Without the weight of the squared residual in the length, rows are too long.

    The lattice then drops them, so that nothing comes near the length that is claimed.
    """
    monkeypatch.setattr(residuals, "_SIZE", residuals._SIZE / 1.5)

    worst = widest(monkeypatch, budget)

    assert not Fraction(9, 10) < worst <= 1


def test_the_noise_is_that_of_the_charge(budget):
    """Over 400 draws the deviation of the count is the stated one; 6 standard errors."""
    with seeded(3):
        seen = [
            evaluate_regression(
                Fixed(), np.empty((0, 1)), np.empty(0), epsilon="2", budget=budget
            ).sums[3]
            for _ in range(400)
        ]

    stated = np.sqrt(5) * residuals._SIZE / 2
    assert np.std(seen) == pytest.approx(stated, rel=6 * 0.6 / 400**0.5)


def test_few_rows_say_nothing_and_raise_nothing(budget):
    """No rows, one row, no target: figures that are lost in the noise are none."""
    for x, y in (
        (np.empty((0, 1)), np.empty(0)),
        (np.ones((1, 1)), np.ones(1)),
        (np.ones((3, 1)), np.full(3, np.nan)),
    ):
        test = evaluate_regression(Fixed(), x, y, epsilon="0.1", budget=budget)
        assert test.rmse is None or test.rmse >= 0
        assert test.r2 is None or test.r2 <= 1


def test_a_row_without_target_does_not_count(budget):
    """Missing targets are left out; those of the owner's figures too."""
    x, y = np.full((3000, 1), 5.0), np.full(3000, 5.0)
    y[::2] = np.nan

    test = evaluate_regression(Fixed(), x, y, epsilon="2", budget=budget)

    assert test.rows == pytest.approx(1500, abs=60)
    assert evaluate_regression_for_owner(Fixed(), x, y).rmse == 0


def test_persons_count_as_persons(rows, budget):
    """Of each person as many rows as declared; noise and claim are the person's."""
    x, y = rows
    test = evaluate_regression(
        Fixed(), x, y, epsilon="4", budget=budget,
        privacy_ids=np.arange(4000) // 4, rows_per_person=2,
    )  # fmt: skip

    assert test.rows == pytest.approx(2000, abs=100)
    assert (test.claim["unit"], test.claim["rows"]) == ("person", 2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda b, x, y: evaluate_regression(Fixed(), x, y, epsilon=None, budget=b), "no epsilon"),
        (lambda b, x, y: evaluate_regression(PCA(), x, y, epsilon="1", budget=b), "model cannot be"),
        (lambda b, x, y: evaluate_regression(Unbounded(), x, y, epsilon="1", budget=b), "bounds of the target"),
        (lambda b, x, y: evaluate_regression(Fixed(), x, y, epsilon="1", budget=b, y_bounds=(1, 1)), "y_bounds"),
        (lambda b, x, y: evaluate(LinearRegression(), x, y, epsilon="1", budget=b), "classifier"),
    ],
)  # fmt: skip
def test_bad_arguments_cost_nothing(rows, call, text):
    """An error with a hint before anything is spent."""
    budget = ModelBudget("1", dataset="demo")

    with pytest.raises(sf.DeclarationError, match=text) as caught:
        call(budget, *rows)

    assert caught.value.hint and budget.spent.units == 0


def test_other_columns_and_an_unfitted_model_cost_nothing(rows):
    """scikit-learn's own errors, before the debit: no row was looked at."""
    x, y = rows
    purse = ModelBudget("9", dataset="demo")
    line = LinearRegression("4", budget=purse, bounds=(0, 10), y_bounds=(0, 10))
    curve = LogisticRegression("4", budget=purse, bounds=(0, 10), classes=[0, 1])

    for test, model in ((evaluate_regression, line), (evaluate, curve)):
        with pytest.raises(NotFittedError):
            test(model, x, y, epsilon="1", budget=purse)
        model.fit(x, y.round() % 2)
        with pytest.raises(ValueError, match="features"):
            test(model, np.hstack([x, x]), y, epsilon="1", budget=purse)

    assert purse.left == sf.Epsilon("1")
