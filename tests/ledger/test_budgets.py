"""Several budgets in one debit: the dataset's cap, limits below it, disjoint blocks."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.errors import BudgetExceededError, DeclarationError, LedgerError
from sfumato.ledger import Blocks, Ledger, Limit, verify
from sfumato.ledger.amounts import Amounts
from sfumato.ledger.balances import charge

ALICE, BOB = (Limit("analyst", n, Epsilon("0.7")) for n in ("alice", "bob"))
HEART = Limit("project", "heart", Epsilon("0.3"))
QUARTERS = Blocks("quarter", ("q1", "q2", "q3"))


@dataclass(frozen=True)
class Rho:
    """A stand-in for a concentrated loss with δ, as `account` makes them."""

    measure: ClassVar[str] = "zcdp"
    units: int
    delta_units: int = 0

    @classmethod
    def from_units(cls, units, delta_units=0):
        return cls(units, delta_units)


def test_the_dataset_cap_holds_against_analysts_together(book, path):
    """Two limits of 0.7 may exceed 1 in sum; what both spend may not."""
    alice, bob = book(path, limits=[ALICE]), book(path, limits=[BOB])

    alice.debit(Epsilon("0.6"), plan="p")
    with pytest.raises(BudgetExceededError, match=r"0.5 was asked, 0.4 of 1 is left"):
        bob.debit(Epsilon("0.5"), plan="p")
    bob.debit(Epsilon("0.4"), plan="p")

    assert alice.left.units == bob.left.units == 0


def test_a_limit_holds_below_the_dataset(book):
    """Alice's 0.7 are spent although the dataset has more."""
    ledger = book(limits=[ALICE, HEART])

    with pytest.raises(
        BudgetExceededError, match=r"0.3 of 0.3 is left to project 'heart'"
    ):
        ledger.debit(Epsilon("0.4"), plan="p")
    ledger.debit(Epsilon("0.3"), plan="p")

    assert {b.name: b.spent for b in ledger.balances()} == {
        "": 3 * 10**11, "alice": 3 * 10**11, "heart": 3 * 10**11
    }  # fmt: skip


def test_all_budgets_are_charged_or_none(book, path):
    """The refusal of the last budget takes back what the first were charged."""
    ledger = book(
        path, cap="0.5", limits=[ALICE, Limit("project", "z", Epsilon("0.5"))]
    )
    ledger.debit(Epsilon("0.3"), plan="p")
    before = ledger.balances()

    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("0.3"), plan="p")

    assert ledger.balances() == before
    assert verify(path).sound


def test_blocks_stand_beside_each_other(book, path):
    """Disjoint quarters each have the whole budget; the dataset has spent the largest."""
    ledger = book(path, blocks=QUARTERS)
    ledger.debit(Epsilon("0.2"), plan="p")
    ledger.debit(Epsilon("0.5"), plan="p", blocks=["q1"])
    ledger.debit(Epsilon("0.7"), plan="p", blocks=["q2"])

    assert str(ledger.spent) == "0.9"
    with pytest.raises(BudgetExceededError, match=r"0.3 of 1 is left to block 'q1'"):
        ledger.debit(Epsilon("0.4"), plan="p", blocks=["q3", "q1"])
    ledger.debit(Epsilon("0.3"), plan="p", blocks=["q1", "q3", "q1"])
    with pytest.raises(BudgetExceededError):
        ledger.debit(Epsilon("0.1"), plan="p")
    ledger.debit(Epsilon("0.5"), plan="p", blocks=["q3"])
    assert verify(path).sound


def test_a_later_block_begins_with_what_all_spent(book, path):
    """A new quarter was touched by every debit on the whole dataset."""
    book(path, blocks=QUARTERS).debit(Epsilon("0.9"), plan="p")

    later = book(path, blocks=Blocks("quarter", ("q4",)))

    with pytest.raises(BudgetExceededError, match=r"0.1 of 1 is left"):
        later.debit(Epsilon("0.2"), plan="p", blocks=["q4"])


def test_a_dataset_is_cut_in_one_way(book, path):
    """Blocks by quarter and blocks by clinic overlap; the second way is refused."""
    book(path, blocks=QUARTERS)

    with pytest.raises(
        LedgerError, match="is cut into blocks by 'quarter', not by 'clinic'"
    ):
        book(path, blocks=Blocks("clinic", ("north",)))


