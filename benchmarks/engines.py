"""The cost of privacy on each engine, against the engine's own plain statement.

Each case runs in a child process of its own on the same Parquet file, so that CPU time
and peak memory are its own. CPU seconds are the least of several repetitions of the
statement alone; for Spark they are those of Python and of its Java process together,
after a first run that warms it up, and so is the peak. Peers run in ``--peer-python``, by default this one; one that is not
installed there is named.

    python benchmarks/engines.py [--rows 10000000] [--peer-python .venv-benchmarks/bin/python]
    python benchmarks/engines.py --only spark    # these cases alone
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import warnings
from itertools import count
from pathlib import Path
from time import perf_counter, process_time

GROUPS, REPEATS = 100, 3
KEYS = [f"g{i:03d}" for i in range(GROUPS)]
LOW, HIGH, BINS = 0, 300, 256
MAX_ROWS, MAX_GROUPS = 5, 2
SMALL, SMALL_PEOPLE = 1_000_000, 200_000

# People have few rows or many: a power of a uniform number spreads them unevenly.
MAKE = """
COPY (
  SELECT CAST(floor(pow((h >> 8) % 1000003 / 1000003.0, 2) * $people) AS BIGINT) AS uid,
    'g' || lpad(CAST(h % $groups AS VARCHAR), 3, '0') AS g,
    CASE WHEN h % 97 = 0 THEN NULL ELSE (h >> 20) % 3200000 / 10000.0 - 10 END AS x
  FROM (SELECT hash(range) AS h FROM range($rows))
) TO '$file' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 500000)
"""
PLAIN = "SELECT g, count(*), avg(x), var_pop(x) FROM {t} GROUP BY g"
PLAIN_PEOPLE = "SELECT g, count(*), count(DISTINCT uid), avg(x), var_pop(x) FROM {t} GROUP BY g"  # fmt: skip


def make(file, rows, people):
    """Write the table."""
    import duckdb

    facts = {"$people": people, "$groups": GROUPS, "$rows": rows, "$file": file}
    sql = MAKE
    for name, value in facts.items():
        sql = sql.replace(name, str(value))
    duckdb.connect().execute(sql)


def question(kind):
    """Return the schema and the plan of a case."""
    import sfumato as sf
    from sfumato.plan import make_plan

    columns = {"g": sf.Category(KEYS), "x": sf.Real(LOW, HIGH)}
    statistics = [sf.count(), sf.mean("x"), sf.variance("x")]
    unit = None
    if kind == "people":
        unit = sf.Unit("uid", max_rows=MAX_ROWS, max_groups=MAX_GROUPS)
        statistics.append(sf.people())
    if kind == "histogram":
        edges = [LOW + (HIGH - LOW) * i / BINS for i in range(BINS + 1)]
        statistics.append(sf.histogram("x", edges))
    schema = sf.Schema(columns, unit=unit)
    return schema, make_plan(sf.Query().group_by("g").select(*statistics), schema, 1)


# ------------------------------------------------------------------ cases


def duckdb_plain(file, sql):
    """Return a plain statement of DuckDB and the clock of its CPU."""
    import duckdb

    connection = duckdb.connect()
    text = sql.format(t=f"read_parquet('{file}')")
    return lambda: connection.execute(text).fetchall(), process_time


def duckdb_private(file, kind, **options):
    """Return the exact integers of the same question by DuckDB."""
    import sfumato as sf
    from sfumato.engine.load import open_engine

    schema, plan = question(kind)
    engine = open_engine(sf.Dataset(file, schema=schema, name="t", **options))
    return lambda: engine.run(plan).unseal(), process_time


def spark_session(file):
    """Return a session of Spark on this machine, its table, and its clock."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    frame = session.read.parquet(str(file))
    java = session.sparkContext._gateway.proc.pid
    _JAVA.append(java)
    return session, frame, lambda: java_seconds(java) + process_time()


_JAVA = []


def java_peak():
    """Return the peak MB of Spark's Java process, where there is one (Linux)."""
    lines = [x for pid in _JAVA for x in Path(f"/proc/{pid}/status").read_text().splitlines()]  # fmt: skip
    return sum(int(x.split()[1]) for x in lines if x.startswith("VmHWM")) / 1024


