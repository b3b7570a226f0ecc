"""One row per person in SQL: a sub-query that groups by the person alone."""

import pytest

import sfumato as sf
from sfumato.declare import feature
from sfumato.declare import query as ask
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson
from sfumato.declare.schema import Category, Integer, Real, Schema
from sfumato.declare.sql import read_sql
from sfumato.declare.unit import Unit
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan

VISITS = Schema(
    {"x": Real(0, 9, step=1), "day": Integer(0, 99), "site": Category(["A", "B"])},
    unit=Unit("pid", max_rows=3, max_groups=2),
)
LABS = Schema({"y": Integer(0, 5)}, unit=Unit("id", max_rows=3, max_groups=2))
SITES = Lookup("sites", ("site",), (("beds", Integer(0, 9)),), ((("A",), (3.0,)),))
TABLES = {"visits": VISITS, "labs": LABS, "sites": SITES}
LAB = Part(Other("labs", LABS))


def per(rows=None, **figures):
    """The node that the builder makes."""
    return PerPerson(rows or Part(), tuple(figures.items()))


BIG = Query().where(sf.col("x") > 1)
DOUBLE = Query().derive("clip((x * 2), 0, 9)", (sf.col("x") * 2).clip(0, 9), Real(0, 9))
TOP = per(LAB, top=feature.max("y"))
EQUAL = [
    ("SELECT AVG(worst) FROM (SELECT pid, MAX(x) AS worst FROM visits GROUP BY pid) AS p",
     Query().of(per(worst=feature.max("x"))).select(ask.mean("worst"))),
    ("select count(distinct p.pid) from (select min(x) low from visits v where v.x > 1 group by v.pid) p where p.low >= 3",
     Query().of(per(BIG.rows, low=feature.min("x"))).where(sf.col("low") >= 3).select(ask.people())),
    ("SELECT home, COUNT(*) FROM (SELECT MIN_BY(site, day) AS home, max_by(x, day) AS z FROM visits GROUP BY pid) p GROUP BY home",
     Query().of(per(home=feature.first("site", by="day"), z=feature.last("x", by="day")))
     .group_by("home").select(ask.count())),
    ("SELECT COUNT(a) FROM (SELECT ARG_MIN(x, day) AS a, CLIP(ARG_MAX(x, day), 1, 4) AS b FROM visits GROUP BY pid) p",
     Query().of(per(a=feature.first("x", by="day"), b=feature.last("x", by="day", declared=Real(1, 4))))
     .select(ask.count("a"))),
    ("SELECT SUM(n), AVG(m), MEDIAN(s), AVG(t) FROM (SELECT clip(COUNT(*), 0, 20) n, CLIP(COUNT(x), 0, 5) m, "
     "CLIP(SUM(x), -1, 30.5) s, CLIP(MAX(x), 2, 8) AS t FROM visits GROUP BY pid) p",
     Query().of(per(n=feature.count(most=20), m=feature.count("x", most=5), s=feature.sum("x", Real(-1, 30.5)), t=feature.max("x", Real(2, 8))))
     .select(ask.sum("n"), ask.mean("m"), ask.median("s"), ask.mean("t"))),
    ("SELECT AVG(top) FROM (SELECT MAX(CLIP(x * 2, 0, 9)) AS top FROM visits GROUP BY pid) p",
     Query().of(per(DOUBLE.rows, top=feature.max("clip((x * 2), 0, 9)"))).select(ask.mean("top"))),
    ("SELECT AVG(most) FROM (SELECT MAX(beds) AS most FROM visits JOIN sites USING (site) GROUP BY pid) p",
     Query().of(per(Part(Looked(Part(), ("site",), SITES, "", True)), most=feature.max("beds"))).select(ask.mean("most"))),
    ("SELECT AVG(beds) FROM (SELECT MIN_BY(site, day) home FROM visits GROUP BY pid) p LEFT JOIN sites ON p.home = sites.site",
     Query().of(Looked(Part(per(home=feature.first("site", by="day"))), ("home",), SITES)).select(ask.mean("beds"))),
    ("SELECT AVG(x) FROM visits v JOIN (SELECT id, MAX(y) AS top FROM labs GROUP BY id) w ON v.pid = w.id WHERE top > 2",
     Query().of(Joined(Part(), Part(TOP))).where(sf.col("top") > 2).select(ask.mean("x"))),
    ("SELECT AVG(x) FROM visits JOIN (SELECT MAX(x) AS x FROM visits GROUP BY pid) w USING (pid) WHERE w.x > 2",
     None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "query"), EQUAL[:-1], ids=lambda v: str(v)[:60])
def test_a_figure_is_that_of_the_builder(text, query):
    """SQL and Python make one question, hence one plan, down to its digest."""
    found = read_sql(text, table="visits", tables=TABLES)

    assert repr(found) == repr(query)
    assert make_plan(found, VISITS, 1).digest == make_plan(query, VISITS, 1).digest


def test_names_of_both_tables_are_told_apart():
    """A figure with the name of a column gets the alias before it, and is written so."""
    text = EQUAL[-1][0].replace("AVG(x)", "AVG(visits.x), AVG(w.x)")
    base = Joined(Part(), Part(per(x=feature.max("x"))), "w_")
    query = Query().of(base).where(sf.col("w_x") > 2).select(ask.mean("x"), ask.mean("w_x"))  # fmt: skip

    assert repr(read_sql(text, table="visits", tables=TABLES)) == repr(query)
    with pytest.raises(DeclarationError, match="'x'"):
        read_sql(EQUAL[-1][0], table="visits", tables=TABLES)


