"""`init`, `check` and `plan`: they read no row and spend nothing."""

import json
from pathlib import Path

import pytest

from sfumato.project import load

ODD = ["capital-gain", "血糖 值", "order", "select", 'a"b', "x.y", "1st", "O'Brien",
       "%)", "age "]  # fmt: skip


def test_init_writes_what_the_header_tells(run):
    """Known columns are ready to confirm, unknown ones are comments."""
    Path("t.csv").write_text("Glucose,血糖,favourite colour,Sex\n1,2,3,4\n", "utf-8")

    result = run("init", "t.csv")

    text = Path("project.toml").read_text("utf-8")
    assert result.exit_code == 0
    assert "[columns.Glucose]" in text
    assert '[columns."血糖"]' in text
    assert '# [columns."favourite colour"]' in text
    assert text.count("TO BE CONFIRMED") == 3
    assert '# column = "patient_id"' in text  # a person may have several rows
    assert "# first = 2000-01-01" in text
    assert all(len(line) <= 120 for line in text.splitlines())
    found = load("project.toml")
    assert list(found.dataset.schema) == ["Glucose", "血糖", "Sex"]
    assert run("check", "project.toml").exit_code == 0


def test_a_chinese_column_gets_chinese_keys_and_a_reminder(run):
    """Figures by keys that no cell has cost as much, so nobody should miss them."""
    Path("t.csv").write_text("年龄,性别\n" + "30,男\n41,女\n" * 50, "utf-8")

    run("init", "t.csv")
    page = run("check", "project.toml", "--lang", "en")
    data = json.loads(run("check", "project.toml", "--json").stdout)
    fit = json.loads(run("check", "project.toml", "--owner", "--json").stdout)
    spent = run("run", "project.toml", "--yes", "--lang", "en")
    text = Path("project.toml").read_text("utf-8")

    assert 'values = ["男", "女"]' in text
    assert '# if the cells say it otherwise: values = ["F", "M"]' in text
    assert "Caution: not confirmed yet: 年龄, 性别." in page.stdout
    assert data["unconfirmed"] == ["年龄", "性别"]
    assert "Caution: not confirmed yet: 年龄, 性别." in spent.stderr
    assert spent.exit_code == 0
    assert [c["missing"] for c in fit["owners_eyes_only"]["columns"]] == [0, 0]


def test_a_confirmed_column_is_not_reminded_of(run):
    """The line is deleted where the column is right, or set to true."""
    Path("t.csv").write_text("Age,Sex\n1,F\n", "utf-8")
    run("init", "t.csv")
    file = Path("project.toml")
    text = file.read_text("utf-8").replace("\nconfirmed = false", "", 1)
    file.write_text(text, "utf-8")
    some = run("check", "project.toml", "--lang", "en").stdout
    file.write_text(text.replace("confirmed = false", "confirmed = true"), "utf-8")
    none = run("check", "project.toml", "--lang", "en").stdout

    assert "Caution: not confirmed yet: Sex." in some
    assert "confirmed" not in none


def test_the_owner_sees_that_no_cell_fits(run, desk):
    """Keys that no cell has: told to the owner, who alone may know."""
    desk.project(table="Glucose,Outcome\n120,yes\n130,no\n")

    page = run("check", "project.toml", "--owner", "--lang", "en").stdout

    assert "No cell fits the declaration of: Outcome." in page
    assert "No cell" not in run("check", "project.toml", "--lang", "en").stdout


def test_init_reads_no_value(run):
    """Two tables with one header give one project file."""
    Path("t.csv").write_text("Glucose,Sex\n1,F\n", "utf-8")
    run("init", "t.csv", "--out", "a.toml")
    Path("t.csv").write_bytes(b"Glucose,Sex\n\xff\xfe,M\n" * 1)
    run("init", "t.csv", "--out", "b.toml")

    assert Path("a.toml").read_text("utf-8") == Path("b.toml").read_text("utf-8")


