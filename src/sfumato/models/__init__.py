"""scikit-learn estimators under differential privacy (extra ``[models]``).

Every fit is charged to a `ModelBudget` before a row is looked at, by clones, folds,
threads and processes alike. Bounds, classes and missing codes are declared; noise is
exact; no attribute of a fitted model is computed from rows without being paid for.

Names load on first use, and need scikit-learn only then.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.errors import MissingExtraError
from sfumato.words import N_

if TYPE_CHECKING:
    from sfumato.models.additive import AdditiveClassifier
    from sfumato.models.bayes import GaussianNB
    from sfumato.models.budget import ModelBudget
    from sfumato.models.clusters import KMeans
    from sfumato.models.components import PCA
    from sfumato.models.declared import PrivacyLeakError, PrivacyLeakWarning
    from sfumato.models.evaluation import (
        Evaluation,
        OwnerEvaluation,
        evaluate,
        evaluate_for_owner,
    )
    from sfumato.models.linear import LinearRegression
    from sfumato.models.logistic import LogisticRegression
    from sfumato.models.plain import to_sklearn
    from sfumato.models.residuals import (
        OwnerRegressionEvaluation,
        RegressionEvaluation,
        evaluate_regression,
        evaluate_regression_for_owner,
    )
    from sfumato.models.scaler import StandardScaler
    from sfumato.models.search import PrivateSearchCV
    from sfumato.models.storage import load, save
    from sfumato.models.trees import DecisionTreeClassifier, RandomForestClassifier

_HOMES = {
    "additive": ("AdditiveClassifier",),
    "bayes": ("GaussianNB",),
    "budget": ("ModelBudget",),
    "clusters": ("KMeans",),
    "components": ("PCA",),
    "declared": (
        "PrivacyLeakError",
        "PrivacyLeakWarning",
    ),
    "evaluation": ("Evaluation", "OwnerEvaluation", "evaluate", "evaluate_for_owner"),
    "linear": ("LinearRegression",),
    "logistic": ("LogisticRegression",),
    "residuals": (
        "OwnerRegressionEvaluation",
        "RegressionEvaluation",
        "evaluate_regression",
        "evaluate_regression_for_owner",
    ),
    "search": ("PrivateSearchCV",),
    "scaler": ("StandardScaler",),
    "storage": ("load", "save"),
    "plain": ("to_sklearn",),
    "trees": (
        "DecisionTreeClassifier",
        "RandomForestClassifier",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "PCA",
    "AdditiveClassifier",
    "DecisionTreeClassifier",
    "Evaluation",
    "GaussianNB",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "ModelBudget",
    "OwnerEvaluation",
    "OwnerRegressionEvaluation",
    "PrivacyLeakError",
    "PrivacyLeakWarning",
    "PrivateSearchCV",
    "RandomForestClassifier",
    "RegressionEvaluation",
    "StandardScaler",
    "evaluate",
    "evaluate_for_owner",
    "evaluate_regression",
    "evaluate_regression_for_owner",
    "load",
    "save",
    "to_sklearn",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562)."""
    if name not in _HOME:
        msg = f"module 'sfumato.models' has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        import_module("sklearn")
    except ImportError:
        raise MissingExtraError(
            N_("models need scikit-learn, which is not installed"),
            hint=N_('install it with: pip install "sfumato[models]"'),
        ) from None
    value = getattr(import_module(f"sfumato.models.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names for tab completion."""
    return sorted({*globals(), *__all__})
