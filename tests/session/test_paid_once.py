"""Rows that were declared once are paid from one budget, whoever asks about them."""

import pytest

import sfumato as sf
from sfumato.declare.dataset import Dataset
from sfumato.errors import DeclarationError, LedgerError, SfumatoError
from sfumato.ledger import book, show
from sfumato.models.budget import ModelBudget
from sfumato.models.training import Order, Training
from sfumato.project import load
from sfumato.synth.linked import LinkedSynthesizer

WHO = sf.Unit("id", max_rows=1, max_groups=1)
LABS = sf.Schema({"y": sf.Boolean()}, unit=WHO)
VISITS = sf.Schema({"x": sf.Integer(0, 9)}, unit=WHO)
LAB_ROWS = [{"id": i, "y": i % 2 == 0} for i in range(40)]
VISIT_ROWS = [{"id": i, "x": i % 10} for i in range(40)]


def labs(**given):
    return sf.Dataset(LAB_ROWS, schema=LABS, **given)


def visits(table, name="visits", key="labs"):
    return sf.Dataset(VISIT_ROWS, schema=VISITS, name=name, tables={key: table})


def ask(session, epsilon="1"):
    return session.query().select(sf.count()).release(epsilon)


def test_a_table_of_a_dataset_has_no_name_of_its_own():
    """An explicit name promises a budget, which a table of a dataset does not have."""
    with pytest.raises(DeclarationError) as refused:
        visits(labs(name="labs"))

    assert "a budget of its own" in refused.value.fact
    assert "ledger.md" in str(refused.value.hint)
    assert visits(labs()).private.keys() == {"labs"}


def test_own_budget_first(tmp_path):
    """Who had a budget of her own is no table of another dataset afterwards."""
    ledger, shared = tmp_path / "l.ledger", labs()
    ask(sf.Session(shared, budget="1", ledger=ledger))

    with pytest.raises(DeclarationError, match="paid from the budget of 'table'"):
        sf.Session(visits(shared), budget="1", ledger=tmp_path / "other.ledger")

    assert not (tmp_path / "other.ledger").exists()


def test_nested_first(tmp_path):
    """Nor the other way round, nor as a table of two datasets, in any ledger."""
    shared, other = labs(), tmp_path / "other.ledger"
    whole = visits(shared)
    session = sf.Session(whole, budget="1", ledger=tmp_path / "l.ledger")
    session.table("labs").select(sf.count()).release("1")

    for again in (shared, visits(shared, name="visits2")):
        with pytest.raises(DeclarationError, match="paid from the budget of 'visits'"):
            sf.Session(again, budget="1", ledger=other)
    assert not other.exists()
    with pytest.raises(DeclarationError, match="budget of 'visits'"):
        LinkedSynthesizer().fit(whole, {"labs": shared}, budget="1", ledger=other)
    assert all(b.spent == 0 for b in show(other).budgets)
    assert sf.Session(whole, budget="1", ledger=tmp_path / "l.ledger").left.units == 0


def test_a_refused_dataset_stays_free():
    """A refusal binds none of the other tables."""
    shared, free = labs(), labs()
    sf.Session(shared, budget="1")
    whole = sf.Dataset(
        VISIT_ROWS, schema=VISITS, name="v", tables={"a": free, "b": shared}
    )

    with pytest.raises(DeclarationError):
        sf.Session(whole, budget="1")

    ask(sf.Session(free, budget="1"))


@pytest.mark.parametrize("key", ["labs", "LABS"])
def test_a_budget_in_the_ledger_is_not_passed_by(tmp_path, key):
    """Declared anew without a name, a table with a budget in the ledger is refused."""
    ledger = tmp_path / "l.ledger"
    own = sf.Session(labs(name="labs"), budget="1", ledger=ledger)
    ask(own)
    before = own.ledger.balances()

    with pytest.raises(LedgerError, match="a dataset of its own in this ledger"):
        sf.Session(visits(labs(), key=key), budget="1", ledger=ledger)

    assert own.ledger.balances() == before
    assert {b.dataset for b in show(ledger).budgets} == {"labs"}


def attack(shared, again, ledger):
    """Ask of the same rows twice, each time for all of a budget; return what they lost."""
    lost = ask(sf.Session(shared, budget="1", ledger=ledger)).claim.loss
    session = sf.Session(visits(again), budget="1", ledger=ledger)
    more = session.table("labs").select(sf.count()).release("1").claim.loss
    return int(lost) + int(more)


@pytest.mark.parametrize("fault", [(Dataset, "pay_from"), (book, "check_declared")])
def test_planted_faults_pay_twice(tmp_path, monkeypatch, fault):
    """Each of the two checks stops an attack that the other does not see."""
    shared = labs() if fault[1] == "pay_from" else labs(name="labs")
    again = shared if fault[1] == "pay_from" else labs()
    with pytest.raises(SfumatoError):
        attack(shared, again, tmp_path / "sound.ledger")

    monkeypatch.setattr(*fault, lambda *_: None)

    assert attack(shared, again, tmp_path / "faulty.ledger") == 2


def test_project_files_keep_the_rule(tmp_path):
    """`[[tables]]` has no budget of its own; one in the same ledger is not passed by."""
    own = sf.Session(labs(name="labs"), budget="1", ledger=tmp_path / "one.ledger")
    (tmp_path / "labs.csv").write_text("id,y\n1,true\n")
    (tmp_path / "visits.csv").write_text("id,x\n1,3\n")
    text = """
[data]
source = "visits.csv"
name = "visits"
[unit]
column = "id"
max_rows = 1
max_groups = 1
[columns]
x = { type = "integer", lower = 0, upper = 9 }
[[tables]]
name = "NAME"
source = "labs.csv"
columns = { y = { type = "boolean" } }
[budget]
epsilon = "1"
ledger = "one.ledger"
[[releases]]
name = "a"
rows = [{ table = "NAME" }]
statistics = [{ count = true }]
epsilon = "1"
"""
    said = {}
    for name in ("labs", "laboratory"):
        (tmp_path / "p.toml").write_text(text.replace("NAME", name))
        project = load(tmp_path / "p.toml")
        with pytest.raises(
            LedgerError, match="a dataset of its own in this ledger"
        ) as refused:
            sf.Session(project.dataset, project.budget, ledger=project.ledger)
        said[name] = refused.value.fact

    assert said["labs"] == said["laboratory"]  # by the name of its file
    assert own.spent.units == 0


def test_a_training_is_bound_too():
    """Models that are learned from a declared dataset pay from the same budget."""
    rows, columns = [{"x": i % 3, "y": i % 2} for i in range(40)], sf.Integer(0, 9)
    schema = sf.Schema({"x": columns, "y": sf.Boolean()})
    shared = sf.Dataset(rows, schema=schema)
    sf.Session(sf.Dataset(rows, schema=schema, name="v", tables={"t": shared}), "1")
    order = Order("LogisticRegression", "y", epsilon="1")
    budget = ModelBudget("1", dataset="labs")

    with pytest.raises(DeclarationError, match="paid from the budget of 'v'"):
        Training(shared, order, budget)

    assert budget.spent.units == 0