def test_values_are_read_on_request_only_and_marked(run):
    """Types and keys become comments, bounds never; the owner is warned twice."""
    Path("t.csv").write_text("Glucose,Sex,x\n987.5,F,a\n3,M,b\n", "utf-8")

    result = run("init", "t.csv", "--read-values")

    text = Path("project.toml").read_text("utf-8")
    assert "not private" in result.stderr
    assert "FOR THE OWNER'S EYES" in text
    assert "# observed: texts: 2; keys: 'F', 'M'" in text
    assert [c for c in text.splitlines() if "987.5" in c] == [
        "# observed: whole numbers: 1, decimals: 1; keys: '987.5', '3'"
    ]
    assert load("project.toml").dataset.schema["Glucose"].upper == 1500
    assert Path("project.toml").stat().st_mode & 0o077 == 0  # only its owner reads it


def test_a_draft_of_a_marked_table_tells_of_each_column(run):
    """The first one too, though a byte order mark stands before it; DEL breaks no draft."""
    Path("t.csv").write_text("Sex,a\x7fb\nF,2\n", "utf-8-sig")

    result = run("init", "t.csv", "--read-values")

    assert result.exit_code == 0, result.stderr
    text = Path("project.toml").read_text("utf-8")
    assert "# observed: texts: 1; keys: 'F'" in text
    assert "\x7f" not in text


def test_init_never_overwrites(run, refused):
    """An existing file stays unless --force says otherwise."""
    Path("t.csv").write_text("Age\n1\n", "utf-8")
    Path("project.toml").write_text("mine", "utf-8")

    assert "project.toml exists already" in refused("init", "t.csv")
    assert run("init", "t.csv", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "content", "line"),
    [
        (["none.csv"], None, "none.csv cannot be read"),
        (["t.csv"], b"", "has no header line"),
        (["t.csv"], "编号\n".encode("gb18030"), "often gb18030"),
        (["t.csv", "--encoding", "x"], b"a\n", "unknown encoding 'x'"),
        (["t.csv", "--separator", ",,"], b"a\n", "--separator must be one character"),
        (["t.csv", "--out", "no/such/p.toml"], b"a\n", "cannot be written"),
        (["t.csv", "--out", "x" * 300], b"a\n", "cannot be written"),
        (["x" * 300], None, "cannot be read"),
        (["t.xlsx"], None, "is not a text table"),
        (["t.duckdb"], None, "is not a text table"),
        ([], None, "TABLE is missing"),
        (["."], None, "cannot be read"),
    ],
)
def test_init_refuses_in_one_line(refused, words, content, line):
    """Every slip has its line."""
    if content is not None:
        Path("t.csv").write_bytes(content)

    assert line in refused("init", *words)


def test_init_keeps_encoding_separator_and_odd_names(run):
    """What the header was read with is written into the file."""
    names = ";".join('"' + n.replace('"', '""') + '"' for n in [*ODD, "收缩压", "a\nb"])
    Path("病人 表.csv").write_bytes((names + "\n").encode("gb18030"))

    result = run("init", "病人 表.csv", "--encoding", "gb18030")

    assert result.exit_code == 0
    found = load("project.toml")
    assert found.dataset.source.encoding == "gb18030"
    assert found.dataset.source.separator == ";"
    assert found.table == "病人 表.csv"
    assert run("check", "project.toml").exit_code == 0


def test_check_says_that_all_is_well(run, desk):
    """A good project gives a summary and JSON; no file appears."""
    desk.project()
    before = desk.files()

    words, data = run("check", "project.toml"), run("check", "project.toml", "--json")

    assert "project.toml is in order: Small" in words.stdout
    assert "numbers from 0 to 250 mg/dL, step 1; missing: 0" in words.stdout
    assert "all releases together cost ε 0.75\nbudget ε 1; left ε 1" in words.stdout
    assert json.loads(data.stdout)["cost"] == "0.75"
    assert desk.files() == before


