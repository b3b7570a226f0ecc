"""`run` and `demo`: everything refusable is refused before a debit."""

import csv
import json
import stat
from pathlib import Path

import pytest

import sfumato.testing
from sfumato.errors import EngineError
from sfumato.question import SessionPlan

ODD = ["capital-gain", "血糖 值", "order", "select", 'a"b', "x.y", "1st", "O'Brien",
       "%)", "age "]  # fmt: skip
YES = ("run", "project.toml", "--yes")


def left(run):
    """Return what the ledger has left."""
    return json.loads(run("plan", "project.toml", "--json").stdout)["left"]


def test_a_run_releases_and_debits(run, desk):
    """Figures on the screen and in files; the ledger knows; progress is on stderr."""
    desk.project()

    result = run(*YES)

    assert result.exit_code == 0, result.stderr
    assert "Mean of Glucose" in result.stdout
    assert "1.28" not in result.stderr
    assert "2 of 2: bins, ε 0.25" in result.stderr
    assert "Left to spend: ε 0.25" in result.stdout
    assert set(desk.files()) >= {"results/release.json", "results/release.csv",
                                 "project.ledger"}  # fmt: skip
    made = json.loads(Path("results/release.json").read_text("utf-8"))
    assert made["schema_version"] == 1
    assert [r["title"] for r in made["releases"]] == ["overview", "bins"]
    assert [r["claim"]["epsilon"] for r in made["releases"]] == ["0.5", "0.25"]
    assert left(run) == "0.25"


def test_the_csv_is_one_table(run, desk):
    """All releases stand under one header that spreadsheets read."""
    desk.project()
    run(*YES)

    text = Path("results/release.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.removeprefix("\ufeff").splitlines()))

    assert text.startswith("\ufeff")
    assert [r["name"] for r in rows] == ["count"] * 2 + ["mean_Glucose"] * 2 + [
        "histogram_Glucose"
    ] * 3
    assert [r["Outcome"] for r in rows] == ["0", "1", "0", "1", "", "", ""]
    assert {r["status"] for r in rows} == {"private"}


def test_only_one_release(run, desk):
    """--only debits that release alone."""
    desk.project()

    assert run(*YES, "--only", "bins").exit_code == 0
    assert left(run) == "0.75"


def test_results_are_never_overwritten_unasked(run, refused, desk):
    """Refused before the debit; --force and --out are the ways out."""
    desk.project()
    run(*YES, "--only", "bins")

    assert "results/release.json exists already" in refused(*YES, "--only", "bins")
    assert left(run) == "0.75"
    assert run(*YES, "--only", "bins", "--out", "again").exit_code == 0
    assert run(*YES, "--only", "bins", "--force").exit_code == 0
    assert left(run) == "0.25"


def test_an_exhausted_budget_refuses_all_before_the_first(run, refused, desk):
    """The total is checked: no release of a run that cannot be paid whole is made."""
    desk.project()
    run(*YES, "--only", "overview")

    line = refused(*YES, "--out", "new")

    assert "[SF201] the releases cost epsilon 0.75 together, 0.5 is left" in line
    assert left(run) == "0.5"
    assert not Path("new").exists()


def test_spending_needs_a_yes(refused, desk):
    """Without a terminal to ask, --yes must be given; no ledger is begun."""
    desk.project()

    assert "this spends ε 0.75 of ε 1 left" in refused("run", "project.toml")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("table.csv", "none.csv", "none.csv cannot be read"),
        ("upper = 250", "upper = -5", "columns.Glucose: lower bound"),
        ('"0.25"', '"0.75"', "the releases cost epsilon 1.25 together, 1 is left"),
        ('"0.25"', "0", "releases.bins.epsilon: epsilon must be greater than 0, got 0"),
        ('epsilon = "1"', 'epsilon = "1"\nledger = "no/such/x.ledger"',
         "[SF202] the folder of the ledger"),
        ('epsilon = "1"', 'epsilon = "1"\nledger = "table.csv"', "[SF202]"),
        ("[output]", '[output]\nfolder = "table.csv"', "the folder table.csv cannot"),
        ("[data]", '[unit]\nneighbours = "replace_one"\nsize = 3\n[data]', "[SF104]"),
    ],
)  # fmt: skip
def test_what_cannot_run_leaves_no_trace(refused, desk, good, old, new, line):
    """One line, no file, no ledger."""
    desk.project(good.replace(old, new, 1))

    assert line in refused(*YES)
    assert not Path("results").exists()


