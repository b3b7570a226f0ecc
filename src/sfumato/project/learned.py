"""The ``[[models]]`` of a project file: what shall be learned, and what it may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sfumato.project.value import Delta, Loss, Strict, Title

if TYPE_CHECKING:
    from sfumato.models.training import Order

__all__ = ["ModelTable", "order_of"]


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
