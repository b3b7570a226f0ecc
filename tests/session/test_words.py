"""What a session and a plan say of themselves: public facts, in two forms."""

from dataclasses import fields

import pandas as pd
import pytest

import sfumato as sf
from sfumato.plan import bound

SCHEMA = sf.Schema({
    "Age": sf.Integer(0, 120, unit="years"),
    "Glucose": sf.Real(0, 250, step=1, missing=0, unit="mg/dL"),
    "<b>": sf.Category(list("abcdefghij")),
    "Smoker": sf.Boolean(),
    "Full": sf.Real(0, 1, complete=True),
})  # fmt: skip
SECRET = 113.4719
FRAME = pd.DataFrame({
    "Age": [33] * 40, "Glucose": [SECRET] * 40, "<b>": ["a"] * 40,
    "Smoker": [True] * 40, "Full": [0.5] * 40,
})  # fmt: skip


@pytest.fixture
def session():
    """A session that nothing was spent in."""
    return sf.Session(sf.Dataset(FRAME, schema=SCHEMA, name="t"), budget=1)


def test_a_description_holds_the_declarations_and_the_budget(session):
    """Bounds, keys, codes, units and what is left; read again it knows what was spent."""
    text = str(session.describe())
    for words in (
        "0 to 120",
        "mg/dL",
        "'a'",
        "and 2 more",
        "declared complete",
        "left ε 1",
    ):
        assert words in text
    session.query().select(sf.count()).release("0.25")

    after = session.describe()

    assert (after.spent, after.left) == ("epsilon 0.25", "epsilon 0.75")


def test_each_column_can_be_asked_what_is_said(session):
    """Every function that a description names makes a plan."""
    edges = {"edges": [0, 50, 100]}
    for column in session.describe().columns:
        for name in column.alone:
            more = edges if name in column.edged else {}
            more |= {"level": "0.5"} if name == "quantile" else {}
            more |= (
                {"key": "a"}
                if (name, column.kind) == ("proportion", "category")
                else {}
            )
            session.query().select(getattr(sf, name)(column.name, **more)).plan("0.1")
        for name in column.together:
            more = (
                {"edges": [0, 1]}
                if (name, column.bounds is None) == ("crosstab", False)
                else {}
            )
            other = "Smoker" if column.name != "Smoker" else "Age"
            if name == "crosstab" and other == "Age":
                more = {"other_edges": [0, 60]}
            ask = getattr(sf, name)(column.name, other, **more)
            session.query().select(ask).plan("0.1")
        if column.groups:
            session.query().group_by(column.name).select(sf.count()).plan("0.1")


def test_nothing_private_is_said(session):
    """No cell of the table stands in any form; nothing is spent by asking."""
    plan = session.query().select(sf.mean("Age"), sf.mode("<b>")).plan("0.5")
    forms = [str(session.describe()), session.describe()._repr_html_()]
    forms += [str(plan.explain()), plan.explain()._repr_html_(), repr(plan.explain())]
    for one in (session, session.dataset, SCHEMA, plan):
        forms += [str(one), repr(one), one._repr_html_()]

    assert not any(str(SECRET) in form for form in forms)
    assert str(session.left) == "1"


def test_a_name_cannot_act_in_a_notebook(session):
    """Names are shown as text."""
    plan = session.query().select(sf.histogram("<b>")).plan("0.5")

    shown = (session, session.dataset, SCHEMA, plan, session.describe(), plan.explain())
    for html in (one._repr_html_() for one in shown):
        assert "<b>'" not in html and "&lt;b&gt;" in html


def test_an_explanation_lists_every_part_once_and_shares_add_up(session):
    """Steps, sensitivities, laws, charges; and the statement, for columns as declared."""
    asked = (
        sf.count(),
        sf.mean("Age"),
        sf.median("Age"),
        sf.correlation("Age", "Glucose"),
    )
    plan = session.query().group_by("Smoker").select(*asked, sf.mode("<b>")).plan("0.5")

    told = plan.explain()

    assert len(told.measured) == len(plan.plan.parts)
    shares = {m.step: m.share for m in told.measured}
    assert sum(shares.values()) == pytest.approx(1)
    changes = [m.change for m in told.measured]
    parts = [plan.plan.parts[i].aggregate for s in plan.plan.steps for i in s.parts]
    assert changes == [bound(one) for one in parts]
    assert [e.name for e in told.expected] == [
        s.name for s in plan.plan.query.statistics
    ]
    assert told.engine == "duckdb" and told.sql["duckdb"].startswith("SELECT k0")
    assert told.sql["snowflake"].startswith("-- compiled, not run")
    assert set(told.sql) == {"duckdb", "postgres", "spark", "bigquery", "snowflake"}


def test_an_explanation_does_not_hang_on_the_rows():
    """It is free: neither how many there are, nor a missing cell, may show in it.

    An engine copies small tables in another form than it reads large ones, and pandas
    stores whole numbers as floats where one is missing.
    """
    schema = sf.Schema({"x": sf.Integer(0, 9), "y": sf.Integer(0, 9)})
    columns = [
        ([], "int64"), ([1], "int64"), ([1, None], "float64"), ([1] * 70_000, "int64")
    ]  # fmt: skip
    told = set()
    for cells, kind in columns:
        frame = pd.DataFrame({"x": pd.Series(cells, dtype=kind), "y": 1})
        data = sf.Dataset(frame, schema=schema, name="t")
        session = sf.Session(data, budget=1)
        asked = session.query().select(sf.mean("x"), sf.histogram("y", [0, 5, 9]))
        explained = asked.plan("0.5").explain()
        told.add((str(explained), repr(explained), tuple(explained.sql.items())))

    assert len(told) == 1