def test_a_mistyped_block_or_limit_is_no_new_budget(book):
    """A name that was not declared is refused."""
    ledger = book(blocks=QUARTERS)

    with pytest.raises(LedgerError, match="has no block 'Q1'"):
        ledger.debit(Epsilon("0.1"), plan="p", blocks=["Q1"])

    assert ledger.spent.units == 0


def test_one_budget_has_one_currency(book, path):
    """ρ is not paid from ε, nor is a budget opened again in another currency."""
    ledger = book(path)

    with pytest.raises(LedgerError, match="kept in epsilon, not in rho"):
        ledger.debit(Rho(10), plan="p")
    with pytest.raises(
        LedgerError, match="a budget of epsilon 1 for 'pima', not rho 1"
    ):
        Ledger(path, dataset="pima", cap=Rho(10**12))
    with pytest.raises(LedgerError, match="in rho, its limits in epsilon"):
        Ledger(path, dataset="other", cap=Rho(10**12), limits=[ALICE])


def test_rho_and_delta_have_caps_of_their_own(path):
    """An approximate debit needs room in both; it takes from both or neither."""
    ledger = Ledger(path, dataset="pima", cap=Rho(100, 10))
    ledger.debit(Rho(60, 4), plan="p")

    with pytest.raises(BudgetExceededError, match="delta"):
        ledger.debit(Rho(10, 7), plan="p")
    with pytest.raises(BudgetExceededError):
        ledger.debit(Rho(50, 1), plan="p")
    ledger.debit(Rho(40, 6), plan="p")

    assert (ledger.spent, ledger.left) == (Rho(100, 10), Rho(0, 0))
    assert verify(path).sound


def test_the_largest_budget_is_exact(path):
    """2^62 units are counted one by one, and no sum wraps."""
    ledger = Ledger(path, dataset="pima", cap=Epsilon.from_units(2**62))
    ledger.debit(Epsilon.from_units(2**62 - 1), plan="p")

    for units in (2, 2**62, 2**63, 2**80):
        with pytest.raises(BudgetExceededError):
            ledger.debit(Epsilon.from_units(units), plan="p")
    ledger.debit(Epsilon.from_units(1), plan="p")

    assert ledger.left.units == 0
    with pytest.raises(DeclarationError):
        Ledger(None, dataset="pima", cap=Epsilon.from_units(2**62 + 1))


def test_bc055_the_order_of_queries_does_not_matter(tmp_path, book):
    """mean(a), sum(a), mean(b) in all six orders: a has spent 0.2, b 0.1."""
    from itertools import permutations

    spent = set()
    for i, order in enumerate(permutations(["a", "a", "b"])):
        path = tmp_path / f"{i}.ledger"
        books = {name: book(path, dataset=name) for name in "ab"}
        for name in order:
            books[name].debit(Epsilon("0.1"), plan="p")
        spent.add(tuple(str(books[name].spent) for name in "ab"))

    assert spent == {("0.2", "0.1")}


DEBITS = st.lists(
    st.tuples(
        st.integers(1, 40),
        st.integers(0, 4),
        st.lists(st.sampled_from(QUARTERS.names), max_size=3, unique=True),
    ),
    max_size=20,
)


@settings(max_examples=60, deadline=None)
@given(DEBITS)
def test_the_database_follows_the_rule(debits):
    """SQL and the plain rule agree on every debit; no person ever exceeds the cap."""
    limits = [Limit("analyst", "alice", Rho(90, 8))]
    ledger = Ledger(None, dataset="d", cap=Rho(100, 10), limits=limits, blocks=QUARTERS)
    books = {b.key: b for b in ledger.balances()}
    persons = dict.fromkeys(QUARTERS.names, (0, 0))
    for units, delta, blocks in debits:
        after = charge(
            books, "d", Amounts("zcdp", units, delta),
            limits=[("analyst", "alice")], blocks=blocks,
        )  # fmt: skip
        try:
            ledger.debit(Rho(units, delta), plan="p", blocks=blocks)
            paid = True
        except BudgetExceededError:
            paid = False

        assert paid == all(b.fits for b in after)
        if paid:
            books.update({b.key: b for b in after})
            for name in blocks or QUARTERS.names:
                rho, d = persons[name]
                persons[name] = rho + units, d + delta
        assert {b.key: b for b in ledger.balances()} == books
        top = books["d", "dataset", ""]
        assert all(r <= top.spent <= 100 and d <= top.delta_spent <= 10
                   for r, d in persons.values())  # fmt: skip
