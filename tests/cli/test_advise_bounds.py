"""`advise --public`: how much of a person should count, from a public stand-in."""

import json
from pathlib import Path

import pytest

PROJECT = """\
title = "Visits"
[data]
source = "private.csv"
name = "visits"
[unit]
column = "who"
max_rows = 1
max_groups = 1
[columns.g]
type = "category"
values = ["a", "b", "c"]
[columns.x]
type = "real"
lower = 0
upper = 10
step = 1
[budget]
epsilon = "1"
[[releases]]
name = "visits"
epsilon = "1"
statistics = [{ count = true }, { mean = "x" }, { histogram = "g" }]
group_by = ["g"]
"""


def public(rows_of_each, people=300):
    """Write a table of people with so many rows in one group each."""
    lines = [f"{i},{'abc'[i % 3]},{i % 11}\n" * rows_of_each for i in range(people)]
    Path("public.csv").write_text("who,g,x\n" + "".join(lines), encoding="utf-8")


@pytest.mark.parametrize("each", [1, 3])
def test_bounds_that_cut_nobody_and_cost_least_are_recommended(run, desk, each):
    """Three visits of each person need max_rows = 3 and one group; nothing private is read."""
    desk.project(PROJECT)
    Path("table.csv").unlink()
    public(each)

    found = run("advise", "project.toml", "--public", "public.csv", "--json")

    assert found.exit_code == 0, found.stderr
    (told,) = json.loads(found.stdout)["bounds"]
    assert told["release"] == "visits"
    assert (told["recommended"]["max_rows"], told["recommended"]["max_groups"]) == (each, 1)  # fmt: skip
    assert told["recommended"]["people_cut"] == 0
    assert told["recommended"]["bias"] == [0, 0]
    for one in told["tried"]:
        assert (one["people_cut"] == 0) == (one["max_rows"] >= each)
        assert (one["bias"][0] > 0) == (one["max_rows"] < each)
    words = run("advise", "project.toml", "--public", "public.csv").stdout
    assert "recommended" in words and "people_cut" in words
    assert set(desk.files()) == {"project.toml", "public.csv"}


def test_where_a_row_is_the_unit_it_is_refused(run, desk):
    """One line, exit code 2."""
    desk.project()

    found = run("advise", "project.toml", "--public", "table.csv")

    assert found.exit_code == 2
    assert "one row" in found.stderr
