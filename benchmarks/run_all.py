"""Run the benchmarks that have peers, in an environment of their own.

The page goes to build/benchmarks.md: docs/benchmarks.md has more, put there by hand.

The peers (OpenDP, diffprivlib) are installed beside sfumato into .venv-benchmarks, at
versions that work together; sfumato itself does not depend on them.

    python benchmarks/run_all.py [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
HOME = ROOT / ".venv-benchmarks"
# diffprivlib 0.6.6 imports private names that scikit-learn 1.9 no longer has.
PEERS = [
    "opendp[polars]",
    "diffprivlib",
    "interpret-core",
    "scikit-learn==1.7.*",
    "pandas",
    "pyarrow",
]


def prepare() -> Path:
    """Create the environment once and return its interpreter."""
    python = HOME / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not (HOME / ".ready").exists():
        venv.create(HOME, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "uv"], check=True)
        install = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
        subprocess.run([*install, "--editable", str(ROOT), *PEERS], check=True)
        (HOME / ".ready").touch()
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs and rows")
    quick = parser.parse_args().quick
    runs = {
        "noise.py": [],
        "pima.py": ["--runs", "100" if quick else "500"],
        "ledger.py": ["--rounds", "1" if quick else "3"],
        "models_table.py": ["--repeats", "1"] if quick else [],
        "grouped.py": ["--rows", "1000000" if quick else "10000000"],
    }
    python = prepare()
    pages = []
    with tempfile.TemporaryDirectory() as folder:
        for name, options in runs.items():
            out = Path(folder) / f"{name}.md"
            command = [
                python,
                "-W",
                "ignore",
                str(HERE / name),
                *options,
                "--out",
                str(out),
            ]
            subprocess.run(command, check=True)
            pages.append(out.read_text(encoding="utf-8").replace("\n# ", "\n## "))
    text = "# Benchmarks\n\n" + "\n".join(
        f"## {p.lstrip('# ')}" if p.startswith("# ") else p for p in pages
    )
    page = ROOT / "build" / "benchmarks.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")
    print(f"written to {page}")


if __name__ == "__main__":
    main()
