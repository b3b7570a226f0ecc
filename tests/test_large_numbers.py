"""Whole numbers of more digits than Python writes are refused in our words, or taken."""

import inspect
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import SfumatoError, quoted

BIG = 10**5000
GIVEN = (BIG, -BIG, "9" * 5000, [BIG], (0, BIG), {BIG: BIG}, Fraction(BIG, 3))
ROWS = [{"Age": i % 90, "Sex": "FM"[i % 2]} for i in range(100)]
SCHEMA = sf.Schema({"Age": sf.Integer(0, 90), "Sex": sf.Category(["F", "M"])})
USUAL = {
    "Real": (0, 1),
    "Integer": (0, 9),
    "Category": (["a"],),
    "Date": ("2000-01-01", "2001-01-01"),
    "Unit": ("id",),
    "Schema": ({"x": sf.Boolean()},),
    "Epsilon": ("1",),
    "ZCDP": ("1",),
    "GDP": ("1",),
    "ApproxDP": ("1", "1e-6"),
    "sum": ("Age",),
    "mean": ("Age",),
    "histogram": ("Age", [0, 10]),
    "mode": ("Age", [0, 10]),
    "quantile": ("Age", "0.5"),
    "median": ("Age",),
    "variance": ("Age",),
    "std": ("Age",),
    "crosstab": ("Sex", "Age"),
    "ratio": ("Age", "Age"),
    "proportion": ("Sex", "F"),
    "covariance": ("Age", "x"),
    "geometric": (3, 1, "0.5"),
    "gaussian": (3, 1, "0.5"),
    "Limit": ("analyst", "x", sf.Epsilon("1")),
    "CSV": ("x.csv",),
    "PublicTable": ([{"a": "x", "b": 1}],),
    "Dataset": (ROWS,),
    "Total": (1,),
}
NAMED = {
    "Unit": {"max_rows": 1, "max_groups": 1},
    "Dataset": {"schema": SCHEMA},
    "PublicTable": {"key": "a", "columns": {"b": sf.Integer(0, 9)}},
}


def said(act):
    """Do it, and return a refusal; any other error fails the test."""
    error = None
    try:
        act()
    except SfumatoError as refused:
        error = refused
    except TypeError as wrong:  # of the wrong number of arguments, or of their names
        if "argument" not in str(wrong):
            raise
    if error is not None:
        assert all(len(text) < 500 for lang in ("en", "zh") for text in error.say(lang))


def calls(name):
    """Iterate over calls of a public name with one argument that is too large."""
    one = getattr(sf, name)
    usual, named = list(USUAL.get(name, ())), NAMED.get(name, {})
    for place, parameter in enumerate(inspect.signature(one).parameters.values()):
        alone = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
        for given in GIVEN:
            if alone or parameter.name in named or place > len(usual):
                yield one, usual, {**named, parameter.name: given}
            else:
                yield one, [*usual[:place], given, *usual[place + 1 :]], named


def is_called(name):
    try:
        return bool(inspect.signature(getattr(sf, name)).parameters)
    except (TypeError, ValueError):
        return False


@pytest.mark.parametrize("name", [n for n in sf.__all__ if is_called(n)])
def test_no_public_function_raises_an_error_of_python(name):
    """Bounds, costs, names, members: a fact and a hint, or no error."""
    for one, usual, named in calls(name):
        said(lambda one=one, usual=usual, named=named: one(*usual, **named))


def query():
    return sf.Session(sf.Dataset(ROWS, schema=SCHEMA, name="t"), budget="9").query()


def counted(query):
    return query.select(sf.count())


def asked_public(given):
    """Ask about a public table that holds a number, as a cell and as a key."""
    for row in ({"a": "F", "b": given}, {"a": given, "b": 1}):
        public = sf.PublicTable([row], key="a", columns={"b": sf.Integer(0, 9)})
        data = sf.Dataset(ROWS, schema=SCHEMA, name="t", tables={"p": public})
        rows = sf.Session(data, budget="9").query().join("p", on="Sex")
        said(lambda rows=rows: rows.select(sf.mean("b")).plan("1"))


def asked_private(given):
    """Ask about private rows that hold it: they are read, whatever is in them."""
    data = sf.Dataset([{"Age": given, "Sex": "F"}] * 3, schema=SCHEMA, name="t")
    return counted(sf.Session(data, budget="9").query()).release("1")


ACTS = {
    "greater": lambda x: counted(query().where(sf.col("Age") > x)).plan("1"),
    "equal": lambda x: counted(query().where(sf.col("Age") == x)).release("1"),
    "one of": lambda x: counted(query().where(sf.col("Age").is_in([x]))).release("1"),
    "more": lambda x: counted(query().where(sf.col("Age") + x > 3)).release("1"),
    "times": lambda x: (
        query()
        .derive("z", sf.col("Age") * x, sf.Real(0, 9, step=1))
        .select(sf.mean("z"))
        .release("1")
    ),
    "keys": lambda x: counted(query().group_by("Sex", keys=[x])).plan("1"),
    "grouped": lambda x: counted(query().group_by(x)).plan("1"),
    "edges": lambda x: query().select(sf.histogram("Age", [0, x])).plan("1"),
    "level": lambda x: query().select(sf.quantile("Age", x)).plan("1"),
    "epsilon": lambda x: counted(query()).plan(x),
    "rho": lambda x: counted(query()).plan(rho=x),
    "delta": lambda x: counted(query()).plan("1", delta=x),
    "expected": lambda x: query().select(sf.mean("Age")).plan("1").expected(rows=x),
    "explained": lambda x: query().select(sf.mean("Age")).plan("1").explain(rows=x),
    "limit": lambda x: counted(query().group_by("Sex")).limit(x).plan("1"),
    "title": lambda x: counted(query()).release("1", title=x),
    "confidence": lambda x: counted(query()).release("1", confidence=x),
    "request": lambda x: counted(query()).release("1", request_key=x),
    "sql": lambda x: sf.Session(sf.Dataset(ROWS, schema=SCHEMA), budget="9").sql(x),
    "budget": lambda x: sf.Session(sf.Dataset(ROWS, schema=SCHEMA), budget=x),
    "table": lambda x: sf.Session(sf.Dataset(ROWS, schema=SCHEMA), budget=1).table(x),
    "consistent": lambda x: sf.consistent([1, 2], total=x),
    "members": lambda x: sf.consistent([1, 2], [sf.Total(1, members=x)]),
    "public": asked_public,
    "private": asked_private,
}


@pytest.mark.parametrize("name", ACTS)
def test_no_question_raises_an_error_of_python(name):
    """Wherever in a question such a number stands."""
    for given in (BIG, "9" * 5000, [BIG], Fraction(BIG, 3)):
        said(lambda given=given: ACTS[name](given))


def test_it_is_told_as_a_power_of_ten():
    """The one who wrote it sees which number is meant."""
    with pytest.raises(sf.SfumatoError, match=r"got -1\.0000e5000"):
        sf.Epsilon(-BIG)

    assert quoted(3 * BIG) == "3.0000e5000" and quoted([BIG]) == "<list>"
    assert quoted("x" * 99) == repr("x" * 99)[:60]
