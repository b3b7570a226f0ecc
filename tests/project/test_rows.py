"""Several tables and figures per person in a project file."""

import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.cli import cli
from sfumato.declare.relation import Joined, Looked, Other, PerPerson, United
from sfumato.errors import SfumatoError
from sfumato.project import load

HEAD = """\
title = "Clinic"
[data]
source = "visits.csv"
name = "visits"
[unit]
column = "pid"
max_rows = 4
max_groups = 2
[columns]
x = { type = "integer", lower = 0, upper = 9 }
day = { type = "integer", lower = 0, upper = 99 }
site = { type = "category", values = ["A", "B"] }
[[tables]]
name = "labs"
source = "labs.csv"
unit = { column = "id", max_rows = 4, max_groups = 1 }
columns = { y = { type = "integer", lower = 0, upper = 9 } }
[[tables]]
name = "more"
source = "visits.csv"
columns = { x = { type = "integer", lower = 0, upper = 9 }, day = { type = "integer", lower = 0, upper = 99 }, site = { type = "category", values = ["A", "B"] } }
[[tables]]
name = "sites"
source = "sites.csv"
key = "code"
columns = { region = { type = "category", values = ["N", "S"] } }
[[derive]]
name = "high"
value = "worst >= 7"
[[derive]]
name = "late"
value = "day >= 50"
[budget]
epsilon = "9000"
[[releases]]
name = "r"
epsilon = "2000"
"""
VISITS = "pid,x,day,site\n" + "".join(
    f"{i % 40},{i % 10},{i % 90},{'AB'[i % 2]}\n" for i in range(120)
)
LABS = "id,y\n" + "".join(f"{i % 50},{i % 7}\n" for i in range(100))
SITES = "code,region\nA,N\nC,S\n"


