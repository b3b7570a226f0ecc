"""Before anything is spent, the budget is compared with all that a project asks for."""

import json

import pytest

SYNTH = '[synthetic]\nepsilon = "{}"\n'
MODEL = """\
[[models]]
name = "m"
target = "Outcome"
epsilon = "{}"
test_epsilon = "0.0625"
"""


@pytest.mark.parametrize("command", ["check", "plan"])
def test_the_total_is_of_all_commands(run, desk, good, command):
    """Releases, models with their tests, and the synthetic table, each to its command."""
    desk.project(good + SYNTH.format("0.125") + MODEL.format("0.0625"))

    page = run(command, "project.toml", "--lang", "en").stdout
    data = json.loads(run(command, "project.toml", "--json").stdout)

    rows = [line.split("  ") for line in page.splitlines() if "  " in line]
    told = {row[1]: row[-1].strip() for row in rows if len(row) > 1}
    assert told["sfumato run"] == "ε 0.75"
    assert told["sfumato train"] == told["sfumato synth"] == "ε 0.125"
    assert told["all together"] == "ε 1"
    assert "Caution" not in page
    assert data["cost"] == "1" and data["suffices"]
    assert [(c["command"], c["count"], c["cost"]) for c in data["commands"]] == [
        ("run", 2, "0.75"), ("train", 1, "0.125"), ("synth", 1, "0.125"),
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_budget_that_pays_for_some_commands_only_is_told(run, desk, good, command):
    """Each can be paid, not all: said before the first of them spends."""
    desk.project(good + SYNTH.format("0.5"))

    page = run(command, "project.toml", "--lang", "en")
    data = json.loads(run(command, "project.toml", "--json").stdout)

    assert page.exit_code == 0
    assert "Caution: all together cost ε 1.25, more than is left" in page.stdout
    assert not data["suffices"]


def test_a_plan_names_the_command_that_will_refuse(run, desk, good):
    """A plan shows what does not fit, and a check refuses it."""
    desk.project(good + SYNTH.format("1.5"))

    page = run("plan", "project.toml", "--lang", "en")
    check = run("check", "project.toml", "--lang", "en")

    assert "ε 1.5 is more than is left: sfumato synth will refuse." in page.stdout
    assert check.exit_code == 2
    assert "sfumato synth costs epsilon 1.5, 1 is left" in check.stderr


def test_a_limit_counts_too(run, desk, good):
    """What an analyst may spend can be less than what is left of the budget."""
    limit = '[[budget.limits]]\nkind = "analyst"\nname = "Wu"\nepsilon = "0.8"\n'
    desk.project(good.replace("[[releases]]", f"{limit}[[releases]]", 1) + SYNTH.format("0.1"))  # fmt: skip

    assert "Caution: all together" in run("plan", "project.toml", "--lang", "en").stdout


def test_a_project_without_releases_states_its_currency(run, desk, good):
    """A synthetic table alone, under ρ."""
    start, end = good.index("[[releases]]"), good.index("[output]")
    alone = (good[:start] + good[end:]).replace('epsilon = "1"', 'rho = "0.1"')
    desk.project(alone + '[synthetic]\nrho = "0.05"\n')

    page = run("plan", "project.toml", "--lang", "en").stdout
    data = json.loads(run("check", "project.toml", "--json").stdout)

    assert "all together                        ρ 0.05" in page
    assert data["cost"] == "0.05"


def test_errors_are_those_of_what_finding_bounds_leaves(run, desk, good):
    """A fifth of the loss finds clipping bounds; the rest answers."""
    start, end = good.index("[[releases]]"), good.index("[output]")
    release = (
        '[[releases]]\nname = "r"\nepsilon = "0.5"\n'
        'statistics = [{ sum = "Glucose" }]\n'
    )

    def planned(epsilon, private=""):
        text = good[:start] + release.replace("0.5", epsilon) + good[end:]
        desk.project(text.replace("upper = 250", f"upper = 250{private}"))
        (found,) = json.loads(run("plan", "project.toml", "--json").stdout)["releases"]
        return found

    found = planned("0.5", "\nprivate_bounds = 0.99")
    words = run("plan", "project.toml", "--lang", "en").stdout
    check = run("check", "project.toml", "--lang", "en").stdout

    assert "clipping bounds are found within, near quantile 0.99" in check
    assert found["figures"] == planned("0.4")["figures"]
    assert found["epsilon"] == "0.5" and found["finding_bounds"]["epsilon"] == "0.1"
    assert "Of it ε 0.1 finds clipping bounds of Glucose first" in words


def test_data_for_programs_is_in_no_language(run, desk, good):
    """A plan as JSON is the same whatever language its reader speaks."""
    desk.project(good.replace("mg/dL", "years"))

    english, chinese = (
        run("plan", "project.toml", "--json", "--lang", lang).stdout
        for lang in ("en", "zh")
    )

    assert english == chinese
    assert '"unit": "rows"' in english and '"unit": "years"' in english


def test_advice_tells_what_is_spent_beside_the_releases(run, desk, good):
    """The amounts that it recommends are not all that the budget must pay for."""
    desk.project(good + SYNTH.format("0.5"))

    page = run("advise", "project.toml", "--lang", "en").stdout
    wish = (
        "advise",
        "project.toml",
        "--lang",
        "en",
        "--target",
        "bins.histogram_Glucose=9",
    )
    asked = run(*wish).stdout
    desk.project(good)
    alone = run("advise", "project.toml", "--lang", "en").stdout

    assert "Beside the releases this project spends ε 0.5: sfumato synth." in page
    assert "Caution: with the releases that is ε 1.25, more than is left." in page
    assert "Beside the releases" in asked and "Caution: with the releases" in asked
    assert "Beside" not in alone