def test_check_tells_the_cost_of_a_synthetic_table(run, desk, good):
    """It is asked for in the same file, so its price is told with the others."""
    start, end = good.index("[[releases]]"), good.index("[output]")
    table = '[synthetic]\nepsilon = "0.5"\n'
    desk.project(good + table)
    beside = run("check", "project.toml").stdout
    desk.project(good[:start] + good[end:] + table)
    alone = run("check", "project.toml").stdout

    assert "sfumato synth  synthetic tables: 1  ε 0.5" in beside
    assert "Caution" in beside and "Caution" not in alone
    assert "Next: sfumato plan" in beside
    assert "Next: sfumato synth" in alone


def test_choices_are_told_in_the_readers_language(run, desk, good):
    """The words between them too."""
    desk.project("language = 'fr'\n" + good)

    assert '"en" 或 "zh"' in run("check", "project.toml", "--lang", "zh").stderr


def test_check_prints_the_schema_for_editors(run):
    """No project is needed for it."""
    assert "properties" in json.loads(run("check", "--json-schema").stdout)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("upper", "uper",
         "[SF103] project.toml: columns.Glucose.uper is unknown; did you mean 'upper'?"),
        ("table.csv", "none.csv", "none.csv cannot be read"),
        ("columns.Glucose", "columns.glucose", "unknown column 'Glucose'"),
        ("columns.Outcome", 'columns."Outcome "', "unknown column 'Outcome'"),
        ("[budget]", "[columns.Weight]\ntype = 'boolean'\n[budget]",
         "table.csv has no column 'Weight'"),
        ('"0.25"', '"0.75"', "the releases cost epsilon 1.25 together, 1 is left"),
        ('"0.25"', "nan", "releases.bins.epsilon: epsilon must be a finite number"),
        ("[data]", "[data]\nencoding = 'utf-16'", "is not written in utf-16"),
    ],
)  # fmt: skip
def test_wrong_projects_are_refused(refused, desk, good, old, new, line):
    """One line; no file, no ledger."""
    desk.project(good.replace(old, new, 1))

    assert line in refused("check", "project.toml")


@pytest.mark.parametrize("name", ["none.toml", ".", "", "a\nb.toml", "x" * 300])
@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_odd_paths_are_refused(refused, command, name):
    """No path makes a command fail in another way."""
    assert "Error: [SF103]" in refused(command, name)


def test_plan_reads_no_data(run, desk):
    """The plan stands without a table; figures, errors, noise and budget are shown."""
    desk.project()
    Path("table.csv").unlink()

    page = run("plan", "project.toml", "--rows", "600")
    data = json.loads(run("plan", "project.toml", "--rows", "600", "--json").stdout)

    assert page.exit_code == 0
    assert "budget ε 1; left ε 1" in page.stdout
    assert "Mean of Glucose" in page.stdout
    assert "all releases together cost ε 0.75" in page.stdout
    assert data["left"] == "1"
    mean = data["releases"][0]["figures"][1]
    assert mean["name"] == "mean_Glucose"
    assert mean["rows_per_group"] == 300
    assert 0 < mean["mean_absolute_error"] < mean["error"]
    assert data["releases"][1]["figures"][0]["cells"] == 3
    assert {p["measures"] for s in data["releases"][0]["steps"] for p in s["parts"]} == {
        "CountRows", "CentredSum", "CountValues",
    }  # fmt: skip
    assert sum(float(s["epsilon"]) for s in data["releases"][0]["steps"]) == 0.5
    assert set(desk.files()) == {"project.toml"}


def test_plan_says_when_the_budget_is_short(run, desk, good):
    """It is shown, not refused: planning is how one finds out."""
    desk.project(good.replace('"0.25"', '"0.75"'))

    assert "run will refuse" in run("plan", "project.toml").stdout


