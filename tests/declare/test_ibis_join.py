"""Joins of Ibis expressions are those of SQL, down to the plan, or are refused."""

import pytest

import sfumato as sf
from sfumato.declare.ibis_tree import read_ibis
from sfumato.declare.lookup import Lookup
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part
from sfumato.declare.schema import Category, Integer, Schema
from sfumato.declare.sql import read_sql
from sfumato.declare.unit import Unit
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan

ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
from ibis import _  # noqa: E402  after the skip

VISITS = Schema(
    {"x": Integer(0, 9), "site": Category(["A", "B"]), "day": Integer(0, 9)},
    unit=Unit("pid", max_rows=3, max_groups=2),
)
LABS = Schema({"x": Integer(0, 5)}, unit=Unit("id", max_rows=3, max_groups=2))
SITES = Lookup("sites", ("site",), (("beds", Integer(0, 9)),), ((("A",), (3.0,)),))
TWO = Lookup("two", ("a", "b"), (("w", Integer(0, 9)),), ((("A", "1"), (3.0,)),))
TABLES = {"visits": VISITS, "labs": LABS, "sites": SITES, "two": TWO}
LAB = Part(Other("labs", LABS))

V = ibis.table({"pid": "int64", "x": "int64", "site": "string", "day": "int64", "odd": "int64"}, name="visits")  # fmt: skip
L = ibis.table({"id": "int64", "x": "int64", "odd": "int64"}, name="labs")
S = ibis.table({"site": "string", "beds": "int64", "x": "int64"}, name="sites")
W = ibis.table({"a": "string", "b": "int64", "w": "int64"}, name="two")
M = ibis.table({"id": "int64", "y": "int64"}, name="labs")
PAIRS = V.join(L, V.pid == L.id)


def read(expression):
    """Return the question of an expression about the tables."""
    return read_ibis(expression, table="visits", person="pid", tables=TABLES)


