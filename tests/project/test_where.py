"""Filters as text: a closed grammar that reads back what it writes."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.choice import when
from sfumato.declare.expr import (
    And,
    Compare,
    IsIn,
    IsMissing,
    Not,
    Or,
    Term,
    col,
    value_of,
)
from sfumato.declare.query import Query, count
from sfumato.declare.schema import Real, Schema
from sfumato.declare.where import parse_filter, parse_value, render_filter
from sfumato.errors import DeclarationError
from sfumato.plan import make_plan

WORDS = st.from_regex(r"[a-zA-Z_年龄血糖][a-zA-Z0-9_年龄血糖]*", fullmatch=True)
PLAIN = WORDS.filter(
    lambda w: w.lower() not in {"and", "or", "not", "in", "is", "between"}
)
VALUES = (
    st.text(max_size=8)
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
)


def filters(names):
    """Return a strategy of filters over columns of these names."""
    leaves = (
        st.builds(
            Compare, names, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), VALUES
        )
        | st.builds(IsIn, names, st.lists(VALUES, min_size=1, max_size=3).map(tuple))
        | st.builds(IsMissing, names)
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(And, inner, inner)
            | st.builds(Or, inner, inner)
            | st.builds(Not, inner)
        ),
        max_leaves=8,
    )


@given(filters(PLAIN))
@settings(deadline=None)
def test_what_a_filter_says_reads_back(expr):
    """`str` of a filter over plainly named columns is its own source text."""
    assert parse_filter(str(expr)) == expr


@given(filters(st.text()))
@settings(deadline=None)
def test_odd_names_are_quoted_and_read_back(expr):
    """The writer quotes every name that needs it."""
    assert parse_filter(render_filter(expr)) == expr


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_text_is_a_filter_or_refused(text):
    """No text makes the reader fail in another way."""
    with suppress(DeclarationError):
        parse_filter(text)


@pytest.mark.parametrize(
    ("text", "expr"),
    [
        ("Age >= 30 and Outcome == 1", (col("Age") >= 30) & (col("Outcome") == 1)),
        ("Age between 30 and 40", col("Age").between(30, 40)),
        ("a == 1 or b == 2 and c == 3",
         (col("a") == 1) | ((col("b") == 2) & (col("c") == 3))),
        ("not a == 1 and b == 2", ~(col("a") == 1) & (col("b") == 2)),
        ("Sex in ['F', \"M\"]", col("Sex").is_in(["F", "M"])),
        ("Sex NOT IN ['F']", ~col("Sex").is_in(["F"])),
        ("Insulin is missing", col("Insulin").is_missing()),
        ("Insulin is not missing", ~col("Insulin").is_missing()),
        ('"capital-gain" > -1.5e3', col("capital-gain") > -1500.0),
        ('"血糖 值" <= 7.8', col("血糖 值") <= 7.8),
        ("血糖 <= 7.8", col("血糖") <= 7.8),
        ('"a\\"b" == true', col('a"b') == True),  # noqa: E712
        ("'1st' != 1", col("1st") != 1),
        ('"O\'Brien" == 1', col("O'Brien") == 1),
        ('"age " == 1', col("age ") == 1),
        ("missing == 1", col("missing") == 1),
        ("a > b", col("a") > col("b")),
        ("a -1 > -b*2", col("a") - 1 > -col("b") * 2),
        ("(a + b) * 2 > 3 and ((a > 3) or not (b < 1))",
         ((col("a") + col("b")) * 2 > 3) & ((col("a") > 3) | ~(col("b") < 1))),
        ("a / b ** 2 between 1 and c + 1",
         (col("a") / col("b") ** 2).between(1, col("c") + 1)),
        ("lower(strip(g)) in ['a'] or lower(g) is not missing",
         col("g").strip().lower().is_in(["a"]) | ~col("g").lower().is_missing()),
        ("icd starts with 'E11' and g not starts with \"x\"",
         col("icd").starts_with("E11") & ~col("g").starts_with("x")),
        ("floor(clip(a, 0, 9)) == 3", col("a").clip(0, 9).floor() == 3),
        ("column('a b') * 2 <= 4", col("a b") * 2 <= 4),
        ("cut(a, [0, 18, 65], ['minor', 'adult']) == 'adult'",
         col("a").cut([0, 18, 65], ["minor", "adult"]) == "adult"),
        ("year(d) == 2024 or number(g) > 1 or abs(a - b) > 1",
         (col("d").year() == 2024) | (col("g").to_number() > 1) | (abs(col("a") - col("b")) > 1)),
        ("(when a > 3 then b when a > 2 then missing otherwise -1) >= 0",
         when(col("a") > 3).then(col("b")).when(col("a") > 2).then(None).otherwise(-1) >= 0),
    ],
)  # fmt: skip
def test_the_grammar(text, expr):
    """Each form means what the Python form means."""
    assert parse_filter(text) == expr


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "begin a condition with a column"),
        ("Age foo", "after a column write"),
        ("Age", "write Age == true"),
        ('A > 3 and not ("my b")', "write 'my b' == true"),
        ("smoker or A > 3", "write smoker == true"),
        ("Age = 30", "write == for equal"),
        ("Age <> 30", "write == for equal"),
        ("capital§gain > 1", "in quotes"),
        ("1st > 1", "begin a condition|in quotes"),
        ("x.y > 1", "in quotes"),
        ("30 <= Age", "begin a condition"),
        ("Sex == F", "text in quotes"),
        ("Sex == 'F", "closing quote"),
        ("（Age > 3）", "half width"),
        ("Age > 3 Sex == 1", "join conditions"),
        ("Age in []", "compare with a number"),
        ("Age in [1, 2", "here a ] is missing"),
        ("(Age > 1", "here a ) is missing"),
        ("Age is 3", "`missing`"),
        ("Age between 3", "between 30 and 40"),
        ("Age > 1e999", "compare with a number"),
        ("Age > nan", "compare with a number"),
        ("Age > ", "compare with a number"),
        ("Age + > 3", "a value is missing"),
        ("Age ** x > 3", "a power is"),
        ("Age ** 99 > 3", "other powers"),
        ("clip(Age, 0, x) > 3", "compare with a number"),
        ("clip(Age, 0, 'x') > 3", "a number is needed"),
        ("g starts 'x'", "the word 'with'"),
        ("g starts with 3", "the prefix in quotes"),
        ("(when a > 3 b) > 1", "the word 'then'"),
        ("sin(a) > 1", "the functions are"),
        ("a + " * 60 + "(" * 60 + "a" + ")" * 60 + " > 1", "fewer brackets"),
        ("-" * 60 + "a > 1", "fewer brackets"),
        ('"a\\d" == 1', "backslash"),
        ("(" * 60 + "a == 1" + ")" * 60, "fewer brackets"),
        ("not " * 60 + "a == 1", "fewer brackets"),
        (" and ".join(["a == 1"] * 201), "at most 200"),
        ("Age > 30; DROP TABLE x", "in quotes"),
        ("__import__('os')", "the functions are floor"),
    ],
)
def test_what_is_not_a_filter_is_refused_with_a_hint(text, hint):
    """A refusal quotes where it stops and says how to mend it."""
    with pytest.raises(DeclarationError) as refused:
        parse_filter(text)

    assert any(h in refused.value.hint for h in hint.split("|"))


def test_a_name_with_a_sign_is_near_its_column():
    """Without quotes a sign computes; the plan then names the column that was meant."""
    schema = Schema({"capital-gain": Real(0, 1)})
    query = Query().where(parse_filter("capital-gain > 0")).select(count())

    with pytest.raises(DeclarationError, match="'capital'") as refused:
        make_plan(query, schema, 1)

    assert "'capital-gain'" in refused.value.hint


VALUES_OF_THE_FORM = [
    ("Weight / Height ** 2", col("Weight") / col("Height") ** 2),
    ("BMI > 30", col("BMI") > 30),
    ("(a > 3) and b is missing", (col("a") > 3) & col("b").is_missing()),
    ("when a < 18 then 'minor' otherwise g", when(col("a") < 18).then("minor").otherwise(col("g"))),
    ("number(a > 3) + number((b > 3))",
     Term(value_of(col("a") > 3)).to_number() + Term(value_of(col("b") > 3)).to_number()),
    ("2", 2),
    ("missing", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"), VALUES_OF_THE_FORM, ids=lambda v: str(v)[:30]
)
def test_the_grammar_of_values(text, value):
    """A derived column of a project file means what the Python form means."""
    assert parse_value(text) == value_of(value)


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_text_is_a_value_or_refused(text):
    """No text makes the reader fail in another way."""
    with suppress(DeclarationError):
        parse_value(text)
