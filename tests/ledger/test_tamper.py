"""What was changed behind the program's back is refused or found."""

import gc
import hashlib
import json

import pytest

from sfumato.account import Epsilon
from sfumato.errors import LedgerError
from sfumato.ledger import export, verify

TENTH = Epsilon("0.1")


@pytest.fixture
def ledger(book, path):
    """The path of a closed ledger with an opening, five debits and an answer."""
    open_ = book(path)
    receipts = [open_.debit(TENTH, plan=f"p{i}", request_key=f"k{i}") for i in range(5)]
    open_.answer(receipts[0], b"answer")
    del open_
    gc.collect()
    return path


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM entry", "UPDATE entry SET body = ''", "DELETE FROM budget",
     "UPDATE budget SET spent = 0", "UPDATE budget SET cap = cap * 2",
     "UPDATE budget SET spent = cap + 1", "UPDATE budget SET whole = 0",
     "UPDATE budget SET dataset = 'other'", "DELETE FROM answer",
     "UPDATE answer SET content = x'00'", "DELETE FROM ledger",
     "UPDATE ledger SET identity = 'x'",
     ("INSERT OR REPLACE INTO budget SELECT id, dataset, kind, name, label, measure,"
     " cap, delta_cap, 0, 0, 0, 0 FROM budget"),
     ("INSERT OR REPLACE INTO budget SELECT 99, dataset, kind, name, label, measure,"
     " cap, delta_cap, 0, 0, 0, 0 FROM budget"),
     "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE place = 3",
     ("INSERT OR REPLACE INTO entry SELECT 99, kind, dataset, debits, 'x', body, hash"
     " FROM entry WHERE place = 3"),
     ("INSERT OR REPLACE INTO entry SELECT 99, 'open', dataset, debits, request, body,"
     " hash FROM entry WHERE place = 3"),
     "INSERT OR REPLACE INTO answer VALUES (1, x'00')",
     "INSERT INTO ledger VALUES ('x', 2)"],
)  # fmt: skip
def test_history_cannot_be_edited(ledger, raw, statement):
    """The database itself refuses refunds, deletions, replacements, larger caps."""
    with pytest.raises(
        Exception, match=r"cannot be|are only added|refunded|constraint"
    ):
        raw(ledger, statement)

    assert verify(ledger).sound


def edited(body, **changes):
    """Return the SQL that changes fields of an entry and makes its hash fit again."""
    text = json.dumps(
        {**json.loads(body), **changes}, sort_keys=True, separators=(",", ":")
    )
    return text, hashlib.sha256(text.encode()).hexdigest()


def test_an_edited_row_is_found(ledger, without_trigger, book):
    """A cheaper debit no longer fits its hash."""
    without_trigger(
        ledger, "entry_is_final",
        "UPDATE entry SET body = replace(body, '\"units\":100000000000', '\"units\":1') WHERE place = 3",
    )  # fmt: skip

    found = [f.say() for f in verify(ledger).findings]

    assert "entry 3: was changed: its hash does not fit" in found
    kept = []  # as long as an error lives, so does what was opened
    for _ in range(2):
        with pytest.raises(LedgerError, match="tampered with: entry 3") as refused:
            book(ledger)
        kept.append(refused)


def test_a_new_hash_breaks_the_next_link(ledger, raw, without_trigger, book):
    """Whoever also writes the hash anew must rewrite all that follows."""
    ((body,),) = raw(ledger, "SELECT body FROM entry WHERE place = 3")[0]
    text, hash_ = edited(body, units=1)
    without_trigger(
        ledger, "entry_is_final",
        f"UPDATE entry SET body = '{text}', hash = '{hash_}' WHERE place = 3",
    )  # fmt: skip

    found = [f.say() for f in verify(ledger).findings]

    assert "entry 4: does not follow the one before it" in found
    assert any("states another balance" in f for f in found)
    with pytest.raises(LedgerError, match="tampered with"):
        book(ledger)


def test_a_whole_rewrite_disagrees_with_the_anchor(ledger, raw, without_trigger, book):
    """A chain that was computed anew to its end no longer holds the anchor's entry."""
    rows = raw(ledger, "SELECT place, body FROM entry ORDER BY place")[0]
    previous, updates = json.loads(rows[0][1])["previous"], []
    for place, body in rows:
        change = {"previous": previous}
        if place == 3:
            change["plan"] = "other"
        text, previous = edited(body, **change)
        updates.append(
            f"UPDATE entry SET body = '{text}', hash = '{previous}' WHERE place = {place}"
        )
    without_trigger(ledger, "entry_is_final", *updates)

    found = [f.say() for f in verify(ledger).findings]

    assert found == ["anchor at entry 3: names another entry"]
    with pytest.raises(LedgerError, match="is not the one its anchor names"):
        book(ledger)


def test_an_edited_balance_is_found(ledger, without_trigger, book):
    """A refund behind the triggers' back is not what the entries give."""
    without_trigger(
        ledger, "nothing_is_refunded", "UPDATE budget SET spent = 0, whole = 0"
    )

    assert [f.say() for f in verify(ledger).findings] == [
        "budget pima/dataset: is not what the entries give"
    ]
    with pytest.raises(LedgerError, match="tampered with: budget pima/dataset"):
        book(ledger)


def test_a_larger_cap_is_found(ledger, without_trigger):
    """Caps stand in the chain as well."""
    without_trigger(ledger, "nothing_is_refunded", "UPDATE budget SET cap = 5 * cap")

    assert not verify(ledger).sound


