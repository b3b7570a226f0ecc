"""The log: durable before it is told, one writer at a time, a crash at any moment."""

import contextlib
import ctypes
import gc
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import (
    Blocks,
    Ledger,
    Limit,
    export,
    logbook,
    show,
    turns,
    verify,
)
from sfumato.ledger.amounts import Amounts
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.balances import Balance, charge
from sfumato.ledger.chain import Tail, genesis, link
from sfumato.ledger.debits import Order
from sfumato.ledger.log import FIRST, LENGTH, Log
from sfumato.ledger.plain import write_plainly
from sfumato.ledger.running import Running
from sfumato.ledger.sqlite import SqliteStore
from sfumato.ledger.standing import Standings
from sfumato.ledger.waiting import Ticket
from sfumato.ledger.writer import Writer

TENTH, HUNDREDTH = Epsilon("0.1"), Epsilon("0.01")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="there is no log")


def other_writer(path):
    """Return a writer as another process would have it."""
    anchor = Anchor(path.with_name(path.name + ".anchor"))
    log = Log(path.with_name(path.name + "-log"))
    return Writer(SqliteStore(path), anchor, log)


def order(units=10**10, plan="p", **more):
    """Return a debit of a hundredth."""
    return Order("pima", Amounts("epsilon", units), plan, **more)


def heads(path):
    """Return the hashes of all entries."""
    return [json.loads(line)["hash"] for line in export(path)]


def settle(ledger):
    """Bring what is in the log to SQLite."""
    ledger._writer._logbook._transact([])


# One rule, one text.


