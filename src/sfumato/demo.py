"""The demonstration: a project file and a public table that come with the package.

The table is the Pima Indians Diabetes data set (National Institute of Diabetes and
Digestive and Kidney Diseases; UCI Machine Learning Repository): 768 women of at least
21 years. It is public, so its budget is kept in memory and every run begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

__all__ = ["is_demo_folder", "project_file", "table_file"]

NAME = "pima-demo"


@contextmanager
def project_file() -> Iterator[Path]:
    """Return the path of the demonstration's project file; its table lies beside it."""
    with as_file(files("sfumato") / "data") as folder:
        yield folder / "demo.toml"


@contextmanager
def table_file() -> Iterator[Path]:
    """Return the path of the project file of the demonstration's synthetic table."""
    with as_file(files("sfumato") / "data") as folder:
        yield folder / "demo-synthetic.toml"


def is_demo_folder(folder: Path) -> bool:
    """Tell whether the release in a folder was made by a demonstration.

    A second demonstration may overwrite the first, but never a steward's own release.
    """
    try:
        text = (folder / "release.json").read_text(encoding="utf-8")
        made = json.loads(text)["releases"]
        return all(r["claim"]["receipt"]["dataset"] == NAME for r in made)
    except (OSError, ValueError, KeyError, TypeError):
        return False
