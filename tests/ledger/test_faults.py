"""Kills, cut journals, full disks; and faults planted to show that the tests see them."""

import contextlib
import gc
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from sfumato.account import Epsilon
from sfumato.errors import LedgerError
from sfumato.ledger import Ledger, export, show, verify
from sfumato.testing import crash

TENTH = Epsilon("0.1")


def settle(ledger):
    """Bring what is in the log to SQLite."""
    ledger._writer._logbook._transact([])


def journalled(path, kind, entries=300):
    """Make a ledger whose debits are all in SQLite's journal, or all in the log.

    Returns:
        The heads of the debits, the files, and how much of the journal or log is used.
    """
    ledger = Ledger(path, dataset="pima", cap=Epsilon("1000"))
    ledger._writer._store._connection.execute("PRAGMA wal_autocheckpoint = 0")
    heads = []
    for _ in range(entries):
        heads.append(ledger.debit(TENTH, plan="p").head)
        if kind == "-wal":
            settle(ledger)
    files = {
        s: path.with_name(path.name + s).read_bytes()
        for s in ("", "-wal", "-log", ".anchor")
    }
    used = len(files[kind]) if kind == "-wal" else ledger._writer._logbook._running.at
    return heads, files, used


def place_files(path, files):
    """Lay out the files of a ledger as after a crash."""
    for suffix, content in files.items():
        path.with_name(path.name + suffix).write_bytes(content)


def prefixes(tmp_path, kind, spoil, trials):
    """Spoil the journal in many ways; every ledger is a prefix or is refused."""
    heads, files, used = journalled(tmp_path / "whole.ledger", kind, 60)
    dice, seen = crash._dice(7), set()
    for i in range(trials):
        path = tmp_path / f"{i}.ledger"
        spoilt = spoil(bytearray(files[kind]), int(next(dice) * used), next(dice))
        place_files(path, {**files, kind: bytes(spoilt)})
        left = None
        with contextlib.suppress(LedgerError):  # not even the tables may be left
            left = show(path)
        if left is not None and left.debits < 60:
            with pytest.raises(LedgerError, match=r"its anchor at 61|gone|damaged"):
                Ledger(path, dataset="pima", cap=Epsilon("1000"))
        if left is not None and left.entries:
            seen.add(left.debits)
            last = heads[left.debits - 1] if left.debits else left.head
            assert left.head == last
            assert left.budgets[0].spent == left.debits * TENTH.units
            found = [f.say() for f in verify(path).findings]
            assert all("the end is missing" in f for f in found), found
            assert bool(found) == (left.debits < 60)
        gc.collect()
        for file in tmp_path.glob(f"{i}.ledger*"):
            file.unlink()
    return seen


def cut(content, at, _):
    """End the file anywhere."""
    return content[:at]


def corrupt(content, at, bits):
    """Flip bits of one byte anywhere."""
    content[at] ^= 1 + int(bits * 254)
    return content


@pytest.mark.parametrize("kind", ["-wal", "-log"])
@pytest.mark.parametrize("spoil", [cut, corrupt])
def test_a_spoilt_journal_leaves_a_prefix(tmp_path, kind, spoil):
    """Cut or corrupted at random places (200 in the slow run): a consistent prefix."""
    assert len(prefixes(tmp_path, kind, spoil, 25)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["-wal", "-log"])
@pytest.mark.parametrize("spoil", [cut, corrupt])
def test_a_spoilt_journal_leaves_a_prefix_200_times(tmp_path, kind, spoil):
    """The long form."""
    assert len(prefixes(tmp_path, kind, spoil, 200)) > 30


def _dies_at(moment, path, told):
    """Open, debit and answer in a fork that is killed at its n-th call into C.

    Returns:
        Whether it was killed.
    """
    pid = os.fork()
    if pid == 0:
        calls = 0

        def count(_frame, event, _):
            nonlocal calls
            calls += event == "c_call"
            if calls == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        ledger = Ledger(path, dataset="pima", cap=Epsilon("1"))
        receipt = ledger.debit(TENTH, plan="p")
        os.write(told, receipt.head.encode())
        ledger.answer(receipt, b"answer")
        os.write(told, b"answered")
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def _every_moment(tmp_path, step):
    moment = died = 0
    while True:
        moment += step
        path, (read, told) = tmp_path / f"{moment}.ledger", os.pipe()
        killed = _dies_at(moment, path, told)
        os.close(told)
        heard = os.read(read, 1000)
        os.close(read)
        ledger = Ledger(path, dataset="pima", cap=Epsilon("1"))
        kept = {line.rpartition('"hash":"')[2][:64] for line in export(path)}
        assert not heard or heard[:64].decode() in kept
        assert not heard.endswith(b"answered") or show(path).answers == 1
        assert ledger.debit(TENTH, plan="p").sequence == show(path).debits
        assert verify(path).sound
        if not killed:
            return died
        died += 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_moment_of_a_first_debit_may_be_the_last(tmp_path):
    """Killed anywhere from creating the file to storing the answer: the next process
    goes on without an operator, and nothing that was told is lost."""
    assert _every_moment(tmp_path, 17) > 30


@pytest.mark.slow
def test_each_single_moment_of_a_first_debit_may_be_the_last(tmp_path):
    """The same at every single call."""
    assert _every_moment(tmp_path, 1) > 500


def test_kills_lose_nothing(tmp_path):
    """SIGKILL at random moments, short form."""
    outcome = crash.run(tmp_path, kills=12, processes=4)

    assert outcome.sound, str(outcome)
    assert outcome.released > 0


@pytest.mark.slow
def test_150_kills_lose_nothing(tmp_path):
    """SIGKILL at random moments, eight processes."""
    outcome = crash.run(tmp_path, kills=150, processes=8, seed=1)

    assert outcome.sound, str(outcome)