@given(
    st.lists(
        st.tuples(
            st.integers(0, 30), st.lists(st.sampled_from("abc"), max_size=3, unique=True),
            st.booleans(),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_the_running_ledger_charges_by_the_rule(debits):
    """What the log accepts, and what it makes of budgets, is `balances.charge`."""
    rows = [(1, "d", "dataset", "", "", "epsilon", 60, 0, 0, 0, 0, 0),
            (2, "d", "analyst", "x", "", "epsilon", 40, 0, 0, 0, 0, 0)]  # fmt: skip
    rows += [
        (3 + i, "d", "block", n, "l", "epsilon", 60, 0, 0, 0, 0, 0)
        for i, n in enumerate("abc")
    ]
    running = Running(Tail(0, genesis("x"), 0), rows, b"")
    balances = {(b := Balance(*row[1:])).key: b for row in rows}
    for units, blocks, limited in debits:
        cost, limits = Amounts("epsilon", units), [("analyst", "x")] if limited else []
        wanted = charge(balances, "d", cost, limits=limits, blocks=blocks)
        changes = running.budgets.changes("d", cost, limits, blocks)
        assert (changes is not None) == all(b.fits for b in wanted)
        if changes is not None:
            running.append(("debit", "d", None, 0), "{}", changes=changes)
            balances.update({b.key: b for b in wanted})
        assert running.budgets.balances() == balances


class Kept:
    """A log that keeps what is written."""

    file = -1

    def __init__(self):
        self.data = bytearray(FIRST + LENGTH)

    def write(self, data, at):
        self.data[at : at + len(data)] = data


def twins(cap=60):
    """Return two running ledgers of one budget, in which one debit was made."""
    rows = [(7, "d", "dataset", "", "", "epsilon", cap, 9, 0, 0, 0, 0)]
    rows.append((8, "e", "dataset", "", "", "epsilon", cap, 9, 0, 0, 0, 0))
    header = b"x" * 15 + b"0"
    both = [Running(Tail(0, genesis("x"), 0), rows, header) for _ in "ab"]
    for running in both:
        Order("d", Amounts("epsilon", 1), "p").quick(running, None)
    return both


def in_detail(running, batch, log):
    """Write debits as the general way does; return how many fit."""
    for done, ticket in enumerate(batch):
        made = ticket.job.quick(running, None)
        if made is None:
            return done
        ticket.value, record = made
        at = running.at
        running.wrote(at + len(record), at)
        log.write(record + running.end, at)
    return len(batch)


PLAIN = st.builds(
    Order,
    dataset=st.sampled_from("dddde"),
    cost=st.builds(
        Amounts, st.sampled_from(["epsilon"] * 9 + ["zcdp"]), st.integers(0, 20),
        st.integers(0, 3),
    ),
    plan=st.text(), limits=st.just(()), blocks=st.just(()), request=st.none(),
    descriptor=st.text(),
)  # fmt: skip


@given(st.lists(st.lists(PLAIN, min_size=1, max_size=4), max_size=5))
@settings(deadline=None)
def test_a_plain_debit_is_written_as_the_general_way_writes_it(batches):
    """Each byte, each outcome and all that is remembered, whatever is asked."""
    plain, general = twins()
    logs = Kept(), Kept()
    with pytest.MonkeyPatch.context() as patch:
        for module in ("plain", "debits"):
            patch.setattr(f"sfumato.ledger.{module}.now", lambda: "2026-01-01T00:00:00")
        for batch in batches:
            mine, theirs = ([Ticket(x) for x in batch] for _ in "ab")
            own = [x.dataset == "d" for x in batch]
            stop = own.index(False) if False in own else len(batch)  # not the sole one
            done = write_plainly(plain, mine, logs[0])
            assert done == in_detail(general, theirs[:stop], logs[1])
            assert [t.value for t in mine] == [t.value for t in theirs]
    assert logs[0].data == logs[1].data
    for name in ("tail", "at", "end", "records", "headings"):
        assert getattr(plain, name) == getattr(general, name)
    assert plain.budgets.balances() == general.budgets.balances()
    assert plain.budgets.lacking == general.budgets.lacking
    assert plain.mark("x") == general.mark("x")
    assert plain.budgets.lacking == {}


@given(st.text(), st.text(), st.none() | st.text(), st.lists(st.text()), st.lists(st.tuples(st.text(), st.text())))  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_the_quick_text_is_canonical(dataset, plan, request, blocks, limits):
    """The body that is written by hand is the canonical JSON, whatever the names."""
    tail, time = Tail(7, genesis("x"), 3), "2026-01-01T00:00:00+00:00"
    made = Order(dataset, Amounts("zcdp", 5, 6), plan, tuple(limits), tuple(blocks),
                 request, '{"a":"\\"é"}')  # fmt: skip

    entry = link(tail, "debit", dataset, made._said(9, 8, time), request)

    assert made.body(tail, 9, 8, time) == entry.body


# Durable before it is told.


def test_nothing_is_told_before_the_disk_has_answered(book, path, monkeypatch):
    """While the disk is at work nobody has a receipt; then those who waited have one."""
    ledger, second = book(path), other_writer(path)
    asked, answer, told, flushed = threading.Event(), threading.Event(), [], []

    def flush(file):
        flushed.append(file)
        asked.set()
        assert answer.wait(10)

    monkeypatch.setattr("sfumato.ledger.logbook.flush", flush)
    first = threading.Thread(
        target=lambda: told.append(ledger.debit(HUNDREDTH, plan="p").head)
    )
    first.start()
    assert asked.wait(10)
    others = [
        threading.Thread(target=lambda w=w: told.append(w.submit(order()).head))
        for w in (second, other_writer(path), other_writer(path))
    ]
    [t.start() for t in others]
    log = ledger._writer._logbook._log
    until = threading.Event()
    while len(log_places(log, ledger)) < 4:
        until.wait(0.01)

    assert told == []
    answer.set()
    [t.join(10) for t in (first, *others)]
    assert sorted(told) == sorted(heads(path)[1:])
    assert (
        len(set(flushed)) == 4
    )  # each asks the disk itself, so each hears of a failure
    assert verify(path).sound


def test_records_may_reach_sqlite_while_the_disk_is_waited_for(book, path, monkeypatch):
    """Somebody empties the log, and goes on, between a write and its flush: all kept."""
    ledger, other = book(path), other_writer(path)
    asked, answer, told = threading.Event(), threading.Event(), []
    flush = logbook.flush

    def slow(file):
        if file == ledger._writer._logbook._log.file:
            asked.set()
            assert answer.wait(10)
        flush(file)

    monkeypatch.setattr(logbook, "flush", slow)
    thread = threading.Thread(
        target=lambda: told.append(ledger.debit(HUNDREDTH, plan="p").head)
    )
    thread.start()
    assert asked.wait(10)
    told.append(other.submit(order()).head)
    other._logbook._transact([])
    told.append(other.submit(order()).head)
    answer.set()
    thread.join(10)
    told.append(other.submit(order()).head)
    told.append(ledger.debit(HUNDREDTH, plan="p").head)

    assert len(told) == 5
    assert sorted(told) == sorted(heads(path)[1:])
    places = [line.split(b",")[0] for line in anchor_lines(path)]
    assert places == [b"[1", b"[3", b"[4", b"[2", b"[5", b"[6"]  # one came late
    assert show(path).anchored == 6
    assert verify(path).sound


def anchor_lines(path):
    """Return the marks of an anchor as they stand in its file."""
    lines = path.with_name(path.name + ".anchor").read_bytes().split(b"\n")
    return [line for line in lines if line.startswith(b"[")]


def stale(path, book):
    """Fill the log anew up to exactly the place where another writer left it."""
    ledger, other = book(path, cap="1000"), other_writer(path)
    for _ in range(100):
        other.submit(order(10**11))  # from here on places have three digits
    settle(ledger)
    for _ in range(5):
        ledger.debit(TENTH, plan="p")
    left = ledger._writer._logbook._running.at
    other._logbook._transact([])
    for _ in range(5):
        other.submit(order(10**11))
    assert other._logbook._running.at == left > FIRST
    with contextlib.suppress(LedgerError):
        ledger.debit(TENTH, plan="p")
    return ledger


def test_an_emptied_log_is_not_taken_for_the_old_one(book, path):
    """Who left the log at a place reads anew when it was emptied and filled to there."""
    assert str(stale(path, book).spent) == "11.1"
    assert verify(path).sound


def test_a_look_at_a_busy_log_is_not_relied_on(book, path):
    """Who saw the log of a writer that died reads anew when another has emptied it."""
    ledger, other = book(path), other_writer(path)
    ledger.debit(TENTH, plan="p")
    logbook = ledger._writer._logbook
    logbook._log.renew(logbook._running.at, busy=True)  # and then it died
    other.top("pima")
    told = [ledger.debit(TENTH, plan="p").head]

    told.append(other.submit(order()).head)

    assert set(told) <= set(heads(path))
    assert str(ledger.spent) == "0.21"
    assert verify(path).sound


def test_a_planted_end_without_its_word_is_caught(book, path, monkeypatch):
    """If ends were all alike, an emptied log would pass; the anchor is the next guard."""

    def wrote(running, at, _last):
        running.at, running.end = at, Log.end(b"", 0)

    monkeypatch.setattr(Log, "end", staticmethod(lambda *_: b"\0" * 25))
    monkeypatch.setattr(Running, "wrote", wrote)

    with pytest.raises(LedgerError, match="ends at entry 101, its anchor at 102"):
        stale(path, book)


def log_places(log, ledger):
    """Return the places of all records in the log."""
    base = ledger._writer._logbook._running.base
    return [r.place for r, _ in log.records(FIRST, base)]


def test_a_failed_flush_gives_no_receipt(book, path, monkeypatch):
    """The charge may stand, nothing is told, and this process trusts nothing more."""
    ledger = book(path)

    def flush(_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("sfumato.ledger.logbook.flush", flush)
        with pytest.raises(LedgerError, match="Input/output error"):
            ledger.debit(TENTH, plan="p")
    with pytest.raises(LedgerError, match="cannot be used"):
        ledger.debit(TENTH, plan="p")
    ledger._writer.close()

    assert str(book(path).spent) == "0.1"
    assert verify(path).sound


def test_a_disk_that_takes_no_advice_is_no_error(book, path, monkeypatch):
    """The early start of a write is advice; the flush alone decides."""

    def refuse(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "posix_fadvise", refuse, raising=False)

    assert book(path).debit(TENTH, plan="p").spent == "0.1"
    assert verify(path).sound


def test_an_outcome_that_cannot_be_made_fails_alone(book, path, monkeypatch):
    """Whoever waits together is not harmed; what was charged is charged."""
    ledger, done = book(path), []
    make = Ledger._paid

    def paid(self, order, value):
        if order.plan == "bad":
            raise RuntimeError("no receipt")
        return make(self, order, value)

    monkeypatch.setattr(Ledger, "_paid", paid)
    with pytest.raises(RuntimeError, match="no receipt"):
        ledger.debit(TENTH, plan="bad")
    done.append(ledger.debit(TENTH, plan="p"))

    assert done[0].spent == "0.2"
    assert verify(path).sound


def test_a_full_log_is_emptied_into_sqlite(book, path):
    """Entries beyond the room of the log: each once, in order, in SQLite."""
    ledger = book(path, cap="1000")
    receipts = [
        ledger.debit(HUNDREDTH, plan="p" * 200, descriptor='{"a":"%s"}' % ("x" * 3000))
        for _ in range(200)
    ]

    assert LENGTH < 200 * 3000
    assert [r.head for r in receipts] == heads(path)[1:]
    assert verify(path).sound


def test_an_answer_larger_than_the_log_is_stored(book, path):
    """It goes to SQLite at once."""
    ledger, content = book(path), os.urandom(LENGTH + 5)
    ledger.answer(ledger.debit(TENTH, plan="p", request_key="k"), content)

    assert ledger.debit(TENTH, plan="p", request_key="k").content == content
    assert verify(path).sound


def test_requests_in_the_log_are_known(book, path):
    """Same key: replayed, refused while unanswered, charged once, from anywhere."""
    ledger, other = book(path), other_writer(path)
    receipt = ledger.debit(TENTH, plan="p", request_key="k")
    same = order(10**11, request="k")

    with pytest.raises(LedgerError, match="its answer is not stored"):
        other.submit(same)
    ledger.answer(receipt, b"answer")

    assert other.submit(same).content == b"answer"
    assert str(ledger.spent) == "0.1"


def test_writers_follow_each_other(path, book):
    """Debits, openings and limits of several writers in turn are one chain."""
    terms = {
        "blocks": Blocks("year", ("a", "b")),
        "limits": [Limit("analyst", "x", Epsilon("1"))],
    }
    ledger, other = book(path, **terms), other_writer(path)
    told = []
    for turn in range(60):
        name = "ab"[turn % 2]
        told.append(ledger.debit(HUNDREDTH, plan="p", blocks=[name]).head)
        told.append(other.submit(order(10**9)).head)
        if turn % 7 == 0:
            settle(ledger)
        if turn % 11 == 0:
            book(path, dataset=f"d{turn}").debit(TENTH, plan="p")

    assert set(told) <= set(heads(path))
    assert str(ledger.spent) == "0.36"
    assert str(other.top("pima").spent) == str(ledger._top().spent)
    assert verify(path).sound


# Records of others are passed over until they are needed.


@pytest.fixture
def company(book, path):
    """A ledger of 20 budgets and another writer; each has seen the other write."""
    limits = [Limit("analyst", f"a{i}", Epsilon("1")) for i in range(19)]
    ledger, other = book(path, cap="100", limits=limits), other_writer(path)
    for _ in range(2):
        ledger.debit(HUNDREDTH, plan="p")
        other.submit(order())
    ledger._limits = ()
    return ledger, other


def test_records_of_others_are_passed_over(company, monkeypatch):
    """A debit among others' reads the last record, not all; what it tells is the same."""
    ledger, other = company
    settle(ledger)
    ledger.debit(HUNDREDTH, plan="p")
    told = [other.submit(order()).head for _ in range(5)]
    followed = []
    monkeypatch.setattr(Running, "follow", lambda *a: followed.append(a))

    receipt = ledger.debit(HUNDREDTH, plan="p")

    assert followed == []
    assert receipt.spent == "0.11"
    told.append(receipt.head)
    monkeypatch.undo()
    settle(ledger)
    assert heads(ledger._writer._store._path)[-6:] == told
    assert verify(ledger._writer._store._path).sound


@given(
    st.lists(
        st.sampled_from(
            ["mine", "other", "third", "key", "limits", "answer", "settle", "look"]
        ),
        max_size=25,
    )
)
@settings(max_examples=25, deadline=None)
def test_whoever_passes_over_knows_what_others_know(steps):
    """In any order of debits, answers, keys and copies, three writers tell one chain."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ledger"
        limits = [Limit("analyst", f"a{i}", Epsilon("1")) for i in range(12)]
        ledger = Ledger(path, dataset="pima", cap=Epsilon("100"), limits=limits)
        ledger._limits, told, keys = (), [], {}
        others = {"other": other_writer(path), "third": other_writer(path)}
        everyone = [ledger._writer, *others.values()]
        for turn, step in enumerate(steps):
            if step in others:
                told.append(others[step].submit(order()).head)
            elif step == "mine":
                told.append(ledger.debit(HUNDREDTH, plan="p").head)
            elif step == "limits":
                some = tuple(("analyst", f"a{i}") for i in range(turn % 12))
                told.append(others["other"].submit(order(limits=some)).head)
            elif step == "key":
                key = f"k{turn}"
                keys[key] = ledger.debit(HUNDREDTH, plan="p", request_key=key)
                told.append(keys[key].head)
            elif step == "answer" and keys:
                key, receipt = keys.popitem()
                ledger.answer(receipt, key.encode())
                same = order(request=key, plan="p")
                assert others["third"].submit(same).content == key.encode()
            elif step == "settle":
                everyone[turn % 3].top("pima")
                everyone[turn % 3]._logbook._transact([])
            if step == "look":
                assert len({w.top("pima").spent for w in everyone}) == 1
        assert [h for h in heads(path) if h in told] == told
        assert ledger.spent.units == len(told) * 10**10
        assert verify(path).sound
        for writer in everyone:
            writer.close()


def test_more_budgets_than_a_record_states_are_followed(company):
    """Then each record is read; none of the amounts is missed."""
    ledger, other = company
    for i in range(19):
        other.submit(order(limits=(("analyst", f"a{i}"),)))
        other.submit(order(limits=(("analyst", "a0"),)))
        ledger.debit(HUNDREDTH, plan="p")

    found = {
        b.name: b.spent // 10**10 for b in ledger.balances() if b.kind == "analyst"
    }
    assert found == {"a0": 22} | {f"a{i}": 3 for i in range(1, 19)}
    assert verify(ledger._writer._store._path).sound


def test_a_planted_statement_of_own_changes_alone_is_caught(company, monkeypatch):
    """If a record stated only what it changed itself, an earlier one would be missed."""
    ledger, other = company
    own = Standings.change

    def change(standings, changes, place):
        standings._changed.clear()
        return own(standings, changes, place)

    settle(ledger)
    ledger.debit(HUNDREDTH, plan="p")
    monkeypatch.setattr(Standings, "change", change)
    other.submit(order(limits=(("analyst", "a1"),)))
    other.submit(order())
    ledger._limits = (("analyst", "a1"),)
    receipt = ledger.debit(HUNDREDTH, plan="p")
    monkeypatch.undo()

    settle(ledger)

    assert receipt.sequence == 8
    assert not verify(ledger._writer._store._path).sound


def test_a_record_that_was_passed_over_must_be_there(company):
    """Who copies the log reads all of it: a record that was changed is refused."""
    ledger, other = company
    settle(ledger)
    ledger.debit(HUNDREDTH, plan="p")
    for _ in range(4):
        other.submit(order(plan="changed later"))
    ledger.debit(HUNDREDTH, plan="p")
    path = ledger._writer._store._path
    log = path.with_name(path.name + "-log")
    log.write_bytes(log.read_bytes().replace(b"changed later", b"changed LATER", 2))

    with pytest.raises(LedgerError, match="cannot be read"):
        settle(ledger)


@pytest.mark.parametrize("end", [b"00000000", b"99999999", b"0004096x", b"00004100"])
def test_an_end_that_names_no_record_is_not_believed(company, end):
    """The place of the last record is a hint; without it every record is read."""
    ledger, other = company
    for _ in range(3):
        receipt = other.submit(order())
    log = ledger._writer._logbook._log
    at = other._logbook._running.at
    os.pwrite(log.file, end, at + 17)

    assert ledger.debit(HUNDREDTH, plan="p").sequence == receipt.sequence + 1
    assert str(ledger.spent) == "0.08"
    assert verify(ledger._writer._store._path).sound


def test_two_copies_that_share_an_anchor_are_noticed_at_once(company, tmp_path):
    """A copied ledger that goes on elsewhere marks what this one does not have."""
    ledger, other = company
    other.close()
    settle(ledger)
    ledger._writer.close()
    path = ledger._writer._store._path
    anchor, twin = path.with_name(path.name + ".anchor"), tmp_path / "twin"
    twin.mkdir()
    for suffix in ("", "-log"):
        shutil.copy(path.with_name(path.name + suffix), twin / (path.name + suffix))
    copied = [
        Writer(SqliteStore(p), Anchor(anchor), Log(p.with_name(p.name + "-log")))
        for p in [twin / path.name] * 2
    ]
    mine = [Writer(SqliteStore(path), Anchor(anchor), Log(path.with_name(path.name + "-log")))
            for _ in range(2)]  # fmt: skip
    for writer in (*copied, *mine):
        writer.top("pima")
    for _ in range(2):
        for writer in copied:
            writer.submit(order(plan="copy"))

    for writer in mine:
        with pytest.raises(LedgerError, match="its anchor at"):
            writer.submit(order())


# What is written before the last look.


class Hooked:
    """Folders of which somebody thinks something when they are looked at."""

    def __init__(self, hook):
        self.hook = hook

    def are_same(self):
        self.hook()
        return True


def refuse():
    """What a look at a replaced file does."""
    raise LedgerError("the ledger was replaced", hint="put it back")


@pytest.mark.parametrize("more", [0, 3])
def test_a_debit_that_is_refused_after_it_was_written_is_taken_back(
    book, path, monkeypatch, more
):
    """Not even who has read it meanwhile, as one may without the turn, builds on it."""
    ledger, other = book(path, cap="100"), other_writer(path)
    for _ in range(2):
        other.submit(order())
        ledger.debit(HUNDREDTH, plan="p")
    mine, theirs = ledger._writer._logbook, other._logbook
    mine._running.company = 0
    ledger.debit(HUNDREDTH, plan="p")
    seen = []

    def hook():
        assert mine._log.newest(FIRST, mine._log.header()).at == mine._running.at
        seen.append(theirs._catch_up(theirs._running))
        assert theirs._running.tail == mine._running.tail
        refuse()

    with monkeypatch.context() as patch:
        patch.setattr(mine, "_folders", Hooked(hook))
        with pytest.raises(LedgerError, match="was replaced"):
            ledger.debit(TENTH, plan="taken back")
    assert seen == [True]
    assert mine._running is None
    for _ in range(more):  # others may write to where it stood, and beyond
        ledger.debit(HUNDREDTH, plan="p")
    told = [other.submit(order()).head, ledger.debit(HUNDREDTH, plan="p").head]

    assert set(told) <= set(heads(path))
    assert str(ledger.spent) == str(Epsilon.from_units((7 + more) * 10**10))
    assert verify(path).sound


def test_a_planted_fault_in_taking_back_is_caught(book, path, monkeypatch):
    """If only the old end were put back, who had read the record would build on it."""

    def take_back(log, at, _stop):
        log.write(Log.end(log.header(), 0), at)

    monkeypatch.setattr(Log, "take_back", take_back)

    with pytest.raises((LedgerError, AssertionError)):
        test_a_debit_that_is_refused_after_it_was_written_is_taken_back(
            book, path, monkeypatch, 0
        )


@pytest.mark.parametrize("writes", range(4))
def test_a_taking_back_may_be_cut_off(book, path, monkeypatch, writes):
    """Who has read the record meanwhile builds on it or does not know it any more."""
    ledger, other = book(path, cap="100"), other_writer(path)
    for _ in range(2):
        other.submit(order())
        ledger.debit(HUNDREDTH, plan="p")
    mine, theirs = ledger._writer._logbook, other._logbook
    mine._running.company = 0
    ledger.debit(HUNDREDTH, plan="p")
    write, done = mine._log.write, []

    def cut(data, at):
        if len(done) >= writes:
            raise OSError("the process was killed")
        done.append(at)
        write(data, at)

    def hook():
        assert theirs._catch_up(theirs._running)
        assert theirs._running.tail == mine._running.tail
        mine._log.write = cut
        refuse()

    with monkeypatch.context() as patch:
        patch.setattr(mine, "_folders", Hooked(hook))
        with pytest.raises(LedgerError):
            ledger.debit(TENTH, plan="taken back")
    mine._log.close()
    told = [other.submit(order()).head for _ in range(2)]
    told.append(other_writer(path).submit(order()).head)

    assert len(done) == min(writes, 3)
    assert set(told) <= set(heads(path))
    assert verify(path).sound


def test_files_that_were_replaced_while_the_turn_was_waited_for_are_noticed(
    company, tmp_path, monkeypatch
):
    """The look before the waiting says nothing about the time after it."""
    ledger, other = company
    path, log = other._store._path, other._logbook._log

    def replace_and_wait(_file):
        for suffix in ("", "-log"):
            place = path.with_name(path.name + suffix)
            shutil.copy(place, tmp_path / "copy")
            (tmp_path / "copy").replace(place)

        time.sleep(0.02)

    monkeypatch.setattr(logbook, "sleep_until_mine", replace_and_wait)
    before = log.path.read_bytes()

    with pytest.raises(LedgerError, match="removed or replaced"):
        other.submit(order())

    assert log.path.read_bytes() == before


def test_an_interrupt_gives_the_turn_back(company, monkeypatch):
    """Else nobody else could debit until this process ends."""
    ledger, other = company

    def sleep_until_mine(file):
        turns.lock(file)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(logbook, "sleep_until_mine", sleep_until_mine)
        with pytest.raises(KeyboardInterrupt):
            other.submit(order())
    patience = lambda file: turns.lock(file, 0.1)  # noqa: E731
    monkeypatch.setattr(logbook, "sleep_until_mine", patience)

    ledger.debit(HUNDREDTH, plan="p")


def test_what_is_durable_is_told_though_the_next_request_fails(book, path, monkeypatch):
    """Threads share a turn, but a failure says "nothing was spent" to its own alone."""
    ledger = book(path)
    ledger.debit(HUNDREDTH, plan="p")
    batch = [Ticket(order()), Ticket(order(10**13)), Ticket(order())]

    def transact(*_):
        raise LedgerError("the ledger is held", hint="nothing was spent")

    with monkeypatch.context() as patch:
        patch.setattr(ledger._writer._logbook, "_transact", transact)
        ledger._writer._commit(batch)

    paid = batch[0].result()
    for ticket in batch[1:]:
        with pytest.raises(LedgerError, match="is held"):
            ticket.result()
    assert heads(path)[-1] == paid.head
    assert str(ledger.spent) == "0.02"


def test_requests_of_every_kind_share_a_turn(book, path):
    """Plain ones first, then what only the general way or a transaction decides."""
    ledger = book(path)
    ledger.debit(HUNDREDTH, plan="p")
    asked = [
        order(), order(), order(request="k"), order(), order(10**13), order(),
        order(request="k"),
    ]  # fmt: skip
    batch = [Ticket(x) for x in asked]

    ledger._writer._commit(batch)

    told = [batch[i].result().head for i in (0, 1, 2, 3, 5)]
    with pytest.raises(BudgetExceededError):
        batch[4].result()
    with pytest.raises(LedgerError, match="answer is not stored"):
        batch[6].result()
    assert told == heads(path)[-5:]
    assert str(ledger.spent) == "0.06"
    assert verify(path).sound


@pytest.mark.parametrize("size", [1, 16])
def test_a_log_that_becomes_full_in_a_batch_is_emptied(book, path, size):
    """No record stands over its end, and none is lost or charged twice."""
    ledger, told = book(path, cap="1000"), []
    long = json.dumps({"x": "y" * 9000})
    for _ in range(160 // size):
        batch = [Ticket(order(descriptor=long)) for _ in range(size)]
        ledger._writer._commit(batch)
        told += [t.result().head for t in batch]

    assert LENGTH < 160 * 9000 / 2
    assert told == heads(path)[-160:]
    assert str(ledger.spent) == "1.6"
    assert verify(path).sound


def limited(path):
    """Debit plainly, then under a limit, then plainly; return what the limit says."""
    ledger = Ledger(path, dataset="pima", cap=Epsilon("1"))
    [ledger.debit(HUNDREDTH, plan="p") for _ in range(2)]
    ann = Limit("analyst", "ann", Epsilon("0.1"))
    under = Ledger(path, dataset="pima", cap=Epsilon("1"), limits=[ann])
    for each in (ledger, ledger, under, ledger, under):
        each.debit(HUNDREDTH, plan="p")
    assert str(ledger.spent) == "0.07"
    assert verify(path).sound
    return [b.spent // 10**10 for b in ledger.balances() if b.name == "ann"]


def test_a_limit_is_charged_though_debits_before_were_plain(path):
    """What nearly every debit needs not, some do."""
    assert limited(path) == [2]


def test_a_planted_debit_that_is_taken_as_plain_is_caught(path, monkeypatch):
    """If limits were not looked at, they would not be charged."""
    monkeypatch.setattr(logbook, "is_plain", lambda job: type(job) is Order)
    assert limited(path) != [2]


def test_closing_waits_for_a_thread_at_work(book, path):
    """At the end of a process: the lock of the log is no lock among its threads."""
    ledger = book(path)
    ledger.debit(HUNDREDTH, plan="p")
    log = ledger._writer._logbook._log
    write, early = log.write, []
    close, *files = ledger._writer.closing
    closer = threading.Thread(target=close, args=files)

    def late(data, at):
        log.write = write
        closer.start()
        closer.join(0.2)
        early.append(not closer.is_alive())
        write(data, at)

    log.write = late
    told = ledger.debit(HUNDREDTH, plan="p").head
    closer.join(10)

    assert early == [False]
    assert heads(path)[-1] == told
    assert verify(path).sound


@needs_fork
def test_a_process_may_end_while_a_thread_debits(path, tmp_path):
    """What a thread was told that nobody waits for is in the ledger."""
    told = tmp_path / "told"
    for pause in ("0.02", "0.03", "0.04", "0.05"):
        subprocess.run([sys.executable, "-c", ENDS, path, told, pause], check=False)

    assert set(told.read_text().split()) <= set(heads(path))
    assert verify(path).sound


@needs_fork
def test_a_process_forked_behind_pythons_back_leaves_the_log_alone(book, path):
    """It has the lock together with the process that opened: it must not copy the log."""
    ledger = book(path)
    told = ledger.debit(HUNDREDTH, plan="p").head
    close, *files = ledger._writer.closing
    log = path.with_name(path.name + "-log")
    before = log.read_bytes()

    child = ctypes.PyDLL(None).fork()
    if not child:
        try:
            close(*files)
        finally:
            os._exit(0)
    os.waitpid(child, 0)

    assert log.read_bytes() == before
    assert heads(path)[-1] == told
    assert ledger.debit(HUNDREDTH, plan="p").sequence == 2


ENDS = """
import os, sys, threading, time
from sfumato.account import Epsilon
from sfumato.ledger import Ledger
ledger = Ledger(sys.argv[1], dataset="pima", cap=Epsilon("100000"))
told = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
def work():
    while True:
        os.write(told, (ledger.debit(Epsilon("0.01"), plan="p").head + chr(10)).encode())
threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[3]))
"""


def test_another_anchor_is_noticed_before_a_debit_is_told(book, path, tmp_path):
    """Also by who is alone and looks at the folder after writing."""
    ledger = book(path, cap="100")
    for _ in range(3):
        ledger.debit(HUNDREDTH, plan="p")
    (tmp_path / "b").mkdir()
    stranger = Ledger(tmp_path / "b" / "b", dataset="pima", cap=Epsilon("1"))
    stranger.debit(HUNDREDTH, plan="p")
    anchor = path.with_name(path.name + ".anchor")
    kept = anchor.read_bytes()
    other = tmp_path / "b" / "b.anchor"
    anchor.unlink()
    shutil.copy(other, anchor)

    with pytest.raises(LedgerError, match="is not the anchor of this ledger"):
        ledger.debit(HUNDREDTH, plan="p")
    assert anchor.read_bytes() == other.read_bytes()
    anchor.unlink()
    anchor.write_bytes(kept)

    ledger.debit(HUNDREDTH, plan="p")
    assert str(ledger.spent) == "0.04"
    assert verify(path).sound


@needs_fork
def test_those_who_read_without_the_turn_take_over_whole_records_only(book, path):
    """While another process writes as fast as it can, what is taken over is its chain."""
    ledger = book(path, cap="100")
    other = other_writer(path)
    for _ in range(2):
        ledger.debit(HUNDREDTH, plan="p")
        other.submit(order())
    other.close()
    child = os.fork()
    if not child:
        for _ in range(300):
            ledger.debit(Epsilon("0.001"), plan="p")
        os._exit(0)
    reader = other_writer(path)
    reader.submit(order())
    taken = set()
    while not os.waitpid(child, os.WNOHANG)[0]:
        running = reader._logbook._running
        if not reader._logbook._catch_up(running):
            reader.submit(order(10**9))
            continue
        taken.add((running.tail.place, running.tail.head))

    lines = [json.loads(line) for line in export(path)]
    known = {(line["body"]["place"], line["hash"]) for line in lines}
    assert taken <= known
    assert len(taken) > 3
    assert verify(path).sound


def test_a_record_that_ends_where_a_read_ends_is_not_the_last(book, path):
    """The log is read in part first; what follows the part belongs to it as well."""
    ledger = book(path)
    for size in (1000, 0):
        receipt = ledger.debit(HUNDREDTH, plan="p")
        running = ledger._writer._logbook._running
        at = running.at
        if size:
            ledger.answer(receipt, bytes(size))
            beside = running.at - at - size
    size = FIRST + 8192 - at - beside
    ledger.answer(receipt, bytes(size))
    assert running.at == FIRST + 8192
    told = ledger.debit(HUNDREDTH, plan="p").head

    told_too = other_writer(path).submit(order()).head

    assert heads(path)[-2:] == [told, told_too]
    assert verify(path).sound


def test_an_end_that_a_power_cut_left_behind_is_not_believed(book, path):
    """The disk had the last page of a batch, not the pages before, nor a new word."""
    first = other_writer(path)
    book(path, cap="100")._writer.close()
    told = [first.submit(order()).head for _ in range(3)]
    log, anchor = first._logbook._log, first._anchor.path
    at, marks = first._logbook._running.at, anchor.read_bytes()
    before = log.path.read_bytes()
    [first.submit(order()) for _ in range(5)]
    last = first._logbook._running.end[-8:]
    after = log.path.read_bytes()
    first._logbook._running = None  # the power is cut
    first.close()
    log.path.write_bytes(before[: int(last)] + after[int(last) :])
    anchor.write_bytes(marks)
    mine, theirs = other_writer(path), other_writer(path)
    for writer in (mine, theirs):
        assert writer.top("pima").spent == 3 * 10**10
    reader, write = theirs._logbook, mine._logbook._log.write

    def slowly(data, at_):
        assert at_ == at
        write(data[:-30], at_)
        reader._catch_up(reader._running)
        write(data[-30:], at_ + len(data) - 30)

    mine._logbook._log.write = slowly
    told.append(mine.submit(order()).head)
    reader._running.company = 5
    told.append(theirs.submit(order()).head)

    assert heads(path)[1:] == told
    assert verify(path).sound


# One writer at a time.


def race(ledger, other):
    """Let another writer debit between a writer's look and its write; return heads."""
    told, log = [], ledger._writer._logbook._log
    write, meanwhile = log.write, []

    def late(data, at):
        log.write = write
        thread = threading.Thread(
            target=lambda: told.append(other.submit(order(plan="q")).head)
        )
        thread.start()
        thread.join(1)  # it must wait for us, and we do not wait for it
        meanwhile.append(thread)
        write(data, at)

    log.write = late
    with contextlib.suppress(LedgerError):
        told.append(ledger.debit(HUNDREDTH, plan="p").head)
    meanwhile[0].join(10)
    return told


def test_a_writer_waits_for_the_one_before(book, path):
    """Two debits at the same moment: two entries."""
    ledger = book(path)

    told = race(ledger, other_writer(path))

    assert len(set(told)) == 2
    assert set(told) <= set(heads(path))
    assert verify(path).sound


def test_a_planted_missing_lock_is_caught(book, path, monkeypatch):
    """Without the log's turn one of the two is lost, and seen to be."""
    ledger, other = book(path), other_writer(path)
    other.top("pima")
    for name in ("sleep_until_mine", "flock"):
        monkeypatch.setattr(f"sfumato.ledger.logbook.{name}", lambda *_: None)

    told = race(ledger, other)

    assert not verify(path).sound or not set(told) <= set(heads(path))


# A crash at any moment.


def dies_in_a_fold(path, moment, told):
    """Debit into the log, then bring it to SQLite; die at the n-th call into C."""
    pid = os.fork()
    if pid == 0:
        ledger, calls = Ledger(path, dataset="pima", cap=Epsilon("1000")), 0
        for _ in range(3):
            os.write(told, ledger.debit(TENTH, plan="p").head.encode())

        def count(_frame, event, _):
            nonlocal calls
            calls += event == "c_call"
            if calls == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        settle(ledger)
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGALRM)
    return os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL


def every_moment_of_a_fold(tmp_path, book, step):
    """Die everywhere; a ledger that stays open goes on, and nothing told is lost."""
    path = tmp_path / "fold.ledger"
    ledger, moment, kept = book(path, cap="1000"), 0, []
    read, told = os.pipe()
    while True:
        moment += step
        ledger._writer.close()
        ledger.debit(TENTH, plan="p")  # open, with a memory of what comes before
        killed = dies_in_a_fold(path, moment, told)
        heard = os.read(read, 1000).decode()
        kept += [heard[i : i + 64] for i in range(0, len(heard), 64)]
        kept.append(ledger.debit(TENTH, plan="p").head)
        assert set(kept) <= set(heads(path))
        if not killed:
            break
    os.close(read)
    os.close(told)
    assert verify(path).sound
    return moment // step


@needs_fork
def test_a_fold_may_be_cut_off_at_any_moment(tmp_path, book):
    """SIGKILL between any two steps of copying the log to SQLite (every 7th here)."""
    assert every_moment_of_a_fold(tmp_path, book, 7) > 5


@pytest.mark.slow
@needs_fork
def test_a_fold_may_be_cut_off_at_each_single_moment(tmp_path, book):
    """The same at every single call."""
    assert every_moment_of_a_fold(tmp_path, book, 1) > 40


DIES = """
import os, signal, sys
from sfumato.account import Epsilon
from sfumato.ledger import Ledger
ledger = Ledger(sys.argv[1], dataset="pima", cap=Epsilon("1"))
print("open", flush=True)
sys.stdin.readline()
log = ledger._writer._logbook._log
log.clear = lambda: os.kill(os.getpid(), signal.SIGKILL)
Ledger(sys.argv[1], dataset="other", cap=Epsilon("1"))
"""


def after_an_unseen_commit(tmp_path, book):
    """A writer dies when its commit is in SQLite's journal but not yet in its index.

    The journal then holds frames that no living process sees and that a later recovery
    finds. Another process goes on; then all are killed.

    Returns:
        What was told, and the ledger as it is left.
    """
    path, target = tmp_path / "unseen.ledger", tmp_path / "killed.ledger"
    ledger = book(path)
    ledger._writer._store._connection.execute("PRAGMA wal_autocheckpoint = 0")
    told = [ledger.debit(HUNDREDTH, plan="p").head for _ in range(3)]
    child = subprocess.Popen(
        [sys.executable, "-c", DIES, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout.readline() == "open\n"
    index = path.with_name(path.name + "-shm")
    before = index.read_bytes()
    child.communicate("go\n")
    assert child.returncode == -signal.SIGKILL
    with index.open("r+b") as file:
        file.write(before)  # as if it had died a moment earlier
    book(path)  # changes nothing
    told += [ledger.debit(HUNDREDTH, plan="p").head for _ in range(3)]
    for suffix in ("", "-wal", "-log", ".anchor"):
        found = path.with_name(path.name + suffix).read_bytes()
        target.with_name(target.name + suffix).write_bytes(found)
    return told, target


def test_a_commit_that_nobody_saw_stays_unseen(tmp_path, book):
    """Recovery does not bring to life what the living had gone on without."""
    told, path = after_an_unseen_commit(tmp_path, book)

    assert str(book(path).spent) == "0.06"
    assert set(told) <= set(heads(path))
    assert verify(path).sound


def test_a_planted_unseen_commit_is_caught(tmp_path, book, monkeypatch):
    """If nothing were written over it, the ledger would not have what was told."""
    monkeypatch.setattr(SqliteStore, "overwrite", lambda *_: None)

    told, path = after_an_unseen_commit(tmp_path, book)

    assert not verify(path).sound
    assert not set(told) <= set(heads(path))


# Wrong files.


def test_a_changed_record_is_refused(book, path):
    """Whoever makes a record's checksum fit must also make its hash fit, and so on."""
    ledger = book(path)
    ledger.debit(TENTH, plan="p")
    running, log = ledger._writer._logbook._running, path.with_name("a.ledger-log")
    for old, new in (
        (b'"units":100000000000', b'"units":100000000001'),
        (b" 1:100000000000:0:100000000000:0 ", b" 1:000000000001:0:000000000001:0 "),
    ):
        target = path.with_name(f"{len(old)}.ledger")
        content = bytearray(log.read_bytes())
        changed = bytes(content[FIRST : running.at]).replace(old, new)
        assert changed != content[FIRST : running.at]
        content[FIRST : running.at] = b"%08x" % zlib.crc32(changed[8:]) + changed[8:]
        for suffix in ("", "-wal", ".anchor"):
            found = path.with_name(path.name + suffix).read_bytes()
            target.with_name(target.name + suffix).write_bytes(found)
        target.with_name(target.name + "-log").write_bytes(content)

        with pytest.raises(LedgerError, match="tampered with"):
            book(target)
        assert not verify(target).sound


def test_the_log_of_another_ledger_is_refused(book, path, tmp_path):
    """Nor is another file changed into a log."""
    book(path).debit(TENTH, plan="p")
    book(tmp_path / "b.ledger")
    gc.collect()
    log = path.with_name("a.ledger-log")
    for content in (
        path.with_name("b.ledger-log").read_bytes(), b"somebody's notes" * 30,
    ):  # fmt: skip
        log.write_bytes(content)

        with pytest.raises(LedgerError, match="is not the log of this ledger"):
            book(path)
        gc.collect()
        assert log.read_bytes() == content


def test_a_look_at_a_restored_ledger_does_not_make_it_good(book, path):
    """`show` reads a log that was rolled back; the next debit is refused all the same."""
    ledger, log = book(path), Path(f"{path}-log")
    ledger.debit(HUNDREDTH, plan="p")
    early = log.read_bytes()
    settle(ledger)
    for _ in range(2):
        ledger.debit(HUNDREDTH, plan="p")
    with log.open("r+b") as file:
        file.write(early)

    for _ in range(2):
        show(path)
        with pytest.raises(LedgerError, match="its anchor at 4"):
            ledger.debit(HUNDREDTH, plan="p")


@pytest.mark.parametrize("place", [(Standings, "take"), (Running, "_keep")])
def test_a_look_that_was_interrupted_is_forgotten(book, path, monkeypatch, place):
    """What it has taken over of others' records may be a half: all is read anew."""
    ledger = book(path)
    for _ in range(2):
        ledger.debit(HUNDREDTH, plan="p")
    other = other_writer(path)
    told = [other.submit(order()).head]

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledger.left  # noqa: B018
    told += [ledger.debit(HUNDREDTH, plan="p").head, other.submit(order()).head]

    assert heads(path)[-3:] == told
    assert ledger.spent == Epsilon("0.05")
    assert verify(path).sound
    other.close()


def interrupted(moment, act):
    """Interrupt the ledger where Python looks for signals; return whether it got there.

    That is where one of its functions begins and where one in C returns.
    """
    folder = os.path.dirname(logbook.__file__)  # noqa: PTH120
    left = moment

    def profile(frame, event, _):
        nonlocal left
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(
            folder
        ):
            left -= 1
            if not left:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            act()
    finally:
        sys.setprofile(None)
    return left <= 0


@pytest.mark.parametrize("what", ["debit", "left", "show", "copy", "close"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_moment_leaves_a_ledger_to_use(book, path, what):
    """Nobody waits for the turn afterwards, and what is told is in the ledger."""
    ledger, other, told = book(path, cap="100"), other_writer(path), []
    acts = {
        "debit": lambda: ledger.debit(HUNDREDTH, plan="p"),
        "left": lambda: ledger.left,
        "show": lambda: show(path),
        "copy": lambda: settle(ledger),
        "close": ledger._writer.close,
    }
    moment = 1
    while interrupted(moment, acts[what]):
        moment += 1
        with Path(f"{path}-log").open("rb") as file:
            assert turns.take(file.fileno()), "the turn was kept"
        if not moment % 8:
            settle(ledger)  # else there is more to do each time
        told.append(ledger.debit(HUNDREDTH, plan="p").head)
        told.append(other.submit(order()).head)

    told.append(ledger.debit(HUNDREDTH, plan="p").head)
    assert moment > 10
    assert not set(told) - set(heads(path))
    assert verify(path).sound
    other.close()


def test_a_lost_log_is_begun_anew(book, path):
    """After a clean end it holds nothing that the ledger lacks."""
    book(path).debit(TENTH, plan="p")
    gc.collect()
    path.with_name("a.ledger-log").unlink()

    assert book(path).debit(TENTH, plan="p").spent == "0.2"
    assert verify(path).sound


def test_a_log_that_is_taken_away_is_missed(book, path):
    """Removed or replaced while open: refused; nobody writes into a nameless file."""
    ledger = book(path)
    ledger.debit(TENTH, plan="p")
    path.with_name("a.ledger-log").unlink()

    with pytest.raises(LedgerError, match="removed or replaced"):
        ledger.debit(TENTH, plan="p")
    with pytest.raises(LedgerError, match="ends at entry 1, its anchor at 2"):
        ledger.debit(TENTH, plan="p")


# Ledgers from before the log.


def test_a_ledger_without_a_log_is_taken_over(book, path, raw):
    """Version 2 becomes version 3, which older programs refuse."""
    book(path).debit(TENTH, plan="p")
    gc.collect()
    path.with_name("a.ledger-log").unlink()
    raw(path, "PRAGMA user_version = 2")

    assert verify(path).sound
    assert raw(path, "PRAGMA user_version")[0] == [(2,)]
    assert book(path).debit(TENTH, plan="p").spent == "0.2"
    gc.collect()
    assert raw(path, "PRAGMA user_version")[0] == [(3,)]


def test_a_ledger_in_use_is_not_taken_over(book, path, raw):
    """A program that knows no log would go on beside it: wait until it has ended."""
    book(path).debit(TENTH, plan="p")
    gc.collect()
    raw(path, "PRAGMA user_version = 2")
    old = sqlite3.connect(path)
    old.execute("SELECT * FROM entry").fetchall()

    with pytest.raises(LedgerError, match="locked"):
        book(path)
    old.close()

    assert book(path).debit(TENTH, plan="p").spent == "0.2"
