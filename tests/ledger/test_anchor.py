"""Restoring a backup is a refund; the anchor sees it, and only upward is forward."""

import gc
import json
import os
import shutil

import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import Blocks, Limit, reconcile, show, verify
from sfumato.ledger.anchor import Anchor, Mark, _read, sync_folder, write_first
from sfumato.ledger.sharing import writer_of
from sfumato.spending import profile_of

TENTH = Epsilon("0.1")


def close():
    """Let ledgers that went out of use close their files."""
    gc.collect()


def backup(path, to):
    """Copy a ledger that nobody has open."""
    close()
    shutil.copy(path, to)


def restore(path, source):
    """Put a backup in the ledger's place, as an operator would."""
    close()
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copy(source, path)


@pytest.fixture
def restored(book, path, tmp_path):
    """A ledger of 3 debits whose backup, of 1 debit, was put back."""
    copy = tmp_path / "backup"
    book(path).debit(TENTH, plan="p")
    backup(path, copy)
    book(path).debit(TENTH, plan="p")
    book(path).debit(Epsilon("0.3"), plan="p")
    restore(path, copy)
    return path


def test_a_restored_backup_is_refused(book, restored):
    """Neither debits nor balances are given from a ledger behind its anchor."""
    with pytest.raises(LedgerError, match="ends at entry 2, its anchor at 4"):
        book(restored)

    assert [f.say() for f in verify(restored).findings] == [
        "anchor at entry 3: is ahead: the end is missing"
    ]


def test_a_first_look_that_was_interrupted_is_begun_anew(book, restored, monkeypatch):
    """Whoever asks again is refused, as the one who was interrupted would have been."""
    kept = writer_of(restored, None)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Anchor, "_saw", interrupt)
        with pytest.raises(KeyboardInterrupt):
            book(restored)

    with pytest.raises(LedgerError, match="ends at entry 2, its anchor at 4"):
        book(restored)
    kept.close()


def test_a_close_that_was_interrupted_lets_go_of_the_file(path, monkeypatch):
    """The number of a closed file may be another file's soon."""
    write_first(path, "x")
    anchor = Anchor(path)
    anchor.open()

    def close(number, close=os.close):
        close(number)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", close)
        with pytest.raises(KeyboardInterrupt):
            anchor.close()

    anchor.append(Mark(1, "0" * 64, 1), "x")
    assert len(anchor.marks("x")) == 1
    anchor.close()


def test_a_restored_backup_is_reconciled_upward(book, restored):
    """The operator records what was lost as spent; numbers are not used twice."""
    done = reconcile(restored, operator="Dr. Wu")

    assert (done.lost, done.changed) == (2, True)
    assert [b.spent for b in done.after] == [5 * 10**11]
    assert str(book(restored).spent) == "0.5"
    assert book(restored).debit(TENTH, plan="p").sequence == 4
    assert verify(restored).sound
    assert not reconcile(restored, operator="Dr. Wu").changed


def lose_to_a_late_mark(book, path, tmp_path):
    """Restore a backup beside an anchor whose last line tells of an earlier place."""
    book(path).debit(TENTH, plan="p")
    backup(path, tmp_path / "backup")
    for _ in range(3):
        book(path).debit(TENTH, plan="p")
    close()
    anchor = path.with_name("a.ledger.anchor")
    *lines, early, late = anchor.read_bytes().split(b"\n")
    anchor.write_bytes(b"\n".join([*lines, late, early]))
    restore(path, tmp_path / "backup")


def test_a_mark_that_came_late_hides_nothing(book, path, tmp_path):
    """Processes add their marks without waiting for each other: the highest counts."""
    lose_to_a_late_mark(book, path, tmp_path)

    with pytest.raises(LedgerError, match="ends at entry 2, its anchor at 5"):
        book(path)
    assert show(path).anchored == 5
    reconcile(path, operator="o")

    assert str(book(path).spent) == "0.4"
    assert verify(path).sound


def test_a_planted_faith_in_the_last_line_is_caught(book, path, tmp_path, monkeypatch):
    """If the last line counted, a lost debit would be refunded."""

    def every(anchor, identity):
        lines = anchor.path.read_bytes().split(b"\n")
        return [m for line in lines if (m := _read(line, identity))]

    lose_to_a_late_mark(book, path, tmp_path)
    monkeypatch.setattr(Anchor, "marks", every)
    reconcile(path, operator="o")

    assert str(book(path).spent) != "0.4"


