"""The same ledger in PostgreSQL, on a private server that the tests start."""

import gc
import itertools
import multiprocessing
import os
import random
import signal
import subprocess
import threading
import time

import cluster
import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import (
    Answered,
    Blocks,
    Declared,
    Ledger,
    Limit,
    export,
    reconcile,
    show,
    verify,
)

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
TENTH, HUNDREDTH = Epsilon("0.1"), Epsilon("0.01")
_numbers = itertools.count()


@pytest.fixture(scope="module")
def server():
    """A running server: its socket folder, its programs, and its start."""
    settings = "max_connections=60", "recovery_init_sync_method=syncfs"
    with cluster.server(*settings) as found:
        yield found


@pytest.fixture
def url(server):
    """The address of a database without a ledger."""
    address = f"postgresql://owner@/postgres?host={server[0]}"
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("DROP SCHEMA IF EXISTS sfumato CASCADE")
    # Another address, so that no test meets another's writer.
    yield f"{address}&application_name=t{next(_numbers)}"
    gc.collect()


@pytest.fixture(autouse=True)
def states(tmp_path_factory, monkeypatch):
    """A place of its own for what this machine remembers."""
    folder = tmp_path_factory.mktemp("states")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "sfumato" / "anchors"


def sql(url, *statements):
    """Run SQL behind the program's back."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SET search_path = sfumato")
        for statement in statements:
            db.execute(statement)


def test_one_unit_and_no_budget_of_a_table(url):
    """The unit and the tables of a first opening are kept and compared here too."""
    visits = Declared("person by 'id', add_remove", ("labs", "100%"))
    same = {"dataset": "visits", "cap": TENTH}
    Ledger(url, **same, declared=visits)

    with pytest.raises(LedgerError, match="not per row"):
        Ledger(url, **same, declared=Declared("row, add_remove"))
    for name in visits.tables:
        with pytest.raises(LedgerError, match="table of dataset 'visits'"):
            Ledger(url, dataset=name, cap=TENTH)

    more = Declared("person by 'id', add_remove", ("labs", "drugs"))
    Ledger(url, **same, declared=more)
    with pytest.raises(LedgerError, match="table of dataset 'visits'"):
        Ledger(url, dataset="drugs", cap=TENTH)

    assert [b.dataset for b in Ledger(url, **same).balances()] == ["visits"]
    assert verify(url).sound


def test_debits_receipts_and_refusals(book, url):
    """Ten tenths fit exactly, another object continues, verify is content."""
    receipts = [book(url).debit(TENTH, plan="p") for _ in range(10)]

    assert [r.sequence for r in receipts] == list(range(1, 11))
    with pytest.raises(BudgetExceededError):
        book(url).debit(Epsilon("1e-12"), plan="p")
    assert verify(url, receipt=receipts[4]).sound
    assert len(list(export(url))) == show(url).entries == 11
    with pytest.raises(LedgerError, match="records a budget of 1 for 'pima', not 2"):
        book(url, cap="2")


def test_requests_are_replayed(book, url):
    """Stored bytes come back; a lost answer burns the request."""
    ledger = book(url)
    ledger.answer(ledger.debit(TENTH, plan="p", request_key="k"), b"\x00\xff bytes")
    ledger.debit(TENTH, plan="p", request_key="lost")

    again = book(url).debit(TENTH, plan="p", request_key="k")

    assert isinstance(again, Answered)
    assert again.content == b"\x00\xff bytes"
    with pytest.raises(LedgerError, match="its answer is not stored"):
        ledger.debit(TENTH, plan="p", request_key="lost")
    assert verify(url).sound


def test_limits_and_blocks(book, url):
    """All budgets of a debit are charged, or none."""
    ledger = book(
        url,
        limits=[Limit("analyst", "alice", Epsilon("0.9"))],
        blocks=Blocks("quarter", ("q1", "q2")),
    )
    ledger.debit(Epsilon("0.2"), plan="p")
    ledger.debit(Epsilon("0.5"), plan="p", blocks=["q1"])
    before = ledger.balances()
    for blocks in ((), ["q2"]):
        with pytest.raises(BudgetExceededError, match="alice"):
            ledger.debit(Epsilon("0.3"), plan="p", blocks=blocks)

    assert ledger.balances() == before
    assert str(ledger.spent) == "0.7"
    assert verify(url).sound


def spend_all(url):
    """Debit until refused; return how often it worked."""
    ledger, done = Ledger(url, dataset="pima", cap=Epsilon("1")), 0
    while True:
        try:
            ledger.debit(HUNDREDTH, plan="p")
        except BudgetExceededError:
            return done
        done += 1


def test_bc057_processes_and_threads_get_exactly_what_fits(url):
    """Four processes that create the ledger at the same moment: 100 answers."""
    with multiprocessing.get_context("fork").Pool(4) as pool:
        done = pool.map(spend_all, [url] * 4, chunksize=1)
    assert sum(done) == 100

    ledger, answers = Ledger(url, dataset="other", cap=Epsilon("1")), []

    def work():
        try:
            while True:
                answers.append(ledger.debit(HUNDREDTH, plan="p"))
        except BudgetExceededError:
            pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(answers) == 100
    assert verify(url).sound


def test_a_fork_shares_the_database(book, url):
    """The child opens a connection of its own; the parent's goes on."""
    ledger = book(url)
    ledger.debit(TENTH, plan="p")
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = ledger.debit(Epsilon("0.6"), plan="p").spent != "0.7"
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("0.6"), plan="p")


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM entry", "UPDATE entry SET body = ''", "TRUNCATE entry",
     "TRUNCATE budget", "DELETE FROM budget", "UPDATE budget SET spent = 0, whole = 0",
     "UPDATE budget SET cap = cap * 2", "UPDATE budget SET spent = cap + 1",
     "UPDATE answer SET content = ''", "UPDATE ledger SET identity = 'x'",
     "INSERT INTO budget SELECT * FROM budget ON CONFLICT (id) DO UPDATE SET spent = 0"],
)  # fmt: skip
def test_history_cannot_be_edited(book, url, statement):
    """The database itself refuses refunds, deletions and larger caps."""
    book(url).debit(TENTH, plan="p")

    with pytest.raises(psycopg.Error, match=r"final|constraint"):
        sql(url, statement)
    assert verify(url).sound


