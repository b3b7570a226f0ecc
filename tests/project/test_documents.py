"""What the documents show is true."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from sfumato.account import odds
from sfumato.account.meaning import upper_percent
from sfumato.cli import cli
from sfumato.demo import project_file
from sfumato.project import load

ROOT = Path(__file__).parent.parent.parent


def blocks(name):
    """Return the TOML blocks of a document."""
    text = (ROOT / name).read_text("utf-8")
    return re.findall(r"```toml\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize(
    "name", ["README.md", "README.zh-CN.md", "docs/project-file.md"]
)
def test_project_files_in_documents_load(name, tmp_path):
    """Every project file that a document shows is accepted as it stands."""
    whole = [b for b in blocks(name) if "[data]" in b and "[budget]" in b]
    assert whole
    for block in whole:
        path = tmp_path / "project.toml"
        path.write_text(block, encoding="utf-8")

        assert load(path).releases


BASE = """
[data]
source = "table.csv"
name = "patients"
{unit}
[budget]
epsilon = "10"
delta = "1e-5"
{columns}
[[releases]]
name = "all"
epsilon = "0.1"
statistics = [{{ count = true }}]
"""
KINDS = {
    "Age": 'type = "integer"\nlower = 0\nupper = 120',
    "BMI": 'type = "real"\nlower = 10\nupper = 80',
    "Glucose": 'type = "real"\nlower = 40\nupper = 250',
    "Sex": 'type = "category"\nvalues = ["F", "M"]',
    "Outcome": 'type = "category"\nvalues = [0, 1]',
    "hospital": 'type = "category"\nvalues = ["A", "B"]',
    "region": 'type = "category"\nvalues = ["north", "south"]',
}
PERSON = '[unit]\ncolumn = "patient_id"\nmax_rows = {most}\nmax_groups = 1'
VISITS = """
[[tables]]
name = "visits"
source = "visits.csv"
unit = {{ column = "patient_id", max_rows = 3, max_groups = 1 }}
columns = {{ ward = {{ type = "category", values = ["birth", "eye"] }} }}
"""
PARTS = {  # by an entry that each alone has
    "quasi_identifiers = ": "",
    "[[synthetic.tables]]": PERSON.format(most=1),
    "[[models]]": "",
    "max_groups = 2 ": "",
    "sql = ": "",
}


def checked(folder, text, columns):
    """Check a project whose table holds the columns, and return what is said."""
    line = ",".join([*columns, "patient_id"])
    for name in ("table.csv", "visits.csv"):
        (folder / name).write_text(f"{line},ward\n", encoding="utf-8")
    (folder / "project.toml").write_text(text, encoding="utf-8")
    return CliRunner().invoke(
        cli, ["check", str(folder / "project.toml"), "--lang", "en"]
    )


@pytest.mark.parametrize(
    "name", ["README.md", "README.zh-CN.md", "docs/project-file.md"]
)
def test_complete_examples_pass_a_check_and_fit_their_limits(name, tmp_path):
    """Whoever copies one can pay for all that it asks for."""
    for block in (b for b in blocks(name) if "[data]" in b and "[budget]" in b):
        path = tmp_path / "project.toml"
        path.write_text(block, encoding="utf-8")
        columns = list(load(path).dataset.schema)

        near = re.sub('source = "[^"]*"', 'source = "table.csv"', block)
        done = checked(tmp_path, near.replace("gb18030", "utf-8"), columns)

        assert done.exit_code == 0, done.stderr
        assert "Caution" not in done.stdout


@pytest.mark.parametrize("mark", PARTS)
def test_parts_of_project_files_in_documents_pass_a_check(mark, tmp_path):
    """A part, put into a project whose columns it names, asks for what can be done."""
    parts = [b for b in blocks("docs/project-file.md") if "[data]" not in b]
    (block,) = (b for b in parts if mark in b)
    told = "\n".join(f"[columns.{n}]\n{kind}" for n, kind in KINDS.items())
    text = BASE.format(unit=PARTS[mark], columns=told)
    if mark == "[[synthetic.tables]]":
        text += VISITS.format()
    if "[unit]" in block:
        text = text.replace("[budget]", f"{block}\n[budget]")
        block = ""
    block = block.replace("clinic-2024", "patients")

    done = checked(tmp_path, f"{text}\n{block}", KINDS)

    assert done.exit_code == 0, done.stderr
    assert "Caution: all" not in done.stdout


def test_every_entry_is_documented():
    """The document of project files names each entry of the schema."""
    from sfumato.project import json_schema

    text = (ROOT / "docs/project-file.md").read_text("utf-8")
    schema = json_schema()
    entries = {
        name
        for table in [schema, *schema["$defs"].values()]
        for name in table["properties"]
    }

    assert [name for name in entries if not re.search(rf"\b{name}\b", text)] == []


def test_links_between_documents_lead_somewhere():
    """A relative link names a file that exists."""
    names = ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "docs/glossary.md",
             "docs/project-file.md", "docs/choosing-epsilon.md"]  # fmt: skip
    for name in names:
        text = (ROOT / name).read_text("utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert ((ROOT / name).parent / target).exists(), target


def test_the_demonstration_is_what_it_says():
    """Eight means, counts and glucose by outcome, a histogram; half an epsilon."""
    with project_file() as path:
        project = load(path)

    assert str(project.budget) == "0.5"
    assert [len(a.query.statistics) for a in project.releases] == [8, 2, 1]
    assert sum(a.loss.units for a in project.releases) == project.budget.units
    for name in ("Glucose", "BloodPressure", "SkinThickness", "Insulin", "BMI"):
        assert project.dataset.schema[name].missing == (0.0,)


def test_the_numbers_of_choosing_epsilon_are_those_of_the_program():
    """Its scenarios are what `advise` prints for the demonstration; its odds `explain`."""
    text = (ROOT / "docs/choosing-epsilon.md").read_text("utf-8")
    with project_file() as path:
        words = ["advise", str(path), "--rows", "768", "--lang", "en"]
        page = CliRunner().invoke(cli, words).stdout
        wish = CliRunner().invoke(cli, [*words, "--target", "means.mean_Glucose=10"])
    block = re.findall(r"```text\n(.*?)```", text, re.DOTALL)

    assert all(line in page for line in block[0].splitlines())
    assert block[1].strip() == wish.stderr.strip()
    for row in re.findall(r"\| ([\d.]+) \| ([\d.]+) \| (\d+) \| ([\d.]+) % \|", text):
        known = odds(row[0])
        belief = upper_percent(known.certainty[1][1])
        assert row[1:] == (f"{known.factor:.3g}", str(known.of_100_with), belief)
