"""Patients and their visits: keys, bounds, dependence, budgets, files."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.ledger import show
from sfumato.synth import LinkedSynthesis, LinkedSynthesizer, Synthesizer
from sfumato.testing import seeded

HEAD = {"sex": sf.Category(["F", "M"]), "age": sf.Integer(0, 99)}
TAIL = {"day": sf.Date("2024-01-01", "2024-12-31"), "pregnant": sf.Boolean()}
DRUG = {"drug": sf.Category(["a", "b", "c"])}


def unit(rows):
    """Return the people, of whom so many rows count fully."""
    return sf.Unit("patient_id", max_rows=rows, max_groups=1)


def tables(people=1500):
    """Return patients, visits (women more of them) and prescriptions of half of them."""
    rng = np.random.default_rng(0)
    patients, visits, drugs = [], [], []
    for i in range(people):
        woman, age = i % 2, int(rng.integers(15, 95))
        patients.append({"patient_id": i, "sex": "MF"[woman], "age": age})
        visits += [
            {"patient_id": i, "day": f"2024-{m:02d}-01", "pregnant": bool(woman and age < 45)}
            for m in rng.integers(1, 13, 3 if woman else 1)
        ]  # fmt: skip
        drugs += [{"patient_id": i, "drug": "abc"[age // 40]}] * (i % 3 == 0)
    return patients, visits, drugs


def datasets():
    """Return them as datasets."""
    patients, visits, drugs = tables()
    return (
        sf.Dataset(patients, schema=sf.Schema(HEAD, unit(1)), name="patients"),
        sf.Dataset(visits, schema=sf.Schema(TAIL, unit(4)), name="visits"),
        sf.Dataset(drugs, schema=sf.Schema(DRUG, unit(2)), name="drugs"),
    )


@pytest.fixture(scope="module")
def made():
    """Return three linked tables with little noise."""
    patients, visits, drugs = datasets()
    rules = [{"patients.sex": "M", "pregnant": True}]
    maker = LinkedSynthesizer(
        others={"visits": Synthesizer(forbid=rules, complete=["pregnant"])}
    )
    with seeded(5):
        return maker.fit(
            patients, {"visits": visits, "drugs": drugs}, budget=sf.Epsilon("60")
        )


def test_keys_agree_and_rows_per_person_are_bounded(made):
    """Every visit is of a patient that is there; nobody has more than was declared."""
    drawn = made.sample(800, seed=1)

    assert list(drawn) == ["patients", "visits", "drugs"]
    assert drawn["patients"].names == ("patient_id", "sex", "age")
    assert drawn["visits"].names == ("patient_id", "day", "pregnant")
    keys = drawn["patients"]["patient_id"]
    assert len(set(keys)) == len(keys) == 800
    for name, most in (("visits", 4), ("drugs", 2)):
        whose = drawn[name]["patient_id"]
        assert set(whose) <= set(keys)
        assert max(whose.count(k) for k in set(whose)) <= most


def test_dependence_goes_through_the_key(made):
    """How many visits, and what they are, depends on whose they are."""
    drawn = made.sample(1500, seed=2)
    sex = dict(zip(drawn["patients"]["patient_id"], drawn["patients"]["sex"]))
    age = dict(zip(drawn["patients"]["patient_id"], drawn["patients"]["age"]))
    whose = drawn["visits"]["patient_id"]

    visits = {s: [sex[k] for k in whose].count(s) for s in "FM"}
    people = {s: list(sex.values()).count(s) for s in "FM"}
    assert visits["F"] / people["F"] == pytest.approx(3, abs=0.4)
    assert visits["M"] / people["M"] == pytest.approx(1, abs=0.4)
    for key, pregnant in zip(whose, drawn["visits"]["pregnant"]):
        assert not (pregnant and sex[key] == "M")
    young = [
        p for k, p in zip(whose, drawn["visits"]["pregnant"])
        if sex[k] == "F" and age[k] is not None and age[k] < 40
    ]  # fmt: skip
    assert np.mean(young) > 0.8


def test_every_budget_pays_for_what_reads_its_rows(tmp_path):
    """The head's for all, another table's for the head and for itself."""
    patients, visits, drugs = datasets()
    book = tmp_path / "l.ledger"
    sessions = {
        d.name: sf.Session(d, sf.Epsilon("3"), ledger=book)
        for d in (patients, visits, drugs)
    }

    made = LinkedSynthesizer(weights={"visits": 2}).fit(
        sessions["patients"], {n: sessions[n] for n in ("visits", "drugs")}, "2"
    )

    assert [sessions[n].spent for n in sessions] == [
        sf.Epsilon("2"),
        sf.Epsilon("1.5"),
        sf.Epsilon("1"),
    ]
    assert "2" in made.cost
    losses = [sf.Epsilon(r.claim.loss).units for r in made.releases.values()]
    assert sum(losses) == sf.Epsilon("2").units
    assert {r.claim.unit for r in made.releases.values()} == {"person"}
    with pytest.raises(sf.BudgetExceededError, match="visits"):
        LinkedSynthesizer().fit(
            sf.Session(patients, sf.Epsilon("9")), {"visits": sessions["visits"]}, "5"
        )
    assert sessions["visits"].spent == sf.Epsilon("1.5")


def test_tables_of_one_name_are_paid_once(tmp_path):
    """All releases under one name share one budget: one debit for each table, no more."""
    patients, visits, drugs = tables()
    pairs = zip((patients, visits, drugs), (HEAD, TAIL, DRUG), (1, 4, 2), strict=True)
    head, *others = (
        sf.Dataset(rows, schema=sf.Schema(columns, unit(most)))
        for rows, columns, most in pairs
    )
    book, named = tmp_path / "l.ledger", dict(zip(("v", "d"), others, strict=True))

    made = LinkedSynthesizer().fit(head, named, budget=sf.Epsilon("2"), ledger=book)

    assert sf.Session(head, sf.Epsilon("2"), ledger=book).spent == sf.Epsilon("2")
    assert show(book).debits == len(made.names) == 3
    with pytest.raises(sf.BudgetExceededError):
        LinkedSynthesizer().fit(head, named, "1", budget=sf.Epsilon("2"), ledger=book)


def test_two_tables_of_one_budget_are_counted_together(tmp_path):
    """What both would pay is compared with what is left before the first debit."""
    patients, visits, _ = datasets()
    drugs = sf.Dataset(tables()[2], schema=sf.Schema(DRUG, unit(2)), name="visits")
    book = tmp_path / "l.ledger"
    head = sf.Session(patients, sf.Epsilon("9"), ledger=book)
    one, two = (sf.Session(d, sf.Epsilon("2.5"), ledger=book) for d in (visits, drugs))
    asked = {"visits": one, "drugs": two}

    with pytest.raises(sf.BudgetExceededError, match="would pay 3, and 2"):
        LinkedSynthesizer().fit(head, asked, "3")

    assert show(book).debits == 0
    LinkedSynthesizer().fit(head, asked, "2.5")
    assert one.spent == head.spent == sf.Epsilon("2.5")


def test_limits_are_looked_at_before_the_first_debit(tmp_path):
    """A limit that a later debit would pass refuses all of them; two sessions agree."""
    patients, visits, _ = datasets()
    book, cap = tmp_path / "l.ledger", sf.Epsilon("3")
    few = [sf.Limit("analyst", "wu", sf.Epsilon("1"))]
    head = sf.Session(patients, cap, ledger=book)
    one = sf.Session(visits, cap, ledger=book, limits=few)

    with pytest.raises(sf.BudgetExceededError, match="analyst"):
        LinkedSynthesizer().fit(head, {"visits": one}, "2")
    same = sf.Dataset(visits.source, schema=visits.schema, name="patients")
    other = sf.Session(same, cap, ledger=book, limits=few)
    with pytest.raises(sf.DeclarationError, match="different limits"):
        LinkedSynthesizer().fit(head, {"visits": other}, "1")

    assert show(book).debits == 0


def test_a_linked_model_is_known_as_one_of_its_tables():
    """As `public=` its loss is told beside the new one, for every table that it read."""
    patients, visits, _ = datasets()
    head, other = sf.Session(patients, "4"), sf.Session(visits, "4")
    made = LinkedSynthesizer(weights={"visits": 3}).fit(head, {"visits": other}, "2")

    told = {
        (session.dataset.name, name): [
            claim.loss
            for claim in Synthesizer().plan(session, "1", public=made[name]).start
        ]
        for session, name in ((other, "visits"), (head, "visits"), (head, "patients"))
    }

    assert told == {
        ("visits", "visits"): ["1.5"],
        ("patients", "visits"): ["1.5"],
        ("patients", "patients"): ["0.5"],
    }
    assert made.releases["patients"].budgets == ("patients", "visits")


def test_saved_and_read_back(made, tmp_path):
    """The same rows; a file of something else is refused."""
    made.save(tmp_path / "m.linked")

    read = LinkedSynthesis.load(tmp_path / "m.linked")

    one, two = made.sample(60, seed=3), read.sample(60, seed=3)
    assert {n: t.to_csv() for n, t in one.items()} == {
        n: t.to_csv() for n, t in two.items()
    }
    assert read.releases == made.releases
    assert read["patients"].release == made["patients"].release
    (tmp_path / "n.linked").write_bytes(b"PK nothing")
    with pytest.raises(sf.ArgumentError, match="no linked tables"):
        LinkedSynthesis.load(tmp_path / "n.linked")


def test_what_does_not_belong_together_is_refused():
    """Before any debit, with a hint."""
    patients, visits, drugs = datasets()
    rows = sf.Dataset([{"drug": "a"}], schema=sf.Schema(DRUG), name="rows")
    other = sf.Schema(DRUG, sf.Unit("pid", max_rows=2, max_groups=1))
    strange = sf.Dataset([{"pid": 1, "drug": "a"}], schema=other, name="strange")
    budget = sf.Epsilon("1")

    for others, words in (
        ({}, "one or two"),
        ({"a": visits, "b": drugs, "c": drugs}, "one or two"),
        ({"rows": rows}, "whose its rows are"),
        ({"strange": strange}, "another column"),
        ({"sex": visits}, "name of the head"),
    ):
        with pytest.raises(sf.DeclarationError, match=words) as caught:
            LinkedSynthesizer().fit(patients, others, budget=budget)
        assert caught.value.hint
    with pytest.raises(sf.DeclarationError, match="sessions, or datasets"):
        LinkedSynthesizer().fit(patients, {"visits": visits}, "1")
    with pytest.raises(sf.DeclarationError, match="unknown column"):
        LinkedSynthesizer(shared=["agee"]).fit(
            patients, {"visits": visits}, budget=budget
        )
    with pytest.raises(sf.DeclarationError, match="currencies"):
        LinkedSynthesizer().fit(
            sf.Session(patients, budget),
            {"visits": sf.Session(visits, sf.ZCDP("1"))},
            "1",
        )


def test_private_tables_of_one_dataset_are_paid_once():
    """Their one budget protects people with all their rows; unknown names are refused."""
    patients, visits, _ = tables()
    whole = sf.Dataset(
        patients, schema=sf.Schema(HEAD, unit(1)), name="patients",
        tables={"visits": sf.Dataset(visits, schema=sf.Schema(TAIL, unit(4)))},
    )  # fmt: skip
    session = sf.Session(whole, sf.Epsilon("3"))

    plan = LinkedSynthesizer(weights={"": 3}).plan(session, ["visits"], "2")
    made = plan.fit()

    assert session.spent == sf.Epsilon("2")
    losses = [r.claim.loss for r in made.releases.values()]
    assert losses == ["1.5", "0.5"]
    assert plan.names == made.names == ("patients", "visits")
    with pytest.raises(sf.DeclarationError, match="no private table"):
        LinkedSynthesizer().plan(session, ["visit"], "1")
    with pytest.raises(sf.BudgetExceededError, match="patients"):
        LinkedSynthesizer().plan(session, ["visits"], "1.5")
    assert session.spent == sf.Epsilon("2")


def test_what_is_left_out_is_told():
    """Names of people get new ones; other texts are named as lacking, in both languages."""
    patients, visits, _ = datasets()
    texts = sf.Schema({**HEAD, "street": sf.Text()}, unit(1))
    head = sf.Dataset(patients.source, schema=texts, name="patients")

    plan = LinkedSynthesizer().plan(head, {"visits": visits}, budget=sf.Epsilon("60"))

    said = plan.warnings(rows=10_000)
    assert any(t.startswith("patients: not made") and "'street'" in t for t in said)
    assert not any("not made" in t and "patient_id" in t for t in said)
    assert [t for t in said if "new names that mean" in t and "'patient_id'" in t]
    assert (
        str(plan).count("new names that mean") == 2 and str(plan)[:12] == "patients: ε "
    )
    assert repr(plan).startswith("<plan of patients, visits: ε ")
    assert plan.warnings(lang="zh")
