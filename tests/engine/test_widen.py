"""Derived columns are declared, or their declaration follows from public facts."""

import re

import adversary as a
import formulas as f
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.declare.choice import when
from sfumato.declare.expr import Term, col, value_of
from sfumato.declare.query import Query, count, mean
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.value import Constant
from sfumato.declare.where import parse_filter
from sfumato.engine.evaluate import truth, value
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan
from sfumato.plan.kinds import Numeric, kind_of
from sfumato.plan.reach import reach

SCHEMA = Schema({
    "x": Real(0, 10), "n": Integer(0, 9), "g": Category([" A", "a", "b"]),
    "code": Category([0, 1, 7]), "flag": Boolean(),
})  # fmt: skip


def column(term, declared=None, *, groups=False):
    """Return the declaration of a derived column."""
    query = Query().derive("d", term, declared).select(count())
    query = query.group_by("d") if groups else query
    return make_plan(query, SCHEMA, 1).schema["d"]


ADULT = col("x") >= 3


@pytest.mark.parametrize(
    ("term", "declared"),
    [
        (ADULT, Boolean()),
        (col("g").strip().lower(), Category(["a", "b"])),
        (col("x").cut([0, 2, 5]), Category(["[0, 2)", "[2, 5]"])),
        (when(ADULT).then("old").otherwise(col("g")), Category(["old", " A", "a", "b"])),
        (when(ADULT).then(1).otherwise(0), Integer(0, 1)),
        (when(ADULT).then(1), Integer(0, 1)),
        (when(ADULT).then(-2.5), Real(-2.5, 0)),
        (when(ADULT).then(0), Integer(0, 1)),
        (col("x").clip(-1, 4) * 3 - 1, Real(-4, 11)),
        (col("x").clip(-1, 4).floor() * -3, Integer(-12, 3)),
        (1 / col("x").clip(2, 4), Real(0.25, 0.5)),
        (value_of(col("code").to_number()), Integer(0, 7)),
        (Term(value_of(ADULT)).to_number(), Integer(0, 1)),
    ],
    ids=str,
)  # fmt: skip
def test_what_follows_from_public_facts(term, declared):
    """The declaration may be left out where it follows exactly."""
    assert column(term) == declared


def test_whole_numbers_are_keys_where_they_group():
    """Their keys are all whole numbers within reach."""
    decade = (col("x").clip(0, 99) / 10).floor()

    assert column(decade, groups=True) == Category(range(10))
    assert column(decade) == Integer(0, 9)


REFUSED = [
    (col("x") * 2, None, "without public bounds"),
    (1 / col("x").clip(-1, 4), None, "without public bounds"),
    (None, None, "missing on every row"),
    (col("y") + 1, None, "unknown column 'y'"),
    (col("g") + 1, None, "no number to compute with"),
    (ADULT & (col("g").lower() == "c"), None, "cannot be compared with 'c'"),
    (col("x") + 1 == "a", None, "cannot be compared with"),
    (col("g").lower() < "b", None, "cannot be compared with"),
    ((col("x") + 1).is_in(["a"]), None, "cannot be compared with 'a'"),
    (col("x").lower(), None, "needs a text"),
    (col("x").starts_with("a"), None, "needs a text"),
    (col("x").year(), None, "needs a day"),
    (Term(Constant("x")).year(), None, r'needs a day[\s\S]*column\("…"\)'),
    (when(ADULT).then(1).otherwise("a"), None, "of different kinds"),
    (Term(Constant(1)) == value_of(None), None, "always missing"),
    (ADULT, Real(0, 1), "cannot be declared as Real"),
    (ADULT, Boolean(true="yes", false="no"), "cannot be declared as Boolean"),
    (col("g").lower(), Integer(0, 1), "cannot be declared as Integer"),
    (col("g").lower(), Category(["A"]), "can never be 'A'"),
    (col("x") + 1, Boolean(), "cannot be declared as Boolean"),
]


@pytest.mark.parametrize(
    ("term", "declared", "words"), REFUSED, ids=lambda v: str(v)[:40]
)
def test_what_does_not_fit_is_refused(term, declared, words):
    """By name, before any row is read."""
    with pytest.raises(DeclarationError, match=words) as refusal:
        column(term, declared)

    assert refusal.value.hint