def test_tampering_is_found(book, url):
    """Dropped or disabled triggers at opening; edited rows by the chain."""
    book(url).debit(TENTH, plan="p")
    gc.collect()
    sql(url, "ALTER TABLE budget DISABLE TRIGGER nothing_is_refunded",
        "UPDATE budget SET spent = 0, whole = 0")  # fmt: skip

    with pytest.raises(
        LedgerError, match="missing: CREATE TRIGGER nothing_is_refunded"
    ):
        book(url)
    assert len(verify(url).findings) == 2
    sql(url, "ALTER TABLE budget ENABLE TRIGGER nothing_is_refunded")
    with pytest.raises(LedgerError, match="tampered with: budget pima/dataset"):
        book(url)
    sql(url, "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN RETURN NEW; END $$")  # fmt: skip
    with pytest.raises(LedgerError, match="missing: CREATE TRIGGER"):
        book(url)


def restore(url):
    """Take the last debit out of a database, as a restored backup would."""
    sql(url, "SET session_replication_role = replica",
        "DELETE FROM entry WHERE place = 2",
        "UPDATE budget SET spent = 0, whole = 0",
        "SET session_replication_role = origin")  # fmt: skip


def test_a_restored_database_is_seen_though_no_anchor_was_named(book, url, states):
    """Each machine remembers by itself, whoever asks; a new one begins with what it sees."""
    book(url).debit(Epsilon("0.6"), plan="p")
    (anchor,) = states.iterdir()
    gc.collect()
    restore(url)

    with pytest.raises(LedgerError, match="ends at entry 1, its anchor at 2"):
        book(f"{url}&connect_timeout=9")
    assert not verify(url).sound
    reconcile(url, operator="o")
    assert str(book(url).spent) == "0.6"
    gc.collect()
    anchor.unlink()  # as on another machine
    assert verify(url).sound
    assert not anchor.exists()  # looking begins nothing
    assert str(book(url).spent) == "0.6"
    assert anchor.exists()
    assert verify(url).sound


def test_a_database_begun_anew_is_seen(book, url):
    """A schema that was dropped does not come back with a fresh budget."""
    book(url).debit(Epsilon("0.6"), plan="p")
    gc.collect()
    sql(url, "DROP SCHEMA sfumato CASCADE")

    with pytest.raises(LedgerError, match="the ledger of the anchor"):
        book(url)


def test_without_a_place_to_remember_nothing_is_spent(book, url, states):
    """A home that cannot be written: refused, with the way out."""
    book(url)
    gc.collect()
    (anchor,) = states.iterdir()
    anchor.unlink()
    states.rmdir()
    states.write_text("no folder")

    with pytest.raises(LedgerError, match="cannot be written") as caught:
        book(url)

    assert "anchor=" in caught.value.hint
    assert str(show(url).budgets[0].amounts(0, 0)) == "0"


