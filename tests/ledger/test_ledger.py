"""The ledger never overspends, never forgets, never refunds."""

import copy
import gc
import pickle
import sqlite3
import stat
import time

import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, DeclarationError, LedgerError
from sfumato.ledger import Ledger, verify

TENTH = Epsilon("0.1")


def test_ten_tenths_fit_exactly(book):
    """0.1 ten times spends 1, and not a unit more fits."""
    ledger = book()

    receipts = [ledger.debit(TENTH, plan="p") for _ in range(10)]

    assert [r.sequence for r in receipts] == list(range(1, 11))
    assert (receipts[-1].spent, receipts[-1].cap) == ("1", "1")
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("1e-12"), plan="p")


def test_a_refusal_changes_nothing(book):
    """A refused debit leaves room for a smaller one (no filter bricks itself)."""
    ledger = book(cap="0.3")
    with pytest.raises(BudgetExceededError, match=r"0.8 was asked, 0.3 of 0.3 is left"):
        ledger.debit(Epsilon("0.8"), plan="p")
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("1e30"), plan="p")

    assert ledger.debit(Epsilon("0.3"), plan="p").sequence == 1
    assert ledger.left.units == 0


def test_a_file_remembers(book, tmp_path):
    """Another session on the same file continues the same budget."""
    path = tmp_path / "a.ledger"
    book(path).debit(Epsilon("0.7"), plan="p")

    again = book(path)

    assert (str(again.spent), str(again.left)) == ("0.7", "0.3")
    with pytest.raises(LedgerError, match="records a budget of 1 for 'pima', not 2"):
        book(path, cap="2")


def test_datasets_have_budgets_of_their_own(book, tmp_path):
    """One file holds several datasets; none pays for another."""
    path = tmp_path / "a.ledger"
    a, b = book(path, dataset="a"), book(path, dataset="b")

    a.debit(Epsilon("1"), plan="p")

    assert (str(a.left), str(b.left)) == ("0", "1")


def test_copies_share_and_pickles_are_refused(book):
    """Copying a ledger must not double the budget."""
    ledger = book()

    assert copy.copy(ledger) is ledger and copy.deepcopy(ledger) is ledger
    with pytest.raises(LedgerError, match="pickled"):
        pickle.dumps(ledger)


@pytest.mark.parametrize("content", [b"", b"not a database, only text" * 50])
def test_other_files_are_refused_or_begun(book, tmp_path, content):
    """An empty file becomes a ledger; any other file is left as it is."""
    path = tmp_path / "x.ledger"
    path.write_bytes(content)
    if not content:
        assert book(path).left == Epsilon("1")
        return

    with pytest.raises(LedgerError):
        book(path)
    assert path.read_bytes() == content


def test_a_foreign_database_is_refused(book, tmp_path):
    """Somebody's SQLite file is never turned into a ledger."""
    path = tmp_path / "foreign.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE budget (x)")
    db.commit()
    db.close()

    with pytest.raises(LedgerError, match="not a sfumato ledger"):
        book(path)


def test_a_foreign_file_keeps_every_byte(book, tmp_path):
    """Not even its journal mode is changed before it is known to be a ledger."""
    path = tmp_path / "foreign.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()
    before = path.read_bytes()

    with pytest.raises(LedgerError, match="not a sfumato ledger"):
        book(path)
    gc.collect()

    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["foreign.db"]


def test_files_are_for_their_owner_only(book, path):
    """Ledger, journal and anchor are created with mode 0600."""
    ledger = book(path)
    ledger.debit(TENTH, plan="p")

    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}

    assert modes == dict.fromkeys(
        ("a.ledger", "a.ledger-wal", "a.ledger-shm", "a.ledger-log", "a.ledger.anchor"),
        0o600,
    )


def test_a_ledger_of_many_entries_opens_quickly(book, path):
    """Only recent entries are read at opening; `verify` reads them all."""
    ledger = book(path, cap="1000")
    for _ in range(40):
        ledger._writer.submit(
            lambda t: [t.append("answer", "pima", {"debit": 0, "sha256": ""}) for _ in range(100)]
        )  # fmt: skip
    ledger.debit(TENTH, plan="p")
    del ledger
    gc.collect()

    began = time.monotonic()
    again = book(path, cap="1000")

    assert time.monotonic() - began < 2
    assert str(again.spent) == "0.1"
    assert not verify(path).sound


def test_commits_are_synced(book, path):
    """A kill cannot show a missing sync, only a power cut can: so the setting is read."""
    ledger = book(path)
    db = ledger._writer._store._connection

    found = [
        db.execute(f"PRAGMA {p}").fetchone()[0]
        for p in ("journal_mode", "synchronous", "fullfsync")
    ]

    assert found == ["wal", 2, 1]


def test_a_refused_opening_leaves_no_open_file(book, path):
    """Journal files go when the last user goes, without waiting for a collection."""
    book(path)
    gc.disable()
    try:
        with pytest.raises(LedgerError) as refused:
            book(path, cap="2")
        del refused

        assert sorted(p.name for p in path.parent.iterdir()) == [
            "a.ledger", "a.ledger-log", "a.ledger.anchor"
        ]  # fmt: skip
    finally:
        gc.enable()


def test_a_missing_folder_is_named(book, tmp_path):
    """The error says what is missing and nothing is created."""
    with pytest.raises(LedgerError, match="folder of the ledger"):
        book(tmp_path / "no" / "a.ledger")

    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("cost", [Epsilon.from_units(-1), Epsilon.from_units(-5)])
def test_a_cost_that_is_no_loss_is_refused(book, cost):
    """A negative cost would be a refund; zero records a release of public facts."""
    with pytest.raises(LedgerError, match="is not a loss"):
        book().debit(cost, plan="p")


def test_an_absurd_budget_is_refused(book):
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
