"""`sfumato synth` of linked tables: a file for each, keys agree, one budget pays."""

import csv
import json
import re
from pathlib import Path

import pytest

from sfumato.synth import LinkedSynthesis

PROJECT = """\
title = "Clinic"
[data]
source = "patients.csv"
name = "patients"
[unit]
column = "patient_id"
max_rows = 1
max_groups = 1
[columns.sex]
type = "category"
values = ["F", "M"]
[columns.age]
type = "integer"
lower = 0
upper = 99
[columns.street]
type = "text"
[[tables]]
name = "visits 1/2"
source = "visits.csv"
[tables.unit]
column = "patient_id"
max_rows = 3
max_groups = 1
[tables.columns.ward]
type = "category"
values = ["eye", "heart"]
[budget]
epsilon = "9"
[output]
folder = "results"
[synthetic]
epsilon = "8"
rows = 120
shared = ["sex"]
title = { en = "Clinic, invented", zh = "虚构的诊所" }
target = "sex"
quasi_identifiers = ["age"]
weight = 1
[[synthetic.tables]]
name = "visits 1/2"
weight = 3
complete = true
"""
HEAD_UNIT = '[unit]\ncolumn = "patient_id"\nmax_rows = 1\nmax_groups = 1\n'
TAIL_UNIT = HEAD_UNIT.replace("unit", "tables.unit").replace("= 1", "= 3", 1)
FILES = {
    f"results/synthetic{end}"
    for end in ("-patients.csv", "-visits_1_2.csv", ".html", ".json", ".linked")
}


@pytest.fixture
def clinic(desk):
    """Two tables of the same people on disk; women go to the eye ward, thrice."""
    people = [("patient_id", "sex", "age", "street")]
    visits = [("patient_id", "ward")]
    for i in range(400):
        sex = "FM"[i % 2]
        people.append((i, sex, 20 + i % 60, f"Lane {i}"))
        visits += [(i, "eye" if sex == "F" else "heart")] * (3 if sex == "F" else 1)
    for name, rows in (("patients", people), ("visits", visits)):
        with Path(f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)

    def project(text=PROJECT):
        desk.project(text)

    return project


def rows_of(name):
    """Return the rows of a file that was written."""
    with Path(f"results/{name}").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_file_for_each_table_and_keys_agree(run, desk, clinic):
    """Every visit is of a patient that is there; the page, record and model hold both."""
    clinic()

    done = run("synth", "project.toml", "--yes", "--lang", "en")

    assert done.exit_code == 0, done.stderr
    assert set(desk.files()) >= FILES
    people, visits = (
        rows_of("synthetic-patients.csv"),
        rows_of("synthetic-visits_1_2.csv"),
    )
    assert list(people[0]) == ["patient_id", "sex", "age"]
    assert list(visits[0]) == ["patient_id", "ward"]
    sexes = {p["patient_id"]: p["sex"] for p in people}
    assert len(sexes) == len(people) == 120
    whose = [v["patient_id"] for v in visits]
    assert set(whose) <= set(sexes)
    assert max(map(whose.count, set(whose))) <= 3
    eye = [sexes[v["patient_id"]] for v in visits if v["ward"] == "eye"]
    assert eye.count("F") > 0.8 * len(eye)
    record = json.loads(Path("results/synthetic.json").read_text("utf-8"))
    assert list(record["tables"]) == ["patients", "visits 1/2"]
    losses = [t["claim"]["loss"] for t in record["tables"].values()]
    assert losses == ["2", "6"]
    page = Path("results/synthetic.html").read_text("utf-8")
    assert "Table patients" in page and "Table visits 1/2" in page
    assert (
        "all of them, ε = 8, δ = 0. Any number" in page
        and "street" in page
        and "<script" not in page
    )
    assert "'street'" in done.stderr and "'patient_id'" in done.stderr
    assert LinkedSynthesis.load("results/synthetic.linked").names == (
        "patients", "visits 1/2")  # fmt: skip


def test_one_budget_pays_once_for_all_tables(run, clinic):
    """A debit for each table, together what the file says: not twice, as of two ledgers."""
    clinic()

    run("synth", "project.toml", "--yes")
    shown = json.loads(run("ledger", "show", "project.ledger", "--json").stdout)

    assert [(b["dataset"], b["spent"]) for b in shown["budgets"]] == [("patients", "8")]
    assert shown["debits"] == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_under_delta_the_page_tells_the_whole_epsilon(run, clinic, lang):
    """Of all tables, at δ: no reader should add up the ε of each, which comes to more."""
    rho = PROJECT.replace('"9"', '"9"\ndelta = "1e-6"')
    clinic(rho)

    done = run("synth", "project.toml", "--yes", "--lang", lang)
    page = Path("results/synthetic.html").read_text("utf-8")
    record = json.loads(Path("results/synthetic.json").read_text("utf-8"))

    assert done.exit_code == 0, done.stderr
    parts = [float(t["claim"]["epsilon"]) for t in record["tables"].values()]
    found = re.findall(r"ε = ([\d.]+)[,，] ?δ = 0.000001", page.split("<section>")[0])
    assert [float(e) for e in found] == [8]
    assert sum(parts) > 8
    assert re.search(f"ε = {found[0]}[,，] ?δ = 0.000001", done.stdout.splitlines()[2])


