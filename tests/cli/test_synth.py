"""`sfumato synth`: asked before it spends, refused before it spends, whole files."""

import json
from pathlib import Path

from sfumato.synth import Synthesis

SYNTHETIC = """
[synthetic]
epsilon = "0.5"
complete = ["Outcome"]
forbid = [{ Outcome = 1, Glucose = { from = 0, to = 60 } }, { Outcome = 0, Glucose = { missing = true } }]
rows = 300
target = "Outcome"
quasi_identifiers = ["Glucose"]
"""  # fmt: skip
FILES = {f"results/synthetic.{end}" for end in ("csv", "html", "json", "synth")}


def test_it_writes_rows_a_page_a_record_and_the_model(run, desk, good):
    """The rows asked for, the declared columns, the claim on the page and in the record."""
    desk.project(good + SYNTHETIC)

    done = run("synth", "project.toml", "--yes")

    assert done.exit_code == 0, done.stderr
    assert set(desk.files()) >= FILES
    head, *rows = Path("results/synthetic.csv").read_text("utf-8-sig").splitlines()
    assert head == "Glucose,Outcome"
    assert len(rows) == 300
    for row in rows:
        glucose, outcome = row.split(",")
        assert outcome in ("0", "1")
        assert not (outcome == "1" and glucose and float(glucose) <= 60)
        assert not (outcome == "0" and not glucose)
    record = json.loads(Path("results/synthetic.json").read_text("utf-8"))
    assert record["claim"]["loss"] == "0.5"
    page = Path("results/synthetic.html").read_text("utf-8")
    assert "ε = 0.5" in page
    assert "<script" not in page
    assert len(Synthesis.load("results/synthetic.synth").sample(10)) == 10
    assert "0.5" in done.stdout


def test_the_charge_is_in_the_ledger(run, desk, good):
    """One debit of what the file says, beside the releases' own."""
    desk.project(good + SYNTHETIC)

    run("synth", "project.toml", "--yes")
    shown = run("ledger", "show", "project.ledger", "--json")

    assert "0.5" in json.dumps(json.loads(shown.stdout))


def test_the_owners_page_is_marked(run, desk, good):
    """It compares with true rows, so every screen of it says whose eyes it is for."""
    desk.project(good + SYNTHETIC)

    done = run("synth", "project.toml", "--yes", "--owner", "--lang", "en")

    page = Path("results/synthetic-owner.html").read_text("utf-8")
    assert "FOR THE OWNER" in page
    assert "AUC" in page
    assert "k = " in page
    assert "never publish" in done.stdout


def test_attacks_are_told_and_stand_on_the_owners_page(run, desk, good):
    """With rows that were held out; again, for nothing, on the table of before."""
    desk.project(good + SYNTHETIC)
    source = next(Path().glob("*.csv"))
    head, *rows = source.read_text("utf-8").splitlines()
    Path("others.csv").write_text("\n".join([head, *rows[::2]]), "utf-8")

    done = run(
        "synth", "project.toml", "--yes", "--held-out", "others.csv", "--lang", "en"
    )
    page = Path("results/synthetic-owner.html")
    first = page.read_text("utf-8")
    page.unlink()
    before = run("ledger", "show", "project.ledger", "--json").stdout
    again = run(
        "synth", "project.toml", "--again", "--held-out", "others.csv", "--lang", "en"
    )
    spent = run("ledger", "show", "project.ledger", "--json")

    mark, _, told = done.stderr.partition("Attack, who was in the table")
    assert told
    assert mark.endswith("FOR THE OWNER'S EYES, NEVER FOR PUBLICATION\n")
    assert "Attack, what is somebody's Outcome" in done.stderr
    assert "at most, by the claim" in first
    assert again.exit_code == 0, again.stderr
    assert "Attack, who was in the table" in again.stderr
    assert page.read_text("utf-8") == first
    assert before == spent.stdout
    assert "0.5" in before
    assert not Path("results/synthetic-owner.html").stat().st_mode & 0o077


def test_a_wrong_file_of_held_out_rows_spends_nothing(run, desk, good):
    """No such file, other columns, or no earlier table to judge."""
    desk.project(good + SYNTHETIC)
    Path("others.csv").write_text("a,b\n1,2\n", "utf-8")

    for arguments in (
        ("--yes", "--held-out", "nowhere.csv"),
        ("--yes", "--held-out", "others.csv"),
        ("--again",),
    ):
        done = run("synth", "project.toml", *arguments)
        assert done.exit_code == 2, done.stderr
        assert not FILES & set(desk.files())


def test_what_the_owners_page_cannot_tell_is_refused_before_the_debit(run, desk, good):
    """An unknown target or quasi-identifier, and a target that has not two keys."""
    cases = [
        ('target = "Outcome"', 'target = "Outcom"', "unknown column"),
        ('target = "Outcome"', 'target = "Glucose"', "cannot be predicted"),
        ('identifiers = ["Glucose"]', 'identifiers = ["zip"]', "unknown column"),
    ]
    for old, new, words in cases:
        desk.project(good + SYNTHETIC.replace(old, new))

        done = run("synth", "project.toml", "--yes", "--owner", "--lang", "en")

        assert done.exit_code == 2
        assert words in done.stderr
        assert not FILES & set(desk.files())
    shown = run("ledger", "show", "project.ledger", "--json")
    assert shown.exit_code != 0 or '"debits": 0' in shown.stdout


def test_a_folder_in_a_files_place_is_refused_before_the_debit(run, desk, good):
    """With --force too: a model that was paid for could not be written there."""
    for name in ("synthetic.synth", "synthetic.csv"):
        desk.project(good + SYNTHETIC)
        place = Path("results") / name
        place.mkdir(parents=True)

        done = run("synth", "project.toml", "--yes", "--force", "--lang", "en")

        assert done.exit_code == 2
        assert "is a folder" in done.stderr
        assert not Path("project.ledger").exists()
        place.rmdir()


