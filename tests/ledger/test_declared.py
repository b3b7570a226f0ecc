"""One budget is spent in one unit, and pays for the tables it was opened with."""

import json

import pytest

import sfumato as sf
from sfumato.errors import LedgerError
from sfumato.ledger import Declared, Ledger, book, export, show, verify

ROWS = [{"id": i % 50, "x": i % 10} for i in range(200)]
ROW, SAME = sf.Rows(), sf.Rows(neighbours="replace_one", size=200)
FEW, MANY = (sf.Unit("id", max_rows=n, max_groups=1) for n in (1, 100))


def session(path, unit, name="d", **given):
    schema = sf.Schema({"x": sf.Integer(0, 9)}, unit=unit)
    data = sf.Dataset(ROWS, schema=schema, name=name, **given)
    return sf.Session(data, budget="3", ledger=path)


def ask(session):
    return session.query().select(sf.count()).release("1")


@pytest.mark.parametrize(("first", "then"), [(FEW, ROW), (ROW, FEW), (ROW, SAME)])
def test_another_unit_is_refused(path, first, then):
    """ε per person and ε per row are no sum; both are told, and nothing is spent."""
    ask(session(path, first))
    before = show(path)

    with pytest.raises(LedgerError, match=r"is spent per .*, not per ") as refused:
        session(path, then)

    assert refused.value.hint
    assert show(path) == before
    assert verify(path).sound


def test_the_same_unit_with_other_bounds_goes_on(path):
    """How many rows of a person count changes the noise, not whom the loss is about."""
    for unit in (FEW, MANY):
        ask(session(path, unit))

    assert session(path, FEW).spent == sf.Epsilon("2")


def test_the_unit_stands_in_the_chain(path):
    """A stranger reads it in the entry that opened the budget."""
    session(path, FEW)

    body = json.loads(next(export(path)))["body"]

    assert (body["kind"], body["unit"]) == ("open", "person by 'id', add_remove")


def test_ledgers_from_before_go_on(path):
    """A budget that was opened without a unit is used in any; it gets none."""
    Ledger(path, dataset="d", cap=sf.Epsilon("3"))

    for unit in (FEW, ROW):
        ask(session(path, unit))

    assert show(path).budgets[0].spent == sf.Epsilon("2").units


def test_models_may_say_their_unit(path):
    """So `sfumato train` does, for the project's dataset."""
    from sfumato.models.budget import ModelBudget

    ask(session(path, FEW))
    same = {"dataset": "d", "ledger": path}

    with pytest.raises(LedgerError):
        ModelBudget("3", **same, declared=Declared("row, add_remove"))

    ModelBudget("3", **same, declared=Declared("person by 'id', add_remove"))


@pytest.mark.parametrize("name", ["labs", "Labs"])
def test_tables_of_an_opened_budget_get_none_of_their_own(path, name):
    """Nested first, alone afterwards: the entry that opened the budget names them."""
    labs = sf.Dataset(ROWS, schema=sf.Schema({"x": sf.Integer(0, 9)}, unit=FEW))
    ask(session(path, FEW, tables={"labs": labs}))
    before = show(path)

    with pytest.raises(LedgerError, match="is a table of dataset 'd'"):
        session(path, FEW, name=name)

    assert show(path) == before
    ask(session(path, FEW, name="other"))


def labs():
    return sf.Dataset(ROWS, schema=sf.Schema({"x": sf.Integer(0, 9)}, unit=FEW))


@pytest.mark.parametrize("name", ["labs", "Labs"])
def test_tables_that_were_added_later_get_none_of_their_own(path, name):
    """Alone first, then with a table: another entry names it, once."""
    ask(session(path, FEW))
    for _ in range(2):
        ask(session(path, FEW, tables={"labs": labs()}))
    session(path, FEW)
    before, told = show(path), [json.loads(e)["body"] for e in export(path)]

    with pytest.raises(LedgerError, match="is a table of dataset 'd'"):
        session(path, FEW, name=name)

    assert show(path) == before
    assert [b["tables"] for b in told if "tables" in b] == [["labs"]]
    assert verify(path).sound
    session(path, FEW, tables={"labs": labs(), "drugs": labs()})
    with pytest.raises(LedgerError, match="is a table of dataset 'd'"):
        session(path, FEW, name="drugs")
    assert verify(path).sound


def test_a_table_that_has_a_budget_cannot_be_added(path):
    """Its people have lost from that one already."""
    for name in ("d", "labs"):
        ask(session(path, FEW, name=name))
    before = show(path)

    with pytest.raises(LedgerError, match="'labs' is a table of dataset 'd'"):
        session(path, FEW, tables={"labs": labs()})

    assert show(path) == before


def test_planted_fault_forgets_added_tables(path, monkeypatch):
    """Without the entry, the people of a table that was added lose from two budgets."""
    monkeypatch.setattr(book, "record_tables", lambda *_: None)

    ask(session(path, FEW))
    ask(session(path, FEW, tables={"labs": labs()}))

    ask(session(path, FEW, name="labs"))


def test_planted_fault_adds_units_up(path, monkeypatch):
    """Without the check one budget adds ε per person to ε per row."""
    monkeypatch.setattr(book, "check_declared", lambda *_: None)

    for unit in (FEW, ROW):
        ask(session(path, unit))

    assert session(path, ROW).spent == sf.Epsilon("2")
