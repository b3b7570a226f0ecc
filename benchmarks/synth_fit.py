"""The fit alone: our least-squares loss and time beside private-pgm (mbi 2) on one input.

The same noisy tables of the packaged Pima table (single columns and ten pairs, integer
noise of one scale) are given to both. Ours is fitted with a hundredth of a unit of penalty,
as mbi has none. Loss: sum of squared residuals over twice the variance.

    python benchmarks/synth_fit.py --mbi ENV/bin/python
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from importlib import resources
from itertools import combinations
from pathlib import Path

import numpy as np

SIGMA = 8.0
CUTS = {  # public clinical edges
    "Pregnancies": [1, 2, 4, 7],
    "Glucose": [1, 90, 110, 125, 140, 170],
    "BloodPressure": [1, 60, 70, 80, 90],
    "BMI": [1, 23, 27, 30, 35, 40],
    "Age": [25, 30, 40, 50],
    "Outcome": [1],
}


def measured() -> dict:
    """Return noisy tables of public bins, as plain lists."""
    text = resources.files("sfumato").joinpath("data/diabetes.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    bins = [
        np.searchsorted(cuts, [float(r[c]) for r in rows], side="right")
        for c, cuts in CUTS.items()
    ]
    sizes = [len(cuts) + 1 for cuts in CUTS.values()]
    rng = np.random.default_rng(0)
    sets = [(i,) for i in range(len(sizes))]
    sets += list(combinations(range(len(sizes)), 2))[:10]
    tables = []
    for axes in sets:
        shape = [sizes[x] for x in axes]
        flat = np.ravel_multi_index([bins[x] for x in axes], shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape)))
        tables.append((counts + np.rint(rng.normal(0, SIGMA, len(counts)))).tolist())
    return {"sizes": sizes, "sets": sets, "tables": tables, "total": len(rows)}


def loss_of(told: dict, shares: list) -> float:
    """Return half the squared residuals over the variance."""
    pairs = zip(told["tables"], shares, strict=True)
    return sum(
        float(((np.array(y) - told["total"] * np.asarray(p).ravel()) ** 2).sum()) for y, p in pairs
    ) / (2 * SIGMA**2)  # fmt: skip


def ours(told: dict) -> dict:
    """Fit with a penalty of next to nothing."""
    from sfumato.synth.estimate import Noisy, fit

    noisy = [
        Noisy(tuple(a), np.array(y, float), SIGMA)
        for a, y in zip(told["sets"], told["tables"], strict=True)
    ]
    start = time.process_time()
    model, _ = fit(told["sizes"], noisy, told["total"], penalty=1e-2, steps=3000)
    cpu = time.process_time() - start
    shares = [model.marginal(tuple(a)) for a in told["sets"]]
    return {"loss": loss_of(told, shares), "cpu": cpu}


def theirs(told: dict) -> dict:
    """Fit by mirror descent, as their documents advise."""
    import mbi
    from mbi.estimation import MirrorDescent

    names = [f"c{i}" for i in range(len(told["sizes"]))]
    domain = mbi.Domain(names, told["sizes"])
    measurements = [
        mbi.LinearMeasurement(np.array(y, float), tuple(names[x] for x in a), SIGMA)
        for a, y in zip(told["sets"], told["tables"], strict=True)
    ]
    start = time.process_time()
    model = MirrorDescent().estimate(
        domain, measurements, known_total=float(told["total"]), iters=5000
    )
    cpu = time.process_time() - start
    shares = [
        np.asarray(model.project(tuple(names[x] for x in a)).datavector())
        / told["total"]
        for a in told["sets"]
    ]
    return {"loss": loss_of(told, shares), "cpu": cpu}


def compare(python: str) -> tuple[list[str], float | None]:
    """Return lines about both, and how far our loss is above theirs, as a share."""
    told = measured()
    mine = ours(told)
    lines = [f"ours: loss {mine['loss']:.2f}, {mine['cpu']:.2f} CPU s"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.json"
        path.write_text(json.dumps(told))
        command = [python, "-W", "ignore", __file__, "--child", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [x for x in done.stdout.splitlines() if x.startswith("{")]
    if not found:
        words = done.stderr.strip().splitlines() or ["no output"]
        return [*lines, f"mbi failed: {words[-1][:200]}"], None
    other = json.loads(found[-1])
    lines.append(f"mbi: loss {other['loss']:.2f}, {other['cpu']:.2f} CPU s")
    ratio = mine["loss"] / other["loss"] - 1
    return [*lines, f"ours ends {100 * ratio:+.2f} % from its loss"], ratio


def main() -> None:
    """Print both losses and times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mbi", required=True, help="an interpreter that has mbi 2")
    print(*compare(parser.parse_args().mbi)[0], sep="\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(theirs(json.loads(Path(sys.argv[2]).read_text()))))
    else:
        main()
