"""`sfumato ledger`: looking changes nothing; only reconcile writes, and only upward."""

import gc
import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.account import GDP, ZCDP, Epsilon
from sfumato.account.profile import Profile
from sfumato.ledger import Blocks, Ledger, show

YES = ("run", "project.toml", "--yes")
RHO = [('epsilon = "1"', 'rho = "0.1"'), ('epsilon = "0.5"', 'rho = "0.05"'),
       ('epsilon = "0.25"', 'rho = "0.02"')]  # fmt: skip
LOOKS = ["show", "verify", "profile", "export"]


@pytest.fixture
def spent(run, desk, good):
    """A ledger with two debits of a run."""

    def spend(*changes):
        text = good
        for old, new in changes:
            text = text.replace(old, new, 1)
        desk.project(text)
        result = run(*YES)
        assert result.exit_code == 0, result.stderr
        return result

    return spend


def test_show_tells_what_is_left(run, desk, spent):
    """Budgets, limits and debits, in the right currency; the ledger by any name."""
    limit = '[[budget.limits]]\nkind = "analyst"\nname = "Wu"\nrho = "0.08"'
    spent(*RHO, ("[[releases]]", f"{limit}\n[[releases]]"))
    before = desk.files()

    pages = [run("ledger", "show", name) for name in ("project.ledger", "project.toml")]
    data = json.loads(run("ledger", "show", "project.ledger", "--json").stdout)

    assert pages[0].stdout == pages[1].stdout
    page = " ".join(pages[0].stdout.split())
    assert "data set small ρ of zCDP ρ 0.1 ρ 0.07 ρ 0.03" in page
    assert "analyst Wu ρ of zCDP ρ 0.08 ρ 0.07 ρ 0.01" in page
    assert "ρ 0.05 Wu" in page
    assert [b["spent"] for b in data["budgets"]] == ["0.07", "0.07"]
    assert [d["units"] for d in data["last_debits"]] == [5 * 10**10, 2 * 10**10]
    assert desk.files() == before


def test_show_keeps_to_the_last(run, spent):
    """--last limits the table."""
    spent()

    data = json.loads(
        run("ledger", "show", "project.ledger", "--last", 1, "--json").stdout
    )

    assert [d["debits"] for d in data["last_debits"]] == [2]
    assert data["debits"] == 2


def test_blocks_are_shown_with_what_all_share(run):
    """What was spent on all rows is spent on every block."""
    blocks = Blocks("quarter", ("q1", "q2"))
    ledger = Ledger("b.ledger", dataset="d", cap=Epsilon("1"), blocks=blocks)
    ledger.debit(Epsilon("0.25"), plan="p")
    ledger.debit(Epsilon("0.5"), plan="p", blocks=["q1"])

    page = " ".join(run("ledger", "show", "b.ledger").stdout.split())

    assert "block q1 (quarter) pure ε ε 1 ε 0.75 ε 0.25" in page
    assert "block q2 (quarter) pure ε ε 1 ε 0.25 ε 0.75" in page
    assert "data set d pure ε ε 1 ε 0.75 ε 0.25" in page


@pytest.mark.parametrize("command", LOOKS)
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("none.ledger", "there is no ledger at"),
        ("no/such/x.ledger", "the folder of the ledger"),
        ("none.toml", "there is no project file none.toml"),
        (".", "[SF"),
        ("postgresql://127.0.0.1:1/none", "[SF"),
    ],
)
def test_wrong_places_are_refused(refused, command, name, line):
    """No ledger is created where there is none."""
    if command == "verify" and name in (".", "postgresql://127.0.0.1:1/none"):
        pytest.skip("verify tells it as a fault")

    assert line in refused("ledger", command, name)


@pytest.mark.parametrize("command", ["show", "profile", "export"])
@pytest.mark.parametrize("content", [b"Glucose,Outcome\n1,2\n" * 99, b"\0" * 4096])
def test_other_files_are_refused_and_left_as_they_are(refused, desk, command, content):
    """A table is no ledger; nothing is repaired."""
    Path("x.ledger").write_bytes(content)

    assert "[SF202]" in refused("ledger", command, "x.ledger")
    assert desk.files()["x.ledger"] == content


