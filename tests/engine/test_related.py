"""Joins, unions and figures per person: every engine returns the specification's integers."""

import math
from decimal import Decimal

import adversary as a
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import related as r
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import Epsilon
from sfumato.declare import feature
from sfumato.declare import query as ask
from sfumato.declare.bounds import private_bounds
from sfumato.declare.dataset import Dataset
from sfumato.declare.lookup import Lookup, PublicTable
from sfumato.declare.query import Query
from sfumato.declare.relation import Joined, Looked, Other, Part, PerPerson, United
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema, Text
from sfumato.declare.unit import Rows, Unit
from sfumato.engine.load import open_engine
from sfumato.engine.public import read_public
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan
from sfumato.plan import relate as planned
from sfumato.plan.bounded import make_bounded
from sfumato.plan.record import PublicSize

IDS = st.sampled_from([1, 2, "2", "2.0", None, "NA", "a", 3.0, math.nan])
CROWD = st.lists(
    st.builds(lambda row, who: {**row, "who": who}, a.a_row(), IDS), max_size=8
)


@settings(max_examples=a.times(12), deadline=None, derandomize=True)
@given(r.questions(r.WHOSE), CROWD, CROWD)
def test_people(plan, rows, others):
    """Random nodes over each other, cells and identifiers of any kind."""
    assert r.answer(plan, rows, others) == r.expected(plan, rows, others)


@settings(max_examples=a.times(12), deadline=None, derandomize=True)
@given(r.questions(st.just(Rows())), a.tables(), a.tables())
def test_rows(plan, rows, others):
    """Random nodes where each row is a unit of its own."""
    assert r.answer(plan, rows, others) == r.expected(plan, rows, others)


KINDS = {
    "int64": ([1, 2, None, 3], pa.int64()),
    "int8": ([1, 2, None, 3], pa.int8()),
    "double": ([1.0, 2.0, math.nan, 0.5], pa.float64()),
    "text": (["1", "2.0", "", None], pa.string()),
    "decimal": ([Decimal("1.0"), Decimal("2.0"), None, Decimal("0.5")], pa.decimal128(38, 1)),
    "null": ([None] * 4, pa.null()),
}  # fmt: skip


@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_identifiers_of_all_types_meet(kind, other):
    """The person is one, however each of the two tables stores her identifier."""
    schema = Schema({"x": Integer(0, 9)}, unit=WHO)
    tables = [
        pa.table({"who": pa.array(ids, t), "x": pa.array(range(4), pa.int64())})
        for ids, t in (KINDS[kind], KINDS[other])
    ]
    joined = Joined(Part(), Part(Other(r.LABS, schema)), "o_", 9, 9)
    for base in (joined, United((Part(), Part(Other(r.LABS, schema))))):
        plan = make_plan(Query().of(base).select(ask.count(), ask.people()), schema, 1)
        rows = [table.to_pylist() for table in tables]
        assert r.answer(plan, *tables) == r.expected(plan, *rows)


def test_questions_about_another_table():
    """The other private tables can be asked about by themselves."""
    plan = make_plan(Query().of(Other(r.LABS, VISITS)).select(ask.count()), VISITS, 1)

    assert r.answer(plan, [], PEOPLE) == r.expected(plan, [], PEOPLE)


WHO = Unit("who", max_rows=3, max_groups=2)
VISITS = Schema(
    {
        "x": Real(0, 10, step=1, missing=9),
        "day": Integer(0, 1000),
        "site": Category(["A", "B", 3]),
        "ill": Boolean(),
        "note": Text(),
    },
    unit=WHO,
)


def rows_of(*cells):
    """Rows of a table of visits."""
    return [dict(zip(("who", *VISITS), row, strict=True)) for row in cells]


PEOPLE = rows_of(
    (1, 2, 5, "A", True, "n"),
    (1, 7, 3, "B", False, "s"),
    (1, 4, 3, "A", None, "n"),
    (2, 9, 1, 3, False, "x"),  # 9 is a code: no value
    (2, None, None, "?", False, None),
    (None, 8, 1, "A", True, "n"),  # nobody's
    (3, 99, 8, "A", True, "s"),  # clamped to 10
)


def exact(query, schema=VISITS, rows=PEOPLE):
    """Return the integers of a question, of which both engines agree."""
    plan = make_plan(query, schema, 1)
    found = a.answer(plan, rows)
    assert found == a.expected(plan, rows)
    return found


