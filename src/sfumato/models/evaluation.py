"""How good a model is on private rows: one noisy table, from which the rest follows."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from sfumato.account import Geometric, describe
from sfumato.amount import Amount
from sfumato.errors import DeclarationError
from sfumato.models.answers import answers, chosen, truths
from sfumato.models.door import Floats, counts
from sfumato.models.examination import check_columns, examined
from sfumato.models.given import one_column
from sfumato.models.options import wrong_option
from sfumato.models.price import Pure, read_price
from sfumato.models.table import labels_of, persons_of
from sfumato.words import N_

__all__ = [
    "Calibration",
    "Evaluation",
    "OwnerEvaluation",
    "evaluate",
    "evaluate_for_owner",
]

_DRAWS = 2000
_MOST_BINS = 10_000


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """One range of predicted probability.

    Attributes:
        low: Lower end of the range.
        high: Upper end.
        rows: Private number of rows in it.
        share: Private share of the second class among them; none when too few to tell.
    """

    low: float
    high: float
    rows: float
    share: float | None


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a private test says, with what noise alone can explain.

    Attributes:
        classes: The classes.
        cells: Noisy counts: rows of class k (first index) predicted in bin b.
        edges: Ends of the bins of the second class's probability; empty for several
            classes, whose bins are the predicted classes.
        epsilon: What one row's part was worth: the ε that was paid, over the rows of
            one person.
        claim: The promise, as plain JSON.
    """

    classes: tuple[Any, ...]
    cells: Floats
    edges: tuple[float, ...]
    epsilon: float
    claim: dict[str, Any]

    @property
    def auc(self) -> float:
        """Area under the ROC curve: the chance that a case is scored above a control."""
        self._binary()
        return _auc(self.cells)

    def auc_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the range of the AUC that noise alone can explain, not sampling.

        The middle outcomes of what was measured less noise that is drawn afresh, one
        standard error of their rank wider. Cells below 0 stay: as 0 they would draw the
        AUC to 1/2. Where a draw leaves no case or no control, any AUC may be true.
        """
        self._binary()
        share = Pure(read_price(self.epsilon, 0, "add_remove").epsilon, self._changes)
        zero = np.zeros((_DRAWS, *self.cells.shape), np.int64)
        drawn = self.cells - counts(zero, share)
        controls, cases = drawn[:, 0], drawn[:, 1]
        below = np.cumsum(controls, axis=1) - controls / 2
        sizes = controls.sum(axis=1), cases.sum(axis=1)
        none = np.minimum(*sizes) < 1
        found = np.clip(
            (cases * below).sum(axis=1) / np.where(none, 1, np.prod(sizes, axis=0)),
            0,
            1,
        )
        beyond = (1 - confidence) / 2
        rank = max(0, int(_DRAWS * beyond - sqrt(_DRAWS * beyond * (1 - beyond))))
        low = np.sort(np.where(none, 0.0, found))[rank]
        high = np.sort(np.where(none, 1.0, found))[-1 - rank]
        return min(float(low), self.auc), max(float(high), self.auc)

    @property
    def confusion(self) -> Floats:
        """Private counts of (true class, predicted class), at least 0."""
        if not self.edges:
            whole: Floats = np.maximum(self.cells, 0)
            return whole
        half = len(self.edges) // 2
        parts = [self.cells[:, :half].sum(axis=1), self.cells[:, half:].sum(axis=1)]
        found: Floats = np.maximum(np.stack(parts, axis=1), 0)
        return found

    @property
    def rows(self) -> float:
        """Private number of rows of the test, at least 0."""
        return max(float(self.cells.sum()), 0.0)

    @property
    def expected_auc(self) -> float:
        """The AUC there would be if the predicted probabilities were true.

        Of the noisy cells, free: each row counts as a case with the probability in the
        middle of its bin. What was measured should not lie far from it.
        """
        self._binary()
        rows = np.maximum(self.cells, 0).sum(axis=0)
        middles = (np.array(self.edges[:-1]) + np.array(self.edges[1:])) / 2
        return _auc(np.stack([rows * (1 - middles), rows * middles]))

    @property
    def accuracy(self) -> float:
        """Private share of rows whose class was predicted."""
        found = self.confusion
        return float(np.trace(found) / max(found.sum(), 1.0))

    @property
    def calibration(self) -> tuple[Calibration, ...]:
        """Private share of the second class, by predicted probability."""
        self._binary()
        doubt = float(Geometric(self._changes, str(self.epsilon)).error(0.95))
        found = []
        for b, (low, high) in enumerate(zip(self.edges, self.edges[1:], strict=False)):
            rows = float(self.cells[:, b].sum())
            share = None
            if rows > 2 * doubt:
                share = float(np.clip(self.cells[1, b] / rows, 0, 1))
            found.append(Calibration(low, high, max(rows, 0.0), share))
        return tuple(found)

    @property
    def _changes(self) -> int:
        return 2 if self.claim["neighbours"] == "replace_one" else 1

    def _binary(self) -> None:
        if not self.edges:
            raise DeclarationError(
                N_("this figure needs two classes"),
                hint=N_("use confusion and accuracy for several classes"),
            )


def _auc(cells: Floats) -> float:
    kept = np.maximum(cells, 0.0)
    controls, cases = kept
    below = np.cumsum(controls) - controls / 2
    pairs = float(controls.sum() * cases.sum())
    return float(cases @ below) / pairs if pairs else 0.5


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    epsilon: Amount | None,
    budget: Any,
    bins: Any = 20,
    neighbours: str = "add_remove",
    privacy_ids: Any = None,
    rows_per_person: int | None = None,
) -> Evaluation:
    """Test a fitted classifier on private rows, and pay for it once.

    Formal guarantee: ε-DP for the rows of the test. A row adds one to one cell of
    (class, bin of the predicted probability); geometric noise on every cell. AUC,
    confusion, accuracy and calibration all follow from the noisy cells, free.

    The test rows must not be rows the model was fitted on, or both charges add up for
    them, as the ledger counts it.

    Args:
        model: A fitted classifier with ``predict_proba`` and ``classes_``. One that is
            not of this package is asked about one row at a time; where it refuses a row,
            the row counts as predicted with probability 0.
        X: Features of the test rows.
        y: Their labels; a row with any other label does not count.
        epsilon: What to spend.
        budget: A `ModelBudget` or a `Session` that pays.
        bins: Even number of ranges of probability, at most 10,000.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        privacy_ids: The person of each row.
        rows_per_person: How many rows of one person count.

    Raises:
        DeclarationError: An argument is wrong. Nothing was spent.
        BudgetExceededError: The budget refused. Nothing was spent.

    Examples:
        >>> import numpy as np
        >>> from sfumato.models import LogisticRegression, ModelBudget, evaluate
        >>> x = np.tile(np.linspace(-1, 1, 20), 100).reshape(-1, 1)
        >>> y = (x[:, 0] > 0).astype(int)
        >>> budget = ModelBudget("3")
        >>> model = LogisticRegression("2", budget=budget, bounds=(-1, 1), classes=[0, 1])
        >>> test = evaluate(model.fit(x, y), x, y, epsilon="1", budget=budget)
        >>> test.auc > 0.9, budget.left
        (True, Epsilon("0"))
    """
    price = read_price(
        epsilon, 0, neighbours, rows_per_person, persons=privacy_ids is not None
    )
    if not isinstance(bins, int) or not 2 <= bins <= _MOST_BINS or bins % 2:  # noqa: PLR2004
        wrong_option("bins", bins, N_("write an even number, such as 20"))
    if not hasattr(model, "predict_proba"):
        wrong_option(
            "model",
            type(model).__name__,
            N_("give a fitted classifier; evaluate_regression tests a regression"),
        )
    model = chosen(model)
    check_columns(model, X)
    if not hasattr(model, "classes_"):
        wrong_option("model", type(model).__name__, N_("give a fitted classifier"))
    share = price.share()
    assert isinstance(share, Pure)  # noqa: S101  delta is 0
    target = one_column(y)
    check_consistent_length(X, target)
    persons = persons_of(privacy_ids, len(target))
    cells, claim = examined(
        budget,
        price,
        ("evaluate", type(model).__name__, bins),
        describe(Geometric(share.changes * price.rows, price.epsilon)),
        lambda kept: counts(_cells(model, X, target, bins, kept), share),
        persons,
    )
    binary = len(model.classes_) == 2  # noqa: PLR2004
    edges = tuple(np.linspace(0, 1, bins + 1).tolist()) if binary else ()
    return Evaluation(
        tuple(np.asarray(model.classes_).tolist()),
        cells,
        edges,
        float(share.epsilon.value),
        claim,
    )


def _cells(
    model: Any, X: Any, y: NDArray[Any], bins: int, kept: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Return exact counts of (class, bin): one cell per row."""
    truth = truths(model, y)
    classes = len(model.classes_)
    binary = classes == 2  # noqa: PLR2004
    bins = bins if binary else classes
    found = np.nan_to_num(answers(model, "predict_proba", X, len(y), classes))
    if binary:
        place = np.clip((found[:, 1] * bins).astype(np.int64), 0, bins - 1)
    else:
        place = found.argmax(axis=1)
    counted = truth >= 0 if kept is None else (truth >= 0) & kept
    cells = np.zeros((classes, bins), np.int64)
    np.add.at(cells, (truth[counted], place[counted]), 1)
    return cells


