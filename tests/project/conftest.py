"""A small project on disk, and ways to spoil it."""

import pytest

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
"""
TABLE = "Glucose,Outcome\n" + "120,0\n150,1\n0,0\n" * 200


@pytest.fixture
def good():
    """The text of a project file that is in order."""
    return GOOD


@pytest.fixture
def project(tmp_path):
    """Return a function that writes a project file beside its table."""

    def write(text=GOOD, table=TABLE):
        (tmp_path / "table.csv").write_text(table, encoding="utf-8")
        path = tmp_path / "project.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