def test_an_unknown_release_is_refused(refused, desk):
    """The nearest name is given."""
    desk.project()

    assert "has no release 'bin'; it has 'bins'" in refused(*YES, "--only", "bin")


def test_another_cap_is_refused(run, refused, desk, good):
    """A ledger's cap is final."""
    desk.project()
    run(*YES, "--only", "bins")
    desk.project(good.replace('epsilon = "1"', 'epsilon = "2"'))

    assert "[SF202] the ledger records a budget of 1" in refused(*YES, "--out", "new")


def test_what_was_paid_is_written_even_if_a_later_release_fails(run, desk, monkeypatch):
    """The debit stands, the first release is on disk, the exit code is 1."""
    desk.project()
    real = SessionPlan.release

    def fail_late(self, **settings):
        if "histogram" in str(self.plan.query):
            raise EngineError
        return real(self, **settings)

    monkeypatch.setattr(SessionPlan, "release", fail_late)
    result = run(*YES)

    assert result.exit_code == 1
    assert "1 of 2 releases were made before this" in result.stderr
    assert "[SF301]" in result.stderr
    made = json.loads(Path("results/release.json").read_text("utf-8"))
    assert len(made["releases"]) == 1


def test_figures_are_printed_when_the_disk_fails(run, desk, monkeypatch):
    """What was paid for is never lost."""
    desk.project()

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr("sfumato.project.outputs.write", fail)
    result = run(*YES)

    assert result.exit_code == 1
    assert len(json.loads(result.stdout)["releases"]) == 2
    assert "keep the JSON above" in result.stderr


def test_a_bug_shows_no_traceback(run, monkeypatch):
    """An unforeseen error is one line and tells no value."""

    def fail(_):
        raise RuntimeError("cell 120 of row 3")

    monkeypatch.setattr("sfumato.cli.commands.explain.odds", fail)
    result = run("explain", "1")

    assert result.exit_code == 1
    assert "RuntimeError" in result.stderr
    assert "120" not in result.stderr


def test_the_owner_gets_a_page_of_truths(run, desk):
    """owner.html is marked and readable by its owner only."""
    desk.project()

    result = run(*YES, "--owner")

    assert result.exit_code == 0, result.stderr
    page = Path("results/owner.html")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "OWNER" in page.read_text("utf-8")
    assert "OWNER" in result.stdout
    public = Path("results/release.json").read_text("utf-8")
    assert "truth" not in public


def test_odd_names_go_all_the_way(run, desk):
    """Every column is addressed by exactly the string in the header."""
    head = ",".join('"' + n.replace('"', '""') + '"' for n in ODD)
    row = ",".join(str(5 * j) for j, _ in enumerate(ODD))
    keys = [json.dumps(n, ensure_ascii=False) for n in ODD]
    columns = "".join(
        f'[columns.{k}]\ntype = "integer"\nlower = 0\nupper = 100\n' for k in keys
    )
    means = ", ".join(f"{{ mean = {k}, name = 'm{j}' }}" for j, k in enumerate(keys))
    desk.project(
        f'data = {{ source = "table.csv", name = "odd" }}\nbudget = {{ epsilon = 1000 }}\n'
        f'{columns}[[releases]]\nname = "all"\nepsilon = 1000\nstatistics = [{means}]\n'
        'where = \'"capital-gain" < 1 and "血糖 值" == 5 and "a\\"b" >= 0\'\n'
        '[output]\nformats = ["json"]\n',
        head + "\n" + (row + "\n") * 500,
    )

    result = run(*YES)

    assert result.exit_code == 0, result.stderr
    (made,) = json.loads(Path("results/release.json").read_text("utf-8"))["releases"]
    assert [f["estimate"] for f in made["figures"]] == pytest.approx(
        [5 * j for j, _ in enumerate(ODD)], abs=2
    )


@pytest.mark.parametrize("folder", ["deep/er", "血 糖", "a'b", "%s{x}", "-o"])
def test_odd_folders_are_fine(run, desk, folder):
    """Results go where they are sent."""
    desk.project()

    assert run(*YES, f"--out={folder}").exit_code == 0
    assert (Path(folder) / "release.json").exists()


