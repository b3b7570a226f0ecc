"""Listed and unknown keys in a project file, from the text to the release."""

import json
import re

import pytest
from click.testing import CliRunner

from sfumato.account import ZCDP, ApproxDP, Epsilon
from sfumato.cli import cli
from sfumato.declare.schema import Text
from sfumato.errors import ProjectError
from sfumato.project import load

PROJECT = """\
[data]
source = "table.csv"
name = "cities"
[columns.City]
type = "text"
longest = 20
[columns.Sex]
type = "category"
values = ["F", "M"]
[columns.Year]
type = "category"
values = [2024, 2025]
[budget]
epsilon = "2"
threshold_delta = "1e-6"
[[releases]]
name = "cities"
epsilon = "1"
delta = "1e-9"
statistics = [{ count = true }]
group_by = ["City"]
other = "elsewhere"
[[releases]]
name = "listed"
epsilon = "0.5"
statistics = [{ count = true }]
group_by = ["Sex", "Year"]
keys = [["M", 2025], ["F", 2024]]
"""
TABLE = (
    "City,Sex,Year\n" + "Bonn,F,2024\n" * 400 + "Ulm,M,2025\n" + "Köln,F,2025\n" * 300
)


def test_the_file_says_what_the_builder_says(project):
    """A text column, its δ, listed combinations and a group of other rows."""
    found = load(project(PROJECT, TABLE))

    assert found.budget == Epsilon("2", "1e-6")
    assert found.dataset.schema["City"] == Text(longest=20)
    cities, listed = found.releases
    assert (
        cities.plan.cost == Epsilon("1", "1e-9") and cities.query.other == "elsewhere"
    )
    assert listed.plan.groups == (("M", 2025), ("F", 2024))


def test_run_plan_and_check_know_unknown_keys(project, monkeypatch):
    """The plan tells the threshold beforehand; the run shows what passed it."""
    path = project(PROJECT, TABLE)
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    run = CliRunner().invoke

    assert run(cli, ["check", str(path)]).exit_code == 0
    told = run(cli, ["plan", str(path)])
    assert told.exit_code == 0
    data = json.loads(run(cli, ["plan", str(path), "--json"]).stdout)
    threshold = data["releases"][0]["threshold"]
    assert (
        threshold["delta"] == "0.000000001" and "threshold" not in data["releases"][1]
    )
    words = " ".join(told.stdout.split())
    assert f"A key of {threshold['visible_rows']} rows is shown with 95 %" in words

    made = run(cli, ["run", str(path), "--yes"])

    assert made.exit_code == 0, made.output
    document = json.loads((path.parent / "results" / "release.json").read_text("utf-8"))
    cities, listed = document["releases"]
    names = [f["group"]["City"] for f in cities["figures"]]
    assert names == ["Bonn", "Köln", "elsewhere"]  # fails once in 10^9 runs
    assert [f["group"] for f in listed["figures"]] == [
        {"Sex": "M", "Year": 2025}, {"Sex": "F", "Year": 2024},
    ]  # fmt: skip
    assert "Ulm" not in made.output


@pytest.mark.parametrize(
    ("budget", "whole"),
    [
        ('rho = "1"\nthreshold_delta = "1e-6"', ZCDP("1", "1e-6")),
        ('epsilon = "5"\ndelta = "2e-6"\nthreshold_delta = "1e-6"',
         ApproxDP("5", "2e-6", threshold_delta="1e-6")),
    ],
)  # fmt: skip
def test_other_budgets_hold_a_delta_too(project, budget, whole):
    """ρ with a δ, and (ε, δ) cut in two."""
    text = PROJECT.replace('epsilon = "2"\nthreshold_delta = "1e-6"', budget)
    text = text.replace('epsilon = "1"\n', 'rho = "0.01"\n').replace(
        'epsilon = "0.5"', 'rho = "0.01"'
    )

    found = load(project(text, TABLE))

    assert found.budget == whole
    assert found.releases[0].plan.cost == ZCDP("0.01", "1e-9")


@pytest.mark.parametrize("split", ["equal", "optimal"])
def test_a_share_has_its_delta_beside_it(project, split):
    """ε is shared out, and δ is what the release says."""
    text = PROJECT.replace('epsilon = "1"\n', "").replace('epsilon = "0.5"\n', "")
    text = text.replace("threshold_delta", f'split = "{split}"\nthreshold_delta')

    found = load(project(text, TABLE))

    costs = [asked.plan.cost for asked in found.releases]
    assert costs[0].delta_units == 10**9 and costs[1].delta_units == 0
    assert costs[0] + costs[1] == Epsilon("2", "1e-9")


REFUSED = [
    ('delta = "1e-9"\n', "", "releases.cities: the keys of 'City' are unknown"),
    ('threshold_delta = "1e-6"\n', "", "releases.cities.epsilon: the budget holds no delta"),
    ('other = "elsewhere"', 'keys = ["Bonn"]', "nothing in the question costs a delta"),
    ('"M", 2025', '"M", "2025"', "releases.listed: '2025' is no declared key of 'Year'; the nearest declared keys: 2025"),
    ('"M", 2025', '"M", 2025.5', "releases.listed.keys: .* cannot be a key of 'Year'"),
    ('[["M", 2025], ["F", 2024]]', "[]", "releases.listed.keys: the list of keys of Sex, Year is empty"),
    ('keys = [["M", 2025], ["F", 2024]]', 'other = "F"', "'F' is a key of 'Sex'"),
    ('group_by = ["Sex", "Year"]\n', "", "releases.listed.keys: keys are listed, and no column"),
    ("longest = 20", "longest = 0", "columns.City: the longest text must have 1 to 1000"),
    ('group_by = ["City"]', 'group_by = ["Citi"]', "did you mean 'City'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), REFUSED)
def test_wrong_keys_are_refused_with_their_place(project, old, new, said):
    """In one line, before the table is opened."""
    assert old in PROJECT
    path = project(PROJECT.replace(old, new), TABLE)
    (path.parent / "table.csv").unlink()

    with pytest.raises(ProjectError) as refused:
        load(path)

    told = f"{refused.value.fact}; {refused.value.hint}"
    assert "\n" not in told
    assert re.search(said, told), told
