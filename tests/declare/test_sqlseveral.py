"""Statistics of several columns in SQL: the same questions, and nothing beyond them."""

import pytest

from sfumato.declare import query as ask
from sfumato.declare.sql import read_sql
from sfumato.errors import DeclarationError

pytest.importorskip("sqlglot", reason="sqlglot is not installed")

READ = [
    ("COVAR_POP(x, y)", ask.covariance("x", "y")),
    ("corr(x, y) AS r", ask.correlation("x", "y", name="r")),
    ("SUM(x) / SUM(y)", ask.ratio("x", "y")),
    ("MODE(g)", ask.mode("g")),
    ("mode() within group (order by g) m", ask.mode("g", name="m")),
    ("HISTOGRAM(g)", ask.histogram("g")),
    (
        "histogram(bins(x, 0, 70.5, 100)) AS h",
        ask.histogram("x", [0, 70.5, 100], name="h"),
    ),
    ("CROSSTAB(g, h)", ask.crosstab("g", "h")),
    (
        "CROSSTAB(BINS(x, -5, 5), BINS(y, 0, 1, 2))",
        ask.crosstab("x", "y", edges=[-5, 5], other_edges=[0, 1, 2]),
    ),
    (
        "CROSSTAB(g, BINS(y, 0, 1, 2)) t",
        ask.crosstab("g", "y", other_edges=[0, 1, 2], name="t"),
    ),
    ("MODE(BINS(x, 0, 10, 20))", ask.mode("x", [0, 10, 20])),
    ("COVAR_MATRIX(x, y, z)", ask.covariance("x", "y", "z")),
    ("corr_matrix(x, y, z) AS m", ask.correlation("x", "y", "z", name="m")),
    ("PEOPLE_CUT()", ask.people_cut()),
    ("rows_cut() AS lost", ask.rows_cut(name="lost")),
    ("AVG(g = 'F')", ask.proportion("g", "F")),
    ("AVG(3 = g) AS p", ask.proportion("g", 3, name="p")),
    ("AVG(b = FALSE)", ask.proportion("b", False)),
    ("VAR_POP(x)", ask.variance("x")),
    ("STDDEV_POP(x)", ask.std("x")),
    ("MEDIAN(x)", ask.median("x")),
    ("quantile(x, 0.9)", ask.quantile("x", 0.9)),
]


@pytest.mark.parametrize(("text", "statistic"), READ)
def test_sql_asks_what_the_builder_asks(text, statistic):
    """The same statistic, with the same name."""
    query = read_sql(f"SELECT {text} FROM t", table="t")

    assert query.statistics == (statistic,)


REFUSED = [
    ("HISTOGRAM()", "HISTOGRAM"), ("HISTOGRAM(g, 1, 2)", "HISTOGRAM"), ("HISTOGRAM(BINS(x))", "BINS"),
    ("HISTOGRAM(BINS(x, 'a', 'b'))", "BINS"), ("HISTOGRAM(BINS(x, y))", "'y'"), ("HISTOGRAM(BINS())", "BINS"),
    ("HISTOGRAM(BINS(x, 2, 1))", "edges"), ("BINS(x, 1, 2)", "'BINS'"), ("AVG(BINS(x, 1, 2))", "'BINS'"),
    ("CROSSTAB(g)", "CROSSTAB"), ("CROSSTAB(g, h, i)", "CROSSTAB"), ("HISTOGRAM(DISTINCT g)", "DISTINCT"),
    ("COVAR_MATRIX(x, y)", "COVAR_MATRIX"), ("PEOPLE_CUT(x)", "PEOPLE_CUT"), ("ROWS_CUT(*)", "ROWS_CUT"),
    ("AVG(g = h)", "'h'"), ("AVG('a' = 'b')", "'b'"), ("AVG(g = 0.5)", "whole number"), ("AVG(g <> 'F')", "NEQ"),
    ("AVG(DISTINCT g = 'F')", "DISTINCT"), ("HISTOGRAM(g) OVER ()", "WINDOW"),
    ("MIN(x)", "it is one row's value"), ("MAX(x)", "it is one row's value"),
    ("QUANTILE(x, 1)", "between 0 and 1"), ("QUANTILE(x, y)", "'y'"),
    ("COVAR_SAMP(x, y)", "COVAR SAMP"), ("VAR_SAMP(x)", "VARIANCE"),
    ("SUM(x) / COUNT(y)", "SUM"), ("SUM(x) / 2", "SUM"), ("MODE()", "''"),
    ("SUM(DISTINCT x) / SUM(y)", "DISTINCT"), ("MODE(DISTINCT g)", "DISTINCT"),
    ("CORR(x, y) OVER ()", "WINDOW"), ("CORR(x, 1)", "'1'"), ("CORR(x)", "cannot be read"),
    ("COVAR_POP(x, x)", "each named once"),
    ("MODE() WITHIN GROUP (ORDER BY g DESC)", "DESC"),
    ("MODE() WITHIN GROUP (ORDER BY g, h)", "ORDER BY"),
    ("MODE() WITHIN GROUP (ORDER BY g) FILTER (WHERE x > 1)", "FILTER"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_everything_beyond_is_refused(text, words):
    """By an error that names the construct; nothing is dropped silently."""
    with pytest.raises(DeclarationError) as caught:
        read_sql(f"SELECT {text} FROM t", table="t")

    assert words in str(caught.value)