@pytest.mark.parametrize(
    ("one", "figures"),
    [
        (feature.max("x"), {1: 7, 3: 10}),
        (feature.min("x"), {1: 2, 3: 10}),
        (feature.first("x", by="day"), {1: 4, 3: 10}),  # the smaller one of two on day 3
        (feature.last("x", by="day"), {1: 2, 3: 10}),
        (feature.sum("x", Real(0, 20, step=1)), {1: 13, 3: 10}),
        (feature.count("x", most=9), {1: 3, 2: 0, 3: 1}),
        (feature.count(most=9), {1: 3, 2: 2, 3: 1}),
        (feature.count(most=2), {1: 2, 2: 2, 3: 1}),
    ],
    ids=str,
)  # fmt: skip
def test_figures(one, figures):
    """Each figure is that of the person's own rows; missing cells and codes are left out."""
    query = Query().of(PerPerson(Part(), (("f", one),)))

    found = exact(query.select(ask.sum("f"), ask.count("f"), ask.people()))

    assert found == ((sum(figures.values()),), (len(figures),), (3,))


def test_first_key_and_any_truth():
    """Keys have a first one; of truth values the largest says whether any is true."""
    figures = (
        ("home", feature.first("site", by="day")),
        ("ever", feature.max("ill")),
        ("always", feature.min("ill")),
    )
    query = Query().of(PerPerson(Part(), figures)).group_by("home", other="-")

    found = exact(query.select(ask.sum("ever"), ask.sum("always")))

    assert found == ((2, 0, 0, 0), (1, 0, 0, 0))


def test_a_figure_is_filtered_by_person_and_rows_before():
    """A filter before the node chooses rows, one after it people."""
    part = Part(None, (), Query().where(a.col("x") >= 4).condition)
    query = Query().of(PerPerson(part, (("n", feature.count(most=9)),)))

    assert exact(query.select(ask.people())) == ((2,),)
    assert exact(query.where(a.col("n") >= 2).select(ask.people())) == ((1,),)


SITES = Lookup(
    "sites",
    ("site",),
    (("beds", Integer(0, 500)), ("region", Category(["N", "S"])), ("open", Boolean())),
    ((("A",), (100.0, 0, 1)), (("3",), (None, 1, 0)), (("Z",), (7.0, 1, 1))),
)


def test_a_public_table_is_looked_up():
    """A row finds the one public row with its key; without one the cells are missing."""
    query = Query().of(Looked(Part(), ("site",), SITES)).group_by("region", other="-")
    plain = Schema(dict(VISITS.columns))

    found = exact(query.select(ask.count(), ask.sum("beds"), ask.sum("open")), plain)

    assert found == ((4, 1, 2), (400, 0, 0), (4, 0, 0))


@pytest.mark.parametrize("on", ["site", "day", "ill", "note"])
def test_keys_of_every_kind(on):
    """Categories, whole numbers, truth values and texts are keys."""
    keys = {"site": "A", "day": "3.0", "ill": "true", "note": "n"}
    other = Lookup("t", ("k",), (("v", Integer(0, 9)),), (((keys[on],), (5.0,)),))
    expected = {"site": 4, "day": 2, "ill": 3, "note": 3}
    query = Query().of(Looked(Part(), (on,), other)).select(ask.count("v"))

    assert exact(query, Schema(dict(VISITS.columns))) == ((expected[on],),)


def test_pairs_of_one_person():
    """Rows meet rows of the same person only, and nobody's rows meet none."""
    query = Query().of(Joined(Part(), Part(), "o_", 100, 100))

    found = exact(query.where(a.col("o_x") >= 0).select(ask.count(), ask.people()))

    assert found == ((10 << 20,), (2 << 20,))  # 3·3 pairs and 1·1


def test_a_person_with_too_many_pairs_is_left_out(monkeypatch):
    """No sum of a person's terms leaves 64 bits; whether she is too many is hers alone."""
    monkeypatch.setattr(planned, "MOST_PAIRS", 8)
    query = Query().of(Joined(Part(), Part(), "o_", 100, 100))

    found = exact(query.select(ask.count(), ask.people()))

    assert found == ((5 << 20,), (2 << 20,))  # without the 3·3 pairs of person 1