def test_an_anchor_on_this_machine_sees_a_restored_database(book, url, tmp_path):
    """Without an anchor a restore is a refund; with one it is refused and reconciled."""
    anchor = tmp_path / "pg.anchor"
    book(url, anchor=anchor).debit(Epsilon("0.6"), plan="p")
    gc.collect()
    restore(url)

    with pytest.raises(LedgerError, match="ends at entry 1, its anchor at 2"):
        book(url, anchor=anchor)
    assert str(book(url).spent) == "0"
    gc.collect()
    reconcile(url, operator="o", anchor=anchor)

    assert str(book(url, anchor=anchor).spent) == "0.6"
    assert verify(url, anchor=anchor).sound


def test_a_crash_of_the_server_loses_no_debit(book, url, server):
    """Every receipt given before an immediate stop is in the ledger afterwards."""
    _, run, start = server
    ledger = book(url)
    receipts = [ledger.debit(HUNDREDTH, plan="p") for _ in range(20)]
    run("pg_ctl", "-m", "immediate", "-w", "stop")

    with pytest.raises(LedgerError, match="cannot be used"):
        ledger.debit(HUNDREDTH, plan="p")
    start()

    assert ledger.debit(HUNDREDTH, plan="p").sequence == 21
    assert all(verify(url, receipt=r).sound for r in receipts[::7])


def test_killed_clients_lose_nothing(url, tmp_path):
    """SIGKILL in the middle of debits: what a client was told is in the ledger."""

    def work(name):
        ledger = Ledger(url, dataset="pima", cap=Epsilon("1000"))
        with open(name, "a", buffering=1) as told:  # noqa: PTH123
            while True:
                told.write(f"{ledger.debit(HUNDREDTH, plan='p').head}\n")

    context = multiprocessing.get_context("fork")
    for i in range(6):
        workers = [context.Process(target=work, args=(tmp_path / f"{i}-{j}",)) for j in range(3)]  # fmt: skip
        [w.start() for w in workers]
        workers[0].join(0.25 + i * 0.03)
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
            worker.join()

    told = {
        h
        for f in tmp_path.iterdir()
        for h in f.read_text().splitlines()
        if len(h) == 64
    }
    kept = {line.rpartition('"hash":"')[2][:64] for line in export(url)}
    assert told
    assert told <= kept
    assert verify(url).sound


CUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"""


def test_connections_that_are_cut_lose_nothing(book, url):
    """Cut at random moments under four threads: what was told stands, what was not
    told may; nothing but ledger errors reaches a caller."""
    ledger, told, odd = book(url, cap="1000"), [], []
    stop, refused = threading.Event(), []

    def work():
        while not stop.is_set():
            try:
                told.append(ledger.debit(HUNDREDTH, plan="p").head)
            except LedgerError as error:
                refused.append(error)
            except BaseException as error:  # noqa: BLE001
                odd.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    dice = random.Random(1)
    with psycopg.connect(url, autocommit=True) as db:
        for _ in range(60):
            time.sleep(dice.random() * 0.05)
            db.execute(CUT)
    stop.set()
    [t.join() for t in threads]
    overview, kept = show(url), "".join(export(url))

    assert told and refused and not odd
    assert all(head in kept for head in told)
    assert len(told) <= overview.debits <= len(told) + len(refused)
    assert overview.budgets[0].spent == overview.debits * HUNDREDTH.units
    assert verify(url).sound


def test_a_dump_that_is_restored_is_a_refund_and_refused(book, url, server):
    """pg_dump, three debits more, and psql: refused, then reconciled upward."""
    home, programs = server[0], cluster.binaries()
    ledger = book(url)
    ledger.debit(TENTH, plan="p")
    who = "-h", str(home), "-U", "owner"
    dump = subprocess.run(
        [programs / "pg_dump", *who, "-n", "sfumato", "postgres"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for _ in range(3):
        ledger.debit(TENTH, plan="p")
    sql(url, "DROP SCHEMA sfumato CASCADE")
    subprocess.run(
        [programs / "psql", *who, "-q", "-v", "ON_ERROR_STOP=1", "postgres"],
        input=dump, capture_output=True, text=True, check=True,
    )  # fmt: skip

    for address in (url, f"{url}&connect_timeout=9"):
        with pytest.raises(LedgerError, match="ends at entry 2, its anchor at 5"):
            book(address).debit(TENTH, plan="p")
    gc.collect()
    reconcile(url, operator="o")
    assert str(book(url).spent) == "0.4"
    assert verify(url).sound


def test_other_databases_and_no_server(book, url):
    """A foreign schema of our name is left as it is; no answer is a clear error."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA sfumato")
    with pytest.raises(LedgerError, match="not a sfumato ledger of version"):
        book(url)
    with pytest.raises(LedgerError, match="cannot be used") as refused:
        book("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(refused.value)
