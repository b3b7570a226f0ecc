"""Whatever is fed to a reader: a right answer or a clear refusal, never another error."""

import codecs
import os
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.declare.dataset import CSV, Dataset
from sfumato.declare.query import Query, count
from sfumato.declare.query import sum as total
from sfumato.declare.schema import Integer, Schema
from sfumato.declare.sql import read_sql
from sfumato.declare.where import parse_filter, parse_value
from sfumato.engine.load import open_engine
from sfumato.engine.reference import ReferenceEngine
from sfumato.errors import SfumatoError
from sfumato.plan import make_plan
from sfumato.project import load

TIMES = int(os.environ.get("SFUMATO_TEST_TIMES", "1"))
SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

PROJECT = """\
[data]
source = "t.csv"
name = "t"
[columns.x]
type = "real"
lower = 0
upper = 250
step = 1
[columns.g]
type = "category"
values = [0, 1]
[budget]
epsilon = "1"
[[releases]]
name = "a"
epsilon = "0.5"
where = "x >= 3 and g == 1"
statistics = [{ count = true }, { mean = "x" }]
group_by = ["g"]
"""
PIECES = st.sampled_from([
    "", "[", "]", "{", "}", "=", '"', "'", "\n", "#", "0", "-1", "1e999", "nan", "inf", "true", "[]",
    "2024-01-01", '""', "[columns.y]", "[[releases]]", "type", "\0", "\ufeff", "男", "1" * 5000, "é",
    "[[[", "{}", "a.b.c", "where", "'''", '"""', "\\u0000", "0x10", "1_0", "epsilon = []",
])  # fmt: skip


def refused_or(act):
    """Run; a SfumatoError is a fine answer, and its text can be shown in each language."""
    try:
        act()
    except SfumatoError as error:
        texts = [str(error), *(t for lang in ("en", "zh") for t in error.say(lang))]
    else:
        return
    assert all(texts)
    assert not any("Traceback" in text for text in texts)


@st.composite
def mangled(draw, text, pieces=PIECES, most=3):
    """A sound text with a few pieces put in, cut out or exchanged."""
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 3, 12])))
        text = text[:start] + draw(pieces) + text[end:]
    return text


@settings(max_examples=60 * TIMES, deadline=None, suppress_health_check=SLOW)
@given(mangled(PROJECT))
def test_project_files(tmp_path, text):
    """A mangled project file is refused with a place and a hint, or it is a project."""
    path = tmp_path / "project.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")

    refused_or(lambda: load(path))


@settings(max_examples=40 * TIMES, deadline=None, suppress_health_check=SLOW)
@given(st.binary(max_size=200))
def test_project_files_of_any_bytes(tmp_path, raw):
    """Neither does it matter which bytes they are."""
    path = tmp_path / "project.toml"
    path.write_bytes(raw)

    refused_or(lambda: load(path))


GRAMMAR = st.sampled_from([
    "x", "g", "y", "and", "or", "not", "in", "is", "missing", "(", ")", "[", "]", ",", "==", "<", "<=",
    "!=", "+", "-", "*", "/", "1", "0", "-3.5", "1e400", "'a'", '"a"', '"', "`", "if", "else", "^", "**",
    ";", "--", "/*", "男", "\0", "\n", "floor", "clip", "when", "to_number", "(" * 300, "not " * 300,
])  # fmt: skip
SENTENCES = st.lists(GRAMMAR, max_size=14).map(" ".join)


@settings(max_examples=150 * TIMES, deadline=None)
@given(st.one_of(SENTENCES, st.text(max_size=40), mangled("(x >= 3 and g in [0, 1]) or not x < -2", GRAMMAR)))  # fmt: skip
def test_filters_and_values(text):
    """Any text is a filter, or refused; likewise a computed value."""
    refused_or(lambda: parse_filter(text))
    refused_or(lambda: parse_value(text))


SQL = st.sampled_from([
    "SELECT", "FROM", "t", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "COUNT(*)", "AVG(x)", "SUM",
    "(", ")", ",", "*", "x", "g", "AS", "JOIN", "UNION", "DROP TABLE t", ";", "--", "/*", "*/", "'", '"', "`",
    "1", "NULL", "CASE WHEN", "END", "INTERVAL", "::", "OVER ()", "WITH", "男", "\0", "(" * 200, "{{", "$1",
])  # fmt: skip
STATEMENT = "SELECT g, COUNT(*), AVG(x) AS m FROM t WHERE x > 3 AND g = 1 GROUP BY g"


@settings(max_examples=100 * TIMES, deadline=None)
@given(st.one_of(mangled(STATEMENT, SQL), st.lists(SQL, max_size=12).map(" ".join), st.text(max_size=60)))  # fmt: skip
def test_sql(text):
    """Any text is a question in the grammar, or refused."""
    refused_or(lambda: read_sql(text, table="t"))