@pytest.mark.parametrize("log", [True, False], ids=["log kept", "log lost"])
def test_a_ledger_that_is_replaced_while_open_is_refused(book, path, tmp_path, log):
    """The running process neither writes into the old file nor believes the new one.

    The log still holds what the backup lacks; without it the anchor refuses.
    """
    copy, ledger = tmp_path / "backup", book(path)
    ledger.debit(TENTH, plan="p")
    del ledger
    backup(path, copy)
    ledger = book(path)
    ledger.debit(TENTH, plan="p")
    for suffix in ("-wal", "-shm", *(() if log else ("-log",))):
        path.with_name(path.name + suffix).unlink()
    copy.replace(path)

    with pytest.raises(LedgerError, match="removed or replaced"):
        ledger.debit(TENTH, plan="p")
    if log:
        assert ledger.debit(TENTH, plan="p").spent == "0.3"
        assert verify(path).sound
    else:
        with pytest.raises(LedgerError, match="its anchor at 3"):
            ledger.debit(TENTH, plan="p")


def test_a_process_remembers_what_it_saw(book, path):
    """Restoring ledger and anchor together does not fool a process that saw more."""
    ledger, anchor = book(path), path.with_name("a.ledger.anchor")
    ledger.debit(TENTH, plan="p")
    ledger._writer.close()
    files = path, anchor, path.with_name("a.ledger-log")
    early = [file.read_bytes() for file in files]
    ledger.debit(TENTH, plan="p")
    ledger._writer.close()
    for file, content in zip(files, early, strict=True):
        file.write_bytes(content)

    with pytest.raises(LedgerError, match="ends at entry 2, its anchor at 3"):
        ledger.debit(TENTH, plan="p")


def test_a_rewritten_history_is_refused(book, path, tmp_path):
    """A branch that went on from a backup, with another anchor, does not pass."""
    copy, anchor = tmp_path / "backup", path.with_name("a.ledger.anchor")
    book(path).debit(TENTH, plan="p")
    backup(path, copy)
    shutil.copy(anchor, tmp_path / "old.anchor")
    book(path).debit(Epsilon("0.2"), plan="p")
    close()
    later = anchor.read_bytes()
    restore(path, copy)
    shutil.copy(tmp_path / "old.anchor", anchor)
    for _ in range(3):
        book(path).debit(TENTH, plan="q")
    close()
    anchor.write_bytes(later)

    with pytest.raises(LedgerError, match="entry 3 of the ledger is not the one"):
        book(path)
    reconcile(path, operator="o")  # both branches were released: 0.1 + 0.2 + 0.3

    assert str(book(path).spent) == "0.6"
    assert verify(path).sound


def test_what_was_lost_beyond_a_cap_is_reported(book, path, tmp_path):
    """Two branches of 0.6 and 0.9 after 0.1: the budget of 1 is spent, the loss is 1.6."""
    copy, anchor = tmp_path / "backup", path.with_name("a.ledger.anchor")
    book(path).debit(TENTH, plan="p")
    backup(path, copy)
    shutil.copy(anchor, tmp_path / "old.anchor")
    book(path).debit(Epsilon("0.6"), plan="p")
    close()
    later = anchor.read_bytes()
    restore(path, copy)
    shutil.copy(tmp_path / "old.anchor", anchor)
    book(path).debit(Epsilon("0.9"), plan="q")
    close()
    anchor.write_bytes(later)
    reconcile(path, operator="o")

    ledger = book(path)

    assert str(ledger.spent) == "1"
    profile = profile_of(ledger.balances(), ledger.mechanisms())
    assert 1.6 <= profile.epsilon(0) <= 1.6 * (1 + 1e-4)
    assert verify(path).sound