def test_a_question_of_too_many_tables_is_refused():
    """Statements stay short, and the rows of one person below 2^33."""
    many = United((Part(),) * 65)
    deep = Part()
    for _ in range(13):
        deep = Part(United((deep,)))
    for base in (many, deep.base):
        with pytest.raises(DeclarationError, match="more tables than"):
            make_plan(Query().of(base).select(ask.count()), VISITS, 1)


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("codes", [((), (-1,)), ((-1,), ()), ((7,), (-1,))], ids=str)
def test_united_tables_have_codes_of_their_own_for_nobody(kind, codes):
    """Rows that one table says are nobody's do not become a person's in the union."""
    first, second = (
        Schema(
            {"x": Integer(0, 9)},
            unit=Unit("who", max_rows=3, max_groups=1, missing=missing),
        )
        for missing in codes
    )
    both = United((Part(), Part(Other(r.LABS, second))))
    rows = pa.table({"who": [kind(i) for i in (1, 2, -1)], "x": [1, 2, 3]})
    plan = make_plan(Query().of(both).select(ask.count(), ask.people()), first, 1)
    figures = (("n", feature.count(most=9)),)
    told = Query().of(PerPerson(Part(both), figures)).select(ask.sum("n"))

    for one in (plan, make_plan(told, first, 1)):
        held = rows.to_pylist()
        assert r.answer(one, rows, rows) == r.expected(one, held, held)


@pytest.mark.parametrize("inner", [True, False])
def test_a_public_number_of_rows_is_that_of_the_table(inner):
    """Rows that a filter or a join left out are counted, with noise."""
    schema = Schema({"x": Integer(0, 9)}, unit=Rows(neighbours="replace_one", size=3))
    table = Lookup("t", ("k",), (("v", Integer(0, 9)),), ((("1",), (5.0,)),))
    part = Part() if inner else Part(condition=a.col("x") == 1)
    query = Query().of(Looked(part, ("x",), table, found_only=inner))

    found = exact(query.select(ask.count()), schema, [{"x": i} for i in range(3)])

    assert found == ((1,),)


def test_united_tables():
    """All rows of both; a row that is a unit of its own counts for two."""
    plain = Schema(dict(VISITS.columns))
    query = Query().of(United((Part(), Part()))).select(ask.count())

    plan = make_plan(query, plain, 1)

    assert exact(query, plain) == ((14,),)
    assert plan.steps[0].mechanism.sensitivity == 2


@pytest.mark.parametrize(
    "source",
    [
        [{"site": "A", "beds": 100}, {"site": 3, "beds": None}, {"site": None, "beds": 2}],
        pd.DataFrame({"site": ["A", "3.0", None], "beds": [100, None, 2]}),
    ],
    ids=["records", "pandas"],
)  # fmt: skip
def test_public_tables_are_read_as_private_ones(source):
    """Keys are canonical texts in order; rows without a key are left out."""
    table = PublicTable(source, key="site", columns={"beds": Integer(0, 500)})

    assert read_public(table).rows == ((("3",), (None,)), (("A",), (100.0,)))


WORDS = Schema({"b": Boolean(true="yes", false=("no", "nein"))})


@pytest.mark.parametrize("way", ["united", "looked up"])
def test_truth_values_have_the_words_that_are_declared(way, tmp_path):
    """Also where tables store them differently, and where a public table tells them."""
    rows, text = [{"b": "yes"}, {"b": "no"}, {"b": "?"}], tmp_path / "t.parquet"
    pq.write_table(pa.table({"b": ["yes", "nein", None]}), text)
    both = Dataset(rows, schema=WORDS, tables={"labs": Dataset(text, schema=WORDS)})
    base, name, found = United((Part(), Part(Other("labs", WORDS)))), "b", (2, 2, 2)
    if way == "looked up":
        column = (("b", WORDS["b"]),)
        told = Lookup("t", ("k",), column, ((("yes",), (0.0,)), (("no",), (1.0,))))
        base, name, found = Looked(Part(), ("b",), told, "p_"), "p_b", (1, 1, 1)
    query = Query().of(base).group_by(name, other="-").select(ask.count())

    with open_engine(both) as engine:
        assert engine.run(make_plan(query, WORDS, 1)).unseal() == (found,)


