"""`explain`: odds first, then noise."""

import json

import pytest


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
    """Nothing overflows."""
    assert run("explain", value).exit_code == 0
    assert json.loads(run("explain", value, "--json").stdout)["epsilon"]


def test_a_mistyped_option_is_no_epsilon(refused):
    """A word with two dashes is an option."""
    assert "there is no option --jsn; did you mean --json?" in refused(
        "explain", "--jsn"
    )
