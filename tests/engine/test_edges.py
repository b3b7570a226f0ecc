"""Edges that random tables reach too seldom: each test fails with one planted fault."""

from decimal import Decimal

import adversary as a
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.declare import query as ask
from sfumato.declare.expr import col
from sfumato.declare.schema import Category, Real, Schema
from sfumato.plan import make_plan


def agree(schema, query, cells, kind, folder):
    """Compare Arrow and Parquet with the specification; return its integers."""
    table = pa.table({"x": pa.array(cells, kind)})
    pq.write_table(table, folder / "t.parquet")
    plan = make_plan(query, schema, 1)
    expected = a.expected(plan, [{"x": cell} for cell in cells])
    assert a.answer(plan, table) == expected
    assert a.answer(plan, folder / "t.parquet") == expected
    return expected


def test_negative_whole_numbers_as_text(tmp_path):
    """The texts -3, -3.0 and -3.00 are one key in a text column."""
    schema = Schema({"x": Category([-3, 3])})
    query = ask.Query().group_by("x").select(ask.count())

    cells = ["-3", "-3.0", "-3.00", "3.0", "--3.0", "-.0", "+3.0"]
    assert agree(schema, query, cells, pa.string(), tmp_path) == ((3, 1),)


def test_a_key_that_no_double_holds(tmp_path):
    """2^53 + 1 is no double: its neighbour must not be taken for it."""
    schema = Schema({"x": Category([2**53 + 1, 7])})
    query = ask.Query().select(ask.count("x"), ask.histogram("x"))

    cells = [float(2**53), 7.0, None]
    assert agree(schema, query, cells, pa.float64(), tmp_path) == ((1,), (0, 1))


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (col("x") != "a", 1), (col("x") == "a", 2), (~(col("x") == "a"), 1),
        (~col("x").is_in(["a"]), 1), (~col("x").is_in([]), 3), (col("x").is_in([]), 0),
        ((col("x") != "a") | col("x").is_missing(), 3),
    ],
    ids=str,
)  # fmt: skip
def test_a_missing_key_is_neither_equal_nor_different(condition, kept, tmp_path):
    """An undeclared or null key is missing, also under `~` and `!=`."""
    schema = Schema({"x": Category(["a", "b"])})
    query = ask.Query().where(condition).select(ask.count())

    cells = ["a", "a", "b", "other", None]
    assert agree(schema, query, cells, pa.string(), tmp_path) == ((kept,),)


DOUBLE_ROUNDED = [
    Decimal(n) / 10**4
    for n in (90071992547409930001, 1234567890123456789012345, 10**22 + 3, 2**60 + 1)
]
DOUBLE_ROUNDED += [Decimal(2**53 * k + 1) / 10**4 for k in range(1, 200, 2)]


def test_long_decimals_round_once():
    """A decimal of many digits is the nearest double, however it is stored."""
    schema = Schema({"x": Real(0, "1e30")})
    for cell in DOUBLE_ROUNDED:
        query = ask.Query().where(col("x") == float(cell)).select(ask.count())
        plan = make_plan(query, schema, 1)
        table = pa.table({"x": pa.array([cell], pa.decimal128(38, 4))})
        assert a.answer(plan, table) == ((1,),), cell


def test_the_widest_grid_stays_within_64_bits(tmp_path):
    """Bounds as far apart as a declaration allows: differences do not overflow."""
    far = 2**62 - 2**10
    schema = Schema({"x": Real(-far, far, step=1)})
    column = schema["x"]
    assert column.width < 2**63
    query = ask.Query().select(ask.sum("x"), ask.mean("x"))

    cells = [float("inf"), 1e308, float(far), float("-inf"), None]
    agree(schema, query, cells, pa.float64(), tmp_path)
