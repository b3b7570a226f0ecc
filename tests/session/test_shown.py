"""HAVING, ORDER BY and LIMIT see released figures and nothing else."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import DeclarationError
from sfumato.post import tell
from sfumato.testing import seeded

SCHEMA = sf.Schema({"g": sf.Category(["a", "b", "c"]), "x": sf.Integer(0, 10)})


def session(counts, budget="1000"):
    """Open a table with so many rows of each key."""
    keys = [key for key, count in counts.items() for _ in range(count)]
    rows = pd.DataFrame({"g": keys, "x": [i % 11 for i in range(len(keys))]})
    return sf.Session(sf.Dataset(rows, schema=SCHEMA, name="t"), budget=budget)


def shares(runs=1000):
    """Return how often two groups pass ``count > 100``, of 99 and of 101 rows."""
    opened = session({"a": 99, "b": 101})
    ask = opened.query().group_by("g", keys=["a", "b"]).select(sf.count())
    ask = ask.having(sf.col("count") > 100)
    with seeded(83):
        told = [{f.group["g"] for f in ask.release("0.1")} for _ in range(runs)]
    assert str(opened.spent) == str(runs // 10)
    return [sum(key in one for one in told) / runs for key in ("a", "b")]


def is_private(found):
    """Tell whether both groups pass by chance, as BC083 wants it."""
    return 0.37 <= found[0] <= 0.49 and 0.46 <= found[1] <= 0.59


def test_bc083_having_sees_the_noisy_count() -> None:
    """Theory: 43.0 % and 52.5 %; at no extra cost."""
    assert is_private(shares())


def test_a_filter_of_the_true_count_is_caught(monkeypatch) -> None:
    """The planted fault: the exact count decides, so that 99 never and 101 always pass."""
    true = {"a": 99, "b": 101}
    monkeypatch.setattr(
        tell, "shown", lambda _, fs: tuple(f for f in fs if true[f.group["g"]] > 100)
    )

    assert not is_private(shares(runs=30))


def test_bc083_with_the_limit_at_most_one_group() -> None:
    """Ordered by the noisy count, the first one; the charge is the same."""
    opened = session({"a": 99, "b": 101})
    ask = opened.query().group_by("g").select(sf.count()).having(sf.col("count") > 100)

    release = ask.order_by("count", descending=True).limit(1).release("0.1")

    assert len(release) <= 1
    assert str(opened.spent) == "0.1"
    assert "having count > 100 ordered by count descending, first 1" in release.question


def test_groups_are_sorted_by_what_is_told() -> None:
    """Each statistic in the order of the groups; a histogram goes with its group."""
    opened = session({"a": 5, "b": 5000, "c": 500})
    ask = opened.query().group_by("g").select(
        sf.histogram("x", [0, 5, 10]), sf.count(), sf.mean("x"), sf.mode("g")
    )  # fmt: skip

    release = ask.order_by("count", descending=True).limit(2).release("20")

    assert [f.group["g"] for f in release] == [*"bb", *"cc", *"bc", *"bc", *"bc"]
    again = ask.order_by("g", descending=True).release("20")
    assert [f.group["g"] for f in again if f.name == "count"] == ["c", "b", "a"]
    # All noisy integers stay in the record, whichever group is told.
    assert all(len(m.values) % 3 == 0 for m in release.measurements)
    compared = ask.order_by("count").limit(2).plan("20").compare_for_owner
    owner = compared(ask.order_by("count").limit(2).release("20"))
    assert [row.truth for row in owner.rows if row.figure.name == "count"] == [5, 500]


def test_none_is_told_where_none_passes() -> None:
    """An answer without figures, in every form; it is written and read again."""
    opened = session({"a": 50})
    ask = opened.query().group_by("g").select(sf.count(), sf.mean("x"))

    release = ask.having(sf.col("count") > 10**9).release("1")

    assert len(release) == 0
    assert json.loads(release.to_json())["figures"] == []
    assert len(release.to_pandas()) == 0


def test_arithmetic_and_three_values() -> None:
    """A division by zero is missing, so neither it nor its opposite is true."""
    opened = session({"a": 100, "b": 200, "c": 400})
    ask = opened.query().group_by("g").select(sf.count(), sf.sum("x"))
    count = sf.col("count")

    few = ask.having((count * 2 - 1 < 500) & (count != 7)).release("50")
    never = ask.having((count / (count - count) > 1) | ~(count / (count - count) > 1))

    assert [f.group["g"] for f in few if f.name == "count"] == ["a", "b"]
    assert len(never.release("50")) == 0


def test_sql_says_the_same() -> None:
    """The same question, the same plan."""
    opened = session({"a": 99, "b": 101})
    ask = opened.query().group_by("g").select(sf.count(name="n"))

    text = "SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 100 ORDER BY n DESC LIMIT 1"
    built = ask.having(sf.col("n") > sf.col("n") * 0 + 100)

    assert str(opened.sql(text)) == str(
        ask.having(sf.col("n") > 100).order_by("n", descending=True).limit(1)
    )
    assert len(built.release("1")) <= 2


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda q: q.having(sf.col("cuont") > 1), "nearest|count"),
        (lambda q: q.having(sf.col("x") > 1), "no figure"),
        (lambda q: q.having(sf.col("g") == "a"), "no figure|numbers"),
        (lambda q: q.having(sf.col("h") > 1), "several numbers"),
        (lambda q: q.having(sf.col("count").is_missing()), "numbers"),
        (lambda q: q.having(sf.col("count") == "7"), "numbers"),
        (lambda q: q.having(True), "not a filter"),
        (lambda q: q.order_by("h"), "several numbers"),
        (lambda q: q.order_by("x"), "no figure"),
        (lambda q: q.order_by(), "names of figures"),
        (lambda q: q.order_by("count", descending=1), "true or false"),
        (lambda q: q.limit(-1), "whole number"),
        (lambda q: q.limit(True), "whole number"),
        (lambda q: q.limit(1.5), "whole number"),
    ],
)
def test_what_cannot_decide_is_refused_for_nothing(ask, words) -> None:
    """Before a row is read and before anything is spent."""
    opened = session({"a": 5}, budget="1")
    question = opened.query().group_by("g").select(sf.count(), sf.histogram("x", [0, 5, 10], name="h"))  # fmt: skip

    with pytest.raises(DeclarationError, match=words):
        ask(question).release("1")
    assert str(opened.spent) == "0"
