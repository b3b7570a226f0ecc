"""Synthetic tables beside dpmm and OpenDP: quality, CPU time and memory in one run.

The folder holds splits ``NAME_train.csv``, ``NAME_test.csv`` and ``NAME.json`` (bins per
column, target) of tables whose columns are binned already. Each tool runs in a process of
its own. The peers need other versions of nearly everything, so each is installed once into
an environment of its own, .venv-benchmarks-NAME; or name an interpreter that has it. What
cannot be run is said.

    python benchmarks/synth.py FOLDER [--dpmm PYTHON] [--opendp PYTHON] [--mbi PYTHON]

Figures: 1-, 2- and 3-way total-variation distance to the training table (at most 60
tables drawn at random), AUC of a logistic regression and of boosted trees trained on
synthetic rows and tested on real ones, CPU seconds of fitting and drawing, and the
largest memory of the process. ε with δ = 1e-6.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DELTA = "1e-6"
ROOT = Path(__file__).parents[1]
PEERS = {
    "dpmm": ("dpmm==0.1.9",),  # needs Python below 3.12
    "opendp": ("opendp[mbi]==0.16.0", "pandas"),
    "mbi": ("mbi==2.0.0",),
}
BARS = {  # table, ε: (2-way distance, AUC of the regression, of the trees, CPU s, MB)
    ("pima", 0.5): (0.285, None, None, 0.5, 150),
    ("pima", 1.0): (0.22, 0.69, None, 0.5, 150),
    ("pima", 3.0): (0.176, 0.78, None, 0.5, 150),
    ("adult", 0.5): (0.056, None, None, 10, 200),
    ("adult", 1.0): (0.041, 0.887, 0.905, 10, 200),
    ("adult", 3.0): (0.029, None, None, 10, 200),
    ("flchain", 1.0): (0.056, 0.82, None, None, None),
}


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
    return {"cpu": cpu, "off": off_model(made, drawn, head)}


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
    tool, method, split, name, epsilon, out = arguments
    told = TOOLS[tool](Path(split), name, epsilon, Path(out), method=method)
    told["mb"] = peak()
    print("RESULT " + json.dumps(told))


def launch(  # noqa: PLR0913
    python: str, tool: str, method: str, split: Path, name: str, epsilon: float,
    limit: int,
) -> tuple[dict, np.ndarray | None, str]:  # fmt: skip
    """Run one tool in a process of its own; return costs, rows, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.csv"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                       "SFUMATO_BENCH_CHILD": "1"}  # fmt: skip
        command = [python, "-W", "ignore", __file__, "--child", tool, method, str(split),
                   name, str(epsilon), str(out)]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment,
                                  timeout=limit, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}, None, f"not done in {limit} s"
        lines = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
        if not lines:
            words = done.stderr.strip().splitlines() or ["no output"]
            told = [x for x in words if "Error" in x or "Exception" in x]
            return {}, None, (told or words)[-1].strip()[:100]
        return json.loads(lines[-1][7:]), read(out)[1], ""


def distance(
    real: np.ndarray, made: np.ndarray, axes: tuple[int, ...], sizes: list[int]
) -> float:
    """Return the total-variation distance of one table of counts."""
    shape = [sizes[x] for x in axes]
    first, second = (
        np.unique(np.ravel_multi_index(rows.T[list(axes)], shape), return_counts=True)
        for rows in (real, made)
    )
    shares: dict[int, float] = {}
    for (cells, counts), sign, rows in ((first, 1, real), (second, -1, made)):
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            shares[cell] = shares.get(cell, 0.0) + sign * count / len(rows)
    return sum(map(abs, shares.values())) / 2


def distances(real: np.ndarray, made: np.ndarray, sizes: list[int]) -> list[float]:
    """Return the mean 1-, 2- and 3-way distances, over at most 60 tables each."""
    found = []
    for ways in (1, 2, 3):
        tables = list(itertools.combinations(range(len(sizes)), ways))
        if len(tables) > 60:
            chosen = np.random.default_rng(0).choice(len(tables), 60, replace=False)
            tables = [tables[i] for i in chosen]
        found.append(float(np.mean([distance(real, made, t, sizes) for t in tables])))
    return found


