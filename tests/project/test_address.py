"""Where a project's table lies: what may stand in the file, and what never does."""

import pytest

from sfumato.cli.ledger.place import find
from sfumato.declare.dataset import CSV, Postgres, Spark
from sfumato.errors import ProjectError
from sfumato.project import load
from sfumato.project.source import check_source
from sfumato.project.standing import standing


def text(good, **entries):
    """Return the project file with another ``[data]``."""
    lines = [f"{key} = {value}" for key, value in entries.items()]
    return good.replace('source = "table.csv"', "\n".join(lines))


def test_a_table_in_postgresql(project, good, monkeypatch):
    """Address, table, schema and time limit; the password comes from the environment."""
    monkeypatch.setenv("CLINIC_PASSWORD", "p@ss/word")
    path = project(text(
        good, source='"postgresql://reader:${CLINIC_PASSWORD}@db/clinic"', table='"Patients"',
        schema='"ward"', seconds=60,
    ))  # fmt: skip

    declared = load(path)

    url = "postgresql://reader:p%40ss%2Fword@db/clinic"
    assert declared.dataset.source == Postgres(url, "Patients", "ward", 60)
    assert declared.table == "ward.Patients"
    assert "word" not in repr(declared)


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("spark", None),
        ("sc://cluster:15002", "sc://cluster:15002"),
        ("sc://cluster/;token=${SPARK_TOKEN};use_ssl=true", "sc://cluster/;token=a%3Bb;use_ssl=true"),
        ("spark://master:7077", "spark://master:7077"),
    ],
)  # fmt: skip
def test_a_table_in_spark(project, good, monkeypatch, source, url):
    """The session at hand, Spark Connect, or a master."""
    monkeypatch.setenv("SPARK_TOKEN", "a;b")

    declared = load(
        project(text(good, source=f'"{source}"', table='"clinic.patients"'))
    )

    assert declared.dataset.source == Spark("clinic.patients", url)
    assert declared.table == "clinic.patients"


@pytest.mark.parametrize(
    "source",
    [
        "postgresql://reader:s3cr3t@db/clinic", "postgresql://db/clinic?password=s3cr3t",
        "postgres://r@db/clinic?sslmode=require&sslpassword=s3cr3t", "postgresql://r:${A}s3cr3t@db/c",
        "sc://cluster/;token=s3cr3t", "sc://cluster/;use_ssl=true;token=s3cr3t", "sc://u:s3cr3t@cluster",
    ],
)  # fmt: skip
def test_a_secret_in_the_file_is_refused(project, good, source):
    """Passwords and tokens are refused, and not repeated."""
    path = project(text(good, source=f'"{source}"', table='"t"'))

    with pytest.raises(ProjectError, match="a secret stands in") as refused:
        load(path)

    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"source": '"postgresql://db/clinic"'}, "data.table is missing"),
        ({"source": '"spark"'}, "data.table is missing"),
        ({"source": '"spark"', "table": '""'}, "data.table is empty"),
        ({"source": '"spark"', "table": '"t"', "schema": '"s"'}, "data.schema does not go with a table in Spark"),
        ({"source": '"postgresql://d/c"', "table": '"t"', "encoding": '"utf-8"'}, "data.encoding does not go with a table in PostgreSQL"),
        ({"source": '"table.csv"', "table": '"t"'}, "data.table goes with a database"),
        ({"source": '"t.parquet"', "separator": '";"'}, "data.separator goes with text files"),
        ({"source": '"postgresql://d/c"', "table": '"t"', "seconds": "0"}, "data.seconds"),
        ({"source": '"postgresql://[d/c"', "table": '"t"'}, "data.source is no address"),
    ],
)  # fmt: skip
def test_entries_that_do_not_go_together(project, good, entries, said):
    """Each is refused by its name, before anything is opened."""
    with pytest.raises(ProjectError, match=said.replace(".", r"\.")):
        load(project(text(good, **entries)))


def test_a_variable_that_is_not_set_is_named(project, good, monkeypatch):
    """A plan needs no secret; opening the table does."""
    monkeypatch.delenv("CLINIC_PASSWORD", raising=False)
    source = '"postgresql://r:${CLINIC_PASSWORD}@db/clinic"'

    declared = load(project(text(good, source=source, table='"t"')))

    with pytest.raises(ProjectError, match="CLINIC_PASSWORD is not set"):
        check_source(declared)


def test_files_are_what_they_were(project, good):
    """A path beside the project file, as text or Parquet."""
    declared = load(project())

    assert isinstance(declared.dataset.source, CSV)
    assert declared.table == "table.csv"
    assert load(project(text(good, source='"a/t.parquet"'))).table == "t.parquet"


def test_a_secret_in_the_ledgers_address_is_refused(project, good, monkeypatch):
    """A report prints the project file; the environment may hold the password."""
    monkeypatch.setenv("LEDGER_PASSWORD", "p@ss")
    written = '[budget]\nledger = "postgresql://u:{}@db/clinic"\n'
    secret = good.replace("[budget]\n", written.format("s3cr3t"))
    named = good.replace("[budget]\n", written.format("${LEDGER_PASSWORD}"))

    with pytest.raises(
        ProjectError, match=r"a secret stands in budget\.ledger"
    ) as refused:
        load(project(secret))
    written_at = project(named)
    declared = load(written_at)

    assert "p%40ss" not in repr(declared)
    assert "s3cr3t" not in str(refused.value)
    assert declared.ledger == "postgresql://u:p%40ss@db/clinic"
    monkeypatch.delenv("LEDGER_PASSWORD")
    for look in (check_source, standing, lambda _: find(str(written_at), None)):
        with pytest.raises(ProjectError, match="LEDGER_PASSWORD is not set"):
            look(load(written_at))
