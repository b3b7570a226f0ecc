"""The project file: read exactly, refused with one clear line."""

import pickle
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import ProjectError
from sfumato.project import json_schema, load, total_cost
from sfumato.project.load import from_values
from sfumato.project.place import place_of

GOOD = """
title = "Small"
data = { source = "table.csv", name = "small", thousands = "'" }
unit = { neighbours = "replace_one", size = 3 }
budget = { epsilon = "1", ledger = "x" }
output = { folder = "f", formats = ["csv"] }
[columns]
r = { type = "real", lower = 0.5, upper = 250, step = 1, missing = [0], unit = "x" }
i = { type = "integer", lower = 0, upper = 250, complete = true }
c = { type = "category", values = [0, "x"] }
b = { type = "boolean", true = ["y"], false = ["n"] }
[[releases]]
name = "all"
title = { en = "a", zh = "b" }
epsilon = 0.5
confidence = 0.9
where = "r > 1"
group_by = ["c", "b"]
statistics = [
  { count = true, weight = 2 }, { mean = "r", name = "m" }, { sum = "i" },
  { histogram = "r", edges = [0, 100.5, 250] },
]
"""

ODD = ["capital-gain", "血糖 值", "order", "select", 'a"b', "x.y", "1st", "O'Brien",
       "%)", "age ", "", "a\nb", "{name}", "$(x)", "\\"]  # fmt: skip


def refusal(path):
    """Return the one line that a wrong file earns."""
    with pytest.raises(ProjectError) as refused:
        load(path)
    assert "\n" not in refused.value.fact
    assert refused.value.hint
    return f"{refused.value.fact}; {refused.value.hint}"


def test_a_good_file_becomes_declarations(project):
    """The file says what the Python face says."""
    found = load(project())

    assert found.dataset.schema["Glucose"] == sf.Real(
        0, 250, step=1, missing=0, unit="mg/dL"
    )
    assert found.dataset.schema["Outcome"] == sf.Category([0, 1])
    assert found.budget == sf.Epsilon("1")
    assert found.ledger == found.path.with_suffix(".ledger")
    (asked,) = found.releases
    assert asked.query == sf.Query().group_by("Outcome").select(
        sf.count(), sf.mean("Glucose", weight=2)
    )
    assert total_cost(found.releases) == sf.Epsilon("0.5")


@pytest.mark.parametrize("text", ['"0.1"', "0.1", "1e-1", '"1/10"', "+0.1", "0.10"])
def test_epsilon_is_read_as_written(project, good, text):
    """A TOML number is one tenth, not its binary neighbour."""
    found = load(project(good.replace('"0.5"', text)))

    assert found.releases[0].loss.value == Fraction(1, 10)


def test_small_amounts_survive(project, good):
    """Scientific notation is read exactly."""
    found = load(project(good.replace('"0.5"', '"1e-5"')))

    assert str(found.releases[0].loss) == "0.00001"


@pytest.mark.parametrize("text", ["0", '"0"', "-1", '"-1"', "nan", "inf", "-inf", "true",
                                  '"nan"', '"inf"', '"half"', "[0.5]", "1e-13", '""'])  # fmt: skip