SAME = {
    "a public table, inner": (
        V.join(S, "site").aggregate(n=_.count(), m=_.beds.mean()),
        "SELECT COUNT(*) AS n, AVG(beds) AS m FROM visits JOIN sites USING (site)",
        Looked(Part(), ("site",), SITES, "", True),
    ),
    "a public table, left, with a filter and keys": (
        V.left_join(S, V.site == S.site).filter(_.beds > 2, _.x >= 1).group_by("site").aggregate(n=_.count()),
        "SELECT COUNT(*) AS n FROM visits LEFT JOIN sites USING (site) WHERE beds > 2 AND x >= 1 GROUP BY visits.site",
        Looked(Part(), ("site",), SITES),
    ),
    "a key of two columns": (
        V.join(W, [W.b == V.day, V.site == W.a]).aggregate(s=_.w.sum()),
        "SELECT SUM(w) AS s FROM visits JOIN two ON visits.day = two.b AND visits.site = two.a",
        Looked(Part(), ("site", "day"), TWO, "", True),
    ),
    "pairs of one person": (
        PAIRS.filter(_.x_right > 2).aggregate(a=_.x.mean(), b=_.x_right.mean(), p=_.pid.nunique()),
        "SELECT AVG(v.x) AS a, AVG(labs.x) AS b, COUNT(DISTINCT v.pid) AS p FROM visits v "
        "JOIN labs ON v.pid = labs.id WHERE labs.x > 2",
        Joined(Part(), LAB, "labs_"),
    ),
    "people by the other table's column": (
        PAIRS.aggregate(p=_.id.nunique()),
        "SELECT COUNT(DISTINCT labs.id) AS p FROM visits JOIN labs ON labs.id = visits.pid",
        Joined(Part(), LAB, "labs_"),
    ),
    "from the other table": (
        L.join(V, L.id == V.pid).aggregate(n=_.count(), p=_.pid.nunique()),
        "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM labs JOIN visits ON labs.id = visits.pid",
        Joined(LAB, Part(), "visits_"),
    ),
    "the other table alone": (
        L.filter(_.x > 1).aggregate(n=_.count(), p=_.id.nunique()),
        "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM labs WHERE x > 1",
        Other("labs", LABS),
    ),
    "columns of the join by other names": (
        PAIRS.select(z="x", x="x_right").filter(_.x > 2).aggregate(m=_.z.mean()),
        "SELECT AVG(visits.x) AS m FROM visits JOIN labs ON pid = id WHERE labs.x > 2",
        Joined(Part(), LAB, "labs_"),
    ),
    "three tables": (
        PAIRS.join(S, PAIRS.site == S.site).select("beds", "x_right").aggregate(m=_.beds.mean(), n=_.x_right.sum()),
        "SELECT AVG(beds) AS m, SUM(labs.x) AS n FROM visits JOIN labs ON pid = id JOIN sites ON visits.site = sites.site",
        Looked(Part(Joined(Part(), LAB, "labs_")), ("site",), SITES, "", True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_a_join_is_that_of_sql(name):
    """One node, one question, one plan, whichever way it is asked."""
    expression, text, base = SAME[name]

    found, said = read(expression), read_sql(text, table="visits", tables=TABLES)

    assert found.base == base
    assert repr(found) == repr(said)
    assert make_plan(found, VISITS, 1).digest == make_plan(said, VISITS, 1).digest


REFUSED = {
    "another kind": V.outer_join(S, "site").aggregate(n=_.count()),
    "a semi join": V.semi_join(S, "site").aggregate(n=_.count()),
    "all pairs": V.cross_join(L).aggregate(n=_.count()),
    "private, left": V.left_join(L, V.pid == L.id).aggregate(n=_.count()),
    "private, on another column": V.join(L, V.x == L.x).aggregate(n=_.count()),
    "private, on more": V.join(L, [V.pid == L.id, V.x == L.x]).aggregate(n=_.count()),
    "private, on another of theirs": V.join(L, V.pid == L.x).aggregate(n=_.count()),
    "an inequality": V.join(L, V.pid <= L.id).aggregate(n=_.count()),
    "half a key": V.join(W, V.site == W.a).aggregate(n=_.count()),
    "more than the key": V.join(S, [V.site == S.site, V.x == S.beds]).aggregate(n=_.count()),
    "no column of the key": V.join(S, V.x == S.beds).aggregate(n=_.count()),
    "with itself": V.join(V.view(), "pid").aggregate(n=_.count()),
    "a table twice": PAIRS.join(M, PAIRS.pid == M.id).aggregate(n=_.count()),
    "filtered before": V.filter(V.x > 1).join(S, "site").aggregate(n=_.count()),
    "an aggregate": V.join(S.group_by("site").aggregate(m=_.beds.max()), "site").aggregate(n=_.count()),
    "from a public one": S.join(V, "site").aggregate(n=_.count()),
    "a public one alone": S.aggregate(n=_.count()),
    "an unknown table": V.join(ibis.table({"site": "string"}, name="site"), "site").aggregate(n=_.count()),
    "people of the site": V.join(S, "site").aggregate(p=_.site.nunique()),
    "a computed side": V.join(S, V.site == S.site.lower()).aggregate(n=_.count()),
    "a computed column": PAIRS.select(z=_.x + 1).aggregate(m=_.z.mean()),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_joins_that_are_not_by_unit_are_refused(name):
    """The error names the construct and says what can be written."""
    with pytest.raises(DeclarationError) as caught:
        read(REFUSED[name])

    assert caught.value.hint


@pytest.mark.parametrize(
    "expression",
    [
        PAIRS.aggregate(m=_.odd_right.mean()),
        V.join(S, "site").aggregate(m=_.x_right.mean()),
        PAIRS.filter(_.pid == 1).aggregate(n=_.count()),
        V.join(S, "site").group_by("pid").aggregate(n=_.count()),
    ],
)
def test_columns_that_are_not_declared_are_those_of_no_other_table(expression):
    """They are not taken for a column of the same name; identifiers stay unnamed."""
    with pytest.raises(DeclarationError, match=r"unknown column|whose a row is"):
        make_plan(read(expression), VISITS, 1)


def test_a_session_knows_its_tables():
    """With next to no noise the answer is the truth."""
    rows = [{"pid": i % 40, "x": i % 10, "site": "AB"[i % 2], "day": 0} for i in range(120)]  # fmt: skip
    public = sf.PublicTable([{"site": "A", "beds": 3}], key="site", columns={"beds": Integer(0, 9)})  # fmt: skip
    data = sf.Dataset(rows, schema=VISITS, name="visits", tables={"sites": public})
    session = sf.Session(data, budget="10000")

    asked = session.ask(V.join(S, "site").aggregate(n=_.count(), m=_.beds.mean()))

    release = asked.release("1000")
    assert abs(release["n"].estimate - 60) < 1
    assert isinstance(asked.query, Query)
