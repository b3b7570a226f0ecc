"""How good a regression is on private rows: four noisy sums, from which the rest follows."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from sfumato.account import describe
from sfumato.amount import Amount
from sfumato.errors import DeclarationError
from sfumato.models.answers import answers, chosen
from sfumato.models.declared import Span
from sfumato.models.door import UNIT, Floats, deviation, lattice, noisy, total
from sfumato.models.examination import check_columns, examined
from sfumato.models.given import one_column
from sfumato.models.options import two_bounds, wrong_option
from sfumato.models.price import Pure, read_price
from sfumato.models.table import numbers_of, persons_of
from sfumato.words import N_

__all__ = [
    "OwnerRegressionEvaluation",
    "RegressionEvaluation",
    "evaluate_regression",
    "evaluate_regression_for_owner",
    "targets_of",
]

_DRAWS = 400
_WEIGHT = 2.0  # of squared residuals, which are the smallest of the sums
_THIRD = 1 / 3
_SIZE = sqrt(_WEIGHT**2 + 1 + (1 - _THIRD) ** 2 + 1) * (1 + 2.0**-40)
_SHORT = 2.0  # standard deviations below which a sum says nothing


@final
@dataclass(frozen=True, slots=True)
class RegressionEvaluation:
    """What a private test says of a regression, with what noise alone can explain.

    Attributes:
        sums: Noisy sums over the rows of the test: of squared residuals, of targets, of
            their squares, and of ones; residuals and targets in halves of the range.
        y_bounds: The public bounds of the target.
        epsilon: What was paid.
        claim: The promise, as plain JSON.
    """

    sums: Floats
    y_bounds: tuple[float, float]
    epsilon: float
    claim: dict[str, Any]

    @property
    def rows(self) -> float:
        """Private number of rows of the test, at least 0."""
        return max(float(self.sums[3]), 0.0)

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared residual, in the target's unit.

        A residual beyond half the range of the target counts as half of it. None where
        too few rows stand out of the noise.
        """
        return self._rmse(self.sums)

    @property
    def r2(self) -> float | None:
        """Share of the target's variance that is predicted, at most 1.

        None where the spread of the target does not stand out of the noise.
        """
        return self._r2(self.sums)

    def rmse_interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """Return the range of the RMSE that noise alone can explain, not sampling."""
        return self._interval(self._rmse, confidence, (0.0, self._half))

    def r2_interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """Return the range of R² that noise alone can explain, not sampling."""
        return self._interval(self._r2, confidence, (-np.inf, 1.0))

    @property
    def _half(self) -> float:
        low, high = self.y_bounds
        return (high - low) / 2

    @property
    def _share(self) -> Pure:
        rows, person = self.claim["rows"], self.claim["unit"] == "person"
        neighbours = self.claim["neighbours"]
        price = read_price(self.claim["epsilon"], 0, neighbours, rows, persons=person)
        share = price.share()
        assert isinstance(share, Pure)  # noqa: S101  delta is 0
        return share

    @property
    def _doubt(self) -> float:
        return _SHORT * deviation(self._share, 4, length=_SIZE)

    def _rmse(self, sums: Floats) -> float | None:
        if self.sums[3] <= self._doubt:
            return None
        return self._half * sqrt(max(float(sums[0]), 0.0) / max(float(sums[3]), 1.0))

    def _r2(self, sums: Floats) -> float | None:
        spread = _spread(self.sums)
        if self.sums[3] <= self._doubt or spread <= self._doubt:
            return None
        return 1 - max(float(sums[0]), 0.0) / max(_spread(sums), spread / 10)

    def _interval(
        self, figure: Any, confidence: float, limits: tuple[float, float]
    ) -> tuple[float, float] | None:
        middle = figure(self.sums)
        if middle is None:
            return None
        again = [figure(self.sums + _drawn(self._share)) for _ in range(_DRAWS)]
        low, high = np.quantile(again, [(1 - confidence) / 2, (1 + confidence) / 2])
        away = max(middle - low, high - middle)
        return float(max(limits[0], middle - away)), float(
            min(limits[1], middle + away)
        )


def _spread(sums: Floats) -> float:
    """Return the sum of squares of the targets about their mean."""
    return float(sums[2]) - float(sums[1]) ** 2 / max(float(sums[3]), 1.0)


def _drawn(share: Pure) -> Floats:
    return _plain(noisy([0] * 4, share))


def _plain(noisy_sums: Floats) -> Floats:
    """Return the four sums in their own units: post-processing."""
    found: Floats = noisy_sums / UNIT * _SIZE / np.array([_WEIGHT, 1, 1, 1])
    found[2] += found[3] * _THIRD
    return found


