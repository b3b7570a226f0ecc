"""The cost of ``sfumato --help`` against importing click alone, in CPU and wall time.

Both run as fresh processes in turns, so that a busy machine slows both alike; each
figure is the median of the runs. The aim is a ratio of at most 2.

Run ``python benchmarks/first_page.py --runs 31``.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

SOURCE = Path(__file__).parent.parent / "src"
LINES = {
    "click": "import click",
    "help": "import sys; sys.argv = ['sfumato', '--help'];"
    "from sfumato.cli import main; main()",
}


def cost(code):
    """Return CPU and wall seconds of one fresh interpreter that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={"PYTHONPATH": str(SOURCE), "LANG": "C.UTF-8"},
        stdout=subprocess.DEVNULL,
    )
    wall = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


def main():
    """Print both costs and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=31)
    runs = parser.parse_args().runs
    found = {name: [] for name in LINES}
    for _ in range(runs):
        for name, code in LINES.items():
            found[name].append(cost(code))
    for place, kind in enumerate(("CPU", "wall")):
        click, page = (median(c[place] for c in found[n]) for n in ("click", "help"))
        print(
            f"{kind}: import click {click * 1000:.0f} ms, "
            f"sfumato --help {page * 1000:.0f} ms, ratio {page / click:.2f}"
        )


if __name__ == "__main__":
    main()