@final
@dataclass(frozen=True, slots=True)
class OwnerEvaluation:
    """Exact figures about private rows: FOR THE OWNER'S EYES, never to publish.

    Attributes:
        cells: Exact counts, as `Evaluation.cells`.
        auc: The exact area under the ROC curve; none for several classes.
        accuracy: The exact accuracy.
    """

    cells: NDArray[np.int64]
    auc: float | None
    accuracy: float

    def __str__(self) -> str:
        """Say first that it is private."""
        auc = "" if self.auc is None else f", AUC {self.auc:.4f}"
        return f"FOR THE OWNER'S EYES, NOT PRIVATE: accuracy {self.accuracy:.4f}{auc}"

    __repr__ = __str__


def evaluate_for_owner(
    model: Any, X: Any, y: Any, *, bins: int = 20
) -> OwnerEvaluation:
    """Test a model exactly: no guarantee, no charge, and nothing of it may leave."""
    from sklearn.metrics import roc_auc_score

    target = one_column(y)
    truth = truths(model, target)
    auc = None
    if len(model.classes_) == 2:  # noqa: PLR2004
        known = truth >= 0
        scores = np.asarray(model.predict_proba(X))[:, 1]
        auc = float(roc_auc_score(truth[known], scores[known]))
    right = labels_of(np.asarray(model.predict(X)), model.classes_) == truth
    return OwnerEvaluation(
        _cells(model, X, target, bins, None), auc, float(right.mean())
    )
