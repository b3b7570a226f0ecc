"""Old copies of a ledger's files in every mixture, and spoilt ones: nothing is refunded.

A ledger's files are copied at many moments, as backups and crashes would find them. Then
each file is put back from some moment, or spoilt at a random place. Whatever comes of it
is refused as a `LedgerError`, or has spent at least what its anchor knows.
"""

import gc
import random
import shutil

import pytest

from sfumato.account import Epsilon
from sfumato.errors import LedgerError
from sfumato.ledger import Ledger, verify

TENTH = Epsilon("0.1")
FILES = ("", "-log", "-wal", "-shm", ".anchor")


def open_(path):
    return Ledger(path, dataset="d", cap=Epsilon("10"))


def copy_of(path):
    """Return the content of every file; none of those that are not there."""
    places = {suffix: path.with_name(path.name + suffix) for suffix in FILES}
    return {s: p.read_bytes() if p.exists() else None for s, p in places.items()}


def put(path, files):
    for suffix, content in files.items():
        if content is not None:
            path.with_name(path.name + suffix).write_bytes(content)


def history(path, dice):
    """Spend, answer, fold and reopen; return copies, each with what was spent then."""
    ledger, done = open_(path), 0
    copies = [(copy_of(path), 0)]
    for _ in range(dice.randint(2, 5)):
        for _ in range(dice.randint(1, 7)):
            receipt, done = ledger.debit(TENTH, plan="p"), done + 1
            if dice.random() < 0.3:
                ledger.answer(receipt, dice.randbytes(30))
        turn = dice.random()
        if turn < 0.3:
            ledger._writer._logbook._transact([])
        elif turn < 0.6:
            del ledger
            gc.collect()
            copies.append((copy_of(path), done))
            ledger = open_(path)
        copies.append((copy_of(path), done))
    del ledger
    gc.collect()
    copies.append((copy_of(path), done))
    return copies


def spoil(content, dice):
    """Cut, flip, blank, push apart or overwrite at a random place that is in use."""
    used = len(content) if dice.random() < 0.2 else min(len(content), 6000)
    at, blank = dice.randrange(used), b"\0" * 512
    flipped = bytes([content[at] ^ (1 + dice.randrange(255))])
    return dice.choice([
        content[:at],
        content[:at] + flipped + content[at + 1 :],
        content[:at] + blank[: len(content) - at] + content[at + 512 :],
        content[:at] + dice.randbytes(dice.randint(1, 64)) + content[at:],
        content[:at] + dice.randbytes(64) + content[at + 64 :],
    ])  # fmt: skip


def mixture(copies, dice):
    """Return files of different moments, and what their anchor has marked at least."""
    newest = len(copies) - 1
    chosen = {suffix: dice.randrange(len(copies)) for suffix in FILES}
    if dice.random() < 0.5:
        chosen[".anchor"] = newest  # as where the anchor lies on another disk
    for suffix in ("-log", "-wal"):
        if dice.random() < 0.3:
            chosen[suffix] = chosen[""]
    if dice.random() < 0.5:
        chosen["-shm"] = chosen["-wal"]
    files = {suffix: copies[moment][0][suffix] for suffix, moment in chosen.items()}
    if dice.random() < 0.4:
        if dice.random() < 0.5:  # one spoilt file beside the newest
            files = {**copies[dice.choice([-1, -2])][0]}
            files[".anchor"], chosen[".anchor"] = copies[-1][0][".anchor"], newest
        there = [s for s in FILES[:-1] if files[s]]
        victim = dice.choice(there)
        files[victim] = spoil(files[victim], dice)
    return files, copies[chosen[".anchor"]][1]


def try_mixtures(folder, seed, histories, each):
    """Return how many mixtures were refused and how many taken."""
    dice, refused, taken = random.Random(seed), 0, 0
    for number in range(histories):
        path = folder / f"{number}.ledger"
        copies = history(path, dice)
        for turn in range(each):
            place = folder / f"{number}-{turn}"
            place.mkdir()
            files, marked = mixture(copies, dice)
            put(place / "a.ledger", files)
            try:
                ledger = open_(place / "a.ledger")
                spent = ledger.spent.units // TENTH.units
                assert spent >= marked, "a refund"
                ledger.debit(TENTH, plan="q")
                assert ledger.spent.units == (spent + 1) * TENTH.units
                taken += 1
            except LedgerError:
                refused += 1
            ledger = None
            gc.collect()
            shutil.rmtree(place)
    return refused, taken


def test_no_mixture_of_old_files_refunds(tmp_path):
    """Some hundred mixtures: refused, or all that the anchor knows is spent."""
    refused, taken = try_mixtures(tmp_path, 5, 6, 20)

    assert refused > 20
    assert taken > 20


@pytest.mark.slow
def test_no_mixture_of_old_files_refunds_3000(tmp_path):
    """The long form."""
    refused, taken = try_mixtures(tmp_path, 6, 100, 30)

    assert refused > 500
    assert taken > 500


def test_a_planted_blind_anchor_is_caught(tmp_path, monkeypatch):
    """Fault: nobody compares the ledger with what is remembered of it."""
    monkeypatch.setattr("sfumato.ledger.witness.Witness.check", lambda *_: None)

    with pytest.raises(AssertionError, match="a refund"):
        try_mixtures(tmp_path, 5, 6, 20)


def test_a_spoilt_anchor_loses_no_entry(tmp_path):
    """Beside a whole ledger: refused, or every debit is still there and the next fits."""
    dice = random.Random(3)
    copies = history(tmp_path / "a.ledger", dice)
    files, spent = copies[-1]
    taken = 0
    for turn in range(40):
        path = tmp_path / f"{turn}.ledger"
        put(path, {**files, ".anchor": spoil(files[".anchor"], dice)})
        try:
            ledger = open_(path)
        except LedgerError:
            continue
        assert ledger.spent.units == spent * TENTH.units
        ledger.debit(TENTH, plan="q")
        del ledger
        gc.collect()
        assert verify(path).sound
        taken += 1

    assert taken > 5


def test_a_schema_that_is_no_text_is_refused_as_a_ledger(tmp_path):
    """SQLite's complaint repeats the damaged name, which Python cannot decode."""
    path = tmp_path / "a.ledger"
    open_(path).debit(TENTH, plan="p")
    gc.collect()
    content = path.read_bytes()
    assert b"CREATE TABLE entry" in content
    path.write_bytes(
        content.replace(b"CREATE TABLE entry", b"CREATE T\xff\xfeLE \xacntry")
    )

    with pytest.raises(LedgerError, match="cannot be used"):
        open_(path)
    assert not verify(path).sound
