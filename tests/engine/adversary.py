"""Tables, questions and loaders as an adversary would choose them."""

from __future__ import annotations

import csv
import datetime as dt
import math
import os
from decimal import Decimal
from fractions import Fraction
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from sfumato.declare import query as ask
from sfumato.declare.dataset import CSV, Dataset
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.declare.unit import Rows
from sfumato.engine import storage
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.plan import make_plan

TIMES = int(os.environ.get("SFUMATO_TEST_TIMES", "1"))
"""How many times the usual number of examples: 1 in a minute, 50 in an hour."""

NUMBERS = ("x", 'a"b, %)')
KEYS = ("Key", "key")  # differ in case only
FLAG = "select"
NAMES = (*NUMBERS, *KEYS, FLAG)

FLOATS = st.one_of(
    st.sampled_from([
        0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 9.5, 10.0, 4.999999999999999, 5e-324, -5e-324,
        1e308, -1e308, math.inf, -math.inf, math.nan, 2.0**53, 2.0**62, -(2.0**62), 1e50,
        0.1, 1 / 3, 999.0, 2.2250738585072014e-308,
    ]),
    st.floats(),
    st.floats(-20, 20),
    st.integers(-3, 12).map(float),
)  # fmt: skip
INTEGERS = st.one_of(
    st.integers(-3, 12), st.sampled_from([2**62, -(2**63), 2**53 + 1, 2**63 - 1, 999])
)
NUMERALS = st.one_of(
    st.sampled_from([
        "1", " 2.5 ", "1e3", "+.5", "-0", "1e400", "-1e400", "1e-400", "0e999", "inf", "nan",
        "1,234", "1_000", "１２", "n/a", "", "5.", "0x10", "\t7\n", "٣", "1e", "999", "999.0",
        "00012", "9" * 400, "0." + "0" * 400 + "1", "1 2", "\u00a05", "--1", "1e+05",
    ]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(alphabet="0123456789.eE+- ", max_size=8),
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from([
        "a", "A", "é", "e\u0301", "2", "2.0", "2.00", "02", "02.0", "-0.0", "0", "-0",
        "O'Brien", 'a"b', "%)", "", " ", "男", "a\0b", "true", "1", "1.0", "yes", "no",
        "None", "nan", "a\nb", "a\r\nb", "a,b", "9" * 25, "2.", "２.0",
    ]),
    st.text(max_size=3),
)  # fmt: skip
ODDITIES = st.sampled_from([
    None, pd.NA, pd.NaT, b"2", [1], {"a": 1}, 10**400, -(10**400), 2**127, Decimal("2.0"),
    Decimal("sNaN"), Decimal("Infinity"), Decimal("1e400"), Fraction(2), 2 + 0j, object(),
    dt.date(1, 1, 1), dt.datetime(9999, 12, 31, tzinfo=dt.UTC), pd.Timestamp(0), np.int64(2),
    np.float32(0.1), np.float64("nan"), np.bool_(True), np.uint64(2**64 - 1),
    np.longdouble(2.5), np.str_("2"), np.datetime64("NaT"), np.array([1, 2]),
    np.datetime64(7, "ns"), np.timedelta64(1, "ns"), 10**5000, Fraction(-(10**5000)),
])  # fmt: skip
OBJECTS = st.one_of(FLOATS, INTEGERS, NUMERALS, TEXTS, ODDITIES, st.booleans())

STEPS = st.sampled_from([None, 1, "0.1", 0.25, 3])
BOUNDS = st.sampled_from([
    (0, 10), (-5, 5), (-10, -1), ("0.1", "0.9"), (0, "1e50"), ("-1e50", "1e50"), (2, 2**62),
    (0, "1e-9"), (-(2**61), 2**61), (0, 999),
])  # fmt: skip
CODES = st.sampled_from([(), (0,), (999, "0.1"), (-1,), ("1e300",)])


@st.composite
def number_columns(draw):
    """Declarations of a number column."""
    (lower, upper), codes = draw(BOUNDS), draw(CODES)
    complete = draw(st.booleans())
    if all(isinstance(b, int) and abs(b) < 2**62 for b in (lower, upper)) and draw(
        st.booleans()
    ):
        return Integer(lower, upper, missing=codes, complete=complete)
    small = abs(float(upper)) < 1e6 and float(upper) - float(lower) > 3
    step = draw(STEPS) if small else None
    return Real(lower, upper, step=step, missing=codes, complete=complete)


CATEGORIES = st.sampled_from([
    ("a", "A", "2"), ("é", "e\u0301"), (0, 1), (2, "02", "O'Brien", 'a"b'), ("", " "),
    ("a\0b", "a", "男", "\ud800"), ("true", 1), (999, -3, 2**62, 10**24), ("2.0", "nan"),
    tuple(range(-3, 12)), ("a\nb", "a,b", "%)", "a\r\nb"), (True,) and ("yes",),
]).map(Category)  # fmt: skip
BOOLEANS = st.sampled_from([
    Boolean(), Boolean(true="yes", false="no"), Boolean(true=(1, "a"), false=(0, 2)),
])  # fmt: skip


ADDED_OR_REMOVED = st.just(Rows())


@st.composite
def schemas(draw, unit=ADDED_OR_REMOVED):
    """Declarations of all columns, in some order."""
    columns = {name: draw(number_columns()) for name in NUMBERS}
    columns |= {name: draw(CATEGORIES) for name in KEYS}
    columns[FLAG] = draw(BOOLEANS)
    order = draw(st.permutations(NAMES))
    return Schema({name: columns[name] for name in order}, unit=draw(unit))


@st.composite
def conditions(draw, schema, depth=2):
    """Filters of every kind of node."""
    kind = draw(st.sampled_from(["compare", "in", "missing", "and", "or", "not"]))
    if depth and kind in ("and", "or", "not"):
        left = draw(conditions(schema, depth - 1))
        if kind == "not":
            return ~left
        right = draw(conditions(schema, depth - 1))
        return left & right if kind == "and" else left | right
    name = draw(st.sampled_from(NAMES))
    if kind == "missing":
        return col(name).is_missing()
    if name in NUMBERS:
        finite = st.one_of(
            FLOATS.filter(math.isfinite), INTEGERS, st.sampled_from([10**30, 0.1])
        )
        if kind == "in":
            return col(name).is_in(draw(st.lists(finite, max_size=3)))
        sign = draw(st.sampled_from(["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"]))  # fmt: skip
        return getattr(col(name), sign)(draw(finite))
    values = st.sampled_from(schema[name].values)
    if kind == "in":
        return col(name).is_in(draw(st.lists(values, max_size=3)))
    return getattr(col(name), draw(st.sampled_from(["__eq__", "__ne__"])))(draw(values))


@st.composite
def cuts(draw, schema, name):
    """Edges of a number column; none for a column of keys."""
    if name not in NUMBERS:
        return None
    inner = [0, 0.5, 1, 2.5, 3, 10, 999, 1e60, -1e60, 1e-10]
    edges = st.sampled_from([schema[name].lower, schema[name].upper, *inner])
    return draw(st.lists(edges, min_size=2, max_size=6, unique=True).map(sorted))


@st.composite
def pairs(draw, schema):
    """One statistic about two columns."""
    two = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True))
    summed = [n for n in two if n not in KEYS]
    kinds = ["table"] + ["ratio", "covariance", "correlation"] * (len(summed) == 2)
    kind = draw(st.sampled_from(kinds))
    if kind in ("covariance", "correlation"):
        third = [FLAG] * (FLAG not in two and draw(st.booleans()))
        return getattr(ask, kind)(*two, *third)
    if kind == "table":
        first, second = (draw(cuts(schema, n)) for n in two)
        return ask.crosstab(*two, edges=first, other_edges=second)
    below = schema[two[1]]
    if getattr(below, "lower", 0) < 0 < getattr(below, "upper", 1):
        return ask.sum(two[0])
    return ask.ratio(*two)


