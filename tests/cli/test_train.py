"""`sfumato train`: models and their cards, charged like any release."""

import json
import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.demo import prediction
from sfumato.ledger import Ledger
from sfumato.models import load

PROJECT = """
[data]
source = "table.csv"
name = "clinic"
[budget]
epsilon = "3"
[columns.glucose]
type = "real"
lower = 50
upper = 200
missing = 0
[columns.sex]
type = "category"
values = ["F", "M"]
[columns.smoker]
type = "boolean"
true = "yes"
false = "no"
[columns.ill]
type = "category"
values = [0, 1]
[[releases]]
name = "rows"
epsilon = "0.1"
statistics = [{ count = true }]
[[models]]
name = "risk"
title = { en = "A <risk>", zh = "风险" }
target = "ill"
epsilon = "1"
test_epsilon = "0.5"
expected = 0.8
intended_use = { en = "Teaching.", zh = "教学。" }
"""
LIMIT = '[[budget.limits]]\nkind = "analyst"\nname = "Wu"\nepsilon = "1.2"'
TWIN = '[[models]]\nname = "risk"\ntarget = "ill"\nepsilon = "1"'


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """Return a folder with a table and a project."""
    rows = ["glucose,sex,smoker,ill"]
    for i in range(600):
        glucose = 60 + (i * 37) % 140
        gap = i % 11 == 0
        rows.append(f"{'' if gap else glucose},{'FM'[i % 2]},{'yes' if i % 3 else 'no'},{int(glucose > 120)}")  # fmt: skip
    (tmp_path / "table.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "project.toml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent(folder):
    """Return what the ledger of a project has recorded."""
    if not (folder / "project.ledger").exists():
        return sf.Epsilon.from_units(0)
    return Ledger(
        folder / "project.ledger", dataset="clinic", cap=sf.Epsilon("3")
    ).spent


def test_it_writes_a_model_and_a_card_for_its_price(clinic, run):
    """Fit and test are debited; the model loads and predicts; the card says its terms."""
    done = run("train", "project.toml", "--yes", "--out", "r")

    assert done.exit_code == 0, done.output
    assert spent(clinic) == sf.Epsilon("1.5")
    model = load(clinic / "r" / "risk.model.json")
    assert model.privacy_claim_["receipt"]["dataset"] == "clinic"
    assert model.coef_.shape == (1, 4)  # a number, two keys, one truth
    rows = np.array([[190.0, "F", "yes"], [60.0, "F", "yes"]], dtype=object)
    high, low = model.decision_function(rows)
    assert high > low
    page = (clinic / "r" / "risk.card.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", " ", page)
    for words in (
        "A &lt;risk&gt;",
        "ε = 1, δ = 0",
        "Teaching.",
        "0.800",
        "AUC",
        "hoped for, without privacy",
        "expected with this noise",
        "made-up rows",
        "expected if its probabilities are true",
        "measured, privately",
        "sex = M",
    ):
        assert words in text, words
    assert "<script" not in page and "http" not in page.split("</style>")[1]


def test_a_regression_is_tested_too(clinic, run):
    """R² and RMSE on the card and on the terminal; fit and test are debited."""
    changes = (
        ('target = "ill"', 'target = "glucose"\nestimator = "LinearRegression"'),
        ("expected = 0.8", "expected = 0.5\nrows = 500"),
    )
    written = PROJECT
    for change in changes:
        written = written.replace(*change)
    (clinic / "project.toml").write_text(written, encoding="utf-8")

    done = run("train", "project.toml", "--yes", "--out", "r")

    assert done.exit_code == 0, done.output
    assert "RMSE" in done.output and "R²" in done.output
    assert spent(clinic) == sf.Epsilon("1.5")
    page = (clinic / "r" / "risk.card.html").read_text(encoding="utf-8")
    assert "RMSE" in page and "500 made-up rows" in page


def test_without_a_test_the_card_says_what_to_expect(clinic, run):
    """From the author's guess of the rows; nothing more is paid."""
    written = PROJECT.replace('test_epsilon = "0.5"', "rows = 600")
    (clinic / "project.toml").write_text(written, encoding="utf-8")

    run("train", "project.toml", "--yes", "--out", "r")

    page = (clinic / "r" / "risk.card.html").read_text(encoding="utf-8")
    assert "600 made-up rows" in page and "not tested" in page
    assert spent(clinic) == sf.Epsilon("1")


def test_nothing_is_spent_when_it_is_refused(clinic, run):
    """Existing files, no --yes, an unknown name, a wrong entry: exit code 2, no debit."""
    changes = [
        ([], None, "spends"),
        (["--yes", "--only", "other"], None, "no model"),
        (["--yes"], ('target = "ill"', 'target = "glucose"'), "cannot predict"),
        (["--yes"], ('target = "ill"', 'target = "sick"'), "unknown column"),
        (["--yes"], ("expected = 0.8", "options = { depth = 3 }"), "no option"),
        (["--yes"], ('test_epsilon = "0.5"', 'test_epsilon = "2.5"'), "is left"),
        (["--yes"], ("expected = 0.8", 'features = ["ill"]'), "feature too"),
        (["--yes"], ("expected = 0.8", "options = { degree = 2.0 }"), "degree"),
        (["--yes"], ('name = "risk"', 'name = "../risk"'), "name of a file"),
        (["--yes"], ('name = "risk"', 'name = "a\\u0000"'), "name of a file"),
        (["--yes"], ('name = "risk"', f'name = "{"风" * 80}"'), "name of a file"),
        (["--yes"], ('epsilon = "3"', f'epsilon = "3"\n{LIMIT}'), "1.2 is left"),
        (["--yes"], ("[[models]]", f"{TWIN}\n[[models]]"), "two models are called"),
    ]  # fmt: skip
    for options, change, text in changes:
        written = PROJECT.replace(*change) if change else PROJECT
        (clinic / "project.toml").write_text(written, encoding="utf-8")
        done = run("train", "project.toml", *options, "--out", "r")
        assert done.exit_code == 2, (text, done.output)
        assert text in done.output, done.output
        assert not list(clinic.glob("r/*"))
        assert not list(clinic.glob("*.ledger*"))  # whose cap would be final
    assert spent(clinic).units == 0


def test_existing_files_are_kept(clinic, run):
    """A second run is refused before it spends; --force overwrites."""
    run("train", "project.toml", "--yes", "--out", "r")
    again = run("train", "project.toml", "--yes", "--out", "r")

    assert (again.exit_code, spent(clinic)) == (2, sf.Epsilon("1.5"))
    forced = run("train", "project.toml", "--yes", "--force", "--out", "r")
    assert (forced.exit_code, spent(clinic)) == (0, sf.Epsilon("3"))


def test_a_project_without_models_says_so(clinic, run):
    """The hint shows how an entry begins."""
    whole = PROJECT.partition("[[models]]")[0]
    (clinic / "project.toml").write_text(whole, encoding="utf-8")

    done = run("train", "project.toml", "--yes")

    assert done.exit_code == 2 and "[[models]]" in done.output


def test_a_project_may_ask_for_models_alone(clinic, run):
    """check names them and what comes next; run says that there is no release."""
    start, end = PROJECT.index("[[releases]]"), PROJECT.index("[[models]]")
    (clinic / "project.toml").write_text(
        PROJECT[:start] + PROJECT[end:], encoding="utf-8"
    )

    checked = run("check", "project.toml")
    assert checked.exit_code == 0, checked.output
    assert "risk" in checked.output and "Next: sfumato train" in checked.output
    refused = run("run", "project.toml", "--yes")
    assert refused.exit_code == 2 and "no releases" in refused.output
    assert not (clinic / "results").exists()
    assert run("train", "project.toml", "--yes").exit_code == 0
    assert spent(clinic) == sf.Epsilon("1.5")


def test_the_model_file_is_plain_json(clinic, run):
    """It holds no path, no ledger and no row."""
    run("train", "project.toml", "--yes", "--out", "r")

    told = json.loads((clinic / "r" / "risk.model.json").read_text(encoding="utf-8"))
    assert set(told) == {"format", "version", "estimator", "settings", "fitted"}
    assert "budget" not in told["settings"]
    assert str(clinic) not in json.dumps(told)


def test_the_demo_predicts_diabetes():
    """AUC at ε = 0.6 beside that without privacy; far above a coin (below: 1 in 10^9)."""
    private, plain = prediction()

    assert 0.7 < private < plain + 0.02
    assert 0.82 < plain < 0.86


@pytest.mark.parametrize("folder", ["table.csv", "table.csv/x", "/proc/sfumato"])
def test_a_folder_that_cannot_be_written_costs_nothing(clinic, run, folder):
    """It is tried before the debit: a model that is paid for must not be lost."""
    done = run("train", "project.toml", "--yes", "--out", folder)

    assert done.exit_code == 2, done.output
    assert "cannot be written" in done.output
    assert spent(clinic).units == 0


def test_a_folder_in_place_of_a_file_costs_nothing(clinic, run):
    """Not even by force."""
    (clinic / "r" / "risk.model.json").mkdir(parents=True)

    done = run("train", "project.toml", "--yes", "--force", "--out", "r")

    assert (done.exit_code, spent(clinic).units) == (2, 0)


def test_a_test_that_fails_loses_no_model(clinic, run, monkeypatch):
    """The model is written before its test is paid for."""
    from sfumato.models import training

    def fail(*_, **__):
        raise sf.BudgetExceededError("taken by others", hint="none")

    monkeypatch.setattr(training, "evaluate", fail)
    done = run("train", "project.toml", "--yes", "--out", "r")

    assert (done.exit_code, spent(clinic)) == (2, sf.Epsilon("1"))
    assert load(clinic / "r" / "risk.model.json").coef_.shape == (1, 4)


@pytest.mark.usefixtures("clinic")
def test_a_model_is_printed_when_the_disk_fails(run, monkeypatch):
    """What was paid for is not lost."""
    from sfumato.cli.commands import train

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(train, "write", fail)
    done = run("train", "project.toml", "--yes", "--out", "r")

    assert done.exit_code == 1
    assert '"format": "sfumato-model"' in done.output
    assert "it is paid for" in done.output
