"""The ledger never overspends, never forgets, never refunds."""

import copy
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, DeclarationError, LedgerError
from sfumato.ledger import Ledger

TENTH = Epsilon("0.1")


def book(path=None, cap="1", dataset="pima"):
    return Ledger(path, dataset=dataset, cap=Epsilon(cap))


def spend_all(path, cost="0.01", cap="1"):
    """Debit until refused; return how often it worked."""
    ledger, done = book(path, cap), 0
    while True:
        try:
            ledger.debit(Epsilon(cost), plan="p")
        except BudgetExceededError:
            return done
        done += 1


def test_ten_tenths_fit_exactly():
    """0.1 ten times spends 1, and not a unit more fits."""
    ledger = book()

    receipts = [ledger.debit(TENTH, plan="p") for _ in range(10)]

    assert [r.sequence for r in receipts] == list(range(1, 11))
    assert (receipts[-1].spent, receipts[-1].cap) == ("1", "1")
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("1e-12"), plan="p")


def test_a_refusal_changes_nothing():
    """A refused debit leaves room for a smaller one (no filter bricks itself)."""
    ledger = book(cap="0.3")
    with pytest.raises(BudgetExceededError, match=r"0.8 was asked, 0.3 of 0.3 is left"):
        ledger.debit(Epsilon("0.8"), plan="p")
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("1e30"), plan="p")

    assert ledger.debit(Epsilon("0.3"), plan="p").sequence == 1
    assert ledger.left.units == 0


def test_a_file_remembers(tmp_path):
    """Another session on the same file continues the same budget."""
    path = tmp_path / "a.ledger"
    book(path).debit(Epsilon("0.7"), plan="p")

    again = book(path)

    assert (str(again.spent), str(again.left)) == ("0.7", "0.3")
    with pytest.raises(LedgerError, match="records a budget of 1 for 'pima', not 2"):
        book(path, cap="2")


def test_datasets_have_budgets_of_their_own(tmp_path):
    """One file holds several datasets; none pays for another."""
    path = tmp_path / "a.ledger"
    a, b = book(path, dataset="a"), book(path, dataset="b")

    a.debit(Epsilon("1"), plan="p")

    assert (str(a.left), str(b.left)) == ("0", "1")


def test_eight_threads_share_one_budget(tmp_path):
    """Exactly 100 answers of 0.01 in a budget of 1, in memory and in a file."""
    for path in (None, tmp_path / "t.ledger"):
        ledger, answers = book(path), []

        def work(ledger=ledger, answers=answers):
            while True:
                try:
                    answers.append(ledger.debit(Epsilon("0.01"), plan="p"))
                except BudgetExceededError:
                    return

        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]

        assert len(answers) == 100
        assert sorted(r.sequence for r in answers) == list(range(1, 101))


def test_eight_processes_share_one_budget(tmp_path):
    """Exactly 100 answers over processes that open the file at the same moment."""
    path = tmp_path / "p.ledger"
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        done = pool.map(spend_all, [path] * 8)

    assert sum(done) == 100


def test_a_killed_process_loses_no_debit(tmp_path):
    """After SIGKILL at random moments, answers seen never exceed debits recorded."""
    path = tmp_path / "k.ledger"
    book(path, cap="1000")
    code = (
        "import sys; from sfumato.ledger import Ledger; from sfumato.account import Epsilon\n"
        f"l = Ledger({str(path)!r}, dataset='pima', cap=Epsilon('1000'))\n"
        "while True: print(l.debit(Epsilon('0.01'), plan='p').sequence, flush=True)"
    )
    seen = []
    for wait in (0.15, 0.3, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
        )
        time.sleep(wait + 0.3)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        seen += [int(line) for line in out.split("\n")[:-1] if line]

    db = sqlite3.connect(path)
    recorded = {s for (s,) in db.execute("SELECT sequence FROM entry")}
    spent, entries = db.execute(
        "SELECT spent, (SELECT sum(cost) FROM entry) FROM budget"
    ).fetchone()
    db.close()
    assert set(seen) <= recorded and len(seen) == len(set(seen)) > 0
    assert spent == entries


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_shares_the_file_and_refuses_memory(tmp_path):
    """A forked child spends from the same file; a ledger in memory is not doubled."""
    ledger, memory = book(tmp_path / "f.ledger"), book()

    def child(queue):
        queue.put(ledger.debit(Epsilon("0.6"), plan="p").spent)
        try:
            memory.debit(TENTH, plan="p")
        except LedgerError as error:
            queue.put(error.fact)

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    answers = [queue.get(timeout=30), queue.get(timeout=30)]
    process.join()

    assert answers[0] == "0.6" and "forked" in answers[1]
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("0.6"), plan="p")


def test_copies_share_and_pickles_are_refused():
    """Copying a ledger must not double the budget."""
    ledger = book()

    assert copy.copy(ledger) is ledger and copy.deepcopy(ledger) is ledger
    with pytest.raises(LedgerError, match="pickled"):
        pickle.dumps(ledger)


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM entry", "UPDATE entry SET cost = 0", "DELETE FROM budget",
     "UPDATE budget SET spent = 0", "UPDATE budget SET cap = cap * 2",
     "UPDATE budget SET spent = cap + 1"],
)  # fmt: skip
def test_history_cannot_be_edited(tmp_path, statement):
    """The database itself refuses refunds, deletions and larger caps."""
    path = tmp_path / "h.ledger"
    book(path).debit(TENTH, plan="p")
    db = sqlite3.connect(path)

    with pytest.raises(sqlite3.IntegrityError):
        db.execute(statement)
    db.close()


@pytest.mark.parametrize("content", [b"", b"not a database, only text" * 50])
def test_other_files_are_refused_or_begun(tmp_path, content):
    """An empty file becomes a ledger; any other file is left as it is."""
    path = tmp_path / "x.ledger"
    path.write_bytes(content)
    if not content:
        assert book(path).left == Epsilon("1")
        return

    with pytest.raises(LedgerError):
        book(path)
    assert path.read_bytes() == content


def test_a_foreign_database_is_refused(tmp_path):
    """Somebody's SQLite file is never turned into a ledger."""
    path = tmp_path / "foreign.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE budget (x)")
    db.commit()
    db.close()

    with pytest.raises(LedgerError, match="not a sfumato ledger"):
        book(path)


def test_a_missing_folder_is_named(tmp_path):
    """The error says what is missing and nothing is created."""
    with pytest.raises(LedgerError, match="folder of the ledger"):
        book(tmp_path / "no" / "a.ledger")

    assert not (tmp_path / "no").exists()


def test_an_absurd_budget_is_refused():
    """Amounts are 64-bit integers; beyond them the cap is refused, not wrapped."""
    with pytest.raises(DeclarationError, match="beyond the largest"):
        book(cap="1e9")


def test_the_largest_budget_is_not_overdrawn():
    """A cost beyond the largest amount is refused even where all of it is the cap."""
    most = Epsilon.from_units(2**62)
    ledger = Ledger(None, dataset="pima", cap=most)
    for units in (2**62 + 1, 2**63, 2**70):
        with pytest.raises(BudgetExceededError):
            ledger.debit(Epsilon.from_units(units), plan="p")

    ledger.debit(most, plan="p")

    assert ledger.left.units == 0
