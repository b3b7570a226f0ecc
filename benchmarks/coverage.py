"""How often 95 % intervals hold the figure without noise: every kind of figure.

    python benchmarks/coverage.py --releases 20000

Each simulated release takes the whole way: plan, debit, scan, noise, intervals. Every
group of the table holds the same rows and has noise of its own, so a release of G groups
is G releases of one. Of a quantile the figure without noise is that of the ranks: a
value at which the share of rows below is at most the level, and the share up to it at
least.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo

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
    ("quantiles", "1", (sf.median("Age"), sf.quantile("Glucose", "0.9"))),
    ("ratio, covariance, correlation", "2", (
        sf.ratio("Glucose", "Age"), sf.covariance("Glucose", "Age"),
        sf.correlation("Glucose", "Age"))),
)  # fmt: skip


def table() -> pd.DataFrame:
    with demo.project_file() as path:
        rows = pd.read_csv(path.parent / "diabetes.csv")
    copies = [rows.assign(group=g) for g in range(GROUPS)]
    return pd.concat(copies, ignore_index=True)


def schema(neighbours: str, rows: int) -> sf.Schema:
    unit = {} if neighbours == "add_remove" else {"size": rows}
    return sf.Schema(
        {
            "Glucose": sf.Real(40, 250, step=1),
            "Age": sf.Integer(18, 100, complete=True),
            "Outcome": sf.Category([0, 1]),
            "group": sf.Category(range(GROUPS)),
        },
        unit=sf.Rows(neighbours=neighbours, **unit),
    )


def measure(data, declared, asked, spend, releases):
    """Return, per statistic, how often its intervals held the figure without noise."""
    times = -(-releases // GROUPS)
    cap = sf.Epsilon("1e6") if "epsilon" in spend else sf.ZCDP("1e6")
    session = sf.Session(sf.Dataset(data, schema=declared), budget=cap)
    plan = session.query().group_by("group").select(*asked).plan(**spend)
    truth = [row.truth for row in plan.compare_for_owner(plan.release()).rows]
    held: dict[str, list[float]] = {}
    for _ in range(times):
        for true, figure in zip(truth, plan.release(), strict=True):
            inside = figure.low - 1e-9 <= true <= figure.high + 1e-9
            held.setdefault(figure.name, []).append(inside)
    return {name: float(np.mean(h)) for name, h in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--releases", type=int, default=20_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    data = table()
    print("| noise | figure | 95 % intervals that hold | bar |\n|---|---|---|---|")
    for neighbours in ("add_remove", "replace_one"):
        declared = schema(neighbours, len(data))
        for title, epsilon, asked in KINDS:
            if options.only not in title:
                continue
            rho = str(float(epsilon) ** 2 / 8)
            for spend in ({"epsilon": epsilon}, {"rho": rho}):
                begun = time.process_time()
                found = measure(data, declared, asked, spend, options.releases)
                for name, share in found.items():
                    bar = "held" if LOW <= share <= HIGH else "outside"
                    how = f"{neighbours}, {next(iter(spend))} {next(iter(spend.values()))}"
                    print(f"| {how} | {name} | {share:.4f} | {bar} |", flush=True)
                print(f"<!-- {time.process_time() - begun:.1f} CPU s -->", flush=True)


if __name__ == "__main__":
    main()
