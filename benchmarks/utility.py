"""How useful the figures are: bounds, consistency, intervals, and the time they take.

    python benchmarks/utility.py --runs 2000 --out utility.md

Everything is a ratio or an error measured in this run; nothing is read from elsewhere.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo

RNG = np.random.default_rng()


def pima() -> pd.DataFrame:
    with demo.project_file() as path:
        return pd.read_csv(path.parent / "diabetes.csv")


def private_bounds(runs: int) -> list[str]:
    """Mean of Insulin inside 0…10,000 at ε = 1: bounds found, or as declared."""
    table = pima()
    truth = float(table["Insulin"][table["Insulin"] > 0].mean())
    errors = {}
    for name, bounds in (
        ("found", sf.private_bounds("0.99", within=(0, 10_000))),
        ("declared", (0, 10_000)),
    ):
        schema = sf.Schema({"Insulin": sf.Real(bounds=bounds, missing=0)})
        session = sf.Session(
            sf.Dataset(table, schema=schema), budget=sf.Epsilon(str(10 * runs))
        )
        plan = session.query().select(sf.mean("Insulin")).plan(epsilon="1")
        made = np.array([plan.release()["mean_Insulin"].estimate for _ in range(runs)])
        errors[name] = np.sqrt(np.mean((made - truth) ** 2))
    return [
        f"| private bounds, mean of Insulin in 0…10,000, ε 1 | RMSE {errors['found']:.2f} "
        f"against {errors['declared']:.2f}: {errors['declared'] / errors['found']:.1f}× lower | ≥ 3× |"
    ]


def trees():
    """Hierarchies of counts with the variance of their noise."""
    for name, fan, depth in (
        ("16 × 16", 16, 2),
        ("4 levels of 5", 5, 3),
        ("200 flat", 200, 1),
    ):
        levels = [RNG.poisson(4, fan**depth).astype(float)]
        for _ in range(depth):
            levels.append(levels[-1].reshape(-1, fan).sum(axis=1))
        truth = np.concatenate(levels)
        starts = np.cumsum([0, *map(len, levels)])
        sums = [
            sf.Parts(starts[k + 1] + i, starts[k] + np.arange(i * fan, i * fan + fan))
            for k in range(depth)
            for i in range(len(levels[k + 1]))
        ]
        yield name, truth, sums


def consistency(seeds: int) -> list[str]:
    """Paired errors before and after, over all seeds."""
    rows = []
    for name, truth, sums in trees():
        for extra in ({}, {"nonnegative": True}):
            before, after, held = [], [], []
            for _ in range(seeds):
                noisy = truth + RNG.laplace(0, 2, len(truth))
                made = sf.consistent(noisy, sums, variances=8.0, **extra)
                before.append(np.mean((noisy - truth) ** 2))
                after.append(np.mean((made.values - truth) ** 2))
                held.append(np.mean((made.low <= truth) & (truth <= made.high)))
            change = np.sqrt(np.mean(after) / np.mean(before))
            told = f"{name}{', not negative' if extra else ''}"
            rows.append(
                f"| consistency, tree {told} | RMSE × {change:.3f}, coverage "
                f"{np.mean(held):.3f} | < 1 |"
            )
    return rows


def speed() -> list[str]:
    """The two sizes that the library is built for."""
    rows = []
    fan, n = 100, 1_000_000
    leaves = RNG.poisson(3, n).astype(float)
    middle = leaves.reshape(-1, fan).sum(axis=1)
    top = middle.reshape(-1, fan).sum(axis=1)
    truth = np.concatenate([leaves, middle, top, [top.sum()]])
    sums = [
        sf.Parts(n + i, np.arange(i * fan, i * fan + fan)) for i in range(len(middle))
    ]
    first = n + len(middle)
    sums += [
        sf.Parts(first + i, n + np.arange(i * fan, i * fan + fan))
        for i in range(len(top))
    ]
    sums.append(sf.Parts(len(truth) - 1, first + np.arange(len(top))))
    noisy = truth + RNG.laplace(0, 2, len(truth))
    rows.append(_timed("tree of 1,000,000 leaves", "2 s", noisy, sums, {}))
    wide, long = 400, 250
    cells = RNG.poisson(2, (long, wide)).astype(float)
    truth = np.concatenate([cells.ravel(), cells.sum(1), cells.sum(0), [cells.sum()]])
    places = np.arange(cells.size).reshape(cells.shape)
    n = cells.size
    sums = [sf.Parts(n + i, places[i]) for i in range(long)]
    sums += [sf.Parts(n + long + j, places[:, j]) for j in range(wide)]
    sums.append(sf.Parts(len(truth) - 1, n + np.arange(long)))
    noisy = truth + RNG.laplace(0, 2, len(truth))
    rows.append(
        _timed("two-way table of 100,000 cells, not negative", "5 s", noisy, sums,
               {"nonnegative": True})
    )  # fmt: skip
    return rows


def _timed(name, bar, noisy, sums, extra) -> str:
    begun, used = time.perf_counter(), time.process_time()
    sf.consistent(noisy, sums, variances=8.0, **extra)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    return f"| {name} | {wall:.2f} s, {cpu:.2f} CPU s | ≤ {bar} |"


def coverage(runs: int) -> list[str]:
    """How often 95 % intervals hold the true figure, over simulated releases."""
    table = pima()
    schema = sf.Schema(
        {
            "Glucose": sf.Real(0, 250, step=1, missing=0),
            "Age": sf.Integer(0, 120),
            "Outcome": sf.Category([0, 1]),
        }
    )
    asked = (sf.count(), sf.mean("Glucose"), sf.sum("Age"), sf.std("Age"),
             sf.median("Age"), sf.histogram("Glucose", [0, 100, 140, 250]))  # fmt: skip
    rows = []
    for budget, spend in (
        (sf.Epsilon(str(runs)), {"epsilon": "0.5"}),
        (sf.ZCDP(str(runs)), {"rho": "0.02"}),
    ):
        session = sf.Session(sf.Dataset(table, schema=schema), budget=budget)
        plan = session.query().group_by("Outcome").select(*asked).plan(**spend)
        truth = plan.compare_for_owner(plan.release())
        names = [row.figure.name for row in truth.rows]
        held = {name: [] for name in names}
        for _ in range(runs):
            for row, figure in zip(truth.rows, plan.release(), strict=True):
                held[figure.name].append(figure.low <= row.truth <= figure.high)
        told = ", ".join(f"{name} {np.mean(h):.3f}" for name, h in held.items())
        rows.append(
            f"| coverage at 95 %, {next(iter(spend))}, {runs} releases | {told} | 0.945–0.97 |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = ["| what | measured | bar |", "|---|---|---|"]
    rows += private_bounds(min(options.runs, 500))
    rows += consistency(min(options.runs, 500))
    rows += speed()
    rows += coverage(options.runs)
    page = "## Usefulness\n\n" + "\n".join(rows) + "\n"
    print(page)
    if options.out:
        options.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
