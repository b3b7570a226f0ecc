"""Six means of the Pima table at equal ε: error and time beside OpenDP and diffprivlib.

Add/remove one row (the number of rows private): OpenDP's own means, six in one
request, against ours. Replace-one row (the number public): diffprivlib's means against
ours. Zeros are values here, as in the tutorials, so that all three answer one question;
bounds are the same for all. Run in an environment that has the peers; what is missing
is skipped with a printed line.

    python benchmarks/pima.py --runs 500 --out pima.md
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from importlib import import_module, metadata, resources
from pathlib import Path

import numpy as np

import sfumato as sf

BOUNDS = {
    "Glucose": (0, 250),
    "BloodPressure": (0, 200),
    "SkinThickness": (0, 100),
    "Insulin": (0, 900),
    "BMI": (0, 80),
    "Age": (0, 120),
}
EPSILON = 0.5


def pima() -> dict[str, np.ndarray]:
    """Return the six columns of the packaged table."""
    text = resources.files("sfumato").joinpath("data/diabetes.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {c: np.array([float(r[c]) for r in rows]) for c in BOUNDS}


def ours(table: dict[str, np.ndarray], unit: sf.Rows):
    """Return a function that makes one release of ours."""
    import pandas as pd

    columns = {c: sf.Real(lo, hi, complete=True) for c, (lo, hi) in BOUNDS.items()}
    data = sf.Dataset(
        pd.DataFrame(table), schema=sf.Schema(columns, unit=unit), name="pima"
    )
    ask = sf.Session(data, budget="100000").query().select(*map(sf.mean, BOUNDS))
    return lambda: [f.estimate for f in ask.release(EPSILON)]


def opendp(table: dict[str, np.ndarray]):
    """Return a function that makes one release by OpenDP's means of a polars table."""
    dp, pl = import_module("opendp.prelude"), import_module("polars")
    dp.enable_features("contrib")
    frame = pl.DataFrame(table).lazy()
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=10_000)],
    )
    asked = [
        pl.col(c).fill_nan(0.0).fill_null(0.0).dp.mean(bounds=(float(lo), float(hi)))
        for c, (lo, hi) in BOUNDS.items()
    ]
    start = time.process_time()
    measurement = context.query().select(asked).resolve()
    opendp.planning = time.process_time() - start
    return lambda: measurement(frame).collect().row(0)


def diffprivlib(table: dict[str, np.ndarray]):
    """Return a function that makes one release by diffprivlib's mean."""
    tools = import_module("diffprivlib").tools
    share = EPSILON / len(BOUNDS)
    return lambda: [
        tools.mean(table[c], epsilon=share, bounds=b) for c, b in BOUNDS.items()
    ]


def measure(release, truth: np.ndarray, runs: int) -> tuple[np.ndarray, float]:
    """Return the RMSE of each mean and the CPU milliseconds of a release."""
    release()
    start = time.process_time()
    errors = np.array([release() for _ in range(runs)]) - truth
    spent = (time.process_time() - start) / runs * 1e3
    return np.sqrt((errors**2).mean(axis=0)), spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = pima()
    truth = np.array([v.mean() for v in table.values()])
    fixed = sf.Rows(neighbours="replace_one", size=len(table["Age"]))
    pairs = [
        ("add/remove", "opendp", ours(table, sf.Rows()), opendp),
        ("replace-one", "diffprivlib", ours(table, fixed), diffprivlib),
    ]
    lines = [
        "# Six means of the Pima table at equal ε",
        "",
        f"Six means of Pima (768 rows), ε = {EPSILON} per release, {options.runs} releases each.",
        "",
        "| neighbours | release | "
        + " | ".join(f"RMSE {c}" for c in BOUNDS)
        + " | CPU ms |",
        "|---|---|" + "---|" * (len(BOUNDS) + 1),
    ]
    for neighbours, peer, mine, make in pairs:
        rmse, spent = measure(mine, truth, options.runs)
        row = f"| {neighbours} | sfumato {sf.__version__} | "
        lines.append(row + " | ".join(f"{e:.3g}" for e in rmse) + f" | {spent:.1f} |")
        try:
            theirs = make(table)
        except ImportError as error:
            print(f"{peer} skipped: {error}")
            continue
        other, took = measure(theirs, truth, options.runs)
        row = f"| {neighbours} | {peer} {metadata.version(peer)} | "
        lines.append(row + " | ".join(f"{e:.3g}" for e in other) + f" | {took:.1f} |")
        ratio = " | ".join(f"{o / e:.2f}" for e, o in zip(rmse, other, strict=True))
        lines.append(
            f"| {neighbours} | {peer} / sfumato | {ratio} | {took / spent:.2f} |"
        )
    if hasattr(opendp, "planning"):
        lines += ["", f"Planning a request costs OpenDP {opendp.planning:.1f} s of CPU once; "
                  "its releases above exclude that, ours include planning, ledger and intervals."]  # fmt: skip
    text = "\n".join(lines)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
