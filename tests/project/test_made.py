"""Models and synthetic tables that cannot be made are refused by a check."""

import tomllib
from decimal import Decimal

import pytest

from sfumato.errors import BudgetExceededError, DeclarationError, SfumatoError
from sfumato.project import load
from sfumato.project.made import check_made
from sfumato.project.paid import due_of, refuse_short
from sfumato.project.standing import standing
from sfumato.project.synthetic import SyntheticTable

REST = """
[columns.Note]
type = "text"

[columns.Region]
type = "category"
values = ["n", "s"]

[columns.Ward]
type = "category"
values = ["a", "b", "c"]
"""

BASE = """
title = "Pima"

[data]
source = "pima.csv"
name = "pima"

[unit]
neighbours = "add_remove"

[budget]
epsilon = "1"

[columns.Glucose]
type = "real"
lower = 0
upper = 250
step = 1

[columns.Outcome]
type = "category"
values = [0, 1]
"""

MODEL = """
[[models]]
name = "{name}"
target = "{target}"
features = {features}
epsilon = "{epsilon}"
test_epsilon = "0.25"
"""


def checked(folder, text):
    """Check a project of the given tables."""
    (folder / "pima.csv").write_text("Glucose,Outcome\n120,0\n", encoding="utf-8")
    file = folder / "project.toml"
    file.write_text(BASE + text, encoding="utf-8")
    project = load(file)
    left = standing(project)
    refuse_short(due_of(project, check_made(project), left), left)
    assert {one.name for one in folder.iterdir()} == {"pima.csv", "project.toml"}


def model(name="m", target="Outcome", features='["Glucose"]', epsilon="0.5"):
    """Return an entry of [[models]]."""
    return MODEL.format(name=name, target=target, features=features, epsilon=epsilon)


@pytest.mark.parametrize("text", [
    model(), model(epsilon="0.75"), model(features="[]"),
    '[synthetic]\nepsilon = "1"\n', '[synthetic]\nepsilon = "0.5"\ncolumns = ["Glucose"]\n',
    model(epsilon="0.5") + '[synthetic]\nepsilon = "1"\n',
])  # fmt: skip
def test_what_can_be_made_passes(tmp_path, text):
    """Each command spends by itself, so each must be affordable by itself."""
    checked(tmp_path, text)


@pytest.mark.parametrize(("text", "said"), [
    (model(target="Outcme"), "models.m: unknown column 'Outcme'"),
    (model(features='["Glucos"]'), "did you mean 'Glucose'"),
    (model(features='["Outcome"]'), "cannot be a feature too"),
    ('[synthetic]\nepsilon = "1"\ncolumns = ["Glucose", "Nope"]\n', "synthetic: unknown column 'Nope'"),
    ('[synthetic]\nepsilon = "1"\nmarginals = [["Glucose", "Nope"]]\n', "unknown column 'Nope'"),
    ('[synthetic]\nepsilon = "1"\nweights = {Nope = 2}\n', "unknown column 'Nope'"),
    ('[synthetic]\nepsilon = "1"\ncomplete = ["Nope"]\n', "unknown column 'Nope'"),
])  # fmt: skip
def test_unknown_columns_are_refused_with_their_place(tmp_path, text, said):
    """Before any run: the check says where and which name is near."""
    with pytest.raises(SfumatoError) as refused:
        checked(tmp_path, text)

    assert said in str(refused.value)
    assert refused.value.code == "SF103"
    assert not list(tmp_path.glob("*.ledger*"))