REFUSED = {
    "a key twice": (
        lambda: Lookup("t", ("k",), SITES.columns, (SITES.rows[0], SITES.rows[0])),
        "stands twice",
    ),
    "keys that are one whole number": (
        lambda: _looked("day", [("7",), ("07",)]),
        "stands twice",
    ),
    "texts against numbers": (lambda: _looked("day", [("a",), ("b",)]), "no key of"),
    "fractions as keys": (lambda: _looked("x", [("1",)]), "fractions"),
    "too few columns": (
        lambda: Query().of(Looked(Part(), ("site", "day"), SITES)),
        "2 columns are given",
    ),
    "an unknown column": (lambda: _looked("sit", [("A",)]), "no column 'sit' to be"),
    "the unit's column": (lambda: _looked("who", [("1",)]), "says whose a row is"),
    "names of both": (
        lambda: Query().of(Joined(Part(), Part())),
        "both tables have a column",
    ),
    "other columns": (
        lambda: Query().of(
            United((Part(), Part(None, Query().derive("z", a.col("x") > 1).derived)))
        ),
        "declared in different ways",
    ),
    "the unit's column as a figure": (
        lambda: Query().of(PerPerson(Part(), (("WHO", feature.max("x")),))),
        "says whose a row is",
    ),
    "a sum of keys": (
        lambda: Query().of(
            PerPerson(Part(), (("s", feature.sum("site", Real(0, 1))),))
        ),
        "cannot be made of column 'site'",
    ),
    "a largest text": (
        lambda: Query().of(PerPerson(Part(), (("s", feature.max("note")),))),
        "cannot be made of column 'note'",
    ),
    "ordered by keys": (
        lambda: Query().of(PerPerson(Part(), (("s", feature.first("x", by="site")),))),
        "cannot be made of column 'site'",
    ),
    "the unit's column overwritten": (
        lambda: Query().derive("WHO", a.col("x") > 1),
        "has the name of column 'who'",
    ),
    "the table's unit grouped": (
        lambda: Query().group_by("who", keys=[1]),
        "says whose a row is",
    ),
    "the unit's column looked up": (
        lambda: Query().of(
            Looked(
                Part(),
                ("site",),
                Lookup("t", ("k",), (("Who", Integer(0, 9)),), ((("A",), (1.0,)),)),
            )
        ),
        "both tables have a column",
    ),
    "the unit's column joined": (
        lambda: Query().of(
            Joined(
                Part(),
                Part(
                    Other(
                        "o",
                        Schema(
                            {"who": Integer(0, 9)},
                            unit=Unit("id", max_rows=1, max_groups=1),
                        ),
                    )
                ),
            )
        ),
        "both tables have a column",
    ),
    "the unit's column filtered": (
        lambda: Query().where(a.col("who") == 1),
        "says whose a row is",
    ),
    "the unit's column derived": (
        lambda: (
            Query()
            .of(PerPerson(Part(), (("f", feature.max("x")),)))
            .derive("Who", a.col("f") > 1)
        ),
        "has the name of column 'who'",
    ),
    "the unit's column grouped": (
        lambda: (
            Query()
            .of(PerPerson(Part(), (("f", feature.max("x")),)))
            .group_by("who", keys=[1])
        ),
        "says whose a row is",
    ),
}


def _looked(on, keys):
    rows = tuple((key, (1.0,)) for key in keys)
    other = Lookup("t", ("k",), (("v", Integer(0, 9)),), rows)
    return Query().of(Looked(Part(), (on,), other))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_any_row(name):
    """Bad joins and figures are refused by the plan, with a fact and a hint."""
    make, words = REFUSED[name]

    with pytest.raises(DeclarationError, match=words) as caught:
        make_plan(make().select(ask.count()), VISITS, 1)

    assert caught.value.hint


def test_rows_have_no_persons():
    """Where each row is a unit, a join on the person and figures per person are refused."""
    plain = Schema(dict(VISITS.columns))
    for base in (
        Joined(Part(), Part(), "o_"),
        PerPerson(Part(), (("f", feature.max("x")),)),
    ):
        with pytest.raises(DeclarationError, match="unit"):
            make_plan(Query().of(base).select(ask.count()), plain, 1)


@pytest.mark.parametrize(
    "base",
    [
        Joined(Part(), Part(), "o_"),
        United((Part(), Part())),
        PerPerson(Part(), (("x", feature.max("x")),)),
        Joined(Part(), Part(PerPerson(Part(), (("o_x", feature.max("x")),)))),
    ],
    ids=["joined", "united", "per person", "joined with figures"],
)
def test_a_public_number_of_people_stays_a_claim_and_is_counted_anew(base):
    """Under replace-one people are joined and united; nothing of the result is known."""
    unit = Unit("who", max_rows=2, max_groups=1, neighbours="replace_one", size=3)
    schema = Schema(dict(VISITS.columns), unit=unit)

    query = Query().of(base).select(ask.people(), ask.count(), ask.mean("x"))
    plan = make_plan(query, schema, 1)

    assert (plan.schema.unit.neighbours, plan.schema.unit.size) == ("replace_one", 3)
    assert plan.cost == Epsilon(1)
    assert all(not isinstance(recipe, PublicSize) for recipe in plan.recipes)
    exact(query, schema)


