"""Private models beside scikit-learn, diffprivlib and DP-EBM (interpret), in one run.

Pima with clinical bounds fixed beforehand: 5 x 5 repeated stratified folds, several
noise seeds each; k-means and PCA on the whole table; linear regression on
scikit-learn's diabetes table. Then time and memory. `models.py` runs it in an
environment that has the peers; what is missing is skipped with a printed line.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from importlib import import_module, metadata, resources
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

import sfumato as sf
from sfumato import models
from sfumato.models.table import Columns, Encoder

CLINICAL = ([0, 50, 40, 5, 0, 15, 0, 20], [15, 200, 120, 60, 400, 50, 1.5, 80])
LAZY = ([0, 0, 0, 0, 0, 10, 0, 18], [20, 300, 180, 100, 900, 80, 3, 100])
CODES = [None, 0, 0, 0, 0, 0, None, None]
REGRESSION = (
    [18, 1, 15, 60, 90, 40, 20, 2, 3, 55],
    [80, 2, 45, 135, 300, 245, 100, 9, 6.2, 125],
)
DELTA = "1e-5"


def pima() -> tuple[np.ndarray, np.ndarray]:
    """Return the packaged table."""
    text = resources.files("sfumato").joinpath("data/diabetes.csv").read_text("utf-8")
    rows = np.array([r.split(",") for r in text.splitlines()[1:]], float)
    return rows[:, :8], rows[:, 8].astype(int)


def scores(model, x):
    """Return what ranks rows."""
    if hasattr(model, "decision_function"):
        return model.decision_function(x)
    return np.nan_to_num(model.predict_proba(x)[:, 1], nan=0.5)


class Bench:
    """The table, its folds, and a purse that never ends."""

    def __init__(self, seeds: int, repeats: int) -> None:
        self.x, self.y = pima()
        self.seeds, self.repeats = seeds, repeats
        self.purse = models.ModelBudget(sf.ZCDP("4000000"), dataset="bench")
        self.lines: list[str] = []

    def facts(self, bounds=CLINICAL, **more):
        """Return public facts of Pima as arguments."""
        return {"budget": self.purse, "bounds": bounds, "missing": CODES, **more}

    def scaled(self, bounds=CLINICAL):
        """Return features scaled by their bounds, as peers need them."""
        probe = models.LogisticRegression("1", **self.facts(bounds, classes=[0, 1]))
        return Encoder(probe.fit(self.x, self.y).features_).encode(
            Columns(self.x), slice(None)
        )

    def aucs(self, make, x=None, seeds=None, repeats=None):
        """Return the AUC of every fold, averaged over seeds: shape (folds,)."""
        x = self.x if x is None else x
        folds = RepeatedStratifiedKFold(
            n_splits=5, n_repeats=repeats or self.repeats, random_state=0
        )
        found = []
        for train, test in folds.split(x, self.y):
            each = [
                roc_auc_score(
                    self.y[test], scores(make().fit(x[train], self.y[train]), x[test])
                )
                for _ in range(seeds or self.seeds)
            ]
            found.append(np.mean(each))
        return np.array(found)

    def row(
        self, what: str, value: float, bar: str, passed, error: float = 0.0
    ) -> None:
        """Add a line to the table and print it."""
        mark = "" if passed is None else ("yes" if passed else "**no**")
        spread = f" ± {error:.4f}" if error else ""
        self.lines.append(f"| {what} | {value:.4f}{spread} | {bar} | {mark} |")
        print(self.lines[-1], flush=True)

    def auc_row(self, what: str, make, least: float, **options):
        """Measure and add a classifier; return its AUC per fold."""
        found = self.aucs(make, **options)
        error = found.std() / np.sqrt(len(found))
        self.row(what, found.mean(), f"≥ {least}", found.mean() >= least, error)
        return found


def classifiers(b: Bench) -> None:
    """Logistic regression in its settings, and the others at 0.6."""
    facts = b.facts(classes=[0, 1])
    unit = b.scaled()
    plain = b.aucs(lambda: PlainLogistic(C=1, max_iter=500), x=unit, seeds=1)
    b.row("no privacy: scikit-learn LogisticRegression, AUC", plain.mean(), "", None)
    logistic = models.LogisticRegression
    for epsilon, least in (("0.3", 0.81), ("0.6", 0.826), ("1", 0.83)):
        found = b.auc_row(
            f"LogisticRegression, pure ε = {epsilon}, AUC",
            lambda e=epsilon: logistic(e, **facts), least,
        )  # fmt: skip
        if epsilon == "0.6":
            drop = (plain - found).mean()
            b.row("paired drop to no privacy at 0.6", drop, "≤ 0.015", drop <= 0.015)
            ours = found.mean()
    for epsilon, least in (("0.3", 0.81), ("0.6", 0.824), ("1", 0.83)):
        b.auc_row(
            f"LogisticRegression, δ = 1e-5, ε = {epsilon}, AUC",
            lambda e=epsilon: logistic(e, DELTA, **facts), least,
        )  # fmt: skip
    # A budget is about one relation of neighbours.
    other = models.ModelBudget(sf.ZCDP("4000000"), dataset="replaced")
    replaced = {**facts, "neighbours": "replace_one", "budget": other}
    for delta, name in ((0, "pure"), (DELTA, "δ = 1e-5")):
        b.auc_row(
            f"the same, replace-one, {name}, ε = 0.6, AUC",
            lambda d=delta: logistic("0.6", d, **replaced), 0.812,
        )  # fmt: skip
    lazy = b.facts(LAZY, classes=[0, 1])
    b.auc_row(
        "lazy wide bounds, δ = 1e-5, ε = 0.6, AUC",
        lambda: logistic("0.6", DELTA, **lazy), 0.815,
    )  # fmt: skip
    peers_of_logistic(b, unit, ours)
    additive = b.auc_row(
        "AdditiveClassifier, δ = 1e-5, ε = 0.6, AUC",
        lambda: models.AdditiveClassifier("0.6", DELTA, **facts), 0.82,
    )  # fmt: skip
    boosted(b, additive.mean())
    b.auc_row(
        "GaussianNB, pure, ε = 0.6, AUC", lambda: models.GaussianNB("0.6", **facts), 0.8
    )
    peer(b, "GaussianNB", lambda m: m.GaussianNB(epsilon=0.6, bounds=(-1, 1)), unit)
    b.auc_row(
        "RandomForest, pure, ε = 0.6, AUC",
        lambda: models.RandomForestClassifier("0.6", **facts), 0.76,
    )  # fmt: skip
    forest = {"epsilon": 0.6, "bounds": (-1, 1), "classes": (0, 1)}
    peer(b, "RandomForest", lambda m: m.RandomForestClassifier(**forest), unit, seeds=1)


def peer(b: Bench, name: str, make, x, seeds=None):
    """Add diffprivlib's model of a kind, if it is there; return its mean AUC."""
    try:
        peers = import_module("diffprivlib.models")
    except ImportError as error:
        print("skipped diffprivlib:", error)
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = b.aucs(lambda: make(peers), x=x, seeds=seeds or max(b.seeds // 2, 1))
    b.row(f"— diffprivlib {name}, default, ε = 0.6, AUC", found.mean(), "", None)
    return found.mean()


def peers_of_logistic(b: Bench, unit, ours: float) -> None:
    """Compare with diffprivlib's logistic regression at its defaults."""
    norm = float(np.sqrt(8))
    theirs = peer(
        b, "LogisticRegression",
        lambda m: m.LogisticRegression(epsilon=0.6, data_norm=norm), unit,
    )  # fmt: skip
    if theirs is not None:
        b.row("ours above it", ours - theirs, "≥ 0.10", ours - theirs >= 0.10)


def boosted(b: Bench, ours: float) -> None:
    """Compare with DP-EBM at its defaults and the same public bounds."""
    try:
        kind = import_module("interpret.privacy").DPExplainableBoostingClassifier
    except ImportError as error:
        print("skipped interpret:", error)
        return
    bounds = np.array([[-1.0, 1.0]] * 8)
    types = ["continuous"] * 8

    def make():
        return kind(
            epsilon=0.6,
            delta=1e-5,
            privacy_bounds=bounds,
            feature_types=types,
            n_jobs=1,
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = b.aucs(make, x=b.scaled(), seeds=1).mean()
    b.row("— DP-EBM (interpret), default, ε = 0.6, AUC", found, "", None)
    b.row("ours above it", ours - found, "≥ 0.08", ours - found >= 0.08)


def others(b: Bench) -> None:
    """Regression, clusters and components."""
    x, y = load_diabetes(return_X_y=True, scaled=False)
    for delta, name, least in ((DELTA, "δ = 1e-5", 0.35), (0, "pure", None)):
        found = []
        folds = RepeatedKFold(n_splits=5, n_repeats=b.repeats, random_state=0)
        for train, test in folds.split(x):
            for _ in range(b.seeds):
                model = models.LinearRegression(
                    "0.6", delta, budget=b.purse, bounds=REGRESSION, y_bounds=(25, 350)
                ).fit(x[train], y[train])
                found.append(r2_score(y[test], model.predict(x[test])))
        middle = float(np.median(found))
        passed = None if least is None else middle >= least
        bar = f"≥ {least}" if least else ""
        b.row(f"LinearRegression, {name}, ε = 0.6, median R²", middle, bar, passed)
    unit, facts = b.scaled(), b.facts()
    plain = PlainKMeans(4, n_init=10, random_state=0).fit(unit).inertia_
    around = unit - unit.mean(axis=0)
    best = (np.linalg.svd(around, compute_uv=False)[:2] ** 2).sum()
    for delta, name in ((DELTA, "δ = 1e-5"), (0, "pure")):
        ratios, kept = [], []
        for _ in range(8 * b.seeds):
            places = models.KMeans(4, epsilon="0.6", delta=delta, **facts).fit(b.x)
            gaps = unit[:, None] - places.cluster_centers_
            ratios.append((gaps**2).sum(2).min(1).sum() / plain)
            axes = (
                models.PCA(2, epsilon="0.6", delta=delta, **facts).fit(b.x).components_
            )
            kept.append(((around @ axes.T) ** 2).sum() / best)
        ratio, share = np.mean(ratios), np.mean(kept)
        b.row(
            f"KMeans (4), {name}, ε = 0.6, inertia ratio", ratio, "≤ 1.2", ratio <= 1.2
        )
        passed = share >= 0.95 if delta else None
        bar = "≥ 0.95" if delta else ""
        b.row(f"PCA (2), {name}, ε = 0.6, captured variance", share, bar, passed)


def speed(b: Bench) -> None:
    """Time of one fit on Pima, and time and memory on a million rows."""
    facts = b.facts(classes=[0, 1])
    for delta, name in ((0, "pure"), (DELTA, "δ = 1e-5")):
        model = models.LogisticRegression("0.6", delta, **facts).fit(b.x, b.y)
        start = time.process_time()
        for _ in range(20):
            model.fit(b.x, b.y)
        spent = (time.process_time() - start) * 50
        b.row(f"CPU ms of a fit on Pima, {name}", spent, "≤ 50", spent <= 50)
    for what in ("pure", "delta"):
        ours, kilobytes = measured(what)
        theirs, _ = measured("plain")
        _, empty = measured("none")
        ratio = ours / theirs
        b.row(
            f"1M × 20, {what}: CPU over scikit-learn's lbfgs ({ours:.1f} s / {theirs:.1f} s)",
            ratio, "≤ 20", ratio <= 20,
        )  # fmt: skip
        memory = (kilobytes - empty) / (1_000_000 * 20 * 8 / 1024) + 1
        b.row(
            f"1M × 20, {what}: memory over that of the data", memory, "≤ 2", memory <= 2
        )


def measured(what: str) -> tuple[float, float]:
    """Return CPU seconds and peak kilobytes of a fit in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--alone", what]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    cpu, peak = done.stdout.split()[-2:]
    return float(cpu), float(peak)


def alone(what: str) -> None:
    """Fit once on a million rows and print CPU seconds and the peak."""
    n, d = 1_000_000, 20
    rng = np.random.default_rng(0)
    x = np.empty((n, d))
    for j in range(d):
        x[:, j] = rng.uniform(-1, 1, n)
    y = (x @ rng.normal(size=d) + rng.logistic(size=n) > 0).astype(np.int8)
    purse = models.ModelBudget(sf.ZCDP("10"), dataset="bench")
    facts = {"budget": purse, "bounds": (-1, 1), "classes": [0, 1]}
    start = time.process_time()
    if what == "plain":
        PlainLogistic(max_iter=200).fit(x, y)
    elif what != "none":
        models.LogisticRegression("1", DELTA if what == "delta" else 0, **facts).fit(
            x, y
        )
    spent = time.process_time() - start
    print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def version(name: str) -> str:
    """Return a version, or that it is not there."""
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name} not installed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=8, help="noise seeds per fold")
    parser.add_argument("--repeats", type=int, default=5, help="repeats of 5 folds")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.alone:
        alone(options.alone)
        return
    b = Bench(options.seeds, options.repeats)
    for part in (classifiers, others, speed):
        part(b)
    peers = ", ".join(map(version, ("scikit-learn", "diffprivlib", "interpret-core")))
    head = (
        "# Private models on small medical tables\n\n"
        f"{options.repeats} x 5 folds, {options.seeds} noise seeds each (error: standard "
        f"error between folds). Add/remove one row unless said. {peers}.\n\n"
        "| what | measured | bar | met |\n|---|---|---|---|\n"
    )
    text = head + "\n".join(b.lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