def test_verify_finds_a_sound_ledger_sound(run, desk, spent):
    """Exit code 0; the receipts of the published release are in it."""
    spent()
    before = desk.files()

    found = run(
        "ledger", "verify", "project.ledger", "--receipt", "results/release.json"
    )

    assert found.exit_code == 0, found.output
    assert "The ledger is whole: 5 entries" in found.stdout
    assert "All 2 receipts are in it, word for word." in found.stdout
    assert desk.files() == before


def test_verify_reads_a_single_release(run, spent):
    """What Python's `save` writes can be checked as well."""
    spent()
    made = json.loads(Path("results/release.json").read_text("utf-8"))["releases"]
    Path("one.json").write_text(json.dumps(made[1]), "utf-8")

    ask = "ledger", "verify", "project.ledger", "--receipt", "one.json"
    data = json.loads(run(*ask, "--json").stdout)

    assert "The receipt is in it, word for word." in run(*ask).stdout
    assert (data["sound"], data["receipts"], data["findings"]) == (True, 1, [])


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("head", "0" * 64, "is not in this ledger"),
        ("sequence", 7, "is not in this ledger"),
        ("dataset", "other", "is not in this ledger"),
        ("cost", "0.1", "the ledger states another debit"),
        ("plan", "0" * 64, "the ledger states another debit"),
        ("time", "2020-01-01T00:00:00+00:00", "the ledger states another debit"),
    ],
)
def test_a_forged_receipt_is_found(run, spent, field, value, fault):
    """Exit code 1 and the fault; every word of a receipt is compared."""
    spent()
    made = json.loads(Path("results/release.json").read_text("utf-8"))
    made["releases"][1]["claim"]["receipt"][field] = value
    Path("forged.json").write_text(json.dumps(made), "utf-8")

    found = run("ledger", "verify", "project.ledger", "--receipt", "forged.json")
    data = run(
        "ledger", "verify", "project.ledger", "--receipt", "forged.json", "--json"
    )

    assert "The ledger does not hold; 1 fault:" in found.stdout
    assert found.exit_code == data.exit_code == 1
    assert fault in found.stdout
    assert len(json.loads(data.stdout)["findings"]) == 1


@pytest.mark.parametrize("text", ["", "{}", '{"releases": [{}]}', "\xff"])
def test_what_is_no_release_is_refused(refused, spent, text):
    """Exit code 2: there is nothing to check."""
    spent()
    Path("bad.json").write_bytes(text.encode("latin-1"))

    assert "release" in refused(
        "ledger", "verify", "project.ledger", "--receipt", "bad.json"
    )
    assert "none.json cannot be read" in refused(
        "ledger", "verify", "project.ledger", "--receipt", "none.json"
    )


def test_every_fault_of_a_tampered_ledger_is_told(run, spent):
    """A refund with its trigger put back: balance and hash are both named."""
    spent()
    db = sqlite3.connect("project.ledger")
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    saved = triggers.fetchall()
    for name, _ in saved:
        db.execute(f'DROP TRIGGER "{name}"')
    db.execute("UPDATE budget SET spent = 0, whole = 0")
    db.execute(
        "UPDATE entry SET body = replace(body, '250000000000', '1') WHERE place = 4"
    )
    for _, sql in saved:
        db.execute(sql)
    db.commit()
    db.close()
    before = Path("project.ledger").read_bytes()

    found = run("ledger", "verify", "project.ledger")

    assert found.exit_code == 1
    assert "faults:" in found.stdout
    assert found.stdout.count("\n  ") >= 2
    assert "nothing repaired" in found.stdout
    assert Path("project.ledger").read_bytes() == before
    assert run("ledger", "show", "project.ledger").exit_code == 2
    assert run(*YES, "--out", "new").exit_code == 2