NAMES = st.one_of(
    st.sampled_from([
        "x", "X", "a b", "a-b", 'a"b', "a'b", "a`b", "[a]", "血糖", "العمر", "возраст", "😀", "x\ty", "1",
        "select", "NULL", "", " x", "x ", "x;--", "a,b", "é", "e\u0301", "%s", "{x}", "$1", "a\\b", "q0",
        "data", "rowid", "__index_level_0__",
    ]),
    st.text(alphabet=string.printable, min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
)  # fmt: skip
CELLS = st.sampled_from([
    "1", "2.5", "", "n/a", "-7", "1e400", "999", '"', "a,b", "a\nb", "\r", "男", "\0", " 3 ", "٣", "=1+1",
])  # fmt: skip
ENCODINGS = ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "latin-1"]


@settings(max_examples=60 * TIMES, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_delimited_files_of_any_name_and_encoding(tmp_path, data):
    """Written properly in a declared encoding, a column is counted right, or refused."""
    import csv

    name, other = data.draw(NAMES), data.draw(NAMES)
    cells = data.draw(st.lists(CELLS, max_size=5))
    encoding = data.draw(st.sampled_from(ENCODINGS))
    path = tmp_path / "t.csv"
    try:
        with path.open("w", newline="", encoding=encoding) as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow([name, other])
            writer.writerows([cell, "z"] for cell in cells)
    except UnicodeEncodeError:
        return
    schema = Schema({name: Integer(0, 10)})
    plan = make_plan(Query().select(count(), count(name), total(name)), schema, 1)

    def ask():
        source = CSV(path, encoding=encoding)
        with open_engine(Dataset(source, schema=schema, name="t")) as engine:
            found = engine.run(plan)
        rows = [{name: cell} for cell in cells]
        assert found.unseal() == ReferenceEngine(rows).run(plan).unseal()

    refused_or(ask)


@settings(max_examples=80 * TIMES, deadline=None, suppress_health_check=SLOW)
@given(
    st.one_of(st.binary(max_size=120), mangled("x,g\n1,a\n2,b\n", CELLS, 5).map(str.encode)),
    st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE]),
    st.sampled_from([None, *ENCODINGS, "no-such-encoding"]),
    st.sampled_from([",", ";", "\t", "|"]),
)  # fmt: skip
def test_delimited_files_of_any_bytes(tmp_path, raw, mark, encoding, delimiter):
    """Ragged, torn, of the wrong encoding: read by the one rule, or refused as a whole."""
    path = tmp_path / "t.csv"
    path.write_bytes(mark + raw)
    plan = make_plan(Query().select(count(), total("x")), SCHEMA, 1)

    def ask():
        how = {} if encoding is None else {"encoding": encoding}
        source = CSV(path, separator=delimiter, **how)
        with open_engine(Dataset(source, schema=SCHEMA, name="t")) as engine:
            engine.run(plan).unseal()

    refused_or(ask)


SCHEMA = Schema({"x": Integer(0, 10)})


@settings(max_examples=60 * TIMES, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_parquet_files_with_wounds(tmp_path, data):
    """Cut short, with bytes exchanged, or of odd types: an answer, or refused as a whole."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    kinds = [
        pa.array([1, 2, None]), pa.array(["1", "n/a", None]), pa.array([True, False, None]),
        pa.array([[1], [2], None]), pa.array([{"a": 1}, None, {"a": 2}]), pa.array([b"1", b"2", None]),
        pa.array([1, 2, 3], pa.decimal128(38, 4)), pa.array([1, 2, 3], pa.timestamp("ns")),
        pa.array([None, None, None]), pa.array(["a", "a", "b"]).dictionary_encode(),
        pa.array([1, 2, 3], pa.float16()) if hasattr(pa, "float16") else pa.array([1, 2, 3]),
        pa.array([2**64 - 1, 1, 2], pa.uint64()),
    ]  # fmt: skip
    path = tmp_path / "t.parquet"
    try:
        pq.write_table(pa.table({"x": data.draw(st.sampled_from(kinds))}), path)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([0, 0, 1, 8, len(raw) - 4]))
    path.write_bytes(bytes(raw[: len(raw) - cut]))
    plan = make_plan(Query().select(count(), total("x")), SCHEMA, 1)

    def ask():
        with open_engine(Dataset(str(path), schema=SCHEMA, name="t")) as engine:
            engine.run(plan).unseal()

    refused_or(ask)


@settings(max_examples=40 * TIMES, deadline=None)
@given(st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=8), st.binary(max_size=3), st.lists(st.integers(), max_size=2)), st.sampled_from(["epsilon", "lower", "unit"]))  # fmt: skip
def test_declarations_of_any_value(value, where):
    """A declaration takes a value or refuses it by name."""

    def act():
        if where == "epsilon":
            sf.Epsilon(value)
        elif where == "lower":
            sf.Real(value, 10)
        else:
            sf.Rows(neighbours="replace_one", size=value)

    refused_or(act)