def test_the_owner_sees_how_the_bounds_fit(run, desk):
    """Exact counts, marked above and below; the public summary holds none of them."""
    desk.project(table="Glucose,Outcome\n120,0\n999,1\n0,2\n,1\n-4,x\n")

    page = run("check", "project.toml", "--owner").stdout
    data = json.loads(run("check", "project.toml", "--owner", "--json").stdout)

    assert page.count("FOR THE OWNER'S EYES") == 2
    columns = {c["name"]: c for c in data["owners_eyes_only"]["columns"]}
    assert columns["Glucose"] | {"stored": ""} == {
        "name": "Glucose", "stored": "", "rows": 5, "missing": 2, "below": 1, "above": 1,
    }  # fmt: skip
    assert columns["Outcome"]["missing"] == 2
    assert "owners_eyes_only" not in run("check", "project.toml", "--json").stdout
    assert "OWNER" not in run("check", "project.toml").stdout


@pytest.mark.parametrize(
    "first", ["6,148,72\n", "Jane Doe,31\n", " 7 ,x\n", "Bobby,1e5\n"]
)
def test_init_takes_no_row_for_a_header(refused, run, desk, first):
    """A first line that holds numbers is refused, and nothing of it is repeated."""
    Path("table.csv").write_text(first + "1,85,66\n", encoding="utf-8")

    said = refused("init", "table.csv")

    assert "looks like a row" in said and "--header" in said
    assert not any(cell.strip() in said for cell in first.split(",") if len(cell) > 2)
    assert run("init", "table.csv", "--header").exit_code == 0
    assert "project.toml" in desk.files()


def test_a_draft_names_the_column_that_says_whose_a_row_is(run):
    """A steward whose people have several rows is asked, and finds the name written."""
    Path("t.csv").write_text("Visit,Patient ID,Age\n2024-02-29,P1,3\n", "utf-8")

    said = run("init", "t.csv", "--read-values", "--lang", "en").stdout
    text = Path("project.toml").read_text("utf-8")
    Path("t.csv").write_text("id,Age\n1,3\n", "utf-8")
    none = run("init", "t.csv", "--force", "--lang", "en").stdout

    assert "if several rows have the same Patient ID, complete [unit]" in said
    assert '# column = "Patient ID"' in text
    assert "# observed: days such as 2024-02-29: 1; keys: '2024-02-29'" in text
    assert "Caution" not in none


def test_check_finds_the_column_that_says_whose_a_row_is(refused, desk):
    """It is read as the declared ones are; a check that passed it over was refused by run."""
    desk.project(table="id,Glucose,Outcome\nA,120,1\n")
    project = Path("project.toml")
    unit = '[unit]\ncolumn = "I D"\nmax_rows = 1\nmax_groups = 1\n'
    project.write_text(project.read_text("utf-8") + unit, "utf-8")

    assert "no column 'I D'" in refused("check", "project.toml")


@pytest.mark.parametrize("head", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"])
def test_a_spreadsheet_is_told_as_one(refused, desk, head):
    """And not as a table in another encoding."""
    desk.project()
    Path("table.csv").write_bytes(head + b"\x14\x00\x06\x00\n")

    assert "is not a text file; save it as CSV" in refused("check", "project.toml")
    assert "is not a text file; save it as CSV" in refused(
        "init", "table.csv", "--force"
    )


@pytest.mark.parametrize(
    "words", ["check", "plan", "advise", "tune --owner --runs 2 --jobs 1"]
)
def test_a_project_file_of_others_acts_on_no_terminal(run, desk, good, words):
    """Its titles, names and keys stand on their own line, and turn no writing round."""
    evil = "\\u001b[2J\\u202e\\nleft to spend: 99"
    text = good.replace('title = "Small"', f'title = "T{evil}"')
    text = text.replace('name = "overview"', f'name = "r{evil}"\ntitle = "R{evil}"')
    text = text.replace('mean = "Glucose"', f'mean = "Glucose", name = "m{evil}"')
    desk.project(text.replace("values = [0, 1]", f'values = ["0", "1", "k{evil}"]'))

    command, *more = words.split()
    done = run(command, "project.toml", *more, color=True)

    assert done.exit_code == 0, done.stderr
    assert "\x1b[2J" not in done.stdout and "\u202e" not in done.stdout
    assert not [x for x in done.stdout.splitlines() if x.startswith("left to spend")]
