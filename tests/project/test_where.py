"""Filters as text: a closed grammar that reads back what it writes."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.declare.expr import And, Compare, IsIn, IsMissing, Not, Or, col
from sfumato.declare.where import parse_filter, render_filter
from sfumato.errors import DeclarationError

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
    ],
)  # fmt: skip
def test_the_grammar(text, expr):
    """Each form means what the Python form means."""
    assert parse_filter(text) == expr


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "begin a condition with a column"),
        ("Age", "after a column write"),
        ("Age = 30", "write == for equal"),
        ("Age <> 30", "write == for equal"),
        ("capital-gain > 1", "in quotes"),
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
        ('"a\\d" == 1', "backslash"),
        ("(" * 60 + "a == 1" + ")" * 60, "fewer brackets"),
        ("not " * 60 + "a == 1", "fewer brackets"),
        (" and ".join(["a == 1"] * 201), "at most 200"),
        ("Age > 30; DROP TABLE x", "in quotes"),
        ("__import__('os')", "after a column write"),
    ],
)
def test_what_is_not_a_filter_is_refused_with_a_hint(text, hint):
    """A refusal quotes where it stops and says how to mend it."""
    with pytest.raises(DeclarationError, match=r"the filter") as refused:
        parse_filter(text)

    assert any(h in refused.value.hint for h in hint.split("|"))
