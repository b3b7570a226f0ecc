"""The tutorials' steps beside ours: what each claims, what each was measured to do.

    python benchmarks/tutorials.py

Theirs are their published lines, on numpy, as thousands have copied them. Everything here
is computed when it runs, on the Pima table.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo
from sfumato.account import allocate
from sfumato.audit import epsilon_lower_bound
from sfumato.audit.attacks import granularity

RNG = np.random.default_rng()
COLUMNS = {
    "Pregnancies": sf.Integer(0, 20),
    "Glucose": sf.Real(0, 250, step=1, missing=0),
    "BloodPressure": sf.Real(0, 200, step=1, missing=0),
    "SkinThickness": sf.Real(0, 100, step=1, missing=0),
    "Insulin": sf.Real(0, 1000, step=1, missing=0),
    "BMI": sf.Real(0, 80, step="0.1", missing=0),
}


def pima() -> pd.DataFrame:
    with demo.project_file() as path:
        return pd.read_csv(path.parent / "diabetes.csv")


def laplace_mechanism(value, sensitivity, epsilon):
    """Theirs."""
    return value + RNG.laplace(0, sensitivity / epsilon, np.shape(value) or None)


def on_a_grid(value):
    """Rounded, so that float noise is not what is found."""
    return round(float(value) * 2**16) / 2**16


def float_noise() -> tuple[str, str]:
    theirs = granularity(lambda x, n: laplace_mechanism(np.full(n, x), 1, 1), claimed=1)
    ours = granularity(lambda x, n: sf.laplace(np.full(n, x), 1, 1), claimed=1)
    return f"ε at least {theirs.lower:.2f}", f"ε at least {ours.lower:.2f}"


def sensitivity_of_the_data() -> tuple[str, str]:
    """One outlier among 40 rows: their sensitivity is read from the rows it depends on."""
    base = [50.0] * 40
    neighbour = [*base[:-1], 500.0]

    def theirs(rows):
        spread = (max(rows) - min(rows)) / len(rows)
        return on_a_grid(laplace_mechanism(np.mean(rows), spread, 1.0))

    def ours(rows):
        return _mean(rows, sf.Real(0, 1000))

    return _certified(theirs, ours, base, neighbour)


def adaptive_sensitivity() -> tuple[str, str]:
    """Quantiles of the rows for the noise, and no clipping: the outlier shines through."""
    base = [float(v) for v in range(40, 140)]
    neighbour = [*base[:-1], 100_000.0]

    def theirs(rows):
        low, high = np.quantile(rows, [0.01, 0.99])
        scale = (high - low) / len(rows)
        return on_a_grid(laplace_mechanism(np.mean(rows), scale, 1.0))

    def ours(rows):
        bounds = sf.private_bounds("0.99", within=(0, 1_000_000))
        return _mean(rows, sf.Real(bounds=bounds))

    return _certified(theirs, ours, base, neighbour)


def _mean(rows, column):
    schema = sf.Schema({"x": column}, unit=sf.Rows("replace_one", size=len(rows)))
    dataset = sf.Dataset(pd.DataFrame({"x": rows}), schema=schema)
    session = sf.Session(dataset, budget=sf.Epsilon("1"))
    return session.query().select(sf.mean("x")).release(epsilon="1")["mean_x"].estimate


def _certified(theirs, ours, base, neighbour) -> tuple[str, str]:
    bad = epsilon_lower_bound(theirs, base, neighbour, claimed=1, draws=20_000)
    good = epsilon_lower_bound(ours, base, neighbour, claimed=1, draws=1000)
    return f"ε at least {bad.lower:.2f}", f"ε at least {good.lower:.2f}"


def budget_split() -> tuple[str, str]:
    theirs = sum(0.8**i for i in range(5))
    ours = allocate.geometric(sf.Epsilon("1"), 5)
    total = sum((share.value for share in ours), start=0)
    return f"spends {theirs:.2f} of 1", f"spends {float(total):.2f} of 1"


def means(table: pd.DataFrame) -> tuple[str, str]:
    """Six means at ε = 0.5: their zeros are values, and each spends the whole ε."""
    schema = sf.Schema(COLUMNS)
    session = sf.Session(sf.Dataset(table, schema=schema), budget=sf.Epsilon("1"))
    asked = session.query().select(*map(sf.mean, COLUMNS))
    release = asked.release(epsilon="0.5")
    worst = max(
        abs(f.estimate - _truth(table, f.column)) / _truth(table, f.column)
        for f in release
    )
    zeros = max(
        abs(table[c].mean() - _truth(table, c)) / _truth(table, c) for c in COLUMNS
    )
    spent = 0.5 * len(COLUMNS)
    return (
        f"spends {spent:g}; zeros alone move a mean by up to {zeros:.0%}",
        f"spends {release.claim.loss}; largest error {worst:.1%}",
    )


def _truth(table: pd.DataFrame, column: str) -> float:
    values = table[column]
    missing = column != "Pregnancies"
    return float(values[values > 0].mean() if missing else values.mean())


def consistency() -> tuple[str, str]:
    """Districts of very different noise under one total: equal weights or the right ones."""
    truth = np.array([400.0, 300.0, 60.0, 8.0])
    scales = np.array([20.0, 10.0, 2.0, 1.0])
    even, weighted = [], []
    for _ in range(500):
        noisy = truth + RNG.laplace(0, scales)
        even.append(noisy + (truth.sum() - noisy.sum()) / 4 - truth)
        fitted = sf.consistent(noisy, total=truth.sum(), variances=2 * scales**2)
        weighted.append(fitted.values - truth)
    return tuple(f"RMSE {np.sqrt(np.mean(np.square(e))):.2f}" for e in (even, weighted))


def anonymity(table: pd.DataFrame) -> tuple[str, str]:
    found = sf.k_anonymity(table, ["Age", "Pregnancies"], bins={"Age": 10})
    return "“ε = 0.6 equals k = 3”", f"the table has k = {found.k} at any ε"


def main() -> None:
    table = pima()
    steps = {
        "Laplace mechanism, claimed ε 1": float_noise(),
        "sensitivity (max - min)/n, claimed ε 1": sensitivity_of_the_data(),
        "adaptive sensitivity, claimed ε 1": adaptive_sensitivity(),
        "split over 5 queries": budget_split(),
        "six means at ε 0.5": means(table),
        "consistency under a total": consistency(),
        "k-anonymity": anonymity(table),
    }
    print(f"{'step':40}{'tutorial':52}sfumato")
    for name, (theirs, ours) in steps.items():
        print(f"{name:40}{theirs:52}{ours}")


if __name__ == "__main__":
    main()