def test_verify_tells_a_table_as_a_fault(run, desk):
    """It is whatever the file is, and it stays so."""
    Path("x.ledger").write_text("a,b\n" * 999)

    found = run("ledger", "verify", "x.ledger")

    assert found.exit_code == 1
    assert desk.files()["x.ledger"] == b"a,b\n" * 999


def test_the_profile_is_that_of_the_mechanisms(run, desk, spent):
    """It equals the composition of the stored descriptors, and carries its caveat."""
    spent()
    before = desk.files()
    page = run("ledger", "profile", "project.ledger")
    data = json.loads(
        run("ledger", "profile", "project.ledger", "--delta", "1e-6", "--json").stdout
    )
    entries = [
        entry
        for line in run("ledger", "export", "project.ledger").stdout.splitlines()
        if (said := json.loads(line)["body"])["kind"] == "debit"
        for entry in json.loads(said["descriptor"])["mechanisms"]
    ]

    assert page.exit_code == 0, page.output
    assert page.stdout.startswith(
        "*** valid only if the parameters were fixed beforehand"
    )
    assert "spent ε 0.75 of ε 1" in page.stdout
    (found,) = data["datasets"]
    assert data["caveat"] == "valid only if the parameters were fixed beforehand"
    assert found["epsilon_at"] == [
        {"delta": "1e-6", "epsilon": Profile(entries).epsilon("1e-6")}
    ]
    assert found["epsilon_at"][0]["epsilon"] <= 0.75
    assert all(0 <= at["delta"] <= 1 for at in found["delta_at"])
    assert desk.files() == before


def test_undescribed_charges_count_as_the_worst(run):
    """A debit without a description is as bad as its charge allows, in each currency."""
    for kind, words in [
        (Epsilon, {"kind": "pure", "epsilon": "0.5"}),
        (ZCDP, {"kind": "zcdp", "rho": "0.5"}),
        (GDP, {"kind": "gaussian", "squared_sensitivity": "1", "variance": "1"}),
    ]:
        name = f"{kind.__name__}.ledger"
        Ledger(name, dataset="d", cap=kind("1")).debit(kind("0.5"), plan="p")

        page = run("ledger", "profile", name, "--delta", "1e-6", "--json")

        (found,) = json.loads(page.stdout)["datasets"]
        assert found["undescribed"] == 1
        assert found["epsilon_at"][0]["epsilon"] == Profile([words]).epsilon("1e-6")


def test_the_profile_of_blocks_is_that_of_the_worst(run):
    """Disjoint blocks stand beside each other; what all share counts in each."""
    blocks = Blocks("quarter", ("q1", "q2"))
    ledger = Ledger("b.ledger", dataset="d", cap=Epsilon("1"), blocks=blocks)
    ledger.debit(Epsilon("0.1"), plan="p")
    ledger.debit(Epsilon("0.5"), plan="p", blocks=["q1"])
    ledger.debit(Epsilon("0.3"), plan="p", blocks=["q2"])

    page = run("ledger", "profile", "b.ledger", "--delta", "0", "--json")

    (found,) = json.loads(page.stdout)["datasets"]
    assert found["epsilon_at"][0]["epsilon"] == pytest.approx(0.6)


def test_lost_charges_count_in_the_profile(run):
    """What an operator recorded after a restored backup has no mechanism to tell."""
    cap, half = Epsilon("1"), Epsilon("0.5")
    Ledger("x.ledger", dataset="d", cap=cap).debit(Epsilon("0.1"), plan="p")
    _copy("x.ledger", "backup")
    Ledger("x.ledger", dataset="d", cap=cap).debit(half, plan="p")
    _restore("backup", "x.ledger")
    assert (
        run("ledger", "reconcile", "x.ledger", "--operator", "Wu", "--yes").exit_code
        == 0
    )

    page = run("ledger", "profile", "x.ledger", "--delta", "0", "--json")

    (found,) = json.loads(page.stdout)["datasets"]
    assert found["epsilon_at"][0]["epsilon"] == pytest.approx(0.6)


