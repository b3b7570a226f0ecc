"""A check tells what was paid for already, and refuses only what still has to be paid."""

import json

import pytest

SYNTH = '[synthetic]\nepsilon = "0.2"\n'
MODEL = """\
[[models]]
name = "m"
target = "Outcome"
epsilon = "0.2"
"""


def test_a_paid_run_does_not_hide_what_can_still_be_paid(run, desk, good):
    """After the releases the synthetic table is still in order; a new release is not."""
    desk.project(good + SYNTH)
    assert run("run", "project.toml", "--yes").exit_code == 0

    page = run("check", "project.toml", "--lang", "en")
    data = json.loads(run("check", "project.toml", "--json").stdout)
    planned = run("plan", "project.toml", "--lang", "en").stdout

    assert page.exit_code == 0, page.stderr
    assert "Paid for already, by sfumato run: overview, bins." in page.stdout
    assert "Can still be paid, by sfumato synth: small." in page.stdout
    assert "ε 0.75 is more than is left: sfumato run will refuse." in page.stdout
    assert "Caution: all together" not in page.stdout
    assert data["suffices"] and data["paid"] == ["overview", "bins"]
    assert "sfumato run will refuse" in planned
    desk.project(good.replace('"0.25"', '"0.3"') + SYNTH)
    refused = run("check", "project.toml", "--lang", "en")
    assert refused.exit_code == 2
    assert (
        "sfumato run costs epsilon 0.3, 0.25 is left; sfumato synth can"
        in refused.stderr
    )


def test_a_refusal_says_what_can_be_paid(refused, desk, good):
    """One part that is too dear is refused in one line, which names the others."""
    desk.project(good + SYNTH.replace("0.2", "1.5"))

    line = refused("check", "project.toml", "--lang", "en")

    assert "sfumato synth costs epsilon 1.5, 1 is left" in line
    assert "sfumato run can be paid as the file stands" in line


@pytest.mark.parametrize("command", ["train", "train people", "synth"])
def test_models_and_tables_are_known_by_their_plans(run, desk, good, command):
    """What a fit and a synthesis are charged for is what the check expects of them."""
    if command != "synth":
        pytest.importorskip("sklearn")
    start, end = good.index("[[releases]]"), good.index("[output]")
    unit = (
        '[unit]\ncolumn = "who"\nmax_rows = 2\nmax_groups = 1\n'
        if "people" in command
        else ""
    )
    asked = (SYNTH if command == "synth" else MODEL).replace("0.2", "0.6")
    rows = "".join(f"{100 + i % 90},{i % 2},{i}\n" for i in range(300))
    desk.project(
        good[:start] + unit + asked + good[end:], f"Glucose,Outcome,who\n{rows}"
    )
    made = run(command.split()[0], "project.toml", "--yes")
    assert made.exit_code == 0, made.stderr

    checked = run("check", "project.toml", "--json")

    name = "small" if command == "synth" else "m"
    assert json.loads(checked.stdout)["paid"] == [name], checked.stderr
