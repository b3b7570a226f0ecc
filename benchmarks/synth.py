"""Synthetic tables beside dpmm and OpenDP: quality, CPU time and memory in one run.

The folder holds splits ``NAME_train.csv``, ``NAME_test.csv`` and ``NAME.json`` (bins per
column, target) of tables whose columns are binned already. Each tool runs in a process of
its own. The peers need other versions of nearly everything, so each is installed once into
an environment of its own, .venv-benchmarks-NAME; or name an interpreter that has it. What
cannot be run is said, and what is not finished within --limit CPU seconds, which is then
not tried at a larger ε.

    python benchmarks/synth.py FOLDER [--dpmm PYTHON] [--opendp PYTHON] [--mbi PYTHON]

Figures: 1-, 2- and 3-way total-variation distance to the training table (at most 60
tables drawn at random), AUC of a logistic regression and of boosted trees trained on
synthetic rows and tested on real ones, CPU seconds of fitting and drawing, and the
largest memory of the process. ε with δ = 1e-6. Ours run alone, peers two at a time. Each
bar is held by the method that docs/synthetic.md advises for such a table.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import numpy as np
from synth_fit import compare
from synth_scale import raw_pima, scale
from synth_score import measure, split_name
from synth_tools import UNFINISHED, launch

ROOT = Path(__file__).parents[1]
PEERS = {
    "dpmm": ("dpmm==0.1.9",),  # needs Python below 3.12
    "opendp": ("opendp[mbi]==0.16.0", "pandas"),
    "mbi": ("mbi==2.0.0",),
}
RIVALS = (("dpmm", "mst"), ("dpmm", "aim"), ("opendp", "aim"), ("opendp", "mst"))
TABLES = {  # the advised method, and how many times more runs: small tables vary more
    "pima": ("adaptive", 3),
    "flchain": ("adaptive", 2),
    "adult": ("oneshot", 1),
}
HEAD = ["tool", "ε", "runs", "1-way", "2-way", "3-way", "LR AUC", "trees AUC",
        "impossible rows", "CPU s", "MB", "note"]  # fmt: skip
NAMES = ("t1", "t2", "t3", "lr", "gb", "bad", "cpu", "mb")
WORDS = {"t2": "2-way distance", "lr": "LR AUC", "gb": "trees AUC", "bad": "impossible rows",
         "cpu": "CPU s", "mb": "MB"}  # fmt: skip
BARS = {  # table, ε: (figure, its bar)
    ("pima", 0.5): {"t2": 0.285, "cpu": 0.5, "mb": 150},
    ("pima", 1.0): {"t2": 0.22, "lr": 0.69, "cpu": 0.5, "mb": 150},
    ("pima", 3.0): {"t2": 0.176, "lr": 0.78, "cpu": 0.5, "mb": 150},
    ("flchain", 1.0): {"t2": 0.056, "lr": 0.82, "bad": 0},
    ("adult", 0.5): {"t2": 0.056, "cpu": 10, "mb": 200},
    ("adult", 1.0): {"t2": 0.041, "lr": 0.887, "gb": 0.905, "cpu": 10, "mb": 200},
    ("adult", 3.0): {"t2": 0.029, "cpu": 10, "mb": 200},
}


class Paper:
    """What is printed and kept, line by line, and the bars beside what was measured."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bars: list[str] = []
        self.missed = 0
        self._lock = Lock()

    def write(self, *lines: str) -> None:
        with self._lock:
            self.lines += lines
            print(*lines, sep="\n", flush=True)

    def bar(
        self, what: str, value: float, limit: float, *, least: bool = False
    ) -> None:
        met = value >= limit if least else value <= limit
        self.missed += not met
        digits = 0 if limit >= 100 else 3 if limit < 1 else 2
        self.bars.append(
            row([what, f"{'≥' if least else '≤'} {limit}", f"{value:.{digits}f}",
                 "yes" if met else "NO"])
        )  # fmt: skip


