"""A release of united tables of rows says that a row in each of them is protected."""

from dataclasses import replace

import pytest

import sfumato as sf
from sfumato.release import from_json
from sfumato.release.promise import promise
from sfumato.report import page
from sfumato.words import speaker

SCHEMA = sf.Schema({"x": sf.Integer(0, 9)})


def table(**given):
    return sf.Dataset([{"x": i % 10} for i in range(100)], schema=SCHEMA, **given)


@pytest.fixture
def session():
    others = {"b": table(), "c": table()}
    return sf.Session(table(name="a", tables=others), budget=sf.ZCDP("9"))


@pytest.fixture
def united(session):
    rows = session.query().union(session.table("b"), session.table("c"))
    return rows.select(sf.count(), sf.mean("x"))


def test_the_claim_names_the_tables(united):
    """In words, in files and read back; a plan says it before."""
    plan = united.plan(rho="1")

    release = plan.release()

    said = promise(release.claim, speaker("en"))
    assert release.claim.tables == 3
    assert "protected unit: one row in each of 3 united tables" in said
    assert "add or remove up to one row in each of 3 united tables" in said
    assert "one row in each of 3 tables" in str(plan)
    assert from_json(release.to_json()) == release
    assert set(release.to_pandas()["united_tables"]) == {3}


def test_a_release_of_one_table_says_one_row(session):
    """As before, also where the dataset has other tables; nothing is written of them."""
    release = session.query().select(sf.count()).release(rho="1")

    assert release.claim.tables == 1
    assert "protected unit: one row;" in promise(release.claim, speaker("en"))
    assert "tables" not in release.to_dict()["claim"]
    assert "united_tables" not in release.to_pandas()


@pytest.mark.parametrize("loss", ["1", "0.5"])
def test_the_page_says_it_once_for_all_releases(session, united, loss):
    """Of a row in each of three tables, and of a row in one of them: the former holds."""
    one = session.query().select(sf.count()).release(rho="1")
    releases = [united.release(rho=loss), one]

    for order in (releases, releases[::-1]):
        told = page.to_html(order, lang="en")
        assert "up to one row, added or removed, in each of 3 united tables" in told
        assert "in each table: whoever has up to k rows in each" in told
        assert "whoever has k rows is protected" not in told


def test_the_words_of_a_person_stay(united):
    """Her rows are hers in all tables anyway."""
    claim = replace(united.release(rho="1").claim, unit="person")

    assert "one person" in promise(claim, speaker("en"))


def test_a_dataset_and_a_plan_say_it_too(session, united):
    """The budget of three tables pays for a row in each; people have all their rows."""
    said = "protected unit: one row in each of 3 tables; neighbours: add or remove up to one"
    who = sf.Unit("id", max_rows=1, max_groups=1)
    schema = sf.Schema({"x": sf.Integer(0, 9)}, who)
    rows = [{"id": i, "x": i % 10} for i in range(9)]
    inner = sf.Dataset(rows, schema=schema)
    people = sf.Dataset(rows, schema=schema, name="p", tables={"b": inner})

    assert said in session.describe().to_text(lang="en")
    assert said in united.plan(rho="1").explain().to_text(lang="en")
    alone = session.query().select(sf.count()).plan(rho="1").explain()
    assert "protected unit: one row; " in alone.to_text(lang="en")
    assert "one person" in sf.Session(people, budget="1").describe().to_text(lang="en")
