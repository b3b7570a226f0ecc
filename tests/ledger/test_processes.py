"""Threads, forks and spawned processes share one budget: never one answer more."""

import contextlib
import copy
import gc
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import time

import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import Ledger, show, verify, waiting

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
HUNDREDTH, TENTH = Epsilon("0.01"), Epsilon("0.1")


def spend_all(path, cap="1"):
    """Debit until refused; return how often it worked."""
    ledger, done = Ledger(path, dataset="pima", cap=Epsilon(cap)), 0
    while True:
        try:
            ledger.debit(HUNDREDTH, plan="p")
        except BudgetExceededError:
            return done
        done += 1


def in_threads(number, work):
    """Run `work` in threads and wait."""
    threads = [threading.Thread(target=work) for _ in range(number)]
    [t.start() for t in threads]
    [t.join() for t in threads]


def in_fork(work):
    """Run `work` in a forked child; return its exit code."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(90)  # a child that hangs fails the test
        code = 1
        with contextlib.suppress(BaseException):
            code = work() or 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("number", [2, 8])
@pytest.mark.parametrize("shared", [True, False], ids=["one object", "own objects"])
def test_bc057_threads_get_exactly_what_fits(book, tmp_path, number, shared):
    """100 answers of 0.01 in a budget of 1, in memory and in a file, ten times."""
    for turn in range(10):
        for path in (None, tmp_path / f"{turn}.ledger"):
            if path is None and not shared:
                continue
            ledger, answers = book(path), []

            def work(ledger=ledger, answers=answers, path=path):
                mine = ledger if shared else book(path)
                with contextlib.suppress(BudgetExceededError):
                    while True:
                        answers.append(mine.debit(HUNDREDTH, plan="p"))

            in_threads(number, work)

            assert sorted(r.sequence for r in answers) == list(range(1, 101))
            assert ledger.left.units == 0


def test_bc057_processes_get_exactly_what_fits(tmp_path):
    """Eight forked processes that open one new file at the same moment, 20 times."""
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    for turn in range(20):
        path = tmp_path / f"{turn}.ledger"
        with context.Pool(8) as pool:
            done = pool.map(spend_all, [path] * 8, chunksize=1)

        assert sum(done) == 100
        assert verify(path).sound


@needs_fork
def test_without_a_log_sqlites_own_lock_is_enough(path, monkeypatch):
    """As on Windows: no log, no turns, one write at a time: 100 answers."""
    monkeypatch.setattr("sfumato.ledger.sharing.HAVE_TURNS", False)
    monkeypatch.setattr(
        "sfumato.ledger.anchor.Anchor.turn", lambda _: contextlib.nullcontext()
    )
    with multiprocessing.get_context("fork").Pool(6) as pool:
        done = pool.map(spend_all, [path] * 6, chunksize=1)

    assert not path.with_name("a.ledger-log").exists()
    assert sum(done) == 100
    assert verify(path).sound


def test_bc057_spawned_processes_get_exactly_what_fits(path):
    """The same for processes that share nothing but the path."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        done = pool.map(spend_all, [path] * 8, chunksize=1)

    assert sum(done) == 100
    assert verify(path).sound


def test_bc095_copies_share_and_pickles_are_refused(book, path):
    """0.6 from a ledger and 0.6 from its copy do not fit into 1."""
    for ledger in (book(), book(path)):
        copies = [copy.copy(ledger), copy.deepcopy(ledger)]
        ledger.debit(Epsilon("0.6"), plan="p")

        for twin in copies:
            with pytest.raises(BudgetExceededError):
                twin.debit(Epsilon("0.6"), plan="p")
        with pytest.raises(LedgerError, match="pickled"):
            pickle.dumps(ledger)


@needs_fork
def test_bc095_a_fork_shares_the_file_and_refuses_memory(book, path):
    """A forked child spends from the same file; a ledger in memory is not doubled."""
    ledger, memory = book(path), book()

    def child():
        assert str(ledger.debit(Epsilon("0.6"), plan="p").spent) == "0.6"
        with pytest.raises(LedgerError, match="forked"):
            memory.debit(TENTH, plan="p")

    assert in_fork(child) == 0
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("0.6"), plan="p")
    assert memory.debit(Epsilon("0.6"), plan="p").spent == "0.6"