def java_seconds(pid):
    """Return the CPU seconds of a process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spark_plain(file, sql):
    """Return a plain statement of Spark."""
    session, frame, clock = spark_session(file)
    frame.createOrReplaceTempView("t")
    return lambda: session.sql(sql.format(t="t")).collect(), clock


def spark_private(file, kind):
    """Return the exact integers of the same question by Spark."""
    import sfumato as sf
    from sfumato.engine.load import open_engine

    _, frame, clock = spark_session(file)
    schema, plan = question(kind)
    engine = open_engine(sf.Dataset(frame, schema=schema, name="t"))
    return lambda: engine.run(plan).unseal(), clock


def opendp(file, unit):
    """Return a release by OpenDP (Polars): count and sum by group; no variance there."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib", "honest-but-curious")
    frame = pl.scan_parquet(file)
    people = {"identifier": "uid"} if unit == "people" else {}

    def release():
        context = dp.Context.compositor(  # a context is used up by its one query
            data=frame,
            privacy_unit=dp.unit_of(contributions=1, **people),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["g"], invariant="keys", max_length=20_000_000, max_groups=GROUPS)],
        )  # fmt: skip
        query = context.query()
        if people:
            # It keeps one group fewer than it is told.
            query = query.truncate_per_group(MAX_ROWS, by=["g"]).truncate_num_groups(MAX_GROUPS + 1, by=["g"])  # fmt: skip
        x = pl.col("x").fill_null(0.0).fill_nan(0.0)
        asked = query.group_by("g").agg(dp.len(), x.dp.sum((float(LOW), float(HIGH))))
        return asked.release().collect()

    return release, process_time


def latency():
    """Return plan and release of a small table in memory, each once a call.

    The first release is of one question again and again, the second of another question
    each time, at another ε.
    """
    import pandas as pd

    import sfumato as sf

    table = Path(sf.__file__).parent / "data" / "diabetes.csv"
    columns = {"Glucose": sf.Real(0, 250, step=1, missing=0), "BMI": sf.Real(10, 70, step="0.1", missing=0)}  # fmt: skip
    data = sf.Dataset(pd.read_csv(table), schema=sf.Schema(columns), name="pima")
    ask = sf.Session(data, sf.Epsilon(10_000)).query()
    same = ask.select(sf.count(), sf.mean("Glucose"), sf.mean("BMI"))
    numbers = count(1)

    def other():
        i = next(numbers)
        some = ask.where(sf.col("Glucose") >= i / 8)
        some = some.select(sf.count(), sf.mean("Glucose"), sf.mean("BMI"))
        return some.release(f"0.1{i:03}")

    return lambda: same.plan("0.1"), lambda: same.release("0.1"), other


CASES = {
    "duckdb plain": lambda f: duckdb_plain(f, PLAIN),
    "duckdb plain people": lambda f: duckdb_plain(f, PLAIN_PEOPLE),
    "duckdb rows": lambda f: duckdb_private(f, "rows"),
    "duckdb histogram": lambda f: duckdb_private(f, "histogram"),
    "duckdb people": lambda f: duckdb_private(f, "people"),
    "duckdb people, 500 MB": lambda f: duckdb_private(f, "people", memory="500MB"),
    "spark plain people": lambda f: spark_plain(f, PLAIN_PEOPLE),
    "spark people": lambda f: spark_private(f, "people"),
    "spark plain": lambda f: spark_plain(f, PLAIN),
    "spark rows": lambda f: spark_private(f, "rows"),
    "opendp rows": lambda f: opendp(f, "rows"),
    "opendp people": lambda f: opendp(f, "people"),
}