def scores(
    made: np.ndarray, test: np.ndarray, head: list[str], told: dict
) -> list[float]:
    """Return the AUC of a regression and of trees, trained on made and tested on real."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    y = head.index(told["target"])
    use = [i for i, c in enumerate(head) if i != y and c not in told["drop"]]
    if len(set(made[:, y])) < 2:
        return [0.5, 0.5]

    def hot(rows: np.ndarray) -> np.ndarray:
        return np.hstack([np.eye(told["domain"][head[i]])[rows[:, i]] for i in use])

    some = np.random.default_rng(0).permutation(len(made))[:20_000]
    line = LogisticRegression(C=0.3, max_iter=200).fit(
        hot(made[some]), made[some][:, y]
    )
    large = len(made) > 2000
    trees = HistGradientBoostingClassifier(
        max_iter=100 if large else 40, max_leaf_nodes=31 if large else 8, random_state=0
    ).fit(made[:, use], made[:, y])
    return [
        float(roc_auc_score(test[:, y], line.predict_proba(hot(test))[:, 1])),
        float(roc_auc_score(test[:, y], trees.predict_proba(test[:, use])[:, 1])),
    ]


def measure(folder: Path, table: str, seed: int, rows: np.ndarray) -> list[float]:
    """Return distances and scores of one run."""
    name = split_name(table, seed)
    told = json.loads((folder / f"{name}.json").read_text())
    head, real = read(folder / f"{name}_train.csv")
    _, test = read(folder / f"{name}_test.csv")
    sizes = [told["domain"][c] for c in head]
    bad = sum(
        int(
            np.all(
                [np.isin(rows[:, head.index(c)], v) for c, v in rule.items()], axis=0
            ).sum()
        )
        for rule in impossible(rows, head, sizes)
    )
    return [*distances(real, rows, sizes), *scores(rows, test, head, told), float(bad)]


def split_name(table: str, seed: int) -> str:
    """Return the split of a run: Pima has five."""
    return {"pima": f"pima{seed % 5}", "adult": "adultc"}.get(table, table)


def line(values: list[object]) -> str:
    """Return one row of a table in Markdown."""
    return "| " + " | ".join(map(str, values)) + " |"


def verdict(table: str, epsilon: float, means: dict[str, float]) -> str:
    """Say which bars are met."""
    bar = BARS.get((table, epsilon))
    if bar is None:
        return ""
    pairs = [
        ("t2", means["t2"], bar[0], 1), ("LR", means["lr"], bar[1], -1),
        ("trees", means["gb"], bar[2], -1), ("CPU", means["cpu"], bar[3], 1),
        ("MB", means["mb"], bar[4], 1),
    ]  # fmt: skip
    return ", ".join(
        f"{name} {'ok' if sign * value <= sign * limit else 'MISSED'} ({limit})"
        for name, value, limit, sign in pairs
        if limit is not None
    )


def tables(options: argparse.Namespace, out: list[str]) -> None:
    """Print the tables of quality, tool by tool."""
    plans = [
        *(("ours", m, sys.executable, options.seeds) for m in options.methods),
        ("dpmm", "mst", options.dpmm, options.rivals),
        ("dpmm", "aim", options.dpmm, options.rivals),
        ("opendp", "aim", options.opendp, options.rivals),
        ("opendp", "mst", options.opendp, options.rivals),
    ]
    for table in options.tables:
        out += ["", f"## {table}", "", line(["ε", "tool", "runs", "1-way", "2-way", "3-way",
                "LR AUC", "trees AUC", "impossible", "CPU s", "MB", "bars"]), line(["---"] * 12)]  # fmt: skip
        print("\n".join(out[-2:]), flush=True)
        for epsilon in options.epsilons:
            if table == "flchain" and epsilon != 1.0:
                continue
            for tool, method, python, runs in plans:
                if python is None or runs == 0:
                    continue
                text = one_line(options, table, epsilon, (tool, method, python, runs))
                out.append(text)
                print(text, flush=True)


def one_line(
    options: argparse.Namespace,
    table: str,
    epsilon: float,
    plan: tuple[str, str, str, int],
) -> str:
    """Return the line of one tool: means over its runs, or why there are none."""
    tool, method, python, runs = plan
    found, trouble, off = [], "", []
    for seed in range(runs):
        name = split_name(table, seed)
        told, rows, trouble = launch(
            python, tool, method, options.folder, name, epsilon, options.limit
        )
        if rows is None:
            break
        values = measure(options.folder, table, seed, rows)
        found.append([*values, told["cpu"], told["mb"]])
        off.append(told.get("off", [0.0, 0.0]))
    label = f"{tool} {method}"
    if not found:
        return line([epsilon, label, 0, *["–"] * 8, trouble])
    names = ("t1", "t2", "t3", "lr", "gb", "bad", "cpu", "mb")
    means = dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))
    shown = [f"{means[n]:.3f}" for n in names[:5]]
    note = verdict(table, epsilon, means) if tool == "ours" else trouble
    if tool == "ours":
        off = np.mean(off, axis=0)
        note += f"; rows off their model by {off[0]:.4f}, at most {off[1]:.4f}"
    return line([epsilon, label, len(found), *shown, f"{means['bad']:.0f}",
                 f"{means['cpu']:.2f}", f"{means['mb']:.0f}", note])  # fmt: skip


def scale(out: list[str]) -> None:
    """Print CPU and memory of a million rows of 14 columns, and of 40 columns."""
    out += ["", "## scale", ""]
    for name, cpu, mb in (("million", 20, 500), ("forty", 10, None)):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, "--scale", name],
            capture_output=True, text=True, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        lines = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
        if not lines:
            out.append(f"- {name}: {(done.stderr.strip().splitlines() or ['-'])[-1]}")
            print(out[-1], flush=True)
            continue
        told = json.loads(lines[-1][7:])
        pairs = [("CPU", told["cpu"], cpu), ("MB", told["mb"], mb)]
        bars = ", ".join(f"{n} {'ok' if v <= bar else 'MISSED'} ({bar})"
                         for n, v, bar in pairs if bar is not None)  # fmt: skip
        out.append(f"- {told['text']}; {bars}")
        print(out[-1], flush=True)


def scale_child(name: str) -> None:
    """Make a table in a Parquet file, then fit it and report this process alone."""
    import sfumato as sf
    from sfumato.synth import Synthesizer

    rows, sizes = (1_000_000, [17, 9, 10, 16, 7, 15, 6, 5, 2, 20, 20, 20, 42, 2])
    if name == "forty":
        rows, sizes = 20_000, [4 + i % 7 for i in range(40)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        subprocess.run(
            [
                sys.executable,
                __file__,
                "--make",
                str(path),
                str(rows),
                json.dumps(sizes),
            ],
            check=True,
        )
        schema = sf.Schema(
            {f"c{i}": sf.Category(range(n)) for i, n in enumerate(sizes)}
        )
        table = sf.Dataset(path, schema=schema, name=name)
        start = used()
        made = Synthesizer("oneshot", complete=True).fit(
            table, budget=sf.ApproxDP("1", DELTA)
        )
        fitted = used() - start
        made.sample(rows)
        memory = peak()
        cpu = used() - start
        text = (f"{rows} x {len(sizes)}: fit {fitted:.1f}, with rows {cpu:.1f} CPU s, "
                f"{memory:.0f} MB, {len(made.release.tables)} tables")  # fmt: skip
        print("RESULT " + json.dumps({"text": text, "cpu": cpu, "mb": memory}))


def make_table(path: str, rows: int, sizes: list[int]) -> None:
    """Write a table in which each column leans on the one before it."""
    import duckdb

    rng = np.random.default_rng(0)
    columns = [rng.integers(0, sizes[0], rows)]
    for size in sizes[1:]:
        kept = rng.random(rows) < 0.6
        columns.append(np.where(kept, columns[-1] % size, rng.integers(0, size, rows)))
    held = {f"c{i}": c.astype(np.int16) for i, c in enumerate(columns)}
    db = duckdb.connect()
    db.register("held", held)
    db.execute(f"COPY (SELECT * FROM held) TO '{path}' (FORMAT parquet)")


def bars_of_raw(ks: float, means: float) -> str:
    """Say which bars of raw Pima are met."""
    told = [f"{n} {'ok' if v <= bar else 'MISSED'} ({bar})"
            for n, v, bar in (("KS", ks, 0.18), ("means", means, 0.20))]  # fmt: skip
    return f"; {', '.join(told)}"


def raw_pima(seeds: int, out: list[str]) -> None:
    """Print the error of raw Pima at ε = 1: mean KS and relative error of means."""
    from importlib import resources

    import pandas as pd

    import sfumato as sf
    from sfumato.synth import Synthesizer

    bounds = {"Pregnancies": (0, 20), "Glucose": (0, 250), "BloodPressure": (0, 150),
              "SkinThickness": (0, 100), "Insulin": (0, 900), "BMI": (0, 70),
              "DiabetesPedigreeFunction": (0, 2.5), "Age": (21, 90)}  # fmt: skip
    text = resources.files("sfumato").joinpath("data/diabetes.csv")
    frame = pd.read_csv(str(text))
    whole = ("Pregnancies", "Age")
    columns = {
        c: sf.Integer(*b) if c in whole else sf.Real(*b) for c, b in bounds.items()
    }
    schema = sf.Schema({**columns, "Outcome": sf.Category([0, 1])})
    for epsilon in ("1", "3"):
        ks, means = [], []
        for seed in range(seeds):
            order = np.random.default_rng(seed % 5).permutation(len(frame))
            train = frame.iloc[order[: int(0.7 * len(frame))]]
            made = Synthesizer(complete=True).fit(
                sf.Dataset(train, schema=schema, name="raw"), budget=sf.ApproxDP(epsilon, DELTA)
            ).sample(len(train))  # fmt: skip
            for c in bounds:
                real, fake = np.sort(train[c]), np.sort(made[c])
                at = np.concatenate([real, fake])
                gap = np.searchsorted(real, at, "right") / len(real)
                ks.append(
                    np.abs(gap - np.searchsorted(fake, at, "right") / len(fake)).max()
                )
                means.append(abs(fake.mean() / real.mean() - 1))
        out.append(
            f"- raw Pima, ε {epsilon}, {seeds} runs: KS {np.mean(ks):.3f}, relative error of "
            f"column means {np.mean(means):.3f}"
            + (bars_of_raw(np.mean(ks), np.mean(means)) if epsilon == "1" else "")
        )
        print(out[-1], flush=True)


def peer(name: str, given: str | None, out: list[str]) -> str | None:
    """Return an interpreter that has a peer: the one named, or one made for it once."""
    if given == "none":
        out.append(f"- {name} was not run")
        return None
    if given is not None:
        return given
    home = ROOT / f".venv-benchmarks-{name}"
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        steps = (
            [sys.executable, "-m", "venv", str(home)],
            [str(python), "-m", "pip", "install", "--quiet", *PEERS[name]],
        )
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no output"])[-1][:200]
                out.append(f"- {name} was not run, it cannot be installed: {last}")
                return None
        ready.touch()
    return str(python)


def fit_loss(python: str | None, out: list[str]) -> None:
    """Print the loss of the fit beside that of mbi, on the same noisy tables."""
    if python is None:
        return
    command = [sys.executable, str(Path(__file__).with_name("synth_fit.py"))]
    done = subprocess.run(
        [*command, "--mbi", python], capture_output=True, text=True, check=False
    )
    out += ["", "## fit on the same noisy tables", ""]
    out += [f"- {x}" for x in done.stdout.strip().splitlines() or ["it failed"]]
    print("\n".join(out[-5:]), flush=True)


def main() -> None:
    """Read the options and print everything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="folder of the splits")
    parser.add_argument("--seeds", type=int, default=5, help="runs of ours")
    parser.add_argument("--rivals", type=int, default=1, help="runs of the others")
    parser.add_argument("--limit", type=int, default=900, help="seconds of one run")
    for name in PEERS:
        parser.add_argument(
            f"--{name}", help=f"an interpreter that has {PEERS[name][0]}, or none"
        )
    parser.add_argument("--tables", nargs="+", default=["pima", "adult", "flchain"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.5, 1.0, 3.0])
    parser.add_argument("--methods", nargs="+", default=["adaptive", "oneshot"])
    parser.add_argument("--out", type=Path, help="a file for the tables")
    options = parser.parse_args()
    out = ["# Synthetic tables", ""]
    for tool in PEERS:
        setattr(options, tool, peer(tool, getattr(options, tool), out))
    print("\n".join(out), flush=True)
    tables(options, out)
    out += ["", "## raw Pima", ""]
    raw_pima(options.seeds, out)
    scale(out)
    fit_loss(options.mbi, out)
    if options.out:
        options.out.write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    elif sys.argv[1:2] == ["--scale"]:
        scale_child(sys.argv[2])
    elif sys.argv[1:2] == ["--make"]:
        make_table(sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]))
    else:
        main()
