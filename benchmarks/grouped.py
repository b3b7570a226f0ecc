"""Count, sum and mean by 100 groups on many rows: sfumato against plain DuckDB.

Each case runs in a child process of its own, so that CPU time and peak memory are its
own; both engines read the same source in the same run. CPU time is the least of
several repetitions of the statement alone; memory is the peak of the whole process.

Run ``python benchmarks/grouped.py --rows 10000000 --out grouped.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

GROUPS = 100
KEYS = [f"g{i:03d}" for i in range(GROUPS)]
SOURCES = ("parquet", "polars", "arrow", "pandas", "numbers")
REPEATS = 5

MAKE = f"""
COPY (
  SELECT 'g' || lpad(CAST(h % {GROUPS} AS VARCHAR), 3, '0') AS g,
    CAST(h % {GROUPS} AS INTEGER) AS n,
    CASE WHEN h % 97 = 0 THEN NULL WHEN h % 1009 = 0 THEN 'nan'::DOUBLE
         WHEN h % 2003 = 0 THEN 'inf'::DOUBLE ELSE (h >> 20) % 3000000 / 10000.0 END AS x
  FROM (SELECT hash(range) AS h FROM range($rows))
) TO '$file' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 500000)
"""


def read(source, file):
    """Return the table as its library holds it, and the name of its grouping column."""
    columns = ["n", "x"] if source == "numbers" else ["g", "x"]
    if source == "parquet":
        return file, "g"
    if source == "polars":
        import polars as pl

        return pl.read_parquet(file, columns=columns), "g"
    import pyarrow.parquet as pq

    table = pq.read_table(file, columns=columns)
    if source == "arrow":
        return table, "g"
    return table.to_pandas(), columns[0]


def plain(source, file):
    """Return a function that runs plain DuckDB."""
    import duckdb

    table, group = read(source, file)
    connection = duckdb.connect()
    if source == "parquet":
        connection.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet('{file}')")
    else:
        connection.register("t", table)
    sql = f"SELECT {group}, count(*), sum(x), avg(x) FROM t GROUP BY {group}"
    return lambda: connection.execute(sql).fetchall()


def private(source, file):
    """Return a function that computes the exact integers of the same question."""
    from sfumato.declare import query as ask
    from sfumato.declare.dataset import Dataset
    from sfumato.declare.schema import Category, Real, Schema
    from sfumato.engine.load import open_engine
    from sfumato.plan import make_plan

    table, group = read(source, file)
    keys = list(range(GROUPS)) if group == "n" else KEYS
    schema = Schema({group: Category(keys), "x": Real(0, 300)})
    query = ask.Query().group_by(group).select(ask.count(), ask.sum("x"), ask.mean("x"))
    plan = make_plan(query, schema, 1)
    engine = open_engine(Dataset(table, schema=schema, name="t"))
    return lambda: engine.run(plan)


def child(engine, source, file):
    """Measure one case and print it as JSON."""
    start = process_time()
    run = {"plain": plain, "private": private}[engine](source, file)
    opened = process_time() - start
    times = []
    for _ in range(REPEATS):
        cpu, wall = process_time(), perf_counter()
        run()
        times.append((process_time() - cpu, perf_counter() - wall))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu, wall = min(times)
    print(json.dumps({"open": opened, "cpu": cpu, "wall": wall, "peak": peak}))


def measure(engine, source, file):
    """Run one case in a child process."""
    command = [sys.executable, __file__, "--child", engine, source, str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(rows):
    """Return the table of ratios as Markdown."""
    import duckdb

    lines = [
        f"# Count, sum and mean by {GROUPS} groups of {rows:,} rows",
        "",
        (
            f"DuckDB {duckdb.__version__}, Python {platform.python_version()}, "
            f"{platform.machine()}. CPU seconds of the statement; peak MB of the process."
        ),
        "",
        "| source | plain CPU | sfumato CPU | ratio | plain MB | sfumato MB | ratio | open CPU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.parquet"
        sql = MAKE.replace("$rows", str(rows)).replace("$file", str(file))
        duckdb.connect().execute(sql)
        for source in SOURCES:
            a, b = (measure(engine, source, file) for engine in ("plain", "private"))
            lines.append(
                f"| {source} | {a['cpu']:.3f} | {b['cpu']:.3f} "
                f"| **{b['cpu'] / a['cpu']:.2f}** | {a['peak']:.0f} | {b['peak']:.0f} "
                f"| **{b['peak'] / a['peak']:.2f}** | {b['open']:.2f} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def main():
    """Read the arguments and print or write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    text = report(arguments.rows)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