def test_reconciling_counts_every_block_and_limit(book, path, tmp_path):
    """Lost debits on blocks add to their blocks, and the dataset follows the largest."""
    terms = {
        "blocks": Blocks("quarter", ("q1", "q2")),
        "limits": [Limit("analyst", "alice", Epsilon("2"))],
    }
    copy = tmp_path / "backup"
    book(path, **terms).debit(Epsilon("0.6"), plan="p", blocks=["q1"])
    backup(path, copy)
    book(path, **terms).debit(Epsilon("0.4"), plan="p", blocks=["q2"])
    book(path, **terms).debit(TENTH, plan="p")
    restore(path, copy)
    reconcile(path, operator="o")

    found = {b.name: b.spent // 10**11 for b in book(path, **terms).balances()}

    assert found == {"": 7, "q1": 6, "q2": 4, "alice": 11}
    assert verify(path).sound


def test_a_lost_ledger_is_not_begun_anew(book, path):
    """A deleted ledger is refused; its anchor brings back what was spent."""
    book(path).debit(Epsilon("0.6"), plan="p")
    book(path, dataset="other").debit(TENTH, plan="p")
    close()
    path.unlink()

    with pytest.raises(LedgerError, match=r"the ledger of the anchor .* is gone"):
        book(path)
    assert not path.exists()
    reconcile(path, operator="o")

    assert str(book(path).spent) == "0.6"
    assert str(book(path, dataset="other").spent) == "0.1"
    with pytest.raises(BudgetExceededError):
        book(path).debit(Epsilon("0.5"), plan="p")
    assert verify(path).sound


def test_a_missing_anchor_is_refused_until_an_operator_decides(book, path):
    """Who deletes the anchor gains nothing; the chain keeps who began a new one."""
    book(path).debit(TENTH, plan="p")
    close()
    path.with_name("a.ledger.anchor").unlink()

    with pytest.raises(LedgerError, match=r"anchor .* is missing"):
        book(path)
    assert show(path).anchored is None
    reconcile(path, operator="Dr. Wu")

    assert str(book(path).spent) == "0.1"
    assert (show(path).anchored, show(path).entries) == (3, 3)
    assert verify(path).sound


def test_an_anchor_may_lie_elsewhere(book, path, tmp_path):
    """On another disk it survives the restore of the first; another place is refused."""
    elsewhere = tmp_path / "safe" / "pima.anchor"
    elsewhere.parent.mkdir()
    book(path, anchor=elsewhere).debit(TENTH, plan="p")
    close()

    assert not path.with_name("a.ledger.anchor").exists()
    assert verify(path, anchor=elsewhere).sound
    with pytest.raises(LedgerError, match=r"anchor .* is missing"):
        book(path)


def test_an_anchor_in_a_folder_that_is_missing_is_named(book, path):
    """And not the ledger; with the folder made it goes on."""
    anchor = path.parent / "no" / "a.anchor"
    with pytest.raises(
        LedgerError, match=r"the anchor .*a\.anchor cannot be written: No"
    ):
        book(path, anchor=anchor)

    anchor.parent.mkdir()
    assert book(path, anchor=anchor).left == Epsilon("1")


def test_an_anchor_that_cannot_be_opened_is_refused(book, path):
    """A folder in its place: the debit fails, nothing is spent."""
    ledger = book(path)
    ledger._writer.close()
    anchor = path.with_name("a.ledger.anchor")
    anchor.rename(path.with_name("away"))
    anchor.mkdir()

    with pytest.raises(LedgerError, match=r"anchor is not a file"):
        ledger.debit(TENTH, plan="p")
    anchor.rmdir()
    path.with_name("away").rename(anchor)

    assert ledger.spent.units == 0


def test_another_ledgers_anchor_is_refused(book, path, tmp_path):
    """Anchors name the identity of their ledger, and every line is checked with it."""
    other = tmp_path / "b.ledger"
    book(path).debit(TENTH, plan="p")
    book(other).debit(TENTH, plan="p")
    close()
    anchor = path.with_name("a.ledger.anchor")
    shutil.copy(tmp_path / "b.ledger.anchor", anchor)

    with pytest.raises(LedgerError, match="not the anchor of this ledger"):
        book(path)
    with pytest.raises(LedgerError, match="belongs to another ledger"):
        reconcile(path, operator="o")
    anchor.write_text("not an anchor at all")
    with pytest.raises(LedgerError, match="anchor"):
        book(path)


@pytest.mark.parametrize("tail", [b"\n", b'\n[3,"abc', b"\x00" * 500, b'\n[9,"ff",9,[]] 0123456789abcdef', b"\xff\xfe" * 5000])  # fmt: skip
def test_a_torn_line_is_skipped(book, path, tail):
    """After a power cut the anchor may end in rubbish; it lags, it does not lie."""
    book(path).debit(TENTH, plan="p")
    close()
    anchor = path.with_name("a.ledger.anchor")
    with anchor.open("ab") as file:
        file.write(tail)

    book(path).debit(TENTH, plan="p")

    assert show(path).anchored == 3
    assert verify(path).sound


def test_an_anchor_remembers_and_forgets_nothing(tmp_path):
    """Marks come back as they were written, oldest first."""
    anchor = Anchor(tmp_path / "x")
    anchor.begin("me")
    state = ("d", "dataset", "", "", "epsilon", 9, 0, 5, 0, 5, 0)
    marks = [Mark(i, f"{i:064x}", i, (state,) * i) for i in range(1, 40)]
    for mark in marks:
        anchor.append(mark, "me")

    assert anchor.marks("me") == marks
    assert anchor.last("me") == marks[-1]
    assert anchor.marks("you") == []
    anchor.close()


def test_an_anchor_that_is_cut_while_open_is_read_anew(tmp_path):
    """What others add after the cut is seen, though it ends before the old end."""
    mine, other = Anchor(tmp_path / "x"), Anchor(tmp_path / "x")
    mine.begin("me")
    marks = [Mark(i, f"{i:064x}", i) for i in range(1, 12)]
    for mark in marks[:9]:
        mine.append(mark, "me")
    assert mine.last("me") == marks[8]
    lines = (tmp_path / "x").read_bytes().split(b"\n")
    with (tmp_path / "x").open("r+b") as file:
        file.truncate(len(b"\n".join(lines[:4])))

    mine.append(marks[9], "me")
    assert mine.news("me") == [marks[9], marks[9]]
    other.append(marks[10], "me")

    assert mine.news("me") == [marks[10]]
    mine.close()
    other.close()


def test_marks_that_agree_are_passed_over_but_the_last(tmp_path):
    """Who knows the entries reads of many lines the last, and every one that differs."""
    mine, other = Anchor(tmp_path / "x"), Anchor(tmp_path / "x")
    mine.begin("me")
    marks = [Mark(i, f"{i:064x}", i) for i in range(1, 8)]
    mine.append(marks[0], "me")
    assert mine.last("me") == marks[0]
    for mark in marks[1:]:
        other.append(mark, "me")
    with (tmp_path / "x").open("ab") as file:
        file.write(b'\n[8,"' + b"a" * 64 + b'",8,[]] torn')

    known = {mark.entry for mark in marks}
    assert mine.news("me", lambda *e: e in known and e[0] != 4) == [marks[3]]
    other.append(marks[6], "me")
    assert mine.news("me", lambda *e: e in known) == [marks[6]]
    assert mine.highest == marks[6]
    mine.close()
    other.close()


def test_an_anchor_is_synced_now_and_then(tmp_path, monkeypatch):
    """Its lag after a power cut is seconds, though not every line waits for the disk."""
    synced, clock = [], iter([100.0, 101.0, 107.0])
    monkeypatch.setattr("sfumato.ledger.anchor.os.fdatasync", synced.append)
    monkeypatch.setattr("sfumato.ledger.anchor.time.monotonic", lambda: next(clock))
    anchor = Anchor(tmp_path / "x")
    anchor.begin("me")

    counts = []
    for place in (1, 2, 3):
        anchor.append(Mark(place, "f" * 64, place), "me")
        counts.append(len(synced))

    assert counts == [1, 1, 2]
    anchor.close()


def test_the_chain_names_the_operator(restored, raw):
    """Who reconciled, and what, stands in the chain like a debit."""
    reconcile(restored, operator="Dr. Wu")

    ((body,),) = raw(restored, "SELECT body FROM entry WHERE kind = 'reconcile'")[0]

    assert json.loads(body)["operator"] == "Dr. Wu"
    assert json.loads(body)["anchored"] == 4


@pytest.mark.skipif(os.name != "posix", reason="folders are put on disk on POSIX only")
def test_the_names_in_a_folder_are_put_on_disk(tmp_path, monkeypatch):
    """A new ledger survives a loss of power: its folder is synchronised, too."""
    put, real = [], os.fsync

    def noted(file):
        put.append(os.fstat(file).st_ino)
        real(file)

    monkeypatch.setattr(os, "fsync", noted)

    sync_folder(tmp_path)

    assert put == [tmp_path.stat().st_ino]