@needs_fork
def test_a_child_outlives_its_parents_ledger(book, path):
    """SQLite's locks do not survive a fork: a parent that closes must not take the
    journal away under its child, whose debits would be lost."""
    ledger = book(path)
    ledger.debit(TENTH, plan="p")
    ask, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        ledger.debit(TENTH, plan="p")
        os.read(ask, 1)
        ledger.debit(Epsilon("0.5"), plan="p")
        os._exit(0)
    os.close(ask)
    time.sleep(0.3)
    del ledger
    gc.collect()
    os.write(go, b"x")
    os.close(go)
    os.waitpid(pid, 0)

    assert str(book(path).spent) == "0.7"
    assert verify(path).sound


@needs_fork
def test_a_fork_in_the_middle_of_debits_blocks_nobody(book, path):
    """Children of a process whose other threads are debiting can debit at once."""
    ledger, stop = book(path, cap="1000"), threading.Event()

    def work():
        while not stop.is_set():
            ledger.debit(HUNDREDTH, plan="p")

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    try:
        for _ in range(15):
            assert in_fork(lambda: ledger.debit(HUNDREDTH, plan="p") and 0) == 0
    finally:
        stop.set()
        [t.join() for t in threads]

    overview = show(path)
    assert overview.budgets[0].spent == overview.debits * HUNDREDTH.units
    assert verify(path).sound


@needs_fork
def test_a_fork_that_python_did_not_see_is_refused(book, path):
    """With another process id and no hook run, the open files are not touched."""
    ledger = book(path)
    ledger._writer._born -= 1

    with pytest.raises(LedgerError, match="forked behind Python's back"):
        ledger.debit(TENTH, plan="p")


def test_one_refusal_does_not_fail_the_others(book, path):
    """Debits that are committed together are decided one by one."""
    ledger, done, refused = book(path), [], []
    sizes = [Epsilon("0.05"), Epsilon("5")] * 8
    gate = threading.Barrier(16)

    def work():
        cost = sizes.pop()
        gate.wait()
        try:
            done.append(ledger.debit(cost, plan="p"))
        except BudgetExceededError as error:
            refused.append(error)

    in_threads(16, work)

    assert (len(done), len(refused)) == (8, 8)
    assert str(ledger.spent) == "0.4"
    assert verify(path).sound


def test_waiting_debits_share_a_commit(book, path):
    """While one thread writes, all who wait are written together by the next."""
    ledger, commits = book(path, cap="1000"), []
    write = ledger._writer._serve

    def counted(batch):
        commits.append(len(batch))
        time.sleep(0.02)
        write(batch)

    ledger._writer._serve = counted
    in_threads(16, lambda: ledger.debit(HUNDREDTH, plan="p"))

    assert sum(commits) == 16
    assert len(commits) <= 4
    assert verify(path).sound


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_leaves_no_thread_waiting(book, path, times):
    """KeyboardInterrupt in who writes alone, then in who leads: no other thread hangs."""
    ledger, outcomes = book(path), []
    write, gate, left = ledger._writer._serve, threading.Event(), [None] * times

    def interrupted(_batch):
        gate.wait(10)
        left.pop()
        if not left:
            ledger._writer._serve = write
        raise KeyboardInterrupt

    ledger._writer._serve = interrupted

    def work():
        try:
            outcomes.append(ledger.debit(TENTH, plan="p"))
        except BaseException as error:  # noqa: BLE001
            outcomes.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    while len(ledger._writer._queue._waiting) < 2:
        time.sleep(0.001)  # one writes, one leads and waits for it, two wait behind
    gate.set()
    [t.join(10) for t in threads]

    assert not any(t.is_alive() for t in threads)
    kinds = [type(o).__name__ for o in outcomes]
    assert kinds.count("KeyboardInterrupt") == times
    assert set(kinds) <= {"KeyboardInterrupt", "LedgerError", "Receipt"}
    assert ledger.debit(TENTH, plan="p").sequence >= 1