@pytest.mark.parametrize("place", ["budget.epsilon", "releases.overview.epsilon"])
def test_unusable_epsilons_are_refused(project, good, text, place):
    """No value switches privacy off, and the line says where it stands."""
    old = 'epsilon = "1"' if place.startswith("budget") else 'epsilon = "0.5"'

    assert f"project.toml: {place}: epsilon" in refusal(
        project(good.replace(old, f"epsilon = {text}"))
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("upper", "uper", "columns.Glucose.uper is unknown; did you mean 'upper'?"),
        ('unit = "mg/dL"', "colour = 1",
         "columns.Glucose.colour is unknown; remove it; here may stand 'type'"),
        ('source = "table.csv"', 'shema = "x"', "data.shema is unknown; did you mean 'schema'?"),
        ("[budget]", "[buget]", "buget is unknown; did you mean 'budget'?"),
        ("weight", "wieght",
         "releases.overview.statistics[2].wieght is unknown; did you mean 'weight'?"),
        ("{ count = true }", "{ meen = true }",
         "releases.overview.statistics[1].meen is unknown; did you mean 'mean'?"),
        ("group_by", "groupby",
         "releases.overview.groupby is unknown; did you mean 'group_by'?"),
        ('"real"', '"float"', 'columns.Glucose.type cannot be "float"'),
        ('type = "real"\n', "", "columns.Glucose.type is missing"),
        ('source = "table.csv"\n', "", "data.source is missing"),
        ("upper = 250", "upper = nan", "columns.Glucose: upper bound must be a finite"),
        ("upper = 250", "upper = inf", "columns.Glucose: upper bound must be a finite"),
        ("upper = 250", "upper = -1", "lower bound 0 is not below upper bound -1"),
        ("upper = 250", 'upper = "250"',
         'columns.Glucose.upper: a number is needed, got "250"; write it without quotes'),
        ("upper = 250", "upper = true", "a number is needed, got true"),
        ('"mg/dL"', "3", "columns.Glucose.unit must be a text in quotes, got 3"),
        ("step = 1", "complete = 1", "columns.Glucose.complete must be true or false"),
        ("[0, 1]", "[]", "columns.Outcome: categories must be given"),
        ("[0, 1]", "[0.5]", "columns.Outcome: category"),
        ("[0, 1]", "[0, true]", "columns.Outcome.values: a key is a text or a whole"),
        ("count = true", "count = false", "statistics[1].count"),
        ("{ count = true }", '{ count = true, mean = "Glucose" }',
         "statistics[1]: each entry asks for exactly one statistic"),
        ("{ count = true }", "{ count = true, edges = [1, 2] }", "the entry edges goes with histogram, crosstab, mode only"),
        ("{ count = true }", '{ mean = "Age", level = 0.5 }', "level goes with quantile, near_minimum, near_maximum only"),
        ("{ count = true }", '{ quantile = "Age" }', "the entry quantile needs a level; add level, such as"),
        ("{ count = true }", '{ max = "Age" }', "max is unknown; one row decides it; ask for near_minimum"),
        ("{ count = true }", '{ median = "Age", key = 1 }', "key goes with proportion only"),
        ("{ count = true }", '{ histogram = "Glucose", edges = [2, 1] }',
         "statistics[1]: the edges of a histogram must be at least two increasing"),
        ("weight = 2", "weight = 0", "statistics[2]: weight must be a number greater"),
        ('mean = "Glucose"', 'mean = "Glucos"',
         "releases.overview: unknown column 'Glucos'; did you mean 'Glucose'?"),
        ('["Outcome"]', '["Glucose"]', "releases.overview: column 'Glucose' cannot group"),
        ("group_by", 'where = "Glucose = 1"\ngroup_by',
         "releases.overview.where: the filter cannot be read from '= 1' on; write =="),
        ("group_by", 'where = "Age > 1"\ngroup_by', "releases.overview: unknown column"),
        ("group_by", "confidence = 95\ngroup_by",
         "releases.overview.confidence: confidence must lie between 0 and 1, got 95"),
        ("group_by", "confidence = 0.99999999999999999999\ngroup_by",
         "releases.overview.confidence: confidence must lie between 0 and 1, got 0.99"),
        ("{ count = true }", '"count"',
         'statistics[1] must be a table, got "count"; write { count = true } or'),
        ("{ count = true }", "{ count = false }", "count cannot be false; write true"),
        ("[data]", "[data]\nencoding = 'rot13'", 'unknown encoding "rot13"'),
        ("group_by", 'title = { fr = "x" }\ngroup_by', "a title is a text, or one text"),
        ("[data]", "[data]\nencoding = 'klingon'", 'unknown encoding "klingon"'),
        ("[data]", "[data]\nseparator = ',,'", "must be single, different signs"),
        ("[data]", "[data]\ndecimal = ','", "must be single, different signs"),
        ("[data]", "[unit]\nsize = 3\n[data]", "unit: a public number of rows goes with"),
        ("[data]", "[unit]\nneighbours = 'any'\n[data]",
         'unit.neighbours cannot be "any"; write "add_remove" or "replace_one"'),
        ("[data]", "[output]\nformats = ['pdf']\n[data]", "output.formats[1] cannot be"),
        ("[data]", '[output]\nfolder = "a\\u0000b"\n[data]', "output.folder is no path"),
        ("[data]", "language = 'fr'\n[data]", 'language cannot be "fr"'),
        ("[columns.Glucose]", '[[models]]\nname = "m"\ntarget = "Glucose"\nepsilon = "0.1"\nestimator = "X"\n[columns.Glucose]', '"DecisionTreeClassifier" or'),
        ("table.csv", 'table.parquet"\nencoding = "utf-8', "data.encoding goes with"),
        ("[data]", "[[data]]", "data must be a table, got [{…}]"),
        ("[[releases]]", "[releases]", "double square brackets: [[releases]]"),
        ('["Outcome"]', '["Outcome"]\nkeys = { Outcome = [1] }', "brackets: keys = […]"),
        ("{ mean = ", "{ avg = ", "did you mean 'mean'?"),
        ("{ mean = ", "{ Average = ", "did you mean 'mean'?"),
        ('{ mean = "Glucose"', '{ proportion = "Outcome"', "name a key, such as 0, 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line_with_its_place(
    project, good, old, new, line
):
    """Every refusal names the file, the place, the fact and the way out."""
    assert old in good
    found = refusal(project(good.replace(old, new, 1)))

    assert line in found
    assert found.startswith("project.toml: ")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[columns.Outcome]", "[columns.Glucose]", "line 12: this is not valid TOML"),
        ("step = 1", "step = 1\nstep = 2", "the same name stands twice"),
        (
            '"real"',
            "real",
            "line 6: this is not valid TOML (Invalid value); write texts",
        ),
        ("columns.Glucose", "columns.血糖", "in quotes: [columns."),
        ("table.csv", "C:\\data.csv", "line 3: this is not valid TOML"),
        ("table.csv", "C:\\Users\\a.csv", "in Windows paths write /"),
        ('"real"', "“real”", "half width"),
        ("[0, 1]", "[0，1]", "half width"),
        ("upper = 250", "upper = ２５０", "half width"),
        ("lower = 0", "lower：0", "half width"),
        ("[columns.Glucose]", "［columns.Glucose］", "half width"),
        ('"1"', '"1"　# 预算', "half width"),
        ('"real"', "real  # “实数”", "write texts in quotes"),
        ('"Small"', '"Small', "line 1: this is not valid TOML"),
        ("[budget]", "[budget", "line 15: this is not valid TOML"),
    ],
)
def test_bad_toml_is_refused_with_its_line(project, good, old, new, line):
    """The line number and the usual cure are given."""
    assert line in refusal(project(good.replace(old, new, 1)))


