"""The demonstration: a project file and a public table that come with the package.

The table is the Pima Indians Diabetes data set (National Institute of Diabetes and
Digestive and Kidney Diseases; UCI Machine Learning Repository): 768 women of at least
21 years. It is public, so its budget is kept in memory and every run begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path

__all__ = ["EPSILON", "is_demo_folder", "prediction", "project_file", "table_file"]

NAME = "pima-demo"
EPSILON = "0.6"
# Clinical bounds, chosen before any run; 0 codes a missing value in five columns.
BOUNDS = ([0, 50, 40, 5, 0, 15, 0, 20], [15, 200, 120, 60, 400, 50, 1.5, 80])
CODED = [False, True, True, True, True, True, False, False]


@contextmanager
def project_file() -> Iterator[Path]:
    """Return the path of the demonstration's project file; its table lies beside it."""
    with as_file(files("sfumato") / "data") as folder:
        yield folder / "demo.toml"


@contextmanager
def table_file() -> Iterator[Path]:
    """Return the path of the project file of the demonstration's synthetic table."""
    with as_file(files("sfumato") / "data") as folder:
        yield folder / "demo-synthetic.toml"


def is_demo_folder(folder: Path) -> bool:
    """Tell whether the release in a folder was made by a demonstration.

    A second demonstration may overwrite the first, but never a steward's own release.
    """
    try:
        text = (folder / "release.json").read_text(encoding="utf-8")
        made = json.loads(text)["releases"]
        return all(r["claim"]["receipt"]["dataset"] == NAME for r in made)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def prediction(*, folds: int = 5) -> tuple[float, float] | None:
    """Predict diabetes from eight measurements: AUC at ε = 0.6, and without privacy.

    Each is the mean over five folds of the public table; bounds are clinical and fixed
    beforehand. None where scikit-learn is not installed.
    """
    if find_spec("sklearn") is None:
        return None
    import numpy as np
    from sklearn.linear_model import LogisticRegression as Plain
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    from sfumato.models import LogisticRegression, ModelBudget

    with (files("sfumato") / "data" / "diabetes.csv").open() as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    x, y = table[:, :8], table[:, 8].astype(int)
    budget = ModelBudget("1000", dataset=NAME)  # a public table: nobody's budget
    low, high = map(np.array, BOUNDS)
    middle = (low + high) / 2
    filled = np.where((x == 0) & CODED, middle, np.clip(x, low, high))
    scaled = (filled - middle) / (high - low) * 2
    found = []
    cut = StratifiedKFold(folds, shuffle=True, random_state=0)
    for train, test in cut.split(x, y):
        private = LogisticRegression(
            EPSILON,
            budget=budget,
            bounds=BOUNDS,
            missing=[0 if c else None for c in CODED],
            classes=[0, 1],
        ).fit(x[train], y[train])
        plain = Plain(max_iter=500).fit(scaled[train], y[train])
        pair = private.decision_function(x[test]), plain.decision_function(scaled[test])
        found.append([roc_auc_score(y[test], scores) for scores in pair])
    ours, theirs = np.mean(found, axis=0)
    return float(ours), float(theirs)