P = "SELECT COUNT(*) FROM ({}) AS p"
REFUSED = [
    (P.format("SELECT MAX(x) AS a FROM visits"), "(SELECT"),
    (P.format("SELECT pid, x FROM visits GROUP BY pid"), "'x'"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY site"), "GROUP BY"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY pid, site"), "GROUP BY"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY 1"), "GROUP BY"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY w.pid"), "GROUP BY"),
    (P.format("SELECT MAX(x) FROM visits GROUP BY pid"), "MAX"),
    (P.format("SELECT MAX(x) AS a, MIN(x) AS a FROM visits GROUP BY pid"), "AS"),
    (P.format("SELECT COUNT(*) AS a FROM visits GROUP BY pid"), "COUNT"),
    (P.format("SELECT CLIP(COUNT(*), 1, 9) AS a FROM visits GROUP BY pid"), "COUNT"),
    (P.format("SELECT CLIP(COUNT(*), 0, 2.5) AS a FROM visits GROUP BY pid"), "COUNT"),
    (P.format("SELECT CLIP(COUNT(DISTINCT x), 0, 9) AS a FROM visits GROUP BY pid"), "DISTINCT"),
    (P.format("SELECT SUM(x) AS a FROM visits GROUP BY pid"), "SUM"),
    (P.format("SELECT AVG(x) AS a FROM visits GROUP BY pid"), "AVG"),
    (P.format("SELECT CLIP(MAX(x), 'a', 9) AS a FROM visits GROUP BY pid"), "CLIP"),
    (P.format("SELECT CLIP(MAX(x), 9) AS a FROM visits GROUP BY pid"), "'CLIP'"),
    (P.format("SELECT MAX(x, day) AS a FROM visits GROUP BY pid"), "GREATEST"),
    (P.format("SELECT MIN_BY(x) AS a FROM visits GROUP BY pid"), "''"),
    (P.format("SELECT MIN_BY(x, day, 3) AS a FROM visits GROUP BY pid"), "COUNT"),
    (P.format("SELECT MAX(x) + 1 AS a FROM visits GROUP BY pid"), "ADD"),
    (P.format("SELECT MAX(DISTINCT x) AS a FROM visits GROUP BY pid"), "DISTINCT"),
    (P.format("SELECT MAX(x) FILTER (WHERE x > 1) AS a FROM visits GROUP BY pid"), "FILTER"),
    (P.format("SELECT MAX(x) OVER (PARTITION BY pid) AS a FROM visits GROUP BY pid"), "WINDOW"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY pid HAVING MAX(x) > 1"), "HAVING"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY pid LIMIT 3"), "LIMIT"),
    (P.format("SELECT MAX(x) AS a FROM visits GROUP BY pid ORDER BY a"), "ORDER BY"),
    (P.format("SELECT DISTINCT MAX(x) AS a FROM visits GROUP BY pid"), "DISTINCT"),
    (P.format("SELECT MAX(beds) AS a FROM sites GROUP BY site"), "'sites'"),
    (P.format("SELECT MAX(pid) AS a FROM visits GROUP BY ROLLUP (pid)"), "GROUP BY"),
    ("SELECT COUNT(*) FROM (SELECT MAX(x) AS a FROM visits GROUP BY pid)", "(SELECT"),
    ("SELECT COUNT(*) FROM visits WHERE x > (SELECT MAX(x) FROM visits)", "(SELECT"),
    ("SELECT COUNT(*) FROM visits LEFT JOIN (SELECT MAX(y) AS t FROM labs GROUP BY id) w ON pid = id", "LEFT JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN (SELECT MAX(y) AS t FROM labs GROUP BY id) w ON x = t", "="),
    ("SELECT COUNT(*) FROM visits CROSS JOIN (SELECT MAX(y) AS t FROM labs GROUP BY id) w", "CROSS JOIN"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "named"), REFUSED, ids=lambda v: str(v)[:90])
def test_other_sub_queries_are_refused(text, named):
    """The error names the construct and shows a form that is read."""
    with pytest.raises(DeclarationError) as caught:
        read_sql(text, table="visits", tables=TABLES)

    assert named in caught.value.fact
    assert caught.value.hint


def test_rows_without_persons_have_none():
    """Where each row is a unit of its own there is no column to group by."""
    rows = Schema({"x": Real(0, 9), "pid": Integer(0, 9)})

    with pytest.raises(DeclarationError, match="GROUP BY"):
        read_sql(P.format("SELECT MAX(x) AS a FROM t GROUP BY pid"), table="t", tables={"t": rows})  # fmt: skip


def test_answers():
    """A question with next to no noise tells the truth, of one table alone too."""
    rows = [{"pid": i % 40, "x": i % 10, "day": i // 40, "site": "AB"[i % 2]} for i in range(400)]  # fmt: skip
    session = sf.Session(sf.Dataset(rows, schema=VISITS, name="visits"), budget="10000")
    inner = "(SELECT pid, MAX(x) AS top, CLIP(COUNT(*), 0, 20) AS n FROM visits GROUP BY pid) AS p"  # fmt: skip

    people = session.sql(f"SELECT AVG(n), COUNT(*) FROM {inner} WHERE top >= 5").release("1000")  # fmt: skip
    pairs = session.sql(f"SELECT COUNT(*) FROM visits JOIN {inner} USING (pid) WHERE top >= 5")  # fmt: skip

    assert abs(people["mean_n"].estimate - 10) < 0.1
    assert round(people["count"].estimate) == 20
    assert round(pairs.release("1000")["count"].estimate) == 60  # 3 rows of each count