def in_the_queue(queue, moment, told):
    """Ask three times at once; interrupt the first at a moment. Return whether it was."""
    here, gate, left, failed = waiting.__file__, threading.Event(), [moment], []

    def profile(frame, event, _):
        if event in ("call", "c_return") and frame.f_code.co_filename == here:
            left[0] -= 1
            if not left[0]:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def serve(batch):
        gate.wait(10)
        for ticket in batch:
            ticket.value = "served"

    def ask(hook):
        sys.setprofile(hook)
        try:
            told.append(queue.submit(waiting.Ticket(None), serve))
        except (KeyboardInterrupt, LedgerError) as error:
            failed.append(error)
        finally:
            sys.setprofile(None)

    threads = [threading.Thread(target=ask, args=(h,)) for h in (profile, None, None)]
    for thread in threads:
        thread.start()
        thread.join(0.002)
    gate.set()
    [t.join(10) for t in threads]
    assert not any(t.is_alive() for t in threads), f"hangs after moment {moment}"
    assert len(failed) + len(told) == 3
    assert told == ["served"] * len(told)
    told.clear()
    return left[0] <= 0


@pytest.mark.parametrize("busy", [False, True])
def test_an_interrupt_at_any_moment_of_the_queue_leaves_nobody_waiting(busy):
    """Who leads and who waits: whoever asks afterwards is served."""
    queue, moment, reached = waiting.Queue(), 1, True
    while reached:
        gate, first = threading.Event(), None
        if busy:  # so that the interrupted one waits and leads later
            first = threading.Thread(
                target=queue.submit,
                args=(waiting.Ticket(None), lambda _, gate=gate: gate.wait(10)),
            )
            first.start()
            threading.Timer(0.01, gate.set).start()
        reached = in_the_queue(queue, moment, [])
        if first:
            first.join(10)
        assert queue.leader is None
        assert not queue._waiting
        moment += 1
    assert moment > 10


@needs_fork
def test_a_killed_holder_gives_its_turn_away(book, path):
    """SIGKILL in the middle of a transaction: the next process goes on at once."""
    ledger = book(path)
    pid = os.fork()
    if pid == 0:
        ledger._writer.submit(lambda _: os.kill(os.getpid(), signal.SIGKILL))
    os.waitpid(pid, 0)

    began = time.monotonic()
    ledger.debit(TENTH, plan="p")

    assert time.monotonic() - began < 5
    assert verify(path).sound


@needs_fork
def test_a_stopped_process_delays_the_others_and_spoils_nothing(book, path):
    """SIGSTOP at random moments, also while it holds the turn; SIGCONT lets all go on."""
    ledger = book(path, cap="1000")
    ledger.debit(HUNDREDTH, plan="p")
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        while True:
            ledger.debit(HUNDREDTH, plan="p")
    dice, done = random.Random(4), []

    def work():
        done.append(ledger.debit(HUNDREDTH, plan="p"))

    try:
        for _ in range(25):
            time.sleep(dice.random() * 0.01)
            os.kill(pid, signal.SIGSTOP)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(0.05)
            os.kill(pid, signal.SIGCONT)
            thread.join(60)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    overview = show(path)
    assert len(done) == 25
    assert len({receipt.sequence for receipt in done}) == 25
    assert overview.budgets[0].spent == overview.debits * HUNDREDTH.units
    assert verify(path).sound


def test_a_clock_that_goes_back_changes_nothing(book, path, monkeypatch):
    """Times in the ledger are told, not relied on: neither order nor anchor needs them."""
    book(path).debit(TENTH, plan="p")
    gc.collect()
    past, nanoseconds = time.time() - 10**8, time.time_ns() - 10**17
    monkeypatch.setattr(time, "time", lambda: past)
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds)
    ledger = book(path)
    ledger.debit(TENTH, plan="p")

    assert str(ledger.spent) == "0.2"
    del ledger
    gc.collect()
    monkeypatch.undo()
    assert str(book(path).spent) == "0.2"
    assert verify(path).sound
