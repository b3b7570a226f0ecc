"""Nodes that were put together by hand are checked before the debit as any others."""

import json
from contextlib import ExitStack

import pytest

import sfumato as sf
from sfumato.declare.feature import Feature
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Other, Part, PerPerson
from sfumato.errors import DeclarationError
from sfumato.gate import find_bounds, release
from sfumato.question import Question
from sfumato.testing import seeded

WHO = sf.Unit("id", max_rows=1, max_groups=1)
X, Y = {"x": sf.Integer(0, 9)}, {"y": sf.Integer(0, 1)}
ROWS = [{"id": i, "x": i % 10, "y": i % 2} for i in range(40)]


def session():
    labs = sf.Dataset(ROWS, schema=sf.Schema({**X, **Y}, unit=WHO))
    schema = sf.Schema(X, unit=WHO)
    return sf.Session(sf.Dataset(ROWS, schema=schema, tables={"labs": labs}), "1")


@pytest.mark.parametrize(
    "features",
    [
        (),
        (("a", sf.feature.max("x")), ("A", sf.feature.min("x"))),
        (("a", sf.feature.max("x")), ("a", sf.feature.max("x"))),
        (("a", "max(x)"),),
    ],
)
def test_figures_of_a_person_have_one_name_each(features):
    """Two of one name would be two columns of one name, after the debit."""
    with pytest.raises(DeclarationError) as refused:
        PerPerson(Part(), features)

    assert refused.value.hint


@pytest.mark.parametrize(
    "given",
    [
        ("median", "x"),
        ("max",),
        ("max", "x", "y"),
        ("first", "x"),
        ("count",),
        ("count", None, None, sf.Real(0, 1)),
        ("max", 7),
        ("sum", "x", None, "0 to 9"),
    ],
)
def test_figures_are_those_of_the_functions(given):
    """A figure that none of them makes is refused when it is built."""
    with pytest.raises(DeclarationError):
        Feature(*given)


@pytest.mark.parametrize("bound", [0, -5, True, 2.0, "3"])
def test_bounds_of_pairs_are_whole_numbers(bound):
    """However the node is built."""
    for name in ("max_rows", "max_groups"):
        with pytest.raises(DeclarationError, match="at least 1"):
            Joined(Part(), Part(), **{name: bound})


@pytest.mark.parametrize(
    "other",
    [
        Other("labs", sf.Schema(Y, unit=WHO)),
        Other("labs", sf.Schema({**X, "y": sf.Integer(0, 9)}, unit=WHO)),
        Other("labs", sf.Schema({**Y, **X}, unit=WHO)),
        Other("drugs", sf.Schema({**X, **Y}, unit=WHO)),
    ],
)
def test_tables_are_those_of_the_dataset(other):
    """Another declaration would take one column for another, even for the person."""
    asking = session()
    query = Query().of(other).select(sf.count())

    for ask in (asking.ask(query), Question(asking.desk, query)):
        with pytest.raises(DeclarationError):
            ask.release("1")

    joined = Query().of(Joined(Part(), Part(other), prefix="l_")).select(sf.count())
    with pytest.raises(DeclarationError):
        asking.ask(joined).release("1")
    assert asking.spent.units == 0


def test_the_same_declaration_is_asked():
    """A node like the one that the session makes is answered."""
    asking = session()
    same = Other("labs", sf.Schema({**X, **Y}, unit=WHO))

    asking.ask(Query().of(same).select(sf.count())).release("1")

    assert asking.left.units == 0


def test_a_public_table_is_not_the_private_one(tmp_path):
    """Neither the same object nor the same file, by whatever name, is public."""
    path, link = tmp_path / "t.csv", tmp_path / "link.csv"
    path.write_text("id,x,y\n1,2,0\n")
    link.symlink_to(path)
    part, apart = tmp_path / "part.parquet", tmp_path / "b" / "apart.parquet"
    for one in (part, apart):
        one.parent.mkdir(exist_ok=True)
        one.write_bytes(b"")
    schema = sf.Schema(X, unit=WHO)
    pairs = [
        (ROWS, ROWS), (path, str(path)), (path, tmp_path / "a" / ".." / "t.csv"),
        (path, link), (tmp_path, part), (tmp_path / "p*.parquet", part),
        (part, tmp_path / "p*.parquet"), (tmp_path / "*.parquet", tmp_path), (sf.CSV(path), sf.CSV(path, separator=";")),
        (sf.Postgres("postgresql:///a", "t"), sf.Postgres("postgresql:///a", "t", seconds=9)),
        (sf.Postgres("postgresql://u:p@DB/a", "t"), sf.Postgres("postgres://v@db:5432/a?sslmode=require", "t")),
        (sf.Postgres("postgresql://u@db/a%20b", "t"), sf.Postgres("host=db dbname='a b' user=v", "t")),
        (sf.Postgres("postgresql://a@db", "t"), sf.Postgres("postgresql://v@/?host=db&dbname=a", "t")),
    ]  # fmt: skip

    for private, public in pairs:
        known = sf.PublicTable(public, key="id", columns=Y, name="sites")
        with pytest.raises(DeclarationError, match="is the private table"):
            sf.Dataset(private, schema=schema, name="t", tables={"sites": known})
    same = sf.PublicTable(ROWS, key="id", columns=Y)
    asking = session()
    with pytest.raises(DeclarationError, match="is the private table"):
        asking.query().join(same, prefix="p_")

    asked = sf.Postgres("postgresql://u@db/a", "t")
    others = ("postgresql://u@db/b", "postgresql://u@db:1/a", "postgresql://u@c/a", "?")
    for url in others:
        elsewhere = sf.PublicTable(sf.Postgres(url, "t"), key="id", columns=Y, name="s")
        sf.Dataset(asked, schema=schema, name="t", tables={"s": elsewhere})
    beside = sf.PublicTable(apart, key="id", columns=Y, name="sites")
    sf.Dataset(tmp_path, schema=schema, name="t", tables={"sites": beside})
    free = sf.PublicTable([{"x": 1, "y": 0}], key="x", columns=Y)
    asking.query().join(free, prefix="p_").select(sf.count()).release("1")


def test_a_first_step_under_a_test_seed_is_remembered():
    """Bounds that were found with repeatable noise are not private, whatever follows."""
    columns = {"x": sf.Real(bounds=sf.private_bounds(within=(0, 100)), step=1)}
    rows = [{"x": i % 50} for i in range(400)]
    asking = sf.Session(sf.Dataset(rows, schema=sf.Schema(columns)), "4")
    claims = {}

    for seeds in ((), (1,)):
        desk, plan = asking.desk, asking.query().select(sf.sum("x")).plan("1").bounded
        text = json.dumps(plan.descriptor, sort_keys=True)
        paid = desk.ledger.debit(plan.cost, plan=plan.digest, descriptor=text)
        with ExitStack() as stack:
            for seed in seeds:
                stack.enter_context(seeded(seed))
            found = find_bounds(plan, desk.engine.run(plan.first), paid)
        second = plan.second(found.bounds)
        made = release(second, desk.engine.run(second), paid, found=found)
        claims[seeds] = made.claim.private

    assert claims == {(): True, (1,): False}
