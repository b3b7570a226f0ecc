"""A run that stopped half-way goes on: nothing paid twice, nothing told twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato
from sfumato.errors import EngineError
from sfumato.ledger import Ledger, show
from sfumato.question import SessionPlan

YES = ("run", "project.toml", "--yes")
AGAIN = (*YES, "--resume")


def debits():
    """Return how many debits the ledger has."""
    return show("project.ledger").debits


def made(folder="results"):
    """Return the releases in a folder."""
    text = Path(folder, "release.json").read_text("utf-8")
    return json.loads(text)["releases"]


@pytest.fixture
def stop(monkeypatch):
    """Return a function that stops a run when it comes to the second release."""

    def at_second(method="release", before=True):
        real = getattr(SessionPlan, method)

        def stopping(self, **settings):
            if "histogram" not in str(self.plan.query):
                return real(self, **settings)
            if not before:
                real(self, **settings)
            raise KeyboardInterrupt

        monkeypatch.setattr(SessionPlan, method, stopping)

    return at_second


def test_a_finished_run_leaves_nothing_to_resume(run, refused, desk):
    """The note is written before the first debit and gone after the last file."""
    desk.project()
    run(*YES)

    assert not Path("results/unfinished.json").exists()
    assert "there is no unfinished run in results" in refused(*AGAIN)


def test_an_answer_comes_back_unchanged_and_free(run, desk, stop, monkeypatch):
    """After a stop between the releases: the first is replayed, the second made."""
    desk.project()
    stop()
    stopped = run(*YES)
    monkeypatch.undo()
    monkeypatch.chdir(desk.path)
    before = made()
    assert stopped.exit_code == 1
    assert "go on with: --resume" in stopped.stderr
    assert debits() == 1

    result = run(*AGAIN)

    assert result.exit_code == 0, result.stderr
    assert "1 of 2: overview, answered before, free" in result.stderr
    assert "These releases cost ε 0.25 together." in result.stdout
    assert made()[0] == before[0]
    assert [r["title"] for r in made()] == ["overview", "bins"]
    assert debits() == 2
    assert "Left to spend: ε 0.25" in result.stdout


def test_files_that_could_not_be_written_are_written_for_nothing(
    run, desk, monkeypatch
):
    """All answers are in the ledger: resuming spends nothing and asks nothing."""
    desk.project()

    def fail(*_, **__):
        raise OSError(28, "No space left on device", "x")

    with monkeypatch.context() as patch:
        patch.setattr("sfumato.project.outputs.write", fail)
        failed = run(*YES)
    printed = json.loads(failed.stdout)["releases"]
    result = run("run", "project.toml", "--resume")  # no --yes: nothing is spent

    assert failed.exit_code == 1
    assert result.exit_code == 0, result.stderr
    assert "paid for before; nothing was spent" in result.stdout
    assert made() == printed
    assert debits() == 2


def test_a_charge_without_an_answer_is_lost_and_said(run, desk, monkeypatch):
    """Noise is never drawn twice for one charge: the next attempt costs again."""
    desk.project()

    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sfumato.question.release", die)
        assert run(*YES).exit_code == 1
    assert (debits(), show("project.ledger").answers) == (1, 0)

    again = run(*AGAIN), run("check", "project.toml")  # a check counts no lost answer

    for short in again:
        assert short.exit_code == 2
        assert "the releases cost epsilon 0.75 together, 0.5 is left" in short.stderr
    assert debits() == 1


def test_a_lost_charge_is_paid_again_when_it_can_be(run, desk, good, monkeypatch):
    """It is told before it is asked, and every attempt has a key of its own."""
    desk.project(good.replace('"0.5"', '"0.1"'))

    def fail(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("sfumato.question.release", fail)
        assert "[SF301]" in run(*YES).stderr
        assert "[SF301]" in run(*AGAIN).stderr
    result = run(*AGAIN)

    assert result.exit_code == 0, result.stderr
    assert (
        "overview was paid for, but the run stopped before its answer" in result.stderr
    )
    assert debits() == 4
    assert len(made()) == 2


def test_an_unfinished_run_is_not_overwritten_unasked(run, refused, desk, stop):
    """Neither by a run into its folder, nor by a changed project; --force gives it up."""
    desk.project()
    stop()
    run(*YES)

    assert "a run into results has not finished; go on with it: --resume" in refused(
        *YES
    )
    assert "leave --only out" in refused(*AGAIN, "--only", "bins")
    assert "leave --force out" in refused(*AGAIN, "--force")
    assert debits() == 1
    assert run(*YES, "--only", "bins", "--out", "other").exit_code == 1  # stops again
    assert debits() == 1


def test_a_changed_project_is_refused(run, refused, desk, good, stop):
    """A release that is not the one that was begun has other costs or figures."""
    desk.project()
    stop()
    run(*YES)
    for old, new in [("upper = 250", "upper = 300"), ('"bins"', '"boxes"')]:
        desk.project(good.replace(old, new, 1))

        assert "was changed since the run that stopped" in refused(*AGAIN)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema_version": 2}', "\xff", '{"schema_version": 1}',
             '{"schema_version": 1, "label": 1, "lang": "en", "releases": []}']
)  # fmt: skip
def test_a_spoilt_note_is_refused(run, refused, desk, stop, text):
    """It is never taken for another run."""
    desk.project()
    stop()
    run(*YES)
    Path("results/unfinished.json").write_bytes(text.encode("latin-1"))

    assert "cannot be read as an unfinished run" in refused(*AGAIN)


def test_an_empty_run_is_a_spoilt_note(run, refused, desk, stop):
    """A run has at least one release."""
    desk.project()
    stop()
    run(*YES)
    note = json.loads(Path("results/unfinished.json").read_text("utf-8"))
    Path("results/unfinished.json").write_text(json.dumps(note | {"releases": []}))

    assert "cannot be read as an unfinished run" in refused(*AGAIN)


def test_two_runs_of_one_project_are_two(run, desk):
    """Each run has a label of its own: the second is not the first one's echo."""
    desk.project()
    run(*YES, "--only", "bins", "--out", "a")
    run(*YES, "--only", "bins", "--out", "b")

    assert debits() == 2
    assert made("a") != made("b")