@st.composite
def statistics(draw, schema):
    """One statistic about some column, or about two."""
    if draw(st.integers(0, 3)) == 0:
        return draw(pairs(schema))
    name = draw(st.sampled_from(NAMES))
    kinds = ["rows", "count"]
    kinds += ["histogram"] if name not in NUMBERS else ["edges"]
    kinds += ["median", "quantile"] if name in NUMBERS else []
    kinds += ["mode"]
    kinds += ["share"] if name not in NUMBERS else []
    kinds += ["sum", "mean", "variance", "std"] if name not in KEYS else []
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "rows":
            return ask.count()
        case "share":
            return ask.proportion(name, draw(st.sampled_from(schema[name].values)))
        case "quantile":
            return ask.quantile(name, "0.9")
        case "edges" | "histogram":
            return ask.histogram(name, draw(cuts(schema, name)))
        case "mode":
            return ask.mode(name, draw(cuts(schema, name)))
        case _:
            return getattr(ask, kind)(name)


@st.composite
def groupings(draw, schema):
    """Questions that group by up to two columns, by declared or by listed keys."""
    keys = draw(st.lists(st.sampled_from((*KEYS, FLAG)), max_size=2, unique=True))
    other = draw(st.sampled_from([None, None, "rest"])) if keys else None
    if not keys or draw(st.booleans()):
        return ask.Query().group_by(*keys, other=other)
    every = list(product(*(schema[k].values for k in keys)))
    kind = lambda e: tuple((type(k), k) for k in e)  # noqa: E731  True == 1
    some = draw(
        st.lists(st.sampled_from(every), min_size=1, max_size=3, unique_by=kind)
    )
    return ask.Query().group_by(*keys, keys=some, other=other)