def row(values: list[object]) -> str:
    """Return one row of a table in Markdown."""
    return "| " + " | ".join(map(str, values)) + " |"


def heading(title: str, head: list[str]) -> tuple[str, ...]:
    """Return the beginning of a table in Markdown."""
    return ("", f"## {title}", "", row(head), row(["---"] * len(head)))


def epsilons(options: argparse.Namespace, table: str) -> list[float]:
    """Return the ε of a table: those of its bars."""
    return [e for e in sorted(options.epsilons) if (table, e) in BARS]


def runs(options: argparse.Namespace, what: tuple, epsilon: float, count: int):
    """Return the mean figures of several runs of a tool, and what went wrong."""
    table, tool, method, python = what
    found, off, trouble = [], [], ""
    limit = options.limit if tool != "ours" else 600
    for seed in range(count):
        name = split_name(table, seed)
        told, rows, trouble = launch(
            python, tool, method, options.folder, name, epsilon, limit
        )
        if rows is None:
            break
        values = measure(options.folder, table, seed, rows)
        found.append([*values, told["cpu"], told["mb"]])
        off.append(told.get("off", [0.0, 0.0]))
    if not found:
        return None, trouble
    means = dict(zip(NAMES, np.mean(found, axis=0).tolist(), strict=True))
    means["runs"], means["off"] = len(found), np.mean(off, axis=0).tolist()
    return means, trouble


def told(label: str, epsilon: float, means: dict | None, note: str) -> str:
    """Return the line of a tool at one ε."""
    if means is None:
        return row([label, epsilon, 0, *["–"] * 8, note])
    shown = [f"{means[n]:.3f}" for n in NAMES[:5]]
    return row([label, epsilon, means["runs"], *shown, f"{means['bad']:.0f}",
                f"{means['cpu']:.2f}", f"{means['mb']:.0f}", note])  # fmt: skip


def ours(options: argparse.Namespace, paper: Paper) -> None:
    """Measure ours, one process at a time, and hold it to the bars."""
    for table in options.tables:
        advised, times = TABLES[table]
        paper.write(*heading(f"{table}: ours", HEAD))
        other = "oneshot" if advised == "adaptive" else "adaptive"
        for method, count in (
            (advised, options.seeds * times),
            (other, options.others),
        ):
            for epsilon in epsilons(options, table) if count else ():
                what = (table, "ours", method, sys.executable)
                means, trouble = runs(options, what, epsilon, count)
                if means is None:
                    raise SystemExit(f"ours {method} on {table}: {trouble}")
                mean, most = means["off"]
                note = f"rows off their model by {mean:.4f}, at most {most:.4f}"
                paper.write(told(f"ours, {method}", epsilon, means, note))
                if method != advised:
                    continue
                for name, limit in BARS[table, epsilon].items():
                    what_ = f"{table}, ε {epsilon}: {WORDS[name]}"
                    paper.bar(what_, means[name], limit, least=name in ("lr", "gb"))


def peers(options: argparse.Namespace, paper: Paper) -> None:
    """Measure the peers, as many at a time as there are cores, at most two."""
    asked = [
        (table, tool, method, getattr(options, tool))
        for table in options.tables
        for tool, method in RIVALS
        if getattr(options, tool) is not None
    ]

    def one(what: tuple) -> list[str]:
        table, tool, method, _ = what
        lines, unfinished = [], None
        for epsilon in epsilons(options, table):
            means, note = None, f"not tried: {UNFINISHED} at ε {unfinished}"
            if unfinished is None:
                means, note = runs(options, what, epsilon, options.rivals)
                unfinished = epsilon if UNFINISHED in note else None
            lines.append(told(f"{tool}, {method}", epsilon, means, note))
        print(*lines, sep="\n", flush=True)
        return lines

    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        done = dict(zip(asked, pool.map(one, asked), strict=True))
    for table in options.tables:
        lines = [x for what in asked if what[0] == table for x in done[what]]
        if lines:
            paper.lines += [*heading(f"{table}: peers", HEAD), *lines]