def test_a_seed_marks_every_output(run, desk):
    """A release under a test seed says NOT PRIVATE wherever it is shown."""
    desk.project()
    with sfumato.testing.seeded(1):
        result = run(*YES, "--only", "bins")

    assert "NOT PRIVATE" in result.stdout
    made = json.loads(Path("results/release.json").read_text("utf-8"))
    assert made["releases"][0]["claim"]["private"] is False
    assert "NOT PRIVATE" in Path("results/release.csv").read_text("utf-8")


def test_the_demo_runs_twice_in_both_languages(program, desk):
    """A real process; three files; a second run in the same folder works."""
    first = program("demo", "--out", "d")
    again = program("demo", "--out", "d", "--lang", "zh")

    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    synthetic = {f"d/synthetic.{end}" for end in ("csv", "html", "json", "synth")}
    release = {"d/release.json", "d/release.csv", "d/report.html"}
    assert set(desk.files()) == release | synthetic
    made = json.loads(Path("d/release.json").read_text("utf-8"))["releases"]
    assert [len(r["figures"]) for r in made] == [8, 4, 7]
    assert sum(float(r["claim"]["epsilon"]) for r in made) == pytest.approx(0.5)
    assert made[0]["title"] == "各列均值"
    assert "血糖分布" in again.stdout
    assert 'lang="zh-CN"' in Path("d/report.html").read_text("utf-8")
    assert "1.65" in first.stdout


def test_the_demo_spares_a_stewards_release(run, refused, desk):
    """Files that no demo made are not overwritten."""
    desk.project()
    run(*YES)

    assert "exists already" in refused("demo", "--out", "results")


def test_errors_of_a_real_process(program, desk):
    """Exit code 2, one line, no traceback, in a process of its own."""
    desk.project()
    for words in (["rn"], ["run", "project.toml"], ["explain", "0"], ["plan", "none"]):
        found = program(*words)

        assert found.returncode == 2
        assert found.stdout == ""
        assert found.stderr.count("\n") == 1
    assert "project.ledger" not in desk.files()


def test_a_terminal_without_chinese_is_no_failure(program, desk):
    """What a terminal cannot show is shown as an escape."""
    desk.project()
    found = program(*YES, PYTHONIOENCODING="latin-1")

    assert found.returncode == 0, found.stderr
    assert "\\u03b5" in found.stdout


@pytest.mark.parametrize("folder", ["x" * 300, "table.csv/deep", "a\0b"])
def test_impossible_folders_are_refused_before_a_debit(refused, desk, folder):
    """No folder name makes a run fail after it has paid."""
    desk.project()

    assert "cannot be written" in refused(*YES, "--out", folder)


def test_paths_are_those_of_the_project_file(run, desk, monkeypatch):
    """Table, ledger and results lie beside the project file, wherever one stands."""
    desk.project()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")

    assert run("run", "../project.toml", "--yes").exit_code == 0
    assert {"results/release.json", "project.ledger"} <= set(desk.files())
    assert list(Path().iterdir()) == []


def test_a_chinese_table_in_its_own_encoding(run):
    """GB18030, Chinese names and keys, from the file to the figures."""
    table = "编号,血糖,性别\n" + "1,6,男\n2,8,女\n" * 200
    Path("病人.csv").write_bytes(table.encode("gb18030"))
    Path("项目.toml").write_text(
        'data = { source = "病人.csv", name = "病人", encoding = "gb18030" }\n'
        'budget = { epsilon = 200 }\nlanguage = "zh"\noutput = { formats = ["json"] }\n'
        '[columns."血糖"]\ntype = "real"\nlower = 0\nupper = 40\nstep = 0.1\n'
        '[columns."性别"]\ntype = "category"\nvalues = ["男", "女"]\n'
        '[[releases]]\nname = "血糖"\nepsilon = 100\ngroup_by = ["性别"]\n'
        'statistics = [{ mean = "血糖" }]\nwhere = "血糖 < 30"\n',
        encoding="utf-8",
    )

    result = run("run", "项目.toml", "--yes")

    assert result.exit_code == 0, result.stderr
    (made,) = json.loads(Path("results/release.json").read_text("utf-8"))["releases"]
    assert [f["estimate"] for f in made["figures"]] == pytest.approx([6, 8], abs=0.1)
    assert Path("项目.ledger").exists()


