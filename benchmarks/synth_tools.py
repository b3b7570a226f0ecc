"""Each tool in a process of its own: what it makes of a split, and what that takes.

The peers need other versions of nearly everything, so that this file is run by the
interpreter of each: it needs numpy, and the tool.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DELTA = "1e-6"
UNFINISHED = "not finished"


def read(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the header and the rows of a file of whole numbers."""
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    return head, np.array(rows, np.int64)


def write(path: Path, head: list[str], rows: np.ndarray) -> None:
    """Write a file of whole numbers."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows.tolist())


def used() -> float:
    """Return the CPU seconds of this process so far."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def peak() -> float:
    """Return the largest memory of this process in MB; on Linux, of it alone.

    What getrusage tells of a started process begins with the size of its starter.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return int(next(x for x in lines if x.startswith("VmHWM")).split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def impossible(rows: np.ndarray, head: list[str], sizes: list[int]) -> list[dict]:
    """Return what is publicly impossible in flchain: a cause of death for the living.

    The chapter of the cause is the last key (none) exactly for those who live.
    """
    del rows
    if "chapter" not in head:
        return []
    last = sizes[head.index("chapter")] - 1
    return [
        {"death": 0, "chapter": [c for c in range(last)]},
        {"death": 1, "chapter": last},
    ]


def run_ours(split: Path, name: str, epsilon: str, out: Path, *, method: str) -> dict:
    """Fit ours through the session's own door and draw as many rows as were given."""
    import duckdb  # noqa: F401  imports are not what is measured, of no tool

    import sfumato as sf
    from sfumato.synth import Synthesizer

    declared = json.loads((split / f"{name}.json").read_text())["domain"]
    head = list(declared)
    rows = len(read(split / f"{name}_train.csv")[1])
    schema = sf.Schema({c: sf.Category(range(declared[c])) for c in head})
    sizes = [declared[c] for c in head]
    table = sf.Dataset(split / f"{name}_train.csv", schema=schema, name=name)
    forbid = impossible(np.empty(0), head, sizes)
    start = used()
    made = Synthesizer(method, complete=True, forbid=forbid).fit(
        table, budget=sf.ApproxDP(epsilon, DELTA)
    )
    drawn = made.sample(rows)
    cpu = used() - start
    write(out, head, np.array([drawn[c] for c in head]).T)
    mb = peak()  # of fitting and drawing; what follows judges them
    return {"cpu": cpu, "mb": mb, "off": off_model(made, drawn, head)}


def off_model(made, drawn, head: list[str]) -> list[float]:
    """Return how far the rows are from their own model, over all pairs: mean and most."""
    cells = np.array([drawn[c] for c in head])
    found = []
    for a, b in itertools.combinations(range(len(head)), 2):
        told = made.marginal(head[a], head[b])
        bins = [b_.coding for b_ in made.made.binnings]
        rows = [np.asarray(bins[x].places)[cells[x]] for x in (a, b)]
        shape = (bins[a].count, bins[b].count)
        seen = np.bincount(rows[0] * shape[1] + rows[1], minlength=shape[0] * shape[1])
        found.append(np.abs(seen / cells.shape[1] - told.ravel()).sum() / 2)
    return [float(np.mean(found)), float(np.max(found))]


def run_dpmm(split: Path, name: str, epsilon: str, out: Path, *, method: str) -> dict:
    """Fit dpmm's pipeline-free generators on the binned columns."""
    import pandas as pd
    from dpmm.models.aim import AIMGM
    from dpmm.models.mst import MSTGM

    declared = json.loads((split / f"{name}.json").read_text())["domain"]
    frame = pd.read_csv(split / f"{name}_train.csv")[list(declared)]
    start = used()
    kinds = {"aim": AIMGM, "mst": MSTGM}
    steps = {"aim": 300, "mst": 1000}[method]  # its defaults take hours on two cores
    model = kinds[method](
        epsilon=float(epsilon),
        delta=float(DELTA),
        domain=declared,
        n_iters=steps,
        n_jobs=1,
    )
    model.fit(frame)
    drawn = model.generate(len(frame))
    cpu = used() - start
    drawn[list(declared)].astype(int).to_csv(out, index=False)
    return {"cpu": cpu}


def run_opendp(split: Path, name: str, epsilon: str, out: Path, *, method: str) -> dict:
    """Release OpenDP's contingency table and draw rows from it."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    declared = json.loads((split / f"{name}.json").read_text())["domain"]
    frame = pl.read_csv(split / f"{name}_train.csv").select(list(declared))
    algorithm = {"aim": dp.mbi.AIM, "mst": dp.mbi.MST}[method]()
    start = used()
    rho = rho_of(float(epsilon), float(DELTA))
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
    )
    query = context.query(rho=rho)
    table = query.contingency_table(
        keys={c: list(range(n)) for c, n in declared.items()}, algorithm=algorithm
    ).release()
    drawn = table.synthesize()
    cpu = used() - start
    rows = drawn.to_numpy() if hasattr(drawn, "to_numpy") else np.asarray(drawn)
    rows = rows[~np.isnan(rows.astype(float)).any(axis=1)].astype(np.int64)
    write(out, list(declared), rows)
    return {"cpu": cpu}


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest rho that is (epsilon, delta)-DP (Canonne, Kamath, Steinke)."""

    def spent(rho: float) -> float:
        orders = 1 + np.logspace(-3, 4, 20_000)
        logs = (
            (orders - 1) * (orders * rho - epsilon)
            + orders * np.log1p(-1 / orders)
            - np.log(orders - 1)
        )
        return float(np.exp(min(0.0, logs.min())))

    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) <= delta else (low, middle)
    return low


TOOLS = {"ours": run_ours, "dpmm": run_dpmm, "opendp": run_opendp}


def child(arguments: list[str]) -> None:
    """Run one tool once, and print what it took."""
    tool, method, split, name, epsilon, out, limit = arguments
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    told = TOOLS[tool](Path(split), name, epsilon, Path(out), method=method)
    print("RESULT " + json.dumps({"mb": peak(), **told}))


def launch(  # noqa: PLR0913
    python: str, tool: str, method: str, split: Path, name: str, epsilon: float,
    limit: int,
) -> tuple[dict, np.ndarray | None, str]:  # fmt: skip
    """Run one tool in a process of its own; return costs, rows, or what went wrong.

    It may take `limit` CPU seconds, of all its threads together; and ten times as many
    seconds of the clock, on a busy machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.csv"
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [python, "-W", "ignore", __file__, tool, method, str(split),
                   name, str(epsilon), str(out), str(limit)]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment,
                                  timeout=10 * limit, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}, None, f"{UNFINISHED} within {10 * limit} s of the clock"
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return {}, None, f"{UNFINISHED} within {limit} CPU s"
        lines = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
        if not lines:
            words = [x.strip() for x in done.stderr.splitlines() if len(x.strip()) > 4]
            return (
                {},
                None,
                "failed: " + (words or ["no output"])[-1][:160].replace("|", "/"),
            )
        return json.loads(lines[-1][7:]), read(out)[1], ""


if __name__ == "__main__":
    child(sys.argv[1:])