def child(case, file):
    """Measure one case and print it as JSON."""
    warnings.simplefilter("ignore")
    if case == "latency":
        names = "plan", "release", "other"
        print(json.dumps(dict(zip(names, map(medians, latency()), strict=True))))
        return
    run, clock = CASES[case](file)
    spent, found = [], None
    for _ in range(REPEATS + case.startswith("spark")):
        start = clock()
        found = run()
        spent.append(clock() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + java_peak()
    print(json.dumps({"cpu": min(spent), "peak": peak, "answer": str(hash(str(found)))}))  # fmt: skip
    sys.stdout.flush()
    os._exit(0)  # some engines take long to say goodbye


def medians(run, times=40):
    """Return the median CPU and wall milliseconds of a call, once warm."""
    spent, passed = [], []
    for _ in range(times):
        begin, start = perf_counter(), process_time()
        run()
        spent.append(process_time() - start)
        passed.append(perf_counter() - begin)
    return [sorted(each)[times // 2] * 1e3 for each in (spent, passed)]


def measure(case, file, python=sys.executable):
    """Run one case in a child process; a failure says why instead."""
    env = {**os.environ, "PYTHONHASHSEED": "0", "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [python, "-W", "ignore", __file__, "--child", case, str(file)]
    start = perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["it died without a word"]
        found = {"failed": words[-1][:100]}
    else:
        found = json.loads(done.stdout.splitlines()[-1])
    print(f"{case}: {found} ({perf_counter() - start:.0f} s)", file=sys.stderr, flush=True)  # fmt: skip
    return found


def cell(found, digits=2):
    """Return CPU seconds as text, or why there are none."""
    return found.get("failed") or f"{found['cpu']:.{digits}f}"


def ratio(found, plain):
    """Return the ratio of two cases, where both ran."""
    return f"**{found['cpu'] / plain['cpu']:.2f}**" if "cpu" in found and "cpu" in plain else "-"  # fmt: skip


def took(work, found, bar):
    """Return a row of milliseconds."""
    spent, passed = found or (float("nan"), float("nan"))
    return f"| {work} | {spent:.2f} | {passed:.2f} | {bar} |"


def report(rows, spark_rows, peer, only=""):
    """Return the tables as Markdown, of the cases whose name begins with `only`."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        large, small, medium = (Path(folder) / f"{n}.parquet" for n in "abc")
        make(large, rows, rows // 10)
        make(small, SMALL, SMALL_PEOPLE)
        make(medium, spark_rows, spark_rows // 10)
        left = {"failed": "left out"}
        at = {
            case: left if not case.startswith(only) else measure(case, medium if case.startswith("spark") else large, peer if case.startswith("opendp") else sys.executable)
            for case in CASES
        }  # fmt: skip
        few = left if only else measure("duckdb people", small)
        other = left if only else measure("opendp people", small, peer)
        quick = left if only else measure("latency", small)
    spilled, whole = at["duckdb people, 500 MB"], at["duckdb people"]
    same = spilled.get("answer") == whole.get("answer") and "answer" in whole
    lines = [
        "# Engines: the cost of privacy against each engine's own plain statement",
        "",
        f"{rows:,} rows of {rows // 10:,} people in {GROUPS} groups, Parquet (Spark: {spark_rows:,} rows). DuckDB "
        f"{duckdb.__version__}, Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores. "
        "CPU seconds; peak MB of the process.",
        "",
        "| work | plain CPU | sfumato CPU | ratio | bar | peak MB | OpenDP (Polars) CPU |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip

    def line(work, plain, found, bar, *others):
        peak = f"{found['peak']:.0f}" if "peak" in found else "-"
        share = ratio(found, plain) if plain else "-"
        told = cell(others[0]) if others else "-"
        lines.append(f"| {work} | {cell(plain) if plain else '-'} | {cell(found)} | {share} | {bar} | {peak} | {told} |")  # fmt: skip

    line("DuckDB, unit = row: count, mean, variance", at["duckdb plain"], at["duckdb rows"], "≤ 2.5", at["opendp rows"])  # fmt: skip
    line(f"the same and a {BINS}-bin histogram", at["duckdb plain"], at["duckdb histogram"], "≤ 4.5")  # fmt: skip
    line("DuckDB, people: count, people, mean, variance", at["duckdb plain people"], whole, "≤ 3; 1600 MB", at["opendp people"])  # fmt: skip
    line(f"the same with 500 MB: {'the same integers' if same else 'OTHER INTEGERS'}", at["duckdb plain people"], spilled, "same integers")  # fmt: skip
    line(f"{SMALL:,} rows, {SMALL_PEOPLE:,} people, four aggregates", None, few, "≤ 1.0 s", other)  # fmt: skip
    line("Spark, people", at["spark plain people"], at["spark people"], "≤ 2")
    line("Spark, unit = row", at["spark plain"], at["spark rows"], "")
    lines += [
        "",
        "| small table in memory, three aggregates, ledger in memory | CPU ms | wall ms | bar |",
        "|---|---|---|---|",
        took("plan", quick.get("plan"), "≤ 2"),
        took("release", quick.get("release"), "≤ 5"),
        took("release of another question each time, at another ε", quick.get("other"), ""),
        "",
        "OpenDP answers count and sum only: it has no variance. A peer that is not there is named as Python names it. There is no case for Tumult, which wants a Spark 3.5 of its own.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main():
    """Read the arguments and print or write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--spark-rows", type=int, default=10_000_000)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--only", default="", choices=["", "duckdb", "spark", "opendp"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    text = report(arguments.rows, arguments.spark_rows, arguments.peer_python, arguments.only)  # fmt: skip
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