def test_parquet_by_its_ending(run, desk, good):
    """A Parquet table needs no encoding; a missing column is found in its metadata."""
    pandas = pytest.importorskip("pandas")
    desk.project(good.replace("table.csv", "table.parquet"))
    frame = pandas.DataFrame({"Glucose": [120, 150] * 200, "Outcome": [0, 1] * 200})
    frame.to_parquet("table.parquet")

    assert run("check", "project.toml").exit_code == 0
    assert run(*YES).exit_code == 0

    frame[["Glucose"]].to_parquet("table.parquet")
    assert "[SF104]" in run("check", "project.toml").stderr


@pytest.mark.parametrize("budget", ['epsilon = "1"', 'rho = "0.1"'])
def test_public_facts_alone_cost_nothing(run, desk, good, budget):
    """A public number of rows is released for nothing, by a share or by an amount."""
    text = good[: good.index("[[releases]]")].replace('epsilon = "1"', budget)
    unit = "[unit]\nneighbours = 'replace_one'\nsize = 600\n[data]"
    desk.project(
        f"{text.replace('[data]', unit)}split = 'equal'\n[[releases]]\nname = 'n'\n"
        "statistics = [{ count = true }]\n"
    )

    result = run(*YES)

    assert result.exit_code == 0, result.stderr
    made = json.loads(Path("results/release.json").read_text("utf-8"))["releases"]
    assert [f["estimate"] for f in made[0]["figures"]] == [600]
    assert set(left(run)) <= set("0.1")


@pytest.mark.parametrize(
    ("budget", "first", "sign"),
    [
        ('rho = "0.1"', 'rho = "0.05"', "ρ"),
        ('epsilon = "1"\ndelta = "1e-6"', 'rho = "0.005"', "ρ"),
        ('rho = "0.1"\ngaussian_only = true', 'rho = "0.05"', "ρ"),
        ('epsilon = "1"', 'epsilon = "0.5"', "ε"),
    ],
)
def test_every_command_speaks_of_the_right_currency(
    run, refused, desk, good, budget, first, sign
):
    """Amounts carry the sign of the budget's currency everywhere."""
    text = good.replace('epsilon = "1"', budget + '\nsplit = "equal"')
    text = text.replace('epsilon = "0.5"', first).replace('epsilon = "0.25"\n', "")
    desk.project(text)
    asked = refused("run", "project.toml")
    check, plan = run("check", "project.toml"), run("plan", "project.toml")
    data = json.loads(run("plan", "project.toml", "--json").stdout)
    result = run(*YES)

    assert f"this spends {sign} " in asked
    assert f"left {sign} " in check.stdout
    assert f"all releases together cost {sign} " in check.stdout
    assert f"all releases together cost {sign} " in plan.stdout
    assert data["measure"] in {"ρ": ("zcdp", "gdp"), "ε": ("epsilon",)}[sign]
    assert data["cost"] == data["budget"]
    assert result.exit_code == 0, result.stderr
    assert f"1 of 2: overview, {sign} " in result.stderr
    assert f"These releases cost {sign} " in result.stdout
    assert f"Left to spend: {sign} 0." in result.stdout
    assert left(run) == "0"
    line = refused(*YES, "--out", "new")
    assert ("rho" if sign == "ρ" else "epsilon") in line


def test_a_large_delta_is_warned_of(run, desk, good):
    """In one line of the user's language, on check and plan; never as a traceback."""
    desk.project(good.replace('epsilon = "1"', 'epsilon = "1"\ndelta = "0.001"'))

    assert "Caution: δ is above 1e-4" in run("check", "project.toml").stdout
    assert "注意：δ 大于 1e-4" in run("plan", "project.toml", "--lang", "zh").stdout


def test_a_large_delta_of_unknown_keys_is_warned_of(run, desk, good):
    """Kept beside ε or ρ it fails as often; a run says it in the same words only."""
    kept = 'epsilon = "1"\nthreshold_delta = "0.001"'
    desk.project(good.replace('epsilon = "1"', kept))

    assert "Caution: δ is above 1e-4" in run("check", "project.toml").stdout
    done = run(*YES)
    assert done.exit_code == 0, done.stderr
    assert "LargeDeltaWarning" not in done.stderr
