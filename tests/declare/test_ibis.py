"""Expressions of Ibis become the same questions as the builder's, or are refused."""

import pytest

import sfumato as sf
from sfumato.declare.expr import And, Not, Or, col
from sfumato.declare.ibis_tree import read_ibis
from sfumato.declare.query import Query
from sfumato.errors import DeclarationError

ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
from ibis import _  # noqa: E402  after the skip

TYPES = {
    "x": "float64",
    "g": "string",
    "h": "int64",
    "b": "boolean",
    "d": "date",
    "who": "int64",
}
T = ibis.table(TYPES, name="p")
OTHER = ibis.table({"g": "string", "w": "float64"}, name="q")


def read(expression):
    """Return the question of an expression about the table p."""
    return read_ibis(expression, table="p", person="who")


Q = Query()
SAME = {
    "rows": (T.aggregate(n=T.count()), Q.select(sf.count(name="n"))),
    "each statistic": (
        T.group_by("g", "b").aggregate(
            a=_.x.count(), s=_.x.sum(), m=_.x.mean(), e=_.x.median(), q=_.x.quantile(0.9),
            v=_.x.var(how="pop"), d=_.x.std(how="pop"), p=(_.g == "F").mean(), k=(_.h == 1).mean(),
        ),
        Q.group_by("g", "b").select(
            sf.count("x", name="a"), sf.sum("x", name="s"), sf.mean("x", name="m"), sf.median("x", name="e"),
            sf.quantile("x", 0.9, name="q"), sf.variance("x", name="v"), sf.std("x", name="d"),
            sf.proportion("g", "F", name="p"), sf.proportion("h", 1, name="k"),
        ),
    ),
    "comparisons": (
        T.filter((T.x > 1) & (T.x <= 2.5) | ~(T.g != "a"), 3 < T.h).aggregate(n=_.count()),  # noqa: SIM300
        Q.where(And(Or(And(col("x") > 1, col("x") <= 2.5), Not(col("g") != "a")), col("h") > 3)).select(sf.count(name="n")),
    ),
    "missing, sets, ranges, truths": (
        T.filter(T.x.isnull() | T.x.notnull(), T.g.isin(["a", "b"])).filter(_.x.between(1, 2), _.b).aggregate(n=_.count()),
        Q.where(And(And(And(Or(col("x").is_missing(), Not(col("x").is_missing())), col("g").is_in(["a", "b"])), col("x").between(1, 2)), col("b") == True)).select(sf.count(name="n")),  # noqa: E712
    ),
    "two columns, the most frequent key, people": (
        T.aggregate(c=T.x.cov(T.h, how="pop"), r=T.x.corr(T.h), q=T.x.sum() / T.h.sum(), m=T.g.mode(), p=T.who.nunique()),
        Q.select(
            sf.covariance("x", "h", name="c"), sf.correlation("x", "h", name="r"), sf.ratio("x", "h", name="q"),
            sf.mode("g", name="m"), sf.people(name="p"),
        ),
    ),
    "having": (
        T.group_by("g").having(_.count() > 3).aggregate(n=_.count()),
        Q.group_by("g").select(sf.count(name="n")).having(col("n") > 3),
    ),
    "released figures": (
        T.group_by("g").aggregate(n=_.count()).filter(_.n > 3, _.n != 7).order_by(ibis.desc("n"), "g").limit(2),
        Q.group_by("g").select(sf.count(name="n")).having(col("n") > 3).having(col("n") != 7)
        .order_by("n", descending=True).order_by("g").limit(2),
    ),
    "a choice of columns": (
        T.select("x", "g").filter(_.x > 1).group_by("g").aggregate(n=_.count()),
        Q.where(col("x") > 1).group_by("g").select(sf.count(name="n")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_it_is_the_question_of_the_builder(name):
    """Each node of the grammar, alone and together."""
    expression, question = SAME[name]

    assert read(expression) == question


@ibis.udf.scalar.builtin
def hashed(x: float) -> float:
    """A function of the database."""


REFUSED = {
    "window": T.mutate(r=ibis.row_number().over(order_by=T.x)).aggregate(n=_.count()),
    "limit": T.limit(3).aggregate(n=_.count()),
    "order": T.order_by("x").aggregate(n=_.count()),
    "distinct": T.distinct().aggregate(n=_.count()),
    "of itself": T.filter(T.x > T.x.mean()).aggregate(n=_.count()),
    "of another": T.filter(T.x > OTHER.w.mean()).aggregate(n=_.count()),
    "another table": OTHER.aggregate(n=_.count()),
    "join": T.join(OTHER, "g").aggregate(n=_.count()),
    "union": T.union(T).aggregate(n=_.count()),
    "sample": T.sample(0.5).aggregate(n=_.count()),
    "new column": T.mutate(z=T.x * 2).aggregate(m=_.z.mean()),
    "renamed": T.rename(y="x").aggregate(m=_.y.mean()),
    "renamed key": T.group_by(k=T.g).aggregate(n=_.count()),
    "computed key": T.group_by(T.x > 1).aggregate(n=_.count()),
    "arithmetic": T.aggregate(m=(T.x + 1).mean()),
    "arithmetic of figures": T.aggregate(m=T.x.sum() / T.x.count()),
    "cast": T.aggregate(m=T.h.cast("float64").mean()),
    "condition inside": T.aggregate(n=T.count(where=T.x > 1)),
    "condition inside a mean": T.aggregate(n=T.x.mean(where=T.b)),
    "sample variance": T.aggregate(v=T.x.var()),
    "sample spread": T.aggregate(v=T.x.std(how="sample")),
    "max": T.aggregate(m=T.x.max()),
    "first": T.aggregate(m=T.x.first()),
    "list": T.aggregate(m=T.x.collect()),
    "text of cells": T.aggregate(m=T.g.group_concat()),
    "people": T.aggregate(m=T.g.nunique()),
    "approximate": T.aggregate(m=T.x.approx_median()),
    "function": T.filter(hashed(T.x) > 1).aggregate(n=_.count()),
    "function inside": T.aggregate(m=hashed(T.x).mean()),
    "two columns": T.filter(T.x > T.h).aggregate(n=_.count()),
    "pattern": T.filter(T.g.like("a%")).aggregate(n=_.count()),
    "date": T.filter(T.d > ibis.date("2024-01-01")).aggregate(n=_.count()),
    "infinity": T.filter(T.x < float("inf")).aggregate(n=_.count()),
    "having of another figure": T.group_by("g")
    .having(_.x.sum() > 3)
    .aggregate(n=_.count()),
    "limit before order": T.group_by("g").aggregate(n=_.count()).limit(3).order_by("n"),
    "filter after limit": T.group_by("g")
    .aggregate(n=_.count())
    .limit(3)
    .filter(_.n > 3),
    "offset": T.group_by("g").aggregate(n=_.count()).limit(3, offset=1),
    "computed order": T.group_by("g").aggregate(n=_.count()).order_by(_.n + 1),
    "nulls first": T.group_by("g")
    .aggregate(n=_.count())
    .order_by(ibis.asc("n", nulls_first=True)),
    "filter of functions": T.group_by("g").aggregate(n=_.count()).filter(_.n.abs() > 3),
    "sample covariance": T.aggregate(c=T.x.cov(T.h)),
    "ratio of means": T.aggregate(c=T.x.mean() / T.h.sum()),
    "rows": T,
    "cells": T.x,
    "bare figure": T.x.mean(),
    "no figure": T.group_by("g").aggregate(),
    "quantiles": T.aggregate(q=T.x.quantile([0.1, 0.9])),
    "share of a number": T.aggregate(p=(T.x == 0.5).mean()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_refused(name):
    """What is not in the grammar is named, and never guessed."""
    with pytest.raises(DeclarationError) as refused:
        read(REFUSED[name])

    assert str(refused.value).count("\n") == 1


def test_endless_filters_are_refused():
    """Long chains and deep ones have a limit."""
    wide = deep = T.x > 0
    for i in range(201):
        wide = wide & (T.x != i + 1)
        deep = ~(deep | (T.x == i + 1))

    for condition in (wide, deep):
        with pytest.raises(DeclarationError, match="more conditions"):
            read(T.filter(condition).aggregate(n=_.count()))


def test_a_node_with_one_more_argument_is_refused(monkeypatch):
    """An Ibis that gives a node another argument is not understood by accident."""
    expression = T.aggregate(n=T.x.mean())
    node = expression.op().metrics["n"]
    monkeypatch.setattr(type(node), "__argnames__", (*node.__argnames__, "weights"))
    args = (*node.__args__, 7)
    monkeypatch.setattr(type(node), "__args__", args, raising=False)

    with pytest.raises((DeclarationError, AttributeError)):
        read(expression)


def test_a_session_answers_an_expression():
    """Asked of a session, it is planned, paid and released like any question."""
    rows = [{"x": float(i % 10), "g": "ab"[i % 2]} for i in range(2000)]
    schema = sf.Schema({"x": sf.Real(0, 10, step=1), "g": sf.Category(["a", "b"])})
    session = sf.Session(sf.Dataset(rows, schema=schema, name="p"), sf.Epsilon(1))

    release = session.ask(T.filter(T.x >= 0).group_by("g").aggregate(n=_.count())).release("0.5")  # fmt: skip

    # Geometric noise at 0.5: 60 away less often than once in 10^12.
    assert all(abs(f.estimate - 1000) < 60 for f in release.figures)
    assert str(session.left) == "0.5"
    with pytest.raises(DeclarationError):
        session.ask(T.limit(1).aggregate(n=_.count()))
    assert str(session.left) == "0.5"