def test_several_errors_are_counted(project, good):
    """The first is told; the others are counted."""
    text = good.replace("upper", "uper").replace("weight", "wieght")

    assert refusal(project(text)).endswith(
        "did you mean 'upper'? (2 more in this file)"
    )


def test_release_names_are_unique(project, good):
    """--only must find one release."""
    twice = good + good[good.index("[[releases]]") :]

    assert 'two releases are called "overview"' in refusal(project(twice))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("标题 = 1".encode("gb18030"), "is not written in UTF-8; save it as UTF-8"),
        (b"\xff\xfe\x00", "is not written in UTF-8"),
        (b"x = 1\x00", "this is not valid TOML"),
        (b"a = " + b"[" * 5000, "this is not valid TOML"),
        (b"", "data is missing"),
    ],
)
def test_odd_bytes_are_refused(tmp_path, content, line):
    """No bytes make the reader fail in another way."""
    path = tmp_path / "project.toml"
    path.write_bytes(content)

    assert line in refusal(path)


def test_a_mark_and_windows_lines_are_fine(project, good):
    """Windows editors may write a byte-order mark and CRLF."""
    path = project()
    path.write_bytes(b"\xef\xbb\xbf" + good.replace("\n", "\r\n").encode())

    assert load(path).dataset.name == "small"