def test_the_page_speaks_chinese(run, clinic):
    """The same page, its title and its promise in the other language."""
    clinic()

    done = run("synth", "project.toml", "--yes", "--lang", "zh")

    page = Path("results/synthetic.html").read_text("utf-8")
    assert done.exit_code == 0, done.stderr
    assert 'lang="zh' in page
    assert "虚构的诊所" in page


def test_the_owner_sees_each_table_with_what_it_borrows(run, desk, clinic):
    """Numbers of visits, and wards by the sex of whose they are; again for nothing."""
    clinic()

    done = run("synth", "project.toml", "--yes", "--owner", "--lang", "en")
    owner = [
        Path(f"results/synthetic-owner-{n}.html") for n in ("patients", "visits_1_2")
    ]
    first = [path.read_text("utf-8") for path in owner]
    for path in owner:
        path.unlink()
    before = desk.files()["project.ledger"]
    again = run("synth", "project.toml", "--again", "--lang", "en")

    assert done.exit_code == again.exit_code == 0, done.stderr + again.stderr
    assert [path.read_text("utf-8") for path in owner] == first
    assert desk.files()["project.ledger"] == before
    assert all("FOR THE OWNER" in text for text in first)
    assert "AUC" in first[0] and "k = " in first[0] and "visits 1/2" in first[0]
    assert "patients.sex" in first[1]
    assert "never publish" in done.stdout
    assert not owner[0].stat().st_mode & 0o077


# Another ledger, because the unit of a budget is final.
ROWS = (
    PROJECT.replace(HEAD_UNIT, "")
    .replace(TAIL_UNIT, "")
    .replace("[budget]\n", '[budget]\nledger = "rows.ledger"\n')
)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('shared = ["sex"]', 'shared = ["ward"]', "unknown column 'ward'"),
    ('shared = ["sex"]', 'shared = ["street"]', "not made in the head table"),
    ("complete = true", 'dependent = { ward = "sex" }', "unknown column 'sex'"),
    ("weight = 3", 'weight = 3\nsurrogates = ["ward"]', "a surrogate as well"),
    (TAIL_UNIT, TAIL_UNIT + 'missing = ["NA"]\n', "by another column than the head"),
    ('["age"]\n', '["ward"]\n', "unknown column 'ward'"),
])  # fmt: skip
def test_a_check_refuses_what_synth_would(run, desk, clinic, old, new, said):
    """From the declarations alone, so that nobody learns it after the releases are paid."""
    clinic(PROJECT.replace(old, new))

    done = run("check", "project.toml", "--lang", "en")
    made = run("synth", "project.toml", "--yes", "--owner", "--lang", "en")

    assert done.exit_code == made.exit_code == 2
    assert said in done.stderr and said in made.stderr
    assert not FILES & set(desk.files())


def test_what_is_refused_spends_nothing(run, desk, clinic):
    """Tables that are not there, or not of people; attacks; files that exist."""
    shared = 'shared = ["sex"]'
    cases = [
        (PROJECT.replace('name = "visits 1/2"\nweight', 'name = "visit"\nweight'), (), "no private table"),
        (PROJECT.replace(shared, 'shared = ["ward"]'), (), "unknown column"),
        (PROJECT[: PROJECT.index("[[synthetic.tables]]")], (), "none is named"),
        (PROJECT.replace('epsilon = "8"', 'epsilon = "80"'), (), "is left"),
        (ROWS, (), "whose its rows are"),
        (PROJECT.replace('target = "sex"', 'target = "age"'), ("--owner",), "be predicted"),
        (PROJECT.replace('target = "sex"', 'target = "six"'), ("--owner",), "unknown column"),
        (PROJECT.replace('["age"]\n', '["ward"]\n'), ("--owner",), "unknown column"),
        (PROJECT, ("--held-out", "patients.csv"), "one table"),
        (PROJECT, ("--again",), "no linked tables"),
    ]  # fmt: skip
    for text, more, words in cases:
        clinic(text)

        done = run("synth", "project.toml", "--yes", "--lang", "en", *more)

        assert done.exit_code == 2, (words, done.stderr)
        assert words in done.stderr
        assert not FILES & set(desk.files())
    clinic()
    Path("results").mkdir(exist_ok=True)
    Path("results/synthetic-patients.csv").write_text("mine")
    assert "exists already" in run("synth", "project.toml", "--yes").stderr
    assert Path("results/synthetic-patients.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('forbid = [{ "patients.sex" = "M", ward = "eye" }]', None),
        ('marginals = [["patients.sex", "ward"]]', None),
        ('marginals = [["patients.sec", "ward"]]', "did you mean 'patients.sex'?"),
    ],
)
def test_a_check_knows_the_columns_that_are_lent(clinic, run, entry, said):
    """A rule between tables is in order; a column that the head lacks is not."""
    clinic(PROJECT + entry + "\n")

    done = run("check", "project.toml", "--lang", "en")

    assert (done.exit_code == 0) == (said is None), done.output
    assert said is None or said in done.output
