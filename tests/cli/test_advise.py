"""`advise`: errors against losses from the plan alone, and the least that suffices."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sfumato.account.deployment import SCENARIOS
from sfumato.project import load
from sfumato.project.advise import amount, errors_at, need, scenario_errors

KINDS = {
    "pure": [],
    "rho": [('epsilon = "1"', 'rho = "0.5"'), ('epsilon = "0.5"', 'rho = "0.05"'),
            ('epsilon = "0.25"', 'rho = "0.02"')],
    "delta": [('epsilon = "1"', 'epsilon = "2"\ndelta = "1e-6"')],
    "gaussian": [('epsilon = "1"',
                  'epsilon = "2"\ndelta = "1e-6"\ngaussian_only = true')],
}  # fmt: skip


@pytest.fixture(params=KINDS)
def kind(request, desk, good):
    """A project in each kind of budget."""
    text = good
    for old, new in KINDS[request.param]:
        text = text.replace(old, new, 1)
    desk.project(text)
    Path("table.csv").unlink()
    return request.param


def advise(run, *words):
    """Return the advice as data."""
    found = run("advise", "project.toml", *words, "--json")
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.usefixtures("kind")
def test_it_reads_no_data_and_writes_nothing(run, desk):
    """No table is there; errors fall as the loss grows."""
    data = advise(run)

    for release in data["releases"]:
        for figures in zip(*(column["errors"] for column in release["errors"])):
            assert list(figures) == sorted(figures, reverse=True)
    assert set(desk.files()) == {"project.toml"}
    assert data["total"] is None
    assert "No error is wished" in run("advise", "project.toml").stdout


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("wish", [10.0, 20.0, 40.0])
def test_the_recommended_amount_is_the_smallest(wish):
    """It meets the wish, and one step of three digits less does not."""
    project = load("project.toml")
    asked = project.releases[0]
    targets = [None, wish]

    found = need(project, asked, targets, 1000)

    assert found.errors[1] <= wish
    text = found.amount.text.replace(".", "").lstrip("0")[:3].ljust(3, "0")
    step = 10.0 ** round(len(str(int(text))) - 1)
    below = float(found.amount.text) * (1 - 1.0001 / float(text)) if step else 0
    worse = amount(project.budget, f"{below:.12f}")
    assert errors_at(project, asked, worse.loss, 1000)[1] > wish
    assert found.binding == 1


def test_what_is_recommended_can_be_written_into_the_file(run, desk, good):
    """The plan with the recommended amount has the wished error."""
    text = good.replace("weight = 2", "weight = 2, target = 12")
    desk.project(text)
    data = advise(run, "--rows", 2000)
    found = data["releases"][0]["recommended"]
    desk.project(text.replace('"0.5"', f'"{found["amount"]}"'))

    plan = json.loads(run("plan", "project.toml", "--rows", 2000, "--json").stdout)

    assert plan["releases"][0]["figures"][1]["error"] == found["errors"][1] <= 12
    assert found["asks_for_most"] == "mean_Glucose"
    assert data["total"] == str(
        load("project.toml").releases[0].plan.cost
        + load("project.toml").releases[1].plan.cost
    )


def test_wishes_by_option_win_over_the_file(run, desk, good):
    """A figure is named alone or with its release."""
    desk.project(good.replace("weight = 2", "weight = 2, target = 12"))

    by_file = advise(run)["releases"][0]["recommended"]["amount"]
    by_option = advise(run, "--target", "mean_Glucose=30")["releases"][0]["recommended"]
    full = advise(
        run, "--target=overview.mean_Glucose=30", "--target=bins.histogram_Glucose=50"
    )

    assert float(by_option["amount"]) < float(by_file)
    assert full["releases"][0]["recommended"] == by_option
    assert full["releases"][1]["wished"] == [50.0]


def test_what_does_not_fit_is_refused_with_the_sufficient_total(
    refused, run, desk, good
):
    """The total is the smallest: with it as budget the advice is given."""
    desk.project(good)
    words = ("advise", "project.toml", "--target", "mean_Glucose=1.6")

    line = refused(*words)

    assert "[SF201] these errors need epsilon " in line
    assert "(overview ε " in line
    assert "more than 1; give at least that much" in line
    total = line.split("epsilon ")[1].split(" ")[0]
    desk.project(good.replace('epsilon = "1"', f'epsilon = "{total}"'))
    assert run(*words).exit_code == 0
    desk.project(good.replace('epsilon = "1"', f'epsilon = "{float(total) - 0.001}"'))
    assert "these errors need" in refused(*words)


def test_what_is_left_counts_not_what_was(run, refused, desk):
    """After a run less fits; limits count too."""
    desk.project()
    words = ("advise", "project.toml", "--target", "bins.histogram_Glucose=10")
    before = run(*words)
    run("run", "project.toml", "--yes", "--only", "overview")

    assert before.exit_code == 0
    assert "more than 0.5" in refused(*words)


def test_sharers_keep_something(refused, run, desk, good):
    """Releases that share the rest must be left some of it."""
    text = good.replace('epsilon = "1"', 'epsilon = "1"\nsplit = "equal"')
    text = text.replace('epsilon = "0.5"\n', "").replace('epsilon = "0.25"\n', "")
    desk.project(text)
    line = refused("advise", "project.toml", "--target", "mean_Glucose=1")
    assert "these errors need" in line
    need_ = advise(run, "--target", "mean_Glucose=20")["total"]
    desk.project(text.replace('epsilon = "1"', f'epsilon = "{need_}"'))

    assert "these errors need" in refused(
        "advise", "project.toml", "--target", "mean_Glucose=20"
    )


@pytest.mark.parametrize(
    ("word", "line"),
    [
        (
            "mean_Glucos=1",
            "there is no figure 'mean_Glucos'; did you mean 'mean_Glucose'",
        ),
        ("mean_Glucose", "--target must be a figure and an error above 0"),
        ("mean_Glucose=0", "--target must be a figure and an error above 0"),
        ("mean_Glucose=-1", "--target must be a figure and an error above 0"),
        ("mean_Glucose=nan", "--target must be a figure and an error above 0"),
        ("=1", "--target must be a figure and an error above 0"),
        ("overview.bins=1", "there is no figure 'overview.bins'"),
    ],
)
def test_unusable_wishes_are_refused(refused, desk, word, line):
    """One line."""
    desk.project()

    assert line in refused("advise", "project.toml", "--target", word)


def test_figures_of_several_releases_need_the_release(refused, desk, good):
    """It is not guessed."""
    desk.project(good + good[good.index("[[releases]]"):good.index("[output]")].replace(
        '"overview"', '"two"').replace('"bins"', '"three"'))  # fmt: skip

    line = refused("advise", "project.toml", "--target", "mean_Glucose=9")

    assert "name its release too: overview.mean_Glucose" in line


@pytest.mark.usefixtures("kind")
def test_scenarios_buy_what_their_totals_buy(run):
    """Both ends of each range, split as the plan is; the ranges of the tutorials."""
    data = advise(run)["scenarios"]
    page = run("advise", "project.toml").stdout
    project = load("project.toml")

    assert [(s["name"], s["low"], s["high"]) for s in data] == [
        (s.name, str(s.low), str(s.high)) for s in SCENARIOS
    ]
    for scenario in data:
        for errors in scenario["errors"].values():
            assert all(a >= b for a, b in zip(errors["low"], errors["high"]))
    assert "research analysis, ε 0.3 to 0.7" in page
    assert len(scenario_errors(project, 1000)) == 3


def test_a_scenario_is_its_total_in_pure_epsilon(desk, good):
    """0.75 for this plan is the plan itself: halves of it are half of each share."""
    desk.project(good.replace('"0.5"', '"0.2"').replace('"0.25"', '"0.1"'))
    project = load("project.toml")
    _, (low, high) = scenario_errors(project, 1000)[0]  # research: 0.3 to 0.7

    assert low == tuple(errors_at(project, a, a.loss, 1000) for a in project.releases)
    assert high[0] < low[0]


def test_the_picture_is_whole_and_offline(run, refused, desk, good):
    """One panel per figure, texts escaped, no address; never overwritten unasked."""
    desk.project(good.replace('"Small"', '"<b>&amp; 小"'))
    words = (
        "advise",
        "project.toml",
        "--picture",
        "a.svg",
        "--target",
        "mean_Glucose=20",
    )

    assert run(*words).exit_code == 0
    assert "a.svg exists already" in refused(*words)
    assert run(*words, "--force").exit_code == 0
    text = Path("a.svg").read_text("utf-8")
    root = ElementTree.fromstring(text)
    assert len(root.findall(".//{*}polyline")) == 3
    assert len(root.findall(".//{*}line")) == 1
    assert "href" not in text
    assert "cannot be written" in refused(*words[:3], "no/such/a.svg")


def test_advice_in_chinese(run, desk, good):
    """Texts are Chinese, names and amounts as they are."""
    desk.project(good.replace("weight = 2", "weight = 2, target = 12"))

    page = run("advise", "project.toml", "--lang", "zh").stdout

    assert "能达到期望误差的最小数额" in page
    assert "研究分析，ε 0.3 至 0.7" in page
    assert 'epsilon = "' in page


def test_public_figures_need_no_budget(run, desk, good):
    """A public number of rows has no error, whatever is spent."""
    unit = '[unit]\nneighbours = "replace_one"\nsize = 600\n[data]'
    text = good.replace("[data]", unit, 1).replace('group_by = ["Outcome"]\n', "")
    desk.project(text)

    data = advise(run, "--target", "count=1", "--picture", "a.svg")

    assert data["releases"][0]["recommended"]["errors"][0] == 0
    assert Path("a.svg").exists()