def test_judging_again_overwrites_no_page_and_no_other_table(run, desk, good):
    """Unless forced; and a table of other declarations is told, not a traceback."""
    desk.project(good + SYNTHETIC)
    run("synth", "project.toml", "--yes")
    page = Path("results/synthetic-owner.html")
    page.write_text("mine")

    refused = run("synth", "project.toml", "--again", "--lang", "en")
    kept = page.read_text()
    forced = run("synth", "project.toml", "--again", "--force", "--lang", "en")
    text = (good + SYNTHETIC).replace("lower = 0", "lower = 1")
    desk.project(text)
    other = run("synth", "project.toml", "--again", "--force", "--lang", "en")

    assert (refused.exit_code, kept) == (2, "mine")
    assert "exists already" in refused.stderr
    assert forced.exit_code == 0, forced.stderr
    assert page.read_text("utf-8") != "mine"
    assert other.exit_code == 2, other.stderr
    assert "declared otherwise" in other.stderr


def test_infinity_in_a_rule_is_saved(run, desk, good):
    """JSON has none: the model was paid for, and then could not be written."""
    desk.project(
        good + SYNTHETIC.replace("to = 60", "to = inf").replace("0 }, {", "0 }, {")
    )

    done = run("synth", "project.toml", "--yes", "--lang", "en")

    assert done.exit_code == 0, done.stderr
    assert len(Synthesis.load("results/synthetic.synth").sample(5)) == 5


def test_a_missing_file_of_held_out_rows_is_told_in_chinese(run, desk, good):
    """By us, not by the library that reads the command line."""
    desk.project(good + SYNTHETIC)

    done = run("synth", "project.toml", "--yes", "--held-out", "no.csv", "--lang", "zh")

    assert done.exit_code == 2
    assert "does not exist" not in done.stderr
    assert not Path("project.ledger").exists()


def test_without_a_terminal_it_asks_for_yes(run, desk, good):
    """Nothing is spent and no file written."""
    desk.project(good + SYNTHETIC)

    done = run("synth", "project.toml")

    assert done.exit_code == 2
    assert "--yes" in done.stderr
    assert not FILES & set(desk.files())


def test_what_is_refused_spends_nothing(run, desk, good):
    """No table asked for, unknown columns, files that exist, too little budget."""
    cases = [
        (good, "asks for no synthetic table"),
        (good + SYNTHETIC.replace('"Outcome"]', '"Outcom"]', 1), "unknown column"),
        (good + SYNTHETIC.replace('epsilon = "0.5"', 'epsilon = "5"'), "is left"),
        (good + SYNTHETIC.replace('epsilon = "0.5"', 'rho = "0.5"'), "kept in epsilon"),
        (good + SYNTHETIC + 'method = "gan"\n', "method"),
    ]
    for text, words in cases:
        desk.project(text)

        done = run("synth", "project.toml", "--yes")

        assert done.exit_code != 0
        assert words in done.stderr
        assert not FILES & set(desk.files())
    desk.project(good + SYNTHETIC)
    Path("results").mkdir(exist_ok=True)
    Path("results/synthetic.csv").write_text("mine")
    assert "exists already" in run("synth", "project.toml", "--yes").stderr
    assert Path("results/synthetic.csv").read_text() == "mine"


def test_a_project_may_ask_for_a_table_alone(run, desk, good):
    """Without releases; and a project that asks for nothing is refused."""
    start, end = good.index("[[releases]]"), good.index("[output]")
    bare = good[:start] + good[end:]
    desk.project(bare + SYNTHETIC)

    assert run("check", "project.toml").exit_code == 0
    assert run("synth", "project.toml", "--yes").exit_code == 0
    desk.project(bare)
    assert "asks for nothing" in run("check", "project.toml").stderr


def test_a_refusal_leaves_no_ledger_whose_cap_would_be_final(run, desk, good):
    """Neither without a yes, nor where the budget is too small, nor for a wrong target."""
    cases = [
        ("", ()),
        ('epsilon = "0.5"\ncomplete', ("--yes",)),
        ('target = "Outcome"', ("--yes", "--owner")),
    ]
    for old, words in cases:
        new = old.replace("0.5", "1.5").replace("Outcome", "Glucose")
        desk.project(good + (SYNTHETIC.replace(old, new) if old else SYNTHETIC))
        before = desk.files()

        done = run("synth", "project.toml", *words, "--lang", "en")

        assert done.exit_code == 2
        assert desk.files() == before


def test_rows_that_were_held_out_are_read_as_the_table_is(run, desk, good):
    """In its encoding: else none of their keys fits, and a guess looks perfect."""
    rows = [f"{100 + i % 40},{'男女'[i % 2]}" for i in range(400)]
    text = "\n".join(["Glucose,Outcome", *rows, ""])
    told = good.replace('"table.csv"', '"table.csv"\nencoding = "gb18030"')
    told = told.replace("values = [0, 1]", 'values = ["男", "女"]')
    made = SYNTHETIC[: SYNTHETIC.index("forbid")] + 'target = "Outcome"\n'
    desk.project(told + made)
    Path("table.csv").write_text(text, "gb18030")
    Path("others.csv").write_text(text, "gb18030")

    done = run(
        "synth", "project.toml", "--yes", "--held-out", "others.csv", "--lang", "en"
    )
    same = run("synth", "project.toml", "--again", "--force", "--held-out", "table.csv")

    assert done.exit_code == 0, done.stderr
    assert "gain +0.0" in done.stderr.split("Attack, what is")[1]
    assert same.exit_code == 2
