"""Benchmarks run: in their shortest form, without their peers, figures unjudged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHORT = [
    "accounting",
    "audit_gallery --draws 1000",
    "bounds --runs 1",
    "engines --only duckdb --rows 10000",
    "first_page --runs 1",
    "grouped --rows 10000",
    "hostile_tables --seconds 1",
    "intervals --releases 1 --only continuous",
    "ledger --seconds 0.1 --rounds 1",
    "models_table --repeats 1 --seeds 1",
    "mutants count",
    "noise",
    "pima --runs 2",
    "planning --questions 10",
    "synth_scale --linked 1000",
    "tutorials",
    "utility --only bounds --runs 1",
    "utility --only consistency --seeds 1",
    "utility --only intervals --releases 1",
]


@pytest.mark.slow
@pytest.mark.parametrize("words", SHORT)
def test_it_runs_and_prints(words, tmp_path):
    """It ends well; what it measures in so short a time is no measurement."""
    name, *options = words.split()
    run = [sys.executable, "-W", "ignore", ROOT / "benchmarks" / f"{name}.py", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout
