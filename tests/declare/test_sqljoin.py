"""Joins, unions and people in SQL: only what acts on each unit by itself has a form."""

import pytest

import sfumato as sf
from sfumato.declare import query as ask
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, United
from sfumato.declare.schema import Category, Integer, Schema, Text
from sfumato.declare.sql import read_sql
from sfumato.declare.unit import Unit
from sfumato.errors import DeclarationError

VISITS = Schema(
    {"x": Integer(0, 9), "site": Category(["A", "B"]), "note": Text()},
    unit=Unit("pid", max_rows=3, max_groups=2),
)
LABS = Schema({"x": Integer(0, 5)}, unit=Unit("id", max_rows=3, max_groups=2))
SITES = Lookup("sites", ("site",), (("beds", Integer(0, 9)),), ((("A",), (3.0,)),))
PAIRS = Lookup("two", ("a", "b"), (("w", Integer(0, 9)),), ((("A", "1"), (3.0,)),))
TABLES = {"visits": VISITS, "labs": LABS, "sites": SITES, "two": PAIRS}
COUNT = Query().select(ask.count())
LAB = Part(Other("labs", LABS))

EQUAL = [
    ("SELECT COUNT(*) FROM visits JOIN sites USING (site)",
     COUNT.of(Looked(Part(), ("site",), SITES, "", True))),
    ("select count(*) from visits left outer join sites on visits.site = sites.site",
     COUNT.of(Looked(Part(), ("site",), SITES))),
    ("SELECT COUNT(*) FROM visits AS v LEFT JOIN sites s ON (s.site = v.site)",
     COUNT.of(Looked(Part(), ("site",), SITES))),
    ("SELECT COUNT(*) FROM visits v INNER JOIN two ON v.x = two.b AND v.site = two.a",
     COUNT.of(Looked(Part(), ("site", "x"), PAIRS, "", True))),
    ("SELECT COUNT(*) FROM visits JOIN labs ON visits.pid = labs.id",
     COUNT.of(Joined(Part(), LAB, "labs_"))),
    ("SELECT COUNT(*) FROM visits JOIN labs ON id = pid",
     COUNT.of(Joined(Part(), LAB, "labs_"))),
    ("SELECT AVG(l.x), SUM(v.x) FROM visits v JOIN labs AS l ON v.pid = l.id WHERE l.x > 2",
     Query().of(Joined(Part(), LAB, "l_")).where(sf.col("l_x") > 2)
     .select(ask.mean("l_x"), ask.sum("x"))),
    ("SELECT COUNT(DISTINCT pid) FROM visits", Query().select(ask.people())),
    ("SELECT COUNT(DISTINCT labs.id) AS n FROM labs",
     Query().of(Other("labs", LABS)).select(ask.people(name="n"))),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits) AS t WHERE t.x = 1",
     COUNT.of(United((Part(), Part()))).where(sf.col("x") == 1)),
    ("SELECT COUNT(*) FROM (SELECT * FROM labs UNION ALL SELECT * FROM labs UNION ALL SELECT * FROM labs)",
     COUNT.of(United((LAB, LAB, LAB)))),
    ("SELECT AVG(beds) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits) t JOIN sites USING (site)",
     Query().of(Looked(Part(United((Part(), Part()))), ("site",), SITES, "", True)).select(ask.mean("beds"))),
    ("SELECT note, COUNT(*) FROM visits GROUP BY note", COUNT.group_by("note")),
    ("SELECT v.site, COUNT(*) FROM visits v GROUP BY v.site", COUNT.group_by("site")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "query"), EQUAL, ids=lambda v: str(v)[:70])
def test_a_join_is_that_of_the_builder(text, query):
    """What the grammar allows means what the builder means."""
    assert repr(read_sql(text, table="visits", tables=TABLES)) == repr(query)


REFUSED = [
    ("SELECT COUNT(*) FROM visits CROSS JOIN labs", "CROSS JOIN"),
    ("SELECT COUNT(*) FROM visits, labs", "CROSS JOIN"),
    ("SELECT COUNT(*) FROM visits NATURAL JOIN sites", "METHOD"),
    ("SELECT COUNT(*) FROM visits RIGHT JOIN sites USING (site)", "RIGHT JOIN"),
    ("SELECT COUNT(*) FROM visits FULL JOIN sites USING (site)", "FULL JOIN"),
    ("SELECT COUNT(*) FROM visits LEFT JOIN labs ON pid = id", "LEFT JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN labs", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN labs ON visits.x = labs.x", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN labs ON pid = id AND visits.x = labs.x", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN labs USING (pid)", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN sites ON visits.x < sites.site", "LT"),
    ("SELECT COUNT(*) FROM visits JOIN sites ON TRUE", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN sites ON visits.site = 'A'", "'A'"),
    ("SELECT COUNT(*) FROM visits JOIN sites ON visits.site = visits.site", "="),
    ("SELECT COUNT(*) FROM visits JOIN two USING (a)", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN sites ON visits.site = sites.beds", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN (SELECT * FROM sites) s USING (site)", "(SELECT"),
    ("SELECT COUNT(*) FROM visits JOIN site USING (site)", "'site'"),
    ("SELECT COUNT(*) FROM sites", "'sites'"),
    ("SELECT COUNT(*) FROM visits v JOIN sites v USING (site)", "'v'"),
    ("SELECT AVG(x) FROM visits JOIN labs ON pid = id", "'x'"),
    ("SELECT AVG(w.x) FROM visits JOIN labs ON pid = id", "w.x"),
    ("SELECT AVG(labs.y) FROM visits JOIN labs ON pid = id", "labs.y"),
    ("SELECT COUNT(DISTINCT site) FROM visits", "DISTINCT"),
    ("SELECT COUNT(DISTINCT pid, site) FROM visits", "DISTINCT"),
    ("SELECT COUNT(DISTINCT labs.pid) FROM visits JOIN labs ON pid = id", "DISTINCT"),
    ("SELECT SUM(DISTINCT x) FROM visits", "DISTINCT"),
    ("SELECT DISTINCT COUNT(*) FROM visits", "DISTINCT"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits) t", "(SELECT"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits UNION SELECT * FROM labs) t", "UNION"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits INTERSECT SELECT * FROM labs) t", "(SELECT"),
    ("SELECT COUNT(*) FROM (SELECT x FROM visits UNION ALL SELECT * FROM labs) t", "(SELECT"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM sites) t", "'sites'"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits WHERE x = 1 UNION ALL SELECT * FROM labs) t", "WHERE"),
    ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM labs", "UNION"),
    ("SELECT COUNT(*) FROM db.visits", "."),
    ("SELECT COUNT(*) FROM visits JOIN labs ON pid = id JOIN labs ON pid = id", "'labs'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "named"), REFUSED, ids=lambda v: str(v)[:70])
def test_joins_that_are_not_by_unit_are_refused(text, named):
    """The error names the construct and shows a form that is read."""
    with pytest.raises(DeclarationError) as caught:
        read_sql(text, table="visits", tables=TABLES)

    assert named in caught.value.fact
    assert caught.value.hint


ROWS = [{"pid": i % 40, "x": i % 10, "site": "AB"[i % 2], "note": "n"} for i in range(400)]  # fmt: skip
LAB_ROWS = [{"id": str(i % 50), "x": i % 6} for i in range(300)]
PUBLIC = [{"site": "A", "beds": 3}, {"site": "C", "beds": 4}]


@pytest.fixture
def session():
    """A session with two private tables and a public one."""
    sites = sf.PublicTable(PUBLIC, key="site", columns={"beds": Integer(0, 9)})
    tables = {"labs": sf.Dataset(LAB_ROWS, schema=LABS), "sites": sites}
    data = sf.Dataset(ROWS, schema=VISITS, name="visits", tables=tables)
    return sf.Session(data, budget="10000")


@pytest.mark.parametrize(
    ("text", "name", "truth"),
    [
        ("SELECT COUNT(DISTINCT pid) FROM visits", "people", 40),
        ("SELECT COUNT(*) FROM labs", "count", 150),  # 50 people, 3 of 6 rows each
        ("SELECT COUNT(beds) FROM visits LEFT JOIN sites USING (site)", "count_beds", 60),
        ("SELECT COUNT(DISTINCT id) FROM visits JOIN labs ON pid = id", "people", 40),
        ("SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits) t", "count", 120),
    ],
)  # fmt: skip
def test_answers(session, text, name, truth):
    """A question with next to no noise tells the weighted truth."""
    release = session.sql(text).release(epsilon="1000")

    assert release[name].estimate == pytest.approx(truth, abs=1)


def test_the_builder_and_sql_ask_the_same(session):
    """Names, rows of the session and public tables, in Python as in SQL."""
    sql = session.sql("SELECT AVG(labs.x) FROM visits JOIN labs ON pid = id")
    built = session.query().join("labs", prefix="labs_").select(sf.mean("labs_x"))
    rows = session.query().join(session.table("labs"), prefix="labs_")
    public = session.sql("SELECT COUNT(*) FROM visits JOIN sites USING (site)")

    assert sql.query == built.query == rows.select(sf.mean("labs_x")).query
    assert public.query == session.query().join("sites", how="inner").select(sf.count()).query  # fmt: skip
    assert "other0" in sql.plan("1").explain().sql["duckdb"]
    assert all("other0" in text for text in sql.plan("1").explain().sql.values())


def test_the_session_describes_its_tables(session):
    """What can be joined is public, and told in both languages."""
    told = session.describe()

    assert told.tables == {"labs": (True, ("x",)), "sites": (False, ("site", "beds"))}
    assert "private table labs, of the same units: x" in told.to_text(lang="en")
    assert "public table sites: site, beds" in told._repr_html_()


def test_the_plan_explains_its_nodes(session):
    """The question in words, the unit that is protected, and the SQL of every dialect."""
    plan = session.query().per_person(most=sf.feature.max("x")).select(sf.mean("most"))

    told = plan.plan("1").explain()

    assert (
        told.question == "mean_most; of one row per person (most = max(x)) of the table"
    )
    assert "pid" in told.unit
    assert "OnePerPerson" in told.unit
    assert [m.change for m in told.measured] == [9.0, 1.0]
    assert set(told.sql) == {"duckdb", "postgres", "spark", "bigquery", "snowflake"}
    assert all("PARTITION" not in text and "GROUP BY u" in text for text in told.sql.values())  # fmt: skip
    assert plan.release("1").claim.unit == "person"


TOWNS = ["Rome"] * 300 + ["Oslo"] * 200 + ["Bern"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT town, COUNT(*) FROM t GROUP BY town",
        "SELECT COUNT(*) AS count FROM t GROUP BY town",
        "SELECT t.town, COUNT(*) FROM t WHERE t.town <> 'Paris' GROUP BY t.town",
    ],
)
def test_groups_of_a_text_column(text):
    """Keys that nobody listed: those of many rows are shown, and a single row's is not."""
    schema = Schema({"town": Text()})
    rows = [{"town": town} for town in TOWNS]
    session = sf.Session(sf.Dataset(rows, schema=schema, name="t"), sf.Epsilon("20", "1e-9"))  # fmt: skip

    with pytest.raises(DeclarationError, match="unknown"):
        session.sql(text).plan("10")
    found = session.sql(text).release(epsilon="10", delta="1e-10")

    assert [f.group["town"] for f in found] == ["Oslo", "Rome"]  # fails once in 10^10
    assert [f.estimate for f in found] == pytest.approx([200, 300], abs=5)


BAD = {
    "another session's rows": (lambda s: s.query().join(_other().query()), "same session"),
    "an unknown table": (lambda s: s.query().join("lab"), "no private table"),
    "no table": (lambda s: s.query().join(3), "same session"),
    "a key for people": (lambda s: s.query().join("labs", on="x"), "on nothing else"),
    "counted rows": (lambda s: s.query().join(s.table("labs").select(sf.count())), "before statistics"),
    "a bound below one": (lambda s: s.query().join("labs", max_rows=0), "at least 1"),
    "another way": (lambda s: s.query().join("sites", how="outer"), "left or inner"),
    "a way of pairs": (lambda s: s.query().join("labs", how="left"), "on nothing else"),
    "bounds of a look-up": (lambda s: s.query().join("sites", max_rows=3), "'sites' is public"),
    "a public table united": (lambda s: s.query().union("sites"), "no private table"),
    "no figure": (lambda s: s.query().per_person(), "each once"),
    "no feature": (lambda s: s.query().per_person(x=3), "no figure"),
}  # fmt: skip


def _other():
    return sf.Session(sf.Dataset(ROWS, schema=VISITS, name="visits"), budget="1")


@pytest.mark.parametrize("name", BAD)
def test_bad_joins_in_python_spend_nothing(session, name):
    """A fact and a hint, and the budget is whole."""
    make, words = BAD[name]

    with pytest.raises(DeclarationError, match=words) as caught:
        make(session)

    assert caught.value.hint
    assert session.left == session.budget


def test_tables_of_a_dataset_are_checked():
    """Of the same kind of unit, each under a name of its own, and one level deep."""
    plain = sf.Dataset([], schema=Schema({"x": Integer(0, 5)}))
    labs = sf.Dataset([], schema=LABS)
    deep = sf.Dataset([], schema=LABS, tables={"more": labs})
    for tables, words in (
        ({"labs": plain}, "protects another unit"),
        ({"T": labs}, "one name"),
        ({"labs": 3}, "neither"),
        ({"labs": deep}, "tables of its own"),
    ):
        with pytest.raises(DeclarationError, match=words):
            sf.Dataset(ROWS, schema=VISITS, name="t", tables=tables)


def test_a_value_is_not_taken_for_another_that_is_written_alike():
    """A column may be called as the sum of two others is said."""
    odd = Schema({"(a + b)": Integer(0, 9), "a": Integer(0, 9), "b": Integer(0, 9)}, unit=Unit("id", max_rows=1, max_groups=1))  # fmt: skip
    both = 'AVG(CLIP("(a + b)", 0, 9)), AVG(CLIP(a + b, 0, 9))'
    inner = both.replace("AVG(", "MAX(").replace("),", ") AS x,") + " AS y"
    for text in (f"SELECT {both} FROM t", f"SELECT AVG(x) FROM (SELECT {inner} FROM t GROUP BY id) p"):  # fmt: skip
        with pytest.raises(DeclarationError, match="clip"):
            read_sql(text, table="t", tables={"t": odd})


SAME = {
    "visits": Schema({"id": Integer(0, 9), "site": Category(["A", "B"])}, unit=Unit("pid", max_rows=3, max_groups=2)),
    "labs": LABS,
    "drugs": Schema({"z": Integer(0, 5)}, unit=Unit("who", max_rows=3, max_groups=2)),
    "sites": Lookup("sites", ("site",), (("pid", Integer(0, 9)),), ((("A",), (3.0,)),)),
}  # fmt: skip
THREE = "FROM visits JOIN labs ON visits.pid = labs.id JOIN drugs ON"


@pytest.mark.parametrize(
    "text",
    [f"SELECT COUNT(*) {THREE} visits.id = drugs.who",
     f"SELECT COUNT(*) {THREE} id = drugs.who",
     f"SELECT COUNT(*) {THREE} drugs.who = nowhere.pid",
     "SELECT COUNT(*) FROM visits JOIN sites USING (site) JOIN labs ON sites.pid = labs.id",
     "SELECT COUNT(DISTINCT id) FROM visits JOIN labs ON pid = labs.id",
     "SELECT COUNT(*) FROM (SELECT MAX(x) m FROM visits JOIN labs ON pid = labs.id GROUP BY id) p"],
)  # fmt: skip
def test_a_column_that_is_only_called_like_a_persons_is_not_taken_for_it(text):
    """Another table may give that name to something else: the join would be another one."""
    with pytest.raises(DeclarationError, match=r"JOIN|DISTINCT|GROUP BY"):
        read_sql(text, table="visits", tables=SAME)

    read_sql(f"SELECT COUNT(DISTINCT labs.id) {THREE} labs.id = drugs.who", table="visits", tables=SAME)  # fmt: skip