FULL = """
import resource, signal, sys
from sfumato.account import Epsilon
from sfumato.errors import LedgerError
from sfumato.ledger import Ledger
ledger = Ledger(sys.argv[1], dataset="pima", cap=Epsilon("1000"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
done = 0
try:
    while True:
        ledger.debit(Epsilon("0.1"), plan="p")
        done += 1
except LedgerError as error:
    print(done, error.fact)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
ledger.debit(Epsilon("0.1"), plan="p")
"""


@pytest.mark.parametrize("limit", [200_000, 250_000, 301_234])
def test_a_file_that_may_not_grow_fails_the_debit(path, limit):
    """The debit that does not fit is refused and not spent; room again, go on."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(limit)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    answered = int(done.stdout.split()[0])
    assert answered > 5
    assert answered + 1 <= show(path).debits <= answered + 2
    assert verify(path).sound


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="mounting needs root"
)
def test_a_full_disk_fails_the_debit():
    """A tmpfs of 800 kB: every answer is in the ledger, what failed is not released."""
    disk = Path(tempfile.mkdtemp(prefix="sfumato-disk-"))  # pytest could not tidy it up
    mount = ["mount", "-t", "tmpfs", "-o", "size=800k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        ledger = Ledger(disk / "a.ledger", dataset="pima", cap=Epsilon("1000"))
        answered = 0
        with pytest.raises(LedgerError, match=r"full|cannot be") as refused:
            while True:
                ledger.debit(TENTH, plan="p")
                answered += 1
        stands = "stands" in refused.value.fact

        assert answered > 5
        assert show(disk / "a.ledger").debits == answered + stands
        assert verify(disk / "a.ledger").sound
    finally:
        del ledger
        gc.collect()
        subprocess.run(["umount", "-l", str(disk)], check=False)
        disk.rmdir()


def test_an_anchor_that_cannot_be_written_stops_the_release(book, path, monkeypatch):
    """The charge stands, the caller gets no receipt, nothing is released."""
    ledger = book(path)
    monkeypatch.setattr(
        ledger._writer._anchor, "append",
        lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )  # fmt: skip

    with pytest.raises(LedgerError, match="the charge stands, but the anchor"):
        ledger.debit(TENTH, plan="p")
    monkeypatch.undo()

    assert str(ledger.spent) == "0.1"
    assert verify(path).sound


def test_after_a_failed_sync_nothing_is_trusted(book, path):
    """The kernel may drop pages whose write failed; the process must not go on."""
    ledger = book(path)
    store = ledger._writer._store
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_FSYNC"

    with pytest.raises(LedgerError), store.guarded():
        raise error
    with pytest.raises(LedgerError, match="is not open"):
        ledger.debit(TENTH, plan="p")


# Faults, planted: each is the same check as above, run on a ledger that is wrong.


def test_planted_refunds_are_caught(book, path, raw):
    """If the trigger let a refund through, verify would say so."""
    book(path).debit(TENTH, plan="p")
    gc.collect()
    raw(path, "DROP TRIGGER nothing_is_refunded")
    raw(path, "UPDATE budget SET spent = 0, whole = 0")

    assert any("not what the entries give" in f.say() for f in verify(path).findings)


def test_planted_check_then_append_is_caught():
    """The counting that BC057 does finds an accountant that checks, then appends."""

    class Naive:
        spent = 0.0

        def debit(self):
            if self.spent + 0.01 > 1 + 1e-9:
                return False
            seen = self.spent
            time.sleep(0.0001)
            self.spent = seen + 0.01
            return True

    naive, answers = Naive(), []

    def work():
        while naive.debit():
            answers.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]

    assert len(answers) > 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_planted_answers_before_the_commit_are_caught(path, monkeypatch):
    """If a debit were told before it is durable, a kill would lose it: seen."""

    def told_and_killed():
        read, told = os.pipe()
        if os.fork() == 0:
            ledger = Ledger(path, dataset="pima", cap=Epsilon("1"))
            os.write(told, ledger.debit(TENTH, plan="p").head.encode())
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(told)
        os.wait()
        with open(read, "rb") as pipe:  # noqa: PTH123
            head = pipe.read().decode()
        return head in "".join(export(path))

    assert told_and_killed()
    monkeypatch.setattr("sfumato.ledger.log.Log.write", lambda *_: None)

    assert not told_and_killed()
    assert not verify(path).sound


def test_a_planted_blind_chain_lets_an_edit_pass(
    book, path, without_trigger, monkeypatch
):
    """With the links unchecked an edited entry passes; with them it does not."""
    book(path).debit(TENTH, plan="p")
    gc.collect()
    without_trigger(
        path, "entry_is_final",
        "UPDATE entry SET body = replace(body, '\"plan\":\"p\"', '\"plan\":\"q\"')",
    )  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr("sfumato.ledger.recent.fault_of", lambda *_: None)
        assert verify(path).sound

    assert not verify(path).sound


def test_a_planted_blind_anchor_refunds_a_backup(book, path, tmp_path, monkeypatch):
    """With the anchor ignored a restored backup spends twice; with it, it is refused."""
    book(path)
    gc.collect()
    shutil.copy(path, tmp_path / "backup")
    book(path).debit(Epsilon("0.3"), plan="p")
    book(path).debit(Epsilon("0.3"), plan="p")
    gc.collect()
    shutil.copy(tmp_path / "backup", path)

    with pytest.raises(LedgerError, match="its anchor at 3"):
        book(path).debit(Epsilon("0.6"), plan="p")
    gc.collect()
    monkeypatch.setattr("sfumato.ledger.witness.Witness.check", lambda *_: None)
    assert book(path).debit(Epsilon("0.6"), plan="p").sequence == 1