@st.composite
def plans(draw, unit=ADDED_OR_REMOVED):
    """Questions that the planner accepts."""
    schema = draw(schemas(unit))
    query = draw(groupings(schema))
    if draw(st.booleans()):
        query = query.where(draw(conditions(schema)))
    several = draw(st.lists(statistics(schema), min_size=1, max_size=5))
    return make_plan(query.select(*several), schema, 1)


def times(examples):
    """Return a number of examples, multiplied on request."""
    return examples * TIMES


def a_row(numbers=OBJECTS, keys=OBJECTS, flags=OBJECTS):
    """One row."""
    return st.fixed_dictionaries(
        dict.fromkeys(NUMBERS, numbers) | dict.fromkeys(KEYS, keys) | {FLAG: flags}
    )


def tables(numbers=OBJECTS, keys=OBJECTS, flags=OBJECTS, most=12):
    """Lists of rows, often with equal rows among them."""
    return st.lists(a_row(numbers, keys, flags), max_size=most)


def expected(plan, rows):
    """Return what the specification says."""
    return ReferenceEngine(rows).run(plan).unseal()


def answer(plan, source):
    """Return what DuckDB says about a source: of every other plan, read in place."""
    few = storage._FEW if int(plan.digest, 16) % 2 else 0
    with (
        mock.patch.object(storage, "_FEW", few),
        open_engine(Dataset(source, schema=plan.table, name="t")) as engine,
    ):
        return engine.run(plan).unseal()


def columns(rows):
    """Return the rows as lists by name; the names stand also for an empty table."""
    return {name: [row[name] for row in rows] for name in NAMES}


def typed_arrow(rows, types):
    """Return an Arrow table of the given types, in more than one chunk."""
    table = pa.table({n: pa.array(v, types[n]) for n, v in columns(rows).items()})
    half = len(rows) // 2
    return pa.concat_tables([table.slice(0, half), table.slice(half)])


def write_csv(path, rows, **format_):
    """Write rows as the csv module does; none is the empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, **format_)
        writer.writerow(NAMES)
        writer.writerows([row[name] for name in NAMES] for row in rows)
    return CSV(path)


def write_parquet(path, table):
    """Write an Arrow table in small row groups."""
    pq.write_table(table, path, row_group_size=3)
    return path


def to_polars(table):
    """Return the polars frame of an Arrow table."""
    return pl.from_arrow(table)
