"""Identifiers that reading or storage has merged are nobody's: no person is two people.

A person who shares her cell with another moves sums by the rows of both, so by twice the
claim. Which cells can be shared follows from how they are written, not from the rows.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.account import ZCDP, Epsilon
from sfumato.declare import query as ask
from sfumato.declare.dataset import CSV, Dataset
from sfumato.declare.schema import Real, Schema
from sfumato.declare.unit import Identifier, Unit
from sfumato.engine import arrow, cell, fields, files, lines, storage, terms
from sfumato.engine.cell import identity
from sfumato.engine.linked import Together
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.gate import difference_for_audit
from sfumato.plan import make_plan

SCHEMA = Schema({"x": Real(0, 10, step=1)}, unit=Unit("id", max_rows=1, max_groups=1))
QUERY = ask.Query().select(ask.sum("x"), ask.mean("x"))
PEOPLE = make_plan(ask.Query().select(ask.people()), SCHEMA, 1)
MERGED = {"float16": 2**11, "float32": 2**24, "float64": 2**53}


def table(kind, plain):
    """Return a maker of pandas tables of that type of identifier."""
    return lambda ids, xs: pd.DataFrame(
        {"id": pd.Series(np.array(ids, plain)).astype(kind), "x": xs}
    )


def arrays(kind):
    """Return a maker of pandas tables of plain arrays."""
    return lambda ids, xs: pd.DataFrame({"id": np.array(ids, dtype=kind), "x": xs})


def in_arrow(kind):
    """Return a maker of Arrow tables."""
    return lambda ids, xs: pa.table(
        {"id": pa.array(np.array(ids, kind)), "x": pa.array(xs, pa.float64())}
    )


def categories(ids, xs):
    """Return a table whose identifiers are categories, floats of 32 bits."""
    return arrays("float32")(ids, xs).astype({"id": "category"})


LOADERS = {
    "numpy float16": ("float16", arrays("float16")),
    "numpy float32": ("float32", arrays("float32")),
    "numpy float32, other byte order": ("float32", arrays(">f4")),
    "numpy float64": ("float64", arrays("float64")),
    "pandas Float32": ("float32", table("Float32", "float32")),
    "pandas Float64": ("float64", table("Float64", "float64")),
    "pandas Arrow float16": ("float16", table("halffloat[pyarrow]", "float16")),
    "pandas Arrow float32": ("float32", table("float[pyarrow]", "float32")),
    "pandas categories": ("float32", categories),
    "pandas sparse": ("float32", lambda ids, xs: arrays("float32")(ids, xs).astype({"id": "Sparse[float32]"})),
    "pandas objects": ("float32", lambda ids, xs: pd.DataFrame({"id": pd.Series([np.float32(i) for i in ids], dtype=object), "x": xs})),
    "rows": ("float16", lambda ids, xs: [{"id": np.float16(i), "x": x} for i, x in zip(ids, xs, strict=True)]),
    "polars Float16": ("float16", lambda ids, xs: pl.DataFrame({"id": pl.Series(ids, dtype=pl.Float16), "x": xs})),
    "polars Float32": ("float32", lambda ids, xs: pl.DataFrame({"id": pl.Series(ids, dtype=pl.Float32), "x": xs})),
    "Arrow float16": ("float16", in_arrow("float16")),
    "Arrow float32": ("float32", in_arrow("float32")),
    "Arrow float64": ("float64", in_arrow("float64")),
    "Arrow dictionary": ("float32", lambda ids, xs: (t := in_arrow("float32")(ids, xs)).set_column(0, "id", t["id"].dictionary_encode())),
    "Parquet float16": ("float16", in_arrow("float16")),
    "Parquet float32": ("float32", in_arrow("float32")),
}  # fmt: skip


def source(name, ids, xs, folder):
    """Return the source of that name."""
    made = LOADERS[name][1](ids, xs)
    if not name.startswith("Parquet"):
        return made
    pq.write_table(made, folder / "t.parquet")
    return folder / "t.parquet"


def exact(plan, made):
    """Return what DuckDB says of a source."""
    return open_engine(Dataset(made, schema=SCHEMA, name="t")).run(plan)


def people(made):
    """Return how many people DuckDB finds."""
    return exact(PEOPLE, made).unseal()[0][0] >> 20


@pytest.mark.parametrize("name", LOADERS)
def test_a_float_that_stands_for_two_numbers_is_nobody(name, tmp_path):
    """Below the limit each whole number is a person; from there on none is."""
    most = MERGED[LOADERS[name][0]]
    ids = [most - 1, 1 - most, 7, most, -most, most + 2, 2 * most, 0.5]

    assert people(source(name, ids, [1.0] * len(ids), tmp_path)) == 3


def moved(plan, one, both):
    """Return by how much a second person moved each step, with the claim on it."""
    difference = difference_for_audit(plan, one, both)
    for step in plan.steps:
        by = [abs(v) for part in step.parts for v in difference[part]]
        claim = step.mechanism
        bounds = getattr(claim, "bounds", None)
        if bounds is not None:
            yield from zip(by, bounds, strict=True)
        else:
            most = getattr(claim, "sensitivity", None)
            yield max(by), float(claim.squared_sensitivity) ** 0.5 if most is None else most  # fmt: skip


def holds(make, first, second):
    """Tell whether a person moves what is told of both by no more than is claimed."""
    found = []
    for loss in (Epsilon("1"), ZCDP("0.1")):
        plan = make_plan(QUERY, SCHEMA, loss)
        one = exact(plan, make([first], [10.0]))
        both = exact(plan, make([first] + [second] * 300, [10.0] + [0.0] * 300))
        found += moved(plan, one, both)
    return all(by <= most for by, most in found)


@pytest.mark.parametrize("name", LOADERS)
def test_real_people_move_sums_by_no_more_than_is_claimed(name, tmp_path):
    """The second person of each table has a number of her own, before it is stored."""
    most = MERGED[LOADERS[name][0]]

    assert holds(lambda *rows: source(name, *rows, tmp_path), most, most + 1)


LATIN = "M\xfcller", "M\xf6ller"


def latin(folder):
    """Return a maker of text files that are read with another encoding."""

    def make(ids, xs):
        path = folder / "t.csv"
        rows = "".join(f"{i},{x}\n" for i, x in zip(ids, xs, strict=True))
        path.write_text("id,x\n" + rows, encoding="latin-1")
        return CSV(path)

    return make


def test_texts_that_did_not_decode_are_nobody(tmp_path):
    """Two names in Latin-1 are one text where both lost a letter."""
    make = latin(tmp_path)

    assert holds(make, *LATIN)
    assert people(make([*LATIN, "Mueller"], [1, 1, 1])) == 1
    assert people(CSV(make(LATIN, [1, 1]).path, encoding="latin-1")) == 2


def digits_forgotten_in_storage(monkeypatch):
    """A column of 32 bits is taken for doubles."""
    direct = {**storage._DIRECT, "FLOAT": storage.Floating(53)}
    monkeypatch.setattr(storage, "_DIRECT", direct)


def digits_forgotten_in_cells(monkeypatch):
    """A numpy scalar is taken for a double."""
    monkeypatch.setattr(cell, "DIGITS", {})


def halves_taken_for_floats(monkeypatch):
    """Floats of 16 bits in Parquet are taken for those of 32."""
    monkeypatch.setattr(files, "_HALF", "FLOAT")
    monkeypatch.setattr(files, "DIGITS", {"float16": 24})


def halves_unwrapped(monkeypatch):
    """Floats of 16 bits of a library lose their width."""
    monkeypatch.setattr(arrow, "_half", list)


def merged_texts_are_people(monkeypatch):
    """What stands for undecodable bytes is a letter like others."""
    monkeypatch.setattr(terms, "UNREAD", "\x01")
    monkeypatch.setattr(cell, "UNREAD", "\x01")


FAULTS = [
    (digits_forgotten_in_storage, "numpy float32"),
    (digits_forgotten_in_storage, "polars Float32"),
    (digits_forgotten_in_storage, "Parquet float32"),
    (digits_forgotten_in_cells, "pandas Float32"),
    (digits_forgotten_in_cells, "numpy float16"),
    (digits_forgotten_in_cells, "rows"),
    (halves_taken_for_floats, "Parquet float16"),
    (halves_unwrapped, "polars Float16"),
    (halves_unwrapped, "Arrow float16"),
    (merged_texts_are_people, "latin"),
]


@pytest.mark.parametrize(("fault", "name"), FAULTS)
def test_a_planted_fault_is_found(monkeypatch, fault, name, tmp_path):
    """With the fault a person moves a sum by more than the claim."""
    make, two = latin(tmp_path), LATIN
    if name in LOADERS:
        most = MERGED[LOADERS[name][0]]
        make, two = lambda *rows: source(name, *rows, tmp_path), (most, most + 1)
    fault(monkeypatch)

    assert not holds(make, *two)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.sampled_from([np.float16, np.float32, np.float64, np.longdouble]),
    st.integers(-(2**70), 2**70),
)
def test_who_is_somebody_is_one_number(kind, number):
    """Theorem: no other whole number becomes the float of somebody."""
    with np.errstate(all="ignore"):
        written = kind(number)
        name = identity(written, Identifier())
        if name is not None:
            near = [kind(int(name) + way) for way in (-1, 1)]
            assert int(name) == number
            assert written not in near


@pytest.mark.parametrize("size", [10**16, 10**37, 10**60])
def test_decimals_of_many_digits_are_told_apart(size):
    """Decimals are exact: neighbours beyond what a float holds are two people."""
    ids = [Decimal(size), Decimal(size + 1), Decimal(size + 1), Decimal("0.5")]
    rows = [{"id": i, "x": 1.0} for i in ids]
    kind = pa.decimal256(70, 1) if size > 10**36 else pa.decimal128(38, 1)
    held = pa.table({"id": pa.array(ids, kind), "x": [1.0] * 4})

    assert [people(made) for made in (rows, held, pd.DataFrame(rows))] == [2] * 3
    assert people(held.to_pandas(types_mapper=pd.ArrowDtype)) == 2


def test_floats_of_other_libraries_are_nobody():
    """How they were rounded is not known; fractions that are exact are."""
    from fractions import Fraction

    class Rounded(float):
        """A number that is still a double."""

    import numbers

    class Foreign:
        """A number of an unknown kind."""

        def __str__(self):
            return "7"

    numbers.Real.register(Foreign)

    ids = Identifier()
    assert identity(Rounded(7), ids) == "7" == identity(Fraction(7), ids)
    assert identity(Foreign(), ids) is None
    assert identity(np.array([2**24], np.float32), ids) is None


def test_wide_floats_keep_their_fraction():
    """As doubles 1 + 2^-60 would be 1."""
    wide = np.array([1, 2], np.longdouble) + np.longdouble(2) ** -60
    made = pd.DataFrame({"id": [1.0, 2.0], "x": 1.0}).astype({"id": np.longdouble})

    assert people(made) == 2
    made["id"] = wide
    if np.finfo(np.longdouble).nmant > 60:
        assert people(made) == 0


def test_tables_of_both_widths_are_joined_by_the_narrow_rule():
    """A person of a table of floats of 32 bits is not met by whom these may stand for."""
    most = 2**24
    unit = Schema({"y": Real(0, 10, step=1)}, unit=Unit("id", max_rows=9, max_groups=1))
    from sfumato.declare.relation import Joined, Other, Part, United

    narrow = [np.float32(most), np.float32(3)]
    first = [{"id": float(i), "x": 1} for i in (most, most + 1, 3)]
    second = [{"id": i, "y": 1, "x": 1} for i in narrow]
    for base, own, count in (
        (Joined(Part(), Part(Other("b", unit))), unit, 1),
        (United((Part(), Part(Other("b", SCHEMA)))), SCHEMA, 3),
    ):
        plan = make_plan(ask.Query().of(base).select(ask.people()), SCHEMA, 1)
        tables = {
            "b": Dataset(pd.DataFrame({n: [r[n] for r in second] for n in ("id", "x", "y")}).astype({"id": np.float32}), schema=own)
        }  # fmt: skip
        data = Dataset(pd.DataFrame(first), schema=SCHEMA, name="a", tables=tables)
        with open_engine(data) as engine:
            found = engine.run(plan).unseal()

        assert found == ((count << 20,),)
        assert ReferenceEngine(first, {"b": second}).run(plan).unseal() == found


@pytest.mark.parametrize(
    ("ids", "alive"),
    [
        (np.array([2**24, 3, 0.5, 4], np.float32), 2),
        (np.array(["a\ufffd", "b", "", "NA"], object), 1),
        (np.array([2.0**53, np.float32(2**24), 2**60, True], object), 2),
    ],
)
def test_linked_tables_have_the_same_rule(ids, alive):
    """Identifiers of tables that are counted together are those of every answer."""
    unit = Unit("id", max_rows=1, max_groups=1, missing="NA")
    schema = Schema({"x": Real(0, 10, step=1)}, unit=unit)
    data = Dataset(pd.DataFrame({"id": ids, "x": 1.0}), schema=schema, name="t")
    with Together(data, {}) as together:
        people, _ = together.head.rows(())
        names, _ = together.head.owned()

    assert sum(p >= 0 for p in people) == alive == len(set(names) - {None})


def test_a_text_that_was_cut_is_nobody(tmp_path):
    """Two texts of a million letters that differ in the last one."""
    path = tmp_path / "t.csv"
    long = "x" * (lines.LONGEST - 1)
    path.write_text(f"x,id\n1,{long}a\n1,{long}b\n1,c\n", encoding="utf-8")

    assert people(CSV(path)) == 1
    path.write_text(f"x,id\n1,{long[1:]}a\n1,{long[1:]}b\n1,c\n", encoding="utf-8")
    assert people(CSV(path)) == 1
    path.write_text(f"x,id\n1,{long[2:]}a\n1,{long[2:]}b\n1,c\n", encoding="utf-8")
    assert people(CSV(path)) == 3


def test_columns_of_spark_say_how_wide_they_are():
    """Spark's FLOAT has 24 digits."""
    for kind, digits in (("float", 24), ("double", 53)):
        columns = [fields.Field("id", kind), fields.Field("x", "double")]
        layout, _ = fields.settle(columns, SCHEMA)

        assert layout == (storage.Floating(), storage.Floating(digits))