def evaluate_regression(
    model: Any,
    X: Any,
    y: Any,
    *,
    epsilon: Amount | None,
    budget: Any,
    y_bounds: Any = None,
    neighbours: str = "add_remove",
    privacy_ids: Any = None,
    rows_per_person: int | None = None,
) -> RegressionEvaluation:
    r"""Test a fitted regression on private rows, and pay for it once.

    Formal guarantee: ε-DP for the rows of the test. A row changes the four sums of
    :math:`(2e^2, t, t^2 - 1/3, 1)`, with its residual e and its target t in halves of
    the target's range, each held within [-1, 1], together by a vector of bounded
    length: one spherical draw (the K-norm mechanism of the ball; Hardt, Talwar 2010).
    RMSE and R² follow from the noisy sums, free.

    The test rows must not be rows the model was fitted on, or both charges add up for
    them, as the ledger counts it.

    Args:
        model: A fitted regression. One that is not of this package is asked about one
            row at a time; where it refuses a row, the middle of the range is predicted.
        X: Features of the test rows.
        y: Their targets; a row whose target is missing does not count.
        epsilon: What to spend.
        budget: A `ModelBudget` or a `Session` that pays.
        y_bounds: Public ``(lower, upper)`` of the target; default the model's.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        privacy_ids: The person of each row.
        rows_per_person: How many rows of one person count.

    Raises:
        DeclarationError: An argument is wrong. Nothing was spent.
        BudgetExceededError: The budget refused. Nothing was spent.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import LinearRegression, ModelBudget, evaluate_regression
        >>> x = np.tile(np.linspace(-1, 1, 20), 200).reshape(-1, 1)
        >>> budget = ModelBudget("3")
        >>> model = LinearRegression("2", budget=budget, bounds=(-1, 1), y_bounds=(-1, 1))
        >>> model = model.fit(x, x[:, 0])
        >>> test = evaluate_regression(model, x, x[:, 0], epsilon="1", budget=budget)
        >>> test.r2 > 0.5, budget.left
        (True, Epsilon("0"))
    """
    price = read_price(
        epsilon, 0, neighbours, rows_per_person, persons=privacy_ids is not None
    )
    if not hasattr(model, "predict"):
        wrong_option("model", type(model).__name__, N_("give a fitted regression"))
    model = chosen(model)
    check_columns(model, X)
    span = _span(model, y_bounds)
    share = price.share()
    assert isinstance(share, Pure)  # noqa: S101  delta is 0
    target = one_column(y)
    check_consistent_length(X, target)
    persons = persons_of(privacy_ids, len(target))

    def look(kept: NDArray[np.bool_] | None) -> Floats:
        rows = _rows(model, X, target, span)
        sums = total([rows if kept is None else rows[kept]], 4)
        return _plain(noisy(sums, share))

    found, claim = examined(
        budget,
        price,
        ("evaluate_regression", type(model).__name__, span),
        describe(price.epsilon),
        look,
        persons,
    )
    bounds = (span.lower, span.upper)
    return RegressionEvaluation(found, bounds, float(price.epsilon.value), claim)


def _span(model: Any, y_bounds: Any) -> Span:
    given = getattr(model, "y_bounds_", None) if y_bounds is None else y_bounds
    if given is None:
        raise DeclarationError(
            N_("the bounds of the target are not declared"),
            hint=N_(
                "pass y_bounds=(lower, upper), or a schema that declares the target"
            ),
        )
    return two_bounds(given)


def targets_of(y: NDArray[Any], span: Span) -> tuple[Floats, NDArray[np.bool_]]:
    """Return targets in halves of the range, and which rows have one."""
    if y.dtype.kind in "fiub":
        there = ~np.isnan(y.astype(np.float64))
    else:
        there = np.array([_is_number(v) for v in y.tolist()], np.bool_)
    return numbers_of(y, span), there


def _is_number(value: Any) -> bool:
    try:
        return not np.isnan(float(value))
    except Exception:  # noqa: BLE001  no cell may raise an error
        return False


def _rows(model: Any, X: Any, y: NDArray[Any], span: Span) -> NDArray[np.int32]:
    """Return each row's part of the sums as whole numbers of length at most `UNIT`."""
    targets, there = targets_of(y, span)
    predicted = answers(model, "predict", X, len(y), 1)[:, 0]
    away = np.clip(numbers_of(predicted, span) - targets, -1, 1)
    parts = [_WEIGHT * away**2, targets, targets**2 - _THIRD, np.ones(len(targets))]
    rows = np.stack(parts, axis=1) / _SIZE
    rows[~there] = 0.0
    return lattice(rows)


@final
@dataclass(frozen=True, slots=True)
class OwnerRegressionEvaluation:
    """Exact figures about private rows: FOR THE OWNER'S EYES, never to publish.

    Attributes:
        rmse: The exact root of the mean squared residual.
        r2: The exact R².
    """

    rmse: float
    r2: float

    def __str__(self) -> str:
        """Say first that it is private."""
        figures = f"RMSE {self.rmse:.4g}, R² {self.r2:.4f}"
        return f"FOR THE OWNER'S EYES, NOT PRIVATE: {figures}"

    __repr__ = __str__


def evaluate_regression_for_owner(
    model: Any, X: Any, y: Any
) -> OwnerRegressionEvaluation:
    """Test a regression exactly: no guarantee, no charge, nothing of it may leave."""
    from sklearn.metrics import mean_squared_error, r2_score

    target = one_column(y).astype(np.float64)
    known = ~np.isnan(target)
    found = np.asarray(model.predict(X), np.float64).ravel()
    return OwnerRegressionEvaluation(
        sqrt(mean_squared_error(target[known], found[known])),
        float(r2_score(target[known], found[known])),
    )
