"""One project file, three sources: releases that differ in noise and in nothing else."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import sparks
from cluster import running

from sfumato import question

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]

YES = ("run", "project.toml", "--yes", "--force")
ROWS = pd.DataFrame({
    "Glucose": [120.0, 150.0, 0.0, math.nan, 1e300, -5.0, 99.5, math.inf] * 40,
    "Outcome": [0, 1, 0, 1, None, 1, 7, 0] * 40,
})  # fmt: skip


@pytest.fixture
def sealed(monkeypatch):
    """The exact integers that each release was made of, as the gate received them."""
    seen, gate = [], question.release

    def looking(plan, exact, *rest, **options):
        seen.append(exact.unseal())
        return gate(plan, exact, *rest, **options)

    monkeypatch.setattr(question, "release", looking)
    return seen


def integers(desk, run, sealed, good, **entries):
    """Run the project on another source; return the integers and the release."""
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in entries.items())
    desk.project(good.replace('source = "table.csv"', lines), table=csv())
    Path("project.ledger").unlink(missing_ok=True)
    Path("project.ledger-log").unlink(missing_ok=True)
    Path("project.ledger.anchor").unlink(missing_ok=True)
    sealed.clear()

    result = run(*YES)

    assert result.exit_code == 0, result.stderr
    return list(sealed), json.loads(Path("results/release.json").read_text("utf-8"))


def csv():
    """Return the table as text; infinity is no numeral there, so it is far out."""
    return ROWS.replace(math.inf, 1e308).to_csv(index=False)


def shape(release):
    """Return a release without what is noisy or of one run."""
    return [
        [(f["name"], f["group"]) for f in one["figures"]] + [one["claim"]["epsilon"]]
        for one in release["releases"]
    ]


@pytest.fixture
def expected(desk, run, sealed, good):
    """What the text table gives."""
    return integers(desk, run, sealed, good, source="table.csv")


def test_postgresql_gives_the_integers_of_the_file(desk, run, sealed, good, expected):
    """`sfumato run` on a table in PostgreSQL."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with running() as url:
        with psycopg.connect(url, autocommit=True) as db:
            db.execute(
                'CREATE TABLE t ("Glucose" double precision, "Outcome" smallint)'
            )
            cells = ROWS.astype(object).where(ROWS.notna(), None).to_numpy().tolist()
            db.cursor().executemany("INSERT INTO t VALUES (%s, %s)", cells)
        found, release = integers(desk, run, sealed, good, source=url, table="t")

    assert found == expected[0]
    assert shape(release) == shape(expected[1])
    assert release != expected[1]


def test_spark_connect_gives_the_integers_of_the_file(desk, run, sealed, good, expected):  # fmt: skip
    """`sfumato run` on a table behind an address of Spark Connect."""
    sparks.sail()
    ROWS.to_parquet("rows.parquet", index=False)
    table = f"parquet.`{Path('rows.parquet').resolve()}`"

    found, release = integers(desk, run, sealed, good, source=sparks.address(), table=table)  # fmt: skip

    assert found == expected[0]
    assert shape(release) == shape(expected[1])
    assert release != expected[1]


def test_spark_gives_the_integers_of_the_file(desk, run, sealed, good, expected):
    """`sfumato run` on a view of the Spark session at hand."""
    spark = sparks.spark()
    ROWS.to_parquet("rows.parquet", index=False)
    frame = spark.read.parquet(str(Path("rows.parquet").resolve()))
    frame.createOrReplaceTempView("patients")

    try:
        found, release = integers(desk, run, sealed, good, source="spark", table="patients")  # fmt: skip
    finally:
        spark.catalog.dropTempView("patients")

    assert found == expected[0]
    assert shape(release) == shape(expected[1])
    assert release != expected[1]
