"""How useful the figures are: bounds, consistency, intervals, and the time they take.

    python benchmarks/utility.py --tables folder-of-csv-files --out utility.md

Everything is a ratio or an error measured in this run; nothing is read from elsewhere.
The intervals take about ten minutes of one processor; `--only speed` takes one.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import bounds
import intervals
import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import demo

PARTS = ("speed", "bounds", "consistency", "intervals")
RNG = np.random.default_rng()


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


def tree():
    """A tree of 1,000,000 leaves under 100 × 100 wholes."""
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
    return truth, sums


def margins():
    """A table of 250 × 400 cells with both margins and the total."""
    wide, long = 400, 250
    cells = RNG.poisson(2, (long, wide)).astype(float)
    truth = np.concatenate([cells.ravel(), cells.sum(1), cells.sum(0), [cells.sum()]])
    places = np.arange(cells.size).reshape(cells.shape)
    n = cells.size
    sums = [sf.Parts(n + i, places[i]) for i in range(long)]
    sums += [sf.Parts(n + long + j, places[:, j]) for j in range(wide)]
    sums.append(sf.Parts(len(truth) - 1, n + np.arange(long)))
    return truth, sums


def adjust(shape, extra) -> tuple[float, float]:
    truth, sums = shape()
    noisy = truth + RNG.laplace(0, 2, len(truth))
    begun, used = time.perf_counter(), time.process_time()
    sf.consistent(noisy, sums, variances=8.0, **extra)
    return time.perf_counter() - begun, time.process_time() - used


def report(count: int) -> tuple[float, float]:
    """A page of so many figures in groups, made and written."""
    with demo.project_file() as path:
        table = pd.read_csv(path.parent / "diabetes.csv")
    wards = count // 4
    table["Ward"] = np.arange(len(table)) % wards
    schema = sf.Schema(
        {"Glucose": sf.Real(40, 250, step=1, missing=0), "Age": sf.Integer(18, 100),
         "Ward": sf.Category(range(wards))}
    )  # fmt: skip
    session = sf.Session(sf.Dataset(table, schema=schema), budget=sf.Epsilon("9"))
    asked = sf.count(), sf.mean("Glucose"), sf.sum("Age"), sf.mean("Age")
    made = session.query().group_by("Ward").select(*asked).plan(epsilon="5").release()
    begun, used = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder) / "report.html", lang="en")
    assert len(made) == count
    return time.perf_counter() - begun, time.process_time() - used


PROJECT = """
[data]
source = "{source}"
name = "tuned"
[unit]
neighbours = "add_remove"
[budget]
epsilon = "10"
{columns}
[[releases]]
name = "means"
epsilon = "1"
statistics = [{statistics}]
"""
SIX = {"Pregnancies": 20, "Glucose": 250, "BloodPressure": 200, "SkinThickness": 100,
       "Insulin": 1000, "BMI": 100}  # fmt: skip


def tune() -> tuple[float, float]:
    """Six means, 20 losses × 5 clippings × 200 releases, by the command."""
    with demo.project_file() as path, tempfile.TemporaryDirectory() as folder:
        columns = "\n".join(
            f'[columns.{n}]\ntype = "real"\nlower = 0\nupper = {end}\nstep = 1\n'
            for n, end in SIX.items()
        )
        means = ", ".join(f'{{ mean = "{name}" }}' for name in SIX)
        source = path.parent / "diabetes.csv"
        stand_in = Path(folder) / "stand-in.csv"
        stand_in.write_bytes(source.read_bytes())
        project = Path(folder) / "project.toml"
        text = PROJECT.format(source=source, columns=columns, statistics=means)
        project.write_text(text, encoding="utf-8")
        losses = [f"{0.1 * i:.1f}" for i in range(1, 21)]
        clips = ["none", "0.999", "0.99", "0.95", "0.9"]
        command = [sys.executable, "-m", "sfumato.cli", "tune", str(project),
                   "--public", str(stand_in), "--runs", "200"]  # fmt: skip
        command += ["--amounts", ",".join(losses), "--clip", ",".join(clips)]
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter() - begun, used.ru_utime + used.ru_stime


def measured(work, *arguments) -> tuple[float, float, float]:
    """Return seconds, CPU seconds and peak megabytes."""
    wall, cpu = work(*arguments)
    return wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def speed() -> list[str]:
    """What the library is built to hold; each in a process of its own."""
    whole = {"nonnegative": True, "integers": True}
    works = (
        ("tree of 1,000,000 leaves", "2 s", adjust, (tree, {})),
        ("table of 100,000 cells and margins, not negative", "5 s, 1 GB", adjust,
         (margins, {"nonnegative": True})),
        ("the same in whole numbers", "5 s, 1 GB", adjust, (margins, whole)),
        ("report of 200 figures", "3 s", report, (200,)),
        ("report of 1,600 figures", "", report, (1600,)),
        ("tuning six means, 20 × 5 × 200 releases", "60 s", tune, ()),
    )  # fmt: skip
    rows = []
    for name, bar, work, arguments in works:
        fresh = get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=fresh) as pool:
            wall, cpu, most = pool.submit(measured, work, *arguments).result()
        rows.append(
            f"| {name} | {wall:.2f} s, {cpu:.2f} CPU s, {most:.0f} MB "
            f"| {'≤ ' + bar if bar else ''} |"
        )
    return rows


def coverage(releases: int) -> list[str]:
    """Every kind of figure, by `intervals.py`."""
    return [
        f"| 95 % intervals that hold, {how}, {table}, {name} | {seen.holds:.4f} "
        f"| 0.945–0.97: {seen.verdict} |"
        for how, table, name, seen in intervals.simulate(releases)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=500, help="of consistency")
    parser.add_argument("--runs", type=int, default=200, help="releases for bounds")
    parser.add_argument("--releases", type=int, default=20_000, help="for intervals")
    parser.add_argument("--tables", type=Path, help="folder of more CSV files")
    parser.add_argument("--only", choices=PARTS, default=None)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = ["| what | measured | bar |", "|---|---|---|"]
    parts = {
        "speed": speed,
        "bounds": partial(bounds.compare, options.tables, options.runs),
        "consistency": partial(consistency, options.seeds),
        "intervals": partial(coverage, options.releases),
    }
    for name, part in parts.items():
        if options.only in (None, name):
            found = part()
            print("\n".join(found), flush=True)
            rows += found
    page = "## Usefulness\n\n" + "\n".join(rows) + "\n"
    if options.out:
        options.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
