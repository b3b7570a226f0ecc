"""The ``[[models]]`` of a project file: what shall be learned, and what it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sfumato.account import Loss as Price
from sfumato.account import Measure
from sfumato.declare.unit import Rows, Unit
from sfumato.errors import ProjectError
from sfumato.models.price import read_price
from sfumato.project.value import Delta, Loss, Strict, Title
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.models.training import Order

__all__ = ["ModelTable", "order_of", "price_of", "refuse_names"]

_LONGEST = 200  # bytes of a name, for file systems allow about 255 with its endings


class ModelTable(Strict):
    """One model for ``sfumato train``."""

    name: str = Field(min_length=1, description="Short name; files are called after it")
    title: Title | None = Field(default=None, description="Title of the model card")
    estimator: Literal[
        "LogisticRegression", "AdditiveClassifier", "GaussianNB",
        "RandomForestClassifier", "DecisionTreeClassifier", "LinearRegression",
    ] = "LogisticRegression"  # fmt: skip
    target: str = Field(description="The column to predict")
    features: list[str] = Field(
        default_factory=list, description="Default: all other declared columns"
    )
    epsilon: Loss = Field(description="What the fit costs")
    delta: Delta = Field(default=None, description="δ of the fit; none for pure ε")
    options: dict[str, Any] = Field(
        default_factory=dict, description="Further arguments of the estimator"
    )
    test_share: float = Field(
        default=0.25, gt=0, lt=1, description="Share of rows kept for the private test"
    )
    test_epsilon: Loss = Field(
        default=None, description="What the private test costs; none for no test"
    )
    expected: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="AUC or R² without privacy, as others found it: for the card",
    )
    rows: int | None = Field(
        default=None, ge=1, description="About how many rows there are: a public guess"
    )
    intended_use: Title | None = Field(default=None, description="For the card")


def order_of(wish: ModelTable) -> Order:
    """Return what a project wants to learn as an order, which needs scikit-learn."""
    from sfumato.models.training import Order

    return Order(
        estimator=wish.estimator,
        target=wish.target,
        features=tuple(wish.features),
        epsilon=wish.epsilon,
        delta=wish.delta,
        options=wish.options,
        test_share=wish.test_share,
        test_epsilon=wish.test_epsilon,
        hoped=wish.expected,
        rows=wish.rows,
    )


def price_of(wish: ModelTable, unit: Rows | Unit, measure: Measure) -> Price:
    """Return what the fit and the private test of a model cost together.

    Args:
        wish: The model.
        unit: Who is protected.
        measure: The currency of the budget.

    Raises:
        DeclarationError: The budget cannot pay for such noise. Nothing was spent.
    """
    persons = isinstance(unit, Unit)
    rows = unit.max_rows if persons else None
    asked = [(wish.epsilon, wish.delta or 0)]
    if wish.test_epsilon is not None:
        asked.append((wish.test_epsilon, 0))
    first, *rest = (
        read_price(epsilon, delta, unit.neighbours, rows, persons=persons).loss(measure)
        for epsilon, delta in asked
    )
    for loss in rest:
        first = first + loss  # type: ignore[operator]  # one currency
    return first


def refuse_names(names: Sequence[str], file: str) -> None:
    """Refuse names of models that files cannot bear, before anything is paid for them.

    Raises:
        ProjectError: Two models have one name, or a name is no name of a file.
    """
    for name in names:
        if names.count(name) > 1:
            raise ProjectError(
                N_("{file}: two models are called {name}"),
                hint=N_("give each model a name of its own"),
                file=file,
                name=repr(name),
            )
        usual = name.isprintable() and not set(name) & set("/\\")
        if not usual or len(name.encode()) > _LONGEST:
            raise ProjectError(
                N_("{file}: {name} cannot be the name of a file"),
                hint=N_("give the model a short name without / and other such signs"),
                file=file,
                name=repr(name[:60]),
            )
