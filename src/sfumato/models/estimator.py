"""The frame of every estimator: check what is public, pay, then look at rows.

In this order, whatever the model: privacy parameters, declarations and the shape of the
table are checked; the ledger is debited, durably; only then is a row looked at. After
the debit an error has one fixed text.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sfumato import noise
from sfumato.account import Loss
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.errors import DeclarationError, quoted
from sfumato.models.budget import read_budget
from sfumato.models.claim import claim_of
from sfumato.models.declared import Leaks, Span, classes_of, feature_facts, spelt
from sfumato.models.door import Floats
from sfumato.models.given import one_column
from sfumato.models.options import two_bounds
from sfumato.models.price import Price, read_price, rows_counted
from sfumato.models.progress import watching
from sfumato.models.table import (
    Columns,
    Encoder,
    as_columns,
    count_chunks,
    first_rows,
    labels_of,
    numbers_of,
    persons_of,
    spans_of_rows,
)
from sfumato.models.work import Work
from sfumato.secret import Quiet
from sfumato.words import N_

__all__ = ["Facts", "Job", "PrivateEstimator"]


@final
@dataclass(frozen=True, slots=True)
class Facts:
    """What is public of a fit.

    Attributes:
        encoder: Of the features.
        classes: The declared classes, sorted; none without labels.
        span: Bounds of a numeric target; none without.
    """

    encoder: Encoder
    classes: NDArray[Any] | None = None
    span: Span | None = None


@final
@dataclass(frozen=True, slots=True)
class Job:
    """What a fit will do, known before any row is looked at.

    Attributes:
        mechanisms: Descriptors for the ledger, exactly what will be drawn.
        run: Looks at the rows and returns the fitted attributes.
        passes: How often the rows are gone through; 0 where that is not known before.
        steps: Steps beside these, for the line that tells how far a fit is.
    """

    mechanisms: Sequence[Mapping[str, object]]
    run: Callable[[Work], Mapping[str, Any]]
    passes: int = 0
    steps: int = 0


@final
@dataclass(frozen=True, slots=True)
class _Checked:
    """A fit of which all has been checked, and no row looked at."""

    price: Price
    leaks: Leaks
    facts: Facts
    job: Job
    table: Columns
    target: NDArray[Any] | None
    kept: NDArray[np.bool_] | None


class PrivateEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """What all estimators share; each names its own arguments.

    An estimator says what it wants of y (`_wants`), which arguments it has (a plain
    ``__init__``, as scikit-learn asks) and what a fit does (`_job`). The rest is here.

    Attributes:
        privacy_spent_: What the fit was charged, in the budget's currency.
        privacy_claim_: What is promised, as plain JSON.
    """

    epsilon: Any
    delta: Any
    budget: Any
    bounds: Any
    missing: Any
    schema: Any
    neighbours: str | None
    rows_per_person: int | None
    on_leak: str
    classes: Any = None
    y_bounds: Any = None
    target: str | None = None

    _target_name: Any = None
    _least_rows: int = 1
    _wants: ClassVar[Literal["labels", "number", "nothing"]] = "nothing"

    @abstractmethod
    def _job(self, facts: Facts, price: Price) -> Job:
        """Check the model's own arguments and return what will be done."""

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Keep the arguments of ``__init__`` as they are: they are checked by a fit."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def fit(self, X: Any, y: Any = None, privacy_ids: Any = None) -> Self:
        """Pay, then fit.

        Args:
            X: Features, in the unit of the declared bounds.
            y: Labels of a classifier, numbers of a regression; else it is ignored. A
                number that is missing counts as the middle of its bounds.
            privacy_ids: The person of each row, to protect persons with several rows (a
                row without one does not count); route it with ``set_fit_request(privacy_ids=True)``.

        Raises:
            DeclarationError: An argument or a fact is missing. Nothing was spent.
            BudgetExceededError: The budget refused. Nothing was spent.
            ValueError: The table has no row, or another shape. Nothing was spent.
            EngineError: The fit failed. The debit stands.
        """
        return self._fit(X, y, privacy_ids)

    def _encoder(self, features: Any) -> Encoder:
        return Encoder(features)

    def _check(self, X: Any, y: Any, privacy_ids: Any = None) -> _Checked:
        """Check all that can be refused; looks at no row and spends nothing."""
        leaks, price = Leaks(self.on_leak), self._price(privacy_ids)
        table, target = self._read_table(X, y), self._read_target(y)
        if target is not None:
            check_consistent_length(X, target)
        facts = self._facts(table, target, leaks)
        job = self._job(facts, price)
        kept = self._kept(privacy_ids, table, price)
        return _Checked(price, leaks, facts, job, table, target, kept)

    def _fit(self, X: Any, y: Any, privacy_ids: Any) -> Self:
        budget = read_budget(self.budget)
        ready = self._check(X, y, privacy_ids)
        price, leaks, facts = ready.price, ready.leaks, ready.facts
        budget.check(price)
        loss = price.loss(budget.measure)
        told = _described(ready.job, price)
        paid = budget.pay(loss, plan=self._digest(facts, price), descriptor=told)
        leaks.tell()
        private = noise.default().secure and not leaks.found
        for name, value in _sealed(ready, type(self).__name__).items():
            setattr(self, name, value)
        self.features_ = facts.encoder.features
        if facts.classes is not None:
            self.classes_ = facts.classes
        self.privacy_spent_: Loss | float = loss if not leaks.found else float("inf")
        self.privacy_claim_ = claim_of(price, loss, paid, private=private)
        return self

    def _price(self, privacy_ids: Any) -> Price:
        schema = self.schema
        if schema is not None and not isinstance(schema, Schema):
            raise DeclarationError(
                N_("schema must be a Schema, got {value}"),
                hint=N_('write sf.Schema({{"Age": sf.Integer(0, 120)}})'),
                value=type(schema).__name__,
            )
        persons, rows = privacy_ids is not None, self.rows_per_person
        if schema is not None:
            rows = rows_counted(schema.unit, rows, persons=persons)
        told = self.neighbours
        if told is None:
            told = self.schema.unit.neighbours if self.schema else "add_remove"
        elif self.schema and self.schema.unit.neighbours != told:
            raise DeclarationError(
                N_("the schema declares {schema} neighbours, the estimator {own}"),
                hint=N_("leave neighbours out of the estimator"),
                schema=self.schema.unit.neighbours,
                own=quoted(told),
            )
        return read_price(self.epsilon, self.delta, told, rows, persons=persons)

    def _read_table(self, X: Any, y: Any) -> Columns:
        name = type(self).__name__
        table = as_columns(X, name, least=self._least_rows)
        validate_data(self, X, reset=True, skip_check_array=True)
        if y is None and self._wants != "nothing":
            message = (
                f"This {name} estimator requires y to be passed, "
                "but the target y is None."
            )
            raise ValueError(message)
        return table

    def _read_target(self, y: Any) -> NDArray[Any] | None:
        if self._wants == "nothing" or y is None:
            return None
        self._target_name = getattr(y, "name", None)
        return self.labels_read(one_column(y, warn=True))

    def labels_read(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return labels with each spelling of a declared boolean as its class."""
        column = self._target_column() if self.classes is None else None
        return spelt(y, column) if isinstance(column, Boolean) else y

    def _facts(self, table: Columns, y: NDArray[Any] | None, leaks: Leaks) -> Facts:
        names = getattr(self, "feature_names_in_", None)
        target = self._target()
        if self.schema is not None and names is not None and target in names:
            raise DeclarationError(
                N_("the target {name} cannot be a feature too"),
                hint=N_("leave it out of features"),
                name=repr(target),
            )
        features = feature_facts(
            None if names is None else [str(n) for n in names],
            table.width,
            self.schema,
            self.bounds,
            self.missing,
        )
        if features is None:
            leaks.need(
                "bounds",
                N_("the bounds of the features are not declared"),
                N_(
                    "pass bounds=(lower, upper) or a schema; public facts, not from rows"
                ),
            )
            features = spans_of_rows(table)
        encoder = self._encoder(features)
        if self._wants == "labels":
            return Facts(encoder, classes=self._classes(y, leaks))
        if self._wants == "number":
            return Facts(encoder, span=self._span(y, leaks))
        return Facts(encoder)

    def _classes(self, y: Any, leaks: Leaks) -> NDArray[Any]:
        declared = self.classes
        if declared is None:
            column = self._target_column()
            if isinstance(column, Category | Boolean):
                declared = classes_of(column)
        if declared is None:
            leaks.need(
                "classes",
                N_("the classes are not declared"),
                N_("pass classes=[0, 1], or a schema that declares the target"),
            )
            _refuse_endless(y)
            check_classification_targets(y)
            declared = y
        classes = _sorted(declared)
        if len(classes) < 2:  # noqa: PLR2004
            raise DeclarationError(
                N_("a classifier needs at least two classes, got one class or none"),
                hint=N_("declare all classes that may occur, such as classes=[0, 1]"),
            )
        return classes

    def _span(self, y: Any, leaks: Leaks) -> Span:
        column = self._target_column()
        if self.y_bounds is not None:
            return two_bounds(self.y_bounds)
        if isinstance(column, Real | Integer):
            return Span(column.lower, column.upper, column.missing)
        leaks.need(
            "y_bounds",
            N_("the bounds of the target are not declared"),
            N_("pass y_bounds=(lower, upper), or a schema that declares the target"),
        )
        _refuse_endless(y)
        low, high = float(y.min()), float(y.max())
        return Span(low, high) if low < high else Span(low - 1, low + 1)

    def _target(self) -> str | None:
        if self._wants == "nothing":
            return None
        name = self.target if self.target is not None else self._target_name
        return None if name is None else str(name)

    def _target_column(self) -> Any:
        name = self._target()
        if self.schema is None or name is None:
            return None
        return self.schema[name]

    def _kept(self, ids: Any, table: Columns, price: Price) -> NDArray[np.bool_] | None:
        owners = persons_of(ids, len(table))
        return None if owners is None else first_rows(owners, price.rows)

    def _digest(self, facts: Facts, price: Price) -> str:
        own = self.get_params(deep=False)
        told = sorted((k, repr(v)) for k, v in own.items() if k != "budget")
        text = repr((type(self).__name__, told, facts, price))
        return hashlib.sha256(text.encode()).hexdigest()

    def _blocks(self, X: Any, *, clip: bool) -> Iterator[Floats]:
        """Iterate over encoded rows of a table to predict for."""
        check_is_fitted(self)
        table = as_columns(X, type(self).__name__)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._encoder(self.features_).chunks(table, clip=clip)

    def __sklearn_tags__(self) -> Any:
        """Say that cells may be missing and that a fit is random."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


def _sorted(classes: Any) -> NDArray[Any]:
    try:
        return np.unique(np.asarray(classes))
    except (TypeError, ValueError):
        raise DeclarationError(
            N_("the classes are of kinds that cannot be sorted"),
            hint=N_("declare numbers only, or texts only; a missing label is no class"),
        ) from None


def _refuse_endless(y: NDArray[Any]) -> None:
    """Refuse a target that is to be read for facts, in scikit-learn's words."""
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        message = "Input y contains NaN, infinity or a value too large."
        raise ValueError(message)


def _described(job: Job, price: Price) -> str:
    told = {
        "version": 1,
        "unit": "person" if price.persons else "row",
        "neighbours": price.neighbours,
        "rows": price.rows,
        "mechanisms": [price.described()] if price.rows > 1 else list(job.mechanisms),
    }
    return json.dumps(told, sort_keys=True)


def _sealed(ready: _Checked, name: str) -> Mapping[str, Any]:
    """Look at the rows; whatever goes wrong has one fixed text."""
    job = ready.job
    total = job.passes * count_chunks(len(ready.table)) + job.steps
    seen = watching(name, total if job.passes else None)
    with Quiet() as work, seen, np.errstate(all="ignore"):
        return job.run(_work(ready))
    raise work.stop


def _work(ready: _Checked) -> Work:
    facts, y, kept = ready.facts, ready.target, ready.kept
    target: NDArray[np.float64] = np.empty(0)
    if facts.classes is not None:
        places = labels_of(np.asarray(y), facts.classes)
        target = places.astype(np.float64)
        counted = places >= 0
        if not counted.all():
            kept = counted if kept is None else kept & counted
    elif facts.span is not None:
        target = numbers_of(np.asarray(y), facts.span)
    return Work(ready.table, facts.encoder, target, kept)
