"""`explain`: odds first, then noise."""

import json

import pytest

from sfumato.account import ZCDP, ApproxDP, epsilon_at, odds
from sfumato.account.deployment import DEPLOYMENTS, SCENARIOS
from sfumato.words import translate


def test_a_half_is_explained_in_odds(run):
    """The numbers are those of the theorem."""
    page = run("explain", "0.5").stdout

    assert "by at most 1.65" in page.replace("\n", " ")
    assert "about 62" in page.replace("\n", " ")
    assert "62.3 %" in page
    assert "8.24" in page


def test_smaller_means_more_noise(run):
    """The table shows the noise falling as epsilon grows."""
    data = [json.loads(run("explain", e, "--json").stdout) for e in ("0.1", "1", "10")]
    errors = [d["count_noise"]["mean_absolute_error"] for d in data]

    assert errors == sorted(errors, reverse=True)
    assert data[1]["right_of_100"] == 73


@pytest.mark.parametrize(
    "value", ["0", "-1", "-0.5", "nan", "inf", "-inf", "half", "", "1e-13", "1,5", "０"]
)
def test_what_is_no_loss_is_refused(refused, value):
    """One line, exit code 2."""
    assert "Error: [SF101] epsilon" in refused("explain", value)


@pytest.mark.parametrize("value", ["1e-5", "1/3", "1000", "1e6"])
def test_extreme_losses_are_explained(run, value):
    """Nothing overflows; a factor beyond the floats is null."""
    assert run("explain", value).exit_code == 0
    told = json.loads(run("explain", value, "--json").stdout)
    assert told["epsilon"]
    assert (told["odds_factor"] is None) == (value in ("1000", "1e6"))


def test_a_mistyped_option_is_no_epsilon(refused):
    """A word with two dashes is an option."""
    assert "there is no option --jsn; did you mean --json?" in refused(
        "explain", "--jsn"
    )


def test_the_wording_sets_one_share_beside_the_other(run):
    """62 of 100 against 50 of 100, in both languages."""
    english = " ".join(run("explain", "0.5").stdout.split())
    chinese = run("explain", "0.5", "--lang", "zh").stdout
    chinese = "".join(chinese.split())

    assert (
        "for about 62 of 100 people whether their data were used, against 50 of 100"
        in (english)
    )
    assert "每100人中也只能对约62人" in chinese
    assert "100人中对50人" in chinese


def test_deployments_are_those_of_the_account_with_their_units(run):
    """Every row that was read, and no other; an unknown δ or unit is said to be so."""
    page = run("explain", "1").stdout
    data = json.loads(run("explain", "1", "--json").stdout)

    assert [d["name"] for d in data["deployments"]] == [d.name for d in DEPLOYMENTS]
    for d in DEPLOYMENTS:
        (line,) = [x for x in page.splitlines() if x.startswith(f"  {d.name}")]
        assert d.epsilon in line
        assert (d.unit or "not stated") in line
        assert ("*" in line) == (d.source == "secondary")
    chinese = run("explain", "1", "--lang", "zh").stdout
    assert all(translate(d.unit, "zh") in chinese for d in DEPLOYMENTS if d.unit)


@pytest.mark.parametrize(
    ("value", "marked"),
    [("0.2", ["real-time report"]), ("0.6", ["research analysis", "model features"]),
     ("0.3", ["research analysis", "real-time report"]), ("5", [])],
)  # fmt: skip
def test_the_scenarios_that_hold_the_value_are_marked(run, value, marked):
    """The ranges are those of the tutorials, ends included."""
    lines = run("explain", value).stdout.splitlines()
    names = [s.name for s in SCENARIOS]

    assert [n for n in names if any(n in x and "←" in x for x in lines)] == [
        n for n in names if n in marked
    ]


def test_a_budget_with_delta_is_that_of_the_account(run):
    """Odds of the pair, and the ρ that it is kept as."""
    page = run("explain", "1", "--delta", "1e-6").stdout
    data = json.loads(run("explain", "1", "--delta", "1e-6", "--json").stdout)

    assert "kept as ρ 0.024355970359" in page
    assert "except with a probability of 1e-06" in page.replace("\n", " ")
    assert (data["measure"], data["loss"]) == ("zcdp", "0.024355970359")
    assert data["power_at_5_percent"] == odds(ApproxDP("1", "1e-6")).power
    assert data["odds_factor"] == odds(ApproxDP("1", "1e-6")).factor


def test_a_rho_is_explained_at_a_delta(run):
    """The ε that holds at δ, 1e-6 unless another is named; Gaussian noise on a count."""
    data = json.loads(run("explain", "--rho", "0.02", "--json").stdout)
    other = json.loads(
        run("explain", "--rho", "0.02", "--delta", "1e-9", "--json").stdout
    )

    assert data["epsilon"] == str(epsilon_at(ZCDP("0.02"), "1e-6"))
    assert other["epsilon"] == str(epsilon_at(ZCDP("0.02"), "1e-9"))
    assert data["count_noise"]["mean_absolute_error"] == pytest.approx(4, rel=0.02)
    assert (
        "ρ = 0.02, which is at most ε = 0.9" in run("explain", "--rho", "0.02").stdout
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--rho", "0"], "[SF101] rho must be greater than 0, got 0"),
        (["--rho", "x"], "[SF101] rho must be a finite number"),
        (["1", "--rho", "1"], "name one loss: EPS or --rho"),
        (["1", "--delta", "x"], "[SF101] delta must lie in [0, 1)"),
        (["1", "--delta", "1"], "[SF101] delta must lie in [0, 1)"),
        (["1", "--delta", "0.01"], "delta 0.01 is above 1e-4"),
        (["1e-12", "--delta", "1e-12"], "leaves less than 1e-12 of rho"),
        (["0", "--delta", "1e-6"], "[SF101] epsilon must be greater than 0"),
    ],
)
def test_unusable_pairs_are_refused(refused, words, line):
    """One line, exit code 2."""
    assert line in refused("explain", *words)


def test_delta_zero_is_pure(run):
    """A δ of 0 changes nothing."""
    assert run("explain", "1", "--delta", "0").stdout == run("explain", "1").stdout