@pytest.mark.parametrize("trigger", ["entry_stays", "nothing_is_refunded", "answer_is_final", "budget_is_added"])  # fmt: skip
def test_a_dropped_trigger_is_found(ledger, raw, book, trigger):
    """The schema is compared word for word, at each opening and by verify."""
    raw(ledger, f"DROP TRIGGER {trigger}")

    assert [f.say() for f in verify(ledger).findings] == [
        f"database: missing: CREATE TRIGGER {trigger} BEFORE"
    ]
    with pytest.raises(LedgerError, match="is damaged: missing: CREATE TRIGGER"):
        book(ledger)


def test_an_added_trigger_is_found(ledger, raw, book):
    """A trigger that lies about rows is no part of a ledger."""
    raw(ledger, "CREATE TRIGGER mine AFTER INSERT ON entry BEGIN SELECT 1; END")

    with pytest.raises(LedgerError, match="not ours: CREATE TRIGGER mine"):
        book(ledger)


def test_a_cut_tail_is_found_by_the_anchor_alone(ledger, without_trigger, book):
    """The chain without its end is a sound chain; only the anchor knows better."""
    without_trigger(ledger, "entry_stays", "DELETE FROM entry WHERE place >= 6")
    without_trigger(ledger, "answer_stays", "DELETE FROM answer")
    without_trigger(
        ledger, "nothing_is_refunded",
        "UPDATE budget SET spent = 4 * 100000000000, whole = 4 * 100000000000",
    )  # fmt: skip

    assert [f.say() for f in verify(ledger).findings] == [
        "anchor at entry 6: is ahead: the end is missing"
    ]
    with pytest.raises(LedgerError, match="ends at entry 5, its anchor at 7"):
        book(ledger)


@pytest.mark.parametrize(
    ("change", "fault"),
    [("UPDATE answer SET content = x'00'", "was changed: its hash does not fit"),
     ("DELETE FROM answer", "is missing")],
)  # fmt: skip
def test_a_changed_answer_is_found(ledger, without_trigger, change, fault):
    """Stored releases are covered by the chain."""
    trigger = "answer_is_final" if "UPDATE" in change else "answer_stays"
    without_trigger(ledger, trigger, change)

    assert [f.say() for f in verify(ledger).findings] == [f"answer 1: {fault}"]


def test_a_changed_answer_is_not_handed_out(ledger, without_trigger, raw, book):
    """Asked again under its key: what is told is what the chain promised, or nothing."""
    assert book(ledger).debit(TENTH, plan="p0", request_key="k0").content == b"answer"
    gc.collect()
    without_trigger(ledger, "answer_is_final", "UPDATE answer SET content = x'00'")
    raw(ledger, "INSERT INTO answer VALUES (2, x'00')")
    open_ = book(ledger)

    for number in (0, 1):
        with pytest.raises(LedgerError, match=f"answer {number + 1} was changed"):
            open_.debit(TENTH, plan=f"p{number}", request_key=f"k{number}")
    assert open_.left == Epsilon("0.5")


def test_an_invented_answer_is_found(ledger, raw):
    """An answer without an entry was stored by somebody else."""
    raw(ledger, "INSERT INTO answer VALUES (2, x'00')")

    assert [f.say() for f in verify(ledger).findings] == [
        "answer 2: has no entry in the chain"
    ]


def test_a_damaged_page_is_refused_and_kept(ledger, book):
    """Flipped bytes in the file: refused at opening, reported, never repaired."""
    content = bytearray(ledger.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096] ^= 0xFF  # the type of each page
    ledger.write_bytes(content)

    with pytest.raises(LedgerError):
        book(ledger)
    gc.collect()

    assert not verify(ledger).sound
    assert ledger.read_bytes() == bytes(content)


def test_every_flipped_byte_of_an_entry_is_found(ledger, raw, without_trigger):
    """No single character of any body can change unseen."""
    rows = raw(ledger, "SELECT place, length(body) FROM entry")[0]
    for place, length in rows:
        at = 1 + (place * 7919) % length
        ((old,),) = raw(ledger, f"SELECT body FROM entry WHERE place = {place}")[0]
        new = old[: at - 1] + chr(33 + (ord(old[at - 1]) - 32) % 90) + old[at:]
        without_trigger(
            ledger, "entry_is_final",
            f"UPDATE entry SET body = '{new.replace(chr(39), chr(39) * 2)}' WHERE place = {place}",
        )  # fmt: skip
        assert not verify(ledger).sound
        without_trigger(
            ledger, "entry_is_final",
            f"UPDATE entry SET body = '{old}' WHERE place = {place}",
        )  # fmt: skip
    assert verify(ledger).sound


def test_a_stranger_verifies_an_export(ledger):
    """Ten lines of Python, nothing of ours: the hashes link to the end."""
    previous = None
    for line in export(ledger):
        entry = json.loads(line)
        text = json.dumps(entry["body"], sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == entry["hash"]
        assert previous in (None, entry["body"]["previous"])
        previous = entry["hash"]

    assert previous == verify(ledger).head


def test_verify_needs_a_ledger(tmp_path):
    """Nothing is created by looking."""
    from sfumato.ledger import reconcile, show

    for look in (show, lambda p: list(export(p)), lambda p: reconcile(p, operator="o")):
        with pytest.raises(LedgerError, match=r"there is (no ledger at|neither)"):
            look(tmp_path / "none.ledger")

    assert [f.say() for f in verify(tmp_path / "none.ledger").findings] == [
        f"ledger: there is no ledger at {tmp_path / 'none.ledger'}"
    ]
    assert list(tmp_path.iterdir()) == []