def test_missing_files_and_folders_are_refused(tmp_path):
    """The line says how to begin."""
    assert "sfumato init" in refusal(tmp_path / "none.toml")
    assert "cannot be read" in refusal(tmp_path)


@pytest.mark.parametrize("name", ODD)
def test_columns_are_addressed_by_their_exact_names(project, name):
    """Any name can be declared, asked for, grouped by and filtered on."""
    key = place_of("columns", name)
    quoted = place_of(name) if place_of(name).startswith('"') else f'"{name}"'
    text = f"""
data = {{ source = "table.csv", name = "odd" }}
budget = {{ epsilon = 1 }}
[{key}]
type = "integer"
lower = 0
upper = 100
[[releases]]
name = "one"
epsilon = "1e-5"
statistics = [{{ mean = {quoted} }}]
"""
    found = load(project(text))

    assert list(found.dataset.schema) == [name]
    assert found.releases[0].query.statistics[0].column == name


@given(st.lists(st.text() | st.integers(0, 9), min_size=1))
def test_a_place_is_one_line(keys):
    """Whatever a file's keys are, a place is printable."""
    assert "\n" not in place_of(*keys)


def test_errors_cross_process_borders(project, good):
    """A placed error can be pickled."""
    with pytest.raises(ProjectError) as refused:
        load(project(good.replace("upper = 250", "upper = -1")))
    again = pickle.loads(pickle.dumps(refused.value))

    assert str(again) == str(refused.value)


def test_editors_get_a_schema():
    """The JSON schema names every entry and forbids others."""
    schema = json_schema()

    assert {"data", "columns", "budget", "releases"} <= set(schema["properties"])
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"data", "columns", "budget"}


def test_titles_have_both_languages(project, good):
    """One text serves both; a text of one language stands in for the other."""
    found = load(project(good.replace('"Small"', '{ zh = "小" }')))

    assert found.title == {"en": "小", "zh": "小"}


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.decimals(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=4,
)


def places(value, path=()):
    """Yield the path of every value inside nested lists and tables."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items if isinstance(value, dict | list) else ():
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))
        else:
            yield (*path, key)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_whatever_stands_anywhere_is_loaded_or_refused_in_one_line(data):
    """No value at any place makes the reader fail in another way."""
    raw = tomllib.loads(GOOD, parse_float=Decimal)
    *path, last = data.draw(st.sampled_from([p for p in places(raw) if p]))
    holder = raw
    for key in path:
        holder = holder[key]
    holder[last] = data.draw(JUNK)
    try:
        from_values(raw, Path("project.toml"))
    except ProjectError as error:
        said = error
    else:
        return

    assert "\n" not in said.fact.replace("\\n", "")
    assert said.hint


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ('[[models]]\nname = "m"\nkind = "x"\ntarget = "c"\nepsilon = "1"\n', "kind"),
        ('[synthetic]\nepsilon = "1"\nkind = "x"\n', "kind"),
        ('[columns.words]\ntype = "text"\nlower = 1\n', "lower"),
    ],
)
def test_an_unknown_entry_of_models_and_tables_is_named(table, place):
    """It is a clear refusal, as everywhere else, and no fault of the program."""
    with pytest.raises(ProjectError, match="is unknown") as refused:
        from_values(tomllib.loads(GOOD + table), Path("x/p.toml"))
    assert place in str(refused.value)
