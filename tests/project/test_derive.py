"""Derived columns of a project file: the grammar of filters, and one line when wrong."""

import pytest

import sfumato as sf
from sfumato import col
from sfumato.errors import ProjectError
from sfumato.project import load

DERIVE = """
[[derive]]
name = "ratio"
value = "Glucose / (Outcome_ + 1)"
column = { type = "real", lower = 0, upper = 300, step = 1 }
[[derive]]
name = "Outcome_"
value = "number(Outcome)"
[[derive]]
name = "high"
value = "Glucose > 140"
[[derive]]
name = "band"
value = "cut(Glucose, [0, 100, 250], ['low', 'up'])"
"""


def with_derived(good, derive, release=""):
    """Return a project with derived columns and a release about them."""
    return good.replace("[budget]", derive + "[budget]").replace(
        "group_by", release + "group_by"
    )


def test_a_release_takes_the_columns_that_it_needs(project, good):
    """In the order of the file, with what they are computed from, and no others."""
    first, second = DERIVE.split("[[derive]]", 3)[1:3]
    derive = DERIVE.replace(first, "@").replace(second, first).replace("@", second)
    text = with_derived(good, derive).replace('"Glucose", weight', '"ratio", weight')

    found = load(project(text)).releases[0].query

    outcome = sf.Query().derive("Outcome_", col("Outcome").to_number())
    ratio = col("Glucose") / (col("Outcome_") + 1)
    assert found.derived == outcome.derive("ratio", ratio, sf.Real(0, 300, step=1)).derived  # fmt: skip


def test_derived_columns_group_and_filter(project, good):
    """And their keys stand in the release."""
    text = with_derived(good, DERIVE, 'where = "high == false"\n')
    text = text.replace('["Outcome"]', '["band"]')

    asked = load(project(text)).releases[0]

    assert [d.name for d in asked.query.derived] == ["high", "band"]
    assert asked.plan.groups == (("low",), ("up",))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("Outcome_ + 1", "Outcome_ +", "derive.ratio: the filter cannot be read from ')'"),
        ("Outcome_ + 1", "Outcome", "releases.overview: 'Outcome' is no number to compute"),
        ("column = {", "columm = {", "derive.ratio.columm is unknown; did you mean 'column'"),
        ("lower = 0,", "lowr = 0,", "derive.ratio.column.lowr is unknown; did you mean 'lower'"),
        ("lower = 0,", "lower = 400,", "derive.ratio.column: lower bound 400 is not below"),
        ("number(Outcome)", "", "derive.Outcome_.value is empty"),
        ("number(Outcome)", "number(Outcom)", "unknown column 'Outcom'; did you mean 'Outcome'"),
        ('"high"', '"glucose"', "has the name of column 'Glucose'"),
        ("column = {", "# {", "a number without public bounds"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(project, good, old, new, line):
    """With its place in the file."""
    first, second = DERIVE.split("[[derive]]", 3)[1:3]
    derive = DERIVE.replace(first, "@").replace(second, first).replace("@", second)
    assert old in derive
    text = with_derived(good, derive.replace(old, new, 1), 'where = "glucose == true"\n' if "glucose" in new else "")  # fmt: skip
    text = text.replace('"Glucose", weight', '"ratio", weight')

    with pytest.raises(ProjectError) as refused:
        load(project(text))

    assert line in f"{refused.value.fact}; {refused.value.hint}"