def test_the_language_of_the_run_is_kept(run, desk, good, stop, monkeypatch):
    """Titles of replayed and new releases are in one language."""
    both = '{ en = "A", zh = "甲" }'
    text = good.replace('name = "bins"', f'name = "bins"\ntitle = {both}')
    desk.project(text)
    stop()
    run(*YES, "--lang", "zh")
    monkeypatch.undo()
    monkeypatch.chdir(desk.path)

    assert run(*AGAIN, "--lang", "en").exit_code == 0
    assert [r["title"] for r in made()] == ["overview", "甲"]


def test_a_budget_taken_in_between_leaves_no_note(run, desk, monkeypatch):
    """When the very first debit is refused nothing was spent and nothing is left."""
    desk.project()
    real = Ledger.debit

    def refuse(self, cost, **settings):
        other = Ledger("project.ledger", dataset="small", cap=self.cap)
        real(other, self.cap, plan="other")
        return real(self, cost, **settings)

    monkeypatch.setattr(Ledger, "debit", refuse)
    result = run(*YES)

    assert result.exit_code == 2
    assert not Path("results").exists()


def test_an_engine_that_fails_can_be_resumed(run, desk, good, monkeypatch):
    """What was made stays; the failed one is paid anew."""
    desk.project(good.replace('"0.5"', '"0.1"'))
    real = SessionPlan.release

    def fail_late(self, **settings):
        if "histogram" in str(self.plan.query):
            raise EngineError
        return real(self, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(SessionPlan, "release", fail_late)
        assert run(*YES).exit_code == 1

    assert run(*AGAIN).exit_code == 0
    assert debits() == 2


KILLED = """
import os, signal
from sfumato.cli import cli
from sfumato.project.outputs import Outputs
from sfumato.question import SessionPlan

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

{where} = die
cli(["run", "project.toml", "--yes"])
"""


@pytest.mark.parametrize(
    ("where", "spent", "free"),
    [
        ("Outputs.write", 2, True),
        ("__import__('sfumato.question').question.release", 1, False),
        ("__import__('sfumato.ledger').ledger.Ledger.answer", 1, False),
        ("__import__('sfumato.ledger').ledger.Ledger.debit", 0, True),
    ],
)
def test_a_killed_process_is_resumed(run, desk, good, where, spent, free):
    """SIGKILL at each step: no charge is forgotten, no answer is paid for twice."""
    desk.project(good.replace('"0.5"', '"0.1"'))
    source = str(Path(sfumato.__file__).parent.parent)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED.format(where=where)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        check=False,
    )
    before = debits()

    result = run(*AGAIN)

    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert before == spent
    assert result.exit_code == 0, result.stderr
    assert debits() == (2 if free else 3)
    assert ("that charge stands" in result.stderr) is not free
    assert len(made()) == 2
    assert run("ledger", "verify", "project.toml", "--receipt",
               "results/release.json").exit_code == 0  # fmt: skip


def test_a_run_that_is_still_going_on_is_not_resumed(refused, run, desk, stop):
    """Two processes do not carry on with one run."""
    fcntl = pytest.importorskip("fcntl")
    desk.project()
    stop()
    run(*YES)
    with Path("results/unfinished.json").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        assert "is still going on in another process" in refused(*AGAIN)
