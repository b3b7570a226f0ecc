"""A request is charged once, answered once, and its answer is replayed byte for byte."""

import threading
from dataclasses import replace

import pytest

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, LedgerError
from sfumato.ledger import Answered, descriptors, show, verify
from sfumato.release import Receipt

TENTH = Epsilon("0.1")


def test_an_answered_request_is_replayed(book, path):
    """The same key and plan: the same bytes, another program or not, and no charge."""
    ledger = book(path)
    receipt = ledger.debit(TENTH, plan="p", request_key="k1")
    ledger.answer(receipt, b'{"x": 1}\n')

    for again in (ledger, book(path)):
        assert again.debit(TENTH, plan="p", request_key="k1") == Answered(
            receipt, b'{"x": 1}\n'
        )
    assert ledger.spent == TENTH


@pytest.mark.parametrize(("plan", "cost", "blocks"), [("q", "0.1", ()), ("p", "0.2", ()), ("p", "0.1", ["b"])])  # fmt: skip
def test_a_key_belongs_to_one_request(book, plan, cost, blocks):
    """Another plan, cost or block under the same key is refused and costs nothing."""
    from sfumato.ledger import Blocks

    ledger = book(blocks=Blocks("clinic", ("a", "b")))
    ledger.answer(ledger.debit(TENTH, plan="p", request_key="k"), b"x")

    with pytest.raises(LedgerError, match="was used for another request"):
        ledger.debit(Epsilon(cost), plan=plan, request_key="k", blocks=blocks)
    assert ledger.spent == TENTH


def test_another_analyst_does_not_get_the_answer(book, path):
    """A key is of no use to whoever is charged to another limit."""
    from sfumato.ledger import Limit

    alice, bob = (
        book(path, limits=[Limit("analyst", n, TENTH)]) for n in ("alice", "bob")
    )
    alice.answer(alice.debit(TENTH, plan="p", request_key="k"), b"x")

    with pytest.raises(LedgerError, match="was used for another request"):
        bob.debit(TENTH, plan="p", request_key="k")


def test_a_debit_without_answer_is_burned(book, path):
    """After a crash the charge stands and the request is never drawn again."""
    book(path).debit(TENTH, plan="p", request_key="k")

    with pytest.raises(LedgerError, match="was charged, but its answer is not stored"):
        book(path).debit(TENTH, plan="p", request_key="k")
    assert book(path).spent == TENTH
    assert isinstance(book(path).debit(TENTH, plan="p", request_key="k2"), Receipt)


def test_one_charge_pays_for_one_answer(book, path):
    """A second, different answer is refused; the same bytes may be stored again."""
    ledger = book(path)
    receipt = ledger.debit(TENTH, plan="p")
    ledger.answer(receipt, b"x")
    ledger.answer(receipt, b"x")

    with pytest.raises(LedgerError, match="answered already, with another answer"):
        ledger.answer(receipt, b"y")
    assert (show(path).debits, show(path).answers) == (1, 1)


def test_an_answer_needs_its_own_receipt(book, path):
    """A receipt of another ledger, number or dataset stores nothing."""
    ledger, other = book(path), book()
    receipt = ledger.debit(TENTH, plan="p")

    for wrong in (
        other.debit(TENTH, plan="p"),
        replace(receipt, sequence=2),
        replace(receipt, head="0" * 64),
    ):
        with pytest.raises(LedgerError, match="as this receipt states it"):
            ledger.answer(wrong, b"x")
    with pytest.raises(LedgerError, match="stored as bytes"):
        ledger.answer(receipt, "text")
    assert show(path).answers == 0


def test_racing_requests_of_one_key_are_charged_once(book, path):
    """Eight threads send the same request: one pays, seven are told to wait."""
    ledger, outcomes = book(path), []

    def ask():
        try:
            outcomes.append(ledger.debit(TENTH, plan="p", request_key="k"))
        except LedgerError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]

    assert sum(isinstance(o, Receipt) for o in outcomes) == 1
    assert ledger.spent == TENTH


def test_a_replay_is_free_when_nothing_is_left(book):
    """A spent budget still replays what it paid for."""
    ledger = book(cap="0.1")
    ledger.answer(ledger.debit(TENTH, plan="p", request_key="k"), b"x")

    assert ledger.debit(TENTH, plan="p", request_key="k").content == b"x"
    with pytest.raises(BudgetExceededError):
        ledger.debit(TENTH, plan="p", request_key="new")


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", "a\x00", "\ud800", 5])
def test_a_key_that_no_database_keeps_is_refused(book, key):
    """Control characters, half characters, nothing, too much."""
    with pytest.raises(LedgerError, match="a request key must be"):
        book().debit(TENTH, plan="p", request_key=key)


def test_descriptors_are_kept(book, path):
    """What a debit paid for can be read back, oldest first, per dataset."""
    text = '{"version":1,"mechanisms":[{"kind":"geometric","scale":"10"}]}'
    book(path).debit(TENTH, plan="p", descriptor=text)
    book(path, dataset="other").debit(TENTH, plan="p")

    both = descriptors(path)

    assert [m.descriptor for m in both] == [text, ""]
    assert descriptors(path, dataset="pima") == both[:1]
    assert (both[0].measure, both[0].units, both[0].debit) == ("epsilon", 10**11, 1)
    for wrong in ("[]", "{", "nonsense", '{"a": "é"}'):
        with pytest.raises(LedgerError, match="must be a JSON object"):
            book(path).debit(TENTH, plan="p", descriptor=wrong)


def test_a_receipt_is_found_by_a_stranger(book, path):
    """Whoever holds a release can check that the ledger still has its debit."""
    receipt = book(path).debit(TENTH, plan="p")

    assert verify(path, receipt=receipt).sound
    wrong = verify(path, receipt=replace(receipt, head="0" * 64))
    assert [f.say() for f in wrong.findings] == ["receipt 1: is not in this ledger"]
