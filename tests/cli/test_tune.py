"""`sfumato tune` simulates on a public table, and on the private one for its owner only."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

PUBLIC = "Glucose,Outcome\n" + "".join(
    f"{80 + 5 * (i % 20) + (100 if i % 50 == 0 else 0)},{i % 2}\n" for i in range(600)
)
BASE = ("tune", "project.toml", "--runs", "20", "--jobs", "1")


@pytest.fixture
def project(desk):
    """The small project beside a public stand-in."""
    desk.project()
    Path("public.csv").write_text(PUBLIC)
    return desk


def test_the_frontier_is_shown_and_nothing_is_spent(project, run) -> None:
    """Each figure has an error per loss; no ledger appears."""
    done = run(*BASE, "--public", "public.csv", "--amounts", "0.2,1")

    assert done.exit_code == 0, done.output
    assert (
        "mean_Glucose" in done.stdout
        and "simulated releases of each: 20" in done.stdout
    )
    assert "OWNER" not in done.output
    assert set(project.files()) == {"project.toml", "table.csv", "public.csv"}


@pytest.mark.usefixtures("project")
def test_json_holds_every_trial(run) -> None:
    """Errors fall with the loss; clipping costs bias; the best is marked."""
    words = ("--public", "public.csv", "--amounts", "0.05,2", "--clip", "none,0.8")
    done = run(*BASE, *words, "--json")

    trials = json.loads(done.stdout)["trials"]
    means = [t for t in trials if t["figure"] == "mean_Glucose"]
    free = {t["amount"]: t for t in means if t["clip"] is None}
    cut = {t["amount"]: t for t in means if t["clip"] == 0.8}
    assert free["2"]["error"] < free["0.05"]["error"]
    assert free["2"]["bounds"] == [0, 250]
    assert 80 <= cut["2"]["bounds"][0] < cut["2"]["bounds"][1] < 200
    assert cut["0.05"]["error"] < free["0.05"]["error"]
    assert sum(t["best"] for t in means) == 2


@pytest.mark.usefixtures("project")
def test_coarser_groups_are_tried(run) -> None:
    """With --groups a release is tried without each of its grouping columns."""
    done = run(*BASE, "--public", "public.csv", "--amounts", "1", "--groups", "--json")

    groups = {tuple(t["groups"]) for t in json.loads(done.stdout)["trials"]}
    assert groups == {("Outcome",), ()}


@pytest.mark.usefixtures("project")
def test_processes_share_the_work(run) -> None:
    """Two processes give the same settings as one."""
    words = ("--public", "public.csv", "--amounts", "1", "--clip", "none,0.9", "--json")
    one = json.loads(run(*BASE, *words).stdout)["trials"]
    two = json.loads(run(*BASE[:-1], "2", *words).stdout)["trials"]

    same = ("release", "groups", "figure", "amount", "clip", "bounds")
    assert [[t[k] for k in same] for t in one] == [[t[k] for k in same] for t in two]


@pytest.mark.usefixtures("project")
def test_the_owner_may_look_and_is_told_so(run) -> None:
    """On the private table every form says for whose eyes it is."""
    done = run(*BASE, "--owner", "--amounts", "1", "--picture", "t.svg")

    assert done.stdout.startswith("FOR THE OWNER'S EYES")
    picture = ET.fromstring(Path("t.svg").read_text())
    assert "OWNER" in picture.attrib["aria-label"]
    assert Path("t.svg").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "none is named"),
        (("--public", "public.csv", "--owner"), "exclude each other"),
        (("--public", "table.csv"), "is the private table"),
        (("--public", "./table.csv"), "is the private table"),
        (("--public", "absent.csv"), "absent.csv"),
        (("--public", "."), "no Parquet files"),
        (("--public", "public.csv", "--picture", "no/a.svg"), "cannot be written"),
        (("--public", "public.csv", "--clip", "0.4"), "between 0.5 and 1"),
        (("--public", "public.csv", "--clip", "1"), "between 0.5 and 1"),
        (("--public", "public.csv", "--amounts", "x"), "x"),
    ],
)
def test_bad_words_are_refused(project, run, words, text) -> None:
    """One line, exit code 2, nothing written."""
    before = project.files()

    done = run(*BASE, *words)

    assert done.exit_code == 2
    assert text in done.stderr
    assert project.files() == before


@pytest.mark.parametrize(
    "cells",
    [["250"] * 50, ["1"] * 50, [""] * 50, []],
    ids=["top", "low", "missing", "none"],
)
@pytest.mark.usefixtures("project")
def test_a_stand_in_of_one_value_or_none_has_bounds_all_the_same(run, cells):
    """Where both quantiles are one end of the column, the bounds keep a step."""
    rows = "".join(f"{cell},1\n" for cell in cells)
    Path("public.csv").write_text("Glucose,Outcome\n" + rows)

    done = run(*BASE, "--public", "public.csv", "--amounts", "1", "--clip", "0.99")

    assert done.exit_code == 0, done.output


@pytest.mark.usefixtures("project")
def test_a_synthetic_stand_in_is_read_beside_a_table_in_gb18030(run):
    """What synth writes begins with the mark of UTF-8, whatever the table is written in."""
    text = Path("project.toml").read_text("utf-8")
    text = text.replace("[data]", '[data]\nencoding = "gb18030"')
    Path("project.toml").write_text(text, "utf-8")
    Path("public.csv").write_text(PUBLIC, "utf-8-sig")

    done = run(*BASE, "--public", "public.csv", "--amounts", "1")

    assert done.exit_code == 0, done.output


def test_another_name_of_the_private_table_is_no_stand_in(project, run) -> None:
    """What tune prints are exact figures of the table that it is given."""
    Path("copy.csv").hardlink_to("table.csv")
    before = project.files()

    tuned = run(*BASE, "--public", "copy.csv")

    assert tuned.exit_code == 2
    assert "is the private table" in tuned.stderr
    assert project.files() == before