def _copy(source, target):
    db, copy = sqlite3.connect(source), sqlite3.connect(target)
    db.backup(copy)
    copy.close()
    db.close()


def _restore(backup, ledger):
    gc.collect()
    for end in ("", "-wal", "-shm"):
        Path(ledger + end).unlink(missing_ok=True)
    shutil.copy(backup, ledger)
    Path(ledger).chmod(0o600)


@pytest.mark.parametrize("delta", ["1", "-1", "x", "1e-19"])
def test_unusable_deltas_are_refused(refused, spent, delta):
    """One line."""
    spent()

    assert "[SF101] delta" in refused(
        "ledger", "profile", "project.ledger", "--delta", delta
    )


def test_an_unknown_data_set_is_refused(refused, spent):
    """The nearest name is given."""
    spent()

    line = refused("ledger", "profile", "project.ledger", "--dataset", "smal")

    assert "the ledger has no data set 'smal'; it has 'small'" in line


@pytest.mark.usefixtures("desk")
def test_a_session_has_the_same_profile():
    """`Session.profile` reads the descriptors of its own ledger, in memory too."""
    import pandas

    schema = sf.Schema({"x": sf.Boolean()})
    data = sf.Dataset(pandas.DataFrame({"x": [1, 0] * 9}), schema=schema, name="d")
    for ledger in (None, "s.ledger"):
        session = sf.Session(data, budget=sf.ZCDP("0.1"), ledger=ledger)
        assert session.profile().epsilon("1e-6") == 0
        session.query().select(sf.count()).release(rho="0.05")
        noise = {"kind": "gaussian", "squared_sensitivity": "1", "variance": "10"}

        assert session.profile().epsilon("1e-6") == Profile([noise]).epsilon("1e-6")
        assert session.profile().mechanisms == 1


