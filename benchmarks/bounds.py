"""Clipping bounds: the error of a mean under three ways to find them, and none.

    python benchmarks/bounds.py --tables folder-with-csv-files

Every way has a fifth of ε for its bounds and the rest for a mean that is clipped to them;
each release of ours takes the whole way, the peers are simulated with floats. Columns of
Pima inside public ends 10 to 40 times too wide; of other tables, the two columns with the
longest tails.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo

RNG = np.random.default_rng()
SHARE = 0.2
PIMA = {"Insulin": 10_000, "DiabetesPedigreeFunction": 100, "Glucose": 10_000}


def pima() -> pd.DataFrame:
    with demo.project_file() as path:
        return pd.read_csv(path.parent / "diabetes.csv")


def columns(tables: Path | None):
    """Columns with their upper public end."""
    table = pima()
    for name, end in PIMA.items():
        values = table[name].to_numpy(float)
        yield f"Pima: {name}", values[values > 0], end
    for file in sorted(tables.glob("*.csv")) if tables else ():
        if file.stem.startswith("diabetes"):
            continue
        held = pd.read_csv(file).select_dtypes("number")
        held = held.loc[:, (held >= 0).all() & (held.nunique() > 7)]
        reach = (held.max() / held.quantile(0.9).clip(lower=1)).sort_values()
        for name in reach.index[-2:]:
            values = held[name].to_numpy(float)[:5000]
            yield f"{file.stem}: {name}", values, 20 * float(values.max())


def doubling(values, end: float, epsilon: float, runs: int, *, found: bool = True):
    """Our releases: ranges that double, with a threshold; or the ends as declared."""
    bounds = sf.private_bounds("0.99", within=(0, end)) if found else (0, end)
    step = "0.001" if end <= 100 else "1"
    schema = sf.Schema({"x": sf.Real(bounds=bounds, step=step)})
    data = sf.Dataset(pd.DataFrame({"x": values}), schema=schema)
    session = sf.Session(data, budget=sf.Epsilon(str(10 * runs)))
    plan = session.query().select(sf.mean("x")).plan(epsilon=str(epsilon))
    return np.array([plan.release()["mean_x"].estimate for _ in range(runs)])


def exponential(values, end: float, epsilon: float, runs: int):
    """The exponential mechanism for both quantiles, on a grid of 10,000 places."""
    grid = np.linspace(0, end, 10_001)
    ranks = np.searchsorted(np.sort(values), grid, side="right")
    ends = []
    for level in (0.01, 0.99):
        scores = -np.abs(ranks - level * len(values)) * SHARE * epsilon / 4
        noise = RNG.gumbel(size=(runs, len(grid)))
        ends.append(grid[np.argmax(scores + noise, axis=1)])
    return clipped_means(values, np.minimum(*ends), np.maximum(*ends), epsilon)


def tree(values, end: float, epsilon: float, runs: int):
    """Quantiles of a binary tree of noisy counts over 1,024 even ranges."""
    depth = 10
    exact = np.histogram(values, bins=1 << depth, range=(0, end))[0].astype(float)
    lows, highs = np.empty(runs), np.empty(runs)
    for run in range(runs):
        levels = [exact.reshape(1 << k, -1).sum(axis=1) for k in range(depth + 1)]
        scale = (depth + 1) / (SHARE * epsilon)
        noisy = [level + RNG.laplace(0, scale, len(level)) for level in levels]
        for level in (0.01, 0.99):
            wanted, place = level * max(noisy[0][0], 1), 0
            for k in range(1, depth + 1):
                place *= 2
                if noisy[k][place] < wanted:
                    wanted, place = wanted - noisy[k][place], place + 1
            (lows if level < 0.5 else highs)[run] = (
                (place + (level > 0.5)) * end / (1 << depth)
            )
    return clipped_means(values, np.minimum(lows, highs), np.maximum(lows, highs), epsilon)  # fmt: skip


def clipped_means(values, lows, highs, epsilon: float):
    """Noisy means of values clipped to each pair of ends: centred sum and count."""
    rest, found = (1 - SHARE) * epsilon / 2, []
    for low, high in zip(lows, highs, strict=True):
        middle, half = (low + high) / 2, max((high - low) / 2, 1e-9)
        total = (np.clip(values, low, high) - middle).sum() + RNG.laplace(
            0, half / rest
        )
        count = max(len(values) + RNG.laplace(0, 1 / rest), 1)
        found.append(np.clip(middle + total / count, low, high))
    return np.array(found)


def compare(tables: Path | None, runs: int, epsilon: float = 1.0) -> list[str]:
    """Return a row of errors for every column."""
    rows = []
    for name, values, end in columns(tables):
        truth = float(values.mean())
        ways = (
            doubling(values, end, epsilon, runs, found=False),
            doubling(values, end, epsilon, runs),
            exponential(values, end, epsilon, runs),
            tree(values, end, epsilon, runs),
        )
        none, ours, chosen, grown = (np.sqrt(np.mean((w - truth) ** 2)) for w in ways)
        rows.append(
            f"| mean of {name} in 0…{end:,.0f}, ε {epsilon:g} | RMSE {ours:.3g}; exponential "
            f"mechanism {chosen:.3g}, tree {grown:.3g}, ends as declared {none:.3g} "
            f"({none / ours:.1f}×) | {'≥ 3× on Insulin' if 'Insulin' in name else ''} |"
        )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--runs", type=int, default=300)
    options = parser.parse_args()
    print("\n".join(compare(options.tables, options.runs)))
