"""The profile report against dp_accounting: values and times, in one run.

Tasks are those of ``docs/accounting.md``; "mixed n" has n/2 distinct Laplace and n/2
distinct Gaussian mechanisms. dp_accounting is called as its users call it, with its
default discretisation of 1e-4; without it only our own figures are printed.

    python benchmarks/accounting.py --out accounting.md
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import time
from collections.abc import Callable
from pathlib import Path

from sfumato.account.profile import Profile

DELTA = "1e-6"
Entry = dict[str, object]


def laplace(epsilon: float, count: int = 1) -> Entry:
    return {"kind": "laplace", "sensitivity": repr(epsilon), "scale": 1, "count": count}


def gaussian(sigma: float, count: int = 1) -> Entry:
    return {
        "kind": "gaussian",
        "squared_sensitivity": 1,
        "variance": repr(sigma * sigma),
        "count": count,
    }


def mixed(count: int) -> list[Entry]:
    """Distinct mechanisms, spread by a factor of three, of like total loss."""
    half = count // 2
    spread = [0.5 + i / half for i in range(half)]
    unit = 0.25 / count**0.5
    return [laplace(round(unit * s, 9)) for s in spread] + [
        gaussian(round(1 / (unit * s), 6)) for s in spread
    ]


def laplaces(count: int) -> list[Entry]:
    return [
        laplace(round(0.25 / count**0.5 * (0.5 + i / count), 9)) for i in range(count)
    ]


TASKS: dict[str, list[Entry]] = {
    "Laplace 0.1, 100 times": [laplace(0.1, 100)],
    "Laplace 0.1, 1000 times": [laplace(0.1, 1000)],
    "Gaussian 10, 1000 times": [gaussian(10, 1000)],
    "50 Laplace 0.1 and 50 Gaussian 10": [laplace(0.1, 50), gaussian(10, 50)],
    "mixed 10": mixed(10),
    "mixed 100": mixed(100),
    "mixed 1000": mixed(1000),
    "1000 distinct Laplace": laplaces(1000),
}


def ours(entries: list[Entry]) -> float:
    return Profile(entries).epsilon(DELTA)


def theirs(entries: list[Entry]) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    for entry in entries:
        if entry["kind"] == "laplace":
            event = dp_event.LaplaceDpEvent(1 / float(str(entry["sensitivity"])))
        else:
            event = dp_event.GaussianDpEvent(float(str(entry["variance"])) ** 0.5)
        accountant.compose(event, int(str(entry["count"])))
    return float(accountant.get_epsilon(float(DELTA)))


def timed(
    run: Callable[[list[Entry]], float], entries: list[Entry]
) -> tuple[float, float]:
    start = time.process_time()
    value = run(entries)
    return value, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    rival = importlib.util.find_spec("dp_accounting") is not None
    if not rival:
        print("dp_accounting is not installed: its columns are left out")
    ours(TASKS["mixed 10"])  # imports and caches
    lines = [
        f"Python {platform.python_version()}, delta {DELTA}, CPU seconds",
        "",
        "| task | our ε | s | dp_accounting | s | ratio of times |",
        "|---|---|---|---|---|---|",
    ]
    for name, entries in TASKS.items():
        value, seconds = timed(ours, entries)
        row = f"| {name} | {value:.9f} | {seconds:.3f} |"
        if rival:
            other, longer = timed(theirs, entries)
            row += f" {other:.9f} | {longer:.3f} | {seconds / longer:.2f} |"
        else:
            row += " | | |"
        lines.append(row)
        print(row, flush=True)
    if out:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
