"""A small project on disk, and two ways to run the command line."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # cluster, sparks

import sfumato
from sfumato.cli import cli

GOOD = """\
title = "Small"
[data]
source = "table.csv"
name = "small"
[columns.Glucose]
type = "real"
lower = 0
upper = 250
step = 1
missing = 0
unit = "mg/dL"
[columns.Outcome]
type = "category"
values = [0, 1]
[budget]
epsilon = "1"
[[releases]]
name = "overview"
epsilon = "0.5"
statistics = [{ count = true }, { mean = "Glucose", weight = 2 }]
group_by = ["Outcome"]
[[releases]]
name = "bins"
epsilon = "0.25"
statistics = [{ histogram = "Glucose", edges = [0, 100, 140, 250] }]
[output]
formats = ["json", "csv"]
"""
TABLE = "Glucose,Outcome\n" + "120,0\n150,1\n0,0\n" * 200


@pytest.fixture
def good():
    """The text of a project file that is in order."""
    return GOOD


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A steward's desk: an empty folder, the current one, with a project writer."""
    monkeypatch.chdir(tmp_path)
    for name in ("SFUMATO_LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "SFUMATO_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")

    def project(text=GOOD, table=TABLE):
        Path("table.csv").write_text(table, encoding="utf-8")
        Path("project.toml").write_text(text, encoding="utf-8")

    def files():
        return {
            p.relative_to(tmp_path).as_posix(): p.read_bytes()
            for p in tmp_path.rglob("*")
            if p.is_file()
        }

    return SimpleNamespace(path=tmp_path, project=project, files=files)


@pytest.fixture
def run(desk):  # noqa: ARG001  a desk to work at
    """Return a function that runs a command line in this process."""

    def call(*words, **settings):
        return CliRunner().invoke(cli, [str(w) for w in words], **settings)

    return call


@pytest.fixture
def refused(desk, run):
    """Return a function that runs a wrong command line and returns its one line."""

    def call(*words, **settings):
        before = desk.files()
        result = run(*words, **settings)

        assert result.exit_code == 2, result.output
        assert not result.stdout
        assert result.stderr.count("\n") == 1, result.stderr
        assert "Traceback" not in result.stderr
        assert desk.files() == before
        return result.stderr

    return call


@pytest.fixture
def program(desk):  # noqa: ARG001  a desk to work at
    """Return a function that runs the program in a process of its own."""

    def call(*words, **env):
        source = str(Path(sfumato.__file__).parent.parent)
        return subprocess.run(
            [sys.executable, "-m", "sfumato.cli", *map(str, words)],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": source, **env},
            stdin=subprocess.DEVNULL,
            check=False,
        )

    return call