@pytest.mark.parametrize("name", ["x", "X", "FLAG"])
def test_no_column_is_overwritten(name):
    """Not even by a name that differs in capitals alone."""
    with pytest.raises(DeclarationError, match="has the name of column"):
        make_plan(Query().derive(name, ADULT).select(count()), SCHEMA, 1)
    with pytest.raises(DeclarationError, match="has the name of column"):
        query = Query().derive("d", ADULT).derive("D", ADULT)
        make_plan(query.select(count()), SCHEMA, 1)


def test_what_cannot_be_written():
    """Constants that are none, powers that are none, and truth of a value."""
    for wrong in (
        lambda: col("x") + float("nan"),
        lambda: col("x") * 1e60,
        lambda: col("x") + True,
        lambda: col("x") + b"1",
        lambda: col("x") ** 0.5,
        lambda: col("x") ** 9,
        lambda: col("x").clip(2, 1),
        lambda: col("x").cut([1]),
        lambda: col("x").cut([1, 2, 2]),
        lambda: col("x").cut([1, 2, 3], ["a", "a"]),
        lambda: col("x").cut([1, 2, 3], "ab"),
        lambda: when(True),
        lambda: bool(col("x") + 1),
        lambda: Query().derive("", ADULT),
        lambda: Query().derive("d", ADULT, int),
    ):
        with pytest.raises(DeclarationError):
            wrong()


def test_an_endless_expression_is_refused():
    """Too deep or too long to be walked; found without recursion."""
    deep = long = col("x") + 1
    for _ in range(5000):
        deep = deep + 1
    for _ in range(9):
        long = long + long
    for term in (deep, long):
        with pytest.raises(DeclarationError, match="more than"):
            column(term, Real(0, 1))


@settings(max_examples=a.times(150), deadline=None, suppress_health_check=f.SLOW)
@given(st.data(), a.a_row())
def test_no_row_leaves_the_reach(data, row):
    """Inferred bounds hold every value, and whole numbers are whole."""
    schema = data.draw(a.schemas())
    node = value_of(data.draw(f.numbers(schema)))
    found = reach(node, schema) if kind_of(node, schema) == Numeric() else None

    x = value(node, row, schema)

    if found is not None and x is not None:
        assert found.low <= x <= found.high
        assert x.is_integer() or not found.whole


def test_a_derived_mean_has_the_sensitivity_of_its_declaration():
    """Whatever is computed, the declared bounds count."""
    ratio = col("x") / (col("n") - col("n"))
    plan = make_plan(
        Query().derive("d", ratio, Real(0, 80, step=1)).select(mean("d")), SCHEMA, 1
    )

    assert plan.parts[0].aggregate.width == 80
    assert plan.table == SCHEMA


PLAIN = Schema({"x": Real(0, 10), "n": Integer(0, 9), "g": Category(["a", " b"]), "k": Category(["1", "2"])})  # fmt: skip


@settings(max_examples=a.times(150), deadline=None, suppress_health_check=f.SLOW)
@given(st.data(), f.computed(PLAIN, 3))
def test_what_an_expression_says_reads_back(data, expr):
    """The words for people are the text of a project file, with the same meaning."""
    text = str(expr)
    # Conditions begin with what they are about, and lists are not empty.
    assume(
        not re.search(
            r"(^|\(|and |or |not |when )['\"0-9-][^ ]* (<|>|=|!|in|is|st)|\[\]", text
        )
    )
    # A bare word after == would often be a text whose quotes were forgotten.
    assume(not re.search(r"[=!]= \w+( |\)|$)", re.sub(r"[=!]= [0-9]", "", text)))
    # Computed numbers below the least normal one are zero; those of a table are not.
    assume(not re.search(r"e-3(08|09|1|2)", text))
    found = parse_filter(text)

    assert parse_filter(str(found)) == found
    row = {n: data.draw(a.OBJECTS) for n in PLAIN}
    assert truth(found, row, PLAIN) is truth(expr, row, PLAIN)
