"""HAVING, ORDER BY and LIMIT are read into the builder's question, or refused."""

from __future__ import annotations

import pytest

from sfumato.declare import query as ask
from sfumato.declare.expr import col
from sfumato.declare.sql import read_sql
from sfumato.errors import DeclarationError

pytest.importorskip("sqlglot", reason="sqlglot is not installed")

BASE = ask.Query().group_by("g").select(ask.count(name="n"), ask.mean("x"))
HEAD = "SELECT g, COUNT(*) AS n, AVG(x) FROM t GROUP BY g "
READ = [
    ("HAVING n + 0 > 100", BASE.having(col("n") + 0 > 100)),
    ("HAVING COUNT(*) > AVG(x) * 2 AND NOT mean_x < n",
     BASE.having((col("n") > col("mean_x") * 2) & ~(col("mean_x") < col("n")))),
    ("HAVING (n - 1) / 2 BETWEEN mean_x AND n OR n <> mean_x",
     BASE.having(((col("n") - 1) / 2).between(col("mean_x"), col("n")) | (col("n") != col("mean_x")))),
    ("ORDER BY n", BASE.order_by("n")),
    ("ORDER BY COUNT(*) DESC, 1, 3 ASC, g desc",
     BASE.order_by("n", descending=True).order_by("g", "mean_x").order_by("g", descending=True)),
    ("LIMIT 0", BASE.limit(0)),
    ("ORDER BY 2 LIMIT 7;", BASE.order_by("n").limit(7)),
]  # fmt: skip


@pytest.mark.parametrize(("clauses", "query"), READ)
def test_it_is_the_question_of_the_builder(clauses, query) -> None:
    """Outputs are named by alias, by default name, by expression or by place."""
    assert read_sql(HEAD + clauses, table="t") == query


def test_a_filter_of_rows_stands_before() -> None:
    """WHERE sees cells and HAVING figures."""
    text = HEAD.replace("GROUP BY", "WHERE x > 1 GROUP BY") + "HAVING n > mean_x"
    expected = BASE.where(col("x") > 1).having(col("n") > col("mean_x"))

    assert read_sql(text, table="t") == expected


@pytest.mark.parametrize(
    ("clauses", "word"),
    [
        ("HAVING SUM(x) > 2", "SUM"),
        ("HAVING COUNT(x) > 2", "COUNT"),
        ("HAVING COUNT(DISTINCT x) > 2", "DISTINCT"),
        ("HAVING n > 'a'", "'a'"),
        ("HAVING n", "'n'"),
        ("HAVING n IN (1, 2)", "IN"),
        ("HAVING n IS NULL", "IS"),
        ("HAVING ABS(n) > 2", "ABS"),
        ("HAVING n > (SELECT 1)", "SELECT"),
        ("HAVING CASE WHEN n > 1 THEN 1 ELSE 0 END > 0", "CASE"),
        ("HAVING n % 2 > 1", "MOD"),
        ("ORDER BY n + 1", "ADD"),
        ("ORDER BY 4", "4"),
        ("ORDER BY 0", "0"),
        ("ORDER BY 'n'", "'n'"),
        ("ORDER BY RANDOM()", "RAND"),
        ("ORDER BY n NULLS LAST", "NULLS"),
        ("ORDER BY n COLLATE nocase", "COLLATE"),
        ("LIMIT -1", "-1"),
        ("LIMIT 1.5", "1.5"),
        ("LIMIT n", "'n'"),
        ("LIMIT 1 + 1", "ADD"),
        ("LIMIT 3 OFFSET 1", "OFFSET"),
        ("LIMIT 5, 3", "OFFSET"),
        ("FETCH FIRST 3 ROWS ONLY", "FETCH"),
        ("QUALIFY n > 1", "QUALIFY"),
        ("WINDOW w AS (ORDER BY n)", "WINDOW"),
    ],
)
def test_all_else_is_refused(clauses, word) -> None:
    """By an error that names it; no private cell is compared."""
    with pytest.raises(DeclarationError) as caught:
        read_sql(HEAD + clauses, table="t")

    assert word.lower() in str(caught.value).lower()
