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