def test_export_can_be_checked_by_a_stranger(run, spent):
    """The program in docs/ledger.md accepts the lines; to a file or printed."""
    spent()
    printed = run("ledger", "export", "project.ledger").stdout
    assert run("ledger", "export", "project.ledger", "--out", "e.jsonl").exit_code == 0
    assert Path("e.jsonl").read_text("utf-8") == printed
    previous = None
    for line in printed.splitlines():
        entry = json.loads(line)
        text = json.dumps(entry["body"], sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == entry["hash"]
        assert previous in (None, entry["body"]["previous"])
        previous = entry["hash"]
    assert previous == show("project.ledger").head


def test_export_overwrites_nothing_unasked_and_never_the_ledger(refused, spent, run):
    """Not even by force."""
    spent()
    run("ledger", "export", "project.ledger", "--out", "e.jsonl")
    words = ("ledger", "export", "project.ledger", "--out")

    assert "e.jsonl exists already" in refused(*words, "e.jsonl")
    assert run(*words, "e.jsonl", "--force").exit_code == 0
    for own in ("project.ledger", "project.ledger.anchor", "project.ledger-wal"):
        assert "belongs to the ledger itself" in refused(*words, own, "--force")
    assert "cannot be written" in refused(*words, "no/such/folder")


def test_reconcile_raises_what_a_restored_backup_forgot(run, refused):
    """Refused until an operator answers for it by name; then spent is spent."""
    cap, half = Epsilon("1"), Epsilon("0.5")
    Ledger("x.ledger", dataset="d", cap=cap).debit(Epsilon("0.1"), plan="p")
    _copy("x.ledger", "backup")
    Ledger("x.ledger", dataset="d", cap=cap).debit(half, plan="p")
    _restore("backup", "x.ledger")
    words = ("ledger", "reconcile", "x.ledger")

    assert "a backup was restored" in run("ledger", "show", "x.ledger").stdout
    behind = run("ledger", "verify", "x.ledger")
    assert behind.exit_code == 1
    assert "is ahead: the end is missing" in behind.stdout
    assert "--operator is missing" in refused(*words)
    unsure = run(*words, "--operator", "Dr. Wu")
    assert unsure.exit_code == 2
    assert "under the name 'Dr. Wu'; add --yes" in unsure.stderr
    assert show("x.ledger").budgets[0].spent == 10**11

    done = run(*words, "--operator", "Dr. Wu", "--yes")

    assert done.exit_code == 0, done.stderr
    assert "d: spent ε 0.1 before, ε 0.6 now, of ε 1" in done.stdout
    assert "Dr. Wu" in run("ledger", "export", "x.ledger").stdout
    assert run("ledger", "verify", "x.ledger").exit_code == 0
    again = run(*words, "--operator", "Dr. Wu", "--yes")
    assert "agree; nothing was written" in again.stdout


def test_reconcile_creates_no_ledger(refused):
    """Where there is neither ledger nor anchor there is nothing to bring up to it."""
    line = refused("ledger", "reconcile", "x.ledger", "--operator", "Wu", "--yes")

    assert "there is neither a ledger nor an anchor" in line


def test_an_anchor_elsewhere_is_used(run, refused, desk, good):
    """The project names it; the commands take --anchor."""
    desk.project(good.replace('epsilon = "1"', 'epsilon = "1"\nanchor = "far.anchor"'))
    assert run(*YES).exit_code == 0

    assert "far.anchor" in desk.files()
    assert "project.ledger.anchor" not in desk.files()
    assert run("ledger", "verify", "project.toml").exit_code == 0
    found = run("ledger", "verify", "project.ledger", "--anchor", "far.anchor")
    assert found.exit_code == 0
    assert run("ledger", "verify", "project.ledger").exit_code == 1
    words = ("ledger", "export", "project.toml", "--out", "far.anchor", "--force")
    assert "belongs to the ledger itself" in refused(*words)


def test_the_commands_speak_chinese(run, spent):
    """Facts in Chinese, amounts and names as they are."""
    spent()

    assert (
        "数据集 small" in run("ledger", "show", "project.ledger", "--lang", "zh").stdout
    )
    assert (
        "账本完好" in run("ledger", "verify", "project.ledger", "--lang", "zh").stdout
    )
    page = run("ledger", "profile", "project.ledger", "--lang", "zh").stdout
    assert "仅当参数事先固定时才有效" in page


def test_a_plan_opens_no_budget(run, desk, good):
    """Looking at a project leaves a ledger of others as it is."""
    Ledger("project.ledger", dataset="other", cap=Epsilon("3"))
    desk.project(good)
    entries = show("project.ledger").entries
    for command in ("plan", "check", "advise"):
        assert run(command, "project.toml").exit_code == 0

    assert show("project.ledger").entries == entries


def test_a_lost_ledger_is_no_new_budget(refused, spent):
    """With its anchor left behind, plan refuses to say that all is left."""
    spent()
    gc.collect()
    for end in ("", "-wal", "-shm"):
        Path(f"project.ledger{end}").unlink(missing_ok=True)

    for command in ("plan", "check", "advise"):
        assert "is gone" in refused(command, "project.toml")


def test_limits_hold_a_project_back(run, refused, desk, good):
    """A limit below the releases is refused beforehand; another cap is refused too."""
    limit = (
        '[[budget.limits]]\nkind = "project"\nname = "P"\nepsilon = {}\n[[releases]]'
    )
    desk.project(good.replace("[[releases]]", limit.format("0.6"), 1))

    assert "0.75 together, 0.6 is left to project 'P'" in refused(
        "check", "project.toml"
    )
    assert "run will refuse" in run("plan", "project.toml").stdout
    assert "is left to project 'P'" in refused(*YES)
    assert run(*YES, "--only", "overview").exit_code == 0
    assert "left ε 0.1" in run("plan", "project.toml").stdout
    desk.project(good.replace("[[releases]]", limit.format("0.9"), 1))
    assert "[SF202] the ledger records a budget of 0.6" in refused(
        "check", "project.toml"
    )
