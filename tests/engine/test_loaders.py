"""One table through every loader and every engine: identical integers."""

import math

import adversary as a
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sparks
from cluster import running

from sfumato.declare import query as ask
from sfumato.declare.dataset import CSV, Dataset, Postgres, Spark
from sfumato.declare.expr import col
from sfumato.declare.schema import Boolean, Category, Integer, Real, Schema
from sfumato.engine.load import open_engine
from sfumato.plan import make_plan

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

SCHEMA = Schema({
    "血糖": Real(0, 250, step="0.1", missing=(0, 999)), "年龄": Integer(0, 120, complete=True),
    "性别": Category(["男", "女"]), "ward": Category([1, 2, 3]), "抽烟": Boolean(true="是", false="否"),
})  # fmt: skip
ROWS = [
    {"血糖": g, "年龄": y, "性别": s, "ward": w, "抽烟": k}
    for g, y, s, w, k in [
        (98.5, 54, "男", 1, "是"), (0.0, 61, "女", 2, "否"), (999.0, 17, "女", 3, None), (249.95, 200, "男", 4, "是"),
        (None, None, None, None, None), (1234.5, 0, "其他", 2, "否"), (70.05, 120, "女", 1, "yes"), (99.95, 33, "男", 3, "是"),
    ] * 3
]  # fmt: skip
Q = ask.Query()
QUESTIONS = [
    Q.select(ask.count(), ask.count("血糖"), ask.sum("血糖"), ask.mean("年龄"), ask.histogram("性别"), ask.median("血糖")),
    Q.where((col("血糖") > 90) | col("抽烟").is_missing()).group_by("性别", "ward").select(ask.count(), ask.variance("血糖")),
    Q.group_by("抽烟").select(ask.proportion("性别", "女"), ask.mean("年龄"), ask.histogram("血糖", [0, 70, 100, 250])),
]  # fmt: skip


def check(source):
    """Compare all questions with the specification."""
    with open_engine(Dataset(source, schema=SCHEMA, name="t")) as engine:
        for question in QUESTIONS:
            plan = make_plan(question, SCHEMA, 1)
            assert engine.run(plan).unseal() == a.expected(plan, ROWS)


ARROW = pa.table(
    {name: [row[name] for row in ROWS] for name in SCHEMA},
    pa.schema([("血糖", pa.float64()), ("年龄", pa.int64()), ("性别", pa.string()),
               ("ward", pa.int64()), ("抽烟", pa.string())]),
)  # fmt: skip
FRAMES = {
    "records": ROWS,
    "arrow": ARROW,
    "arrow batch": ARROW.to_batches()[0],
    "polars": pl.from_arrow(ARROW),
    "polars lazy": pl.from_arrow(ARROW).lazy(),
    "polars categories": pl.from_arrow(ARROW).with_columns(pl.col("性别").cast(pl.Categorical)),
    "pandas": pd.DataFrame(ROWS),
    "pandas objects": pd.DataFrame(ROWS, dtype=object),
    "pandas nullable": pd.DataFrame(ROWS).convert_dtypes(),
    "pandas arrow": ARROW.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": pd.DataFrame(ROWS).astype({"性别": "category", "ward": "category"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_a_table_in_memory(name):
    """Rows, Arrow, polars and pandas in their several storages."""
    check(FRAMES[name])


def _text(separator, decimal, thousands):
    """Return the table as text with these signs."""

    def number(x):
        if x is None:
            return ""
        whole, _, part = f"{x:.10g}".partition(".")
        if thousands and len(whole) > 3:
            whole = f"{whole[:-3]}{thousands}{whole[-3:]}"
        return f"{whole}{decimal}{part}" if part else whole

    lines = [separator.join(SCHEMA)]
    for row in ROWS:
        cells = [number(v) if isinstance(v, float | int) else (v or "") for v in row.values()]  # fmt: skip
        lines.append(separator.join(cells))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le"])  # fmt: skip
@pytest.mark.parametrize(
    ("separator", "decimal", "thousands"),
    [(",", ".", None), ("\t", ".", "'"), (";", ",", "."), ("|", ".", " ")],
)
def test_a_text_table(tmp_path, encoding, separator, decimal, thousands):
    """Every encoding with every way to write numbers."""
    text = _text(separator, decimal, thousands)
    (tmp_path / "t.txt").write_bytes(text.encode(encoding))

    check(CSV(tmp_path / "t.txt", encoding, separator, decimal, thousands))


def test_parquet(tmp_path):
    """A file, a folder of files, a pattern, and a polars file."""
    pq.write_table(ARROW, tmp_path / "t.parquet", row_group_size=5)
    check(tmp_path / "t.parquet")
    pl.from_arrow(ARROW).write_parquet(tmp_path / "p.parquet")
    check(str(tmp_path / "p.parquet"))
    folder = tmp_path / "several"
    folder.mkdir()
    for i in range(3):
        pq.write_table(ARROW.slice(i * 8, 8), folder / f"{i}.parquet")
    check(folder)
    check(str(folder / "*.parquet"))


def test_postgresql():
    """The table in PostgreSQL."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url, psycopg.connect(url, autocommit=True) as db:
        db.execute(
            'CREATE TABLE t ("血糖" float8, "年龄" int, "性别" text, ward bigint, "抽烟" text)'
        )  # fmt: skip
        db.cursor().executemany(
            "INSERT INTO t VALUES (%s, %s, %s, %s, %s)",
            [list(row.values()) for row in ROWS],
        )

        check(Postgres(url, "t"))


@pytest.mark.parametrize("engine", ["sail", "spark"])
def test_spark(engine, tmp_path):
    """Frames and tables of Spark Connect (Sail) and of Spark."""
    session = getattr(sparks, engine)()
    pq.write_table(ARROW, tmp_path / "t.parquet")
    frame = session.read.parquet(str(tmp_path / "t.parquet"))

    check(frame)
    if engine == "spark":
        check(Spark(f"parquet.`{tmp_path / 't.parquet'}`"))


def test_the_table_is_worth_it():
    """It has clamped, coded, missing and undeclared cells, so agreement says something."""
    plan = make_plan(QUESTIONS[0], SCHEMA, 1)

    rows, values, *_ = a.expected(plan, ROWS)

    assert rows == (24,)
    assert values < rows
    assert not any(math.isnan(r["血糖"] or 0) for r in ROWS)