@pytest.mark.parametrize("loss", ["0.5", sf.ZCDP("0.01")])
def test_laws_are_named_in_both_currencies(loss):
    """Gaussian noise and the exponential mechanism under ρ."""
    data = sf.Dataset(FRAME, schema=SCHEMA, name="t")
    session = sf.Session(data, budget=loss)
    plan = session.query().select(sf.count(), sf.mode("Smoker")).plan(loss)
    text = plan.explain().to_text(lang="en")

    pure = isinstance(loss, str)
    assert ("permute-and-flip" if pure else "exponential mechanism") in text
    assert ("geometric" if pure else "Gaussian") in text


def test_a_plan_of_public_numbers_has_no_statement():
    """Nothing is measured, so nothing is asked of the engine."""
    schema = sf.Schema(
        {"Age": sf.Integer(0, 120)}, unit=sf.Rows(neighbours="replace_one", size=40)
    )
    session = sf.Session(sf.Dataset(FRAME, schema=schema, name="t"), budget=1)

    told = session.query().select(sf.count()).plan("0.5").explain()

    assert told.measured == () and not told.sql
    assert "count" in str(told)


def test_a_notebook_shows_declarations_in_both_languages(session, monkeypatch):
    """Session, dataset, schema and plan are tables; a schema prints as one."""
    plan = session.query().select(sf.mean("Age")).plan("0.5")
    words = {"en": ("0 to 120", "add or remove one row"), "zh": ("0 至 120", "一行")}
    for lang, parts in words.items():
        monkeypatch.setenv("LC_ALL", lang)

        shown = [x._repr_html_() for x in (session, session.dataset, SCHEMA, plan)]

        assert all("<table>" in html and parts[1] in html for html in shown)
        assert all(parts[0] in text for text in (*shown[:3], str(SCHEMA)))
        assert "left ε 1" in shown[0] or lang == "zh"


def test_a_plan_prints_in_the_words_of_the_field():
    """Its currency has its name, a guess of rows no digits of a division, and no group."""
    session = sf.Session(
        sf.Dataset(FRAME, schema=SCHEMA, name="t"), budget=sf.ZCDP("1")
    )
    groups = sf.Schema({"k": sf.Category(["a", "b", "c"]), "x": sf.Integer(0, 9)})
    rows = sf.Dataset([{"k": "a", "x": 1}], schema=groups, name="t")
    asked = sf.Session(rows, budget="1").query().group_by("k").select(sf.mean("x"))

    alone = session.query().select(sf.mean("Age")).plan(rho="0.5")
    grouped = asked.plan("0.5")

    assert "costs zCDP ρ 0.5 of" in str(alone) and "1,000 rows" in str(alone)
    assert "per group" not in str(alone)
    assert "costs ε 0.5 of" in str(grouped) and "333 rows per group" in str(grouped)
    assert repr(alone) == "<plan: mean_Age; costs zCDP ρ 0.5>"
    hostile = (
        session.query()
        .where(sf.col("Age") != 1)
        .select(sf.mean("Age", name="a\x1b[2J"))
    )
    assert repr(hostile.plan(rho="0.5")).isprintable() and repr(hostile).isprintable()


def test_many_columns_do_not_fill_the_screen():
    """A data set names the first ones and counts the others."""
    schema = sf.Schema({f"c{i}": sf.Boolean() for i in range(100)})

    told = repr(sf.Dataset([{"c0": True}], schema=schema, name="t"))

    assert "'c7'] and 92 more" in told and "c8" not in told


def test_descriptions_are_plain_data(session):
    """Every field is public and can be read by a program."""
    assert {f.name for f in fields(session.describe())} >= {"columns", "left", "unit"}


def test_days_are_described_as_days():
    """Bounds and missing codes of a date are dates in both languages, and no numbers."""
    days = sf.Date("2000-01-01", "2030-12-31", missing="1900-01-01")
    data = sf.Dataset([{"d": "2020-01-01"}], schema=sf.Schema({"d": days}), name="t")
    told = sf.Session(data, budget="1").describe()

    for text in (told.to_text(lang="en"), told.to_text(lang="zh"), told._repr_html_()):
        assert "2000-01-01" in text and "2030-12-31" in text and "1900-01-01" in text
        assert "10957" not in text and "1970" not in text
    assert told.columns[0].kind == "date"


@pytest.mark.parametrize("unit", [
    sf.Rows(), sf.Rows(neighbours="replace_one", size=40),
    sf.Unit("id", max_rows=3, max_groups=2),
])  # fmt: skip
def test_the_protected_unit_is_told_in_words(unit):
    """Not as Python writes it: in the words of every other page, in both languages."""
    schema = sf.Schema({"Age": sf.Integer(0, 120)}, unit=unit)
    frame = pd.DataFrame({"Age": [33] * 40, "id": range(40)})
    session = sf.Session(sf.Dataset(frame, schema=schema, name="t"), budget=1)
    plan = session.query().select(sf.mean("Age")).plan("0.5")

    for told in (session.describe(), plan.explain()):
        for lang in ("en", "zh"):
            text = told.to_text(lang=lang)
            assert "Rows(" not in text and "Unit(" not in text and "_one" not in text
            assert "epsilon" not in text and "ε" in text
    assert "centred sum of Age" in plan.explain().to_text(lang="en")
    assert plan.explain().to_text(lang="en").startswith("Mean of Age\n")
