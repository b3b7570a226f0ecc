"""`sfumato audit`: sound projects pass, a planted fault gives exit code 1 and a red page."""

import json
from html.parser import HTMLParser

import pytest

from sfumato.plan import allocate
from sfumato.plan.term import reach

QUICK = ("--draws", "1000", "--tables", "4", "--only", "overview")


class Reader(HTMLParser):
    """Collects tags and words of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_sound_project_passes(desk, run, lang):
    """Exit code 0, a page in the language asked for, no ledger and no private row."""
    desk.project()

    done = run("audit", "project.toml", "--lang", lang, *QUICK)

    assert done.exit_code == 0, done.output
    assert set(desk.files()) == {"project.toml", "table.csv", "audit.html"}
    page = Reader((desk.path / "audit.html").read_text(encoding="utf-8"))
    tags = [tag for tag, _ in page.tags]
    assert page.tags[0][1]["lang"] == {"en": "en", "zh": "zh-CN"}[lang]
    assert tags.count("h1") == 1 and tags.count("table") == 4
    assert not {"script", "img", "link", "iframe"} & set(tags)


def test_a_missing_table_does_not_matter(desk, run):
    """No row is read: not even the table need be there."""
    desk.project()
    (desk.path / "table.csv").unlink()

    done = run("audit", "project.toml", "--json", *QUICK)

    found = json.loads(done.stdout)
    assert done.exit_code == 0 and not found["violated"]
    assert {c["kind"] for c in found["checks"]} == {
        "sensitivity", "noise", "release", "race",
    }  # fmt: skip


def test_each_step_is_named_where_there_is_no_terminal(desk, run):
    """Minutes of silence look like a fault; a log wants lines without control signs."""
    desk.project()

    lines = run("audit", "project.toml", *QUICK).stderr.splitlines()

    tests = "sensitivity", "noise", "black box", "budget race"
    named = [f"{i} of 4: {test}, overview" for i, test in enumerate(tests, 1)]
    assert lines == named


def test_a_violation_gives_exit_code_one(desk, run, monkeypatch):
    """The bound of a mean off by a factor: the page says so above everything."""
    desk.project()

    monkeypatch.setattr(allocate, "reach", lambda a, u: max(1, reach(a, u) // 2))
    done = run("audit", "project.toml", *QUICK)

    assert done.exit_code == 1, done.output
    assert "VIOLATED" in done.stdout
    page = (desk.path / "audit.html").read_text(encoding="utf-8")
    assert 'role="alert"' in page


def test_a_release_of_public_numbers_has_nothing_to_test(desk, run, good):
    """A count under a public size costs nothing; the page says so."""
    unit = '[unit]\nneighbours = "replace_one"\nsize = 600\n[columns.Glucose]'
    text = good.replace("[columns.Glucose]", unit)
    text = text.replace(
        '{ count = true }, { mean = "Glucose", weight = 2 }', "{ count = true }"
    )
    text = text.replace('group_by = ["Outcome"]\n', "")
    desk.project(text)

    done = run("audit", "project.toml", "--json", *QUICK)

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["checks"] == []


def test_the_page_is_not_overwritten_unasked(desk, refused):
    """An older page stays."""
    desk.project()
    (desk.path / "audit.html").write_text("old")

    assert "exists already" in refused("audit", "project.toml", *QUICK)


def test_a_place_that_is_not_there_is_refused_before_the_work(desk, refused):
    """Minutes of work are not lost to a folder that does not exist."""
    desk.project()

    assert "cannot be written" in refused(
        "audit", "project.toml", "--out", "no/x.html", *QUICK
    )


def test_too_few_draws_are_refused(desk, refused):
    """Ten draws would find nothing and look like a pass."""
    desk.project()

    assert "1000 draws" in refused("audit", "project.toml", "--draws", "10")


@pytest.mark.slow
def test_the_demonstration_passes(run):
    """The whole default audit of the packaged project; minutes on a slow machine."""
    done = run("audit", "demo")

    assert done.exit_code == 0, done.output


def test_unknown_keys_models_and_the_synthetic_table_are_audited(desk, run, good):
    """Each kind has its section and its honest word on what it could have shown."""
    text = good.replace('[budget]\nepsilon = "1"', '[columns.city]\ntype = "text"\n[budget]\nepsilon = "1"\nthreshold_delta = "1e-6"')  # fmt: skip
    text = text.replace('"overview"\nepsilon = "0.5"', '"overview"\nepsilon = "0.25"\ndelta = "1e-6"')  # fmt: skip
    text = text.replace('group_by = ["Outcome"]', 'group_by = ["city"]')
    text = text.replace('name = "bins"\nepsilon = "0.25"', 'name = "bins"\nepsilon = "0.1"')  # fmt: skip
    text += '[synthetic]\nepsilon = "0.1"\ncolumns = ["Glucose", "Outcome"]\nmethod = "independent"\n'  # fmt: skip
    text += '[[models]]\nname = "risk"\ntarget = "Outcome"\nfeatures = ["Glucose"]\nepsilon = "0.1"\n'  # fmt: skip
    desk.project(text)

    done = run("audit", "project.toml", "--json", "--draws", "1000", "--tables", "3", "--canaries", "60")  # fmt: skip
    only = run("audit", "project.toml", "--json", "--only", "risk", "--canaries", "60", "--force")  # fmt: skip

    found = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    kinds = {c["kind"]: c for c in found["checks"]}
    assert set(kinds) == {"sensitivity", "noise", "release", "keys", "model", "synthetic", "race"}  # fmt: skip
    assert kinds["model"]["subject"] == "risk" and kinds["model"]["facts"]["most"]
    assert kinds["keys"]["claimed"].endswith("δ 1e-06")
    page = Reader((desk.path / "audit.html").read_text(encoding="utf-8"))
    assert [tag for tag, _ in page.tags].count("table") == 1  # of the second run
    assert [c["kind"] for c in json.loads(only.stdout)["checks"]] == ["model"]


def test_canaries_come_and_go_only_where_the_number_of_rows_is_private(desk, run, good):
    """Under a public size the page says that nothing was tested by one run."""
    unit = '[unit]\nneighbours = "replace_one"\nsize = 600\n[columns.Glucose]'
    text = good.replace("[columns.Glucose]", unit)
    text += '[[models]]\nname = "risk"\ntarget = "Outcome"\nepsilon = "0.1"\n'
    desk.project(text)

    done = run("audit", "project.toml", "--json", *QUICK, "--only", "risk")

    found = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    assert found["skipped"] == [["risk", "its number of rows is public, and canaries come and go"]]  # fmt: skip


def test_too_few_canaries_are_refused(desk, refused):
    """Nine are fewer than any one run can use."""
    desk.project()

    assert "10 canaries" in refused("audit", "project.toml", "--canaries", "9")


def test_a_public_number_of_people_is_said_not_to_be_tested(desk, run, good):
    """The oracle makes tables of any number of people, so the page says so."""
    unit = '[unit]\ncolumn = "who"\nmax_rows = 2\nmax_groups = 1\nneighbours = "replace_one"\nsize = 600\n[columns.Glucose]'  # fmt: skip
    desk.project(good.replace("[columns.Glucose]", unit))

    done = run("audit", "project.toml", "--json", *QUICK)

    found = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    assert [name for name, _ in found["skipped"]] == ["overview"]
    assert "people is public" in found["skipped"][0][1]