@pytest.fixture
def clinic(tmp_path):
    """Return a function that writes the project with the given release."""
    for name, text in (("visits", VISITS), ("labs", LABS), ("sites", SITES)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")

    def write(release, head=HEAD):
        path = tmp_path / "project.toml"
        path.write_text(head + release, encoding="utf-8")
        return path

    return write


COUNT = "statistics = [{ count = true }]\n"
STEPS = {
    "public": (
        'rows = [{ join = "sites", on = "site" }]\ngroup_by = ["region"]\n' + COUNT,
        Looked,
        {("N",): 60, ("S",): 0},
    ),
    "inner": (
        'rows = [{ join = "sites", on = "site", how = "inner" }]\n' + COUNT,
        Looked,
        {(): 60},
    ),
    "pairs": ('rows = [{ join = "labs", max_rows = 50 }]\n' + COUNT, Joined, {(): 240}),
    "union": ('rows = [{ union = ["more"] }]\n' + COUNT, United, {(): 160}),
    "other": ('rows = [{ table = "labs" }]\n' + COUNT, Other, {(): 100}),
    "people": (
        'rows = [{ where = "late == true" }, { per_person = [{ name = "worst", max = "x" }, '
        '{ name = "home", last = "site", by = "day" }] }]\nwhere = "high == true"\n'
        'group_by = ["home"]\nstatistics = [{ people = true }]\n',
        PerPerson,
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_steps_lead_to_the_rows(clinic, name):
    """Each step is the node that the builder makes, and a run answers."""
    text, node, truth = STEPS[name]
    path = clinic(text)

    done = CliRunner().invoke(cli, ["run", str(path), "--yes"])
    project = load(path)

    assert done.exit_code == 0, done.output
    assert isinstance(project.releases[0].query.base, node)
    if truth is not None:
        session = sf.Session(project.dataset, budget="9000")
        found = session.ask(project.releases[0].query).release("2000")
        keys = {tuple(f.group.values()): f.estimate for f in found}
        assert keys == pytest.approx(truth, abs=1)  # scales of at most 0.05 rows


def test_people_of_a_file_are_those_of_the_builder(clinic):
    """Derived columns stand where their columns are: before the figures, and after."""
    project = load(clinic(STEPS["people"][0]))
    session = sf.Session(project.dataset, budget="1")

    built = (
        session.query()
        .derive("late", sf.col("day") >= 50)
        .where(sf.col("late") == True)  # noqa: E712  a condition, not a truth value
        .per_person(worst=sf.feature.max("x"), home=sf.feature.last("site", by="day"))
    )

    (asked,) = project.releases
    assert asked.query.base.features == built.query.base.features
    assert str(asked.query.base) == str(built.query.base)
    assert [one.name for one in asked.query.derived] == ["high"]


REFUSED = {
    "no step": ("rows = [{}]\n", "is one of"),
    "two steps": ('rows = [{ table = "labs", where = "x > 1" }]\n', "is one of"),
    "on without join": ('rows = [{ table = "labs", on = "x" }]\n', "goes with join"),
    "an unknown table": ('rows = [{ join = "lab" }]\n', "has no table 'lab'"),
    "an unknown union": ('rows = [{ union = ["lab"] }]\n', "no private table 'lab'"),
    "a public union": ('rows = [{ union = ["sites"] }]\n', "no private table"),
    "people on a key": ('rows = [{ join = "labs", on = "x" }]\n', "on nothing else"),
    "a key that is none": ('rows = [{ join = "sites", on = "x" }]\n', "no key of"),
    "a missing key": ('rows = [{ join = "sites" }]\n', "no column 'code' to be"),
    "two figures": (
        'rows = [{ per_person = [{ name = "f", max = "x", min = "x" }] }]\n',
        "is one of",
    ),
    "a count without most": (
        'rows = [{ per_person = [{ name = "f", count = true }] }]\n',
        "needs most",
    ),
    "a sum without bounds": (
        'rows = [{ per_person = [{ name = "f", sum = "x" }] }]\n',
        "needs column",
    ),
    "first without order": (
        'rows = [{ per_person = [{ name = "f", first = "x" }] }]\n',
        "needs by",
    ),
    "max with order": (
        'rows = [{ per_person = [{ name = "f", max = "x", by = "day" }] }]\n',
        "takes no by",
    ),
    "a word too much": (
        'rows = [{ per_person = [{ name = "f", max = "x", mox = 3 }] }]\n',
        "mox is unknown",
    ),
    "the identifiers": (
        'rows = [{ per_person = [{ name = "pid", max = "x" }] }]\n',
        "says whose a row is",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_steps_are_refused_in_their_place(clinic, name):
    """The error names the file and what is wrong; no ledger is left behind."""
    text, words = REFUSED[name]
    path = clinic(text + COUNT)

    with pytest.raises(SfumatoError, match=words) as caught:
        load(path)

    assert "project.toml" in str(caught.value)
    assert not path.with_suffix(".ledger").exists()


TABLES = {
    "two of one name": ('name = "more"', 'name = "labs"', "one name"),
    "the dataset's name": ('name = "more"', 'name = "visits"', "one name"),
    "key and unit": ('key = "code"', 'key = "code"\nunit = { column = "q", max_rows = 1, max_groups = 1 }', "no unit"),
    "another unit": ('unit = { column = "id", max_rows = 4, max_groups = 1 }', "unit = {}", "another unit"),
    "an unknown entry": ('key = "code"', 'keys = "code"', "keys is unknown"),
    "no file": ('source = "sites.csv"', 'source = "nowhere.csv"', "nowhere.csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_bad_tables_are_refused(clinic, name):
    """Other tables are checked like the dataset's own."""
    old, new, words = TABLES[name]
    assert old in HEAD
    text = 'rows = [{ join = "sites", on = "site" }]\n' + COUNT

    with pytest.raises(SfumatoError, match=words):
        load(clinic(text, HEAD.replace(old, new)))


def test_tune_simulates_joined_tables_for_their_owner(clinic):
    """Losses are compared on the tables themselves; bounds of other rows are not moved."""
    path = clinic(STEPS["public"][0])

    done = CliRunner().invoke(cli, ["tune", str(path), "--owner", "--runs", "3", "--amounts", "1,2", "--jobs", "1"])  # fmt: skip

    assert done.exit_code == 0, done.output


def test_a_stand_in_of_one_table_is_none_of_several(clinic, tmp_path):
    """`advise` on one public file refuses a project with several private tables."""
    path = clinic(STEPS["other"][0])
    (tmp_path / "public.csv").write_text(VISITS, encoding="utf-8")

    done = CliRunner().invoke(cli, ["tune", str(path), "--public", str(tmp_path / "public.csv")])  # fmt: skip

    assert done.exit_code == 2
    assert "several private tables" in done.output + str(done.stderr)


IN_SQL = {
    "a filter": (
        'statistics = [{ mean = "x" }, { count = true }]\ngroup_by = ["site"]\nwhere = "x >= 2"\n',
        "SELECT site, AVG(x), COUNT(*) FROM visits WHERE x >= 2 GROUP BY site",
    ),
    "a computed column of the file": (
        'statistics = [{ count = true }]\nwhere = "late == true"\n',
        "SELECT COUNT(*) FROM visits WHERE late = TRUE",
    ),
    "a public table": (
        'rows = [{ join = "sites", on = "site" }]\ngroup_by = ["region"]\n' + COUNT,
        "SELECT region, COUNT(*) FROM visits LEFT JOIN sites ON visits.site = sites.code GROUP BY region",
    ),
    "another table": (
        'rows = [{ table = "labs" }]\nstatistics = [{ mean = "y" }]\n',
        "SELECT AVG(y) FROM labs",
    ),
    "people": (
        'rows = [{ per_person = [{ name = "worst", max = "x" }, { name = "home", last = "site", by = "day" }] }]\n'
        'where = "high == true"\ngroup_by = ["home"]\nstatistics = [{ people = true }]\n',
        "SELECT home, COUNT(DISTINCT pid) FROM (SELECT MAX(x) AS worst, MAX_BY(site, day) AS home "
        "FROM visits GROUP BY pid) AS p WHERE high = TRUE GROUP BY home",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_SQL)
def test_a_release_in_sql_is_that_of_its_entries(clinic, name):
    """Both make one plan, down to its digest; and `run` answers it."""
    entries, text = IN_SQL[name]
    said = load(clinic(entries)).releases[0]

    path = clinic(f'sql = "{text}"\n')
    asked = load(path).releases[0]
    done = CliRunner().invoke(cli, ["run", str(path), "--yes"])

    assert asked.plan.digest == said.plan.digest
    assert asked.targets == said.targets
    assert done.exit_code == 0, done.output


def test_values_in_sql_stand_on_computed_columns_of_the_file(clinic):
    """The file's columns come before those that the text computes of them."""
    text = "SELECT SUM(CASE WHEN late = TRUE THEN 2 ELSE 0 END) AS s FROM visits"

    (asked,) = load(clinic(f'sql = "{text}"\n')).releases

    assert len(asked.query.derived) == 2
    assert asked.query.derived[0].name == "late"


BAD_SQL = {
    "both": ('sql = "SELECT COUNT(*) FROM visits"\n' + COUNT, "both sql and statistics"),
    "a filter beside it": ('sql = "SELECT COUNT(*) FROM visits"\nwhere = "x > 1"\n', "both sql and where"),
    "neither": ("", "asks for nothing"),
    "no statistics": ("statistics = []\n", "asks for nothing"),
    "beyond the grammar": ('sql = "SELECT x FROM visits"\n', "selects the cells"),
    "an unknown table": ('sql = "SELECT COUNT(*) FROM visit"\n', "no private table 'visit'"),
    "an unknown column": ('sql = "SELECT AVG(w) FROM visits"\n', "unknown column 'w'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_SQL)
def test_bad_sql_is_refused_at_its_place(clinic, name):
    """The error names the release, and nothing is written or spent."""
    text, words = BAD_SQL[name]
    path = clinic(text)

    done = CliRunner().invoke(cli, ["run", str(path), "--yes"])

    assert done.exit_code == 2
    assert words in done.output
    assert "releases.r" in done.output
    assert not list(path.parent.glob("*.ledger"))


@pytest.mark.parametrize(
    ("steps", "fact"),
    [('[{ where = "x > 1" }, { table = "labs" }]', "would be lost"),
     ('[{ join = "sites", on = "site" }, { table = "labs" }]', "would be lost"),
     ('[{ join = "sites", on = "site", max_rows = 3 }]', "'sites' is public"),
     ('[{ join = "sites", on = "site", max_groups = 3 }]', "'sites' is public"),
     ('[{ per_person = [{ name = "w", max = "x" }, { name = "w", min = "x" }] }]', "one name")],
)  # fmt: skip
def test_nothing_that_a_step_says_is_dropped(clinic, steps, fact):
    """A filter before another table, a bound of nothing, a figure under a name that is taken."""
    with pytest.raises(SfumatoError, match=fact):
        load(clinic(f"rows = {steps}\n{COUNT}"))
