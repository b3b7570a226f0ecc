"""What every private classifier is, whatever its rule."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from sfumato.models.door import Floats
from sfumato.models.estimator import PrivateEstimator

__all__ = ["PrivateClassifier"]


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """An estimator of labels that gives probabilities.

    Attributes:
        classes_: The declared classes, sorted.
    """

    _wants: ClassVar[Literal["labels", "number", "nothing"]] = "labels"

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            found: Floats = np.log(self.predict_proba(X))
        return found

    def __sklearn_tags__(self) -> Any:
        """Say that a noisy model may score badly on a tiny table."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