@pytest.mark.parametrize(("text", "said"), [
    (model(target="Note"), "models.m: a model cannot use column 'Note'"),
    (model(target="Glucose", features='["Outcome"]'), "models.m: LogisticRegression cannot predict 'Glucose'"),
    (model() + "options = { degre = 2 }\n", "models.m: LogisticRegression has no option 'degre'"),
    (model() + 'delta = "1e-6"\n', "models.m: Gaussian noise has no pure epsilon"),
    (model(name="a/b"), "cannot be the name of a file"),
    (model(epsilon="0.1") * 2, "two models are called 'm'"),
    ('[synthetic]\nepsilon = "1"\ndependent = { Region = "Glucose" }\n', "synthetic: column 'Glucose' has no declared keys"),
    ('[synthetic]\nepsilon = "1"\ndependent = { Region = { Ward = { z = "n" } } }\n', "synthetic: "),
    ('[synthetic]\nepsilon = "1"\ndependent = { Region = "Ward" }\nmarginals = [["Region", "Ward"]]\n', "is not modelled"),
    ('[synthetic]\nepsilon = "1"\nsurrogates = ["Ward"]\n', "declared and a surrogate as well"),
    ('[synthetic]\nepsilon = "1"\nmethod = "oneshot"\nways = 4\n', "ways must be a whole number from 2 to 3"),
    ('[synthetic]\nepsilon = "1"\nforbid = [{ Ward = ["a", "b", "z"] }]\n', "synthetic: "),
    ('[synthetic]\nepsilon = "0.00000000001"\n', "is too little to be shared"),
    ('[synthetic]\nepsilon = "1"\ntarget = "Ward"\n', "cannot be predicted"),
    ('[synthetic]\nepsilon = "1"\nquasi_identifiers = ["Wrd"]\n', "unknown column 'Wrd'"),
])  # fmt: skip
def test_what_a_command_would_refuse_by_the_declarations_is_refused(
    tmp_path, text, said
):
    """Options, kinds of columns, dependencies, memory: a check finds them beforehand."""
    with pytest.raises(SfumatoError) as refused:
        checked(tmp_path, REST + text)

    assert said in str(refused.value)
    assert not list(tmp_path.glob("*.ledger*"))


def test_without_scikit_learn_the_columns_of_models_are_checked(tmp_path, monkeypatch):
    """A steward's desk may lack it; what needs no library is refused all the same."""
    monkeypatch.setattr("sfumato.project.made.knows_models", lambda: False)

    checked(tmp_path, model() + "options = { degre = 2 }\n")
    with pytest.raises(SfumatoError, match="unknown column 'Outcme'"):
        checked(tmp_path, model(target="Outcme"))


def test_a_rule_of_private_bounds_is_known_to_a_check(tmp_path):
    """A run would refuse a filter on a column whose bounds are found."""
    private = BASE.replace("upper = 250", "upper = 250\nprivate_bounds = 0.99")
    release = """
[[releases]]
name = "r"
epsilon = "0.5"
statistics = [{ mean = "Glucose" }]
where = "Glucose > 3"
"""
    (tmp_path / "project.toml").write_text(private + release, encoding="utf-8")

    with pytest.raises(SfumatoError, match="has private bounds and is also filtered"):
        load(tmp_path / "project.toml")


@pytest.mark.parametrize("text", [
    model(epsilon="0.76"),
    model(name="a") + model(name="b"),
    '[synthetic]\nepsilon = "1.5"\n',
])  # fmt: skip
def test_what_the_budget_cannot_pay_is_refused(tmp_path, text):
    """All models together, or the table, must fit into what is left."""
    with pytest.raises(BudgetExceededError):
        checked(tmp_path, text)

    assert not list(tmp_path.glob("*.ledger*"))


@pytest.mark.parametrize(
    "told",
    ["{ form = 1, to = 2 }", "{ missing = false }", "{ missing = true, from = 1 }", "{}",
     "{ from = [1] }", "12:00:00"],
)  # fmt: skip
def test_a_condition_that_is_none_is_not_read_as_another(told):
    """A misspelt end of a range would forbid other rows than were meant."""
    raw = tomllib.loads(f"epsilon = 1\nforbid = [{{ Glucose = {told} }}]", parse_float=Decimal)  # fmt: skip
    table = SyntheticTable.model_validate(raw)

    with pytest.raises(DeclarationError, match="no condition"):
        table.synthesizer()
