"""How often 95 % intervals hold the figure without noise: every kind of figure.

    python benchmarks/intervals.py --releases 20000

Plan, scan, noise and intervals are those of a release. Every group of the table holds the
same rows and has noise of its own, so a release of G groups is G releases of one. Of a quantile the figure without noise is that of the ranks: a
value at which the share of rows below is at most the level, and the share up to it at
least.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo
from sfumato.declare.query import Query
from sfumato.engine.load import open_engine
from sfumato.gate import _add_noise
from sfumato.plan import make_plan
from sfumato.post import in_terms, intervals, points

GROUPS = 200
LEVEL = 0.95
LOW, HIGH = 0.945, 0.97
KINDS = (
    ("count, sum, mean", "0.3", (sf.count(), sf.count("Glucose"), sf.sum("Age"),
                                 sf.mean("Glucose"), sf.sum("Glucose"))),
    ("share, histogram, table", "0.5", (
        sf.proportion("Outcome", 1), sf.histogram("Glucose", [0, 100, 140, 250]),
        sf.crosstab("Outcome", "Glucose", other_edges=[0, 120, 250]))),
    ("variance, deviation", "0.5", (sf.variance("Age"), sf.std("Glucose"))),
    ("quantiles with ties", "1", (sf.median("Age"), sf.quantile("Glucose", "0.9"))),
    ("quantiles without ties", "1", (
        sf.median("Pedigree"), sf.quantile("Pedigree", "0.9"))),
    ("ratio, covariance, correlation", "2", (
        sf.ratio("Glucose", "Age"), sf.covariance("Glucose", "Age"),
        sf.correlation("Glucose", "Age"))),
)  # fmt: skip


def table() -> pd.DataFrame:
    with demo.project_file() as path:
        rows = pd.read_csv(path.parent / "diabetes.csv")
    # spread over the whole grid, so that hardly any two rows share a value
    rows["Pedigree"] = np.sort(rows["DiabetesPedigreeFunction"]) + 0.002 * np.arange(
        768
    )
    copies = [rows.assign(group=g) for g in range(GROUPS)]
    return pd.concat(copies, ignore_index=True)


def schema(neighbours: str, rows: int) -> sf.Schema:
    unit = {} if neighbours == "add_remove" else {"size": rows}
    return sf.Schema(
        {
            "Glucose": sf.Real(40, 250, step=1),
            "Pedigree": sf.Real(0, 4.096, step="0.001"),
            "Age": sf.Integer(18, 100, complete=True),
            "Outcome": sf.Category([0, 1]),
            "group": sf.Category(range(GROUPS)),
        },
        unit=sf.Rows(neighbours=neighbours, **unit),
    )


def measure(data, declared, asked, spend, releases):
    """Return, per statistic, how often its intervals held the figure without noise."""
    loss = sf.Epsilon(spend["epsilon"]) if "epsilon" in spend else sf.ZCDP(spend["rho"])
    plan = make_plan(Query().group_by("group").select(*asked), declared, loss)
    engine = open_engine(sf.Dataset(data, schema=declared))
    exact = engine.run(plan).unseal()
    engine.close()
    truths = [points(plan, r, in_terms(plan, exact)) for r in plan.recipes]
    held = np.zeros(len(truths))
    times = -(-releases // GROUPS)
    for _ in range(times):
        seen = in_terms(plan, _add_noise(plan, exact))
        for place, recipe in enumerate(plan.recipes):
            low, high = intervals(plan, recipe, seen, LEVEL)
            inside = (low - 1e-9 <= truths[place]) & (truths[place] <= high + 1e-9)
            held[place] += inside.mean()
    return {one.name: float(h / times) for one, h in zip(asked, held, strict=True)}


def simulate(releases: int, only: str = ""):
    """Iterate over how it was asked, the statistic, and how often its intervals hold."""
    data = table()
    for neighbours in ("add_remove", "replace_one"):
        declared = schema(neighbours, len(data))
        for title, epsilon, asked in KINDS:
            if only not in title:
                continue
            rho = str(float(epsilon) ** 2 / 8)
            for spend in ({"epsilon": epsilon}, {"rho": rho}):
                how = f"{neighbours}, {next(iter(spend))} {next(iter(spend.values()))}"
                found = measure(data, declared, asked, spend, releases)
                for name, share in found.items():
                    yield how, name, share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--releases", type=int, default=20_000)
    parser.add_argument(
        "--only", default="", help="part of the name of a group of kinds"
    )
    options = parser.parse_args()
    print("| noise | figure | 95 % intervals that hold | bar |\n|---|---|---|---|")
    for how, name, share in simulate(options.releases, options.only):
        bar = "held" if LOW <= share <= HIGH else "outside"
        print(f"| {how} | {name} | {share:.4f} | {bar} |", flush=True)


if __name__ == "__main__":
    main()