def test_a_public_number_of_rows_is_not_united():
    """Two tables in which a replaced row comes or goes would need another bound."""
    unit = Rows(neighbours="replace_one", size=3)
    schema = Schema(dict(VISITS.columns), unit=unit)

    with pytest.raises(DeclarationError, match="number of rows is public"):
        make_plan(Query().of(United((Part(), Part()))).select(ask.count()), schema, 1)


def test_unknown_keys_of_united_rows_are_refused():
    """A threshold pays for one row of one unit, and here a person has one in each table."""
    plain = Schema(dict(VISITS.columns))
    both = Query().of(United((Part(), Part()))).group_by("note").select(ask.count())

    with pytest.raises(DeclarationError, match="united tables"):
        make_plan(both, plain, "1")
    with pytest.raises(DeclarationError, match="united tables"):
        make_plan(both, plain, Epsilon("1", "1e-7"))


@pytest.mark.parametrize("table", ["own", "other"])
def test_private_bounds_are_not_joined(table):
    """Bounds that a first step would find are refused in every table that is read."""
    wide = Real(bounds=private_bounds(within=(0, 1000)))
    private = Schema({"x": wide}, unit=WHO)
    public = Schema({"x": Real(0, 10)}, unit=WHO)
    main, other = (private, public) if table == "own" else (public, private)
    base = Other(r.LABS, other)
    if table == "own":
        base = PerPerson(Part(), (("f", feature.max("x")),))
    query = Query().of(base).select(ask.mean("f" if table == "own" else "x"))

    with pytest.raises(DeclarationError, match="private bounds"):
        make_plan(query, main, 1)
    if table == "own":  # the other table's columns are its own, whatever their names
        asked = Query().of(Other(r.LABS, public)).select(ask.mean("x"))
        assert make_bounded(asked, main, 1, dataset="t") is None


WIDE = Real(bounds=private_bounds(within=(0, 1000)))
BOUNDED = Schema({"x": WIDE, "y": Integer(0, 9)}, unit=WHO)
HIGH = (("top", feature.max("x")), ("low", feature.min("x", Real(0, 10))))
UNUSED = {
    "another column of pairs": (Joined(Part(), Part(), "o_", 9, 9), ask.mean("o_y"), None),
    "a filter": (Joined(Part(), Part(), "o_", 9, 9), ask.count(), a.col("o_x") > 400),
    "bins": (United((Part(), Part())), ask.histogram("x", [0, 10, 1000]), None),
    "a figure with public bounds": (PerPerson(Part(), HIGH), ask.mean("low"), None),
    "a filter of people": (PerPerson(Part(), HIGH), ask.people(), a.col("top") > 400),
    "a public table": (Looked(Part(), ("y",), Lookup("t", ("k",), (("v", Integer(0, 9)),), ((("1",), (5.0,)),))), ask.sum("v"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSED)
def test_private_bounds_do_not_block_other_columns(name):
    """Only what the bounds would clip is refused; else the ends of the search hold."""
    base, statistic, condition = UNUSED[name]
    query = Query().of(base).select(statistic)
    query = query if condition is None else query.where(condition)
    rows = [{"who": i % 3, "x": x, "y": i} for i, x in enumerate((5, 500, 2000, None))]

    exact(query, BOUNDED, rows)

    assert make_bounded(query, BOUNDED, 1, dataset="t") is None


@pytest.mark.parametrize(
    "base",
    [
        Joined(Part(), Part(), "o_", 9, 9),
        PerPerson(Part(), (("x", feature.max("x")),)),
        Looked(Part(), ("y",), Lookup("t", ("k",), (("v", Integer(0, 9)),), ((("1",), (5.0,)),))),
    ],
    ids=["pairs", "figures", "public table"],
)  # fmt: skip
def test_what_private_bounds_would_clip_is_refused(base):
    """A mean of such a column would need the first step, which rows of others have not."""
    with pytest.raises(DeclarationError, match="private bounds"):
        make_plan(Query().of(base).select(ask.mean("x")), BOUNDED, 1)


def test_an_engine_answers_of_its_own_schema_only():
    """A plan of another table is not run, whatever its nodes."""
    other = Schema({"x": Real(0, 1)}, unit=WHO)
    query = Query().of(PerPerson(Part(), (("f", feature.max("x")),)))
    plan = make_plan(query.select(ask.count()), other, 1)
    engine = open_engine(a.Dataset(PEOPLE, schema=VISITS))

    with pytest.raises(Exception, match="cannot answer"):
        engine.prepare(plan)
