"""A disk that fills up and is emptied again, at random moments of a ledger's life."""

import gc
import os
import random
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sfumato.account import Epsilon
from sfumato.errors import LedgerError
from sfumato.ledger import Ledger, export, show, verify
from sfumato.ledger.log import Log

TENTH = Epsilon("0.1")


def open_(path):
    return Ledger(path, dataset="d", cap=Epsilon("1000"))


@contextmanager
def small_disk(size):
    """Mount a disk of so many kilobytes; skip where that is not allowed.

    Not in pytest's own folder: a run that is killed leaves a mount, on which the next
    run's tidying up would fail.
    """
    folder = Path(tempfile.mkdtemp(prefix="sfumato-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(folder)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        folder.rmdir()
        pytest.skip("mounting is not allowed here")
    try:
        yield folder
    finally:
        gc.collect()
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


def fill(path, dice):
    """Fill the disk to the last byte, then give a little back."""
    with path.open("ab", buffering=0) as file:
        with suppress(OSError):
            while file.write(bytes(dice.choice([512, 4096]))):
                pass
        size = os.fstat(file.fileno()).st_size
        os.ftruncate(file.fileno(), max(0, size - dice.choice([0, 4096, 40960])))


def live(folder, dice):
    """Open, debit, answer and fold while the disk fills; return heads and refusals."""
    path, ballast = folder / "a.ledger", folder / "ballast"
    ledger, heads, refused = None, [], 0
    for _ in range(60):
        what = dice.random()
        try:
            if what < 0.12:
                fill(ballast, dice)
            elif what < 0.2:
                ballast.unlink(missing_ok=True)
            elif ledger is None or what < 0.26:
                ledger = None  # closes it
                ledger = open_(path)
            elif what < 0.33:
                ledger._writer._logbook._transact([])
            else:
                receipt = ledger.debit(TENTH, plan="p")
                heads.append(receipt.head)
                if what < 0.6:
                    size = dice.choice([10, 1000, 8000, 30_000])
                    ledger.answer(receipt, dice.randbytes(size))
        except LedgerError:
            refused += 1
    return heads, refused


def try_disks(seed, disks):
    """Return how many debits were told and how many calls were refused."""
    dice, told, all_refused = random.Random(seed), 0, 0
    for _ in range(disks):
        # A ledger that was just begun takes 640 kB, most of it for its log.
        with small_disk(dice.randint(600, 1300)) as folder:
            path = folder / "a.ledger"
            heads, refused = live(folder, dice)
            told, all_refused = told + len(heads), all_refused + refused
            wider = ["mount", "-o", "remount,size=4m", str(folder)]
            subprocess.run(wider, check=True)
            ledger = open_(path)
            heads.append(ledger.debit(TENTH, plan="p").head)
            del ledger
            gc.collect()
            kept = "".join(export(path))

            assert all(head in kept for head in heads)
            assert verify(path).sound
            assert len(heads) <= show(path).debits <= len(heads) + refused
    return told, all_refused


def test_no_receipt_is_lost_on_a_full_disk():
    """Every receipt is in the ledger; what was refused is told as a ledger's fault; with
    room again it goes on without an operator."""
    told, refused = try_disks(3, 6)

    assert told > 20
    assert refused > 20


@pytest.mark.parametrize("free", [0, 4, 8, 16, 40, 80, 120])
def test_a_ledger_that_finds_no_room_is_refused_at_once(free):
    """It is told that the disk is full, without waiting as for another process; with
    room the ledger begins, whatever the attempt has left."""
    with small_disk(800) as folder:
        path, ballast = folder / "a.ledger", folder / "ballast"
        with ballast.open("wb", buffering=0) as file:
            with suppress(OSError):
                while file.write(bytes(4096)):
                    pass
            os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - free * 1024)
        began = time.monotonic()
        with pytest.raises(LedgerError, match=r"full|No space|disk I/O"):
            open_(path).debit(TENTH, plan="p")
        assert time.monotonic() - began < 20
        gc.collect()
        ballast.unlink()

        assert open_(path).debit(TENTH, plan="p").sequence == 1
        gc.collect()
        assert verify(path).sound


@pytest.mark.slow
def test_no_receipt_is_lost_on_150_full_disks():
    """The long form."""
    told, refused = try_disks(4, 150)

    assert told > 1500
    assert refused > 1500


def test_a_log_that_finds_no_room_is_refused_as_a_ledger(book, path, monkeypatch):
    """The system's own error does not reach the caller; nothing is spent."""

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Log, "_begin_or_check", full)
        with pytest.raises(LedgerError, match="No space left"):
            book(path)
    assert str(book(path).spent) == "0"
