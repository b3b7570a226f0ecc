"""Private models beside scikit-learn, diffprivlib and DP-EBM (interpret), in one run.

Needs nothing but Python: the peers are installed into an environment of their own,
``.venv-benchmarks``, at versions that work together; then `models_table.py` runs there
and prints the whole table of accuracy, speed and memory.

    python benchmarks/models.py                         # 5 x 5 folds, 8 seeds each
    python benchmarks/models.py --repeats 1 --seeds 2   # quick, and too few for the bars
"""

from __future__ import annotations

import subprocess
import sys

from run_all import HERE, prepare


def main() -> int:
    python = prepare()
    table = str(HERE / "models_table.py")
    return subprocess.call([python, "-W", "ignore", table, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