def others(options: argparse.Namespace, paper: Paper) -> None:
    """Measure raw Pima and large tables, and the fit beside mbi's."""
    paper.write("", "## raw and large tables, ours", "")
    for epsilon in ("1", "3"):
        ks, means = raw_pima(3 * options.seeds, epsilon)
        paper.write(f"- raw Pima, ε {epsilon}, {3 * options.seeds} runs: KS {ks:.3f}, "
                    f"relative error of column means {means:.3f}")  # fmt: skip
        if epsilon == "1":
            paper.bar("raw Pima, ε 1: KS", ks, 0.18)
            paper.bar("raw Pima, ε 1: error of column means", means, 0.20)
    large = {n: [scale(n) for _ in range(options.seeds)] for n in ("million", "forty")}
    for name, cpu, mb in (("million", 20, 500), ("forty", 10, None)):
        told_ = large[name]
        means = {n: float(np.mean([t[n] for t in told_])) for n in ("cpu", "mb")}
        words = told_[0]["text"]
        paper.write(f"- {words}: with rows {means['cpu']:.1f} CPU s, {means['mb']:.0f} MB, "
                    f"{len(told_)} runs")  # fmt: skip
        paper.bar(f"{words}: CPU s", means["cpu"], cpu)
        if mb is not None:
            paper.bar(f"{words}: MB", means["mb"], mb)
    if options.mbi is None:
        return
    paper.write("", "## the fit alone, on the same noisy tables", "")
    lines, ratio = compare(options.mbi)
    paper.write(*(f"- {x}" for x in lines))
    if ratio is not None:
        paper.bar("loss of the fit above mbi 2.0, %", 100 * ratio, 1)


def peer(name: str, given: str | None, paper: Paper) -> str | None:
    """Return an interpreter that has a peer: the one named, or one made for it once."""
    if given == "none":
        paper.write(f"- {name} was not run")
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
                paper.write(f"- {name} was not run, it cannot be installed: {last}")
                return None
        ready.touch()
    return str(python)


def main() -> None:
    """Read the options and print everything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="folder of the splits")
    parser.add_argument("--seeds", type=int, default=5,
                        help="runs of ours, three times as many of Pima, twice of flchain")  # fmt: skip
    parser.add_argument(
        "--others", type=int, default=1, help="runs of our other method"
    )
    parser.add_argument("--rivals", type=int, default=1, help="runs of each peer")
    parser.add_argument("--limit", type=int, default=120,
                        help="CPU seconds of one run of a peer")  # fmt: skip
    for name in PEERS:
        parser.add_argument(
            f"--{name}", help=f"an interpreter that has {PEERS[name][0]}, or none"
        )
    parser.add_argument("--tables", nargs="+", default=[*TABLES], choices=[*TABLES])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.5, 1.0, 3.0])
    parser.add_argument("--out", type=Path, help="a file for the tables")
    options = parser.parse_args()
    start, paper = time.time(), Paper()
    versions = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    paper.write("# Synthetic tables", "", f"δ = 1e-6; {versions}; a run of a peer may take "
                f"{options.limit} CPU s.")  # fmt: skip
    for tool in PEERS:
        setattr(options, tool, peer(tool, getattr(options, tool), paper))
    ours(options, paper)
    others(options, paper)
    paper.write(
        *heading("bars", ["bar", "limit", "measured, mean", "met"]), *paper.bars, "",
        f"{len(paper.bars) - paper.missed} of {len(paper.bars)} bars are met.",
    )  # fmt: skip
    peers(options, paper)
    paper.write("", f"The run took {(time.time() - start) / 60:.0f} minutes.")
    if options.out:
        options.out.write_text("\n".join(paper.lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
